#include "algorithms/family.h"

#include <math.h>
#include <string.h>

#include "algorithms/descent_ascent.h"
#include "algorithms/pass.h"
#include "algorithms/sampling.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"

/* Consecutive all-zero differences of a moving iterate after which the recursion counts as broken.
 * One alone can happen by chance: a mini-batch may not touch the coordinates that moved. */
#define STALL_LIMIT 16

/* Numbers that a move leaves in agent->work before gx and gy: a cache line. */
enum { MOVED, Y_MOVED, REACH, NUMBERS = 8 };

void saddle_family_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    const saddle_family *family = parameters;
    size_t x_dim = problem->x_dim;
    size_t y_dim = problem->y_dim;
    size_t both = x_dim + y_dim;
    out->rounds = 1;
    saddle_layout_add(out, "x", x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "y", y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    if (family->tracking) {
        saddle_layout_add(out, "d", y_dim, SADDLE_FIELD_SUM, x_dim);
        out->field[2].shift = family->curvature;
        out->field[2].shift_offset = x_dim;
        saddle_layout_add(out, "p", x_dim, SADDLE_FIELD_SUM, 0);
    }
    /* What PRECISION+ adds follows the number r that it kept last. */
    if (family->published_extra > 0)
        saddle_layout_add(out, "c", family->published_extra, SADDLE_FIELD_SUM, both + 1);
    out->kept = both + 1 + family->kept_extra;
    out->work = NUMBERS + saddle_whole_lines(both);
    out->scratch = saddle_whole_lines(both);
}

void saddle_family_configure(saddle_family *family, saddle_family_kind kind,
                             const saddle_configuration *c)
{
    const saddle_problem *problem = c->instance->problem;
    family->steps = c->steps;
    family->tracking = kind != SADDLE_FAMILY_PLAIN;
    family->recursive = kind == SADDLE_FAMILY_RECURSIVE;
    if (family->recursive && problem->add_samples != NULL)
        family->curvature = problem->y_curvature;
}

void saddle_family_parts(const saddle_agent *agent, saddle_parts *out)
{
    const saddle_family *family = agent->parameters;
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
    out->curvature = family->curvature;
    out->d = family->tracking ? agent->now + both : out->u;
    out->p = family->tracking ? agent->now + both + y_dim : out->v;
    out->d1 = family->tracking ? agent->next + both : NULL;
    out->p1 = family->tracking ? agent->next + both + y_dim : NULL;
    size_t span = family->tracking ? 2 * both : both;
    out->extra = agent->now + span;
    out->extra1 = agent->next + span;
    out->kept = agent->kept + both + 1;
    out->moved = agent->work + MOVED;
    out->y_moved = agent->work + Y_MOVED;
    out->reach = agent->work + REACH;
    out->gx = agent->work + NUMBERS;
    out->gy = out->gx + x_dim;
    out->x_tilde = agent->scratch;
    out->y_tilde = out->x_tilde + x_dim;
    out->rest = agent->scratch + saddle_whole_lines(both);
}

