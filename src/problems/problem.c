/* What holds for every problem: checks, and stand-ins for the optional functions. */
#include <saddle/problem.h>

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"

saddle_status saddle_problem_check(const saddle_problem *problem, saddle_error *error)
{
    SADDLE_REQUIRE(error, problem);
    const char *name = saddle_shown_name(problem->name);
    if (problem->gradient == NULL || problem->value == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "problem %s has no %s function; gradient and value are required", name,
                           problem->gradient == NULL ? "gradient" : "value");
    if (problem->x_dim == 0 || problem->y_dim == 0 || problem->agents == 0)
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "problem %s has %zu agents and dimensions %zu (x), %zu (y); each must be "
            "at least 1",
            name, problem->agents, problem->x_dim, problem->y_dim);
    if (problem->x_dim > SADDLE_MOST_DOUBLES || problem->y_dim > SADDLE_MOST_DOUBLES ||
        problem->scratch > SADDLE_MOST_DOUBLES || problem->response_size > SADDLE_MOST_DOUBLES)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "problem %s has dimensions %zu (x), %zu (y), scratch %zu and "
                           "response_size %zu; each can be at most %zu",
                           name, problem->x_dim, problem->y_dim, problem->scratch,
                           problem->response_size, SADDLE_MOST_DOUBLES);
    if (problem->samples == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "problem %s does not say how many samples its agents have", name);
    for (size_t i = 0; i < problem->agents; i++)
        if (problem->samples[i] == 0 || problem->samples[i] > UINT32_MAX)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "agent %zu of problem %s has %zu samples; it needs 1 to 2^32 - 1", i,
                               name, problem->samples[i]);
    if (problem->response_solve != NULL && problem->response_size > 0 &&
        problem->response_statistic == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "problem %s has a best response but no statistic function for it", name);
    if ((problem->survey != NULL || problem->response_value != NULL) &&
        (problem->response_solve == NULL || problem->response_statistic == NULL))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "problem %s has a %s function but no %s; it goes with a statistic for a "
                           "best response",
                           name, problem->survey != NULL ? "survey" : "response_value",
                           problem->response_solve == NULL ? "response_solve"
                                                           : "response_statistic");
    if (!(problem->tau >= 0.0) || isinf(problem->tau) || !(problem->alpha >= 0.0) ||
        isinf(problem->alpha))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "problem %s has tau %g and alpha %g, which must be finite, 0 or above",
                           name, problem->tau, problem->alpha);
    if (!(problem->y_curvature >= 0.0) || isinf(problem->y_curvature))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "problem %s has y_curvature %g; it must be a number, 0 or above", name,
                           problem->y_curvature);
    for (size_t i = 0; problem->y_curvature > 0.0 && i < problem->agents; i++)
        if (problem->samples[i] > problem->y_dim)
            return saddle_fail(
                error, SADDLE_BAD_INPUT,
                "problem %s has y_curvature %g and %zu entries of y, but agent %zu has "
                "%zu samples; with y_curvature each sample has an entry of its own",
                name, problem->y_curvature, problem->y_dim, i, problem->samples[i]);
    return SADDLE_OK;
}

size_t saddle_problem_scratch(const saddle_problem *problem)
{
    /* The stand-ins keep one or two gradients beside the problem's own scratch. */
    return problem->scratch + 2 * (problem->x_dim + problem->y_dim);
}

void saddle_problem_gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                             const double *x, const double *y, double *gx, double *gy,
                             double *scratch)
{
    problem->gradient(problem, agent, batch, x, y, gx, gy, scratch);
}

/* Zeros, but for the batch's entries. These difference() is to overwrite and must not add to: recursive
 * steps hand it what they have there. */
static void prepare_entries(size_t count, const saddle_batch *batch, double *dy)
{
    memset(dy, 0, count * sizeof *dy);
    for (size_t k = 0; k < batch->count; k++)
        dy[saddle_batch_sample(batch, k)] = NAN;
}

/* out += slope (y1 - y0) */
SADDLE_KERNEL static void add_linear_part(size_t count, double slope, const double *restrict y1,
                                          const double *restrict y0, double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] += slope * (y1[k] - y0[k]);
}

void saddle_problem_difference(const saddle_problem *problem, size_t agent,
                               const saddle_batch *batch, const double *x1, const double *y1,
                               const double *x0, const double *y0, double *dx, double *dy,
                               double *scratch)
{
    bool linear = problem->y_curvature > 0.0;
    if (problem->difference != NULL) {
        if (linear)
            prepare_entries(problem->y_dim, batch, dy);
        problem->difference(problem, agent, batch, x1, y1, x0, y0, dx, dy, scratch);
        if (linear)
            add_linear_part(problem->y_dim, -problem->y_curvature, y1, y0, dy);
        return;
    }
    double *gx = scratch;
    double *gy = scratch + problem->x_dim;
    double *rest = gy + problem->y_dim;
    problem->gradient(problem, agent, batch, x1, y1, dx, dy, rest);
    problem->gradient(problem, agent, batch, x0, y0, gx, gy, rest);
    saddle_axpy(problem->x_dim, -1.0, gx, dx);
    saddle_axpy(problem->y_dim, -1.0, gy, dy);
}

/* One step of Welford's recurrence over vectors: mean += (g - mean) / k; returns the growth of the
 * sum of squared deviations. */
static double welford(size_t count, double k, const double *g, double *mean)
{
    double growth = 0.0;
    for (size_t c = 0; c < count; c++) {
        double before = g[c] - mean[c];
        mean[c] += before / k;
        growth += before * (g[c] - mean[c]);
    }
    return growth;
}

double saddle_problem_gradient_variance(const saddle_problem *problem, size_t agent,
                                        const saddle_batch *batch, const double *x, const double *y,
                                        double *gx, double *gy, double *scratch)
{
    if (problem->gradient_variance != NULL)
        return problem->gradient_variance(problem, agent, batch, x, y, gx, gy, scratch);
    size_t x_dim = problem->x_dim;
    size_t y_dim = problem->y_dim;
    double *sample = scratch;
    double *mean = scratch + x_dim + y_dim;
    double *rest = mean + x_dim + y_dim;
    memset(mean, 0, (x_dim + y_dim) * sizeof *mean);
    double sum = 0.0;
    for (size_t k = 0; k < batch->count; k++) {
        uint32_t index = (uint32_t)saddle_batch_sample(batch, k);
        saddle_batch one = {.index = &index, .count = 1};
        problem->gradient(problem, agent, &one, x, y, sample, sample + x_dim, rest);
        sum += welford(x_dim + y_dim, (double)(k + 1), sample, mean);
    }
    /* The mean as gradient() itself gives it, so that both ways yield the same bits. */
    problem->gradient(problem, agent, batch, x, y, gx, gy, rest);
    return batch->count > 1 ? sum / (double)(batch->count - 1) : 0.0;
}
