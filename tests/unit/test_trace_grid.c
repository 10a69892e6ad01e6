/* When a run is measured by default: the number of trace points against costs that are counted here one by one, stop
 * rules, divergence between trace points, and resumed runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/noise.h"
#include "core/print.h"
#include "core/rng.h"
#include "instances.h"
#include "support.h"

static saddle_result *run_plan(saddle_plan *plan, const saddle_hooks *hooks)
{
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_error error = {.message = ""};
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, NULL, hooks, &result, &error), error);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return result;
}

static uint64_t draw(saddle_rng *rng, uint64_t least, uint64_t most)
{
    return least + saddle_rng_below(rng, most - least + 1);
}

/* ---- costs ----------------------------------------------------------------------------------- */

typedef struct sizes {
    uint64_t agents, x_dim, y_dim, samples, batch, q, iterations;
    const char *topology, *algorithm;
} sizes;

/* Returns the run of a quadratic problem of these sizes. */
static saddle_result *run_sizes(const sizes *s)
{
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, (const char *[]){"problem=quadratic", "tau=50", NULL});
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"agents", s->agents},        {"x-dim", s->x_dim}, {"y-dim", s->y_dim},
                   {"samples", s->samples},      {"batch", s->batch}, {"q", s->q},
                   {"iterations", s->iterations}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        char text[32];
        saddle_snprintf(text, sizeof text, "%llu", (unsigned long long)numbers[k].value);
        assert_ok(saddle_plan_set(plan, numbers[k].name, text, &error), error);
    }
    assert_ok(saddle_plan_set(plan, "topology", s->topology, &error), error);
    assert_ok(saddle_plan_set(plan, "algorithm", s->algorithm, &error), error);
    return run_plan(plan, NULL);
}

/* Returns whether two agents are neighbours. */
static bool is_edge(const sizes *s, uint64_t i, uint64_t j)
{
    if (i == j)
        return false;
    if (strcmp(s->topology, "complete") == 0)
        return true;
    if (strcmp(s->topology, "star") == 0)
        return i == 0 || j == 0;
    return (i + 1) % s->agents == j || (j + 1) % s->agents == i;
}

/* Returns the doubles that q iterations read: the samples of mini-batches and of a refresh, the x, y, p and d of
 * every agent and its neighbours, and its estimates with their numbers. */
static double cycle_cost(const sizes *s)
{
    bool recursive = strcmp(s->algorithm, "precision") == 0;
    uint64_t both = s->x_dim + s->y_dim;
    uint64_t batch = s->batch < s->samples ? s->batch : s->samples;
    uint64_t cost = 0;
    for (uint64_t t = 0; t < s->q; t++)
        for (uint64_t i = 0; i < s->agents; i++) {
            uint64_t rows = recursive && t == 0 ? s->samples : batch;
            for (uint64_t k = 0; k < rows; k++)
                cost += both;
            for (uint64_t j = 0; j < s->agents; j++)
                cost += i == j || is_edge(s, i, j) ? 2 * both : 0;
            cost += both + 1 + SADDLE_NOISE_NUMBERS;
        }
    return (double)cost;
}

/* Returns the doubles that a trace point reads: all samples twice, for the gradient and for Q, and the iterates. */
static double point_cost(const sizes *s)
{
    uint64_t both = s->x_dim + s->y_dim;
    uint64_t cost = 0;
    for (uint64_t i = 0; i < s->agents; i++) {
        for (uint64_t k = 0; k < s->samples; k++)
            cost += 2 * both;
        cost += 4 * both;
    }
    return (double)cost;
}

/* Returns the number of points at multiples of a distance, and the last iteration. */
static uint64_t count_points(uint64_t iterations, uint64_t distance)
{
    uint64_t count = 1;
    for (uint64_t t = 0; t < iterations; t += distance)
        count++;
    return count;
}

