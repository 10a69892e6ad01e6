/*
 * The search for step sizes and other options: candidates, halving, budget, log and resuming, each
 * recomputed from the evaluations that a search returns, or by runs made here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saddle/lab.h>

#include "core/print.h"
#include "core/rng.h"
#include "instances.h"
#include "run/run.h"
#include "support.h"

static saddle_error error;

/* A small problem without constraints, and one where long steps would leave X and Y. */
static const char *const plain[] = {"problem=quadratic", "agents=4", "samples=12",  "x-dim=4",
                                    "y-dim=3",           "mu=1",     "lipschitz=5", NULL};
static const char *const balls[] = {"problem=quadratic", "agents=4",          "samples=9",
                                    "x-dim=5",           "y-dim=5",           "x-set=l2-ball:2",
                                    "y-set=l1-ball:1.5", "topology=complete", NULL};
/* Samples of `plain`. */
#define SAMPLES (UINT64_C(4) * 12)
/* The most IFO calls per iteration of an algorithm that states no bound. */
#define MOST (2 * SAMPLES)

typedef struct bench {
    saddle_plan *plan;
    saddle_instance *instance;
} bench;

static void bench_open(bench *out, const char *const *base, const char *algorithm)
{
    out->plan = test_plan(NULL, base);
    assert_ok(saddle_plan_set(out->plan, "algorithm", algorithm, &error), error);
    assert_ok(saddle_instance_create(&out->instance, out->plan, &error), error);
}

static void bench_close(bench *b)
{
    saddle_instance_free(b->instance);
    test_plan_free(b->plan);
}

static saddle_tuning *tune(const bench *b, const saddle_tune_inputs *inputs,
                           const saddle_tune_hooks *hooks)
{
    saddle_tuning *tuning = NULL;
    assert_ok(saddle_tune(&tuning, b->instance, b->plan, inputs, hooks, &error), error);
    ck_assert_ptr_nonnull(tuning);
    return tuning;
}

/* Asserts that two searches have the same evaluations and the same result. */
static void assert_same(const saddle_tuning *a, const saddle_tuning *b)
{
    ck_assert_uint_eq(a->trial_count, b->trial_count);
    ck_assert_uint_eq(a->candidates, b->candidates);
    for (size_t k = 0; k < a->trial_count; k++) {
        const saddle_trial *left = &a->trials[k];
        const saddle_trial *right = &b->trials[k];
        ck_assert_uint_eq(left->candidate, right->candidate);
        ck_assert_uint_eq(left->allotment, right->allotment);
        ck_assert_uint_eq(left->ifo, right->ifo);
        ck_assert_uint_eq(left->iterations, right->iterations);
        ck_assert_int_eq(left->diverged, right->diverged);
        ck_assert(left->value == right->value);
    }
    ck_assert_uint_eq(a->spent, b->spent);
    for (size_t k = 0; k < a->candidates; k++) {
        ck_assert_uint_eq(a->ranking[k], b->ranking[k]);
        for (size_t j = 0; j < a->option_count; j++)
            ck_assert_str_eq(saddle_tuning_value(a, k, j), saddle_tuning_value(b, k, j));
    }
}

/* ---- the schedule -------------------------------------------------------------------------- */

/* Returns the index of a rung's first evaluation. */
static size_t rung_start(const saddle_tuning *t, size_t rung)
{
    size_t start = 0;
    for (size_t r = 0; r < rung; r++)
        start += t->field[r];
    return start;
}

/* Returns how many of a rung's evaluations are better than a given one. */
static size_t place_in_rung(const saddle_tuning *t, size_t rung, const saddle_trial *one)
{
    size_t better = 0;
    const saddle_trial *trial = t->trials + rung_start(t, rung);
    for (size_t k = 0; k < t->field[rung]; k++)
        better += trial[k].value < one->value ||
                  (trial[k].value == one->value && trial[k].candidate < one->candidate);
    return better;
}

static const saddle_trial *find_trial(const saddle_tuning *t, size_t rung, size_t candidate)
{
    for (size_t k = 0; k < t->trial_count; k++)
        if (t->trials[k].rung == rung && t->trials[k].candidate == candidate)
            return &t->trials[k];
    return NULL;
}

/* Checks which candidates are in a rung: the best of the one before, and the default. */
static void check_survivors(const saddle_tuning *t, size_t rung)
{
    for (size_t c = 0; c < t->candidates; c++) {
        const saddle_trial *before = find_trial(t, rung - 1, c);
        bool goes_on = find_trial(t, rung, c) != NULL;
        if (before == NULL) {
            ck_assert(!goes_on);
            continue;
        }
        size_t place = place_in_rung(t, rung - 1, before);
        const saddle_trial *fallback = find_trial(t, rung - 1, 0);
        bool default_needs_room = place_in_rung(t, rung - 1, fallback) >= t->field[rung];
        size_t seats = t->field[rung] - (default_needs_room ? 1 : 0);
        ck_assert_msg(goes_on == (c == 0 || place < seats), "candidate %zu in rung %zu", c, rung);
    }
}

static void check_schedule(const saddle_tuning *t)
{
    ck_assert(t->finished);
    ck_assert_uint_eq(t->field[0], t->candidates);
    ck_assert_uint_eq(t->field[t->rungs - 1], 2);
    ck_assert_uint_eq(t->trial_count, rung_start(t, t->rungs));
    for (size_t r = 0; r < t->rungs; r++) {
        const saddle_trial *trial = t->trials + rung_start(t, r);
        for (size_t k = 0; k < t->field[r]; k++) {
            ck_assert_uint_eq(trial[k].rung, r);
            ck_assert_uint_eq(trial[k].allotment, trial[0].allotment);
            if (k > 0)
                ck_assert_uint_gt(trial[k].candidate, trial[k - 1].candidate);
        }
        if (r > 0) {
            ck_assert_uint_eq(t->field[r], (t->field[r - 1] + 1) / 2);
            ck_assert_uint_ge(trial[0].allotment, 2 * trial[-1].allotment);
            check_survivors(t, r);
        }
    }
}

