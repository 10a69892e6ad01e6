/* The steps difference and gradient of kernels.h. */
#ifndef SADDLE_ENGINES_CUDA_CARD_DIFFERENCE_H
#define SADDLE_ENGINES_CUDA_CARD_DIFFERENCE_H

#include "engines/cuda/card_auc.h"
#include "engines/cuda/card_move.h"
#include "problems/part_rows.h"

/* The memory that the threads of a block share, for difference. */
typedef struct saddle_card_shared {
    double loss[2 * SADDLE_CARD_CHUNK];
    double slope[2 * SADDLE_CARD_CHUNK];
    double along[SADDLE_CARD_CHUNK];
    double label[SADDLE_CARD_CHUNK];
    double square[SADDLE_CARD_CHUNK]; /* of the sample's gradient, where the variance is measured */
    double bend[SADDLE_CARD_COLUMNS];
    uint64_t row[SADDLE_CARD_CHUNK];
    uint64_t start[SADDLE_CARD_CHUNK]; /* of a row's entries */
    uint64_t end[SADDLE_CARD_CHUNK];
    uint32_t bits[SADDLE_CARD_COLUMNS * SADDLE_CARD_WORDS];
    double block_square; /* of the sums of squares: of a block of rows, of a part, of the batch */
    double part_square;
    double sum_square;
    uint32_t flag;
} saddle_card_shared;

/* What they work on. */
typedef struct saddle_card_agent {
    bool recursive; /* difference */
    uint32_t number;
    uint64_t iteration;
    uint32_t count; /* samples of the batch */
    uint32_t part;  /* of a part of it */
    bool repeats;   /* samples occur more than once */
    bool varies;    /* the variance is measured */
    const uint32_t *batch;
    const double *now;
    double *next;
    double *kept;
    double scale;
} saddle_card_agent;

/* Returns what the steps read of an agent in an iteration. */
SADDLE_STEP saddle_card_agent saddle_card_agent_of(const saddle_card_plan *c, unsigned parity,
                                                   uint64_t iteration, uint32_t agent,
                                                   bool recursive)
{
    saddle_card_agent a;
    a.recursive = recursive;
    a.number = agent;
    a.iteration = iteration;
    a.count = c->batch_size[agent];
    a.part = c->batch_part[agent];
    a.repeats = c->steps.replacement;
    a.varies = false;
    a.batch = saddle_card_batch(c, iteration, agent);
    if (!recursive && c->steps.scheduled) {
        a.count = c->refresh_count[agent];
        a.part = (uint32_t)saddle_part_rows(
            a.count, saddle_worth_parts((double)a.count, c->sample_cost, (double)c->columns));
        a.repeats = false;
        a.varies = c->row_norm != NULL && a.count > 1;
        a.batch = c->refresh_batch + agent * c->change_stride;
    }
    a.now = c->span[parity] + agent * c->stride;
    a.next = c->span[1 - parity] + agent * c->stride;
    a.kept = c->kept + agent * c->kept_stride;
    a.scale = c->loss_weight * (1.0 / (double)a.count * c->agent_weight[agent]);
    return a;
}

/* The columns from `low` on whose sums are computed at a time. */
SADDLE_STEP uint32_t saddle_card_some(const saddle_card_plan *c, uint32_t low)
{
    return c->columns - low < SADDLE_CARD_COLUMNS ? c->columns - low : SADDLE_CARD_COLUMNS;
}

/* Finds the rows of `count` samples of the batch. */
SADDLE_STEP void saddle_card_find(const saddle_card_plan *c, const saddle_card_agent *a,
                                  uint32_t begin, uint32_t count, saddle_card_shared *s)
{
    uint64_t first = c->first_row[a->number];
    SADDLE_EACH(k, count)
    {
        uint64_t row = first + a->batch[begin + k];
        s->row[k] = row;
        s->label[k] = -c->label[row];
        s->start[k] = c->dense != NULL ? 0 : c->row_start[row];
        s->end[k] = c->dense != NULL ? 0 : c->row_start[row + 1];
    }
}

