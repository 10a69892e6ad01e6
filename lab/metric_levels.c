/* Levels of the metric at which the costs of runs are compared. */
#include <saddle/lab.h>

#include "core/base.h"
#include "core/float_mode.h"

/* The metric is a square: at this fraction of its start, distances have fallen by 12 digits, and later ones are
 * rounding. */
#define ROUNDING 1e-24
/* The most levels that not all runs reach, if there are more that all reach than fit. */
#define MOST_LATER 2

void saddle_metric_range_add(saddle_metric_range *range, double first, double last)
{
    SADDLE_STANDARD_FLOATS;
    if (isfinite(first))
        range->start = fmax(range->start, first);
    if (!isfinite(last))
        return;
    range->runs++;
    range->worst = fmax(range->worst, last);
    if (last > 0.0 && !(range->best > 0.0 && range->best <= last))
        range->best = last;
}

/* Sets a level to a power of ten; returns whether it is a number. It is converted from text, so that it is the double
 * nearest to the decade. */
static bool decade(int exponent, double *level)
{
    char text[SADDLE_REAL_SIZE];
    saddle_snprintf(text, sizeof text, "1e%d", exponent);
    return saddle_parse_real(text, level);
}

size_t saddle_levels_choose(const saddle_metric_range *range, double level[SADDLE_MOST_LEVELS])
{
    SADDLE_STANDARD_FLOATS;
    double best = range->best;
    level[0] = 0.0;
    if (range->runs == 0 || !(best > 0.0))
        return range->runs > 0;
    /* the smallest decade at or above the best */
    int low = (int)ceil(log10(fmax(best, ROUNDING * range->start)));
    /* the largest below the start */
    int high = range->start > best ? (int)ceil(log10(range->start)) - 1 : low - 1;
    if (high < low) {
        /* Less than a decade was gained: use the best itself, rounded up to two digits. */
        double unit = pow(10.0, floor(log10(best)) - 1.0);
        level[0] = ceil(best / unit) * unit;
        return 1;
    }
    /* The decades that all runs reach, at least the first; those that only some do; how many of both are taken. */
    int last = range->worst > 0.0 ? (int)ceil(log10(range->worst)) : low;
    last = last > high ? high : last < low ? low : last;
    int shared = high - last + 1;
    int others = last - low;
    int later = others < MOST_LATER ? others : MOST_LATER;
    int early = shared < SADDLE_MOST_LEVELS - later ? shared : SADDLE_MOST_LEVELS - later;
    later = others < SADDLE_MOST_LEVELS - early ? others : SADDLE_MOST_LEVELS - early;
    size_t count = 0;
    for (int k = 0; k < early; k++)
        count += decade(high - (early > 1 ? k * (shared - 1) / (early - 1) : 0), &level[count]);
    for (int k = 1; k <= later; k++)
        count += decade(last - k * others / later, &level[count]);
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
