#include "algorithms/steps.h"

#include <math.h>
#include <string.h>

#include "algorithms/descent_ascent.h"
#include "algorithms/sampling.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"

/* Consecutive all-zero differences of a moving iterate after which the recursion counts as broken.
 * One alone can happen by chance: a mini-batch may not touch the coordinates that moved. */
#define STALL_LIMIT 16

void saddle_family_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    const saddle_family *family = parameters;
    size_t both = problem->x_dim + problem->y_dim;
    out->published = (family->tracking ? 2 * both : both) + family->published_extra;
    out->kept = both + 1 + family->kept_extra;
    out->scratch = 2 * both;
    out->rounds = 1;
}

saddle_status saddle_family_create(void **parameters, size_t size, bool tracking,
                                   const saddle_algorithm_inputs *inputs, saddle_error *error)
{
    saddle_family *family = saddle_alloc(1, size);
    *parameters = family;
    if (family == NULL)
        return saddle_no_memory(error, "the algorithm's parameters");
    family->steps = inputs->steps;
    family->tracking = tracking;
    family->replacement =
        strcmp(saddle_settings_text(inputs->settings, "sampling"), "with-replacement") == 0;
    return SADDLE_OK;
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
    out->p = family->tracking ? agent->now + both : out->v;
    out->d = family->tracking ? agent->now + both + x_dim : out->u;
    out->p1 = family->tracking ? agent->next + both : NULL;
    out->d1 = family->tracking ? agent->next + both + x_dim : NULL;
    size_t span = family->tracking ? 2 * both : both;
    out->extra = agent->now + span;
    out->extra1 = agent->next + span;
    out->kept = agent->kept + both + 1;
    out->x_tilde = agent->scratch;
    out->y_tilde = agent->scratch + x_dim;
    out->gx = agent->scratch + both;
    out->gy = agent->scratch + both + x_dim;
    out->rest = agent->scratch + 2 * both;
}

void saddle_family_view(const saddle_agent *agent, saddle_view *out)
{
    const saddle_family *family = agent->parameters;
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    out->x = parts.x;
    out->y = parts.y;
    out->p = family->tracking ? parts.p : NULL;
    out->d = family->tracking ? parts.d : NULL;
    out->v = parts.v;
    out->u = parts.u;
}

/* out = x - p / tau: the point whose prox is x~. */
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

void saddle_family_prox_point(const saddle_agent *agent, double *x_tilde, double *scratch)
{
    const saddle_family *family = agent->parameters;
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    proximal_point(agent, family->steps.tau, parts.x, parts.p, x_tilde, scratch);
}

size_t saddle_family_batch_size(const saddle_agent *agent)
{
    const saddle_family *family = agent->parameters;
    return saddle_batch_size(agent, family->steps.batch);
}

void saddle_family_start(saddle_parts *parts, const double *x0, const double *y0)
{
    size_t x_bytes = parts->x_dim * sizeof(double);
    size_t y_bytes = parts->y_dim * sizeof(double);
    memcpy(parts->x1, x0, x_bytes);
    memcpy(parts->y1, y0, y_bytes);
    memcpy(parts->v, parts->gx, x_bytes);
    memcpy(parts->u, parts->gy, y_bytes);
    if (parts->p1 != NULL) {
        memcpy(parts->p1, parts->gx, x_bytes);
        memcpy(parts->d1, parts->gy, y_bytes);
    }
}

/* next += step (target - from); returns sum (next - from)^2, in fixed lanes. */
SADDLE_KERNEL static double towards(size_t count, double step, const double *restrict target,
                                    const double *restrict from, double *restrict next)
{
    double lane[SADDLE_LANES] = {0.0};
    SADDLE_FOR_LANES(count, {
        next[k] += step * (target[k] - from[k]);
        double move = next[k] - from[k];
        lane[l] += move * move;
    });
    return saddle_add_lanes(lane);
}

/* out = y + alpha d */
SADDLE_KERNEL static void ascent_point(size_t count, double alpha, const double *restrict y,
                                       const double *restrict d, double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = y[k] + alpha * d[k];
}

double saddle_descend_ascend(saddle_agent *agent, saddle_parts *parts)
{
    const saddle_steps *steps = &((const saddle_family *)agent->parameters)->steps;
    proximal_point(agent, steps->tau, parts->x, parts->p, parts->x_tilde, parts->rest);
    ascent_point(parts->y_dim, steps->alpha, parts->y, parts->d, parts->y_tilde);
    saddle_set_project(agent->y_set, parts->y_tilde, parts->rest);

    saddle_agent_mix(agent, 0, parts->x_dim + parts->y_dim, parts->x1);
    double moved = towards(parts->x_dim, steps->nu, parts->x_tilde, parts->x, parts->x1) +
                   towards(parts->y_dim, steps->eta, parts->y_tilde, parts->y, parts->y1);
    if (!isfinite(moved)) {
        saddle_watch(agent, "x", parts->x_dim, parts->x1);
        saddle_watch(agent, "y", parts->y_dim, parts->y1);
    }
    return moved;
}

