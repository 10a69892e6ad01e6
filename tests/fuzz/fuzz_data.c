/* Any data file, recognized by its content, gzip'd or not; mostly NumPy's. */
#include <saddle/data.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* The first byte selects the labels. */
    if (size < 2)
        return 0;
    saddle_data_options options = {.abi = SADDLE_ABI, .labels = bytes[0] & 1 ? "none" : NULL};
    saddle_dataset *data = NULL;
    saddle_error error = {.message = ""};
    saddle_status status =
        saddle_dataset_load(&data, fuzz_file(bytes + 1, size - 1), &options, 1, &error);
    if (status == SADDLE_OK)
        fuzz_check_dataset(data);
    else
        fuzz_check_refusal(status, data, &error);
    saddle_dataset_free(data);
    return 0;
}
