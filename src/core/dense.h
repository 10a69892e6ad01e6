/* Small dense systems, with the same bits on every machine (LAPACK's depend on the processor). */
#ifndef SADDLE_CORE_DENSE_H
#define SADDLE_CORE_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Solve A z = b by Gaussian elimination with row pivoting, in about 2/3 n^3 operations. `matrix` is
 * n x n, row by row, and is destroyed; `right` holds b and receives z. False when a pivot is zero
 * or not finite.
 */
bool saddle_solve_dense(size_t n, double *matrix, double *right);

#endif
