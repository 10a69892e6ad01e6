#include "theorem_check.h"

#include "instance/instance.h"
#include "lab/trace_build.h"
#include "run/result.h"

bool saddle_theorem_applies(const saddle_theory *theory, bool plus, const char **why)
{
    const saddle_guarantee *g = plus ? &theory->precision_plus : &theory->precision;
    if (theory->estimated)
        *why = "L or mu is an estimate, not a bound";
    else if (isnan(theory->value_gap))
        *why = "no lower bound of Q is known for this problem and these sets";
    else if (!g->holds)
        *why = "--c-gamma is too small for these steps; raise it";
    else
        return true;
    return false;
}

theorem_bound saddle_theorem_bound_of(const saddle_theory *theory, bool plus, double c_epsilon)
{
    const saddle_guarantee *g = plus ? &theory->precision_plus : &theory->precision;
    return (theorem_bound){.total = g->total, .level = g->level * theory->epsilon / c_epsilon};
}

/* The bound on the mean metric of the first T iterations. */
static double mean_bound_at(const theorem_bound *bound, double T)
{
    return bound->total / T + bound->level;
}

double saddle_theorem_mean_metric(const double *metric, size_t k)
{
    double sum = 0.0;
    for (size_t j = 0; j < k; j++)
        sum += metric[j];
    return sum / (double)k;
}

/* Adds a run whose metric is not finite. */
static void add_failed(theorem_check *v, const char *seed)
{
    size_t used = strlen(v->failed);
    saddle_snprintf(v->failed + used, sizeof v->failed - used, used == 0 ? "seed %s" : ", %s",
                    seed);
    v->seeds++;
}

void saddle_theorem_add(theorem_check *v, const theorem_bound *bound, const char *seed, size_t rows,
                        const double *iteration, const double *metric)
{
    if (v->seeds == THEOREM_MOST_SEEDS || rows < 2)
        return;
    if (!isfinite(saddle_theorem_mean_metric(metric, rows))) {
        add_failed(v, seed);
        return;
    }
    size_t row = rows - 1;
    for (size_t p = THEOREM_POINTS; p-- > 0; row /= 10) {
        theorem_point *point = &v->point[p];
        size_t k = row > 0 ? row : 1;
        double average = saddle_theorem_mean_metric(metric, k);
        double allowed = mean_bound_at(bound, iteration[k]);
        point->iterations = iteration[k];
        point->average[v->measured] = average;
        point->average_bound[v->measured] = allowed;
        point->average_excess[v->measured] = average / allowed - 1.0;
    }
    v->start[v->measured++] = metric[0];
    v->seeds++;
}

void saddle_theorem_add_trace(theorem_check *v, const theorem_bound *bound,
                              const saddle_trace *trace)
{
    const char *seed = saddle_trace_setting(trace, "seed");
    if (trace->end != NULL && strcmp(trace->end, saddle_stop_text(SADDLE_STOP_DIVERGED)) == 0)
        add_failed(v, seed);
    else
        saddle_theorem_add(v, bound, seed, trace->rows, saddle_trace_column(trace, "iteration"),
                           saddle_trace_column(trace, "metric"));
}

/* Whether the mean of numbers that should be at most 0 is positive; NaN counts as positive. */
static bool positive(const double *excess, size_t count)
{
    statistics_mean s = saddle_statistics_summarize(excess, count, THEOREM_CONFIDENCE);
    if (count < 2)
        return !(s.mean <= 0.0);
    return !(s.low <= 0.0);
}

bool saddle_theorem_violated(const theorem_check *v)
{
    if (v->failed[0] != '\0')
        return true;
    for (size_t p = 0; p < THEOREM_POINTS; p++)
        if (positive(v->point[p].average_excess, v->measured))
            return true;
    return false;
}

static double mean_of(const double *value, size_t count)
{
    return saddle_statistics_summarize(value, count, THEOREM_CONFIDENCE).mean;
}

double saddle_theorem_ratio(const theorem_check *v)
{
    const theorem_point *last = &v->point[THEOREM_POINTS - 1];
    return mean_of(last->average_bound, v->measured) / mean_of(last->average, v->measured);
}

bool saddle_theorem_is_vacuous(const theorem_check *v)
{
    const theorem_point *last = &v->point[THEOREM_POINTS - 1];
    return !(mean_of(last->average_bound, v->measured) < mean_of(v->start, v->measured));
}

/* ---- runs with the theory's step sizes ------------------------------------------------------- */

/* The default accuracy. */
#define DEFAULT_EPSILON 0.1
/* The default number of iterations, because the theory's steps are short. */
#define ITERATIONS 10000
/* Trace points. */
#define ROWS 2000

saddle_status saddle_theorem_theory(const saddle_instance *instance, const saddle_plan *plan,
                                    saddle_steps *practical, saddle_theory *theory,
                                    saddle_error *error)
{
    double epsilon = isnan(plan->steps.epsilon) ? DEFAULT_EPSILON : plan->steps.epsilon;
    SADDLE_TRY(saddle_instance_steps(instance, plan, practical, error));
    return saddle_theory_evaluate(instance, practical->tau, epsilon, practical->c_epsilon,
                                  practical->c_gamma, theory, error);
}

