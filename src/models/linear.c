/*
 * The linear score h = w' a + b with parameters (w, b), which start at zero. The cost of every
 * function is proportional to the number of stored entries of the block.
 */
#include "models/model.h"

static void forward(const saddle_model *model, const saddle_rows_block *block, const double *w,
                    double *h, double *scratch)
{
    (void)scratch;
    for (size_t k = 0; k < block->count; k++)
        h[k] = saddle_row_dot(block->data, saddle_block_row(block, k), w) + w[model->inputs];
}

static void backward(const saddle_model *model, const saddle_rows_block *block, const double *w,
                     const double *c, double *g, double *square, double *scratch)
{
    (void)w;
    (void)scratch;
    for (size_t k = 0; k < block->count; k++) {
        size_t row = saddle_block_row(block, k);
        saddle_row_add(block->data, row, c[k], g);
        g[model->inputs] += c[k];
        if (square != NULL)
            square[k] = c[k] * c[k] * (saddle_block_norm2(block, k) + 1.0);
    }
}

static void forward2(const saddle_model *model, const saddle_rows_block *block, const double *w1,
                     const double *w0, double *h1, double *h0, double *scratch)
{
    (void)scratch;
    for (size_t k = 0; k < block->count; k++) {
        saddle_row_dot2(block->data, saddle_block_row(block, k), w1, w0, &h1[k], &h0[k]);
        h1[k] += w1[model->inputs];
        h0[k] += w0[model->inputs];
    }
}

/* grad h does not depend on w, so backward() handles both points at once. */
static void backward2(const saddle_model *model, const saddle_rows_block *block, const double *w1,
                      const double *w0, const double *c1, double *c0, double *g, double *scratch)
{
    (void)w0;
    for (size_t k = 0; k < block->count; k++)
        c0[k] = c1[k] - c0[k];
    backward(model, block, w1, c0, g, NULL, scratch);
}

static void initialize(const saddle_model *model, uint64_t seed, double *w)
{
    (void)seed;
    memset(w, 0, model->parameters * sizeof *w);
}

saddle_status saddle_linear_create(saddle_model **out, size_t inputs, saddle_error *error)
{
    *out = NULL;
    saddle_model *model = saddle_alloc(1, sizeof *model);
    SADDLE_TRY(saddle_check_memory(model, "the model", error));
    *model = (saddle_model){
        .inputs = inputs,
        .parameters = inputs + 1,
        .first_units = 1,
        .forward = forward,
        .backward = backward,
        .forward2 = forward2,
        .backward2 = backward2,
        .initialize = initialize,
    };
    *out = model;
    return SADDLE_OK;
}
