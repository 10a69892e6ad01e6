/* The reader of LIBSVM text. */
#include "data/readers.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* The first byte chooses among the options; an empty file is refused before any reader. */
    if (size < 2)
        return 0;
    static const char *const column[] = {"last", "first", "0", "1", "label", NULL};
    saddle_data_options options = {.label_column = column[bytes[0] % 6],
                                   .features = bytes[0] / 6 % 3,
                                   .threads = 1 + bytes[0] / 18 % 2};
    saddle_input in = {.path = "fuzz", .bytes = (const char *)bytes + 1, .size = size - 1};
    saddle_dataset *data = NULL;
    saddle_error error = {.message = ""};
    saddle_status status = saddle_read_libsvm(&data, "fuzz", &in, &options, &error);
    if (status == SADDLE_OK)
        fuzz_check_dataset(data);
    else
        fuzz_check_refusal(status, data, &error);
    saddle_dataset_free(data);
    return 0;
}
