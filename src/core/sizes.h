/* Sums, minima and maxima of sizes, such as those of the agents' data. */
#pragma once

#include "core/base.h"

/* Returns the sum of sizes. */
static inline uint64_t saddle_sizes_sum(size_t count, const size_t *size)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += size[k];
    return sum;
}

/* Returns the smallest size; SIZE_MAX without any. */
static inline size_t saddle_sizes_smallest(size_t count, const size_t *size)
{
    size_t least = SIZE_MAX;
    for (size_t k = 0; k < count; k++)
        least = size[k] < least ? size[k] : least;
    return least;
}

/* Returns the largest size; 0 without any. */
static inline size_t saddle_sizes_largest(size_t count, const size_t *size)
{
    size_t most = 0;
    for (size_t k = 0; k < count; k++)
        most = size[k] > most ? size[k] : most;
    return most;
}
