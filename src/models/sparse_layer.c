/* Products of sparse rows for any processor, and the choice of the widest version that this
 * processor supports. */
#include "core/share.h"
#include "data/rows.h"
#define SADDLE_SPARSE(name) name##_plain
#include "models/sparse_kernel.h"

static saddle_rows_adder *adder(void)
{
    return SADDLE_WIDEST_OF(saddle_add_rows_plain, saddle_add_rows_avx2, saddle_add_rows_avx512);
}

/* A product of a block that is divided between workers. */
typedef struct shared_product {
    const saddle_rows_block *block;
    saddle_rows_adder *add_rows;
    size_t outputs;
    const double *factor; /* w, or delta */
    double *out;          /* the result, or g */
    const struct transposed *transposed;
} shared_product;

/* The number of rows, or of features, in a share of the work. */
enum { SHARE_ROWS = 4, SHARE_FEATURES = 32 };

static void forward_share(void *context, size_t share, double *scratch)
{
    (void)scratch;
    const shared_product *p = context;
    const saddle_dataset *data = p->block->data;
    for (size_t k = share * SHARE_ROWS; k < (share + 1) * SHARE_ROWS && k < p->block->count; k++) {
        size_t row = saddle_block_row(p->block, k);
        size_t first = data->row_start[row];
        const double *value = data->value != NULL ? data->value + first : NULL;
        p->add_rows(data->row_start[row + 1] - first, value, data->column + first, p->outputs,
                    p->factor, p->out + k * p->outputs);
    }
}

void saddle_sparse_forward(const saddle_rows_block *block, size_t outputs, const double *w,
                           double *out)
{
    shared_product p = {block, adder(), outputs, w, out, NULL};
    saddle_share(block->helpers, (block->count + SHARE_ROWS - 1) / SHARE_ROWS, forward_share, &p,
                 NULL);
}

/* ---- backwards ------------------------------------------------------------------------------- */

/*
 * A block in transposed form. Row by row, every entry would read and write a row of g, which is far
 * larger than the first caches. Feature by feature, every row of g is visited once, and only D,
 * which is small, is read repeatedly.
 */
typedef struct transposed {
    double *value;   /* by feature, then by row */
    uint32_t *row;   /* number of the row in the block, in the same order */
    uint32_t *start; /* features + 1: index of each feature's first entry */
} transposed;

static transposed lay_out(size_t features, double *scratch)
{
    transposed t;
    t.value = scratch;
    t.row = (uint32_t *)(void *)(t.value + SADDLE_MODEL_BLOCK * features);
    t.start = t.row + SADDLE_MODEL_BLOCK * features;
    return t;
}

size_t saddle_sparse_scratch(size_t features)
{
    size_t halves = SADDLE_MODEL_BLOCK * features + features + 2;
    return saddle_whole_lines(SADDLE_MODEL_BLOCK * features + halves / 2 + 1);
}

/* Transposes a block by a counting sort. */
static void transpose(const saddle_rows_block *block, const transposed *t)
{
    const saddle_dataset *data = block->data;
    size_t features = data->features;
    /* Counts are stored one index later than their feature; filling in then moves each start to
     * its final value. */
    memset(t->start, 0, (features + 2) * sizeof *t->start);
    for (size_t k = 0; k < block->count; k++) {
        size_t row = saddle_block_row(block, k);
        for (size_t e = data->row_start[row]; e < data->row_start[row + 1]; e++)
            t->start[data->column[e] + 2]++;
    }
    for (size_t c = 2; c < features + 2; c++)
        t->start[c] += t->start[c - 1];
    for (size_t k = 0; k < block->count; k++) {
        size_t row = saddle_block_row(block, k);
        for (size_t e = data->row_start[row]; e < data->row_start[row + 1]; e++) {
            uint32_t place = t->start[data->column[e] + 1]++;
            t->value[place] = saddle_entry_value(data, e);
            t->row[place] = (uint32_t)k;
        }
    }
}

static void backward_share(void *context, size_t share, double *scratch)
{
    (void)scratch;
    const shared_product *p = context;
    const transposed *t = p->transposed;
    size_t end = (share + 1) * SHARE_FEATURES;
    size_t features = p->block->data->features;
    for (size_t c = share * SHARE_FEATURES; c < end && c < features; c++) {
        size_t first = t->start[c];
        if (t->start[c + 1] > first)
            p->add_rows(t->start[c + 1] - first, t->value + first, t->row + first, p->outputs,
                        p->factor, p->out + c * p->outputs);
    }
}

void saddle_sparse_backward(const saddle_rows_block *block, size_t outputs, const double *delta,
                            double *g, double *scratch)
{
    size_t features = block->data->features;
    transposed t = lay_out(features, scratch);
    shared_product p = {block, adder(), outputs, delta, g, &t};
    transpose(block, &t);
    saddle_share(block->helpers, (features + SHARE_FEATURES - 1) / SHARE_FEATURES, backward_share,
                 &p, NULL);
}