/* Clears the bits of the columns from `low` on. */
SADDLE_STEP void saddle_card_clear(const saddle_card_plan *c, uint32_t low, saddle_card_shared *s)
{
    if (c->dense == NULL)
        SADDLE_EACH(i, saddle_card_some(c, low) * SADDLE_CARD_WORDS)
    s->bits[i] = 0;
}

/* Sets the bits of the columns from `low` on that the rows of a chunk have. */
SADDLE_STEP void saddle_card_mark(const saddle_card_plan *c, uint32_t low, uint32_t count,
                                  saddle_card_shared *s)
{
    uint32_t some = saddle_card_some(c, low);
    if (c->dense == NULL)
        SADDLE_EACH(i, 8 * count)
        {
            uint32_t k = i / 8;
            for (uint64_t e = s->start[k] + i % 8; e < s->end[k]; e += 8) {
                uint32_t column = c->column[e] - low;
                if (column < some)
                    SADDLE_SET_BITS(&s->bits[column * SADDLE_CARD_WORDS + k / 32],
                                    (uint32_t)1 << k % 32);
            }
        }
}

/* Losses and slopes of the samples of a chunk at both points, or at the new one; sets the bits of the first columns. */
SADDLE_STEP void saddle_card_losses(const saddle_card_plan *c, const saddle_card_agent *a,
                                    uint32_t count, saddle_card_shared *s)
{
    SADDLE_EACH(number, a->recursive ? 2 * count : count)
    {
        uint32_t i = a->recursive ? number : 2 * number;
        uint32_t k = i / 2;
        uint32_t *bits = i % 2 == 0 ? s->bits + k / 32 : NULL;
        const double *x = i % 2 == 0 ? a->next : a->now;
        double t =
            saddle_card_dot(c, s->row[k], s->start[k], s->end[k], x, bits, (uint32_t)1 << k % 32);
        if (c->auc)
            s->loss[i] = t;
        else
            saddle_card_loss(c, s->label[k], t, &s->loss[i], &s->slope[i]);
    }
}

/* The changes of the slope of g in the columns from `low` on. */
SADDLE_STEP void saddle_card_bends(const saddle_card_plan *c, const saddle_card_agent *a,
                                   uint32_t low, saddle_card_shared *s)
{
    SADDLE_EACH_DOWN(k, saddle_card_some(c, low))
    s->bend[k] = low + k < c->x_dim ? saddle_subtract(saddle_card_bend(c, a->next[low + k]),
                                                      saddle_card_bend(c, a->now[low + k]))
                                    : saddle_card_ridge(c, a->next[c->x_dim], a->now[c->x_dim]);
}

/* The same for auc; also what is summed in the columns behind the features: in the slopes of the row. */
SADDLE_STEP void saddle_card_auc_factors(const saddle_card_plan *c, const saddle_card_agent *a,
                                         uint32_t count, saddle_card_shared *s)
{
    SADDLE_EACH(k, count)
    {
        size_t i = 2 * (size_t)k;
        saddle_card_pulls own =
            saddle_card_pull(c, s->label[k], s->loss[i], a->next, a->next[c->x_dim], a->scale);
        if (a->varies)
            s->square[k] = saddle_add(
                saddle_add(saddle_multiply(saddle_multiply(own.h, own.h), c->row_norm[s->row[k]]),
                           saddle_multiply(own.c, own.c)),
                saddle_multiply(own.y, own.y));
        if (a->recursive) {
            saddle_card_pulls old = saddle_card_pull(c, s->label[k], s->loss[i + 1], a->now,
                                                     a->now[c->x_dim], a->scale);
            own.h = saddle_subtract(own.h, old.h);
            own.c = saddle_subtract(own.c, old.c);
            own.y = saddle_subtract(own.y, old.y);
        }
        s->along[k] = own.h;
        s->slope[i] = own.c;
        s->slope[i + 1] = own.y;
    }
}

