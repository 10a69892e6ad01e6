/*
 * Time per iteration of any instance: REPEATS runs of ITERATIONS iterations each, by the clock
 * that the trace's column `seconds` shows (measuring for the trace is left out), and by the wall
 * clock of the whole call. OPTION=VALUE are options of `saddle run`.
 *
 * Also printed: sizes from which the bytes that must move are computed, the time that setting up
 * took, and the most memory held.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { MOST_REPEATS = 1000 };

typedef struct timing {
    double iterating[MOST_REPEATS]; /* seconds per iteration */
    double whole[MOST_REPEATS];     /* wall seconds of the run, start and trace included */
} timing;

static void measure(saddle_instance *instance, size_t repeats, double iterations, timing *out)
{
    saddle_error error;
    for (size_t k = 0; k < repeats; k++) {
        saddle_result *result;
        double begin = bench_clock();
        bench_require(saddle_run(instance, NULL, NULL, &result, &error), &error);
        out->whole[k] = bench_clock() - begin;
        const saddle_row *last = &result->rows[result->row_count - 1];
        if (result->stop != SADDLE_STOP_ITERATIONS) {
            fprintf(stderr, "saddle_bench: the run ended early: %s\n",
                    saddle_stop_text(result->stop));
            exit(2);
        }
        out->iterating[k] = last->seconds / iterations;
        saddle_result_free(result);
    }
}

int bench_iterate(int count, char **argument)
{
    static timing times;
    saddle_error error;
    size_t repeats = bench_count("REPEATS", argument[0]);
    size_t iterations = bench_count("ITERATIONS", argument[1]);
    saddle_plan plan;
    saddle_instance *instance;
    bench_plan(&plan, count - 2, argument + 2);
    repeats = repeats < MOST_REPEATS ? repeats : MOST_REPEATS;
    plan.limits.iterations = iterations;
    plan.outputs.gap = SADDLE_GAP_NEVER; /* is no part of an iteration */
    if (plan.outputs.trace_every == 0)
        plan.outputs.trace_every = iterations;

    double begin = bench_clock();
    bench_require(saddle_instance_create(&instance, &plan, &error), &error);
    double setup = bench_clock() - begin;
    measure(instance, repeats, (double)iterations, &times);

    const saddle_problem *problem = instance->problem;
    printf("{\"agents\": %zu, \"edges\": %zu, \"x_dim\": %zu, \"y_dim\": %zu, ", problem->agents,
           instance->mixing->graph->edges, problem->x_dim, problem->y_dim);
    printf("\"samples\": %zu, \"iterations\": %zu, \"setup_seconds\": %.6g, ", problem->samples[0],
           iterations, setup);
    bench_print_list("seconds_per_iteration_of_repeats", repeats, times.iterating);
    printf(", \"seconds_per_iteration\": %.9g, ", bench_median(repeats, times.iterating));
    printf("\"run_seconds\": %.9g, ", bench_median(repeats, times.whole));
    /* Sorted by now: the first is the least disturbed. */
    printf("\"best_seconds_per_iteration\": %.9g, ", times.iterating[0]);
    printf("\"best_run_seconds\": %.9g, ", times.whole[0]);
    printf("\"peak_bytes\": %.0f}\n", bench_peak_bytes());
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return 0;
}
