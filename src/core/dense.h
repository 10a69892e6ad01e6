/* Small dense linear systems, with the same bits on every machine (unlike LAPACK). */
#ifndef SADDLE_CORE_DENSE_H
#define SADDLE_CORE_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Solves A z = b by Gaussian elimination with row pivoting, in about 2/3 n^3 operations.
 * `matrix` is A, row by row, and is overwritten; `right` holds b and receives z. Returns false
 * when a pivot is zero or not finite.
 */
bool saddle_solve_dense(size_t n, double *matrix, double *right);

#endif
