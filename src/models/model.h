/*
 * Models that compute the score h(w; a) of a row a, given parameters w.
 *
 * Rows are processed in blocks of at most SADDLE_MODEL_BLOCK. forward() stores in the scratch
 * memory what backward() needs for the same block and parameters. The functions allocate nothing,
 * and several threads may use a model at the same time, each with its own scratch.
 *
 *   linear            h = w' a + b                           parameters (w, b)
 *   mlp:H1[,H2,...]   h = W_{L+1} s(... s(W_1 a + b_1) ...) + b_{L+1}
 *                                                            parameters (W_1, b_1, W_2, b_2, ...)
 */
#pragma once

#include <saddle/data.h>
#include <saddle/option.h>

#include "core/base.h"
#include "data/rows.h"

/* The largest number of rows in a block. */
#define SADDLE_MODEL_BLOCK 128

/* The values of the options that choose a model. */
typedef struct saddle_model_choice {
    const char *score;
    int activation; /* the index of its name in the option's choices */
} saddle_model_choice;

/* These options, for the tables of problems whose options struct begins with a
 * saddle_model_choice. */
extern const saddle_option saddle_score_option;      /* --score */
extern const saddle_option saddle_activation_option; /* --activation */

/* A block of rows: row k is index[k], or first + k if index is NULL. The data must not have more
 * columns than the model has inputs; missing columns count as zero. */
typedef struct saddle_rows_block {
    const saddle_dataset *data;
    const uint32_t *index;
    size_t first;
    size_t count;
    const struct saddle_helpers *helpers; /* workers that help with the block; NULL: none */
    const double *norm2; /* |a|^2 of its rows without hidden features; NULL: of the data's rows */
} saddle_rows_block;

/* Returns the number of the block's row k in the data. */
static inline size_t saddle_block_row(const saddle_rows_block *block, size_t k)
{
    return block->index != NULL ? block->index[k] : block->first + k;
}

/* Returns |a|^2 of the block's row k. */
static inline double saddle_block_norm2(const saddle_rows_block *block, size_t k)
{
    return block->norm2 != NULL ? block->norm2[k]
                                : saddle_row_norm2(block->data, saddle_block_row(block, k));
}

/* A model. Read only. */
typedef struct saddle_model saddle_model;
struct saddle_model {
    size_t inputs;      /* number of features of a row */
    size_t parameters;  /* length of w */
    size_t first_units; /* number of outputs of the first layer */
    size_t scratch;     /* number of doubles of scratch that the functions below need */

    /* h[k] = h(w; a_k) for the rows of a block. */
    void (*forward)(const saddle_model *model, const saddle_rows_block *block, const double *w,
                    double *h, double *scratch);
    /*
     * g += sum_k c[k] grad h(w; a_k), after forward() with the same block, w and scratch. If
     * `square` is not NULL, square[k] = c[k]^2 |grad h(w; a_k)|^2.
     */
    void (*backward)(const saddle_model *model, const saddle_rows_block *block, const double *w,
                     const double *c, double *g, double *square, double *scratch);
    /* Does forward() at two points in one pass over the rows. */
    void (*forward2)(const saddle_model *model, const saddle_rows_block *block, const double *w1,
                     const double *w0, double *h1, double *h0, double *scratch);
    /* g += sum_k (c1[k] grad h(w1; a_k) - c0[k] grad h(w0; a_k)), after forward2(). c0 is
     * overwritten. */
    void (*backward2)(const saddle_model *model, const saddle_rows_block *block, const double *w1,
                      const double *w0, const double *c1, double *c0, double *g, double *scratch);
    /* Sets w to a starting point, which depends only on the seed. */
    void (*initialize)(const saddle_model *model, uint64_t seed, double *w);
};

/* Makes a model for rows of `inputs` features. *out is NULL on failure; free with
 * saddle_model_free(). */
saddle_status saddle_model_create(saddle_model **out, const saddle_model_choice *choice,
                                  size_t inputs, saddle_error *error);
/* Frees a model. NULL is allowed. */
void saddle_model_free(saddle_model *model);

/* Computes the score of every row, out[row]. Refuses data with more features than the model has
 * inputs. */
saddle_status saddle_model_score(const saddle_model *model, const saddle_dataset *data,
                                 const double *w, double *out, saddle_error *error);

/* The kinds of model. */
saddle_status saddle_linear_create(saddle_model **out, size_t inputs, saddle_error *error);
/* `widths` is "H1[,H2,...]", `activation` as in saddle_model_choice. */
saddle_status saddle_mlp_create(saddle_model **out, size_t inputs, const char *widths,
                                int activation, saddle_error *error);
