/* Data sets from arrays in memory, copied or borrowed. */
#include "core/vector.h"
#include "data/columns.h"
#include "data/dataset.h"

/* The name of data from memory in messages. */
#define NAME "data in memory"

static saddle_status check_labels(const double *label, size_t rows, saddle_error *error)
{
    size_t bad = label != NULL ? saddle_first_nonfinite(rows, label) : rows;
    if (bad == rows)
        return SADDLE_OK;
    return saddle_refuse(error, "the label of row %zu is %g; give finite labels", bad, label[bad]);
}

/* Only if all offsets ascend is the last one the number of entries, which limits what may be read. A
 * negative number that was converted to an offset ascends, but by more than a row can have. */
static saddle_status check_offsets(size_t rows, size_t features, const size_t *row_start,
                                   saddle_error *error)
{
    if (row_start[0] != 0)
        return saddle_refuse(error, "row_start[0] is %zu; it must be 0", row_start[0]);
    for (size_t r = 0; r < rows; r++) {
        if (row_start[r + 1] < row_start[r])
            return saddle_refuse(
                error,
                "row_start[%zu] = %zu is below row_start[%zu] = %zu; offsets must not decrease",
                r + 1, row_start[r + 1], r, row_start[r]);
        if (row_start[r + 1] - row_start[r] > features)
            return saddle_refuse(error,
                                 "row_start[%zu] = %zu is more than %zu features above "
                                 "row_start[%zu] = %zu; a row has at most one entry per feature",
                                 r + 1, row_start[r + 1], features, r, row_start[r]);
    }
    return SADDLE_OK;
}

static saddle_status check_entries(size_t rows, size_t features, const size_t *row_start,
                                   const uint32_t *column, const double *value, saddle_error *error)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t k = row_start[r]; k < row_start[r + 1]; k++) {
            if (column[k] >= features || (k > row_start[r] && column[k] <= column[k - 1]))
                return saddle_refuse(
                    error, "row %zu: column %u; columns must ascend within a row and be below %zu",
                    r, (unsigned)column[k], features);
            if (value != NULL && !isfinite(value[k]))
                return saddle_refuse(error, "row %zu, column %u is %g; give finite numbers", r,
                                     (unsigned)column[k], value[k]);
        }
    return SADDLE_OK;
}

saddle_status saddle_csr_check(size_t rows, size_t features, const size_t *row_start,
                               const uint32_t *column, const double *value, saddle_error *error)
{
    SADDLE_TRY(check_offsets(rows, features, row_start, error));
    if (row_start[rows] > 0)
        SADDLE_REQUIRE(error, column);
    return check_entries(rows, features, row_start, column, value, error);
}

static saddle_status check_arguments(size_t rows, size_t features, saddle_ownership ownership,
                                     saddle_error *error)
{
    if (rows == 0 || features == 0 || features > UINT32_MAX)
        return saddle_refuse(
            error,
            "%zu rows of %zu features; give at least 1 of each, and at most 2^32 - 1 features",
            rows, features);
    if (ownership != SADDLE_COPY && ownership != SADDLE_BORROW)
        return saddle_refuse(error, "ownership is %d; give SADDLE_COPY or SADDLE_BORROW",
                             (int)ownership);
    return SADDLE_OK;
}

/* Creates a data set whose arrays of features are still to be set. */
static saddle_status make_head(saddle_dataset **out, const char *name, size_t rows, size_t features,
                               const double *label, saddle_error *error)
{
    *out = saddle_dataset_new_head(name, rows, features);
    SADDLE_TRY(saddle_check_memory(*out, "a data set", error));
    (*out)->borrowed = true;
    if (label != NULL)
        memcpy((*out)->label, label, rows * sizeof *label);
    else
        memset((*out)->label, 0, rows * sizeof *label);
    return SADDLE_OK;
}

/* Casts const away: the arrays of a data set are never written to, but the type cannot say so. */
static void *borrow(const void *array)
{
    return (void *)(uintptr_t)array;
}

saddle_status saddle_dataset_view(saddle_dataset **out, const saddle_dataset *data,
                                  saddle_error *error)
{
    SADDLE_TRY(make_head(out, data->name != NULL ? data->name : NAME, data->rows, data->features,
                         data->label, error));
    (*out)->nonzeros = data->nonzeros;
    (*out)->row_start = data->row_start;
    (*out)->column = data->column;
    (*out)->value = data->value;
    (*out)->dense = data->dense;
    (*out)->columns = saddle_columns_share(data->columns);
    (*out)->formats = data->formats;
    return SADDLE_OK;
}

/* Replaces a borrowed data set by one that owns copies of all arrays. */
static saddle_status own_arrays(saddle_dataset **data, saddle_error *error)
{
    saddle_dataset *copy = NULL;
    const saddle_dataset *from = *data;
    saddle_status status = saddle_dataset_new(&copy, from->name, from->rows, from->features,
                                              from->dense != NULL ? SADDLE_DENSE : from->nonzeros,
                                              from->value == NULL, error);
    if (status == SADDLE_OK) {
        saddle_dataset_put(copy, from, 0, 0);
        copy->nonzeros = from->nonzeros;
    }
    saddle_dataset_free(*data);
    *data = copy;
    return status;
}

saddle_status saddle_dataset_from_dense(saddle_dataset **out, size_t rows, size_t features,
                                        const double *x, const double *label,
                                        saddle_ownership ownership, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, x);
    SADDLE_TRY(check_arguments(rows, features, ownership, error));
    if (rows > SIZE_MAX / sizeof *x / features)
        return saddle_no_memory(error, "a data set");
    size_t bad = saddle_first_nonfinite(rows * features, x);
    if (bad < rows * features)
        return saddle_refuse(error, "row %zu, column %zu is %g; give finite numbers",
                             bad / features, bad % features, x[bad]);
    SADDLE_TRY(check_labels(label, rows, error));
    SADDLE_TRY(make_head(out, NAME, rows, features, label, error));
    (*out)->dense = borrow(x);
    saddle_dataset_count_nonzeros(*out);
    return ownership == SADDLE_COPY ? own_arrays(out, error) : SADDLE_OK;
}

saddle_status saddle_dataset_from_csr(saddle_dataset **out, size_t rows, size_t features,
                                      const size_t *row_start, const uint32_t *column,
                                      const double *value, const double *label,
                                      saddle_ownership ownership, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, row_start);
    SADDLE_TRY(check_arguments(rows, features, ownership, error));
    /* An array of rows + 1 offsets would overflow. */
    if (rows >= SIZE_MAX / sizeof *row_start)
        return saddle_no_memory(error, "a data set");
    SADDLE_TRY(saddle_csr_check(rows, features, row_start, column, value, error));
    SADDLE_TRY(check_labels(label, rows, error));
    SADDLE_TRY(make_head(out, NAME, rows, features, label, error));
    (*out)->nonzeros = row_start[rows];
    (*out)->row_start = borrow(row_start);
    (*out)->column = borrow(column);
    (*out)->value = borrow(value);
    saddle_dataset_forget_ones(*out);
    return ownership == SADDLE_COPY ? own_arrays(out, error) : SADDLE_OK;
}
