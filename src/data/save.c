/* Writing data sets as LIBSVM text, CSV or .npz, by the file's name. A file is written completely or not at all. */
#include "core/float_mode.h"
#include "core/vector.h"
#include "data/columns.h"
#include "data/dataset.h"
#include "data/rows.h"
#include "files/file.h"
#include "files/npz.h"
#include "files/pattern.h"

/* ---- LIBSVM ---- */

/* Prints with the fewest digits that read back to the same number. */
static void print_number(FILE *stream, double value)
{
    char text[SADDLE_REAL_SIZE];
    fputs(saddle_print_real(value, 15, text), stream);
}

/* Prints one line. `padding` is an index to be written with a zero, or 0. */
static void print_row(FILE *stream, const saddle_dataset *data, size_t row, size_t padding)
{
    print_number(stream, data->label[row]);
    size_t first = data->dense != NULL ? 0 : data->row_start[row];
    size_t last = data->dense != NULL ? data->features : data->row_start[row + 1];
    for (size_t k = first; k < last; k++) {
        size_t index = data->dense != NULL ? k : data->column[k];
        double value = data->dense != NULL ? data->dense[row * data->features + k]
                                           : saddle_entry_value(data, k);
        if (value == 0.0)
            continue;
        saddle_fprintf(stream, " %zu:", index + 1);
        print_number(stream, value);
    }
    if (padding != 0)
        saddle_fprintf(stream, " %zu:0", padding);
    fputc('\n', stream);
}

/* Returns whether some row has an entry in the last column, so that the file shows the number of features. */
static bool uses_last_column(const saddle_dataset *data)
{
    for (size_t row = 0; row < data->rows; row++) {
        if (data->dense != NULL && data->dense[(row + 1) * data->features - 1] != 0.0)
            return true;
        if (data->dense == NULL && data->row_start[row + 1] > data->row_start[row] &&
            data->column[data->row_start[row + 1] - 1] + (size_t)1 == data->features)
            return true;
    }
    return false;
}

static saddle_status begin_libsvm(saddle_output *out, const saddle_dataset *data, const char *path,
                                  saddle_error *error)
{
    const double *entry = data->dense != NULL ? data->dense : data->value;
    size_t stored = data->value != NULL ? data->nonzeros : 0;
    size_t entries = data->dense != NULL ? data->rows * data->features : stored;
    if (saddle_first_nonfinite(data->rows, data->label) < data->rows ||
        saddle_first_nonfinite(entries, entry) < entries)
        return saddle_refuse(
            error, "'%s' contains a NaN or an infinity; LIBSVM text can hold only finite numbers",
            data->name);
    SADDLE_TRY(saddle_output_open(out, path, error));
    /* A last column without entries would be lost; write one zero to keep it. */
    size_t padding = uses_last_column(data) ? 0 : data->features;
    for (size_t row = 0; row < data->rows; row++)
        print_row(out->stream, data, row, row == 0 ? padding : 0);
    return SADDLE_OK;
}

saddle_status saddle_dataset_save_libsvm(const saddle_dataset *data, const char *path,
                                         saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, data, path);
    saddle_output out;
    SADDLE_TRY(begin_libsvm(&out, data, path, error));
    return saddle_output_commit(&out, error);
}

/* ---- CSV ---- */

/* Prints a field, quoted if necessary. */
static void print_field(FILE *stream, const char *text)
{
    bool plain = *text != '\0' && text[strcspn(text, ",;\t\" \r\n")] == '\0';
    if (!plain)
        fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    if (!plain)
        fputc('"', stream);
}

/* Prints the names of features: the columns' names, COLUMN=TEXT where texts have features, or f1, f2, ... */
static void print_names(FILE *stream, const saddle_dataset *data)
{
    const saddle_columns *columns = data->columns;
    for (size_t k = 0; columns == NULL && k < data->features; k++)
        saddle_fprintf(stream, "f%zu,", k + 1);
    for (size_t c = 0; columns != NULL && c < columns->count; c++) {
        const saddle_column *column = &columns->column[c];
        bool hot = columns->one_hot && column->texts > 0;
        for (size_t k = 0; k < column->features; k++) {
            SADDLE_OWNED char *name =
                hot ? saddle_format("%s=%s", column->name, column->text[k])
                    : saddle_format("%s%s", columns->named ? "" : "f", column->name);
            print_field(stream, name != NULL ? name : "");
            fputc(',', stream);
        }
    }
    fputs("label\n", stream);
}

