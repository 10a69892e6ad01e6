/* The steps schedule and estimate of kernels.h: PRECISION+ by the paper's rule, as precision_plus.c has it. */
#ifndef SADDLE_ENGINES_CUDA_CARD_SCHEDULE_H
#define SADDLE_ENGINES_CUDA_CARD_SCHEDULE_H

#include "engines/cuda/card_difference.h"
#include "engines/cuda/card_target.h"

/* |x~ - x|^2, in the blocks and lanes of saddle_pass_move(). */
SADDLE_STEP double saddle_card_reach(const saddle_card_plan *c, unsigned parity, uint32_t agent,
                                     saddle_card_pool *s)
{
    const double *x = c->span[parity] + agent * c->stride;
    const double *p = x + c->x_dim + 2 * (size_t)c->y_dim;
    const saddle_device_set *set = &c->steps.x;
    const double *target = set->clips ? NULL : c->target + agent * ((size_t)c->x_dim + c->y_dim);
    double sum = 0.0;
    for (uint32_t begin = 0; begin < c->x_dim;) {
        uint32_t end = c->x_dim - begin < c->x_block ? c->x_dim : begin + c->x_block;
        saddle_card_clear_lanes(s);
        while (begin < end) {
            uint32_t some = end - begin < SADDLE_CARD_STAGE ? end - begin : SADDLE_CARD_STAGE;
            SADDLE_EACH(i, some)
            {
                uint32_t k = begin + i;
                double far = target != NULL
                                 ? target[k]
                                 : saddle_card_clip(saddle_card_far(c, true, true, x[k], p[k]),
                                                    set->lower, set->upper);
                s->stage[i] = saddle_card_term(SADDLE_CARD_NORM2, saddle_subtract(far, x[k]));
            }
            saddle_card_add_stage(SADDLE_CARD_NORM2, some, s);
            begin += some;
        }
        SADDLE_BARRIER();
        sum = saddle_add(sum, saddle_card_add_lanes(s));
    }
    return sum;
}

/* Draws the samples of a refresh, as saddle_draw() does; for one thread. */
SADDLE_STEP void saddle_card_draw_refresh(const saddle_card_plan *c, uint64_t iteration,
                                          uint32_t agent, uint32_t count)
{
    uint32_t *out = c->refresh_batch + agent * c->change_stride;
    uint64_t samples = c->first_row[agent + 1] - c->first_row[agent];
    saddle_rng rng;
    if (count >= samples) {
        for (uint32_t k = 0; k < count; k++)
            out[k] = k;
        return;
    }
    saddle_stream_init(&rng, c->seed, c->refresh_purpose, agent, iteration + 1);
    saddle_stream_choose(&rng, samples, count, out, c->refresh_mark + agent * c->mark_stride);
}

/* What after_move() does given r_t, and, if the agent refreshes, refresh(); for one thread. */
SADDLE_STEP void saddle_card_plan_refresh(const saddle_card_plan *c, unsigned parity,
                                          uint64_t iteration, uint32_t agent, double r)
{
    double *number = saddle_card_numbers(c, agent);
    const double *span = c->span[parity];
    size_t extra = 2 * ((size_t)c->x_dim + c->y_dim);
    double mixed = saddle_multiply(c->self_weight[agent], span[agent * c->stride + extra]);
    for (uint32_t j = c->start[agent]; j < c->start[agent + 1]; j++)
        mixed = saddle_add(
            mixed, saddle_multiply(c->weight[j], span[c->neighbour[j] * c->stride + extra]));
    mixed = saddle_add(mixed, saddle_subtract(r, number[SADDLE_PRECISION_FOLLOWED]));
    c->span[1 - parity][agent * c->stride + extra] = mixed;
    number[SADDLE_PRECISION_FOLLOWED] = r;
    number[SADDLE_SCHEDULE_WINDOW] = saddle_add(number[SADDLE_SCHEDULE_WINDOW], mixed);
    if (!saddle_card_refreshes(c, iteration, agent)) {
        c->spent[agent] += 2 * (uint64_t)c->batch_size[agent];
        return;
    }
    uint64_t samples = c->first_row[agent + 1] - c->first_row[agent];
    double gamma = saddle_divide(saddle_multiply((double)c->agents, number[SADDLE_SCHEDULE_WINDOW]),
                                 number[SADDLE_PRECISION_SPAN]);
    double size =
        saddle_refresh_size(&c->steps.refresh, (double)samples, (double)c->batch_size[agent],
                            number[SADDLE_SCHEDULE_SIGMA2], gamma);
    number[SADDLE_SCHEDULE_WINDOW] = 0.0;
    number[SADDLE_PRECISION_REFRESHED] = (double)(iteration + 1);
    number[SADDLE_PRECISION_SPAN] = saddle_refresh_span(&c->steps.refresh, size);
    c->refresh_count[agent] = (uint32_t)size;
    c->spent[agent] += (uint64_t)size;
    saddle_card_draw_refresh(c, iteration, agent, (uint32_t)size);
}

/* The step schedule of kernels.h, for an agent. */
SADDLE_STEP void saddle_card_schedule(const saddle_card_plan *c, unsigned parity, uint32_t agent,
                                      saddle_card_pool *s)
{
    uint64_t iteration = c->state->clock[parity];
    if (saddle_card_stopped(c, iteration))
        return;
    double r = saddle_card_reach(c, parity, agent, s);
    SADDLE_EACH(k, 1)
    saddle_card_plan_refresh(c, parity, iteration, agent, r);
}

/* The sample variance of the gradients of a refresh; sample_variance() of evaluate.c. */
SADDLE_STEP void saddle_card_vary(const saddle_card_plan *c, uint64_t iteration, uint32_t agent,
                                  double square, saddle_card_pool *s)
{
    double count = (double)c->refresh_count[agent];
    const double *total = c->total + (size_t)agent * c->parts * c->columns;
    const double *gy = c->auc ? total + c->x_dim : c->gy + agent * (size_t)c->y_dim;
    double mean = saddle_card_sum(SADDLE_CARD_NORM2, c->x_dim, total, s);
    mean = saddle_add(mean, saddle_card_sum(SADDLE_CARD_NORM2, c->y_dim, gy, s));
    double variance = saddle_multiply(saddle_subtract(square, mean), count / (count - 1.0));
    SADDLE_EACH(k, 1)
    {
        saddle_card_numbers(c, agent)[SADDLE_SCHEDULE_SIGMA2] = variance < 0.0 ? 0.0 : variance;
        saddle_card_check(c, iteration, variance);
    }
}

/* (7) of a scheduled agent, and (8) between refreshes. The threads share `shared`, then `pool`. */
SADDLE_STEP void saddle_card_estimate(const saddle_card_plan *c, unsigned parity, uint32_t agent,
                                      saddle_card_shared *shared, saddle_card_pool *pool)
{
    uint64_t iteration = c->state->clock[parity];
    bool refreshes = saddle_card_refreshes(c, iteration, agent);
    saddle_card_batch_step(c, parity, agent, !refreshes, shared);
    if (!refreshes || c->row_norm == NULL || c->refresh_count[agent] < 2 ||
        saddle_card_stopped(c, iteration))
        return;
    SADDLE_BARRIER();
    double square = shared->sum_square;
    SADDLE_BARRIER();
    saddle_card_vary(c, iteration, agent, square, pool);
}

#endif
