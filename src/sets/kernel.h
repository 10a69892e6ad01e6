/*
 * Loops that sets and regularizers share. NaN stays NaN, so that divergence is detected, and
 * results have the same bits on every machine (see core/vector.h).
 */
#pragma once

#include "core/base.h"

/* v[k] <- the nearest number in [lower, upper] */
void saddle_clip(size_t count, double lower, double upper, double *v);

/* v[k] <- sign(v[k]) max(|v[k]| - threshold, 0) / divisor */
void saddle_soft_threshold(size_t count, double threshold, double divisor, double *v);

/* Replaces v by its projection onto {x >= 0, sum x = total}, total > 0; needs `count` doubles of scratch. Defined in
 * simplex.c. */
void saddle_project_simplex(size_t count, double total, double *v, double *scratch);

/* sum_k |v[k]| */
double saddle_norm1(size_t count, const double *v);

/*
 * Computes the Euclidean norm as scale * result, without overflow or underflow. The scale is 1
 * unless the squares leave the range of doubles.
 */
double saddle_scaled_norm(size_t count, const double *v, double *scale);

/* Returns the Euclidean norm; infinite only if the norm itself overflows. */
double saddle_norm(size_t count, const double *v);

/*
 * Returns the largest relative rounding error of the norm or sum of a projected vector. A point
 * that exceeds its bound by no more than this counts as inside, so that projecting twice changes
 * nothing.
 */
double saddle_rounding(size_t count);
