/*
 * Saddle in a program: two algorithms on one instance, and the cost of each.
 *
 * The instance (data, network, problem, start) is made once; each run takes its algorithm, steps
 * and limits from the plan. A hook receives the rows during a run; afterwards they are in the
 * result.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <saddle/saddle.h>

#define TARGET 1e-4

/* Called at every trace point. */
static void watch(void *context, const saddle_row *row)
{
    const char *algorithm = context;
    if (row->iteration % 500 == 0)
        printf("  %-14s iteration %5" PRIu64 "   metric %.2e\n", algorithm, row->iteration,
               row->metric);
}

/* Returns the first row at or below the target, or NULL. */
static const saddle_row *first_below(const saddle_result *result, double target)
{
    for (size_t k = 0; k < result->row_count; k++)
        if (result->rows[k].metric <= target)
            return &result->rows[k];
    return NULL;
}

static saddle_status run(const saddle_instance *instance, saddle_plan *plan, char *algorithm,
                         saddle_error *error)
{
    saddle_hooks hooks = {.context = algorithm, .row = watch};
    saddle_result *result;
    plan->algorithm.name = algorithm;
    saddle_status status = saddle_run(instance, plan, &hooks, &result, error);
    if (status != SADDLE_OK)
        return status;
    const saddle_row *reached = first_below(result, TARGET);
    printf("%s: %s; ", algorithm, saddle_stop_text(result->stop));
    if (reached != NULL)
        printf("metric %g after %" PRIu64 " IFO calls and %" PRIu64 " rounds\n", TARGET,
               reached->cost.ifo, reached->cost.rounds);
    else
        printf("metric %g never reached\n", TARGET);
    saddle_result_free(result);
    return SADDLE_OK;
}

int main(void)
{
    char precision[] = "precision";
    char tracking[] = "prox-gt-sgda";
    saddle_error error = {.message = ""};
    saddle_instance *instance = NULL;
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    plan.problem.name = "quadratic";
    plan.network.agents = 8;
    plan.network.topology = "ring";
    plan.steps.tau = 20.0;
    plan.steps.alpha = 0.2;
    plan.limits.iterations = 2000;
    plan.outputs.trace_every = 50;
    saddle_status status = saddle_instance_create(&instance, &plan, &error);
    if (status == SADDLE_OK)
        status = run(instance, &plan, precision, &error);
    if (status == SADDLE_OK)
        status = run(instance, &plan, tracking, &error);
    if (status != SADDLE_OK)
        fprintf(stderr, "embed: %s\n", error.message);
    saddle_instance_free(instance);
    return status == SADDLE_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
