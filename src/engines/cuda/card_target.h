/* The step target of kernels.h: proximal steps and projections as in sets/, by one block of threads. */
#ifndef SADDLE_ENGINES_CUDA_CARD_TARGET_H
#define SADDLE_ENGINES_CUDA_CARD_TARGET_H

#include "engines/cuda/card_move.h"
#include "engines/cuda/card_sum.h"

/* Returns to all threads the largest v[k], or |v[k]|, ignoring NaN, or `least`. */
SADDLE_STEP double saddle_card_largest(bool magnitude, double least, uint32_t count,
                                       const double *v, saddle_card_pool *s)
{
    SADDLE_EACH(t, SADDLE_CARD_THREADS)
    {
        double top = least;
        for (uint32_t k = t; k < count; k += SADDLE_CARD_THREADS) {
            double own = magnitude ? fabs(v[k]) : v[k];
            top = own > top ? own : top;
        }
        s->top[t] = top;
    }
    SADDLE_BARRIER();
    double top = least;
    for (uint32_t t = 0; t < SADDLE_CARD_THREADS; t++)
        top = s->top[t] > top ? s->top[t] : top;
    SADDLE_BARRIER();
    return top;
}

/* Copies the entries above a bound to `to`, in order; returns their number to all threads. */
SADDLE_STEP uint32_t saddle_card_keep_above(uint32_t count, const double *from, double bound,
                                            double *to, saddle_card_pool *s)
{
    uint32_t share = (count + SADDLE_CARD_THREADS - 1) / SADDLE_CARD_THREADS;
    uint32_t all = 0;
    SADDLE_EACH(t, SADDLE_CARD_THREADS)
    {
        uint32_t kept = 0;
        for (uint32_t k = t * share; k < (t + 1) * share && k < count; k++)
            kept += from[k] > bound ? 1 : 0;
        s->kept[t] = kept;
    }
    SADDLE_BARRIER();
    SADDLE_EACH(t, SADDLE_CARD_THREADS)
    {
        uint32_t at = 0;
        for (uint32_t i = 0; i < t; i++)
            at += s->kept[i];
        for (uint32_t k = t * share; k < (t + 1) * share && k < count; k++)
            if (from[k] > bound)
                to[at++] = from[k];
    }
    for (uint32_t t = 0; t < SADDLE_CARD_THREADS; t++)
        all += s->kept[t];
    SADDLE_BARRIER();
    return all;
}

/* find_threshold() of simplex.c. `other` has as much space as d. */
SADDLE_STEP double saddle_card_threshold(uint32_t count, double total, double *d, double *other,
                                         saddle_card_pool *s)
{
    double theta = 0.0;
    for (int pass = 0; pass < 96; pass++) {
        double excess = saddle_subtract(saddle_card_sum(SADDLE_CARD_SUM, count, d, s), total);
        theta = saddle_divide(excess, (double)count);
        uint32_t kept = saddle_card_keep_above(count, d, theta, other, s);
        if (kept == count)
            break;
        double *swapped = d;
        d = other;
        other = swapped;
        count = kept;
    }
    SADDLE_EACH(k, count)
    d[k] = saddle_subtract(d[k], theta);
    SADDLE_BARRIER();
    count = saddle_card_keep_above(count, d, 0.0, other, s);
    double excess = saddle_subtract(saddle_card_sum(SADDLE_CARD_SUM, count, other, s), total);
    return saddle_add(theta, saddle_divide(excess, (double)count));
}

/* saddle_project_simplex(); `scratch` has twice as much space as v. */
SADDLE_STEP void saddle_card_simplex(const saddle_device_set *set, uint32_t count, double *v,
                                     double *scratch, saddle_card_pool *s)
{
    double total = set->size;
    double scaled = saddle_multiply(total, set->down);
    double sum = saddle_card_sum(SADDLE_CARD_SUM, count, v, s);
    SADDLE_EACH(k, 1)
    s->flag = fabs(saddle_subtract(sum, total)) <= saddle_multiply(total, set->rounding) ? 0U : 1U;
    SADDLE_BARRIER();
    SADDLE_EACH(k, count)
    if (!(v[k] >= 0.0))
        s->flag = 1;
    SADDLE_BARRIER();
    bool outside = s->flag != 0;
    SADDLE_BARRIER();
    if (!outside)
        return;
    double top = saddle_card_largest(false, -(double)INFINITY, count, v, s);
    SADDLE_EACH(k, count)
    scratch[count + k] = saddle_multiply(saddle_subtract(v[k], top), set->down);
    SADDLE_BARRIER();
    uint32_t kept = saddle_card_keep_above(count, scratch + count, -scaled, scratch, s);
    double theta =
        kept == 0 ? 0.0 : saddle_card_threshold(kept, scaled, scratch, scratch + count, s);
    SADDLE_EACH(k, count)
    {
        double p = saddle_multiply(saddle_subtract(v[k], top), set->down);
        p = saddle_subtract(p, theta);
        v[k] = p <= 0.0 ? 0.0 : saddle_multiply(p, set->up);
    }
}

