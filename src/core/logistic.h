/*
 * The logistic functions of many arguments at once, per instruction set. All versions give the same
 * bits; saddle_logistic() of core/elementary.h picks the widest that the processor has.
 */
#ifndef SADDLE_CORE_LOGISTIC_H
#define SADDLE_CORE_LOGISTIC_H

#include <stddef.h>

/* One argument after another, on any machine. */
void saddle_logistic_plain(size_t count, const double *z, double *loss, double *slope);

#ifdef SADDLE_X86_VECTORS
/* Four at a time; needs AVX. */
void saddle_logistic_avx(size_t count, const double *z, double *loss, double *slope);
/* Eight at a time; needs AVX-512F. */
void saddle_logistic_avx512(size_t count, const double *z, double *loss, double *slope);
#endif

#endif
