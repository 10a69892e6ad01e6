#include "algorithms/precision_steps.h"

#include <math.h>
#include <string.h>

#include "algorithms/descent_ascent.h"
#include "algorithms/pass.h"
#include "algorithms/sampling.h"
#include "core/sizes.h"
#include "core/vector.h"

/* The smallest mini-batch that the library chooses. */
#define LEAST_BATCH 2.0

/* Indices of the numbers that a move stores in agent->work before gx and gy. They fill a cache
 * line. */
enum { MOVED, Y_MOVED, REACH, NUMBERS = 8 };

void saddle_precision_layout(const void *parameters, const saddle_problem *problem,
                             saddle_layout *out)
{
    const saddle_precision_steps *shared = parameters;
    size_t x_dim = problem->x_dim;
    size_t y_dim = problem->y_dim;
    size_t both = x_dim + y_dim;
    out->rounds = 1;
    saddle_layout_add(out, "x", x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "y", y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    if (shared->tracking) {
        saddle_layout_add(out, "d", y_dim, SADDLE_FIELD_SUM, x_dim);
        out->field[2].shift = shared->curvature;
        out->field[2].shift_offset = x_dim;
        saddle_layout_add(out, "p", x_dim, SADDLE_FIELD_SUM, 0);
    }
    if (shared->published_extra > 0)
        saddle_layout_add(out, "c", shared->published_extra, SADDLE_FIELD_SUM,
                          both + 1 + SADDLE_PRECISION_FOLLOWED);
    out->kept = both + 1 + shared->kept_extra;
    out->work = NUMBERS + 2 * saddle_whole_lines(both);
}

void saddle_precision_configure(saddle_precision_steps *shared, saddle_precision_kind kind,
                                const saddle_configuration *c)
{
    const saddle_problem *problem = c->instance->problem;
    shared->steps = c->steps;
    shared->tracking = kind != SADDLE_PRECISION_PLAIN;
    shared->recursive = kind == SADDLE_PRECISION_RECURSIVE;
    if (shared->recursive && problem->add_samples != NULL)
        shared->curvature = problem->y_curvature;
}

void saddle_precision_small_batches(saddle_configuration *c, double parts)
{
    const saddle_problem *problem = c->instance->problem;
    double most = (double)saddle_sizes_largest(problem->agents, problem->samples);
    if (c->given->batch == 0 && c->given->rule == SADDLE_STEPS_PRACTICAL)
        c->steps.batch = (uint64_t)fmax(LEAST_BATCH, ceil(sqrt(most) / parts));
}

/* Returns the offset of the extra kept state, which follows v, u and the stall counter. */
static size_t kept_extra_offset(const saddle_agent *agent)
{
    return agent->problem->x_dim + agent->problem->y_dim + 1;
}

void saddle_precision_variables(const saddle_agent *agent, saddle_variables *out)
{
    const saddle_precision_steps *shared = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    size_t both = x_dim + y_dim;
    out->x_dim = x_dim;
    out->y_dim = y_dim;
    out->x = agent->now;
    out->y = agent->now + x_dim;
    out->x1 = agent->next;
    out->y1 = agent->next + x_dim;
    out->v = agent->kept;
    out->u = agent->kept + x_dim;
    out->curvature = shared->curvature;
    out->d = shared->tracking ? agent->now + both : out->u;
    out->p = shared->tracking ? agent->now + both + y_dim : out->v;
    out->d1 = shared->tracking ? agent->next + both : NULL;
    out->p1 = shared->tracking ? agent->next + both + y_dim : NULL;
    size_t span = shared->tracking ? 2 * both : both;
    out->extra = agent->now + span;
    out->extra1 = agent->next + span;
    out->kept = agent->kept + kept_extra_offset(agent);
    out->moved = agent->work + MOVED;
    out->y_moved = agent->work + Y_MOVED;
    out->reach = agent->work + REACH;
    out->gx = agent->work + NUMBERS;
    out->gy = out->gx + x_dim;
    out->x_tilde = out->gx + saddle_whole_lines(both);
    out->y_tilde = out->x_tilde + x_dim;
    out->rest = agent->scratch;
}

void saddle_precision_view(const saddle_agent *agent, saddle_view *out)
{
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    *out = (saddle_view){.x = at.x, .y = at.y, .v = at.v, .u = at.u};
}

/* out = x - p / tau: the point whose prox is x~, equation (3). */
SADDLE_KERNEL static void gradient_point(size_t count, double tau, const double *restrict x,
                                         const double *restrict p, double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = x[k] - p[k] / tau;
}

static void proximal_point(const saddle_agent *agent, double tau, const double *x, const double *p,
                           double *x_tilde, double *scratch)
{
    gradient_point(agent->problem->x_dim, tau, x, p, x_tilde);
    saddle_prox_apply(agent->x_prox, 1.0 / tau, x_tilde, scratch);
}

void saddle_precision_prox_point(const saddle_agent *agent, double tau, double *x_tilde,
                                 double *scratch)
{
    const saddle_precision_steps *shared = agent->parameters;
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    if (tau == shared->steps.tau) {
        proximal_point(agent, tau, at.x, at.p, x_tilde, scratch);
        return;
    }
    /* Multiplying by 1 / tau, not dividing by tau, keeps the bits of recorded traces. */
    memcpy(x_tilde, at.x, at.x_dim * sizeof *x_tilde);
    saddle_axpy(at.x_dim, -1.0 / tau, at.p, x_tilde);
    saddle_prox_apply(agent->x_prox, 1.0 / tau, x_tilde, scratch);
}

size_t saddle_precision_batch_size(const saddle_agent *agent)
{
    const saddle_precision_steps *shared = agent->parameters;
    return saddle_batch_size(agent->problem->samples[agent->id], shared->steps.batch);
}

void saddle_precision_start(saddle_variables *at, const double *x0, const double *y0)
{
    size_t x_bytes = at->x_dim * sizeof(double);
    size_t y_bytes = at->y_dim * sizeof(double);
    memcpy(at->x1, x0, x_bytes);
    memcpy(at->y1, y0, y_bytes);
    memcpy(at->v, at->gx, x_bytes);
    memcpy(at->u, at->gy, y_bytes);
    if (at->curvature > 0.0)
        saddle_axpy(at->y_dim, at->curvature, y0, at->u);
    *saddle_stall_counter(at) = 0.0;
    if (at->p1 != NULL) {
        memcpy(at->p1, at->gx, x_bytes);
        memcpy(at->d1, at->gy, y_bytes);
    }
}

/* out = y + alpha d */
SADDLE_KERNEL static void ascent_point(size_t count, double alpha, const double *restrict y,
                                       const double *restrict d, double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = y[k] + alpha * d[k];
}

/* If the prox over X (or the projection onto Y) only clips, stores the bounds and returns true.
 * x~ (or y~) is then computed during the pass and never stored. */
static bool clips_x(const saddle_agent *agent, double *lower, double *upper)
{
    return saddle_regularizer_is_zero(saddle_prox_regularizer(agent->x_prox)) &&
           saddle_set_uniform_bounds(saddle_prox_set(agent->x_prox), lower, upper);
}

static bool clips_y(const saddle_agent *agent, double *lower, double *upper)
{
    return saddle_set_uniform_bounds(agent->y_set, lower, upper);
}

bool saddle_precision_needs_targets(const saddle_agent *agent)
{
    double lower;
    double upper;
    return !clips_x(agent, &lower, &upper) || !clips_y(agent, &lower, &upper);
}

void saddle_precision_compute_targets(saddle_agent *agent)
{
    const saddle_steps *steps = &((const saddle_precision_steps *)agent->parameters)->steps;
    double lower;
    double upper;
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    if (!clips_x(agent, &lower, &upper))
        proximal_point(agent, steps->tau, at.x, at.p, at.x_tilde, at.rest);
    if (!clips_y(agent, &lower, &upper)) {
        ascent_point(at.y_dim, steps->alpha, at.y, at.d, at.y_tilde);
        saddle_set_project(agent->y_set, at.y_tilde, at.rest);
    }
}

/* Equation (5), and (3) if it only clips. */
static void descend(const saddle_agent *agent, const saddle_variables *at, const saddle_range *part)
{
    const saddle_steps *steps = &((const saddle_precision_steps *)agent->parameters)->steps;
    saddle_pass pass = {.offset = 0,
                        .range = *part,
                        .g = at->p,
                        .descend = true,
                        .rate = steps->tau,
                        .step = steps->nu,
                        .next = at->x1};
    if (!clips_x(agent, &pass.lower, &pass.upper))
        pass.target = at->x_tilde;
    saddle_pass_move(agent, &pass);
}

/* Equation (6), and (4) if it only clips. With `track`, the same pass computes d+ as if the
 * gradient were linear in y. */
static void ascend(const saddle_agent *agent, const saddle_variables *at, bool track,
                   const saddle_range *part)
{
    const saddle_steps *steps = &((const saddle_precision_steps *)agent->parameters)->steps;
    saddle_pass pass = {.offset = at->x_dim,
                        .range = *part,
                        .g = at->d,
                        .rate = steps->alpha,
                        .step = steps->eta,
                        .next = at->y1};
    if (!clips_y(agent, &pass.lower, &pass.upper))
        pass.target = at->y_tilde;
    if (track) {
        pass.direction = (size_t)(at->d - agent->now);
        pass.curvature = at->curvature;
        pass.tracker = at->d1;
    }
    saddle_pass_move(agent, &pass);
}

bool saddle_precision_refreshes(const saddle_agent *agent)
{
    const saddle_precision_steps *shared = agent->parameters;
    uint64_t since = agent->iteration + 1;
    uint64_t span = shared->steps.q;
    if (!shared->recursive)
        return true;
    if (shared->scheduled) {
        const double *kept = agent->kept + kept_extra_offset(agent);
        since -= (uint64_t)kept[SADDLE_PRECISION_REFRESHED];
        span = (uint64_t)kept[SADDLE_PRECISION_SPAN];
    }
    return since % span == 0;
}

/* If u is updated recursively and is linear in y except in the batch's entries, the same pass
 * tracks d. */
void saddle_precision_move(const saddle_agent *agent, const saddle_range *x, const saddle_range *y)
{
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    descend(agent, &at, x);
    ascend(agent, &at, at.curvature > 0.0 && !saddle_precision_refreshes(agent), y);
}

void saddle_precision_after_move(saddle_agent *agent, const double *x_sums, const double *y_sums)
{
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    *at.moved = x_sums[0] + y_sums[0];
    *at.reach = x_sums[1];
    *at.y_moved = y_sums[0];
    if (!isfinite(*at.moved)) {
        saddle_watch(agent, "x", at.x_dim, at.x1);
        saddle_watch(agent, "y", at.y_dim, at.y1);
    }
}

/* Requests a gradient at (x, y) over a batch. */
static void request_gradient(saddle_agent *agent, const saddle_variables *at,
                             saddle_request_kind kind, saddle_batch batch, const double *x,
                             const double *y)
{
    agent->request = (saddle_request){.kind = kind,
                                      .batch = batch,
                                      .x = x,
                                      .y = y,
                                      .x0 = at->x,
                                      .y0 = at->y,
                                      .gx = at->gx,
                                      .gy = at->gy};
}

static saddle_batch draw(saddle_agent *agent, uint64_t iteration)
{
    const saddle_precision_steps *shared = agent->parameters;
    return saddle_draw(agent, SADDLE_RNG_BATCH, iteration, saddle_precision_batch_size(agent),
                       shared->steps.sampling == SADDLE_WITH_REPLACEMENT);
}

void saddle_minibatch_estimate(saddle_agent *agent, saddle_variables *at, uint64_t iteration,
                               const double *x, const double *y)
{
    request_gradient(agent, at, SADDLE_REQUEST_GRADIENT, draw(agent, iteration), x, y);
}

void saddle_full_estimate(saddle_agent *agent, saddle_variables *at, const double *x,
                          const double *y)
{
    saddle_batch all = {.index = NULL, .count = agent->problem->samples[agent->id]};
    request_gradient(agent, at, SADDLE_REQUEST_GRADIENT, all, x, y);
}

void saddle_recursive_estimate(saddle_agent *agent, saddle_variables *at)
{
    request_gradient(agent, at,
                     at->curvature > 0.0 ? SADDLE_REQUEST_BATCH_DIFFERENCE
                                         : SADDLE_REQUEST_DIFFERENCE,
                     draw(agent, agent->iteration + 1), at->x1, at->y1);
}

SADDLE_KERNEL double saddle_track_change(size_t count, const double *restrict new,
                                         double *restrict old, double *restrict tracker)
{
    double lane[SADDLE_LANES] = {0.0};
    SADDLE_FOR_LANES(count, {
        tracker[k] += new[k] - old[k];
        old[k] = new[k];
        lane[l] += new[k] * new[k];
    });
    return saddle_add_lanes(lane);
}

/* Without a tracker: sets old = new and adds up |new|^2 of each block. */
static void replace(const saddle_range *part, const double *new, double *old)
{
    double *sums = part->sums;
    for (size_t begin = part->first, end; begin < part->last; begin = end) {
        end = saddle_block_end(begin, part);
        memcpy(old + begin, new + begin, (end - begin) * sizeof *old);
        sums[1] += saddle_norm2(end - begin, old + begin);
        sums += SADDLE_BLOCK_SUMS;
    }
}

/* Equation (8), for x or y. `update` is the new estimate or, if `added`, its change. */
static void track(const saddle_agent *agent, const double *g, const saddle_range *part,
                  const double *update, bool added, double *estimate, double *tracker)
{
    saddle_track what = {.offset = (size_t)(g - agent->now),
                         .range = *part,
                         .update = update,
                         .added = added,
                         .estimate = estimate,
                         .tracker = tracker};
    saddle_pass_track(agent, &what);
}

/* d1[k] -= c (y1[k] - y[k]) */
SADDLE_KERNEL static void take_move(size_t count, double c, const double *restrict y,
                                    const double *restrict y1, double *restrict d1)
{
    for (size_t k = 0; k < count; k++)
        d1[k] -= c * (y1[k] - y[k]);
}

/*
 * Equation (8) for y, where w = u + c y is stored instead of u: d+ = sum_j M_ij d_j + w+ - w - c
 * (y+ - y). Converting w to u and back would add a rounding error to d at every refresh, and these
 * errors would add up once the iterate no longer moves.
 */
static void track_shifted(const saddle_agent *agent, const saddle_variables *at,
                          const saddle_range *part)
{
    double c = at->curvature;
    size_t k = part->first;
    size_t count = part->last > k ? part->last - k : 0;
    if (c > 0.0)
        saddle_axpy(count, c, at->y1 + k, at->gy + k);
    track(agent, at->d, part, at->gy, false, at->u, at->d1);
    if (c > 0.0)
        take_move(count, c, at->y + k, at->y1 + k, at->d1 + k);
}

/* Tracks estimates that were computed anew. */
static void track_fresh(const saddle_agent *agent, const saddle_variables *at,
                        const saddle_range *x, const saddle_range *y)
{
    if (at->p1 != NULL) {
        track(agent, at->p, x, at->gx, false, at->v, at->p1);
        track_shifted(agent, at, y);
    } else {
        replace(x, at->gx, at->v);
        replace(y, at->gy, at->u);
    }
}

/* Returns whether the move has already tracked y, except in the batch's entries. */
static bool tracked_by_move(const saddle_variables *at)
{
    return at->curvature > 0.0 && at->d1 != NULL;
}

/* Computes u+ and d+ in the batch's entries of a range, after a pass that tracked the linear
 * part everywhere. An entry that is in the batch twice is updated once. */
static void track_batch(const saddle_variables *at, const saddle_batch *batch,
                        const saddle_range *part)
{
    size_t block = (part->first + part->shift) / part->block;
    for (size_t k = 0; k < batch->count; k++) {
        size_t j = saddle_batch_sample(batch, k);
        if (j < part->first || j >= part->last)
            continue;
        double *row = part->sums + ((j + part->shift) / part->block - block) * SADDLE_BLOCK_SUMS;
        double change = at->gy[j];
        at->gy[j] = 0.0;
        at->u[j] += change;
        at->d1[j] += change;
        row[0] += fabs(change);
        row[1] += at->u[j] * at->u[j];
    }
}

void saddle_precision_track(const saddle_agent *agent, const saddle_range *x, const saddle_range *y)
{
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    if (saddle_precision_refreshes(agent)) {
        track_fresh(agent, &at, x, y);
        return;
    }
    track(agent, at.p, x, at.gx, true, at.v, at.p1);
    if (tracked_by_move(&at))
        track_batch(&at, &agent->request.batch, y);
    else
        track(agent, at.d, y, at.gy, true, at.u, at.d1);
}

void saddle_precision_after_track(saddle_agent *agent, const double *x_sums, const double *y_sums)
{
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    if (!isfinite(x_sums[1] + y_sums[1])) {
        saddle_watch(agent, "v (x-gradient)", at.x_dim, at.v);
        saddle_watch(agent, "u (y-gradient)", at.y_dim, at.u);
    }
    if (!saddle_precision_refreshes(agent)) {
        double linear = tracked_by_move(&at) ? at.curvature * *at.y_moved : 0.0;
        saddle_check_recursion(agent, &at, x_sums[0] + y_sums[0] + linear);
    }
}
