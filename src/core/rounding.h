/* Eigenvalues that all machines agree on. */
#ifndef SADDLE_CORE_ROUNDING_H
#define SADDLE_CORE_ROUNDING_H

/*
 * The nearest number of 40 significant bits, a relative 4.5e-13 away at most; NaN stays NaN. Weights
 * and step sizes are made from eigenvalues so rounded, so that they do not depend on the rounding
 * errors of one machine's LAPACK or ARPACK, nor on how many threads these use: unless the exact
 * value lies within such an error of the middle between two rounded ones, all agree on every bit.
 */
double saddle_round_eigenvalue(double v);

#endif
