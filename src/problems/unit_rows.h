/*
 * Products of data rows with vectors where the data may be sparse with no value but 1 (`unit`), which
 * then need not be read; otherwise as in data/rows.h, with the same bits.
 */
#ifndef SADDLE_PROBLEMS_UNIT_ROWS_H
#define SADDLE_PROBLEMS_UNIT_ROWS_H

#include <string.h>

#include "data/rows.h"

/* The rows of a batch are scattered in memory: the start of a row and then the row itself are
 * prefetched this many rows ahead. */
enum { SADDLE_START_AHEAD = 16, SADDLE_ROW_AHEAD = 8 };

/* Whether a data set is sparse with no value but 1. */
static inline bool saddle_has_unit_values(const saddle_dataset *data)
{
    if (data->dense != NULL)
        return false;
    for (size_t k = 0; k < data->row_start[data->rows]; k++)
        if (data->value[k] != 1.0)
            return false;
    return true;
}

/* a_row' x, as saddle_row_dot(). */
static inline double saddle_unit_row_dot(bool unit, const saddle_dataset *data, size_t row,
                                         const double *x)
{
    if (!unit)
        return saddle_row_dot(data, row, x);
    double sum = 0.0;
    size_t k = data->row_start[row];
    size_t end = data->row_start[row + 1];
    const uint32_t *column = data->column;
    for (; k + 1 < end; k += 2) {
        sum += x[column[k]];
        sum += x[column[k + 1]];
    }
    return k < end ? sum + x[column[k]] : sum;
}

/* out += scale a_row, as saddle_row_add(). */
static inline void saddle_unit_row_add(bool unit, const saddle_dataset *data, size_t row,
                                       double scale, double *out)
{
    if (!unit) {
        saddle_row_add(data, row, scale, out);
        return;
    }
    size_t k = data->row_start[row];
    size_t end = data->row_start[row + 1];
    const uint32_t *column = data->column;
    for (; k + 1 < end; k += 2) {
        out[column[k]] += scale;
        out[column[k + 1]] += scale;
    }
    if (k < end)
        out[column[k]] += scale;
}

/* Prefetches the rows after the k-th of a batch. (Not merely `inline`: gcc takes a function that only
 * prefetches for one without effect and drops its calls.) */
SADDLE_INLINE void saddle_prefetch_rows(bool unit, const saddle_dataset *data,
                                        const saddle_batch *batch, size_t k)
{
    if (batch->index == NULL || data->dense != NULL)
        return;
    if (k + SADDLE_START_AHEAD < batch->count) {
        size_t row = batch->index[k + SADDLE_START_AHEAD];
        __builtin_prefetch(data->row_start + row);
        __builtin_prefetch(data->label + row);
    }
    if (k + SADDLE_ROW_AHEAD < batch->count) {
        size_t first = data->row_start[batch->index[k + SADDLE_ROW_AHEAD]];
        __builtin_prefetch(data->column + first);
        if (!unit) {
            __builtin_prefetch(data->value + first);
            __builtin_prefetch(data->value + first + SADDLE_LANES);
        }
    }
}

/* The same entry of two vectors. */
typedef double saddle_couple __attribute__((vector_size(2 * sizeof(double))));

/* a_row' x of a sparse row at two points that lie entry by entry side by side in `pair`. */
static inline saddle_couple saddle_unit_row_dot2(bool unit, const saddle_dataset *data, size_t row,
                                                 const double *pair)
{
    saddle_couple sum = {0.0, 0.0};
    size_t end = data->row_start[row + 1];
    for (size_t k = data->row_start[row]; k < end; k++) {
        saddle_couple both;
        memcpy(&both, pair + 2 * (size_t)data->column[k], sizeof both);
        sum += unit ? both : data->value[k] * both;
    }
    return sum;
}

#endif