TEST(rungs_halve_and_double)
{
    bench b;
    bench_open(&b, plain, "gda");
    static const size_t count[] = {2, 3, 5, 8, 13};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
        saddle_tune_inputs inputs = {.budget = 60000, .candidates = count[k]};
        saddle_tuning *t = tune(&b, &inputs, NULL);
        ck_assert_uint_eq(t->candidates, count[k]);
        check_schedule(t);
        saddle_tuning_free(t);
    }
    bench_close(&b);
}

TEST(every_algorithm_halves)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    for (size_t a = 0; a < count; a++) {
        bench b;
        bench_open(&b, plain, list[a]->name);
        saddle_tune_inputs inputs = {.candidates = 8};
        saddle_tuning *t = tune(&b, &inputs, NULL);
        check_schedule(t);
        ck_assert_uint_eq(t->budget, SADDLE_TUNE_PASSES * SAMPLES);
        uint64_t sum = 0;
        for (size_t j = 0; j < t->trial_count; j++) {
            ck_assert_uint_le(t->trials[j].ifo, t->trials[j].allotment);
            sum += t->trials[j].ifo;
        }
        ck_assert_uint_eq(sum, t->spent);
        ck_assert_uint_le(sum, t->budget);
        saddle_tuning_free(t);
        bench_close(&b);
    }
}

/* ---- the budget ---------------------------------------------------------------------------- */

/* Repeats an evaluation's run, to the IFO call, and compares. */
/* Returns what a run attains for certain: Q at the mean, and what y and the agents lack. */
static double attained(const saddle_result *result)
{
    const saddle_row *row = &result->rows[result->row_count - 1];
    ck_assert(result->gap.y == fmax(row->primal - row->loss, 0.0));
    return row->primal + result->gap.y + result->gap.agents;
}

static void check_trial(const bench *b, const saddle_tuning *t, const saddle_trial *trial)
{
    saddle_plan *plan = test_plan(b->plan, NULL);
    saddle_result *result = NULL;
    char text[32];
    for (size_t j = 0; j < t->option_count; j++)
        assert_ok(saddle_plan_set(plan, t->option[j]->name,
                                  saddle_tuning_value(t, trial->candidate, j), &error),
                  error);
    saddle_snprintf(text, sizeof text, "%" PRIu64, trial->ifo);
    assert_ok(saddle_plan_set(plan, "max-ifo", text, &error), error);
    assert_ok(saddle_plan_set(plan, "iterations", "1000000", &error), error);
    assert_ok(saddle_plan_set(plan, "trace-every", "1000000", &error), error);
    plan->outputs.metric_tau = t->plan.outputs.metric_tau;
    plan->outputs.gap_parts = true;
    assert_ok(saddle_run(b->instance, plan, NULL, &result, &error), error);
    /* A run by itself is watched, and may end earlier if it diverges. */
    if (trial->diverged)
        ck_assert_uint_le(result->cost.ifo, trial->ifo);
    else
        ck_assert_uint_eq(result->cost.ifo, trial->ifo);
    /* Diverged, or diverging: worse than at the start, with ten times its metric. */
    const saddle_row *start = &result->rows[0];
    const saddle_row *end = &result->rows[result->row_count - 1];
    bool lost = result->stop == SADDLE_STOP_DIVERGED ||
                (end->metric > 10.0 * start->metric &&
                 attained(result) > start->primal + fmax(start->primal - start->loss, 0.0));
    ck_assert_int_eq(lost, trial->diverged);
    if (!trial->diverged) {
        const saddle_row *row = &result->rows[result->row_count - 1];
        ck_assert_uint_eq(row->iteration, trial->iterations);
        ck_assert(attained(result) == trial->value);
    }
    saddle_result_free(result);
    test_plan_free(plan);
}

TEST(budget_holds_to_the_call)
{
    static const char *const name[] = {"precision", "precision+", "dposg", "gda", "sgda"};
    static const uint64_t budget[] = {20000, 33333, 70001};
    for (size_t a = 0; a < sizeof name / sizeof *name; a++)
        for (size_t k = 0; k < sizeof budget / sizeof *budget; k++) {
            bench b;
            bench_open(&b, plain, name[a]);
            saddle_tune_inputs inputs = {.budget = budget[k]};
            saddle_tuning *t = tune(&b, &inputs, NULL);
            uint64_t sum = 0;
            for (size_t j = 0; j < t->trial_count; j++) {
                check_trial(&b, t, &t->trials[j]);
                ck_assert_uint_le(t->trials[j].ifo, t->trials[j].allotment);
                sum += t->trials[j].ifo;
            }
            ck_assert_uint_eq(sum, t->spent);
            ck_assert_uint_le(sum, budget[k]);
            /* The budget is also used up: what is left would not pay for an iteration of each finalist. */
            ck_assert_uint_gt(sum + 4 * MOST, budget[k]);
            saddle_tuning_free(t);
            bench_close(&b);
        }
}

TEST(a_budget_for_few_candidates_recommends_one)
{
    bench b;
    bench_open(&b, plain, "cspsg");
    /* Five iterations of MOST calls, 16 + 2 8 + 4 4 + 8 2 times. */
    const uint64_t enough = 5 * MOST * 64;
    saddle_tune_inputs inputs = {.budget = enough - 1};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->least_allotment, 5 * MOST);
    ck_assert_uint_lt(t->affordable, SADDLE_TUNE_FEW);
    ck_assert_uint_eq(t->candidates, t->affordable);
    ck_assert_uint_eq(t->recommended_budget, enough);
    saddle_tuning_free(t);
    inputs.budget = enough;
    t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->affordable, SADDLE_TUNE_FEW);
    ck_assert_uint_eq(t->recommended_budget, 0);
    saddle_tuning_free(t);
    /* Not if the user gives the number of candidates, nor if the grid has no more. */
    inputs = (saddle_tune_inputs){.budget = enough - 1, .candidates = 3};
    t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->recommended_budget, 0);
    saddle_tuning_free(t);
    inputs = (saddle_tune_inputs){.budget = enough - 1, .hold = "all", .search = "eta-x=0.1,0.2"};
    t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->candidates, 3);
    ck_assert_uint_eq(t->recommended_budget, 0);
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(least_budget_is_named_and_suffices)
{
    bench b;
    bench_open(&b, plain, "gda");
    saddle_tuning *t = NULL;
    saddle_tune_inputs inputs = {.budget = 100, .candidates = 4};
    memset(&error, 0, sizeof error);
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "100 IFO calls is too small for 4 candidates of gda");
    ck_assert_ptr_null(t);
    const char *number = strrchr(error.message, ' ');
    ck_assert(saddle_parse_integer(number + 1, &inputs.budget));
    inputs.budget--;
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "too small");
    inputs.budget++;
    t = tune(&b, &inputs, NULL);
    check_schedule(t);
    saddle_tuning_free(t);
    bench_close(&b);
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* Returns the k of value = base 10^(k/2), to three digits. */
static int half_decades(double value, double base)
{
    double k = 2.0 * log10(value / base);
    ck_assert_msg(fabs(k - round(k)) < 0.005, "%g is no half decade from %g", value, base);
    return (int)round(k);
}

