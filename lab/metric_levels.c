/* Levels of the metric at which the costs of runs are compared. */
#include <math.h>
#include <stdio.h>

#include <saddle/lab.h>

#include "core/float_mode.h"
#include "core/print.h"
#include "core/text.h"

void saddle_metric_range_add(saddle_metric_range *range, double first, double last)
{
    SADDLE_STANDARD_FLOATS;
    if (isfinite(first))
        range->start = fmax(range->start, first);
    if (!isfinite(last))
        return;
    range->runs++;
    if (last > 0.0 && !(range->best > 0.0 && range->best <= last))
        range->best = last;
}

size_t saddle_levels_choose(const saddle_metric_range *range, double level[SADDLE_MOST_LEVELS])
{
    SADDLE_STANDARD_FLOATS;
    double best = range->best;
    level[0] = 0.0;
    if (range->runs == 0 || !(best > 0.0))
        return range->runs > 0;
    int low = (int)ceil(log10(best)); /* the smallest decade at or above the best */
    /* the largest below the start */
    int high = range->start > best ? (int)ceil(log10(range->start)) - 1 : low - 1;
    if (high < low) {
        /* Less than a decade was gained: use the best itself, rounded up to two digits. */
        double unit = pow(10.0, floor(log10(best)) - 1.0);
        level[0] = ceil(best / unit) * unit;
        return 1;
    }
    int stride = (high - low + SADDLE_MOST_LEVELS) / SADDLE_MOST_LEVELS;
    int top = low + (high - low) / stride * stride;
    size_t count = 0;
    for (int k = top; k >= low; k -= stride) {
        /* Converted from text, so that the level is the double nearest to the decade. */
        char text[SADDLE_REAL_SIZE];
        saddle_snprintf(text, sizeof text, "1e%d", k);
        if (saddle_parse_real(text, &level[count]))
            count++;
    }
    return count;
}

size_t saddle_levels_reached(const double *metric, size_t stride, size_t rows, double level)
{
    SADDLE_STANDARD_FLOATS;
    size_t k = rows;
    while (k > 0 &&
           *(const double *)(const void *)((const char *)metric + (k - 1) * stride) <= level)
        k--;
    return k;
}
