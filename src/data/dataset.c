/* Data sets in memory: creating, loading by name, selecting rows, freeing. */
#include "data/dataset.h"

#include <sys/stat.h>

#include "core/float_mode.h"
#include "core/memory_limits.h"
#include "core/parallel.h"
#include "data/columns.h"
#include "data/readers.h"
#include "data/rows.h"
#include "files/file.h"
#include "files/pattern.h"

/* ---- memory ---- */

/* Allocates the features of a data set, as saddle_dataset_new() says. */
static void take_features(saddle_dataset *data, size_t rows, size_t features, size_t nonzeros,
                          bool unit, saddle_allocator *allocator)
{
    if (nonzeros == SADDLE_DENSE) {
        data->dense = saddle_allocator_block(allocator, rows, features * sizeof *data->dense);
        return;
    }
    data->row_start = saddle_allocator_unset(allocator, rows + 1, sizeof *data->row_start);
    data->column = saddle_allocator_unset(allocator, nonzeros, sizeof *data->column);
    if (!unit)
        data->value = saddle_allocator_unset(allocator, nonzeros, sizeof *data->value);
}

/* Returns the bytes that a data set takes. */
static double bytes_of(const char *name, size_t rows, size_t features, size_t nonzeros, bool unit)
{
    saddle_dataset data;
    saddle_allocator allocator = {.count_only = true};
    take_features(&data, rows, features, nonzeros, unit, &allocator);
    return allocator.bytes + saddle_block_bytes(1, sizeof data) +
           saddle_block_bytes(strlen(name) + 1, 1) + saddle_block_bytes(rows, sizeof *data.label);
}

saddle_dataset *saddle_dataset_new_head(const char *name, size_t rows, size_t features)
{
    saddle_dataset *data = saddle_alloc(1, sizeof *data);
    if (data == NULL)
        return NULL;
    data->rows = rows;
    data->features = features;
    data->name = saddle_strdup(name);
    data->label = saddle_alloc_unset(rows, sizeof *data->label);
    if (data->name != NULL && data->label != NULL)
        return data;
    saddle_dataset_free(data);
    return NULL;
}

/* Checks the memory for one process only: what other processes on this machine have already taken is
 * missing from what is available, and what they will take they check themselves. */
saddle_status saddle_dataset_new(saddle_dataset **out, const char *name, size_t rows,
                                 size_t features, size_t nonzeros, bool unit, saddle_error *error)
{
    char what[320];
    saddle_allocator allocator = {0};
    *out = NULL;
    saddle_snprintf(what, sizeof what, "%zu row%s of '%.200s'", rows, SADDLE_PLURAL(rows), name);
    SADDLE_TRY(saddle_need_check_one(bytes_of(name, rows, features, nonzeros, unit), what,
                                     "use fewer rows", error));
    saddle_dataset *data = saddle_dataset_new_head(name, rows, features);
    if (data != NULL)
        take_features(data, rows, features, nonzeros, unit, &allocator);
    if (data == NULL || allocator.failed) {
        saddle_dataset_free(data);
        return saddle_no_memory(error, "a data set");
    }
    *out = data;
    if (data->dense != NULL) {
        memset(data->label, 0, rows * sizeof *data->label);
    } else {
        data->nonzeros = nonzeros;
        data->row_start[0] = 0;
    }
    return SADDLE_OK;
}

void saddle_dataset_put(saddle_dataset *to, const saddle_dataset *from, size_t row, size_t entry)
{
    memcpy(to->label + row, from->label, from->rows * sizeof *from->label);
    if (from->dense != NULL) {
        memcpy(to->dense + row * to->features, from->dense,
               from->rows * from->features * sizeof *from->dense);
        return;
    }
    for (size_t k = 0; k < from->rows; k++)
        to->row_start[row + k + 1] = entry + from->row_start[k + 1];
    for (size_t k = 0; k < from->nonzeros; k++) {
        to->column[entry + k] = from->column[k];
        if (to->value != NULL)
            to->value[entry + k] = saddle_entry_value(from, k);
    }
}

void saddle_dataset_forget_ones(saddle_dataset *data)
{
    for (size_t k = 0; data->value != NULL && k < data->nonzeros; k++)
        if (data->value[k] != 1.0)
            return;
    if (!data->borrowed)
        saddle_free(data->value);
    data->value = NULL;
}

