/* The steps draw and move of kernels.h. */
#ifndef SADDLE_ENGINES_CUDA_CARD_MOVE_H
#define SADDLE_ENGINES_CUDA_CARD_MOVE_H

#include "core/rng_stream.h"
#include "engines/cuda/card_code.h"

/* ---- batches --------------------------------------------------------------------------------- */

/* Returns where an agent's batch of an iteration is. */
SADDLE_STEP uint32_t *saddle_card_batch(const saddle_card_plan *c, uint64_t iteration,
                                        uint32_t agent)
{
    uint64_t slot = iteration % (2 * SADDLE_CARD_WINDOW);
    return c->batch + (slot * c->agents + agent) * c->batch_stride;
}

/* Draws the batch that iteration + 1 is estimated with, as saddle_draw() does. */
SADDLE_STEP void saddle_card_draw(const saddle_card_plan *c, uint64_t iteration, uint32_t agent)
{
    uint32_t *out = saddle_card_batch(c, iteration, agent);
    uint64_t samples = c->first_row[agent + 1] - c->first_row[agent];
    uint32_t count = c->batch_size[agent];
    saddle_rng rng;
    if ((iteration + 1) % c->steps.q == 0)
        return;
    saddle_stream_init(&rng, c->seed, c->purpose, agent, iteration + 1);
    if (c->steps.replacement) {
        for (uint32_t k = 0; k < count; k++)
            out[k] = (uint32_t)saddle_stream_below(&rng, samples);
    } else if (count >= samples) {
        for (uint32_t k = 0; k < count; k++)
            out[k] = k;
    } else {
        uint64_t place = iteration % SADDLE_CARD_WINDOW * c->agents + agent;
        saddle_stream_choose(&rng, samples, count, out, c->mark + place * c->mark_stride);
    }
}

/* The memory that the threads of a block share: the first neighbours of its agents. */
enum { SADDLE_CARD_NEAR = 96 };
typedef struct saddle_card_near {
    const double *span[SADDLE_CARD_NEAR];
    double weight[SADDLE_CARD_NEAR];
    uint32_t start[SADDLE_CARD_MOST_GROUP + 1]; /* of each agent's neighbours in the plan's list */
    uint32_t moved[SADDLE_CARD_MOST_GROUP];
} saddle_card_near;

/* ---- move ------------------------------------------------------------------------------------ */

/* A coordinate of x or y that moves: w and g (p or d) of an agent and of the agents that it hears. */
typedef struct saddle_card_entry {
    double own;
    double slope;
    double w;       /* mixed, then the next one */
    double g;       /* mixed */
    uint32_t least; /* of the magnitudes of what was read, except 0: the upper word, minus 1 */
} saddle_card_entry;

/* Magnitudes from here on, as upper words minus 1: 2^-400. Sums and products of few such numbers are normal or 0. */
#define SADDLE_CARD_LARGE 0x26effffeu

/* Takes in the magnitude of a number that was read. */
SADDLE_STEP void saddle_card_note(saddle_card_entry *e, double v)
{
    uint32_t size = ((uint32_t)(saddle_double_bits(v) >> 32) & 0x7fffffffu) - 1;
    e->least = size < e->least ? size : e->least;
}

/* Adds w and g of an agent that is heard, times its weight. */
SADDLE_STEP void saddle_card_hear(saddle_card_entry *e, bool flush, double weight, double w,
                                  double g)
{
    saddle_card_note(e, w);
    saddle_card_note(e, g);
    e->w = saddle_add_if(flush, e->w, saddle_multiply_if(flush, weight, w));
    e->g = saddle_add_if(flush, e->g, saddle_multiply_if(flush, weight, g));
}

/* Mixes a coordinate of the k-th agent of a block: the agent's own term, then its neighbours'. */
SADDLE_STEP void saddle_card_mix(const saddle_card_plan *c, bool flush, const double *span,
                                 uint32_t agent, uint32_t k, size_t at, size_t beside,
                                 const saddle_card_near *near, saddle_card_entry *e)
{
    bool tracking = c->steps.tracking;
    double self_weight = c->self_weight[agent];
    uint32_t base = near->start[0];
    uint32_t end = near->start[k + 1];
    uint32_t far = end - base < SADDLE_CARD_NEAR ? end : base + SADDLE_CARD_NEAR;
    uint32_t j = near->start[k];
    e->own = span[agent * c->stride + at];
    e->slope = tracking ? span[agent * c->stride + beside] : c->kept[agent * c->kept_stride + at];
    e->least = UINT32_MAX;
    saddle_card_note(e, e->own);
    saddle_card_note(e, e->slope);
    e->w = saddle_multiply_if(flush, self_weight, e->own);
    e->g = saddle_multiply_if(flush, self_weight, e->slope);
    SADDLE_UNROLL
    for (; j < far; j++)
        saddle_card_hear(e, flush, near->weight[j - base], near->span[j - base][at],
                         tracking ? near->span[j - base][beside] : 0.0);
    for (; j < end; j++) {
        const double *other = span + c->neighbour[j] * c->stride;
        saddle_card_hear(e, flush, c->weight[j], other[at], tracking ? other[beside] : 0.0);
    }
}

