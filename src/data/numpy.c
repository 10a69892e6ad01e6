/*
 * NumPy's files as data sets:
 *
 *   .npz   a matrix X or features with labels y or labels, or the arrays of scipy.sparse.save_npz (data, indices,
 *          indptr, shape, format; compressed rows) and labels
 *   .npy   a matrix, one column of which is the label
 *
 * Instead, labels may come from a separate file: a vector in a .npy, or y or labels in a .npz.
 */
#include "core/memory_limits.h"
#include "core/vector.h"
#include "data/dataset.h"
#include "data/readers.h"
#include "files/npy_header.h"
#include "files/npz.h"

bool saddle_looks_like_numpy(const saddle_input *in)
{
    return saddle_input_begins(in, SADDLE_NPY_MAGIC) || saddle_input_begins(in, "PK\x03\x04");
}

/* Finds the one of two names that an archive has; NULL when it has neither or is not an archive. */
static saddle_status find_name(const char *path, const char *first, const char *second,
                               const char **out, saddle_error *error)
{
    bool has_first = saddle_numpy_has(path, first);
    bool has_second = saddle_numpy_has(path, second);
    *out = has_first ? first : has_second ? second : NULL;
    if (!has_first || !has_second)
        return SADDLE_OK;
    return saddle_refuse(error, "'%.300s' contains both %s and %s; save it with only one of them",
                         path, first, second);
}

/* Reads a vector of `length` numbers (SIZE_MAX: any number of them); the caller frees it. */
static saddle_status read_vector(const char *path, const char *name, size_t length, double **out,
                                 size_t *got, saddle_error *error)
{
    size_t rank;
    size_t shape[2];
    SADDLE_TRY(saddle_numpy_read(path, name, out, &rank, shape, error));
    *got = shape[0] * shape[1];
    bool flat = shape[0] == *got || shape[1] == *got;
    if (flat && (length == SIZE_MAX || *got == length))
        return SADDLE_OK;
    saddle_free(*out);
    *out = NULL;
    return saddle_refuse(
        error, "'%.300s': '%s' has shape (%zu, %zu); a vector of %zu numbers goes with the rows",
        path, name, shape[0], shape[1], length);
}

/* ---- labels ---- */

/* Reads labels from the file that the options name, otherwise from the archive at `path`. */
static saddle_status read_labels(saddle_dataset *data, const char *path,
                                 const saddle_data_options *options, saddle_error *error)
{
    SADDLE_OWNED double *label = NULL;
    size_t count = 0;
    memset(data->label, 0, data->rows * sizeof *data->label);
    if (options->labels != NULL && strcmp(options->labels, "none") == 0)
        return SADDLE_OK;
    const char *from = options->labels != NULL ? options->labels : path;
    const char *name;
    SADDLE_TRY(find_name(from, "y", "labels", &name, error));
    if (options->labels == NULL && name == NULL)
        return saddle_refuse(error,
                             "'%.300s' has no labels: no array is called y or labels; add one, or "
                             "give the label file's path, or none",
                             path);
    SADDLE_TRY(read_vector(from, name != NULL ? name : "y", data->rows, &label, &count, error));
    size_t bad = saddle_first_nonfinite(count, label);
    if (bad < count)
        return saddle_refuse(error, "'%.300s': the label of row %zu is %g; give finite labels",
                             from, bad, label[bad]);
    memcpy(data->label, label, count * sizeof *label);
    return SADDLE_OK;
}

/* ---- dense ---- */

/* Moves the label column out of rows of `fields` numbers. */
static void take_column(saddle_dataset *data, size_t fields, size_t column)
{
    for (size_t row = 0; row < data->rows; row++) {
        const double *from = data->dense + row * fields;
        double *to = data->dense + row * data->features;
        data->label[row] = from[column];
        memmove(to, from, column * sizeof *to);
        memmove(to + column, from + column + 1, (fields - 1 - column) * sizeof *to);
    }
}

/* Creates a data set that takes over a checked matrix of `fields` columns, one of which may be the label. */
static saddle_status adopt(saddle_dataset **out, const char *name, double *x, size_t rows,
                           size_t fields, size_t label, saddle_error *error)
{
    size_t features = fields - (label < fields);
    saddle_dataset *data = saddle_dataset_new_head(name, rows, features);
    if (data == NULL) {
        saddle_free(x);
        return saddle_no_memory(error, "a data set");
    }
    data->dense = x;
    if (label < fields)
        take_column(data, fields, label);
    saddle_dataset_count_nonzeros(data);
    *out = data;
    return SADDLE_OK;
}