static saddle_status begin_csv(saddle_output *out, const saddle_dataset *data, const char *path,
                               saddle_error *error)
{
    SADDLE_OWNED double *row = saddle_alloc_doubles(data->features);
    SADDLE_TRY(saddle_check_memory(row, "a row", error));
    SADDLE_TRY(saddle_output_open(out, path, error));
    print_names(out->stream, data);
    for (size_t k = 0; k < data->rows; k++) {
        memset(row, 0, data->features * sizeof *row);
        saddle_row_add(data, k, 1.0, row);
        for (size_t c = 0; c < data->features; c++) {
            print_number(out->stream, row[c]);
            fputc(',', out->stream);
        }
        print_number(out->stream, data->label[k]);
        fputc('\n', out->stream);
    }
    return SADDLE_OK;
}

/* ---- NumPy ---- */

/* Writes rows and labels in the format of scipy.sparse.save_npz. */
static saddle_status begin_sparse(saddle_output *out, const saddle_dataset *data, const char *path,
                                  saddle_error *error)
{
    uint64_t shape[2] = {data->rows, data->features};
    SADDLE_OWNED uint64_t *indices = saddle_alloc(data->nonzeros, sizeof *indices);
    SADDLE_OWNED double *value = saddle_alloc_doubles(data->nonzeros);
    _Static_assert(sizeof(size_t) == sizeof(uint64_t), "offsets are written as they are");
    if (indices == NULL || value == NULL)
        return saddle_no_memory(error, "a NumPy file");
    for (size_t k = 0; k < data->nonzeros; k++) {
        indices[k] = data->column[k];
        value[k] = saddle_entry_value(data, k);
    }
    const saddle_array arrays[] = {
        {"data", SADDLE_ARRAY_REAL, 1, {data->nonzeros}, .data = value},
        {"indices", SADDLE_ARRAY_INTEGER, 1, {data->nonzeros}, .data = indices},
        {"indptr", SADDLE_ARRAY_INTEGER, 1, {data->rows + 1}, .data = data->row_start},
        {"shape", SADDLE_ARRAY_INTEGER, 1, {2}, .data = shape},
        {"format", SADDLE_ARRAY_TEXT, 0, {0}, .data = "csr"},
        {"y", SADDLE_ARRAY_REAL, 1, {data->rows}, .data = data->label},
    };
    return saddle_npz_begin(out, path, arrays, sizeof arrays / sizeof *arrays, error);
}

static saddle_status begin_dense(saddle_output *out, const saddle_dataset *data, const char *path,
                                 saddle_error *error)
{
    const saddle_array arrays[] = {
        {"X", SADDLE_ARRAY_REAL, 2, {data->rows, data->features}, .data = data->dense},
        {"y", SADDLE_ARRAY_REAL, 1, {data->rows}, .data = data->label},
    };
    return saddle_npz_begin(out, path, arrays, 2, error);
}

/* ---- all ---- */

bool saddle_is_csv_name(const char *path)
{
    return saddle_has_ending(path, ".csv") || saddle_has_ending(path, ".tsv");
}

saddle_status saddle_dataset_begin(saddle_output *out, const saddle_dataset *data, const char *path,
                                   saddle_error *error)
{
    SADDLE_TRY(saddle_check_data_name(path, error));
    if (saddle_has_ending(path, ".npz"))
        return data->dense != NULL ? begin_dense(out, data, path, error)
                                   : begin_sparse(out, data, path, error);
    return saddle_is_csv_name(path) ? begin_csv(out, data, path, error)
                                    : begin_libsvm(out, data, path, error);
}

saddle_status saddle_dataset_save(const saddle_dataset *data, const char *path, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, data, path);
    saddle_output out;
    SADDLE_TRY(saddle_dataset_begin(&out, data, path, error));
    return saddle_output_commit(&out, error);
}
