/*
 * Products of a block of sparse rows with dense matrices: the first layer of a network, where most of
 * its work is. Sums run over the entries of a row, or over the rows, in ascending order.
 */
#ifndef SADDLE_MODELS_SPARSE_LAYER_H
#define SADDLE_MODELS_SPARSE_LAYER_H

#include "models/model.h"

/* out += A W, for the rows A of a block: W has `outputs` columns and lies row by row, as does out. */
void saddle_sparse_forward(const saddle_rows_block *block, size_t outputs, const double *w,
                           double *out);

/* Doubles of scratch that saddle_sparse_backward() needs for rows of so many features. */
size_t saddle_sparse_scratch(size_t features);
/* g += A' D: D has a row for every row of the block, g one for every feature. */
void saddle_sparse_backward(const saddle_rows_block *block, size_t outputs, const double *delta,
                            double *g, double *scratch);

/* out += sum_e value[e] rows[which[e]], rows of `width`: for one instruction set each. */
typedef void saddle_rows_adder(size_t entries, const double *value, const uint32_t *which,
                               size_t width, const double *rows, double *out);
saddle_rows_adder saddle_add_rows_plain;
#ifdef SADDLE_X86_VECTORS
saddle_rows_adder saddle_add_rows_avx2;
saddle_rows_adder saddle_add_rows_avx512;
#endif

#endif
