/*
 * Saddle inside a program: one experiment, two algorithms on it, and what they cost.
 *
 * The experiment (data, network, problem, start) is set up once; each run reads the algorithm and
 * its stopping rule from settings of its own. Rows arrive through a hook while a run goes on, and
 * are in the result afterwards.
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

/* The first row at or below the target, or NULL. */
static const saddle_row *first_below(const saddle_result *result, double target)
{
    for (size_t k = 0; k < result->row_count; k++)
        if (result->rows[k].metric <= target)
            return &result->rows[k];
    return NULL;
}

static saddle_status run(saddle_experiment *experiment, saddle_settings *settings,
                         const char *algorithm, saddle_error *error)
{
    saddle_status status = saddle_settings_set(settings, "algorithm", algorithm, error);
    if (status != SADDLE_OK)
        return status;
    char name[32];
    snprintf(name, sizeof name, "%s", algorithm);
    saddle_hooks hooks = {.context = name, .row = watch};
    saddle_result *result;
    status = saddle_experiment_run(experiment, settings, &hooks, &result, error);
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
    const char *const option[][2] = {
        {"problem", "quadratic"}, {"agents", "8"},        {"topology", "ring"}, {"tau", "20"},
        {"alpha", "0.2"},         {"iterations", "2000"}, {"trace-every", "50"}};
    saddle_error error = {.message = ""};
    saddle_settings *settings = NULL;
    saddle_experiment *experiment = NULL;
    saddle_status status = saddle_settings_create(&settings, &error);
    for (size_t k = 0; status == SADDLE_OK && k < sizeof option / sizeof *option; k++)
        status = saddle_settings_set(settings, option[k][0], option[k][1], &error);
    if (status == SADDLE_OK)
        status = saddle_experiment_create(&experiment, settings, NULL, &error);
    if (status == SADDLE_OK)
        status = run(experiment, settings, "precision", &error);
    if (status == SADDLE_OK)
        status = run(experiment, settings, "prox-gt-sgda", &error);
    if (status != SADDLE_OK)
        fprintf(stderr, "embed: %s\n", error.message);
    saddle_experiment_free(experiment);
    saddle_settings_free(settings);
    return status == SADDLE_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
