/*
 * exp, log, sin, the logistic functions and rounding with the same bits on every machine.
 *
 * They come from SLEEF's "cinz" family, whose results are the same with and without vector units
 * and never use fused multiply-add. The C library's functions are chosen by processor and differ
 * between them.
 */
#pragma once

#include "core/base.h"

/* exp(v) and log(v). */
double saddle_exp(double v);
double saddle_log(double v);
/* sin(pi v). */
double saddle_sinpi(double v);

/*
 * Returns v rounded to 40 significant bits, a relative change of at most 9.1e-13; NaN stays NaN.
 * Eigenvalues and the weights computed from them are rounded this way, because their last bits
 * depend on the LAPACK or ARPACK of the machine and on its threads. All machines then agree on
 * every bit, unless the exact value is within such an error of the middle between two rounded
 * numbers.
 */
static inline double saddle_round_significant(double v)
{
    int exponent = 0;
    double fraction = frexp(v, &exponent);
    return ldexp(rint(ldexp(fraction, 40)), exponent - 40);
}

/* log(1 + exp(z)) without overflow; NaN for NaN. */
double saddle_softplus(double z);

/* For every k: loss[k] = log(1 + exp(z[k])), slope[k] = 1 / (1 + exp(-z[k])), its derivative.
 * Arrays may not overlap; loss may be NULL. */
void saddle_logistic(size_t count, const double *z, double *loss, double *slope);