void saddle_dataset_free(saddle_dataset *data)
{
    if (data == NULL)
        return;
    saddle_free(data->name);
    saddle_free(data->label);
    saddle_columns_free(data->columns);
    if (!data->borrowed) {
        saddle_free(data->row_start);
        saddle_free(data->column);
        saddle_free(data->value);
        saddle_free(data->dense);
    }
    saddle_free(data);
}

saddle_status saddle_dataset_finish(saddle_dataset **data, saddle_status status)
{
    if (status != SADDLE_OK) {
        saddle_dataset_free(*data);
        *data = NULL;
    }
    return status;
}

void saddle_dataset_count_nonzeros(saddle_dataset *data)
{
    data->nonzeros = 0;
    for (size_t k = 0; k < data->rows * data->features; k++)
        data->nonzeros += data->dense[k] != 0.0;
}

/* ---- loading ---- */

/* Returns whether a path has one of two endings, with or without .gz after it. */
static bool has_ending_of(const char *path, const char *const ending[4])
{
    for (size_t k = 0; k < 4; k++)
        if (saddle_has_ending(path, ending[k]))
            return true;
    return false;
}

static saddle_data_format detect(const saddle_input *in)
{
    static const char *const numpy[4] = {".npy", ".npz", ".npy.gz", ".npz.gz"};
    static const char *const csv[4] = {".csv", ".tsv", ".csv.gz", ".tsv.gz"};
    if (saddle_looks_like_idx(in))
        return SADDLE_FORMAT_IDX;
    if (saddle_looks_like_numpy(in) || has_ending_of(in->path, numpy))
        return SADDLE_FORMAT_NUMPY;
    if (has_ending_of(in->path, csv) || saddle_looks_like_csv(in))
        return SADDLE_FORMAT_CSV;
    return SADDLE_FORMAT_LIBSVM;
}

saddle_data_format saddle_choose_format(const saddle_input *in, const saddle_data_options *options)
{
    return options->format != SADDLE_FORMAT_AUTO ? options->format : detect(in);
}

static saddle_status load_file(saddle_dataset **out, const char *name, const char *path,
                               const saddle_data_options *options, saddle_error *error)
{
    static saddle_reader *const read[] = {[SADDLE_FORMAT_LIBSVM] = saddle_read_libsvm,
                                          [SADDLE_FORMAT_CSV] = saddle_read_csv,
                                          [SADDLE_FORMAT_IDX] = saddle_read_idx,
                                          [SADDLE_FORMAT_NUMPY] = saddle_read_numpy};
    SADDLE_OWNED_BY(saddle_input_close) saddle_input in = {.path = NULL};
    SADDLE_TRY(saddle_input_open(&in, path, error));
    saddle_data_format format = saddle_choose_format(&in, options);
    SADDLE_TRY(read[format](out, name, &in, options, error));
    (*out)->formats = SADDLE_FORMAT_BIT(format);
    return SADDLE_OK;
}

saddle_status saddle_dataset_scan(saddle_columns **out, const char *name,
                                  const saddle_data_options *options, saddle_error *error)
{
    SADDLE_OWNED char *path = NULL;
    SADDLE_OWNED_BY(saddle_input_close) saddle_input in = {.path = NULL};
    *out = NULL;
    SADDLE_TRY(saddle_data_find(name, &path, error));
    SADDLE_TRY(saddle_input_open(&in, path, error));
    bool csv = saddle_choose_format(&in, options) == SADDLE_FORMAT_CSV;
    return csv ? saddle_scan_csv(out, &in, options, error) : SADDLE_OK;
}

/* synthetic[:ROWS[:FEATURES]] */
static saddle_status load_synthetic(saddle_dataset **out, const char *text, uint64_t seed,
                                    saddle_error *error)
{
    saddle_fields fields;
    uint64_t size[2] = {SADDLE_SYNTHETIC_ROWS, 123};
    bool good = saddle_split(&fields, text) && fields.count <= 3;
    for (size_t k = 1; good && k < fields.count; k++)
        good = saddle_parse_integer(fields.field[k], &size[k - 1]) && size[k - 1] > 0;
    if (!good)
        return saddle_refuse(
            error,
            "'%s' is not of the form synthetic[:ROWS[:FEATURES]] with whole numbers of at least 1",
            text);
    SADDLE_TRY(saddle_dataset_generate(out, size[0], size[1], seed, error));
    saddle_free((*out)->name);
    (*out)->name = saddle_strdup(text);
    return saddle_dataset_finish(out, saddle_check_memory((*out)->name, "a data set", error));
}