/* Reads a matrix of finite numbers with at least one row and column; the caller frees it. */
static saddle_status read_matrix(const char *path, const char *name, double **out, size_t shape[2],
                                 saddle_error *error)
{
    size_t rank;
    SADDLE_TRY(saddle_numpy_read(path, name, out, &rank, shape, error));
    size_t count = shape[0] * shape[1];
    size_t bad = saddle_first_nonfinite(count, *out);
    if (rank != 2 || count == 0 || shape[1] > UINT32_MAX)
        saddle_refuse(error,
                      "'%.300s' holds an array of rank %zu and shape (%zu, %zu); give a matrix "
                      "with a row for each sample",
                      path, rank, shape[0], shape[1]);
    else if (bad < count)
        saddle_refuse(error, "'%.300s': row %zu, column %zu is %g; give finite numbers", path,
                      bad / shape[1], bad % shape[1], (*out)[bad]);
    else
        return SADDLE_OK;
    saddle_free(*out);
    *out = NULL;
    return SADDLE_BAD_INPUT;
}

/* Determines which column of a matrix is the label; `fields` means none. */
static saddle_status choose_column(const saddle_data_options *options, const char *path,
                                   size_t fields, size_t *out, saddle_error *error)
{
    const char *wanted = options->label_column;
    uint64_t number = 0;
    *out = fields;
    if (options->labels != NULL || (wanted != NULL && strcmp(wanted, "none") == 0))
        return SADDLE_OK;
    if (fields < 2)
        return saddle_refuse(error,
                             "'%.300s' has one column; a label and at least one feature are "
                             "needed, or a label file, or --label-column none",
                             path);
    if (wanted == NULL || strcmp(wanted, "last") == 0)
        number = fields;
    else if (strcmp(wanted, "first") == 0)
        number = 1;
    else if (!saddle_parse_integer(wanted, &number) || number < 1 || number > fields)
        return saddle_refuse(error,
                             "label column '%s' of '%.300s': give first, last, none or a number "
                             "from 1 to %zu; columns of a .npy have no names",
                             wanted, path, fields);
    *out = (size_t)number - 1;
    return SADDLE_OK;
}

static saddle_status read_dense(saddle_dataset **out, const char *name, const char *path,
                                bool archive, const saddle_data_options *options,
                                saddle_error *error)
{
    const char *matrix;
    SADDLE_OWNED double *x = NULL;
    size_t shape[2];
    size_t label = SIZE_MAX;
    SADDLE_TRY(find_name(path, "X", "features", &matrix, error));
    SADDLE_TRY(read_matrix(path, matrix != NULL ? matrix : "X", &x, shape, error));
    if (!archive)
        SADDLE_TRY(choose_column(options, path, shape[1], &label, error));
    SADDLE_TRY(adopt(out, name, saddle_taken(&x), shape[0], shape[1], label, error));
    /* In a matrix, a column is the label unless the options name a file. */
    bool apart = archive || options->labels != NULL;
    if (!apart && label >= shape[1])
        memset((*out)->label, 0, shape[0] * sizeof *(*out)->label);
    return apart ? read_labels(*out, path, options, error) : SADDLE_OK;
}

/* ---- compressed rows ---- */

/* The arrays of scipy.sparse.save_npz, as doubles. */
struct csr {
    double *data;
    double *indices;
    double *indptr;
    size_t entries;
    size_t rows;
    size_t features;
};

/* Converts a number to an index below `limit`; false when it is not one. */
static bool as_index(double number, double limit, size_t *out)
{
    if (!(number >= 0.0 && number < limit && number == floor(number)))
        return false;
    *out = (size_t)number;
    return true;
}

static saddle_status check_format(const char *path, saddle_error *error)
{
    SADDLE_OWNED char *format = NULL;
    SADDLE_TRY(saddle_numpy_read_text(path, "format", &format, error));
    if (strcmp(format, "csr") != 0)
        return saddle_refuse(error,
                             "'%.300s' is a sparse matrix of format '%s'; save it with .tocsr()",
                             path, SADDLE_EXCERPT(format));
    return SADDLE_OK;
}

