/* Sums of a block of threads, with the lanes of core/vector.h, and the steps of measurements (card.h). */
#ifndef SADDLE_ENGINES_CUDA_CARD_SUM_H
#define SADDLE_ENGINES_CUDA_CARD_SUM_H

#include "engines/cuda/card_refresh.h"

/* Terms that are in shared memory at a time. */
enum { SADDLE_CARD_STAGE = 2048 };

/* The memory that the threads of a block share. */
typedef struct saddle_card_pool {
    double stage[SADDLE_CARD_STAGE];
    double lane[8];
    double top[SADDLE_CARD_THREADS];
    uint32_t kept[SADDLE_CARD_THREADS];
    double number;
    uint32_t flag;
} saddle_card_pool;

/* What is summed. */
typedef enum saddle_card_sum_kind {
    SADDLE_CARD_SUM,
    SADDLE_CARD_NORM1,
    SADDLE_CARD_NORM2
} saddle_card_sum_kind;

/* Returns what an entry adds to a sum. */
SADDLE_STEP double saddle_card_term(saddle_card_sum_kind kind, double v)
{
    return kind == SADDLE_CARD_SUM     ? v
           : kind == SADDLE_CARD_NORM1 ? fabs(v)
                                       : saddle_multiply(v, v);
}

/* Adds s->stage to the lanes. Sums of terms that are not negative need no flushing. */
SADDLE_STEP void saddle_card_add_stage(saddle_card_sum_kind kind, uint32_t count,
                                       saddle_card_pool *s)
{
    SADDLE_BARRIER();
    SADDLE_EACH(l, 8)
    {
        double sum = s->lane[l];
        SADDLE_UNROLL
        for (uint32_t k = l; k < count; k += 8)
            sum = saddle_add_if(kind == SADDLE_CARD_SUM, sum, s->stage[k]);
        s->lane[l] = sum;
    }
    SADDLE_BARRIER();
}

/* Sets the eight sums of a pool to 0. */
SADDLE_STEP void saddle_card_clear_lanes(saddle_card_pool *s)
{
    SADDLE_EACH(l, 8)
    s->lane[l] = 0.0;
}

/* Returns the sum of the lanes to all threads. */
SADDLE_STEP double saddle_card_add_lanes(const saddle_card_pool *s)
{
    const double *v = s->lane;
    double first = saddle_add(saddle_add(v[0], v[4]), saddle_add(v[2], v[6]));
    double second = saddle_add(saddle_add(v[1], v[5]), saddle_add(v[3], v[7]));
    SADDLE_BARRIER();
    return saddle_add(first, second);
}

/* saddle_sum(), saddle_norm1() or saddle_norm2(). All threads get it. */
SADDLE_STEP double saddle_card_sum(saddle_card_sum_kind kind, uint32_t count, const double *v,
                                   saddle_card_pool *s)
{
    saddle_card_clear_lanes(s);
    for (uint32_t begin = 0; begin < count; begin += SADDLE_CARD_STAGE) {
        uint32_t some = count - begin < SADDLE_CARD_STAGE ? count - begin : SADDLE_CARD_STAGE;
        SADDLE_EACH(k, some)
        s->stage[k] = saddle_card_term(kind, v[begin + k]);
        saddle_card_add_stage(kind, some, s);
    }
    SADDLE_BARRIER();
    return saddle_card_add_lanes(s);
}

/* ---- measurements ---------------------------------------------------------------------------- */

/* The squared norm of a piece of an agent's state. */
SADDLE_STEP void saddle_card_norm(const saddle_card_plan *c, const saddle_card_measure *w,
                                  uint32_t number, uint32_t agent, saddle_card_pool *s)
{
    const saddle_card_piece *p = &w->piece[number];
    const double *v =
        p->kept ? c->kept + agent * c->kept_stride : c->span[w->parity] + agent * c->stride;
    saddle_card_clear_lanes(s);
    for (uint32_t begin = 0; begin < p->count; begin += SADDLE_CARD_STAGE) {
        uint32_t rest = p->count - begin;
        uint32_t some = rest < SADDLE_CARD_STAGE ? rest : SADDLE_CARD_STAGE;
        SADDLE_EACH(k, some)
        {
            double own = v[p->at + begin + k];
            double other = p->minus != NULL ? p->minus[begin + k]
                           : p->outside     ? saddle_card_clip(own, p->lower, p->upper)
                                            : 0.0;
            s->stage[k] = saddle_card_term(SADDLE_CARD_NORM2, saddle_subtract(own, other));
        }
        saddle_card_add_stage(SADDLE_CARD_NORM2, some, s);
    }
    SADDLE_BARRIER();
    double sum = saddle_card_add_lanes(s);
    SADDLE_EACH(k, 1)
    c->result[number * c->agents + agent] = sum;
}

/* An agent's term of the mean of entry k; those of a survey are there already. */
SADDLE_STEP double saddle_card_mean_term(const saddle_card_plan *c, const saddle_card_measure *w,
                                         uint32_t agent, uint32_t k)
{
    const double *span = c->span[w->parity] + agent * c->stride;
    if (w->kind == SADDLE_CARD_SURVEY)
        return k < c->columns ? c->total[(size_t)agent * c->parts * c->columns + k]
                              : c->gy[agent * (size_t)c->y_dim + (k - c->x_dim)];
    double v = span[w->piece[0].at + k];
    if (!w->tracks)
        return v;
    double estimate = c->kept[agent * c->kept_stride + w->estimate + k];
    if (w->shift != 0.0)
        estimate = saddle_subtract(estimate, saddle_multiply(w->shift, span[w->shifted + k]));
    return saddle_subtract(v, estimate);
}

/* The gradient in x of an agent at c->point. */
SADDLE_STEP void saddle_card_slope(const saddle_card_plan *c, uint32_t agent)
{
    SADDLE_EACH(k, c->columns)
    c->total[(size_t)agent * c->parts * c->columns + k] =
        k < c->x_dim ? saddle_card_refresh_x(c, true, agent, k, c->point[k])
                     : saddle_card_add_parts(c, true, agent, k);
}

/* The means over agents of a block of entries. */
SADDLE_STEP void saddle_card_mean(const saddle_card_plan *c, const saddle_card_measure *w,
                                  uint32_t block)
{
    SADDLE_EACH(i, SADDLE_CARD_THREADS)
    {
        uint32_t k = block * SADDLE_CARD_THREADS + i;
        double sum = 0.0;
        if (k >= w->piece[0].count)
            continue;
        for (uint32_t first = 0; first < c->agents; first += SADDLE_CARD_GROUP) {
            double term[SADDLE_CARD_GROUP];
            SADDLE_UNROLL_ALL
            for (uint32_t l = 0; l < SADDLE_CARD_GROUP; l++)
                term[l] = first + l < c->agents ? saddle_card_mean_term(c, w, first + l, k) : 0.0;
            SADDLE_UNROLL_ALL
            for (uint32_t l = 0; l < SADDLE_CARD_GROUP; l++)
                sum = saddle_add(sum, term[l]);
        }
        sum = saddle_multiply(sum, 1.0 / (double)c->agents);
        c->result[k] = sum;
        if (w->at_point)
            c->point[k] = sum;
        /* As gradient() expects. */
        for (uint32_t agent = 0; w->kind == SADDLE_CARD_SURVEY && agent < c->agents; agent++)
            if (k >= c->columns)
                c->gy[agent * (size_t)c->y_dim + (k - c->x_dim)] = 0.0;
    }
}

#endif
