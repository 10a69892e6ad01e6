#include "draw/mean_band.h"

#include <math.h>
#include <stdlib.h>

#include "core/compare.h"
#include "core/memory.h"

/* The value of a run at x by interpolation; NaN outside of its range and in gaps. */
static double value_at(const figure_run *run, double x, bool logarithmic)
{
    if (run->count == 0 || !(x >= run->x[0]) || !(x <= run->x[run->count - 1]))
        return (double)NAN;
    size_t low = 0;
    size_t high = run->count - 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (run->x[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    double left = logarithmic ? log(run->y[low]) : run->y[low];
    double right = logarithmic ? log(run->y[high]) : run->y[high];
    double width = run->x[high] - run->x[low];
    double share = width > 0.0 ? (x - run->x[low]) / width : 1.0;
    /* Exactly at a point its neighbour, which may be a gap, does not count. */
    if (!(share > 0.0))
        return left;
    return share < 1.0 ? left + share * (right - left) : right;
}

/* Computes mean and band at one x; `value` is scratch for one value per run. */
static void summarize(mean_band *out, const figure_curve *curve, double x, bool logarithmic,
                      double *value)
{
    size_t k = out->count++;
    double sum = 0.0;
    for (size_t r = 0; r < curve->runs; r++) {
        value[r] = value_at(&curve->run[r], x, logarithmic);
        sum += value[r];
    }
    double mean = sum / (double)curve->runs;
    out->x[k] = x;
    out->mean[k] = out->low[k] = out->high[k] = (double)NAN;
    if (!isfinite(mean))
        return;
    qsort(value, curve->runs, sizeof *value, saddle_compare_reals);
    double last = (double)(curve->runs - 1);
    double low = value[(size_t)floor(0.1 * last)];
    double high = value[(size_t)ceil(0.9 * last)];
    out->mean[k] = logarithmic ? exp(mean) : mean;
    out->low[k] = logarithmic ? exp(low) : low;
    out->high[k] = logarithmic ? exp(high) : high;
}

/* The part of the axis that all runs cover. */
static bool common_range(const figure_curve *curve, double *low, double *high)
{
    *low = -(double)INFINITY;
    *high = (double)INFINITY;
    for (size_t r = 0; r < curve->runs; r++) {
        const figure_run *run = &curve->run[r];
        if (run->count == 0)
            return false;
        *low = fmax(*low, run->x[0]);
        *high = fmin(*high, run->x[run->count - 1]);
    }
    return *low <= *high;
}

saddle_status mean_band_make(mean_band *out, const figure_curve *curve, bool logarithmic,
                             size_t most, saddle_error *error)
{
    *out = (mean_band){.count = 0};
    double low;
    double high;
    if (!common_range(curve, &low, &high))
        return SADDLE_OK;
    const figure_run *first = &curve->run[0];
    size_t stride = first->count / most + 1;
    size_t room = first->count / stride + 3;
    out->x = saddle_alloc(room, sizeof *out->x);
    out->mean = saddle_alloc(room, sizeof *out->mean);
    out->low = saddle_alloc(room, sizeof *out->low);
    out->high = saddle_alloc(room, sizeof *out->high);
    double *value = saddle_alloc(curve->runs, sizeof *value);
    if (out->x == NULL || out->mean == NULL || out->low == NULL || out->high == NULL ||
        value == NULL) {
        mean_band_release(out);
        saddle_free(value);
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the mean of %zu runs",
                           curve->runs);
    }
    summarize(out, curve, low, logarithmic, value);
    for (size_t k = 0; k < first->count; k += stride)
        if (first->x[k] > low && first->x[k] < high)
            summarize(out, curve, first->x[k], logarithmic, value);
    if (high > low)
        summarize(out, curve, high, logarithmic, value);
    saddle_free(value);
    return SADDLE_OK;
}

void mean_band_release(mean_band *b)
{
    saddle_free(b->x);
    saddle_free(b->mean);
    saddle_free(b->low);
    saddle_free(b->high);
    *b = (mean_band){.count = 0};
}