static double value_of(const saddle_tuning *t, size_t candidate, const char *name)
{
    double value = (double)NAN;
    for (size_t j = 0; j < t->option_count; j++)
        if (strcmp(t->option[j]->name, name) == 0)
            ck_assert(saddle_parse_real(saddle_tuning_value(t, candidate, j), &value));
    ck_assert(isfinite(value));
    return value;
}

TEST(candidates_are_a_log_grid)
{
    bench b;
    bench_open(&b, plain, "cspsg");
    saddle_tune_inputs inputs = {.budget = 10000000, .candidates = 1000};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->option_count, 2);
    ck_assert_uint_eq(t->candidates, 81); /* 9 x 9, each once */
    bool seen[9][9] = {{false}};
    for (size_t c = 0; c < t->candidates; c++) {
        int x = half_decades(value_of(t, c, "eta-x"), value_of(t, 0, "eta-x"));
        int y = half_decades(value_of(t, c, "eta-y"), value_of(t, 0, "eta-y"));
        ck_assert(x >= -4 && x <= 4 && y >= -4 && y <= 4);
        ck_assert(!seen[x + 4][y + 4]);
        seen[x + 4][y + 4] = true;
        ck_assert(c > 0 || (x == 0 && y == 0));
    }
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(the_grid_of_a_worst_case_rule_lies_around_practical_steps)
{
    /* GDA's rule, 1 / (16 (kappa + 1)^2 L), is far below nu / tau here; 1 / L is near eta alpha. */
    bench b;
    bench_open(&b, plain, "gda");
    saddle_tune_inputs inputs = {.budget = 10000000, .candidates = 1000};
    saddle_steps steps;
    assert_ok(saddle_instance_steps(b.instance, b.plan, &steps, &error), error);
    assert_ok(saddle_plan_set(b.plan, "steps", "theory", &error), error);
    saddle_tuning *t = tune(&b, &inputs, NULL);
    double rule = value_of(t, 0, "eta-x");
    double practical = steps.nu / steps.tau;
    ck_assert_msg(practical > 10.0 * rule, "practical %g, rule %g", practical, rule);
    ck_assert_uint_eq(t->candidates, 82); /* the default, and 9 x 9 around the centre */
    for (size_t c = 1; c < t->candidates; c++) {
        int k = half_decades(value_of(t, c, "eta-x"), practical);
        ck_assert(-4 <= k && k <= 4);
    }
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(steps_that_are_not_read_do_not_move_the_grid)
{
    /* gda uses none of these; its grid would follow nu / tau and eta alpha. */
    static const char *const unread[][2] = {
        {"nu", "1e-6"}, {"tau", "1e6"}, {"eta", "1e-6"}, {"alpha", "1e-6"}};
    bench b;
    bench_open(&b, plain, "gda");
    saddle_tune_inputs inputs = {.budget = 50000, .candidates = 6};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    for (size_t u = 0; u < sizeof unread / sizeof *unread; u++) {
        bench other;
        bench_open(&other, plain, "gda");
        assert_ok(saddle_plan_set(other.plan, unread[u][0], unread[u][1], &error), error);
        saddle_tuning *same = tune(&other, &inputs, NULL);
        for (size_t c = 0; c < t->candidates; c++)
            for (size_t j = 0; j < t->option_count; j++)
                ck_assert_str_eq(saddle_tuning_value(same, c, j), saddle_tuning_value(t, c, j));
        saddle_tuning_free(same);
        bench_close(&other);
    }
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(default_is_what_a_run_uses)
{
    static const char *const name[] = {"precision", "precision+", "gda"};
    for (size_t a = 0; a < sizeof name / sizeof *name; a++) {
        bench b;
        bench_open(&b, plain, name[a]);
        saddle_result *result = NULL;
        assert_ok(saddle_plan_set(b.plan, "iterations", "0", &error), error);
        assert_ok(saddle_run(b.instance, b.plan, NULL, &result, &error), error);
        saddle_tune_inputs inputs = {.candidates = 2};
        saddle_tuning *t = tune(&b, &inputs, NULL);
        for (size_t j = 0; j < t->option_count; j++)
            ck_assert_str_eq(saddle_tuning_value(t, 0, j),
                             test_text(&result->plan, t->option[j]->name));
        saddle_tuning_free(t);
        saddle_result_free(result);
        bench_close(&b);
    }
}

TEST(steps_that_belong_together_move_together)
{
    bench b;
    bench_open(&b, plain, "precision");
    saddle_tune_inputs inputs = {.budget = 100000, .candidates = 30};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->option_count, 4);
    bool moved = false;
    for (size_t c = 0; c < t->candidates; c++) {
        ck_assert(value_of(t, c, "nu") == value_of(t, c, "eta"));
        ck_assert(value_of(t, c, "nu") <= 1.0);
        moved = moved || value_of(t, c, "nu") != value_of(t, 0, "nu");
    }
    ck_assert(moved);
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(candidates_stay_feasible)
{
    bench b;
    bench_open(&b, balls, "precision");
    double bound = saddle_mixing_min_self_weight(b.instance->mixing);
    saddle_tune_inputs inputs = {.budget = 100000, .candidates = 30};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->candidates, 30);
    for (size_t c = 0; c < t->candidates; c++)
        assert_at_most(value_of(t, c, "nu"), bound);
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(given_steps_are_the_centre)
{
    bench b;
    bench_open(&b, plain, "gda");
    assert_ok(saddle_plan_set(b.plan, "eta-x", "0.007", &error), error);
    saddle_tune_inputs inputs = {.candidates = 4};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    assert_near(value_of(t, 0, "eta-x"), 0.007, 0.0);
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(held_steps_keep_their_value)
{
    bench b;
    bench_open(&b, plain, "precision");
    assert_ok(saddle_plan_set(b.plan, "nu", "0.07", &error), error);
    saddle_tune_inputs inputs = {.budget = 100000, .candidates = 20, .hold = "nu,eta"};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->option_count, 2);
    ck_assert_str_eq(t->option[0]->name, "tau");
    ck_assert_str_eq(t->option[1]->name, "alpha");
    ck_assert_uint_eq(t->candidates, 20);
    ck_assert_str_eq(test_text(&t->plan, "nu"), "0.07");
    saddle_tuning_free(t);
    /* If only one of two that move together is searched, it moves alone. */
    inputs.hold = "tau,nu,alpha";
    t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->option_count, 1);
    ck_assert_str_eq(t->option[0]->name, "eta");
    saddle_tuning_free(t);
    inputs.hold = "tau,nu,alpha,eta";
    t = NULL;
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_UNSUPPORTED, "no step sizes left to search");
    inputs.hold = "nu,,eta";
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "--hold: '' is not an option");
    inputs.hold = "nu,etta";
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "--hold: 'etta' is not an option");
    ck_assert_ptr_null(t);
    bench_close(&b);
}

