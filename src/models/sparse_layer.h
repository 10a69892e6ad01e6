/*
 * Products of a block of sparse rows with dense matrices, for the first layer of a network, which
 * is most of its work. Sums run over the entries of a row, or over the rows, in ascending order.
 */
#pragma once

#include "models/model.h"

/* out += A W for the rows A of a block. W has `outputs` columns; W and out are stored row by
 * row. */
void saddle_sparse_forward(const saddle_rows_block *block, size_t outputs, const double *w,
                           double *out);

/* Returns the number of doubles of scratch that saddle_sparse_backward() needs for rows with
 * this many features. */
size_t saddle_sparse_scratch(size_t features);
/* g += A' D. D has a row for every row of the block, g one for every feature. */
void saddle_sparse_backward(const saddle_rows_block *block, size_t outputs, const double *delta,
                            double *g, double *scratch);

/* out += sum_e value[e] rows[which[e]], where rows have `width` entries. There is a version for
 * each instruction set. */
typedef void saddle_rows_adder(size_t entries, const double *value, const uint32_t *which,
                               size_t width, const double *rows, double *out);
saddle_rows_adder saddle_add_rows_plain;
#ifdef SADDLE_X86_VECTORS
saddle_rows_adder saddle_add_rows_avx2;
saddle_rows_adder saddle_add_rows_avx512;
#endif
