#include "algorithms/sample_probe.h"

#include "core/base.h"
#include "core/world.h"
#include "sets/set.h"

/* Remembers an agent whose gradient has a NaN. */
static void look_for_nan(saddle_sample_probe *p, size_t agent, size_t count, const double *g)
{
    for (size_t k = 0; k < count; k++)
        if (isnan(g[k]))
            p->first_nan = fmax(p->first_nan, -(double)agent);
}

typedef struct response {
    saddle_sample_probe *probe;
    const double *x;
    bool few;
} response;

/* The gradient in y of an agent's loss at x and the first y. */
static void add_ascent(void *context, size_t agent, double *out)
{
    const response *r = context;
    saddle_sample_probe *p = r->probe;
    const saddle_problem *problem = p->instance->problem;
    size_t samples = problem->samples[agent];
    uint32_t index[SADDLE_PROBE_FEW];
    saddle_batch batch = {.count = samples};
    if (r->few && samples > SADDLE_PROBE_FEW)
        batch = (saddle_batch){.index = index, .count = SADDLE_PROBE_FEW};
    for (size_t k = 0; k < batch.count && batch.index != NULL; k++)
        index[k] = (uint32_t)(k * samples / batch.count);
    saddle_problem_gradient(problem, agent, &batch, r->x, p->instance->y0, p->g, out, p->scratch);
    look_for_nan(p, agent, problem->x_dim, p->g);
    look_for_nan(p, agent, problem->y_dim, out);
}

saddle_status saddle_sample_probe_respond(saddle_sample_probe *p, const double *x, double alpha,
                                          bool few, saddle_error *error)
{
    const saddle_instance *instance = p->instance;
    const saddle_problem *problem = instance->problem;
    response r = {p, x, few};
    SADDLE_TRY(saddle_world_sum(instance->world, problem->y_dim, add_ascent, &r, p->y, error));
    for (size_t k = 0; k < problem->y_dim; k++)
        p->y[k] = instance->y0[k] + alpha / (double)problem->agents * p->y[k];
    saddle_set_project(instance->y_set, p->y, p->scratch);
    for (size_t k = 0; k < problem->y_dim; k++)
        p->y[k] = 0.5 * (instance->y0[k] + p->y[k]);
    return SADDLE_OK;
}

/* Without y: only the entries in x, and those in y where they cannot be left out. */
static void find_gradient(saddle_sample_probe *p, size_t agent, size_t k, size_t count, bool y,
                          const double *x, double *out)
{
    const saddle_problem *problem = p->instance->problem;
    uint32_t sample = (uint32_t)(k * problem->samples[agent] / count);
    saddle_batch one = {.index = &sample, .count = 1};
    bool both = y || problem->add_samples == NULL;
    saddle_problem_gradient(problem, agent, &one, x, p->y, out, both ? out + problem->x_dim : NULL,
                            p->scratch);
    look_for_nan(p, agent, problem->x_dim + (both ? problem->y_dim : 0), out);
}

void saddle_sample_probe_gradient(saddle_sample_probe *p, size_t agent, size_t k, size_t count,
                                  const double *x, double *out)
{
    find_gradient(p, agent, k, count, true, x, out);
}

void saddle_sample_probe_slope(saddle_sample_probe *p, size_t agent, size_t k, size_t count,
                               const double *x, double *out)
{
    find_gradient(p, agent, k, count, false, x, out);
}

saddle_status saddle_sample_probe_refuse_nan(const saddle_sample_probe *p, const char *what,
                                             saddle_error *error)
{
    double first = p->first_nan;
    p->instance->world->largest(p->instance->world, 1, &first);
    if (first == -INFINITY)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "an entry of gradient() of problem %.60s is nan at agent %.0f, near the "
                         "start, where %s is measured; check its functions",
                         saddle_shown_name(p->instance->problem->name), -first, what);
}