/* The stall counter stands between the estimates and the extra state. */
static double *stall_counter(const saddle_parts *parts)
{
    return parts->kept - 1;
}

/* Count differences that are exactly zero although the iterate moved by more than rounding. */
static void watch_recursion(saddle_agent *agent, const saddle_parts *parts, double difference,
                            double moved)
{
    double *stalled = stall_counter(parts);
    if (difference != 0.0) {
        *stalled = 0.0;
        return;
    }
    double size = saddle_norm2(parts->x_dim, parts->x) + saddle_norm2(parts->y_dim, parts->y);
    if (!(moved > 1e-20 * size) || !(moved > 1e-200))
        return;
    *stalled += 1.0;
    if (*stalled >= STALL_LIMIT && agent->fault.kind == SADDLE_FAULT_NONE)
        agent->fault = (saddle_fault){.kind = SADDLE_FAULT_STALLED,
                                      .variable = "(v, u)",
                                      .agent = agent->id,
                                      .iteration = agent->iteration + 1};
}

/* difference += base; returns the sum of the sizes that the differences had, in fixed lanes: zero
 * exactly when all of them were, which a sum of squares need not be. */
SADDLE_KERNEL static double add_to(size_t count, const double *restrict base,
                                   double *restrict difference)
{
    double lane[SADDLE_LANES] = {0.0};
    SADDLE_FOR_LANES(count, {
        lane[l] += fabs(difference[k]);
        difference[k] += base[k];
    });
    return saddle_add_lanes(lane);
}

void saddle_recursive_estimate(saddle_agent *agent, saddle_parts *parts, double moved)
{
    const saddle_family *family = agent->parameters;
    saddle_batch batch = saddle_draw(agent, SADDLE_RNG_BATCH, agent->iteration + 1,
                                     saddle_family_batch_size(agent), family->replacement);
    saddle_problem_difference(agent->problem, agent->id, &batch, parts->x1, parts->y1, parts->x,
                              parts->y, parts->gx, parts->gy, parts->rest);
    agent->ifo += 2 * batch.count;
    double difference =
        add_to(parts->x_dim, parts->v, parts->gx) + add_to(parts->y_dim, parts->u, parts->gy);
    watch_recursion(agent, parts, difference, moved);
}

void saddle_minibatch_estimate(saddle_agent *agent, saddle_parts *parts, uint64_t iteration,
                               const double *x, const double *y)
{
    const saddle_family *family = agent->parameters;
    saddle_batch batch = saddle_draw(agent, SADDLE_RNG_BATCH, iteration,
                                     saddle_family_batch_size(agent), family->replacement);
    saddle_problem_gradient(agent->problem, agent->id, &batch, x, y, parts->gx, parts->gy,
                            parts->rest);
    agent->ifo += batch.count;
}

void saddle_full_estimate(saddle_agent *agent, saddle_parts *parts, const double *x,
                          const double *y)
{
    saddle_batch all = {.index = NULL, .count = agent->problem->samples[agent->id]};
    saddle_problem_gradient(agent->problem, agent->id, &all, x, y, parts->gx, parts->gy,
                            parts->rest);
    agent->ifo += all.count;
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

void saddle_track(saddle_agent *agent, saddle_parts *parts)
{
    double size;
    if (parts->p1 != NULL) {
        saddle_agent_mix(agent, parts->x_dim + parts->y_dim, parts->x_dim + parts->y_dim,
                         parts->p1);
        size = saddle_track_change(parts->x_dim, parts->gx, parts->v, parts->p1) +
               saddle_track_change(parts->y_dim, parts->gy, parts->u, parts->d1);
    } else {
        size =
            replace(parts->x_dim, parts->gx, parts->v) + replace(parts->y_dim, parts->gy, parts->u);
    }
    if (!isfinite(size)) {
        saddle_watch(agent, "v (x-gradient)", parts->x_dim, parts->v);
        saddle_watch(agent, "u (y-gradient)", parts->y_dim, parts->u);
    }
}

void saddle_sgda_start(saddle_agent *agent, const double *x0, const double *y0)
{
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    saddle_minibatch_estimate(agent, &parts, 0, x0, y0);
    saddle_family_start(&parts, x0, y0);
}

void saddle_sgda_step(saddle_agent *agent, unsigned round)
{
    (void)round;
    saddle_parts parts;
    saddle_family_parts(agent, &parts);

    saddle_descend_ascend(agent, &parts);
    saddle_minibatch_estimate(agent, &parts, agent->iteration + 1, parts.x1, parts.y1);
    saddle_track(agent, &parts);
}