static saddle_status read_arrays(struct csr *csr, const char *path, saddle_error *error)
{
    SADDLE_OWNED double *shape = NULL;
    size_t count = 0;
    SADDLE_TRY(check_format(path, error));
    SADDLE_TRY(read_vector(path, "shape", 2, &shape, &count, error));
    if (!(as_index(shape[0], 0x1p53, &csr->rows) && csr->rows > 0 &&
          as_index(shape[1], 0x1p32, &csr->features) && csr->features > 0))
        return saddle_refuse(
            error, "'%.300s' has shape (%g, %g); give at least 1 row and 1 to 2^32 - 1 features",
            path, shape[0], shape[1]);
    SADDLE_TRY(read_vector(path, "indptr", csr->rows + 1, &csr->indptr, &count, error));
    SADDLE_TRY(read_vector(path, "data", SIZE_MAX, &csr->data, &csr->entries, error));
    return read_vector(path, "indices", csr->entries, &csr->indices, &count, error);
}

/* Checks that a dense point and gradient fit into memory, because all further work needs them. */
static saddle_status check_width(const struct csr *csr, const char *path, saddle_error *error)
{
    char what[400];
    saddle_snprintf(what, sizeof what, "a point and a gradient of the %zu features of '%.300s'",
                    csr->features, path);
    return saddle_need_check_one(2.0 * sizeof(double) * (double)csr->features, what,
                                 "correct its shape", error);
}

/* Fills in the entries; false when an offset or index is invalid. */
static bool fill(saddle_dataset *data, const struct csr *csr)
{
    size_t index = 0;
    for (size_t k = 0; k <= csr->rows; k++)
        if (!as_index(csr->indptr[k], (double)csr->entries + 1.0, &data->row_start[k]))
            return false;
    for (size_t k = 0; k < csr->entries; k++) {
        if (!as_index(csr->indices[k], (double)csr->features, &index))
            return false;
        data->column[k] = (uint32_t)index;
        data->value[k] = csr->data[k];
    }
    return data->row_start[csr->rows] == csr->entries;
}

static saddle_status make_sparse(saddle_dataset **out, const char *name, const struct csr *csr,
                                 const char *path, saddle_error *error)
{
    saddle_error why;
    SADDLE_TRY(check_width(csr, path, error));
    SADDLE_TRY(saddle_dataset_new(out, name, csr->rows, csr->features, csr->entries, false, error));
    const saddle_dataset *data = *out;
    if (!fill(*out, csr))
        return saddle_refuse(error,
                             "'%.300s': indptr or indices do not fit its shape (%zu, %zu) and %zu "
                             "entries; save it with scipy.sparse.save_npz",
                             path, csr->rows, csr->features, csr->entries);
    if (saddle_csr_check(csr->rows, csr->features, data->row_start, data->column, data->value,
                         &why) != SADDLE_OK)
        return saddle_refuse(error,
                             "'%.300s': %.500s (sum_duplicates() puts a scipy matrix in order)",
                             path, why.message);
    saddle_dataset_forget_ones(*out);
    return SADDLE_OK;
}

static saddle_status read_sparse(saddle_dataset **out, const char *name, const char *path,
                                 const saddle_data_options *options, saddle_error *error)
{
    struct csr csr = {0};
    saddle_status status = read_arrays(&csr, path, error);
    SADDLE_THEN(status, make_sparse(out, name, &csr, path, error));
    SADDLE_THEN(status, read_labels(*out, path, options, error));
    saddle_free(csr.data);
    saddle_free(csr.indices);
    saddle_free(csr.indptr);
    return status;
}

/* ---- both ---- */

saddle_status saddle_read_numpy(saddle_dataset **out, const char *name, const saddle_input *in,
                                const saddle_data_options *options, saddle_error *error)
{
    bool archive = saddle_input_begins(in, "PK");
    *out = NULL;
    if (in->unpacked != NULL)
        return saddle_refuse(error,
                             "'%s' is a gzip'd NumPy file; unpack it with gunzip first, or save it "
                             "with numpy.savez_compressed",
                             in->path);
    const char *found;
    SADDLE_TRY(find_name(in->path, "indptr", "X", &found, error));
    SADDLE_TRY(find_name(in->path, "indptr", "features", &found, error));
    return saddle_dataset_finish(out,
                                 archive && saddle_numpy_has(in->path, "indptr")
                                     ? read_sparse(out, name, in->path, options, error)
                                     : read_dense(out, name, in->path, archive, options, error));
}
