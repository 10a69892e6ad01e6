/*
 * Dividing the rows of a CSV file into files of the same layout. Lines are copied byte by byte, so that
 * names, texts, quotes and missing values are kept, and no value of one part depends on another part.
 */
#include "data/csv_table.h"
#include "data/dataset.h"
#include "files/file.h"
#include "files/pattern.h"

/* Finds the rows and their labels: table->data has labels and no features, table->row the first byte of each
 * row. Free with free_rows(), also after a failure. */
static saddle_status read_rows(saddle_csv *table, const saddle_input *in, const char *name,
                               const saddle_data_options *options, saddle_error *error)
{
    SADDLE_TRY(saddle_csv_open(table, in, options, true, error));
    table->settled = true;
    SADDLE_TRY(saddle_dataset_new(&table->data, name, table->rows, 0, 0, true, error));
    memset(table->data->label, 0, table->rows * sizeof *table->data->label);
    table->row = saddle_alloc(table->rows, sizeof *table->row);
    SADDLE_TRY(saddle_check_memory(table->row, "the rows", error));
    return saddle_csv_read_rows(table) ? SADDLE_OK
                                       : saddle_parse_refuse(&table->parse, in->path, error);
}

static void free_rows(saddle_csv *table)
{
    saddle_dataset_free(table->data);
    saddle_free((void *)table->row);
    saddle_csv_close(table);
}

/* Copies a line. The last line of a file may lack a line end; it receives that of the first line. */
static void copy_line(FILE *stream, const saddle_csv *table, const char *line)
{
    const char *end = saddle_line_end(line, table->end);
    bool carriage_return = table->first.end < table->end && *table->first.end == '\r';
    fwrite(line, 1, (size_t)(end - line), stream);
    if (carriage_return && end == table->end && end[-1] != '\r')
        fputc('\r', stream);
    fputc('\n', stream);
}

static saddle_status write_part(saddle_output *out, const saddle_csv *table, const char *path,
                                const size_t *row, size_t count, saddle_error *error)
{
    const char *bytes = table->in->bytes;
    SADDLE_TRY(saddle_output_open(out, path, error));
    fwrite(bytes, 1, (size_t)(saddle_skip_mark(table->in) - bytes), out->stream);
    if (table->header)
        copy_line(out->stream, table, table->first.begin);
    for (size_t k = 0; k < count; k++)
        copy_line(out->stream, table, table->row[row[k]]);
    return saddle_output_finish(out, error);
}

static saddle_status write_parts(const saddle_csv *table, const saddle_division *how,
                                 char *const *path, size_t *size, saddle_error *error)
{
    const saddle_dataset *data = table->data;
    SADDLE_OWNED size_t *row = saddle_alloc(data->rows, sizeof *row);
    SADDLE_OWNED saddle_output *out = saddle_alloc(how->parts, sizeof *out);
    saddle_status status =
        row != NULL && out != NULL
            ? saddle_split_rows(how, data->name, data->label, data->rows, row, size, error)
            : saddle_no_memory(error, "the parts");
    for (size_t p = 0, first = 0; status == SADDLE_OK && p < how->parts; first += size[p++])
        status = write_part(&out[p], table, path[p], row + first, size[p], error);
    SADDLE_THEN(status, saddle_outputs_commit(out, how->parts, error));
    for (size_t p = 0; out != NULL && p < how->parts; p++)
        saddle_output_discard(&out[p]);
    return status;
}

/* Fails if an option would change rows. */
static saddle_status check_copy(const saddle_data_options *options, saddle_error *error)
{
    const char *given = options->missing != SADDLE_MISSING_REFUSE ? "missing"
                        : options->categories != SADDLE_ONE_HOT   ? "categories"
                        : options->drop_columns != NULL           ? "drop-columns"
                                                                  : NULL;
    return given == NULL
               ? SADDLE_OK
               : saddle_refuse(error,
                               "--%s: rows are copied from CSV to CSV as they are; give this "
                               "option to the commands that read the parts, or write .npz files",
                               given);
}

static saddle_status copy_rows(const saddle_input *in, const char *name,
                               const saddle_data_options *options, const saddle_division *how,
                               char *const *path, size_t *size, saddle_error *error)
{
    SADDLE_OWNED_BY(free_rows) saddle_csv table = {.in = in};
    saddle_data_options reading = *options;
    if (!how->stratify) {
        reading.label_column = "none";
        reading.category_columns = NULL;
    }
    SADDLE_TRY(check_copy(options, error));
    SADDLE_TRY(read_rows(&table, in, name, &reading, error));
    return write_parts(&table, how, path, size, error);
}

saddle_status saddle_csv_split(const char *name, const saddle_data_options *options,
                               const saddle_division *how, char *const *path, size_t *size,
                               bool *copied, saddle_error *error)
{
    SADDLE_OWNED char *found = NULL;
    SADDLE_OWNED_BY(saddle_input_close) saddle_input in = {.path = NULL};
    *copied = false;
    if (saddle_data_is_generated(name) || saddle_is_pattern(name))
        return SADDLE_OK;
    for (size_t p = 0; p < how->parts; p++)
        if (!saddle_is_csv_name(path[p]))
            return SADDLE_OK;
    SADDLE_TRY(saddle_data_find(name, &found, error));
    SADDLE_TRY(saddle_input_open(&in, found, error));
    *copied = saddle_choose_format(&in, options) == SADDLE_FORMAT_CSV;
    return *copied ? copy_rows(&in, name, options, how, path, size, error) : SADDLE_OK;
}