void saddle_family_view(const saddle_agent *agent, saddle_view *out)
{
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    *out = (saddle_view){.x = parts.x, .y = parts.y, .v = parts.v, .u = parts.u};
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

void saddle_family_prox_point(const saddle_agent *agent, double tau, double *x_tilde,
                              double *scratch)
{
    const saddle_family *family = agent->parameters;
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    if (tau == family->steps.tau) {
        proximal_point(agent, tau, parts.x, parts.p, x_tilde, scratch);
        return;
    }
    /* Recorded traces have another tau by its inverse, which differs in the last bit. */
    memcpy(x_tilde, parts.x, parts.x_dim * sizeof *x_tilde);
    saddle_axpy(parts.x_dim, -1.0 / tau, parts.p, x_tilde);
    saddle_prox_apply(agent->x_prox, 1.0 / tau, x_tilde, scratch);
}

size_t saddle_family_batch_size(const saddle_agent *agent)
{
    const saddle_family *family = agent->parameters;
    return saddle_batch_size(agent->problem->samples[agent->id], family->steps.batch);
}

void saddle_family_start(saddle_parts *parts, const double *x0, const double *y0)
{
    size_t x_bytes = parts->x_dim * sizeof(double);
    size_t y_bytes = parts->y_dim * sizeof(double);
    memcpy(parts->x1, x0, x_bytes);
    memcpy(parts->y1, y0, y_bytes);
    memcpy(parts->v, parts->gx, x_bytes);
    memcpy(parts->u, parts->gy, y_bytes);
    if (parts->curvature > 0.0)
        saddle_axpy(parts->y_dim, parts->curvature, y0, parts->u);
    if (parts->p1 != NULL) {
        memcpy(parts->p1, parts->gx, x_bytes);
        memcpy(parts->d1, parts->gy, y_bytes);
    }
}

/* out = y + alpha d */
SADDLE_KERNEL static void ascent_point(size_t count, double alpha, const double *restrict y,
                                       const double *restrict d, double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = y[k] + alpha * d[k];
}

/* x~ and x+. Where the prox only clips, x~ is never written down. */
static void descend(saddle_agent *agent, saddle_parts *parts, saddle_pass_sums *sums)
{
    const saddle_steps *steps = &((const saddle_family *)agent->parameters)->steps;
    saddle_pass pass = {.offset = 0,
                        .count = parts->x_dim,
                        .g = parts->p,
                        .descend = true,
                        .rate = steps->tau,
                        .step = steps->nu,
                        .next = parts->x1};
    if (!saddle_regularizer_is_zero(saddle_prox_regularizer(agent->x_prox)) ||
        !saddle_set_uniform_bounds(saddle_prox_set(agent->x_prox), &pass.lower, &pass.upper)) {
        proximal_point(agent, steps->tau, parts->x, parts->p, parts->x_tilde, parts->rest);
        pass.target = parts->x_tilde;
    }
    saddle_pass_move(agent, &pass, sums);
}

/* Equations (4) and (6): y~ and y+; with `track`, in the same pass d+ as if the gradient were linear in y. */
static void ascend(saddle_agent *agent, saddle_parts *parts, bool track, saddle_pass_sums *sums)
{
    const saddle_steps *steps = &((const saddle_family *)agent->parameters)->steps;
    saddle_pass pass = {.offset = parts->x_dim,
                        .count = parts->y_dim,
                        .g = parts->d,
                        .rate = steps->alpha,
                        .step = steps->eta,
                        .next = parts->y1};
    if (!saddle_set_uniform_bounds(agent->y_set, &pass.lower, &pass.upper)) {
        ascent_point(parts->y_dim, steps->alpha, parts->y, parts->d, parts->y_tilde);
        saddle_set_project(agent->y_set, parts->y_tilde, parts->rest);
        pass.target = parts->y_tilde;
    }
    if (track) {
        pass.direction = (size_t)(parts->d - agent->now);
        pass.curvature = parts->curvature;
        pass.tracker = parts->d1;
    }
    saddle_pass_move(agent, &pass, sums);
}

bool saddle_family_refreshes(const saddle_agent *agent)
{
    const saddle_family *family = agent->parameters;
    return !family->recursive || (agent->iteration + 1) % family->steps.q == 0;
}

/* Where u is recursive and linear in y besides the batch's entries, d is tracked in the same pass. */
void saddle_descend_ascend(saddle_agent *agent, saddle_parts *parts)
{
    saddle_pass_sums x_sums;
    saddle_pass_sums y_sums;
    descend(agent, parts, &x_sums);
    ascend(agent, parts, parts->curvature > 0.0 && !saddle_family_refreshes(agent), &y_sums);
    *parts->reach = x_sums.reach;
    *parts->moved = x_sums.moved + y_sums.moved;
    *parts->y_moved = y_sums.moved;
    if (!isfinite(*parts->moved)) {
        saddle_watch(agent, "x", parts->x_dim, parts->x1);
        saddle_watch(agent, "y", parts->y_dim, parts->y1);
    }
}

/* The stall counter stands between the estimates and the extra state. */
static double *stall_counter(const saddle_parts *parts)
{
    return parts->kept - 1;
}

/* Count differences that are exactly zero although the iterate moved by more than rounding. */
static void watch_recursion(saddle_agent *agent, const saddle_parts *parts, double difference)
{
    double *stalled = stall_counter(parts);
    if (difference != 0.0) {
        *stalled = 0.0;
        return;
    }
    double size = saddle_norm2(parts->x_dim, parts->x) + saddle_norm2(parts->y_dim, parts->y);
    if (!(*parts->moved > 1e-20 * size) || !(*parts->moved > 1e-200))
        return;
    *stalled += 1.0;
    if (*stalled >= STALL_LIMIT && agent->fault.kind == SADDLE_FAULT_NONE)
        agent->fault = (saddle_fault){.kind = SADDLE_FAULT_STALLED,
                                      .variable = "(v, u)",
                                      .agent = agent->id,
                                      .iteration = agent->iteration + 1};
}

/* Ask for a gradient at (x, y) over a batch. */
static void ask(saddle_agent *agent, const saddle_parts *parts, saddle_request_kind kind,
                saddle_batch batch, const double *x, const double *y)
{
    agent->request = (saddle_request){.kind = kind,
                                      .batch = batch,
                                      .x = x,
                                      .y = y,
                                      .x0 = parts->x,
                                      .y0 = parts->y,
                                      .gx = parts->gx,
                                      .gy = parts->gy};
}

static saddle_batch draw(saddle_agent *agent, uint64_t iteration)
{
    const saddle_family *family = agent->parameters;
    return saddle_draw(agent, SADDLE_RNG_BATCH, iteration, saddle_family_batch_size(agent),
                       family->steps.sampling == SADDLE_WITH_REPLACEMENT);
}

void saddle_minibatch_estimate(saddle_agent *agent, saddle_parts *parts, uint64_t iteration,
                               const double *x, const double *y)
{
    ask(agent, parts, SADDLE_REQUEST_GRADIENT, draw(agent, iteration), x, y);
}

void saddle_full_estimate(saddle_agent *agent, saddle_parts *parts, const double *x,
                          const double *y)
{
    saddle_batch all = {.index = NULL, .count = agent->problem->samples[agent->id]};
    ask(agent, parts, SADDLE_REQUEST_GRADIENT, all, x, y);
}

void saddle_recursive_estimate(saddle_agent *agent, saddle_parts *parts)
{
    ask(agent, parts,
        parts->curvature > 0.0 ? SADDLE_REQUEST_BATCH_DIFFERENCE : SADDLE_REQUEST_DIFFERENCE,
        draw(agent, agent->iteration + 1), parts->x1, parts->y1);
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

/* The same without a tracker. */
static double replace(size_t count, const double *new, double *old)
{
    memcpy(old, new, count * sizeof *old);
    return saddle_norm2(count, old);
}

/* Step 4, equation (8), for x or y; `added`: news are the change of the estimate, not the estimate. */
static void track(const saddle_agent *agent, const double *g, size_t count, const double *news,
                  bool added, double *estimate, double *tracker, saddle_track_sums *sums)
{
    saddle_track what = {.offset = (size_t)(g - agent->now),
                         .count = count,
                         .news = news,
                         .added = added,
                         .estimate = estimate,
                         .tracker = tracker};
    saddle_pass_track(agent, &what, sums);
}

/* Record estimates that are not finite, given the sum of their squares. */
static void watch_estimates(saddle_agent *agent, const saddle_parts *parts, double size)
{
    if (isfinite(size))
        return;
    saddle_watch(agent, "v (x-gradient)", parts->x_dim, parts->v);
    saddle_watch(agent, "u (y-gradient)", parts->y_dim, parts->u);
}

/* d1[k] -= c (y1[k] - y[k]) */
SADDLE_KERNEL static void take_move(size_t count, double c, const double *restrict y,
                                    const double *restrict y1, double *restrict d1)
{
    for (size_t k = 0; k < count; k++)
        d1[k] -= c * (y1[k] - y[k]);
}

/*
 * Equation (8) for y with w = u + c y kept: d+ = sum_j M_ij d_j + w+ - w - c (y+ - y). Converting w to u and
 * back would add a rounding error to d at every refresh, and always the same one once the iterate rests.
 */
static void track_shifted(const saddle_agent *agent, saddle_parts *parts, saddle_track_sums *sums)
{
    double c = parts->curvature;
    if (c > 0.0)
        saddle_axpy(parts->y_dim, c, parts->y1, parts->gy);
    track(agent, parts->d, parts->y_dim, parts->gy, false, parts->u, parts->d1, sums);
    if (c > 0.0)
        take_move(parts->y_dim, c, parts->y, parts->y1, parts->d1);
}

/* u+ and d+ in the batch's own entries, after a pass that has tracked the linear part everywhere. An
 * entry that is in the batch twice is done once. */
static void track_batch(saddle_parts *parts, const saddle_batch *batch, saddle_track_sums *sums)
{
    for (size_t k = 0; k < batch->count; k++) {
        size_t j = saddle_batch_sample(batch, k);
        double change = parts->gy[j];
        parts->gy[j] = 0.0;
        parts->u[j] += change;
        parts->d1[j] += change;
        sums->change += fabs(change);
        sums->size += parts->u[j] * parts->u[j];
    }
}

/* Step 4 after recursive differences. */
static void track_differences(saddle_agent *agent, saddle_parts *parts)
{
    saddle_track_sums x_sums;
    saddle_track_sums y_sums;
    if (parts->curvature > 0.0 && parts->d1 != NULL) {
        y_sums = (saddle_track_sums){.change = parts->curvature * *parts->y_moved};
        track_batch(parts, &agent->request.batch, &y_sums);
    } else {
        track(agent, parts->d, parts->y_dim, parts->gy, true, parts->u, parts->d1, &y_sums);
    }
    track(agent, parts->p, parts->x_dim, parts->gx, true, parts->v, parts->p1, &x_sums);
    watch_recursion(agent, parts, x_sums.change + y_sums.change);
    watch_estimates(agent, parts, x_sums.size + y_sums.size);
}

/* Step 4 after estimates from scratch. */
static void track_fresh(saddle_agent *agent, saddle_parts *parts)
{
    saddle_track_sums x_sums;
    saddle_track_sums y_sums;
    if (parts->p1 != NULL) {
        track(agent, parts->p, parts->x_dim, parts->gx, false, parts->v, parts->p1, &x_sums);
        track_shifted(agent, parts, &y_sums);
    } else {
        x_sums.size = replace(parts->x_dim, parts->gx, parts->v);
        y_sums.size = replace(parts->y_dim, parts->gy, parts->u);
    }
    watch_estimates(agent, parts, x_sums.size + y_sums.size);
}

void saddle_track_estimates(saddle_agent *agent, saddle_parts *parts)
{
    if (saddle_family_refreshes(agent))
        track_fresh(agent, parts);
    else
        track_differences(agent, parts);
}

/* ---- phases ---------------------------------------------------------------------------------- */

void saddle_family_move(saddle_agent *agent)
{
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    saddle_descend_ascend(agent, &parts);
}

void saddle_family_track(saddle_agent *agent)
{
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    saddle_track_estimates(agent, &parts);
}