/* The gradient step of (3) or (4). */
SADDLE_STEP double saddle_card_far(const saddle_card_plan *c, bool flush, bool is_x, double own,
                                   double slope)
{
    if (!is_x)
        return saddle_add_if(flush, own, saddle_multiply_if(flush, c->steps.alpha, slope));
    double change = slope / c->steps.tau;
    return saddle_subtract_if(flush, own, flush ? saddle_flush(change) : change);
}

/* Moves it, towards `target` unless that is NULL; returns by how much. */
SADDLE_STEP double saddle_card_step(const saddle_card_plan *c, bool flush, bool is_x, bool refresh,
                                    const double *target, saddle_card_entry *e)
{
    const saddle_device_set *set = is_x ? &c->steps.x : &c->steps.y;
    double far;
    if (target != NULL) {
        far = *target;
        saddle_card_note(e, far);
    } else {
        far = saddle_card_far(c, flush, is_x, e->own, e->slope);
        far = saddle_card_clip(far, set->lower, set->upper);
    }
    far = saddle_subtract_if(flush, far, e->own);
    e->w = saddle_add_if(flush, e->w,
                         saddle_multiply_if(flush, is_x ? c->steps.nu : c->steps.eta, far));
    double move = saddle_subtract_if(flush, e->w, e->own);
    if (!is_x && !refresh && c->steps.curvature != 0.0)
        e->g = saddle_subtract_if(flush, e->g, saddle_multiply_if(flush, c->steps.curvature, move));
    return move;
}

/* x1 or y1 of a coordinate of the k-th agent of a block, and the mixed p, or the mixed d from which c (y1 - y) is
 * subtracted between refreshes. Returns whether it moved. */
SADDLE_STEP bool saddle_card_move_entry(const saddle_card_plan *c, unsigned parity, bool refresh,
                                        uint64_t iteration, bool stopped, uint32_t agent,
                                        uint32_t k, const saddle_card_tile *u, uint32_t coordinate,
                                        const saddle_card_near *near)
{
    const double *span = c->span[parity];
    double *next = c->span[1 - parity] + agent * c->stride;
    size_t at = u->point + coordinate;
    size_t beside = u->tracker + coordinate;
    bool clips = u->is_x ? c->steps.x.clips : c->steps.y.clips;
    const double *target = clips ? NULL : c->target + agent * ((size_t)c->x_dim + c->y_dim) + at;
    saddle_card_entry e;
    saddle_card_mix(c, false, span, agent, k, at, beside, near, &e);
    double move = saddle_card_step(c, false, u->is_x, refresh, target, &e);
    if (e.least < SADDLE_CARD_LARGE || !c->plain) {
        saddle_card_mix(c, true, span, agent, k, at, beside, near, &e);
        move = saddle_card_step(c, true, u->is_x, refresh, target, &e);
    }
    if (stopped)
        return false;
    next[at] = e.w;
    if (c->steps.tracking)
        next[beside] = e.g;
    saddle_card_check(c, iteration, e.w);
    return saddle_multiply(move, move) != 0.0;
}

/* Moves a tile of a group of agents: neighbours in the same group are read once from outside of the multiprocessor. */
SADDLE_STEP void saddle_card_move(const saddle_card_plan *c, unsigned parity, bool refresh,
                                  uint32_t group, uint32_t tile, saddle_card_near *near)
{
    saddle_card_tile u = saddle_card_tile_of(c, tile);
    uint32_t first = group * c->group;
    uint32_t agents = c->agents - first < c->group ? c->agents - first : c->group;
    uint32_t base = c->start[first];
    uint32_t count = c->start[first + agents] - base;
    SADDLE_EACH(j, count < SADDLE_CARD_NEAR ? count : SADDLE_CARD_NEAR)
    {
        near->span[j] = c->span[parity] + c->neighbour[base + j] * c->stride;
        near->weight[j] = c->weight[base + j];
    }
    SADDLE_EACH(k, agents + 1)
    near->start[k] = c->start[first + k];
    SADDLE_EACH(k, agents)
    near->moved[k] = 0;
    SADDLE_BARRIER();
    SADDLE_AWAIT();
    uint64_t iteration = c->state->clock[parity];
    bool stopped = saddle_card_stopped(c, iteration);
    for (uint32_t k = 0; k < agents; k++) {
        bool fresh = refresh || saddle_card_refreshes(c, iteration, first + k);
        SADDLE_EACH(i, u.count)
        if (saddle_card_move_entry(c, parity, fresh, iteration, stopped, first + k, k, &u,
                                   u.first + i, near))
            near->moved[k] = 1;
    }
    SADDLE_BARRIER();
    SADDLE_EACH(k, agents)
    if (near->moved[k])
        c->moved_at[2 * (first + k) + u.is_x] = iteration + 1;
}

#endif