/* ---- listed values ------------------------------------------------------------------------- */

static void assert_listed(const saddle_tuning *t, const char *name, const char *const *wanted)
{
    /* Each value occurs, and no other except the default's. */
    size_t j = 0;
    while (strcmp(t->option[j]->name, name) != 0)
        j++;
    for (size_t c = 1; c < t->candidates; c++) {
        size_t k = 0;
        while (wanted[k] != NULL && strcmp(wanted[k], saddle_tuning_value(t, c, j)) != 0)
            k++;
        ck_assert_msg(wanted[k] != NULL, "%s %s", name, saddle_tuning_value(t, c, j));
    }
    for (size_t k = 0; wanted[k] != NULL; k++) {
        bool found = false;
        for (size_t c = 0; c < t->candidates; c++)
            found = found || strcmp(wanted[k], saddle_tuning_value(t, c, j)) == 0;
        ck_assert_msg(found, "no %s %s", name, wanted[k]);
    }
}

TEST(listed_values_are_axes)
{
    bench b;
    bench_open(&b, plain, "precision+");
    assert_ok(saddle_plan_set(b.plan, "c-gamma", "10", &error), error);
    /* The default of q and of batch is ceil(sqrt(12)) = 4: it is in one list and not in the other. */
    saddle_tune_inputs inputs = {
        .budget = 400000, .hold = "all", .search = "batch=1,3,12  q=2:32 c-gamma=0.5:2.5:linear:3"};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->option_count, 3);
    ck_assert_uint_eq(t->points, 3 * 5 * 3 + 1);
    ck_assert_uint_eq(t->candidates, t->points);
    assert_listed(t, "batch", (const char *[]){"1", "3", "12", NULL});
    assert_listed(t, "q", (const char *[]){"2", "4", "8", "16", "32", NULL});
    assert_listed(t, "c-gamma", (const char *[]){"0.5", "1.5", "2.5", NULL});
    for (size_t c = 0; c < t->candidates; c++)
        for (size_t d = 0; d < c; d++) {
            size_t differ = 0;
            for (size_t j = 0; j < t->option_count; j++)
                differ += strcmp(saddle_tuning_value(t, c, j), saddle_tuning_value(t, d, j)) != 0;
            ck_assert_uint_gt(differ, 0);
        }
    saddle_tuning_free(t);
    /* A default that is in all lists is not a separate candidate; values that round to the same are one. */
    inputs.search = "batch=2,2.0,8 c-gamma=9,10,11";
    t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->points, 6);
    assert_listed(t, "batch", (const char *[]){"2", "8", NULL});
    saddle_tuning_free(t);
    /* A log range of step sizes, in three digits: 10^(-2/3), 10^(-1/3). It replaces the grid of tau alone. */
    inputs.hold = "nu,eta,alpha,c-gamma";
    inputs.search = "tau=0.1:1:log:4";
    t = tune(&b, &inputs, NULL);
    assert_listed(t, "tau", (const char *[]){"0.1", "0.215", "0.464", "1", NULL});
    saddle_tuning_free(t);
    inputs.hold = NULL;
    inputs.search = "nu=0.05,0.1";
    inputs.candidates = 40;
    t = tune(&b, &inputs, NULL);
    ck_assert_uint_eq(t->option_count, 5);
    assert_listed(t, "nu", (const char *[]){"0.05", "0.1", NULL});
    bool apart = false;
    for (size_t c = 0; c < t->candidates; c++)
        apart = apart || value_of(t, c, "eta") != value_of(t, c, "nu");
    ck_assert(apart);
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(wrong_lists_are_refused)
{
    static const struct {
        const char *search;
        const char *message;
    } wrong[] = {
        {"bach=1", "did you mean 'batch'?"},
        {"seed=1,2", "--search: 'seed' is not one of"},
        {"fairness=1", "--search: 'fairness' is not one of"},
        {"batch", "batch has no values; give batch=A,B,C"},
        {"batch=", "batch has no values"},
        {"batch=2,,3", "--search: batch: '' is not a whole number"},
        {"batch=2.5", "--search: batch: '2.5' is not a whole number"},
        {"nu=0.1,2", "--search: nu: '2' is out of range"},
        {"q=0:5", "--search: q: '0' is out of range"},
        {"q=9:5", "'9:5' is not a range"},
        {"q=nan:5", "'nan:5' is not a range"},
        {"tau=0:1:log", "is not a range"},
        {"tau=1:2:log:1", "is not a range"},
        {"tau=1:2:cubic", "is not a range"},
        {"tau=1:2:log:3:4", "is not a range"},
        {"sampling=a:b", "is not a range"},
        {"q=1 q=2", "q is given twice"},
        {"tau=1:2:linear:64 alpha=1:2:linear:64 nu=0.1:1:linear:64 eta=0.1:1:linear:64",
         "more than 1048576 points"},
        {"mu=1,2", "'attained' cannot compare candidates with different problems"},
    };
    bench b;
    bench_open(&b, plain, "precision");
    saddle_tuning *t = NULL;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        saddle_tune_inputs inputs = {.budget = 100000, .search = wrong[k].search};
        assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                       SADDLE_BAD_INPUT, wrong[k].message);
        ck_assert_ptr_null(t);
    }
    saddle_tune_inputs inputs = {.budget = 100000, .search = "tau=1,2", .hold = "nu,tau"};
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "--hold: tau is also listed in --search");
    bench_close(&b);
}