/* The factors of the rows of a chunk, and the changes of their samples' entries of u. */
SADDLE_STEP void saddle_card_factors(const saddle_card_plan *c, const saddle_card_agent *a,
                                     uint32_t begin, uint32_t count, saddle_card_shared *s)
{
    uint64_t first = c->first_row[a->number];
    SADDLE_EACH(k, count)
    {
        size_t i = 2 * (size_t)k;
        uint64_t j = c->x_dim + (s->row[k] - first);
        double label = saddle_card_inner(c, s->label[k]);
        double new_loss = s->loss[i];
        size_t at = a->number * c->change_stride + begin + k;
        if (!a->recursive) {
            double slope = saddle_multiply(saddle_multiply(label, a->next[j]), s->slope[i]);
            s->along[k] = saddle_multiply(a->scale, slope);
            if (a->varies)
                s->square[k] = saddle_add(
                    saddle_multiply(saddle_multiply(slope, slope), c->row_norm[s->row[k]]),
                    saddle_multiply(new_loss, new_loss));
            c->change[at] = saddle_multiply(a->scale, new_loss);
            continue;
        }
        double inner = saddle_multiply(a->scale, label);
        double new_slope = saddle_multiply(a->next[j], s->slope[i]);
        double old_slope = saddle_multiply(a->now[j], s->slope[i + 1]);
        s->along[k] = saddle_multiply(inner, saddle_subtract(new_slope, old_slope));
        double change = saddle_subtract(new_loss, s->loss[i + 1]);
        c->change[at] = saddle_multiply(a->scale, change);
    }
}

/* Adds the rows of a chunk to the sum of a column, in the order of the batch. */
SADDLE_STEP double saddle_card_add_column(const saddle_card_plan *c, double sum, uint32_t column,
                                          const uint32_t *bits, uint32_t count,
                                          const saddle_card_shared *s)
{
    if (column > c->features) {
        uint32_t kind = column - c->features;
        double own = 0.0;
        for (uint32_t k = 0; k < count; k++)
            if (saddle_card_counts(kind, s->label[k]))
                own = saddle_add(own, s->slope[2 * k + (kind == SADDLE_AUC_Y ? 1 : 0)]);
        return saddle_add(sum, own);
    }
    if (c->dense != NULL || column == c->features) {
        SADDLE_UNROLL
        for (uint32_t k = 0; k < count; k++)
            sum += column == c->features ? s->along[k]
                                         : s->along[k] * c->dense[s->row[k] * c->features + column];
        return sum;
    }
    /* Bits behind the last row are 0. */
    for (uint32_t k = 0; k < count; k += SADDLE_CARD_GROUP) {
        uint32_t own = bits[k / 32] >> k % 32;
        double along[SADDLE_CARD_GROUP];
        SADDLE_UNROLL_ALL
        for (uint32_t l = 0; l < SADDLE_CARD_GROUP; l++)
            along[l] = s->along[k + l];
        for (uint32_t l = 0; c->value != NULL && l < SADDLE_CARD_GROUP; l++)
            if ((own >> l & 1) != 0)
                along[l] *= saddle_card_value(c, s->row[k + l], column);
        SADDLE_UNROLL_ALL
        for (uint32_t l = 0; l < SADDLE_CARD_GROUP; l++)
            if ((own >> l & 1) != 0)
                sum += along[l];
    }
    return sum;
}

/* The offset in the span of the tracker of an entry of x, or of y. */
SADDLE_STEP size_t saddle_card_tracker(const saddle_card_plan *c, uint32_t column)
{
    return (size_t)c->y_dim + column + (column < c->x_dim ? (size_t)c->x_dim + c->y_dim : 0);
}

/* (7) and (8) for an entry of x: g is the difference over the batch, `bend` that of the slope of g(x), `old`
 * is v, and `mixed` is p. Returns
 * whether their sum is not 0. */
SADDLE_STEP bool saddle_card_track_entry(const saddle_card_plan *c, const saddle_card_agent *a,
                                         uint32_t column, double g, double bend, double old,
                                         double mixed)
{
    double change = saddle_add(saddle_flush(g), bend);
    double v = saddle_add(change, old);
    a->kept[column] = v;
    a->next[saddle_card_tracker(c, column)] = saddle_add(mixed, saddle_subtract(v, old));
    saddle_card_check(c, a->iteration, v);
    return change != 0.0;
}

