/* Evaluates what the theory guarantees from the starting point of an instance. */
#include <saddle/lab.h>

#include "core/float_mode.h"
#include "core/vector.h"
#include "instance/instance.h"
#include "run/result.h"

/* The quantities at the start that the guarantees multiply. */
typedef struct start {
    saddle_row row;
    double trackers; /* of full gradients: sum_i |grad F_i - mean|^2 */
    double variance; /* sum_i of the variance of one sample's gradient */
} start;

/* Computes the trackers and the variance; x and y are those of all agents. */
static saddle_status measure_gradients(const saddle_problem *problem, const double *x,
                                       const double *y, start *out, saddle_error *error)
{
    size_t size = problem->x_dim + problem->y_dim;
    double m = (double)problem->agents;
    SADDLE_OWNED double *mean = saddle_alloc_doubles(2 * size + saddle_problem_scratch(problem));
    SADDLE_TRY(saddle_check_memory(mean, "the theory", error));
    double *gradient = mean + size;
    double *scratch = gradient + size;
    double sum = 0.0;
    memset(mean, 0, size * sizeof *mean);
    out->variance = 0.0;
    for (size_t i = 0; i < problem->agents; i++) {
        saddle_batch all = {.count = problem->samples[i]};
        out->variance += saddle_problem_gradient_variance(problem, i, &all, x + i * problem->x_dim,
                                                          y + i * problem->y_dim, gradient,
                                                          gradient + problem->x_dim, scratch);
        sum += saddle_norm2(size, gradient);
        saddle_axpy(size, 1.0 / m, gradient, mean);
    }
    out->trackers = fmax(0.0, sum - m * saddle_norm2(size, mean));
    return SADDLE_OK;
}

/* Measures the starting point by a run of no iterations, which writes nothing. */
static saddle_status measure_start(const saddle_instance *instance, const saddle_theory *t,
                                   start *out, saddle_error *error)
{
    saddle_plan plan;
    SADDLE_OWNED_BY(saddle_result_free_at) saddle_result *result = NULL;
    saddle_plan_defaults(&plan, sizeof plan);
    plan.steps.nu = t->nu;
    plan.steps.eta = t->eta;
    plan.steps.tau = t->tau;
    plan.steps.alpha = t->alpha;
    plan.limits.iterations = 0;
    plan.outputs.metric_direction = SADDLE_DIRECTION_OWN;
    plan.engine.threads = instance->plan->engine.threads;
    SADDLE_TRY(saddle_run(instance, &plan, NULL, &result, error));
    out->row = result->rows[0];
    return measure_gradients(instance->problem, result->x, result->y, out, error);
}

/* Computes the bound at the start, and the iterations after which it is at most epsilon^2.
 * `refresh_error` is the squared error of the first refreshes; the level stays for any number of
 * iterations. */
static void conclude(saddle_guarantee *g, const saddle_theory *t, const start *s,
                     double refresh_error, double c_epsilon)
{
    if (!g->holds)
        return;
    double target = t->epsilon * t->epsilon;
    double level = g->level * t->epsilon / c_epsilon;
    /* The errors of the first refreshes are also part of the first trackers. */
    g->total = g->value * t->value_gap + g->y_gap * s->row.y_gap +
               g->trackers * (s->trackers + refresh_error) + g->refresh * refresh_error;
    if (level < target)
        g->iterations = ceil(g->total / (target - level));
}

static saddle_status check_positive(const char *name, double value, saddle_error *error)
{
    return value > 0.0 && isfinite(value)
               ? SADDLE_OK
               : saddle_refuse(error, "--%s: %g is not a finite number above 0", name, value);
}

saddle_status saddle_theory_evaluate(const saddle_instance *instance, double tau, double epsilon,
                                     double c_epsilon, double c_gamma, saddle_theory *out,
                                     saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, instance, out);
    SADDLE_TRY(check_positive("tau", tau, error));
    SADDLE_TRY(check_positive("epsilon", epsilon, error));
    SADDLE_TRY(check_positive("c-epsilon", c_epsilon, error));
    SADDLE_TRY(check_positive("c-gamma", c_gamma, error));
    const saddle_constants *constants = &instance->constants;
    saddle_status status = saddle_theory_bounds(instance, tau, c_gamma, out, error);
    out->epsilon = epsilon;
    if (status != SADDLE_OK || !constants->has_primal_bound || constants->estimated)
        return status;
    start s;
    SADDLE_TRY(measure_start(instance, out, &s, error));
    out->value_gap = s.row.primal - constants->primal_bound;
    out->start_metric = s.row.metric;
    conclude(&out->precision, out, &s, 0.0, c_epsilon);
    conclude(&out->precision_plus, out, &s, s.variance / (double)out->batch, c_epsilon);
    return SADDLE_OK;
}
