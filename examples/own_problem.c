/*
 * Your own problem: fitting a line while an adversary tilts the objective.
 *
 *   min over x, max over y of  mean over all points (t, b) of
 *       1/2 (x_0 + x_1 t - b)^2 + x'y - (RHO / 2) |y|^2
 *
 * Each of four agents has 25 points from a different quarter of the line, which it does not share;
 * no agent could find the line alone. The maximum over y is |x|^2 / (2 RHO), at y = x / RHO, so the
 * solution is that of ridge regression on all points together.
 */
#include <stdio.h>
#include <stdlib.h>

#include <saddle/saddle.h>

enum { AGENTS = 4, SAMPLES = 25 };
#define RHO 10.0

/* Returns t of an agent's point j, and stores b = 1 + 2 t with an error of -0.1, 0 or 0.1. */
static double point(size_t agent, size_t j, double *b)
{
    double t = ((double)agent + (double)j / SAMPLES) / AGENTS;
    *b = 1.0 + 2.0 * t + 0.1 * ((double)(j % 3) - 1.0);
    return t;
}

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    (void)problem;
    (void)scratch;
    gx[0] = y[0];
    gx[1] = y[1];
    for (size_t k = 0; k < batch->count; k++) {
        double b;
        double t = point(agent, saddle_batch_sample(batch, k), &b);
        double residual = (x[0] + x[1] * t - b) / (double)batch->count;
        gx[0] += residual;
        gx[1] += residual * t;
    }
    gy[0] = x[0] - RHO * y[0];
    gy[1] = x[1] - RHO * y[1];
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    (void)problem;
    (void)scratch;
    double sum = 0.0;
    for (size_t j = 0; j < SAMPLES; j++) {
        double b;
        double t = point(agent, j, &b);
        sum += 0.5 * (x[0] + x[1] * t - b) * (x[0] + x[1] * t - b) / SAMPLES;
    }
    return sum + x[0] * y[0] + x[1] * y[1] - 0.5 * RHO * (y[0] * y[0] + y[1] * y[1]);
}

static const size_t samples[AGENTS] = {SAMPLES, SAMPLES, SAMPLES, SAMPLES};
static const saddle_problem problem = {.name = "tilted line",
                                       .x_dim = 2,
                                       .y_dim = 2,
                                       .agents = AGENTS,
                                       .samples = samples,
                                       .gradient = gradient,
                                       .value = value};

int main(void)
{
    saddle_plan plan;
    saddle_result *result;
    saddle_error error;
    saddle_plan_defaults(&plan, sizeof plan);
    plan.network.topology = "ring";
    plan.steps.tau = 1.0;
    plan.steps.alpha = 0.1;
    if (saddle_solve(&problem, &plan, &result, &error) != SADDLE_OK) {
        fprintf(stderr, "own_problem: %s\n", error.message);
        return EXIT_FAILURE;
    }
    double metric = result->rows[result->row_count - 1].metric;
    printf("line       b = %.9f + %.9f t\n", result->x_mean[0], result->x_mean[1]);
    printf("adversary  y = (%.9f, %.9f)\n", result->y_mean[0], result->y_mean[1]);
    printf("metric     %.3g\n", metric);
    saddle_result_free(result);
    return metric <= 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
