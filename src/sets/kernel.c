/* Loops that sets and regularizers share. */
#include "sets/kernel.h"

#include "core/vector.h"

#define LANES 8

SADDLE_KERNEL void saddle_clip(size_t count, double lower, double upper, double *v)
{
    for (size_t k = 0; k < count; k++)
        v[k] = v[k] < lower ? lower : v[k] > upper ? upper : v[k];
}

SADDLE_KERNEL void saddle_soft_threshold(size_t count, double threshold, double divisor, double *v)
{
    for (size_t k = 0; k < count; k++) {
        double cut = v[k] < -threshold ? -threshold : v[k] > threshold ? threshold : v[k];
        v[k] = (v[k] - cut) / divisor;
    }
}

SADDLE_KERNEL double saddle_norm1(size_t count, const double *v)
{
    double lane[LANES] = {0.0};
    size_t whole = count / LANES * LANES;
    for (size_t base = 0; base < whole; base += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += fabs(v[base + l]);
    for (size_t k = whole; k < count; k++)
        lane[k - whole] += fabs(v[k]);
    return saddle_sum(LANES, lane);
}

/* Returns the largest |v[k]|, ignoring NaN. */
static double largest_magnitude(size_t count, const double *v)
{
    double largest = 0.0;
    for (size_t k = 0; k < count; k++)
        largest = fabs(v[k]) > largest ? fabs(v[k]) : largest;
    return largest;
}

double saddle_scaled_norm(size_t count, const double *v, double *scale)
{
    double square = saddle_norm2(count, v);
    *scale = 1.0;
    /* Within these bounds no square has overflowed, and those lost to underflow do not matter. */
    if (square >= 0x1p-900 && square <= DBL_MAX)
        return sqrt(square);
    double largest = largest_magnitude(count, v);
    if (isnan(square) || largest == 0.0 || isinf(largest))
        return sqrt(square);
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += (v[k] / largest) * (v[k] / largest);
    *scale = largest;
    return sqrt(sum);
}

double saddle_norm(size_t count, const double *v)
{
    double scale;
    double root = saddle_scaled_norm(count, v, &scale);
    return scale * root;
}

double saddle_rounding(size_t count)
{
    return ((double)count + 8.0) * DBL_EPSILON;
}
