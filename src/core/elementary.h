/*
 * exp, log, sin and the logistic functions with the same bits on every machine.
 *
 * They come from SLEEF's "cinz" family, whose results are the same with and without vector units
 * and never use fused multiply-add. The C library's functions are chosen by processor and differ
 * between them.
 */
#ifndef SADDLE_CORE_ELEMENTARY_H
#define SADDLE_CORE_ELEMENTARY_H

#include <stddef.h>

double saddle_exp(double v);
double saddle_log(double v);
/* sin(pi v). */
double saddle_sinpi(double v);

/* log(1 + exp(z)) without overflow; NaN for NaN. */
double saddle_softplus(double z);

/* For every k: loss[k] = log(1 + exp(z[k])), slope[k] = 1 / (1 + exp(-z[k])), its derivative.
 * Arrays may not overlap; loss may be NULL. */
void saddle_logistic(size_t count, const double *z, double *loss, double *slope);

#endif