/* project_l1() of ball.c; `scratch` has three times as much space as v. */
SADDLE_STEP void saddle_card_l1_ball(const saddle_device_set *set, uint32_t count, double *v,
                                     double *scratch, saddle_card_pool *s)
{
    double norm = saddle_card_sum(SADDLE_CARD_NORM1, count, v, s);
    double *size = scratch + 2 * (size_t)count;
    if (norm <= saddle_multiply(set->size, 1.0 + set->rounding))
        return;
    SADDLE_EACH(k, count)
    size[k] = fabs(v[k]);
    SADDLE_BARRIER();
    saddle_card_simplex(set, count, size, scratch, s);
    SADDLE_BARRIER();
    SADDLE_EACH(k, count)
    v[k] = v[k] < 0.0 ? 0.0 - size[k] : size[k];
}

/* project_l2() of ball.c. */
SADDLE_STEP void saddle_card_l2_ball(const saddle_device_set *set, uint32_t count, double *v,
                                     saddle_card_pool *s)
{
    double square = saddle_card_sum(SADDLE_CARD_NORM2, count, v, s);
    double largest = 1.0;
    bool plain = square >= 0x1p-900 && saddle_is_finite(square);
    if (!plain && square == square) {
        largest = saddle_card_largest(true, 0.0, count, v, s);
        plain = largest == 0.0 || !saddle_is_finite(largest);
        largest = plain ? 1.0 : largest;
    }
    if (!plain && square == square) {
        SADDLE_EACH(l, 1)
        {
            double sum = 0.0;
            for (uint32_t k = 0; k < count; k++) {
                double scaled = saddle_divide(v[k], largest);
                sum = saddle_add(sum, saddle_multiply(scaled, scaled));
            }
            s->number = sum;
        }
        SADDLE_BARRIER();
        square = s->number;
    }
    double root = sqrt(square);
    if (saddle_multiply(largest, root) <= saddle_multiply(set->size, 1.0 + set->rounding))
        return;
    SADDLE_EACH(k, count)
    {
        double unit = saddle_divide(saddle_divide(v[k], largest), root);
        v[k] = saddle_multiply(unit, set->size);
    }
}

/* saddle_soft_threshold() for an entry. */
SADDLE_STEP double saddle_card_shrink(const saddle_device_set *set, double v)
{
    if (set->threshold == 0.0 && set->divisor == 1.0)
        return v;
    double cut = saddle_card_clip(v, -set->threshold, set->threshold);
    return saddle_divide(saddle_subtract(v, cut), set->divisor);
}

/* The step target of kernels.h, for x or y of an agent. */
SADDLE_STEP void saddle_card_target(const saddle_card_plan *c, unsigned parity, uint32_t agent,
                                    bool is_x, saddle_card_pool *s)
{
    const saddle_device_set *set = is_x ? &c->steps.x : &c->steps.y;
    uint32_t count = is_x ? c->x_dim : c->y_dim;
    size_t both = (size_t)c->x_dim + c->y_dim;
    size_t point = is_x ? 0 : c->x_dim;
    const double *own = c->span[parity] + agent * c->stride;
    const double *slope = c->steps.tracking ? own + both + (is_x ? c->y_dim : 0)
                                            : c->kept + agent * c->kept_stride + point;
    double *v = c->target + agent * both + point;
    double *scratch = c->scratch + 3 * (agent * both + point);
    if (set->clips || saddle_card_stopped(c, c->state->clock[parity]))
        return;
    SADDLE_EACH(k, count)
    {
        double far =
            saddle_card_shrink(set, saddle_card_far(c, true, is_x, own[point + k], slope[k]));
        v[k] =
            set->shape == SADDLE_DEVICE_BOX ? saddle_card_clip(far, set->lower, set->upper) : far;
    }
    SADDLE_BARRIER();
    if (set->shape == SADDLE_DEVICE_SIMPLEX)
        saddle_card_simplex(set, count, v, scratch, s);
    else if (set->shape == SADDLE_DEVICE_L1_BALL)
        saddle_card_l1_ball(set, count, v, scratch, s);
    else if (set->shape == SADDLE_DEVICE_L2_BALL)
        saddle_card_l2_ball(set, count, v, s);
}

#endif