static void check_points(const sizes *s, const saddle_result *result)
{
    uint64_t T = s->iterations;
    double iterating = cycle_cost(s) / (double)s->q * (double)T;
    double share = (double)result->row_count * point_cost(s) / iterating;
    bool possible = false;
    for (uint64_t distance = 1; distance <= T; distance++) {
        uint64_t count = count_points(T, distance);
        possible = possible || (count >= 20 && count <= 200 &&
                                (double)count * point_cost(s) <= 0.2 * iterating);
    }
    const saddle_row *rows = result->rows;
    size_t late = 0;
    for (size_t k = 0; k < result->row_count; k++) {
        late += 3 * rows[k].iteration >= 2 * T;
        ck_assert(k < 2 || k + 1 == result->row_count ||
                  rows[k].iteration - rows[k - 1].iteration == rows[1].iteration);
    }
    ck_assert_uint_eq(rows[0].iteration, 0);
    ck_assert_uint_eq(rows[result->row_count - 1].iteration, T);
    ck_assert_uint_ge(result->row_count, T < 19 ? T + 1 : 20);
    ck_assert_uint_le(result->row_count, 200);
    ck_assert_uint_ge(late, T < 19 ? T / 3 + 1 : 5);
    ck_assert_msg(!possible || share <= 0.2 * (1.0 + 1e-12),
                  "%zu points of %llu iterations cost %g of them", result->row_count,
                  (unsigned long long)T, share);
    ck_assert_msg(possible || T < 19 || result->row_count <= 39,
                  "%zu points, although even 20 cost too much", result->row_count);
}

TEST(measuring_costs_at_most_a_fifth_where_20_points_allow_it)
{
    static const char *const topology[] = {"ring", "star", "complete"};
    static const char *const algorithm[] = {"precision", "prox-gt-sgda"};
    saddle_rng rng;
    saddle_rng_init(&rng, 20, SADDLE_RNG_TEST, 0, 0);
    size_t bounded = 0;
    size_t dense = 0;
    for (int k = 0; k < 150 / TEST_SLOWDOWN; k++) {
        sizes s = {.agents = draw(&rng, 3, 14),
                   .x_dim = draw(&rng, 1, 9),
                   .y_dim = draw(&rng, 1, 9),
                   .samples = draw(&rng, 1, k % 3 == 0 ? 4 : 60),
                   .batch = draw(&rng, 1, 70),
                   .q = draw(&rng, 1, 20),
                   .iterations = draw(&rng, 1, k % 2 == 0 ? 2500 : 60),
                   .topology = topology[draw(&rng, 0, 2)],
                   .algorithm = algorithm[draw(&rng, 0, 1)]};
        saddle_result *result = run_sizes(&s);
        check_points(&s, result);
        bounded += result->row_count < 30;
        dense += result->row_count > 100;
        saddle_result_free(result);
    }
    ck_assert_uint_gt(bounded, 0);
    ck_assert_uint_gt(dense, 0);
}

TEST(a_budget_of_gradient_evaluations_is_divided_too)
{
    static const char *const algorithm[] = {"algorithm=precision", "algorithm=precision+",
                                            "algorithm=prox-gt-sgda", "algorithm=gt-gda",
                                            "algorithm=sreda"};
    for (size_t k = 0; k < 3 * sizeof algorithm / sizeof *algorithm; k++) {
        static const char *const budget[] = {"max-ifo=40000", "max-ifo=150000", "max-ifo=400001"};
        saddle_plan *plan =
            test_plan(NULL, (const char *[]){"problem=quadratic", "samples=60", "x-set=none",
                                             budget[k % 3], algorithm[k / 3], "tau=50", NULL});
        uint64_t limit = plan->limits.max_ifo;
        saddle_result *result = run_plan(plan, NULL);
        size_t late = 0;
        for (size_t row = 0; row < result->row_count; row++)
            late += 3 * result->rows[row].cost.ifo >= 2 * limit;
        /* Mini-batches of Prox-GT-SGDA have errors as large as its movement in the end. */
        bool noisy = strcmp(algorithm[k / 3], "algorithm=prox-gt-sgda") == 0 && k % 3 > 0;
        ck_assert_int_eq(result->stop, noisy ? SADDLE_STOP_STALLED : SADDLE_STOP_IFO);
        ck_assert_uint_ge(result->rows[result->row_count - 1].cost.ifo, limit);
        ck_assert_uint_ge(result->row_count, 20);
        ck_assert_uint_le(result->row_count, 200);
        ck_assert_uint_ge(late, 5);
        saddle_result_free(result);
    }
}

