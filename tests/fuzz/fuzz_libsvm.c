/* The reader of LIBSVM text. */
#include "data/readers.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read(saddle_read_libsvm, bytes, size);
    return 0;
}
