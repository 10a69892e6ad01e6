/* Scaling the rows of a data set. */
#include "data/columns.h"
#include "data/dataset.h"
#include "data/scale.h"

size_t saddle_scaling_count(const saddle_scaling *scaling, size_t *centred)
{
    size_t count = 0;
    *centred = 0;
    for (size_t k = 0; k < scaling->features; k++) {
        count += scaling->mean[k] != 0.0 || scaling->deviation[k] != 1.0;
        *centred += scaling->mean[k] != 0.0;
    }
    return count;
}

/* Halves are exact and their difference does not overflow, so this is (value - mean) / deviation. */
static double scaled(const saddle_scaling *scaling, size_t k, double value)
{
    return (0.5 * value - 0.5 * scaling->mean[k]) / (0.5 * scaling->deviation[k]);
}

/* Replaces a data set by a copy that owns its arrays and, if it is not dense, has values. */
static saddle_status copy_rows(saddle_dataset **data, bool dense, saddle_error *error)
{
    saddle_dataset *from = *data;
    saddle_dataset *to = NULL;
    SADDLE_TRY(saddle_dataset_new(&to, from->name, from->rows, from->features,
                                  dense ? SADDLE_DENSE : from->nonzeros, false, error));
    if (dense && from->dense == NULL) {
        memcpy(to->label, from->label, from->rows * sizeof *to->label);
        for (size_t row = 0; row < from->rows; row++)
            for (size_t e = from->row_start[row]; e < from->row_start[row + 1]; e++)
                to->dense[row * to->features + from->column[e]] = saddle_entry_value(from, e);
    } else {
        saddle_dataset_put(to, from, 0, 0);
    }
    to->columns = saddle_columns_share(from->columns);
    to->dropped = from->dropped;
    to->imputed = from->imputed;
    to->unlabelled = from->unlabelled;
    to->formats = from->formats;
    saddle_dataset_free(from);
    *data = to;
    return SADDLE_OK;
}

saddle_status saddle_dataset_scale(saddle_dataset **data, const saddle_scaling *scaling,
                                   saddle_error *error)
{
    const saddle_dataset *from = *data;
    size_t centred;
    if (saddle_scaling_count(scaling, &centred) == 0)
        return SADDLE_OK;
    bool dense = from->dense != NULL || centred > 0;
    if (from->borrowed || (dense ? from->dense == NULL : from->value == NULL))
        SADDLE_TRY(copy_rows(data, dense, error));
    saddle_dataset *to = *data;
    if (!dense) {
        for (size_t e = 0; e < to->row_start[to->rows]; e++)
            to->value[e] = scaled(scaling, to->column[e], to->value[e]);
        return SADDLE_OK;
    }
    for (size_t row = 0; row < to->rows; row++)
        for (size_t k = 0; k < to->features; k++) {
            double *value = &to->dense[row * to->features + k];
            *value = scaled(scaling, k, *value);
        }
    saddle_dataset_count_nonzeros(to);
    return SADDLE_OK;
}
