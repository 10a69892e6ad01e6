/*
 * Blocks of rows of a batch, so that one call of the vector exponential handles a linear model's
 * scores of a whole block.
 */
#pragma once

#include <saddle/problem.h>

#include "data/rows.h"
#include "models/model.h"

/* The largest number of rows per call of the vector exponential. */
enum { SADDLE_ROW_BLOCK = 256 };

/* Returns at most `most` rows of a part's batch, from index `begin` on. */
static inline saddle_rows_block saddle_block_at(const saddle_dataset *data, const saddle_part *part,
                                                size_t begin, size_t most)
{
    const saddle_batch *batch = &part->batch;
    size_t rest = batch->count - begin;
    return (saddle_rows_block){.data = data,
                               .index = batch->index != NULL ? batch->index + begin : NULL,
                               .first = batch->first + begin,
                               .count = rest < most ? rest : most,
                               .helpers = part->helpers};
}

/* A linear model: t = w'a + bias. */
typedef struct saddle_linear_score {
    const double *w;
    double bias;
} saddle_linear_score;

/* Returns the score of a row. */
static inline double saddle_linear_score_of(saddle_linear_score model, const saddle_dataset *data,
                                            size_t row)
{
    return saddle_row_dot(data, row, model.w) + model.bias;
}

/* t[k] = the score of row k */
static inline void saddle_block_scores(const saddle_rows_block *block, saddle_linear_score model,
                                       double *t)
{
    for (size_t k = 0; k < block->count; k++)
        t[k] = saddle_linear_score_of(model, block->data, saddle_block_row(block, k));
}

/* t[2 k] and t[2 k + 1] = the scores of row k by two models */
static inline void saddle_block_scores2(const saddle_rows_block *block, saddle_linear_score model1,
                                        saddle_linear_score model0, double *t)
{
    for (size_t k = 0; k < block->count; k++) {
        saddle_row_dot2(block->data, saddle_block_row(block, k), model1.w, model0.w, &t[2 * k],
                        &t[2 * k + 1]);
        t[2 * k] += model1.bias;
        t[2 * k + 1] += model0.bias;
    }
}

/* Multiplies the `each` scores of every row by minus its label, which gives the arguments of the
 * logistic loss. */
static inline void saddle_block_margins(const saddle_rows_block *block, size_t each, double *t)
{
    for (size_t k = 0; k < each * block->count; k++)
        t[k] *= -block->data->label[saddle_block_row(block, k / each)];
}

/* Computes out[row], the score of every row. Refuses rows whose number of features is not that
 * of the model. */
static inline saddle_status saddle_score_rows(const saddle_dataset *data, size_t features,
                                              saddle_linear_score model, double *out,
                                              saddle_error *error)
{
    saddle_status status = saddle_rows_check(data, features, error);
    for (size_t row = 0; status == SADDLE_OK && row < data->rows; row++)
        out[row] = saddle_linear_score_of(model, data, row);
    return status;
}