bool saddle_data_is_generated(const char *name)
{
    struct stat status;
    bool synthetic = strncmp(name, "synthetic", 9) == 0 && (name[9] == '\0' || name[9] == ':');
    return synthetic && (stat(name, &status) != 0 || S_ISDIR(status.st_mode));
}

bool saddle_data_is_known(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *file = slash != NULL ? slash + 1 : name;
    return saddle_data_is_generated(name) || strcmp(file, "a9a") == 0 || strcmp(file, "a9a.t") == 0;
}

/* Fails if an option has a value outside its enumeration. */
static saddle_status check_options(const saddle_data_options *options, saddle_error *error)
{
    const struct {
        const char *name;
        int value;
        int last;
        const char *type;
    } choice[] = {
        {"data format", (int)options->format, SADDLE_FORMAT_NUMPY, "saddle_data_format"},
        {"header", (int)options->header, SADDLE_HEADER_NO, "saddle_csv_header"},
        {"categories", (int)options->categories, SADDLE_CODES, "saddle_categories"},
        {"missing", (int)options->missing, SADDLE_MISSING_IMPUTE, "saddle_missing"},
    };
    for (size_t k = 0; k < sizeof choice / sizeof *choice; k++)
        if (choice[k].value < 0 || choice[k].value > choice[k].last)
            return saddle_refuse(error, "%s %d is unknown; use a %s", choice[k].name,
                                 choice[k].value, choice[k].type);
    return SADDLE_OK;
}

saddle_status saddle_dataset_load(saddle_dataset **out, const char *name,
                                  const saddle_data_options *options, uint64_t seed,
                                  saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    static const saddle_data_options defaults = {.abi = SADDLE_ABI};
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, name);
    if (options == NULL)
        options = &defaults;
    SADDLE_TRY(saddle_check_abi(options->abi, "saddle_data_options", error));
    SADDLE_TRY(check_options(options, error));
    if (saddle_data_is_generated(name))
        return load_synthetic(out, name, seed, error);
    if (saddle_is_pattern(name))
        return saddle_load_several(out, name, options, error);
    SADDLE_OWNED char *path = NULL;
    SADDLE_TRY(saddle_data_find(name, &path, error));
    return load_file(out, name, path, options, error);
}

/* ---- selecting ---- */

/* Below this many rows per thread, starting one costs more than it saves. */
#define WORTH_A_THREAD 20000

/* Copies the nonzero entries of a row; returns their number. `column` NULL: only count. `value` NULL:
 * all values are 1. */
static size_t copy_entries(const saddle_dataset *data, size_t row, uint32_t *column, double *value)
{
    size_t count = 0;
    if (data->dense == NULL) {
        size_t from = data->row_start[row];
        count = data->row_start[row + 1] - from;
        if (column != NULL) {
            memcpy(column, data->column + from, count * sizeof *column);
            if (value != NULL)
                memcpy(value, data->value + from, count * sizeof *value);
        }
        return count;
    }
    const double *entry = data->dense + row * data->features;
    for (size_t c = 0; c < data->features; c++) {
        if (entry[c] == 0.0)
            continue;
        if (column != NULL)
            column[count] = (uint32_t)c;
        if (value != NULL)
            value[count] = entry[c];
        count++;
    }
    return count;
}

/* Returns the number of nonzero entries in some rows. */
static size_t count_entries(const saddle_dataset *data, const size_t *row, size_t count)
{
    size_t nonzeros = 0;
    for (size_t k = 0; k < count; k++)
        nonzeros += copy_entries(data, row[k], NULL, NULL);
    return nonzeros;
}

/* Returns whether every stored entry is 1. */
static bool has_ones(const saddle_dataset *data)
{
    return data->dense == NULL && data->value == NULL;
}

