/*
 * Runs of RUNS seeds, one after another and then all at once, each in a thread of its own: seconds, by the clock that
 * the trace's column `seconds` shows, divided by the number of iterations of all runs; at once, the longest run counts.
 * OPTION=VALUE are options of `saddle run`. Fails unless all results have the same bits both times.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MOST_RUNS = 1024 };

typedef struct one {
    saddle_instance *instance;
    saddle_result *result[2]; /* alone, then beside the others */
    int pass;
    pthread_t thread;
} one;

static void *run(void *argument)
{
    one *r = argument;
    saddle_error error;
    bench_require(saddle_run(r->instance, NULL, NULL, &r->result[r->pass], &error), &error);
    return NULL;
}

static bool same(const saddle_result *a, const saddle_result *b)
{
    return memcmp(a->x, b->x, a->agents * a->x_dim * sizeof(double)) == 0 &&
           memcmp(a->y, b->y, a->agents * a->y_dim * sizeof(double)) == 0;
}

static double seconds_of(const saddle_result *result)
{
    return result->rows[result->row_count - 1].seconds;
}

/* Makes all runs one after another; returns the sum of their seconds. */
static double run_alone(one *runs, size_t count)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        run(&runs[k]);
        sum += seconds_of(runs[k].result[0]);
    }
    return sum;
}

/* Makes all runs at once; returns the seconds of the longest. */
static double run_together(one *runs, size_t count)
{
    double longest = 0.0;
    for (size_t k = 0; k < count; k++) {
        runs[k].pass = 1;
        if (pthread_create(&runs[k].thread, NULL, run, &runs[k]) != 0) {
            fprintf(stderr, "saddle_bench: cannot start thread %zu\n", k + 1);
            exit(2);
        }
    }
    for (size_t k = 0; k < count; k++) {
        pthread_join(runs[k].thread, NULL);
        longest = fmax(longest, seconds_of(runs[k].result[1]));
    }
    return longest;
}

int bench_many(int count, char **argument)
{
    static one runs[MOST_RUNS];
    saddle_error error;
    saddle_plan plan;
    size_t number = bench_count("RUNS", argument[0]);
    number = number < MOST_RUNS ? number : MOST_RUNS;
    size_t iterations = bench_count("ITERATIONS", argument[1]);
    double all = (double)number * (double)iterations;
    bool agree = true;
    bench_plan(&plan, count - 2, argument + 2);
    plan.limits.iterations = iterations;
    plan.outputs.gap = SADDLE_GAP_NEVER;
    plan.outputs.trace_every = iterations;
    for (size_t k = 0; k < number; k++, plan.start.seed++)
        bench_require(saddle_instance_create(&runs[k].instance, &plan, &error), &error);

    run(&runs[0]); /* the first use of a card takes longer */
    saddle_result_free(runs[0].result[0]);
    double alone = run_alone(runs, number);
    double together = run_together(runs, number);
    for (size_t k = 0; k < number; k++) {
        agree = agree && same(runs[k].result[0], runs[k].result[1]);
        saddle_result_free(runs[k].result[0]);
        saddle_result_free(runs[k].result[1]);
        saddle_instance_free(runs[k].instance);
    }
    if (!agree) {
        fprintf(stderr, "saddle_bench: runs at once differ from runs one after another\n");
        exit(1);
    }
    printf("{\"runs\": %zu, \"iterations\": %zu, \"alone_seconds_per_iteration\": %.9g, "
           "\"seconds_per_iteration\": %.9g}\n",
           number, iterations, alone / all, together / all);
    saddle_plan_free(&plan);
    return 0;
}