/* The largest variance of one sample's gradient over the agents, at the end of a run. */
static saddle_status largest_variance(const saddle_problem *problem, const saddle_result *result,
                                      double *out, saddle_error *error)
{
    size_t both = problem->x_dim + problem->y_dim;
    SADDLE_OWNED double *gradient = saddle_alloc_doubles(both + saddle_problem_scratch(problem));
    SADDLE_TRY(saddle_check_memory(gradient, "a variance", error));
    *out = 0.0;
    for (size_t i = 0; i < problem->agents; i++) {
        saddle_batch all = {.count = problem->samples[i]};
        double variance = saddle_problem_gradient_variance(
            problem, i, &all, result->x + i * problem->x_dim, result->y + i * problem->y_dim,
            gradient, gradient + problem->x_dim, gradient + both);
        if (!(variance <= *out))
            *out = variance;
    }
    return SADDLE_OK;
}

/* Gives refreshes of PRECISION+ the exact gamma and a sigma^2, as inequality (8) of
 * docs/theory.md assumes. */
static saddle_status fix_noise(saddle_plan *plan, const saddle_instance *instance, double *sigma2,
                               saddle_error *error)
{
    saddle_plan none = *plan;
    SADDLE_OWNED_BY(saddle_result_free_at) saddle_result *start = NULL;
    char text[32];
    none.limits.iterations = 0;
    SADDLE_TRY(saddle_run(instance, &none, NULL, &start, error));
    SADDLE_TRY(largest_variance(instance->problem, start, sigma2, error));
    *sigma2 *= THEOREM_MARGIN;
    saddle_snprintf(text, sizeof text, "%.17g", *sigma2);
    SADDLE_TRY(saddle_plan_set(plan, "gamma", "exact", error));
    /* Without variance sigma^2 is not needed. */
    return *sigma2 > 0.0 ? saddle_plan_set(plan, "sigma2", text, error) : SADDLE_OK;
}

/* Runs a plan and compares the run with its theorem; an interrupted run is not counted. */
static saddle_status measure_run(theorem_check *v, const saddle_instance *instance,
                                 const saddle_plan *plan, const theorem_bound *bound, double sigma2,
                                 const volatile sig_atomic_t *interrupt, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_result_free_at) saddle_result *result = NULL;
    SADDLE_OWNED_BY(saddle_trace_free_at) saddle_trace *trace = NULL;
    saddle_hooks hooks = {.interrupt = interrupt};
    double variance = 0.0;
    SADDLE_TRY(saddle_run(instance, plan, &hooks, &result, error));
    SADDLE_TRY(saddle_result_trace(result, &trace, error));
    if (result->stop != SADDLE_STOP_INTERRUPTED)
        saddle_theorem_add_trace(v, bound, trace);
    if (sigma2 > 0.0 && result->stop == SADDLE_STOP_ITERATIONS)
        SADDLE_TRY(largest_variance(instance->problem, result, &variance, error));
    double share = sigma2 > 0.0 ? variance / sigma2 : 0.0;
    v->variance_share = isnan(share) ? (double)INFINITY : fmax(v->variance_share, share);
    return SADDLE_OK;
}

/* Measures one algorithm with the theory's steps on one instance. */
static saddle_status measure(theorem_check *v, const saddle_instance *instance,
                             const saddle_plan *given, const saddle_theory *theory,
                             double c_epsilon, const volatile sig_atomic_t *interrupt,
                             saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
    double sigma2 = 0.0;
    theorem_bound bound = saddle_theorem_bound_of(theory, v->plus, c_epsilon);
    SADDLE_TRY(saddle_plan_copy(&plan, given, error));
    if (!SADDLE_GIVEN(given, limits.iterations))
        plan.limits.iterations = ITERATIONS;
    plan.outputs.trace_every = (plan.limits.iterations + ROWS - 1) / ROWS;
    /* The theorems are about the agents' own proximal points. */
    plan.outputs.metric_direction = SADDLE_DIRECTION_OWN;
    plan.steps.epsilon = theory->epsilon;
    plan.steps.rule = SADDLE_STEPS_THEORY;
    plan.algorithm.name = v->plus ? "precision+" : "precision";
    if (v->plus)
        SADDLE_TRY(fix_noise(&plan, instance, &sigma2, error));
    return measure_run(v, instance, &plan, &bound, sigma2, interrupt, error);
}

saddle_status saddle_theorem_measure(theorem_check theorem[2], const saddle_plan *given,
                                     uint64_t seed, const volatile sig_atomic_t *interrupt,
                                     saddle_error *error)
{
    saddle_plan plan = *given;
    SADDLE_OWNED_BY(saddle_instance_free_at) saddle_instance *instance = NULL;
    saddle_steps practical;
    saddle_theory theory;
    plan.start.seed = seed;
    SADDLE_TRY(saddle_instance_create(&instance, &plan, error));
    SADDLE_TRY(saddle_theorem_theory(instance, &plan, &practical, &theory, error));
    for (size_t k = 0; k < 2 && !*interrupt; k++) {
        if (saddle_theorem_applies(&theory, theorem[k].plus, &theorem[k].why))
            SADDLE_TRY(measure(&theorem[k], instance, &plan, &theory, practical.c_epsilon,
                               interrupt, error));
        else
            theorem[k].unguaranteed++;
    }
    return SADDLE_OK;
}
