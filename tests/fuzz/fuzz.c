#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_promise(bool kept, const char *what)
{
    if (kept)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

const char *fuzz_file(const uint8_t *bytes, size_t size)
{
    static int descriptor = -1;
    static char path[64];
    if (descriptor < 0) {
        descriptor = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    }
    fuzz_promise(descriptor >= 0 && ftruncate(descriptor, 0) == 0 &&
                     pwrite(descriptor, bytes, size, 0) == (ssize_t)size,
                 "a file in memory can be written");
    return path;
}

void fuzz_check_refusal(saddle_status status, const void *out, const saddle_error *error)
{
    fuzz_promise(status == SADDLE_BAD_INPUT || status == SADDLE_UNSUPPORTED,
                 "a malformed file is the input's fault");
    fuzz_promise(out == NULL, "a failed call makes nothing");
    size_t length = strnlen(error->message, sizeof error->message);
    fuzz_promise(length > 0 && length < sizeof error->message, "a refusal has a message");
    for (size_t k = 0; k < length; k++)
        fuzz_promise((unsigned char)error->message[k] >= ' ', "a message is one printable line");
}

static void check_sparse(const saddle_dataset *data)
{
    fuzz_promise(data->row_start[0] == 0 && data->row_start[data->rows] == data->nonzeros,
                 "rows begin at 0 and end at the last entry");
    for (size_t row = 0; row < data->rows; row++) {
        fuzz_promise(data->row_start[row] <= data->row_start[row + 1], "rows follow each other");
        for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++) {
            fuzz_promise(data->column[k] < data->features, "columns are below the features");
            fuzz_promise(k == data->row_start[row] || data->column[k - 1] < data->column[k],
                         "columns ascend");
            fuzz_promise(isfinite(saddle_entry_value(data, k)), "values are finite");
        }
    }
}

void fuzz_check_dataset(const saddle_dataset *data)
{
    fuzz_promise(data != NULL && data->rows > 0, "a data set has rows");
    for (size_t row = 0; row < data->rows; row++)
        fuzz_promise(isfinite(data->label[row]), "labels are finite");
    if (data->dense == NULL) {
        check_sparse(data);
        return;
    }
    for (size_t k = 0; k < data->rows * data->features; k++)
        fuzz_promise(isfinite(data->dense[k]), "entries are finite");
}

void fuzz_read(fuzz_reader *read, const uint8_t *bytes, size_t size)
{
    /* An empty file is refused before any reader is called. */
    if (size < 2)
        return;
    static const char *const column[] = {"last", "first", "1", "2", "label", NULL};
    saddle_data_options options = {.abi = SADDLE_ABI,
                                   .header = (saddle_csv_header)(bytes[0] / 36 % 3),
                                   .label_column = column[bytes[0] % 6],
                                   .categories = (saddle_categories)(bytes[0] % 2),
                                   .missing = (saddle_missing)(bytes[0] / 108),
                                   .features = bytes[0] / 6 % 3,
                                   .threads = 1 + bytes[0] / 18 % 2};
    saddle_input in = {.path = "fuzz", .bytes = (const char *)bytes + 1, .size = size - 1};
    saddle_dataset *data = NULL;
    saddle_error error = {.message = ""};
    saddle_status status = read(&data, "fuzz", &in, &options, &error);
    if (status == SADDLE_OK)
        fuzz_check_dataset(data);
    else
        fuzz_check_refusal(status, data, &error);
    saddle_dataset_free(data);
}
