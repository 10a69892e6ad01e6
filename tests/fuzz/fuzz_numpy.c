/* The reader of NumPy's files: arrays, records and archives. */
#include "core/memory.h"
#include "files/npz.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    double *values = NULL;
    size_t rank = 0;
    size_t shape[2] = {0, 0};
    saddle_error error = {.message = ""};
    saddle_status status =
        saddle_numpy_read(fuzz_file(bytes, size), "xbar", &values, &rank, shape, &error);
    if (status == SADDLE_OK)
        /* Every entry takes at least one byte of the file. */
        fuzz_promise(values != NULL && rank <= 2 && shape[0] * shape[1] <= size,
                     "an array is no larger than its file");
    else
        fuzz_check_refusal(status, values, &error);
    volatile double sum = 0.0;
    for (size_t k = 0; status == SADDLE_OK && values != NULL && k < shape[0] * shape[1]; k++)
        sum = sum + values[k];
    saddle_free(values);
    return 0;
}
