#include "algorithms/descent_ascent.h"

#include "algorithms/longest_step.h"
#include "algorithms/step_options.h"
#include "core/vector.h"

const saddle_option saddle_option_mixing_rounds = SADDLE_INTEGER(
    SADDLE_OWN(saddle_two_steps, rounds, RUN), "mixing-rounds", SADDLE_ALGORITHM_HEADING, "auto",
    1.0, SADDLE_MOST_MIXING, "K",
    "Rounds of mixing per iteration. More rounds bring agents closer together, which "
    "pays on slow networks.");

bool saddle_wants_theory(const saddle_configuration *c)
{
    double kappa = c->instance->constants.lipschitz / c->instance->constants.strong_concavity;
    return c->given->rule == SADDLE_STEPS_THEORY && kappa > 0.0 && isfinite(kappa);
}

void saddle_two_steps_configure(saddle_two_steps *steps, saddle_configuration *c,
                                saddle_step_pair practical, saddle_step_pair theory)
{
    saddle_step_pair rule = saddle_wants_theory(c) ? theory : practical;
    steps->batch = c->steps.batch;
    steps->replacement = c->steps.sampling == SADDLE_WITH_REPLACEMENT;
    steps->eta_x = isnan(c->given->eta_x) ? rule.x : c->given->eta_x;
    steps->eta_y = isnan(c->given->eta_y) ? rule.y : c->given->eta_y;
    c->steps.eta_x = steps->eta_x;
    c->steps.eta_y = steps->eta_y;
}

const saddle_automatic saddle_damped_steps[] = {SADDLE_DAMPED_STEPS, {.option = NULL}};

/* Chooses these steps, but in x no longer one than is stable with gradients over `batch` samples. */
static saddle_status configure_stable(saddle_two_steps *out, saddle_configuration *c,
                                      saddle_step_pair steps, uint64_t batch, saddle_error *error)
{
    double longest = INFINITY;
    if (isnan(c->given->eta_x))
        SADDLE_TRY(saddle_longest_step(c, batch, &longest, error));
    steps.x = fmin(steps.x, longest);
    saddle_two_steps_configure(out, c, steps, steps);
    return SADDLE_OK;
}

saddle_status saddle_damped_steps_init(void *parameters, saddle_configuration *c,
                                       saddle_error *error)
{
    saddle_step_pair steps = {c->steps.nu / c->steps.tau, c->steps.eta * c->steps.alpha};
    return configure_stable(parameters, c, steps, c->steps.batch, error);
}

saddle_status saddle_damped_full_init(void *parameters, saddle_configuration *c,
                                      saddle_error *error)
{
    saddle_step_pair steps = {c->steps.nu / c->steps.tau, c->steps.eta * c->steps.alpha};
    return configure_stable(parameters, c, steps, SADDLE_ALL_SAMPLES, error);
}

const saddle_automatic saddle_full_steps[] = {SADDLE_AUTOMATIC(saddle_option_eta_x, "1/tau"),
                                              SADDLE_AUTOMATIC(saddle_option_eta_y, "alpha"),
                                              {.option = NULL}};

saddle_status saddle_full_steps_init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    saddle_step_pair steps = {1.0 / c->steps.tau, c->steps.alpha};
    saddle_two_steps_configure(parameters, c, steps, steps);
    return SADDLE_OK;
}

const saddle_automatic saddle_full_batch_steps[] = {
    SADDLE_AUTOMATIC(saddle_option_eta_x, "1/tau, or less if that is not stable"),
    SADDLE_AUTOMATIC(saddle_option_eta_y, "sqrt(eta) alpha"),
    {.option = NULL}};

saddle_status saddle_full_batch_init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    saddle_step_pair steps = {1.0 / c->steps.tau, sqrt(c->steps.eta) * c->steps.alpha};
    return configure_stable(parameters, c, steps, c->steps.batch, error);
}

void saddle_plain_fields(const saddle_problem *problem, saddle_layout *out)
{
    saddle_layout_add(out, "x", problem->x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "y", problem->y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
}

void saddle_plain_start(saddle_agent *agent, const double *x0, const double *y0)
{
    memcpy(agent->next, x0, agent->problem->x_dim * sizeof *x0);
    memcpy(agent->next + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *y0);
}

void saddle_plain_view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->now, .y = agent->now + agent->problem->x_dim};
}

void saddle_agent_request(saddle_agent *agent, saddle_batch batch, const double *point,
                          double *gradient)
{
    size_t x_dim = agent->problem->x_dim;
    agent->request = (saddle_request){.kind = SADDLE_REQUEST_GRADIENT,
                                      .batch = batch,
                                      .x = point,
                                      .y = point + x_dim,
                                      .gx = gradient,
                                      .gy = gradient + x_dim};
}

void saddle_agent_descend(const saddle_agent *agent, double step, const double *x, const double *g,
                          double *out, double *scratch)
{
    size_t count = agent->problem->x_dim;
    memcpy(out, x, count * sizeof *out);
    saddle_axpy(count, -step, g, out);
    saddle_prox_apply(agent->x_prox, step, out, scratch);
}

void saddle_agent_ascend(const saddle_agent *agent, double step, const double *y, const double *g,
                         double *out, double *scratch)
{
    size_t count = agent->problem->y_dim;
    memcpy(out, y, count * sizeof *out);
    saddle_axpy(count, step, g, out);
    saddle_set_project(agent->y_set, out, scratch);
}

void saddle_two_steps_move(const saddle_agent *agent, double factor, const double *from,
                           const double *g, double *out, double *scratch)
{
    const saddle_two_steps *steps = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    saddle_agent_descend(agent, factor * steps->eta_x, from, g, out, scratch);
    saddle_agent_ascend(agent, factor * steps->eta_y, from + x_dim, g + x_dim, out + x_dim,
                        scratch);
}

void saddle_plain_check(saddle_agent *agent)
{
    size_t x_dim = agent->problem->x_dim;
    saddle_agent_check_finite(agent, "x", x_dim, agent->next);
    saddle_agent_check_finite(agent, "y", agent->problem->y_dim, agent->next + x_dim);
}

/* out += new - old, old = new */
SADDLE_KERNEL static void add_change(size_t count, const double *restrict new, double *restrict old,
                                     double *restrict out)
{
    for (size_t k = 0; k < count; k++) {
        out[k] += new[k] - old[k];
        old[k] = new[k];
    }
}

void saddle_agent_track(const saddle_agent *agent, size_t offset, size_t count, const double *new,
                        double *old, double *out)
{
    saddle_agent_mix(agent, offset, count, out);
    add_change(count, new, old, out);
}

void saddle_agent_check_finite(saddle_agent *agent, const char *variable, size_t count,
                               const double *values)
{
    if (isfinite(saddle_norm2(count, values)) || agent->fault.kind != SADDLE_FAULT_NONE)
        return;
    size_t index = saddle_first_nonfinite(count, values);
    if (index == count)
        return;
    agent->fault = (saddle_fault){.kind = SADDLE_FAULT_NONFINITE,
                                  .agent = agent->id,
                                  .index = index,
                                  .iteration = agent->iteration + 1,
                                  .value = values[index]};
    saddle_snprintf(agent->fault.variable, sizeof agent->fault.variable, "%s", variable);
}

bool saddle_out_of_calls(const saddle_agent *agent)
{
    return agent->ifo_limit > 0 && agent->ifo >= agent->ifo_limit;
}