static void keep_warning(void *context, const char *message)
{
    saddle_snprintf(context, 200, "%s", message);
}

TEST(options_of_other_algorithms_are_ignored)
{
    bench b;
    bench_open(&b, plain, "gda");
    char said[200] = "";
    saddle_tune_hooks hooks = {.context = said, .warning = keep_warning};
    saddle_tune_inputs inputs = {.candidates = 4, .search = "batch=1,2"};
    saddle_tuning *t = tune(&b, &inputs, &hooks);
    ck_assert_str_eq(said, "--search: batch is not used by gda");
    ck_assert_uint_eq(t->option_count, 2);
    saddle_tuning_free(t);
    bench_close(&b);
}

static const char *const fair[] = {"problem=fair",
                                   "data=synthetic:300:6",
                                   "test-data=synthetic:150:6",
                                   "sensitive=3",
                                   "agents=3",
                                   NULL};

/* Returns the outcome of a saved result, run again for the same iterations on a separate instance. */
static double saved_outcome(const saddle_tuning *t, size_t candidate, uint64_t iterations)
{
    char text[32];
    saddle_plan *plan = test_plan(&t->plan, NULL);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    for (size_t j = 0; j < t->option_count; j++)
        assert_ok(
            saddle_plan_set(plan, t->option[j]->name, saddle_tuning_value(t, candidate, j), &error),
            error);
    saddle_snprintf(text, sizeof text, "%" PRIu64, iterations);
    assert_ok(saddle_plan_set(plan, "iterations", text, &error), error);
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, NULL, NULL, &result, &error), error);
    double value = saddle_result_outcome(result, t->objective.name);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return value;
}

/* Saves the result of a search under a name, and runs the file's plan for as long as the best trial. */
static saddle_result *run_saved(const saddle_tuning *t, const char *name)
{
    char path[4200];
    char text[32];
    saddle_plan *plan = test_plan(NULL, NULL);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_snprintf(path, sizeof path, "%s/%s.yaml", saddle_test_directory(), name);
    assert_ok(saddle_tuning_save(t, path, &error), error);
    assert_ok(saddle_plan_load(plan, path, &error), error);
    saddle_snprintf(text, sizeof text, "%" PRIu64,
                    saddle_tuning_last(t, t->ranking[0])->iterations);
    assert_ok(saddle_plan_set(plan, "iterations", text, &error), error);
    plan->outputs.gap_parts = true;
    /* The search for the best response starts from that of the last row: equal bits need equally few rows. */
    assert_ok(saddle_plan_set(plan, "trace-every", text, &error), error);
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, NULL, NULL, &result, &error), error);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return result;
}

TEST(inputs_are_not_replaced)
{
    static const char *const rows[] = {"problem=auc", "data=rows", "agents=2", "topology=complete",
                                       NULL};
    bench b;
    saddle_test_enter_directory();
    saddle_test_write("rows", "1 1:1\n-1 1:2\n1 1:3\n-1 1:4\n");
    bench_open(&b, rows, "gda");
    saddle_tuning *t = tune(&b, &(saddle_tune_inputs){.budget = 4000, .candidates = 2}, NULL);
    assert_refused(saddle_tuning_save(t, "./rows", &error), error, SADDLE_BAD_INPUT,
                   "path: './rows' is also the file of --data");
    assert_ok(saddle_tuning_save(t, "best.yaml", &error), error);
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(problem_options_are_searched_by_an_outcome)
{
    bench b;
    bench_open(&b, fair, "precision");
    saddle_tune_inputs inputs = {.candidates = 12,
                                 .budget = 400000,
                                 .objective = "loss",
                                 .search = "fairness=0:40 batch=2,8"};
    saddle_tuning *t = NULL;
    static const char *const useless[] = {"attained", "loss", "metric", "primal", "train_accuracy"};
    for (size_t k = 0; k < sizeof useless / sizeof *useless; k++) {
        inputs.objective = useless[k];
        assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                       SADDLE_BAD_INPUT, "give an outcome on held-out rows");
    }
    inputs.objective = "test_loss";
    t = tune(&b, &inputs, NULL);
    check_schedule(t);
    assert_listed(t, "fairness", (const char *[]){"0", "10", "20", "30", "40", NULL});
    /* Every value is that of a run on the candidate's own problem. */
    size_t problems = 1;
    for (size_t k = 0; k < t->trial_count; k++)
        ck_assert(t->trials[k].diverged ||
                  t->trials[k].value ==
                      saved_outcome(t, t->trials[k].candidate, t->trials[k].iterations));
    for (size_t c = 2; c < t->candidates; c++)
        problems += value_of(t, c, "fairness") != value_of(t, c - 1, "fairness");
    ck_assert_uint_eq(problems, 5);
    /* The file also gives the best value. */
    const saddle_trial *best = saddle_tuning_last(t, t->ranking[0]);
    saddle_result *result = run_saved(t, "fair");
    ck_assert(saddle_result_outcome(result, "test_loss") == best->value);
    saddle_result_free(result);
    saddle_tuning_free(t);
    bench_close(&b);
}

