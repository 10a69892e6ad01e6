/* Products of one interval. Projection clips each coordinate: O(n). */
#include "sets/interval.h"

#include "sets/kernel.h"

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is the table's */
void saddle_interval_project(const saddle_set *set, double *v, double *scratch)
{
    const saddle_interval *interval = (const saddle_interval *)set;
    (void)scratch;
    saddle_clip(set->dimension, interval->lower, interval->upper, v);
}

void saddle_interval_range(const saddle_set *set, double *lower, double *upper)
{
    const saddle_interval *interval = (const saddle_interval *)set;
    *lower = interval->lower;
    *upper = interval->upper;
}

bool saddle_interval_uniform_bounds(const saddle_set *set, double *lower, double *upper)
{
    saddle_interval_range(set, lower, upper);
    return true;
}
