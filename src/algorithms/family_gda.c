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
    out->rounds = 0;
    saddle_layout_add(out, "x", problem->x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "y", problem->y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    out->work = problem->x_dim + problem->y_dim;
}

void saddle_gda_start(saddle_agent *agent, const double *x0, const double *y0)
{
    memcpy(agent->next, x0, agent->problem->x_dim * sizeof *x0);
    memcpy(agent->next + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *y0);
}

static void estimate(saddle_agent *agent)
{
    const saddle_gda_parameters *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    size_t samples = agent->problem->samples[agent->id];
    size_t size = p->full ? samples : saddle_batch_size(agent, p->steps.batch);
    agent->request =
        (saddle_request){.kind = SADDLE_REQUEST_GRADIENT,
                         .batch = saddle_draw(agent, SADDLE_RNG_BATCH, agent->iteration + 1, size,
                                              p->steps.replacement && !p->full),
                         .x = agent->now,
                         .y = agent->now + x_dim,
                         .gx = agent->work,
                         .gy = agent->work + x_dim};
}

static void move(saddle_agent *agent)
{
    const saddle_gda_parameters *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    const double *gx = agent->work;
    const double *gy = agent->work + x_dim;
    saddle_descend(agent, p->steps.eta_x, agent->now, gx, agent->next, agent->scratch);
    saddle_ascend(agent, p->steps.eta_y, agent->now + x_dim, gy, agent->next + x_dim,
                  agent->scratch);
    saddle_watch(agent, "x", x_dim, agent->next);
    saddle_watch(agent, "y", agent->problem->y_dim, agent->next + x_dim);
}

const saddle_phase saddle_gda_phases[] = {
    {"estimate", SADDLE_UNDIVIDED, estimate}, {"move", SADDLE_UNDIVIDED, move}, {.name = NULL}};

void saddle_gda_view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->now, .y = agent->now + agent->problem->x_dim};
}
