/* Small dense linear systems, with the same bits on every machine (unlike LAPACK). */
#pragma once

#include "core/base.h"

/*
 * Solves A z = b by Gaussian elimination with row pivoting, in about 2/3 n^3 operations.
 * `matrix` is A, row by row, and is overwritten; `right` holds b and receives z. Returns false
 * when a pivot is zero or not finite.
 */
bool saddle_solve_dense(size_t n, double *matrix, double *right);

/* Returns the number of entries of a lower triangle, which is also where row n of a larger one begins. */
static inline size_t saddle_triangle_size(size_t n)
{
    return n * (n + 1) / 2;
}

/*
 * Replaces a symmetric positive definite matrix by L with A = L L' (Cholesky), in about n^3 / 3 operations. Both are
 * lower triangles, row by row: row i has i + 1 entries. Zeros at the beginning of a row cost nothing. Returns false
 * when A is not positive definite or not finite.
 */
bool saddle_factor_dense(size_t n, double *packed);
/* Solve L z = b and L' z = b: `right` holds b and receives z. */
void saddle_solve_lower(size_t n, const double *packed, double *right);
void saddle_solve_upper(size_t n, const double *packed, double *right);
