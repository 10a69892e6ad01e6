/* Products of sparse rows for any processor, and the choice of the widest version that this one has. */
#include "data/rows.h"
#define SADDLE_SPARSE(name) name##_plain
#include "models/sparse_kernel.h"

static saddle_rows_adder *adder(void)
{
#ifdef SADDLE_X86_VECTORS
    int bits = saddle_vector_bits();
    if (bits == 512)
        return saddle_add_rows_avx512;
    if (bits == 256)
        return saddle_add_rows_avx2;
#endif
    return saddle_add_rows_plain;
}

void saddle_sparse_forward(const saddle_rows_block *block, size_t outputs, const double *w,
                           double *out)
{
    const saddle_dataset *data = block->data;
    saddle_rows_adder *add_rows = adder();
    for (size_t k = 0; k < block->count; k++) {
        size_t row = saddle_block_row(block, k);
        size_t first = data->row_start[row];
        const double *value = data->value != NULL ? data->value + first : NULL;
        add_rows(data->row_start[row + 1] - first, value, data->column + first, outputs, w,
                 out + k * outputs);
    }
}

/* ---- backwards ------------------------------------------------------------------------------- */

/*
 * Row by row, every entry would read and write a row of g, which is far larger than the caches near
 * the processor. So the block is transposed first: then every row of g is met once, and what is read
 * again and again is D, which is small.
 */
typedef struct transposed {
    double *value;   /* by feature, then by row */
    uint32_t *row;   /* likewise: number of the row in the block */
    uint32_t *start; /* features + 1: where a feature's entries begin */
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

/* Counting sort by feature. */
static void transpose(const saddle_rows_block *block, const transposed *t)
{
    const saddle_dataset *data = block->data;
    size_t features = data->features;
    /* One place later than counted: filling in moves each start to where it belongs. */
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

void saddle_sparse_backward(const saddle_rows_block *block, size_t outputs, const double *delta,
                            double *g, double *scratch)
{
    size_t features = block->data->features;
    saddle_rows_adder *add_rows = adder();
    transposed t = lay_out(features, scratch);
    transpose(block, &t);
    for (size_t c = 0; c < features; c++) {
        size_t first = t.start[c];
        if (t.start[c + 1] > first)
            add_rows(t.start[c + 1] - first, t.value + first, t.row + first, outputs, delta,
                     g + c * outputs);
    }
}