/* ---- the result ---------------------------------------------------------------------------- */

TEST(answer_is_no_worse_than_the_default)
{
    static const char *const name[] = {"precision", "prox-gt-sgda", "gda", "sgda"};
    for (size_t a = 0; a < sizeof name / sizeof *name; a++) {
        bench b;
        bench_open(&b, plain, name[a]);
        saddle_tuning *t = tune(&b, NULL, NULL);
        const saddle_trial *best = saddle_tuning_last(t, t->ranking[0]);
        const saddle_trial *fallback = saddle_tuning_last(t, 0);
        ck_assert_uint_eq(best->rung, t->rungs - 1);
        ck_assert_uint_eq(fallback->rung, t->rungs - 1);
        assert_at_most(best->value, fallback->value);
        /* The paper's steps for GDA are known to be short. */
        if (strcmp(name[a], "gda") == 0)
            assert_at_most(best->value, 0.1 * fallback->value);
        saddle_tuning_free(t);
        bench_close(&b);
    }
}

TEST(objectives_are_those_of_the_row)
{
    bench b;
    bench_open(&b, plain, "gda");
    static const char *const objective[] = {"metric", "loss", "primal", "stationarity", NULL};
    for (size_t kind = 0; kind < sizeof objective / sizeof *objective; kind++) {
        saddle_tune_inputs inputs = {.candidates = 2, .objective = objective[kind]};
        saddle_tuning *t = tune(&b, &inputs, NULL);
        const saddle_trial *trial = &t->trials[0];
        char text[32];
        saddle_result *result = NULL;
        saddle_snprintf(text, sizeof text, "%" PRIu64, trial->iterations);
        assert_ok(saddle_plan_set(b.plan, "iterations", text, &error), error);
        b.plan->outputs.gap_parts = true;
        assert_ok(saddle_run(b.instance, b.plan, NULL, &result, &error), error);
        const saddle_row *row = &result->rows[result->row_count - 1];
        const double wanted[] = {row->metric, row->loss, row->primal, row->stationarity,
                                 attained(result)};
        ck_assert(trial->value == wanted[kind]);
        saddle_result_free(result);
        saddle_tuning_free(t);
    }
    bench_close(&b);
}

