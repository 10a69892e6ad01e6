/* Numbers that all machines agree on, though they come from eigenvalues. */
#ifndef SADDLE_CORE_ROUNDING_H
#define SADDLE_CORE_ROUNDING_H

/*
 * The nearest number of 40 significant bits, a relative 9.1e-13 away at most; NaN stays NaN. Eigenvalues
 * and the weights that are made from them are so rounded, lest they depend on the rounding errors
 * of one machine's LAPACK or ARPACK, or on how many threads these use: unless the exact value lies within
 * such an error of the middle between two rounded ones, all agree on every bit.
 */
double saddle_round_significant(double v);

#endif
