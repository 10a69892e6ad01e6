/* What the steps of kernels.h share: loops of the threads of a block, tiles, the clock, and rows of data. */
#ifndef SADDLE_ENGINES_CUDA_CARD_CODE_H
#define SADDLE_ENGINES_CUDA_CARD_CODE_H

#include "core/scalar.h"
#include "engines/cuda/card.h"

#ifdef __CUDACC__
#define SADDLE_STEP static __device__ __forceinline__
/* A loop of the threads of a block, and the same from the last thread down. */
#define SADDLE_EACH(k, count) for (uint32_t k = threadIdx.x; k < (count); k += blockDim.x)
#define SADDLE_EACH_DOWN(k, count) \
    for (uint32_t k = blockDim.x - 1 - threadIdx.x; k < (count); k += blockDim.x)
#define SADDLE_BARRIER() __syncthreads()
#define SADDLE_SET_BITS(word, bits) atomicOr(word, bits)
/* Before it a step reads only what does not change or was there two steps ago: it may begin before the last step has
 * ended, and waits for it here. */
#if __CUDA_ARCH__ >= 900
#define SADDLE_AWAIT()                             \
    do {                                           \
        cudaGridDependencySynchronize();           \
        cudaTriggerProgrammaticLaunchCompletion(); \
    } while (0)
#else
#define SADDLE_AWAIT() (void)0
#endif
#define SADDLE_UNROLL _Pragma("unroll 4")
#define SADDLE_UNROLL_ALL _Pragma("unroll")
#else
#define SADDLE_STEP static inline
#define SADDLE_EACH(k, count) for (uint32_t k = 0; k < (count); k++)
#define SADDLE_EACH_DOWN(k, count) for (uint32_t k = (count); k-- > 0;)
#define SADDLE_BARRIER() (void)0
#define SADDLE_SET_BITS(word, bits) (void)(*(word) |= (bits))
#define SADDLE_AWAIT() (void)0
#define SADDLE_UNROLL
#define SADDLE_UNROLL_ALL
#endif

/* Words of a column's bits, one bit per row of a chunk. */
enum { SADDLE_CARD_WORDS = SADDLE_CARD_CHUNK / 32 };

/* A tile of coordinates of x or y. */
typedef struct saddle_card_tile {
    bool is_x;
    uint32_t first;
    uint32_t count;
    size_t point;   /* the offset in the span of coordinate 0 of x or y */
    size_t tracker; /* the same of p or d */
} saddle_card_tile;

/* Returns the tile of a number: first those of x, then those of y. */
SADDLE_STEP saddle_card_tile saddle_card_tile_of(const saddle_card_plan *c, uint32_t number)
{
    saddle_card_tile u;
    u.is_x = number < c->x_tiles;
    uint32_t all = u.is_x ? c->x_dim : c->y_dim;
    u.first = (u.is_x ? number : number - c->x_tiles) * SADDLE_CARD_THREADS;
    u.count = all - u.first < SADDLE_CARD_THREADS ? all - u.first : SADDLE_CARD_THREADS;
    u.point = u.is_x ? 0 : c->x_dim;
    u.tracker = (size_t)c->x_dim + c->y_dim + (u.is_x ? c->y_dim : 0);
    return u;
}

/* Nothing is computed in this iteration and later ones. */
SADDLE_STEP bool saddle_card_stopped(const saddle_card_plan *c, uint64_t iteration)
{
    return c->state->stop_at <= iteration;
}

/* Ends the run after this iteration if a variable is not finite. */
SADDLE_STEP void saddle_card_check(const saddle_card_plan *c, uint64_t iteration, double v)
{
    if (!saddle_is_finite(v))
        c->state->stop_at = iteration + 1;
}

/* The numbers of a scheduled agent: SADDLE_PRECISION_FOLLOWED and those after it. */
SADDLE_STEP double *saddle_card_numbers(const saddle_card_plan *c, uint32_t agent)
{
    return c->kept + agent * c->kept_stride + c->x_dim + c->y_dim + 1;
}

/* Whether an agent refreshes in this iteration at a time of its own, as saddle_precision_refreshes() says before and
 * after the refresh. */
SADDLE_STEP bool saddle_card_refreshes(const saddle_card_plan *c, uint64_t iteration,
                                       uint32_t agent)
{
    if (!c->steps.scheduled)
        return false;
    const double *number = saddle_card_numbers(c, agent);
    uint64_t since = iteration + 1 - (uint64_t)number[SADDLE_PRECISION_REFRESHED];
    return since % (uint64_t)number[SADDLE_PRECISION_SPAN] == 0;
}