/* An outcome on held-out rows: the largest AUC wins, and every value is that of the candidate's run. */
TEST(outcomes_decide)
{
    static const char *const auc[] = {"problem=auc", "data=synthetic:200:12",
                                      "test-data=synthetic:80:12", "agents=3", NULL};
    bench b;
    bench_open(&b, auc, "precision");
    saddle_tune_inputs inputs = {.candidates = 6, .budget = 60000, .objective = "auc"};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    ck_assert_str_eq(t->objective.name, "test_auc");
    ck_assert_int_eq(t->objective.better, SADDLE_LARGER);
    const saddle_trial *best = saddle_tuning_last(t, t->ranking[0]);
    for (size_t k = 0; k < t->trial_count; k++)
        if (t->trials[k].rung == best->rung && !t->trials[k].diverged)
            assert_at_most(t->trials[k].value, best->value);
    char text[32];
    saddle_result *result = NULL;
    saddle_snprintf(text, sizeof text, "%" PRIu64, t->trials[0].iterations);
    assert_ok(saddle_plan_set(b.plan, "iterations", text, &error), error);
    assert_ok(saddle_run(b.instance, b.plan, NULL, &result, &error), error);
    ck_assert(t->trials[0].value == saddle_result_outcome(result, "test_auc"));
    saddle_result_free(result);
    saddle_tuning_free(t);
    inputs.objective = "train_pair_loss";
    t = tune(&b, &inputs, NULL);
    ck_assert_str_eq(t->objective.name, "train_pair_loss");
    ck_assert_int_eq(t->objective.better, SADDLE_SMALLER);
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(saved_settings_repeat_the_best_run)
{
    bench b;
    bench_open(&b, balls, "precision");
    saddle_tune_inputs inputs = {.candidates = 6};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    const saddle_trial *best = saddle_tuning_last(t, t->ranking[0]);
    saddle_result *result = run_saved(t, "best");
    assert_near(attained(result), best->value, 0.0);
    ck_assert_uint_eq(result->cost.ifo, best->ifo);
    saddle_result_free(result);
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(all_diverged_is_reported)
{
    bench b;
    bench_open(&b, plain, "gda");
    assert_ok(saddle_plan_set(b.plan, "eta-x", "1e8", &error), error);
    assert_ok(saddle_plan_set(b.plan, "eta-y", "1e8", &error), error);
    saddle_tune_inputs inputs = {.candidates = 4, .budget = 100000};
    saddle_tuning *t = tune(&b, &inputs, NULL);
    ck_assert(t->finished);
    for (size_t k = 0; k < t->trial_count; k++) {
        ck_assert(t->trials[k].diverged);
        ck_assert(isinf(t->trials[k].value));
        ck_assert_uint_gt(t->trials[k].ifo, 0);
    }
    ck_assert_uint_eq(t->ranking[0], 0); /* ties go to the default */
    saddle_tuning_free(t);
    bench_close(&b);
}

TEST(same_seed_same_answer_on_any_threads)
{
    static const char *const threads[] = {"1", "3"};
    saddle_tuning *t[2];
    for (int k = 0; k < 2; k++) {
        bench b;
        bench_open(&b, plain, "precision");
        assert_ok(saddle_plan_set(b.plan, "threads", threads[k], &error), error);
        t[k] = tune(&b, NULL, NULL);
        bench_close(&b);
    }
    assert_same(t[0], t[1]);
    bench b;
    saddle_plan *base = test_plan(NULL, plain);
    b.plan = test_plan(base, (const char *[]){"algorithm=precision", "seed=2", NULL});
    test_plan_free(base);
    assert_ok(saddle_instance_create(&b.instance, b.plan, &error), error);
    saddle_tuning *other = tune(&b, NULL, NULL);
    size_t differ = 0;
    for (size_t c = 1; c < other->candidates; c++)
        for (size_t j = 0; j < other->option_count; j++)
            differ +=
                strcmp(saddle_tuning_value(other, c, j), saddle_tuning_value(t[0], c, j)) != 0;
    ck_assert_uint_gt(differ, 0);
    saddle_tuning_free(other);
    saddle_tuning_free(t[0]);
    saddle_tuning_free(t[1]);
    bench_close(&b);
}

/* ---- the log ------------------------------------------------------------------------------- */

static char *read_whole(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    char *text = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(text);
    *bytes = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static void write_whole(const char *path, const char *text, size_t bytes)
{
    FILE *f = fopen(path, "we");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(text, 1, bytes, f), bytes);
    ck_assert_int_eq(fclose(f), 0);
}

static void count_trial(void *context, const saddle_tuning *t, const saddle_trial *trial)
{
    (void)t;
    (void)trial;
    ++*(size_t *)context;
}

/* Returns the bytes of a log before its first evaluation. */
static size_t head_of(const char *text)
{
    const char *at = text;
    while (*at == '#' || *at == 'r')
        at = strchr(at, '\n') + 1;
    return (size_t)(at - text);
}

/* Replaces a block of a log by NULs, as a power failure may. */
static void blank_block(const char *path, const char *text, size_t bytes, size_t from)
{
    char *damaged = malloc(bytes);
    ck_assert_ptr_nonnull(damaged);
    memcpy(damaged, text, bytes);
    memset(damaged + from, 0, bytes - from < 512 ? bytes - from : 512);
    write_whole(path, damaged, bytes);
    free(damaged);
}

TEST(any_part_of_a_log_leads_to_the_same_answer)
{
    bench b;
    bench_open(&b, plain, "sgda");
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s/sgda.csv", saddle_test_directory());
    saddle_tune_inputs inputs = {.budget = 60000, .candidates = 12, .log = path};
    saddle_tuning *whole = tune(&b, &inputs, NULL);
    size_t bytes;
    char *text = read_whole(path, &bytes);
    inputs.resume = true;
    saddle_rng rng;
    saddle_rng_init(&rng, 11, SADDLE_RNG_TEST, 0, 0);
    for (int round = 0; round < 40; round++) {
        /* At a random byte; in the first rounds at both ends. */
        size_t kept = round == 0 ? 0 : round == 1 ? bytes : saddle_rng_below(&rng, bytes);
        size_t head = head_of(text);
        if (round % 3 == 2 && kept >= head)
            blank_block(path, text, bytes, kept);
        else
            write_whole(path, text, kept);
        size_t lines = 0; /* of complete evaluations */
        for (size_t k = head; k < kept; k++)
            lines += text[k] == '\n';
        size_t made = 0;
        saddle_tune_hooks hooks = {.context = &made, .trial = count_trial};
        saddle_tuning *t = tune(&b, &inputs, &hooks);
        assert_same(t, whole);
        ck_assert_uint_eq(t->resumed, lines);
        ck_assert_uint_eq(made, t->trial_count - lines);
        saddle_tuning_free(t);
        size_t again_bytes;
        char *again = read_whole(path, &again_bytes);
        ck_assert_uint_eq(again_bytes, bytes);
        ck_assert_mem_eq(again, text, bytes);
        free(again);
    }
    free(text);
    saddle_tuning_free(whole);
    bench_close(&b);
}

static volatile sig_atomic_t interrupt;

static void interrupt_after(void *context, const saddle_tuning *t, const saddle_trial *trial)
{
    (void)trial;
    interrupt = t->trial_count == *(size_t *)context;
}

TEST(an_interrupted_search_resumes)
{
    bench b;
    bench_open(&b, plain, "precision");
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s/precision.csv", saddle_test_directory());
    saddle_tune_inputs inputs = {.budget = 60000, .candidates = 10};
    saddle_tuning *whole = tune(&b, &inputs, NULL);
    inputs.log = path;
    for (size_t after = 3; after < whole->trial_count; after += 7) {
        saddle_tune_hooks hooks = {
            .context = &after, .trial = interrupt_after, .interrupt = &interrupt};
        interrupt = 0;
        inputs.resume = false;
        saddle_tuning *part = tune(&b, &inputs, &hooks);
        ck_assert(!part->finished);
        ck_assert_uint_eq(part->trial_count, after);
        inputs.resume = true;
        saddle_tuning *t = tune(&b, &inputs, NULL);
        assert_same(t, whole);
        ck_assert_uint_eq(t->resumed, after);
        saddle_tuning_free(part);
        saddle_tuning_free(t);
        ck_assert_int_eq(unlink(path), 0);
    }
    saddle_tuning_free(whole);
    bench_close(&b);
}

TEST(foreign_logs_are_refused)
{
    bench b;
    bench_open(&b, plain, "gda");
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s/gda.csv", saddle_test_directory());
    saddle_tune_inputs inputs = {.budget = 60000, .candidates = 6, .log = path};
    saddle_tuning_free(tune(&b, &inputs, NULL));
    saddle_tuning *t = NULL;
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "already exists; give --resume to continue it");
    inputs.resume = true;
    inputs.budget = 70000;
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT,
                   "belongs to another search: --budget is '60000' there and '70000' here");
    inputs.budget = 60000;

    inputs.search = "batch=1,2";
    saddle_snprintf(path, sizeof path, "%s/sgda-lists.csv", saddle_test_directory());
    assert_ok(saddle_plan_set(b.plan, "algorithm", "sgda", &error), error);
    inputs.resume = false;
    saddle_tuning_free(tune(&b, &inputs, NULL));
    inputs.resume = true;
    inputs.search = "batch=1,3";
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT,
                   "belongs to another search: --search is 'batch=1,2' there and 'batch=1,3' here");
    inputs.search = NULL;
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT,
                   "belongs to another search: --search is 'batch=1,2' there and '' here");
    saddle_snprintf(path, sizeof path, "%s/gda.csv", saddle_test_directory());
    assert_ok(saddle_plan_set(b.plan, "algorithm", "gda", &error), error);

    /* A line whose numbers were changed. */
    size_t bytes;
    char *text = read_whole(path, &bytes);
    char *row = strstr(text, "\n0,2,");
    ck_assert_ptr_nonnull(row);
    static const char *const damaged[] = {"\n0,3,", "\n1,2,", "\n0,x,", "\n0,,2"};
    for (size_t k = 0; k < sizeof damaged / sizeof *damaged; k++) {
        char kept[6];
        memcpy(kept, row, 5);
        memcpy(row, damaged[k], 5);
        write_whole(path, text, bytes);
        memcpy(row, kept, 5);
        assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                       SADDLE_BAD_INPUT, "evaluation 3 does not belong to this search");
    }
    write_whole(path, "something else\n", 15);
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "belongs to another search");
    inputs.log = "/nonexistent/directory/log.csv";
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "/nonexistent/directory/log.csv");
    ck_assert_ptr_null(t);
    free(text);
    bench_close(&b);
}

