/* The state and the requests of the algorithms with PRECISION's steps. */
#include "algorithms/precision_steps.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/longest_step.h"
#include "algorithms/pass.h"
#include "algorithms/sampling.h"
#include "core/sizes.h"
#include "core/vector.h"

/* The smallest mini-batch that the library chooses. */
#define LEAST_BATCH 2.0

/* ---- parameters ------------------------------------------------------------------------------ */

/* Raises an automatic tau if the step nu / tau is not stable. */
static saddle_status raise_tau(saddle_configuration *c, saddle_error *error)
{
    double longest;
    if (!isnan(c->given->tau) || c->given->rule != SADDLE_STEPS_PRACTICAL)
        return SADDLE_OK;
    SADDLE_TRY(saddle_longest_step(c, c->steps.batch, &longest, error));
    c->steps.tau = fmax(c->steps.tau, c->steps.nu / longest);
    return SADDLE_OK;
}

saddle_status saddle_precision_configure(saddle_precision_steps *shared, bool tracking,
                                         saddle_configuration *c, saddle_error *error)
{
    const saddle_prox *prox = c->instance->x_prox;
    saddle_clipping *x = &shared->clip_x;
    saddle_clipping *y = &shared->clip_y;
    SADDLE_TRY(raise_tau(c, error));
    shared->steps = c->steps;
    shared->tracking = tracking;
    x->only = saddle_regularizer_is_zero(saddle_prox_regularizer(prox)) &&
              saddle_set_uniform_bounds(saddle_prox_set(prox), &x->lower, &x->upper);
    y->only = saddle_set_uniform_bounds(c->instance->y_set, &y->lower, &y->upper);
    return SADDLE_OK;
}

saddle_status saddle_precision_configure_recursive(saddle_precision_steps *shared, double divisor,
                                                   saddle_configuration *c, saddle_error *error)
{
    const saddle_problem *problem = c->instance->problem;
    double most = (double)saddle_sizes_largest(problem->agents, problem->samples);
    if (c->given->batch == 0 && c->given->rule == SADDLE_STEPS_PRACTICAL)
        c->steps.batch = (uint64_t)fmax(LEAST_BATCH, ceil(sqrt(most) / divisor));
    if (problem->add_samples != NULL)
        shared->curvature = problem->y_curvature;
    shared->recursive = true;
    return saddle_precision_configure(shared, true, c, error);
}

/* ---- state ----------------------------------------------------------------------------------- */

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
    out->kept = both + 1 + shared->kept_extra + SADDLE_NOISE_NUMBERS;
    out->work = SADDLE_MOVE_SUMS + 2 * saddle_whole_lines(both);
    if (shared->refreshes == SADDLE_REFRESH_MEASURED)
        out->work += both;
}

void saddle_precision_view(const saddle_agent *agent, saddle_view *out)
{
    const saddle_variables at = saddle_precision_variables(agent);
    *out = (saddle_view){.x = at.x, .y = at.y, .v = at.v, .u = at.u, .noise = at.noise};
}

saddle_noise_point saddle_precision_point(const saddle_agent *agent)
{
    const saddle_steps *s = &saddle_precision_shared(agent)->steps;
    const saddle_variables at = saddle_precision_variables(agent);
    return (saddle_noise_point){.iteration = agent->iteration + 1,
                                .agent = agent->id,
                                .agents = agent->agents,
                                .x_dim = at.x_dim,
                                .y_dim = at.y_dim,
                                .x = at.x1,
                                .y = at.y1,
                                .x_step = s->nu / s->tau,
                                .y_step = s->eta * s->alpha};
}

void saddle_precision_start(saddle_agent *agent, const double *x0, const double *y0)
{
    const saddle_precision_steps *shared = saddle_precision_shared(agent);
    const saddle_variables at = saddle_precision_variables(agent);
    size_t x_bytes = at.x_dim * sizeof(double);
    size_t y_bytes = at.y_dim * sizeof(double);
    saddle_agent_evaluate(agent);
    memcpy(at.x1, x0, x_bytes);
    memcpy(at.y1, y0, y_bytes);
    memcpy(at.v, at.gx, x_bytes);
    memcpy(at.u, at.gy, y_bytes);
    if (shared->curvature > 0.0)
        saddle_axpy(at.y_dim, shared->curvature, y0, at.u);
    *at.stalled = 0.0;
    memset(at.noise, 0, SADDLE_NOISE_NUMBERS * sizeof *at.noise);
    if (shared->tracking) {
        memcpy(at.p1, at.gx, x_bytes);
        memcpy(at.d1, at.gy, y_bytes);
    }
}

void saddle_precision_check_estimates(saddle_agent *agent, double v_norm2, double u_norm2)
{
    const saddle_variables at = saddle_precision_variables(agent);
    if (isfinite(v_norm2 + u_norm2))
        return;
    saddle_agent_check_finite(agent, "v (x-gradient)", at.x_dim, at.v);
    saddle_agent_check_finite(agent, "u (y-gradient)", at.y_dim, at.u);
}

/* ---- requests -------------------------------------------------------------------------------- */

size_t saddle_precision_batch_size(const saddle_agent *agent)
{
    return saddle_batch_size(agent->problem->samples[agent->id],
                             saddle_precision_shared(agent)->steps.batch);
}

saddle_batch saddle_precision_draw(saddle_agent *agent, uint64_t iteration)
{
    bool replacement = saddle_precision_shared(agent)->steps.sampling == SADDLE_WITH_REPLACEMENT;
    return saddle_draw(agent, SADDLE_RNG_BATCH, iteration, saddle_precision_batch_size(agent),
                       replacement);
}

saddle_request saddle_precision_gradient(const saddle_agent *agent, saddle_batch batch,
                                         const double *x, const double *y)
{
    const saddle_variables at = saddle_precision_variables(agent);
    return (saddle_request){
        .kind = SADDLE_REQUEST_GRADIENT, .batch = batch, .x = x, .y = y, .gx = at.gx, .gy = at.gy};
}
