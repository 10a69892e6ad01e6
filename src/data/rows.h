/* Products of data rows with vectors, for sparse and dense data, in a fixed order. */
#pragma once

#include <saddle/data.h>

#include "core/base.h"
#include "core/vector.h"

/* Fails if the rows do not have as many features as a model. */
static inline saddle_status saddle_rows_check(const saddle_dataset *data, size_t features,
                                              saddle_error *error)
{
    if (data->features == features)
        return SADDLE_OK;
    return saddle_refuse(
        error, "'%s' has %zu feature%s, but the model has %zu; give rows with the same features",
        data->name, data->features, SADDLE_PLURAL(data->features), features);
}

/* Returns the entry of a row in a column; 0 where none is stored. */
static inline double saddle_row_entry(const saddle_dataset *data, size_t row, size_t column)
{
    if (data->dense != NULL)
        return data->dense[row * data->features + column];
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        if (data->column[k] == column)
            return saddle_entry_value(data, k);
    return 0.0;
}

/* a_row' x */
static inline double saddle_row_dot(const saddle_dataset *data, size_t row, const double *x)
{
    if (data->dense != NULL)
        return saddle_dot(data->features, data->dense + row * data->features, x);
    double sum = 0.0;
    size_t k = data->row_start[row];
    size_t end = data->row_start[row + 1];
    const uint32_t *column = data->column;
    const double *value = data->value;
    if (value != NULL) {
        for (; k < end; k++)
            sum += value[k] * x[column[k]];
        return sum;
    }
    for (; k + 1 < end; k += 2) {
        sum += x[column[k]];
        sum += x[column[k + 1]];
    }
    return k < end ? sum + x[column[k]] : sum;
}

/* a_row' x1 and a_row' x0 in one pass over the row. */
static inline void saddle_row_dot2(const saddle_dataset *data, size_t row, const double *x1,
                                   const double *x0, double *dot1, double *dot0)
{
    if (data->dense != NULL) {
        *dot1 = saddle_dot(data->features, data->dense + row * data->features, x1);
        *dot0 = saddle_dot(data->features, data->dense + row * data->features, x0);
        return;
    }
    double sum1 = 0.0;
    double sum0 = 0.0;
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++) {
        double value = saddle_entry_value(data, k);
        sum1 += value * x1[data->column[k]];
        sum0 += value * x0[data->column[k]];
    }
    *dot1 = sum1;
    *dot0 = sum0;
}

/* out += scale a_row */
static inline void saddle_row_add(const saddle_dataset *data, size_t row, double scale, double *out)
{
    if (data->dense != NULL) {
        saddle_axpy(data->features, scale, data->dense + row * data->features, out);
        return;
    }
    size_t k = data->row_start[row];
    size_t end = data->row_start[row + 1];
    const uint32_t *column = data->column;
    const double *value = data->value;
    if (value == NULL) {
        for (; k + 1 < end; k += 2) {
            out[column[k]] += scale;
            out[column[k + 1]] += scale;
        }
        if (k < end)
            out[column[k]] += scale;
        return;
    }
    for (; k + 1 < end; k += 2) {
        out[column[k]] += scale * value[k];
        out[column[k + 1]] += scale * value[k + 1];
    }
    if (k < end)
        out[column[k]] += scale * value[k];
}

/* |a_row|^2 */
static inline double saddle_row_norm2(const saddle_dataset *data, size_t row)
{
    if (data->dense != NULL)
        return saddle_norm2(data->features, data->dense + row * data->features);
    double sum = 0.0;
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        sum += saddle_entry_value(data, k) * saddle_entry_value(data, k);
    return sum;
}
