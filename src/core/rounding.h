/* Rounding that hides the differences between machines' LAPACK and ARPACK. */
#ifndef SADDLE_CORE_ROUNDING_H
#define SADDLE_CORE_ROUNDING_H

#include <math.h>

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

#endif