TEST(rounds_limit_the_points_like_iterations)
{
    static const char *const settings[] = {"problem=quadratic", "samples=60", "iterations=500",
                                           "tau=50", NULL};
    saddle_result *a = run_plan(test_plan(NULL, settings), NULL);
    saddle_plan *plan = test_plan(NULL, settings);
    plan->limits.iterations = 1000000;
    plan->limits.max_rounds = 500;
    saddle_result *b = run_plan(plan, NULL);
    ck_assert_uint_eq(a->row_count, b->row_count);
    for (size_t k = 0; k < a->row_count; k++)
        ck_assert_uint_eq(a->rows[k].iteration, b->rows[k].iteration);
    saddle_result_free(a);
    saddle_result_free(b);
}

/* ---- stop rules ------------------------------------------------------------------------------ */

static const char *const solvable[] = {"problem=quadratic", "samples=40", "iterations=4000",
                                       "algorithm=gda", NULL};

TEST(a_stop_rule_overshoots_by_at_most_a_twentieth)
{
    saddle_plan *every = test_plan(NULL, solvable);
    every->outputs.trace_every = 1;
    saddle_result *all = run_plan(every, NULL);
    size_t stopped = 0;
    double goal = all->rows[0].metric;
    while (goal > 1e-9) {
        /* The metric is at most the goal from iteration `kept` on; it may have been for a moment before. */
        size_t first = all->row_count;
        size_t kept = 0;
        for (size_t t = all->row_count; t-- > 0;) {
            first = all->rows[t].metric <= goal ? t : first;
            kept = kept == 0 && !(all->rows[t].metric <= goal) ? t + 1 : kept;
        }
        saddle_plan *plan = test_plan(NULL, solvable);
        char when[64];
        saddle_snprintf(when, sizeof when, "metric<=%.17g", goal);
        plan->limits.stop_when = when;
        saddle_result *result = run_plan(plan, NULL);
        uint64_t last = result->rows[result->row_count - 1].iteration;
        if (kept < all->row_count) {
            ck_assert_int_eq(result->stop, SADDLE_STOP_CONDITION);
            ck_assert_uint_ge(last, first);
            ck_assert_uint_le(last, kept + (kept < 20 ? 1 : kept / 20));
            ck_assert_uint_le(last, kept + 20);
            stopped++;
        }
        saddle_result_free(result);
        goal /= 3.0;
    }
    ck_assert_uint_gt(stopped, 8);
    saddle_result_free(all);
}

TEST(a_number_of_points_without_gain_counts_equal_distances)
{
    saddle_plan *plan =
        test_plan(NULL, (const char *[]){"problem=auc", "data=synthetic:300", "iterations=1000",
                                         "stop-after=100", "stop-on=train_auc", NULL});
    saddle_result *result = run_plan(plan, NULL);
    for (size_t k = 0; k < result->row_count; k++)
        ck_assert_uint_eq(result->rows[k].iteration, 5 * k);
    saddle_result_free(result);
}

/* ---- divergence ------------------------------------------------------------------------------ */

/* Returns the iteration in which a run with this step was found to diverge, and its number of rows. */
static uint64_t diverge(const char *step, uint64_t trace_every, size_t *rows)
{
    saddle_plan *plan =
        test_plan(NULL, (const char *[]){"problem=quadratic", "samples=40", "iterations=20000",
                                         "x-set=none", "algorithm=gda", step, NULL});
    plan->outputs.trace_every = trace_every;
    saddle_result *result = run_plan(plan, NULL);
    ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
    ck_assert_int_eq(result->fault.kind, SADDLE_FAULT_RUNAWAY);
    uint64_t iteration = result->fault.iteration;
    *rows = result->row_count;
    saddle_result_free(result);
    return iteration;
}

