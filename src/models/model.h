/*
 * Models that give a row of data a score: h(w; a), w the parameters, a the row.
 *
 * Rows are handled in blocks of at most SADDLE_MODEL_BLOCK. forward() leaves in the scratch memory
 * what backward() needs for the same block at the same parameters. Nothing is allocated, and several
 * threads may use one model at once, each with scratch of its own.
 *
 *   linear            h = w' a + b                           parameters (w, b)
 *   mlp:H1[,H2,...]   h = W_{L+1} s(... s(W_1 a + b_1) ...) + b_{L+1}
 *                                                            parameters (W_1, b_1, W_2, b_2, ...)
 */
#ifndef SADDLE_MODELS_MODEL_H
#define SADDLE_MODELS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include <saddle/data.h>
#include <saddle/option.h>
#include <saddle/status.h>

#include "data/rows.h"

/* The most rows of one block. */
#define SADDLE_MODEL_BLOCK 128

/* What names a model. */
typedef struct saddle_model_choice {
    const char *score;
    int activation; /* the index of its name in the option's choices */
} saddle_model_choice;

/* The options that fill it, for the tables of problems whose options struct begins with it. */
extern const saddle_option saddle_score_option;      /* --score */
extern const saddle_option saddle_activation_option; /* --activation */

/* A block of rows: row k is index[k], or first + k where index is NULL. Columns of the data beyond
 * the model's inputs are not allowed; missing ones count as zero. */
typedef struct saddle_rows_block {
    const saddle_dataset *data;
    const uint32_t *index;
    size_t first;
    size_t count;
    const struct saddle_helpers *helpers; /* workers that help with the block; NULL: none */
    const double
        *norm2; /* |a|^2 of its rows as far as the model sees them; NULL: of the whole rows */
} saddle_rows_block;

/* Number of the block's row k in the data. */
static inline size_t saddle_block_row(const saddle_rows_block *block, size_t k)
{
    return block->index != NULL ? block->index[k] : block->first + k;
}

/* |a|^2 of the block's row k. */
static inline double saddle_block_norm2(const saddle_rows_block *block, size_t k)
{
    return block->norm2 != NULL ? block->norm2[k]
                                : saddle_row_norm2(block->data, saddle_block_row(block, k));
}

/* A model. Fields are for reading only. */
typedef struct saddle_model saddle_model;
struct saddle_model {
    size_t inputs;      /* features of a row */
    size_t parameters;  /* length of w */
    size_t first_units; /* outputs of the first layer, the only one that sees the row */
    size_t scratch;     /* doubles of scratch that the functions below need */

    /* h[k] = h(w; a_k) for the rows of a block. */
    void (*forward)(const saddle_model *model, const saddle_rows_block *block, const double *w,
                    double *h, double *scratch);
    /*
     * g += sum_k c[k] grad h(w; a_k), after forward() with the same block, w and scratch. If
     * `square` is not NULL, square[k] = c[k]^2 |grad h(w; a_k)|^2.
     */
    void (*backward)(const saddle_model *model, const saddle_rows_block *block, const double *w,
                     const double *c, double *g, double *square, double *scratch);
    /* forward() at two points with one pass over the rows. */
    void (*forward2)(const saddle_model *model, const saddle_rows_block *block, const double *w1,
                     const double *w0, double *h1, double *h0, double *scratch);
    /* g += sum_k (c1[k] grad h(w1; a_k) - c0[k] grad h(w0; a_k)), after forward2(). c0 is
     * overwritten. */
    void (*backward2)(const saddle_model *model, const saddle_rows_block *block, const double *w1,
                      const double *w0, const double *c1, double *c0, double *g, double *scratch);
    /* A starting point, a function of the seed. */
    void (*initialize)(const saddle_model *model, uint64_t seed, double *w);
};

/* Make a model for rows of `inputs` features. *out is NULL on failure; free with saddle_model_free(). */
saddle_status saddle_model_create(saddle_model **out, const saddle_model_choice *choice,
                                  size_t inputs, saddle_error *error);
/* NULL is allowed. */
void saddle_model_free(saddle_model *model);

/* Scores of all rows of a data set, out[row]. Data with more features than the model are refused. */
saddle_status saddle_model_score(const saddle_model *model, const saddle_dataset *data,
                                 const double *w, double *out, saddle_error *error);

/* The kinds of model. */
saddle_status saddle_linear_create(saddle_model **out, size_t inputs, saddle_error *error);
/* `widths` is "H1[,H2,...]", `activation` as in saddle_model_choice. */
saddle_status saddle_mlp_create(saddle_model **out, size_t inputs, const char *widths,
                                int activation, saddle_error *error);

#endif