/* Rows that are copied, in chunks. */
typedef struct selection {
    saddle_dataset *out;
    const saddle_dataset *data;
    const size_t *row;
    size_t count;
    size_t chunks;
    size_t entries
        [SADDLE_MOST_PARALLEL]; /* per chunk: first their number, then the index of the first */
} selection;

static size_t chunk_begin(const selection *s, size_t chunk)
{
    return s->count / s->chunks * chunk +
           (chunk < s->count % s->chunks ? chunk : s->count % s->chunks);
}

static void count_chunk(void *context, size_t chunk)
{
    selection *s = context;
    size_t first = chunk_begin(s, chunk);
    s->entries[chunk] = count_entries(s->data, s->row + first, chunk_begin(s, chunk + 1) - first);
}

static void copy_chunk(void *context, size_t chunk)
{
    const selection *s = context;
    const saddle_dataset *data = s->data;
    saddle_dataset *out = s->out;
    size_t to = s->entries[chunk];
    for (size_t k = chunk_begin(s, chunk); k < chunk_begin(s, chunk + 1); k++) {
        size_t row = s->row[k];
        out->label[k] = data->label[row];
        if (out->dense != NULL) {
            memcpy(out->dense + k * data->features, data->dense + row * data->features,
                   data->features * sizeof *data->dense);
            continue;
        }
        to +=
            copy_entries(data, row, out->column + to, out->value != NULL ? out->value + to : NULL);
        out->row_start[k + 1] = to;
    }
}

/* Allocates rows in sparse form and computes where the entries of each chunk begin. */
static saddle_status make_sparse(selection *s, saddle_error *error)
{
    size_t entries = 0;
    saddle_parallel(s->chunks, count_chunk, s);
    for (size_t k = 0; k < s->chunks; k++) {
        size_t own = s->entries[k];
        s->entries[k] = entries;
        entries += own;
    }
    return saddle_dataset_new(&s->out, s->data->name, s->count, s->data->features, entries,
                              has_ones(s->data), error);
}

/* Returns whether storing rows sparse takes at most a third of the memory and work, as for images on an
 * empty background. */
static bool mostly_zero(const saddle_dataset *data)
{
    return data->nonzeros <= data->rows * data->features / 4;
}

double saddle_dataset_select_bytes(const saddle_dataset *data, const size_t *row, size_t count)
{
    bool sparse = data->dense == NULL || mostly_zero(data);
    return bytes_of(data->name, count, data->features,
                    sparse ? count_entries(data, row, count) : SADDLE_DENSE, has_ones(data));
}

saddle_status saddle_dataset_select_by(saddle_dataset **out, const saddle_dataset *data,
                                       const size_t *row, size_t count, uint64_t threads,
                                       saddle_error *error)
{
    selection s = {.data = data,
                   .row = row,
                   .count = count,
                   .chunks = saddle_parallel_chunks(threads, count, WORTH_A_THREAD)};
    *out = NULL;
    for (size_t k = 0; k < count; k++)
        if (row[k] >= data->rows)
            return saddle_refuse(error, "row %zu of '%s' does not exist; it has rows 0 to %zu",
                                 row[k], data->name, data->rows - 1);
    SADDLE_TRY(data->dense == NULL || mostly_zero(data)
                   ? make_sparse(&s, error)
                   : saddle_dataset_new(&s.out, data->name, count, data->features, SADDLE_DENSE,
                                        false, error));
    saddle_parallel(s.chunks, copy_chunk, &s);
    if (s.out->dense != NULL)
        saddle_dataset_count_nonzeros(s.out);
    s.out->columns = saddle_columns_share(data->columns);
    s.out->formats = data->formats;
    *out = s.out;
    return SADDLE_OK;
}

saddle_status saddle_dataset_select(saddle_dataset **out, const saddle_dataset *data,
                                    const size_t *row, size_t count, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, data, row);
    return saddle_dataset_select_by(out, data, row, count, 1, error);
}

saddle_status saddle_dataset_range(saddle_dataset **out, const saddle_dataset *data, size_t first,
                                   size_t count, saddle_error *error)
{
    SADDLE_OWNED size_t *row = saddle_alloc(count, sizeof *row);
    SADDLE_TRY(saddle_check_memory(row, "a list of rows", error));
    for (size_t k = 0; k < count; k++)
        row[k] = first + k;
    return saddle_dataset_select(out, data, row, count, error);
}
