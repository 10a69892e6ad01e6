#include "algorithms/descent_ascent.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"

static saddle_status read_step(double *out, const saddle_settings *settings, const char *option,
                               double rule, const char *name, saddle_error *error)
{
    *out = saddle_settings_auto(settings, option) ? rule : saddle_settings_real(settings, option);
    if (*out > 0.0 && isfinite(*out))
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "--%s: the rule of %s needs L and mu, which are not known here; give a step",
                       option, name);
}

saddle_status saddle_two_steps_create(void **parameters, size_t size,
                                      const saddle_algorithm_inputs *inputs, const char *name,
                                      double x_rule, double y_rule, saddle_error *error)
{
    *parameters = NULL;
    saddle_two_steps *steps = saddle_alloc(1, size);
    if (steps == NULL)
        return saddle_no_memory(error, "the algorithm's parameters");
    const saddle_settings *settings = inputs->settings;
    steps->batch = inputs->steps.batch;
    steps->replacement =
        strcmp(saddle_settings_text(settings, "sampling"), "with-replacement") == 0;
    saddle_status status = read_step(&steps->eta_x, settings, "eta-x", x_rule, name, error);
    if (status == SADDLE_OK)
        status = read_step(&steps->eta_y, settings, "eta-y", y_rule, name, error);
    if (status != SADDLE_OK) {
        saddle_free(steps);
        return status;
    }
    *parameters = steps;
    return SADDLE_OK;
}

saddle_status saddle_two_steps_resolve(const void *parameters, saddle_settings *settings,
                                       saddle_error *error)
{
    const saddle_two_steps *steps = parameters;
    saddle_status status = saddle_settings_fill(settings, "eta-x", steps->eta_x, error);
    if (status == SADDLE_OK)
        status = saddle_settings_fill(settings, "eta-y", steps->eta_y, error);
    return status;
}

void saddle_descend(const saddle_agent *agent, double step, const double *x, const double *g,
                    double *out, double *scratch)
{
    size_t count = agent->problem->x_dim;
    memcpy(out, x, count * sizeof *out);
    saddle_axpy(count, -step, g, out);
    saddle_prox_apply(agent->x_prox, step, out, scratch);
}

void saddle_ascend(const saddle_agent *agent, double step, const double *y, const double *g,
                   double *out, double *scratch)
{
    size_t count = agent->problem->y_dim;
    memcpy(out, y, count * sizeof *out);
    saddle_axpy(count, step, g, out);
    saddle_set_project(agent->y_set, out, scratch);
}

void saddle_watch(saddle_agent *agent, const char *variable, size_t count, const double *values)
{
    if (isfinite(saddle_norm2(count, values)) || agent->fault.kind != SADDLE_FAULT_NONE)
        return;
    size_t index = saddle_first_nonfinite(count, values);
    if (index < count)
        agent->fault = (saddle_fault){.kind = SADDLE_FAULT_NONFINITE,
                                      .variable = variable,
                                      .agent = agent->id,
                                      .index = index,
                                      .iteration = agent->iteration + 1,
                                      .value = values[index]};
}
