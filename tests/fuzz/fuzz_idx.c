/* The reader of IDX images and their labels, which may be gzip'd. */
#include "data/readers.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* The first two bytes are the length of the images in the rest; the labels follow. */
    if (size < 4)
        return 0;
    size_t images = ((size_t)bytes[0] << 8 | bytes[1]) % (size - 3) + 1;
    saddle_data_options options = {.abi = SADDLE_ABI,
                                   .labels = fuzz_file(bytes + 2 + images, size - 2 - images)};
    saddle_input in = {.path = "fuzz", .bytes = (const char *)bytes + 2, .size = images};
    saddle_dataset *data = NULL;
    saddle_error error = {.message = ""};
    saddle_status status = saddle_read_idx(&data, "fuzz", &in, &options, &error);
    if (status == SADDLE_OK)
        fuzz_check_dataset(data);
    else
        fuzz_check_refusal(status, data, &error);
    saddle_dataset_free(data);
    return 0;
}
