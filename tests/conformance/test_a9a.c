/*
 * The published experiment on the real a9a: 5 agents, er:0.6, 6512 samples each, nu = eta = 0.1.
 *
 * Variance reduction must bring PRECISION and PRECISION+ far below the noise floor at which both baselines
 * stall. Needs a9a in $SADDLE_DATA; skipped without it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "instances.h"
#include "support.h"

/* The metric during a run with the budget of IFO calls that all algorithms get. */
typedef struct course {
    double first;  /* metric at the start */
    double last;   /* metric at the end */
    double lowest; /* lowest metric of the second half: the floor, if it stalls */
    double middle; /* metric halfway */
    uint64_t ifo;
} course;

static saddle_result *run(saddle_instance *instance, const saddle_plan *base, const char *algorithm)
{
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(base, NULL);
    saddle_result *result = NULL;
    assert_ok(saddle_plan_set(plan, "algorithm", algorithm, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    test_plan_free(plan);
    return result;
}

static course course_of(saddle_instance *instance, const saddle_plan *base, const char *algorithm,
                        saddle_stop stop)
{
    saddle_result *result = run(instance, base, algorithm);
    ck_assert_int_eq(result->stop, stop);
    const saddle_row *rows = result->rows;
    size_t count = result->row_count;
    course c = {.first = rows[0].metric,
                .last = rows[count - 1].metric,
                .lowest = INFINITY,
                .middle = rows[count / 2].metric,
                .ifo = rows[count - 1].cost.ifo};
    for (size_t k = count / 2; k < count; k++)
        c.lowest = fmin(c.lowest, rows[k].metric);
    saddle_fprintf(stdout,
                   "%-12s metric %.3g at the start, %.3g half-way, %.3g after %llu IFO calls\n",
                   algorithm, c.first, c.middle, c.last, (unsigned long long)c.ifo);
    saddle_result_free(result);
    return c;
}

TEST(precision_falls_below_the_floor_of_the_baselines)
{
    static const char *const assignment[] = {
        "data=a9a", "agents=5",       "topology=er:0.6",    "samples=6512",   "nu=0.1",
        "eta=0.1",  "max-ifo=900000", "iterations=1000000", "trace-every=50", NULL};
    if (saddle_test_data("a9a") == NULL) {
        saddle_test_skip("a9a is not in $SADDLE_DATA");
        return;
    }
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *instance = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    ck_assert_ptr_null(instance->mean); /* its columns stay as they are */
    const saddle_problem *problem = instance->problem;
    ck_assert_uint_eq(problem->x_dim, 123);
    ck_assert_uint_eq(problem->y_dim, 6512);
    course precision = course_of(instance, plan, "precision", SADDLE_STOP_IFO);
    course plus = course_of(instance, plan, "precision+", SADDLE_STOP_IFO);
    static const char *const baselines[] = {"prox-gt-sgda", "prox-dsgda"};
    for (int k = 0; k < 2; k++) {
        course baseline = course_of(instance, plan, baselines[k], SADDLE_STOP_STALLED);
        /* It has converged to something and stalls there. */
        assert_at_most(baseline.last, 1e-3 * baseline.first);
        assert_at_most(baseline.middle, 3.0 * baseline.lowest);
        assert_at_most(precision.last, 1e-6 * baseline.lowest);
        assert_at_most(plus.last, 1e-6 * baseline.lowest);
    }
    saddle_instance_free(instance);
    test_plan_free(plan);
}
