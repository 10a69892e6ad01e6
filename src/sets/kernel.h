/*
 * Loops that sets and regularizers share. They keep a NaN a NaN, so that a diverging run is seen,
 * and give the same bits on every machine (see core/vector.h).
 */
#ifndef SADDLE_SETS_KERNEL_H
#define SADDLE_SETS_KERNEL_H

#include <stddef.h>

/* v[k] <- the nearest number of [lower, upper] */
void saddle_clip(size_t count, double lower, double upper, double *v);

/* v[k] <- sign(v[k]) max(|v[k]| - threshold, 0) / divisor */
void saddle_soft_threshold(size_t count, double threshold, double divisor, double *v);

/* sum_k |v[k]| */
double saddle_norm1(size_t count, const double *v);

/*
 * The Euclidean norm as scale * result, without overflow or underflow. Scale is 1 unless the
 * squares leave the range of doubles.
 */
double saddle_scaled_norm(size_t count, const double *v, double *scale);

/* The Euclidean norm; infinite only when it truly is too large for a double. */
double saddle_norm(size_t count, const double *v);

/*
 * How far, relatively, the norm or sum of a projected vector may miss its target by rounding. A
 * point that misses by no more counts as inside, so that projecting twice changes nothing.
 */
double saddle_rounding(size_t count);

#endif