/* Adds the rows of a chunk to the sums of some columns; after the last one, finishes the columns. */
SADDLE_STEP void saddle_card_add_columns(const saddle_card_plan *c, const saddle_card_agent *a,
                                         uint32_t low, uint32_t begin, uint32_t count,
                                         saddle_card_shared *s)
{
    uint32_t part = a->part;
    uint32_t end = begin + count;
    bool ends_part = end % part == 0 || end == a->count;
    SADDLE_EACH(k, saddle_card_some(c, low))
    {
        if (low + k > c->x_dim)
            continue; /* only at trace points */
        double old = a->recursive ? a->kept[low + k] : 0.0;
        double mixed = a->recursive ? a->next[saddle_card_tracker(c, low + k)] : 0.0;
        double *sum = c->sum + (size_t)a->number * c->columns + low + k;
        double *total = c->total + (size_t)a->number * c->parts * c->columns + low + k;
        double g = saddle_card_add_column(c, begin % part == 0 ? 0.0 : *sum, low + k,
                                          s->bits + (size_t)k * SADDLE_CARD_WORDS, count, s);
        if (ends_part && begin >= part)
            g = *total + g;
        if (end == a->count && !a->recursive) {
            *total = saddle_flush(g);
        } else if (end == a->count) {
            if (saddle_card_track_entry(c, a, low + k, g, s->bend[k], old, mixed))
                s->flag = 1;
        } else {
            *(ends_part ? total : sum) = g;
        }
    }
}

/* Rows of a block of robust.c, which are two chunks. */
enum { SADDLE_CARD_ROW_BLOCK = 256 };

/* Adds the squares of a chunk's samples, as saddle_robust_add_samples() does; for one thread. */
SADDLE_STEP void saddle_card_add_squares(const saddle_card_plan *c, const saddle_card_agent *a,
                                         uint32_t begin, uint32_t count, saddle_card_shared *s)
{
    uint32_t end = begin + count;
    if (begin % a->part == 0)
        s->part_square = s->block_square = 0.0;
    for (uint32_t k = 0; k < count; k++)
        s->block_square = saddle_add(s->block_square, s->square[k]);
    bool ends_part = end % a->part == 0 || end == a->count;
    if (c->auc)
        s->block_square = saddle_divide(s->block_square, a->scale);
    if (ends_part || c->auc || end % a->part % SADDLE_CARD_ROW_BLOCK == 0) {
        s->part_square = saddle_add(s->part_square, s->block_square);
        s->block_square = 0.0;
    }
    if (!ends_part)
        return;
    double own = c->auc
                     ? s->part_square
                     : saddle_multiply(saddle_multiply(c->loss_weight, a->scale), s->part_square);
    own = saddle_multiply(c->agent_weight[a->number], own);
    s->sum_square = begin < a->part ? own : saddle_add(s->sum_square, own);
}

/* Returns the change of the entry of u of the k-th sample of the batch: its own, or the sum of those of all samples
 * that are the same, or, unless it is the first of these, 0. */
SADDLE_STEP double saddle_card_change(const saddle_card_plan *c, const saddle_card_agent *a,
                                      uint32_t k)
{
    const double *change = c->change + a->number * c->change_stride;
    double sum = 0.0;
    if (!a->repeats)
        return change[k];
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->batch[i] != a->batch[k])
            continue;
        if (i < k)
            return 0.0;
        sum = saddle_add(sum, change[i]);
    }
    return sum;
}

/* (7) and (8) for the batch's entries of y, or these entries of the gradient. */
SADDLE_STEP void saddle_card_track_batch(const saddle_card_plan *c, const saddle_card_agent *a,
                                         saddle_card_shared *s)
{
    SADDLE_EACH_DOWN(k, a->count)
    {
        double change = saddle_card_change(c, a, k);
        size_t j = a->batch[k];
        double *u = a->kept + c->x_dim + j;
        double *d = a->next + (size_t)c->x_dim + c->y_dim + j;
        if (change == 0.0)
            continue;
        if (!a->recursive) {
            c->gy[a->number * (size_t)c->y_dim + j] = change;
            continue;
        }
        *u = saddle_add(*u, change);
        *d = saddle_add(*d, change);
        saddle_card_check(c, a->iteration, *u);
        s->flag = 1;
    }
}

