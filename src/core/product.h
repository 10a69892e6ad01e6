/*
 * Products of dense matrices, on the calling thread, without allocation. Every entry of the
 * result is one sum in ascending order, so its bits depend neither on the instruction set nor on
 * the blocking.
 */
#pragma once

#include "core/base.h"

/* A matrix in memory: entry (i, k) is at[i * row + k * column]. */
typedef struct saddle_matrix {
    const double *at;
    size_t row;
    size_t column;
} saddle_matrix;

/* Returns a matrix stored row by row, in rows of `width`. */
static inline saddle_matrix saddle_by_rows(const double *at, size_t width)
{
    return (saddle_matrix){.at = at, .row = width, .column = 1};
}

/* Returns the transpose of a matrix stored row by row. */
static inline saddle_matrix saddle_transposed(const double *at, size_t width)
{
    return (saddle_matrix){.at = at, .row = 1, .column = width};
}

/* The sizes of a product: a matrix of rows x depth times one of depth x columns. */
typedef struct saddle_product_size {
    size_t rows;
    size_t columns;
    size_t depth;
} saddle_product_size;

/*
 * Computes c += a b. c is stored row by row and does not overlap a or b. Gives the same bits as
 *
 *   for (k = 0; k < depth; k++) c(i, j) += a(i, k) * b(k, j);
 */
void saddle_add_product(saddle_product_size size, saddle_matrix a, saddle_matrix b, double *c);

/* The same, each compiled for one instruction set. */
typedef void saddle_product_adder(saddle_product_size size, saddle_matrix a, saddle_matrix b,
                                  double *c);
saddle_product_adder saddle_add_product_plain;
#ifdef SADDLE_X86_VECTORS
saddle_product_adder saddle_add_product_avx2;
saddle_product_adder saddle_add_product_avx512;
#endif
