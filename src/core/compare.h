/* Comparison functions for qsort(). */
#pragma once

#include "core/base.h"

/* Sizes, ascending. */
static inline int saddle_compare_sizes(const void *a, const void *b)
{
    size_t left = *(const size_t *)a;
    size_t right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* Numbers, none of them NaN, ascending. */
static inline int saddle_compare_reals(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Numbers, none of them NaN, descending. */
static inline int saddle_compare_reals_down(const void *a, const void *b)
{
    return saddle_compare_reals(b, a);
}
