/* The theorems' bounds compared with artificial traces. */
#include <math.h>
#include <string.h>

#include "lab/trace_build.h"
#include "support.h"
#include "theorem_check.h"

/* The metric is 5 at the start and `level` after it; its sum may be 20. */
static void theorem(theorem_check *v, double level)
{
    const saddle_theory theory = {.precision = {.holds = true, .total = 20.0}};
    double iteration[101];
    double metric[101];
    for (size_t k = 0; k <= 100; k++) {
        iteration[k] = (double)k / 5.0;
        metric[k] = k == 0 ? 5.0 : level;
    }
    memset(v, 0, sizeof *v);
    const theorem_bound bound = saddle_theorem_bound_of(&theory, false, 1.0);
    for (int r = 0; r < 3; r++)
        saddle_theorem_add(v, &bound, "7", 101, iteration, metric);
}

TEST(bounds_that_hold_and_that_do_not)
{
    static theorem_check v;
    theorem(&v, 0.9);
    ck_assert_uint_eq(v.seeds, 3);
    double mean = (5.0 + 99.0 * 0.9) / 100.0;
    assert_near(v.point[THEOREM_POINTS - 1].iterations, 20.0, 0.0);
    assert_near(v.point[THEOREM_POINTS - 1].average[0], mean, 1e-12);
    assert_near(v.point[THEOREM_POINTS - 1].average_bound[0], 1.0, 1e-12);
    assert_near(saddle_theorem_ratio(&v), 1.0 / mean, 1e-12);
    ck_assert(!saddle_theorem_violated(&v));
    ck_assert(!saddle_theorem_is_vacuous(&v));
    theorem(&v, 0.97);
    ck_assert(saddle_theorem_violated(&v));
    /* A bound that already holds at the start shows nothing. */
    theorem(&v, 0.9);
    v.start[0] = v.start[1] = v.start[2] = 0.9;
    ck_assert(saddle_theorem_is_vacuous(&v));
}

/* A seed whose metric is not finite violates the bound and is named; the numbers are those of the others. */
TEST(metrics_that_are_not_finite)
{
    static theorem_check v;
    static const double broken[] = {NAN, INFINITY};
    const theorem_bound bound = {.total = 20.0};
    double iteration[] = {0, 1, 2};
    for (size_t k = 0; k < 2; k++) {
        double metric[] = {5.0, 0.5, broken[k]};
        theorem(&v, 0.9);
        saddle_theorem_add(&v, &bound, "12", 3, iteration, metric);
        saddle_theorem_add(&v, &bound, "13", 3, iteration, metric);
        ck_assert_uint_eq(v.seeds, 5);
        ck_assert_uint_eq(v.measured, 3);
        ck_assert(saddle_theorem_violated(&v));
        assert_near(saddle_theorem_ratio(&v), 100.0 / (5.0 + 99.0 * 0.9), 1e-12);
        ck_assert_str_eq(v.failed, "seed 12, 13");
        memset(&v, 0, sizeof v);
        saddle_theorem_add(&v, &bound, "12", 3, iteration, metric);
        ck_assert(saddle_theorem_violated(&v));
        ck_assert_str_eq(v.failed, "seed 12");
    }
}

/* A run that diverged has failed, however small the metric was at its last trace point. */
TEST(runs_that_diverged)
{
    static theorem_check v;
    const theorem_bound bound = {.total = 20.0};
    saddle_trace *trace =
        saddle_trace_create("r.csv", "0", saddle_stop_text(SADDLE_STOP_DIVERGED), 2);
    ck_assert(saddle_trace_add_entry(trace, "seed", "4"));
    for (size_t c = 0; c < 2; c++) {
        double *column = saddle_trace_add_column(trace, c == 0 ? "iteration" : "metric");
        column[0] = 0.0;
        column[1] = 1.0;
    }
    saddle_theorem_add_trace(&v, &bound, trace);
    ck_assert_str_eq(v.failed, "seed 4");
    ck_assert(saddle_theorem_violated(&v));
    saddle_trace_free(trace);
}

TEST(bounds_of_both_theorems)
{
    const saddle_theory theory = {.precision = {.total = 6.0},
                                  .precision_plus = {.total = 3.0, .level = 8.0},
                                  .epsilon = 0.1};
    const double metric[] = {3, 1, 7};
    theorem_bound bound = saddle_theorem_bound_of(&theory, false, 2.0);
    assert_near(bound.total, 6.0, 0.0);
    assert_near(bound.level, 0.0, 0.0);
    bound = saddle_theorem_bound_of(&theory, true, 2.0); /* level 8 0.1 / 2 */
    assert_near(bound.total, 3.0, 0.0);
    assert_near(bound.level, 0.4, 1e-14);
    assert_near(saddle_theorem_mean_metric(metric, 1), 3.0, 1e-15);
    assert_near(saddle_theorem_mean_metric(metric, 2), (2 * 3 + 2 * 1) / 4.0, 1e-15);
}

TEST(trivial_bounds_prove_nothing)
{
    const char *why = NULL;
    saddle_theory t = {
        .value_gap = 1.0, .precision = {.holds = true}, .precision_plus = {.holds = true}};
    ck_assert(saddle_theorem_applies(&t, true, &why));
    t.precision_plus.holds = false;
    ck_assert(saddle_theorem_applies(&t, false, &why));
    ck_assert(!saddle_theorem_applies(&t, true, &why));
    ck_assert_ptr_nonnull(strstr(why, "c-gamma"));
    t.value_gap = NAN;
    ck_assert(!saddle_theorem_applies(&t, false, &why));
    t = (saddle_theory){.value_gap = 1.0, .precision = {.holds = true}, .estimated = true};
    ck_assert(!saddle_theorem_applies(&t, false, &why));
}
