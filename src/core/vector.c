#include "core/vector.h"

#include <math.h>

#define LANES 8

/* The fixed order in which lanes are added. */
static double add_lanes(const double lane[LANES])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* A lane-wise sum of `term`, an expression in the index k. */
#define LANE_SUM(count, term)                          \
    double lane[LANES] = {0.0};                        \
    size_t whole = (count) / LANES * LANES;            \
    for (size_t base = 0; base < whole; base += LANES) \
        for (size_t l = 0; l < LANES; l++) {           \
            size_t k = base + l;                       \
            lane[l] += (term);                         \
        }                                              \
    for (size_t k = whole; k < (count); k++)           \
        lane[k - whole] += (term);                     \
    return add_lanes(lane)

SADDLE_KERNEL double saddle_dot(size_t count, const double *a, const double *b)
{
    LANE_SUM(count, a[k] * b[k]);
}

SADDLE_KERNEL double saddle_sum(size_t count, const double *v)
{
    LANE_SUM(count, v[k]);
}

SADDLE_KERNEL double saddle_norm2(size_t count, const double *v)
{
    LANE_SUM(count, v[k] * v[k]);
}

SADDLE_KERNEL double saddle_distance2(size_t count, const double *a, const double *b)
{
    LANE_SUM(count, (a[k] - b[k]) * (a[k] - b[k]));
}

SADDLE_KERNEL void saddle_axpy(size_t count, double a, const double *restrict x, double *restrict y)
{
    for (size_t k = 0; k < count; k++)
        y[k] += a * x[k];
}

SADDLE_KERNEL void saddle_scale(size_t count, double a, double *v)
{
    for (size_t k = 0; k < count; k++)
        v[k] *= a;
}

size_t saddle_first_nonfinite(size_t count, const double *v)
{
    for (size_t k = 0; k < count; k++)
        if (!isfinite(v[k]))
            return k;
    return count;
}