/* Ends an iteration; for one thread. The clock goes on when nothing is computed any more. */
SADDLE_STEP void saddle_card_tick(const saddle_card_plan *c, unsigned parity, uint64_t iteration)
{
    c->state->clock[1 - parity] = iteration + 1;
}

/* Returns the number closest to v between the bounds; NaN for NaN. */
SADDLE_STEP double saddle_card_clip(double v, double lower, double upper)
{
    return v < lower ? lower : v > upper ? upper : v;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Its eight sums are those of saddle_dot(). */
SADDLE_STEP double saddle_card_dense_dot(uint32_t count, const double *a, const double *x)
{
    double lane[8] = {0.0};
    uint32_t whole = count / 8 * 8;
    for (uint32_t k = 0; k < whole; k += 8)
        for (uint32_t l = 0; l < 8; l++)
            lane[l] += a[k + l] * x[k + l];
    for (uint32_t l = 0; l < 8; l++)
        if (whole + l < count)
            lane[l] += a[whole + l] * x[whole + l];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Entries of a row, and of a column, whose loads are in flight together. */
enum { SADDLE_CARD_GROUP = 8, SADDLE_CARD_LONG_GROUP = 16 };

/* The score of a row whose entries are [start, end). Sets `bit` in the first columns' words `bits`; NULL: does not. */
SADDLE_STEP double saddle_card_dot(const saddle_card_plan *c, uint64_t row, uint64_t start,
                                   uint64_t end, const double *x, uint32_t *bits, uint32_t bit)
{
    double sum = 0.0;
    if (c->dense != NULL)
        sum = saddle_card_dense_dot(c->features, c->dense + row * c->features, x);
    for (uint64_t e = start; e < end; e += SADDLE_CARD_GROUP) {
        uint32_t column[SADDLE_CARD_GROUP];
        double term[SADDLE_CARD_GROUP];
        SADDLE_UNROLL_ALL
        for (uint32_t l = 0; l < SADDLE_CARD_GROUP; l++)
            column[l] = c->column[e + l < end ? e + l : start];
        SADDLE_UNROLL_ALL
        for (uint32_t l = 0; l < SADDLE_CARD_GROUP; l++)
            term[l] = x[column[l]];
        SADDLE_UNROLL_ALL
        for (uint32_t l = 0; l < SADDLE_CARD_GROUP; l++) {
            if (e + l >= end)
                continue;
            sum += c->value != NULL ? c->value[e + l] * term[l] : term[l];
            if (bits != NULL && column[l] < SADDLE_CARD_COLUMNS)
                SADDLE_SET_BITS(bits + (size_t)column[l] * SADDLE_CARD_WORDS, bit);
        }
    }
    sum = saddle_flush(sum);
    return c->features < c->x_dim ? saddle_add(sum, x[c->features]) : sum;
}

/* The loss of a row and its slope in z, as in robust.c; `label` is that of the row, negated. */
SADDLE_STEP void saddle_card_loss(const saddle_card_plan *c, double label, double score,
                                  double *loss, double *slope)
{
    if (c->huber == 0.0) {
        saddle_logistic_at(saddle_multiply(label, score), loss, slope);
        return;
    }
    double residual = saddle_add(score, label);
    double size = fabs(residual);
    bool near = !(size > c->huber);
    *loss = near ? saddle_multiply(saddle_multiply(0.5, residual), residual)
                 : saddle_multiply(c->huber, saddle_subtract(size, 0.5 * c->huber));
    *slope = near ? residual : copysign(c->huber, residual);
}

/* The slope of z in the score. */
SADDLE_STEP double saddle_card_inner(const saddle_card_plan *c, double label)
{
    return c->huber == 0.0 ? label : 1.0;
}

/* Returns the value of a row's entry in a column that it has. */
SADDLE_STEP double saddle_card_value(const saddle_card_plan *c, uint64_t row, uint32_t column)
{
    uint64_t low = c->row_start[row];
    uint64_t high = c->row_start[row + 1];
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (c->column[middle] <= column)
            low = middle;
        else
            high = middle;
    }
    return c->value[low];
}

/* The slope of the regularizer g of robust.h. */
SADDLE_STEP double saddle_card_bend(const saddle_card_plan *c, double x)
{
    double base = 1.0 + c->bend * x * x;
    return saddle_flush(2.0 * c->regularizer * c->bend * x / (base * base));
}

#endif