TEST(divergence_is_found_between_trace_points)
{
    static const char *const step[] = {"eta-x=0.03", "eta-x=0.04", "eta-x=0.05", "eta-x=0.14",
                                       "eta-x=0.4"};
    for (size_t k = 0; k < sizeof step / sizeof *step; k++) {
        size_t rows;
        uint64_t dense = diverge(step[k], 100, &rows);
        uint64_t sparse = diverge(step[k], 0, &rows);
        ck_assert_uint_le(sparse, dense);
        ck_assert_uint_le(diverge(step[k], 20000, &rows), dense);
        ck_assert_uint_eq(rows, 1);
    }
}

/* ---- resuming -------------------------------------------------------------------------------- */

typedef struct interrupter {
    uint64_t at;
    sig_atomic_t flag;
} interrupter;

static void on_progress(void *context, uint64_t iteration, double seconds)
{
    interrupter *self = context;
    (void)seconds;
    self->flag = self->flag != 0 || iteration >= self->at;
}

/* Asserts that an interrupted and resumed run has the rows of one that is not interrupted. */
static void check_resumed(const char *const *settings, uint64_t at)
{
    static int count;
    char directory[5000];
    saddle_error error = {.message = ""};
    saddle_snprintf(directory, sizeof directory, "%s/%d", saddle_test_directory(), count++);
    saddle_result *whole = run_plan(test_plan(NULL, settings), NULL);
    interrupter self = {.at = at};
    saddle_hooks hooks = {.context = &self, .progress = on_progress, .interrupt = &self.flag};
    saddle_plan *plan = test_plan(NULL, settings);
    assert_ok(saddle_plan_set(plan, "checkpoint", directory, &error), error);
    saddle_result *first = run_plan(plan, &hooks);
    ck_assert_int_eq(first->stop, SADDLE_STOP_INTERRUPTED);
    saddle_result_free(first);
    plan = test_plan(NULL, (const char *[]){NULL});
    assert_ok(saddle_plan_set(plan, "resume", directory, &error), error);
    assert_ok(saddle_plan_resume(plan, NULL, &error), error);
    saddle_result *resumed = run_plan(plan, NULL);
    ck_assert_int_eq(resumed->stop, whole->stop);
    ck_assert_uint_eq(resumed->fault.iteration, whole->fault.iteration);
    ck_assert_uint_eq(resumed->row_count, whole->row_count);
    for (size_t k = 0; k < whole->row_count; k++) {
        ck_assert_uint_eq(resumed->rows[k].iteration, whole->rows[k].iteration);
        ck_assert(resumed->rows[k].metric == whole->rows[k].metric);
    }
    saddle_result_free(resumed);
    saddle_result_free(whole);
}

TEST(a_resumed_run_has_the_same_points)
{
    static const char *const by_iterations[] = {"problem=quadratic", "samples=60", "iterations=730",
                                                "tau=50", NULL};
    static const char *const by_ifo[] = {"problem=quadratic", "samples=60", "max-ifo=60000",
                                         "tau=50", NULL};
    static const char *const by_metric[] = {"problem=quadratic",      "samples=40",
                                            "iterations=4000",        "algorithm=gda",
                                            "stop-when=metric<=1e-5", NULL};
    static const char *const diverging[] = {
        "problem=quadratic", "samples=40", "iterations=20000", "x-set=none", "algorithm=gda",
        "eta-x=0.05",        NULL};
    for (uint64_t at = 1; at < 130; at += 43) {
        check_resumed(by_iterations, at);
        check_resumed(by_ifo, at);
        check_resumed(by_metric, at / 4);
        check_resumed(diverging, 2 * at);
    }
}