/* Counts differences that are 0 although the iterate moves, as saddle_check_recursion() does; for one thread. The
 * differences of problems with device code are never wrong, so nothing follows from 16 of them in a row. */
SADDLE_STEP void saddle_card_count_stalls(const saddle_card_plan *c, const saddle_card_agent *a,
                                          bool changed)
{
    const uint64_t *moved_at = c->moved_at + 2 * (size_t)a->number;
    double *stalled = a->kept + c->x_dim + c->y_dim;
    double moved = 0.0;
    double size = 0.0;
    if (changed || moved_at[0] == a->iteration + 1) {
        *stalled = 0.0;
        return;
    }
    if (moved_at[1] != a->iteration + 1)
        return;
    for (uint32_t k = 0; k < c->x_dim + c->y_dim; k++) {
        double move = a->next[k] - a->now[k];
        moved += move * move;
        size += a->now[k] * a->now[k];
    }
    if (moved > 1e-20 * size && moved > 1e-200)
        *stalled = *stalled + 1.0 < 16.0 ? *stalled + 1.0 : 0.0;
}

/* Adds up the rows of a chunk, for all columns; the bits of the first ones are set. */
SADDLE_STEP void saddle_card_add_chunk(const saddle_card_plan *c, const saddle_card_agent *a,
                                       uint32_t begin, uint32_t count, saddle_card_shared *s)
{
    if (a->recursive)
        saddle_card_bends(c, a, 0, s);
    saddle_card_losses(c, a, count, s);
    SADDLE_BARRIER();
    if (c->auc)
        saddle_card_auc_factors(c, a, count, s);
    else
        saddle_card_factors(c, a, begin, count, s);
    SADDLE_BARRIER();
    SADDLE_EACH_DOWN(k, a->varies ? 1U : 0U)
    saddle_card_add_squares(c, a, begin, count, s);
    saddle_card_add_columns(c, a, 0, begin, count, s);
    for (uint32_t low = SADDLE_CARD_COLUMNS; low < c->columns; low += SADDLE_CARD_COLUMNS) {
        SADDLE_BARRIER();
        saddle_card_clear(c, low, s);
        SADDLE_BARRIER();
        saddle_card_mark(c, low, count, s);
        if (a->recursive)
            saddle_card_bends(c, a, low, s);
        SADDLE_BARRIER();
        saddle_card_add_columns(c, a, low, begin, count, s);
    }
}

/* difference if it is `recursive`, otherwise gradient */
SADDLE_STEP void saddle_card_batch_step(const saddle_card_plan *c, unsigned parity, uint32_t agent,
                                        bool recursive, saddle_card_shared *s)
{
    uint64_t iteration = c->state->clock[parity];
    bool stopped = saddle_card_stopped(c, iteration);
    saddle_card_agent a = saddle_card_agent_of(c, parity, iteration, agent, recursive);
    uint32_t part = a.part;
    uint32_t count;
    SADDLE_EACH(k, 1)
    s->flag = 0;
    for (uint32_t begin = 0; begin < a.count; begin += count) {
        count = part - begin % part;
        count = count < SADDLE_CARD_CHUNK ? count : SADDLE_CARD_CHUNK;
        count = count < a.count - begin ? count : a.count - begin;
        if (begin > 0)
            SADDLE_BARRIER();
        saddle_card_find(c, &a, begin, count, s);
        saddle_card_clear(c, 0, s);
        SADDLE_BARRIER();
        if (begin == 0) {
            SADDLE_AWAIT();
            SADDLE_EACH(k, agent == 0)
            saddle_card_tick(c, parity, iteration);
            if (stopped)
                return;
        }
        saddle_card_add_chunk(c, &a, begin, count, s);
    }
    if (!c->auc)
        saddle_card_track_batch(c, &a, s);
    SADDLE_BARRIER();
    SADDLE_EACH(k, recursive)
    saddle_card_count_stalls(c, &a, s->flag != 0);
}

#endif
