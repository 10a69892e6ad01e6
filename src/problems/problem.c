/* Checks that the fields of a problem are valid, and describes it to graphics cards. */
#include <saddle/problem.h>

#include "core/base.h"
#include "problems/device_problem.h"

saddle_status saddle_problem_check(const saddle_problem *problem, saddle_error *error)
{
    SADDLE_REQUIRE(error, problem);
    const char *name = saddle_shown_name(problem->name);
    if (problem->add_samples == NULL && (problem->gradient == NULL || problem->value == NULL))
        return saddle_refuse(
            error, "problem %s has no %s function; gradient and value are required, or add_samples",
            name, problem->gradient == NULL ? "gradient" : "value");
    bool card = problem->card_gradients != NULL;
    if ((card || problem->gradients != NULL) && problem->add_samples != NULL)
        return saddle_refuse(
            error, "problem %s has %s and add_samples functions; %s needs gradient", name,
            card ? "card_gradients" : "gradients", card ? "card_gradients" : "gradients");
    if (problem->x_dim == 0 || problem->y_dim == 0 || problem->agents == 0)
        return saddle_refuse(
            error,
            "problem %s has %zu agents and dimensions %zu (x), %zu (y); each must be at least 1",
            name, problem->agents, problem->x_dim, problem->y_dim);
    if (problem->x_dim > SADDLE_MOST_DOUBLES || problem->y_dim > SADDLE_MOST_DOUBLES ||
        problem->scratch > SADDLE_MOST_DOUBLES || problem->response_size > SADDLE_MOST_DOUBLES)
        return saddle_refuse(error,
                             "problem %s has dimensions %zu (x), %zu (y), scratch %zu and "
                             "response_size %zu; each can be at most %zu",
                             name, problem->x_dim, problem->y_dim, problem->scratch,
                             problem->response_size, SADDLE_MOST_DOUBLES);
    if (problem->samples == NULL)
        return saddle_refuse(error, "problem %s has no sample counts; set saddle_problem::samples",
                             name);
    for (size_t i = 0; i < problem->agents; i++)
        if (problem->samples[i] == 0 || problem->samples[i] > UINT32_MAX)
            return saddle_refuse(error,
                                 "agent %zu of problem %s has %zu samples; it needs 1 to 2^32 - 1",
                                 i, name, problem->samples[i]);
    if (problem->response_solve != NULL && problem->response_size > 0 &&
        problem->add_samples == NULL && problem->response_statistic == NULL)
        return saddle_refuse(
            error, "problem %s has a best response but no statistic function for it", name);
    if (problem->shared_size > 0 && (problem->shared == NULL || problem->share == NULL))
        return saddle_refuse(error, "problem %s has a shared_size of %zu but no %s", name,
                             problem->shared_size, problem->shared == NULL ? "shared" : "share()");
    if (problem->response_value != NULL &&
        (problem->response_solve == NULL || problem->response_size == 0))
        return saddle_refuse(error,
                             "problem %s has a response_value function but no %s; it needs a "
                             "statistic for a best response",
                             name,
                             problem->response_solve == NULL ? "response_solve" : "response_size");
    if (!(problem->tau >= 0.0) || isinf(problem->tau) || !(problem->alpha >= 0.0) ||
        isinf(problem->alpha))
        return saddle_refuse(error,
                             "problem %s has tau %g and alpha %g, which must be finite, 0 or above",
                             name, problem->tau, problem->alpha);
    if (!(problem->y_curvature >= 0.0) || isinf(problem->y_curvature))
        return saddle_refuse(error,
                             "problem %s has y_curvature %g; it must be a number, 0 or above", name,
                             problem->y_curvature);
    if (!(problem->sample_cost >= 0.0) || isinf(problem->sample_cost))
        return saddle_refuse(error,
                             "problem %s has sample_cost %g; it must be a number, 0 or above", name,
                             problem->sample_cost);
    for (size_t i = 0; problem->y_curvature > 0.0 && i < problem->agents; i++)
        if (problem->samples[i] > problem->y_dim ||
            (problem->response_size > 0 && problem->samples[i] > problem->response_size))
            return saddle_refuse(
                error,
                "problem %s has y_curvature %g, %zu entries of y and response_size %zu, but agent "
                "%zu has %zu samples; with y_curvature each sample needs its own entry",
                name, problem->y_curvature, problem->y_dim, problem->response_size, i,
                problem->samples[i]);
    return SADDLE_OK;
}

bool saddle_describe_device(const saddle_problem *problem, saddle_device_problem *out)
{
    *out = (saddle_device_problem){.answers = problem->card_gradients != NULL};
    return problem->device != NULL ? problem->device(problem, out) : out->answers;
}