TEST(wrong_inputs_are_refused)
{
    bench b;
    bench_open(&b, plain, "gda");
    saddle_tuning *t = NULL;
    saddle_tune_inputs inputs = {.candidates = 1};
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "--candidates: 1 is too few");
    inputs.candidates = SADDLE_TUNE_MOST_CANDIDATES + 1;
    assert_refused(saddle_tune(&t, b.instance, b.plan, &inputs, NULL, &error), error,
                   SADDLE_BAD_INPUT, "give 2 to 4096");
    assert_ok(saddle_plan_set(b.plan, "algorithm", "gad", &error), error);
    assert_refused(saddle_tune(&t, b.instance, b.plan, NULL, NULL, &error), error, SADDLE_BAD_INPUT,
                   "gad");
    bench_close(&b);
}

/* ---- assumptions of the search ------------------------------------------------------------- */

static saddle_result *run_with(const char *const *more)
{
    saddle_plan *base = test_plan(NULL, plain);
    saddle_plan *plan = test_plan(base, more);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, NULL, NULL, &result, &error), error);
    saddle_instance_free(instance);
    test_plan_free(plan);
    test_plan_free(base);
    return result;
}

/* Without constraints, |x~ - xbar|^2 is proportional to 1 / tau^2 if the x_i agree: at the start, and
 * for centralized algorithms always. */
TEST(metric_tau_scales_the_metric)
{
    static const char *const name[] = {"algorithm=gda", "algorithm=precision",
                                       "algorithm=prox-dsgda"};
    for (size_t a = 0; a < sizeof name / sizeof *name; a++) {
        const char *const one[] = {name[a], "tau=2", "iterations=9", "metric-tau=3", NULL};
        const char *const two[] = {name[a], "tau=2", "iterations=9", "metric-tau=6", NULL};
        const char *const own[] = {name[a], "tau=2", "iterations=9", "metric-tau=2", NULL};
        const char *const none[] = {name[a], "tau=2", "iterations=9", NULL};
        saddle_result *r[4] = {run_with(one), run_with(two), run_with(own), run_with(none)};
        for (size_t k = 0; k < r[0]->row_count; k++) {
            const saddle_row *left = &r[0]->rows[k];
            const saddle_row *right = &r[1]->rows[k];
            if (a == 0 || k == 0)
                assert_near(right->x_stationarity, left->x_stationarity / 4.0,
                            1e-12 * left->x_stationarity);
            else
                ck_assert(left->x_stationarity > right->x_stationarity);
            ck_assert(left->x_consensus == right->x_consensus);
            ck_assert(left->y_gap == right->y_gap);
            ck_assert(left->loss == right->loss);
            /* gda does not use tau. */
            ck_assert(a == 0 || r[2]->rows[k].metric == r[3]->rows[k].metric);
        }
        for (size_t k = 0; k < 4; k++)
            saddle_result_free(r[k]);
    }
}

/* A budget that ends a run early still leaves 20 rows, each the first past its share. */
TEST(rows_follow_the_budget)
{
    const char *const more[] = {"algorithm=sgda", "batch=1", "iterations=1000000", "max-ifo=2000",
                                NULL};
    saddle_result *result = run_with(more);
    ck_assert_int_eq(result->stop, SADDLE_STOP_IFO);
    ck_assert_uint_eq(result->row_count, 20);
    for (size_t k = 0; k < result->row_count; k++)
        ck_assert_uint_eq(result->rows[k].cost.ifo, k == 19 ? 2000 : 106 * k);
    ck_assert_uint_eq(result->cost.ifo, 2000);
    saddle_result_free(result);
}

/* Inner loops end with the budget: they exceed it by at most what the algorithm states. */
TEST(inner_loops_end_with_the_budget)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    bench b;
    bench_open(&b, plain, "gda");
    for (size_t a = 0; a < count; a++)
        for (uint64_t limit = 1; limit < 60 * SAMPLES; limit += 101) {
            char text[32];
            saddle_result *result = NULL;
            saddle_forecast forecast;
            saddle_snprintf(text, sizeof text, "%" PRIu64, limit);
            assert_ok(saddle_plan_set(b.plan, "algorithm", list[a]->name, &error), error);
            assert_ok(saddle_plan_set(b.plan, "max-ifo", text, &error), error);
            assert_ok(saddle_plan_set(b.plan, "trace-every", "2000", &error), error);
            assert_ok(saddle_run_forecast(b.instance, b.plan, &forecast, &error), error);
            assert_ok(saddle_run(b.instance, b.plan, NULL, &result, &error), error);
            if (result->stop == SADDLE_STOP_IFO) {
                ck_assert_uint_ge(result->cost.ifo, limit);
                ck_assert_msg(result->cost.ifo < limit + forecast.most_ifo,
                              "%s: %" PRIu64 " calls of %" PRIu64, list[a]->name, result->cost.ifo,
                              limit);
            }
            saddle_plan_free(&forecast.plan);
            saddle_result_free(result);
        }
    bench_close(&b);
}

TEST(cost_includes_what_diverged)
{
    const char *const more[] = {"algorithm=gda",   "eta-x=1e8",        "eta-y=1e8",
                                "iterations=1000", "trace-every=1000", NULL};
    saddle_result *result = run_with(more);
    ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
    ck_assert_uint_eq(result->row_count, 1);
    ck_assert_uint_eq(result->cost.ifo, SAMPLES * result->fault.iteration);
    saddle_result_free(result);
}
