/* Runs with the theory's step sizes, to compare with what is proved about them. */
#include <math.h>

#include "core/status.h"
#include "instance/plan.h"
#include "lab/theorem_check.h"

/* The accuracy when the plan names none. */
#define DEFAULT_EPSILON 0.1
/* Iterations when the plan names none: the theory's steps are short. */
#define ITERATIONS 10000
/* Trace points. */
#define ROWS 2000

saddle_status saddle_theorem_theory(const saddle_instance *instance, const saddle_plan *plan,
                                    saddle_steps *practical, saddle_theory *theory,
                                    saddle_error *error)
{
    double epsilon = isnan(plan->steps.epsilon) ? DEFAULT_EPSILON : plan->steps.epsilon;
    SADDLE_TRY(saddle_instance_steps(instance, plan, practical, error));
    return saddle_theory_evaluate(instance, practical->tau, epsilon, plan->steps.c_epsilon,
                                  plan->steps.c_gamma, theory, error);
}

void saddle_theorem_add_trace(theorem_check *v, const theorem_bound *bound,
                              const saddle_trace *trace)
{
    saddle_theorem_add(v, bound, trace->rows, saddle_trace_column(trace, "iteration"),
                       saddle_trace_column(trace, "metric"));
}

/* One algorithm with the theory's steps on one instance; a run that does not complete is not counted. */
static saddle_status measure(theorem_check *v, const saddle_instance *instance,
                             const saddle_plan *given, const saddle_theory *theory,
                             const volatile sig_atomic_t *interrupt, saddle_error *error)
{
    saddle_plan plan = *given;
    saddle_result *result = NULL;
    saddle_trace *trace = NULL;
    saddle_hooks hooks = {.interrupt = interrupt};
    if (!saddle_plan_given(given, offsetof(saddle_plan, limits.iterations)))
        plan.limits.iterations = ITERATIONS;
    plan.outputs.trace_every = (plan.limits.iterations + ROWS - 1) / ROWS;
    /* The theorems speak of the agents' own proximal points. */
    plan.outputs.metric_direction = SADDLE_DIRECTION_OWN;
    plan.steps.epsilon = theory->epsilon;
    plan.steps.rule = SADDLE_STEPS_THEORY;
    plan.algorithm.name = v->plus ? "precision+" : "precision";
    SADDLE_TRY(saddle_run(instance, &plan, &hooks, &result, error));
    saddle_status status = saddle_result_trace(result, &trace, error);
    if (status == SADDLE_OK && result->stop == SADDLE_STOP_ITERATIONS) {
        theorem_bound bound = saddle_theorem_bound_of(theory, v->plus, plan.steps.c_epsilon);
        saddle_theorem_add_trace(v, &bound, trace);
    }
    saddle_trace_free(trace);
    saddle_result_free(result);
    return status;
}

saddle_status saddle_theorem_measure(theorem_check theorem[2], const saddle_plan *given,
                                     uint64_t seed, const volatile sig_atomic_t *interrupt,
                                     saddle_error *error)
{
    saddle_plan plan = *given;
    saddle_instance *instance = NULL;
    saddle_steps practical;
    saddle_theory theory;
    plan.start.seed = seed;
    saddle_status status = saddle_instance_create(&instance, &plan, error);
    SADDLE_THEN(status, saddle_theorem_theory(instance, &plan, &practical, &theory, error));
    for (size_t k = 0; status == SADDLE_OK && k < 2 && !*interrupt; k++) {
        const char *why;
        if (saddle_theorem_applies(&theory, theorem[k].plus, &why))
            status = measure(&theorem[k], instance, &plan, &theory, interrupt, error);
    }
    saddle_instance_free(instance);
    return status;
}
