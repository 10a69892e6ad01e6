/* Prefetching the rows of a batch, and multiplying them by two points at once. */
#ifndef SADDLE_PROBLEMS_BATCH_ROWS_H
#define SADDLE_PROBLEMS_BATCH_ROWS_H

#include <string.h>

#include "data/rows.h"

/* The rows of a batch are scattered in memory. The entry of row_start is prefetched
 * SADDLE_START_AHEAD rows ahead, the row itself SADDLE_ROW_AHEAD rows ahead. */
enum { SADDLE_START_AHEAD = 16, SADDLE_ROW_AHEAD = 8 };

/* Prefetches the rows after the k-th of a batch. It must be forced inline: gcc considers a
 * function that only prefetches to have no effect and drops the call. */
SADDLE_INLINE void saddle_prefetch_rows(const saddle_dataset *data, const saddle_batch *batch,
                                        size_t k)
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
        if (data->value != NULL) {
            __builtin_prefetch(data->value + first);
            __builtin_prefetch(data->value + first + SADDLE_LANES);
        }
    }
}

/* The same entry of two vectors. */
typedef double saddle_couple __attribute__((vector_size(2 * sizeof(double))));

/* Returns a_row' x of a sparse row for two points, whose entries are interleaved in `pair`. */
static inline saddle_couple saddle_row_dot_pair(const saddle_dataset *data, size_t row,
                                                const double *pair)
{
    saddle_couple sum = {0.0, 0.0};
    size_t end = data->row_start[row + 1];
    const double *value = data->value;
    saddle_couple both;
    if (value == NULL) {
        for (size_t k = data->row_start[row]; k < end; k++) {
            memcpy(&both, pair + 2 * (size_t)data->column[k], sizeof both);
            sum += both;
        }
        return sum;
    }
    for (size_t k = data->row_start[row]; k < end; k++) {
        memcpy(&both, pair + 2 * (size_t)data->column[k], sizeof both);
        sum += value[k] * both;
    }
    return sum;
}

#endif
