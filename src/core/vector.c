#include "core/vector.h"

/* A lane-wise sum of `term`, an expression in the index k. */
#define LANE_SUM(count, term)                        \
    double lane[SADDLE_LANES] = {0.0};               \
    SADDLE_FOR_LANES(count, { lane[l] += (term); }); \
    return saddle_add_lanes(lane)

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
