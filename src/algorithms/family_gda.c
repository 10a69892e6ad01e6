#include "algorithms/family_gda.h"

#include <string.h>

#include "algorithms/descent_ascent.h"
#include "algorithms/sampling.h"

void saddle_gda_configure(saddle_gda_parameters *p, saddle_configuration *c, bool full)
{
    double L = c->instance->constants.lipschitz;
    double kappa = L / c->instance->constants.strong_concavity;
    saddle_two_steps_configure(&p->steps, c, 1.0 / (16.0 * (kappa + 1.0) * (kappa + 1.0) * L),
                               1.0 / L);
    p->full = full;
}

void saddle_gda_layout(const void *p, const saddle_problem *problem, saddle_layout *out)
{
    (void)p;
    out->published = problem->x_dim + problem->y_dim;
    out->kept = 0;
    out->scratch = problem->x_dim + problem->y_dim;
    out->rounds = 0;
}

void saddle_gda_start(saddle_agent *agent, const double *x0, const double *y0)
{
    memcpy(agent->next, x0, agent->problem->x_dim * sizeof *x0);
    memcpy(agent->next + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *y0);
}

void saddle_gda_step(saddle_agent *agent, unsigned round)
{
    (void)round;
    const saddle_gda_parameters *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    const double *x = agent->now;
    const double *y = agent->now + x_dim;
    double *gx = agent->scratch;
    double *gy = gx + x_dim;
    double *rest = gy + y_dim;

    size_t samples = agent->problem->samples[agent->id];
    size_t size = p->full ? samples : saddle_batch_size(agent, p->steps.batch);
    saddle_batch batch = saddle_draw(agent, SADDLE_RNG_BATCH, agent->iteration + 1, size,
                                     p->steps.replacement && !p->full);
    saddle_problem_gradient(agent->problem, agent->id, &batch, x, y, gx, gy, rest);
    agent->ifo += batch.count;
    saddle_descend(agent, p->steps.eta_x, x, gx, agent->next, rest);
    saddle_ascend(agent, p->steps.eta_y, y, gy, agent->next + x_dim, rest);
    saddle_watch(agent, "x", x_dim, agent->next);
    saddle_watch(agent, "y", y_dim, agent->next + x_dim);
}

void saddle_gda_view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->now, .y = agent->now + agent->problem->x_dim};
}
