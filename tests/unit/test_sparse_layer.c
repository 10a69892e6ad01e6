/* Products of sparse rows with dense matrices, against the explicit sums. */
#include <stdlib.h>
#include <string.h>

#include <saddle/data.h>

#include "core/rng.h"
#include "instances.h"
#include "models/sparse_layer.h"
#include "support.h"

enum { ROWS = 40, FEATURES = 19, WIDEST = 70 };

/* A data set with about a third of its entries, one empty row and one empty column, also in dense form. */
typedef struct sample {
    saddle_dataset data;
    size_t row_start[ROWS + 1];
    uint32_t column[ROWS * FEATURES];
    double value[ROWS * FEATURES];
    double dense[ROWS][FEATURES];
} sample;

static void sample_make(sample *s, saddle_rng *rng)
{
    size_t entries = 0;
    for (size_t r = 0; r < ROWS; r++) {
        for (uint32_t c = 0; c < FEATURES; c++) {
            s->dense[r][c] = 0.0;
            if (r == 3 || c == 5 || saddle_rng_uniform(rng) > 0.35)
                continue;
            s->dense[r][c] = saddle_rng_normal(rng);
            s->column[entries] = c;
            s->value[entries++] = s->dense[r][c];
        }
        s->row_start[r + 1] = entries;
    }
    s->data = (saddle_dataset){.rows = ROWS,
                               .features = FEATURES,
                               .nonzeros = entries,
                               .row_start = s->row_start,
                               .column = s->column,
                               .value = s->value};
}

static double *normals(size_t count, saddle_rng *rng)
{
    double *v = test_doubles(count);
    for (size_t k = 0; k < count; k++)
        v[k] = saddle_rng_normal(rng);
    return v;
}

/* out += A W, entry by entry in ascending order. */
static void forward_slowly(const sample *s, const saddle_rows_block *block, size_t width,
                           const double *w, double *out)
{
    for (size_t k = 0; k < block->count; k++)
        for (size_t o = 0; o < width; o++)
            for (size_t c = 0; c < FEATURES; c++)
                if (s->dense[saddle_block_row(block, k)][c] != 0.0)
                    out[k * width + o] +=
                        s->dense[saddle_block_row(block, k)][c] * w[c * width + o];
}

/* g += A' D, row by row in ascending order. */
static void backward_slowly(const sample *s, const saddle_rows_block *block, size_t width,
                            const double *delta, double *g)
{
    for (size_t c = 0; c < FEATURES; c++)
        for (size_t o = 0; o < width; o++)
            for (size_t k = 0; k < block->count; k++)
                if (s->dense[saddle_block_row(block, k)][c] != 0.0)
                    g[c * width + o] +=
                        s->dense[saddle_block_row(block, k)][c] * delta[k * width + o];
}

/* Both products of one block, to the last bit. */
static void check_block(const sample *s, const saddle_rows_block *block, size_t width,
                        saddle_rng *rng)
{
    double *w = normals(FEATURES * width, rng);
    double *out[2] = {normals(block->count * width, rng), test_doubles(block->count * width)};
    double *g[2] = {normals(FEATURES * width, rng), test_doubles(FEATURES * width)};
    double *scratch = test_doubles(saddle_sparse_scratch(FEATURES));
    memcpy(out[1], out[0], block->count * width * sizeof(double));
    memcpy(g[1], g[0], FEATURES * width * sizeof(double));

    saddle_sparse_forward(block, width, w, out[0]);
    forward_slowly(s, block, width, w, out[1]);
    ck_assert_mem_eq(out[0], out[1], block->count * width * sizeof(double));
    saddle_sparse_backward(block, width, out[0], g[0], scratch);
    backward_slowly(s, block, width, out[0], g[1]);
    ck_assert_mem_eq(g[0], g[1], FEATURES * width * sizeof(double));

    free(scratch);
    for (int k = 0; k < 2; k++) {
        free(out[k]);
        free(g[k]);
    }
    free(w);
}

TEST(products_are_right_to_the_last_bit)
{
    static const size_t width[] = {1, 5, 31, 32, 33, 64, WIDEST};
    /* Rows in any order, one of them twice, the empty one among them. */
    static const uint32_t index[] = {7, 3, 0, 39, 7, 21};
    static sample s;
    saddle_rng rng;
    saddle_rng_init(&rng, 5, SADDLE_RNG_TEST, 0, 0);
    sample_make(&s, &rng);
    for (size_t k = 0; k < sizeof width / sizeof *width; k++) {
        saddle_rows_block listed = {.data = &s.data, .index = index, .count = 6};
        saddle_rows_block range = {.data = &s.data, .first = 2, .count = ROWS - 2};
        saddle_rows_block empty = {.data = &s.data, .first = 3, .count = 1};
        check_block(&s, &listed, width[k], &rng);
        check_block(&s, &range, width[k], &rng);
        check_block(&s, &empty, width[k], &rng);
    }
}
