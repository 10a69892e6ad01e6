/*
 * The objective of agents that have weights, leave and join: solutions of runs against the optimum of the pooled
 * rows of those that count, computed here from the rows alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "core/rng.h"
#include "instances.h"
#include "support.h"

/* Agents with different numbers of rows and shares of positives. */
enum { AGENTS = 5, FEATURES = 3, MOST_ROWS = 60 };
static const size_t size[AGENTS] = {60, 12, 20, 16, 30};
static const double positive[AGENTS] = {0.1, 0.5, 0.6, 0.75, 0.4};
static double row_of[AGENTS][MOST_ROWS][FEATURES];
static double label_of[AGENTS][MOST_ROWS];

/* A sanitizer sees the same code with fewer cases. */
enum { FEWER = TEST_SLOWDOWN > 1 ? 3 : 1 };

/* Draws the rows and writes them to files part-0.libsvm, ... in the test's directory. */
static void write_rows(void)
{
    saddle_rng rng;
    saddle_test_enter_directory();
    saddle_rng_init(&rng, 8, SADDLE_RNG_TEST, 0, 0);
    for (size_t i = 0; i < AGENTS; i++) {
        char path[32];
        snprintf(path, sizeof path, "part-%zu.libsvm", i);
        FILE *f = fopen(path, "w");
        ck_assert_ptr_nonnull(f);
        for (size_t j = 0; j < size[i]; j++) {
            label_of[i][j] = (double)j < positive[i] * (double)size[i] ? 1.0 : -1.0;
            saddle_fprintf(f, "%g", label_of[i][j]);
            for (size_t k = 0; k < FEATURES; k++) {
                /* A number of few digits, which the file has exactly. */
                double a =
                    0.4 * label_of[i][j] * (k < 2) + 0.1 * (double)i + saddle_rng_normal(&rng);
                row_of[i][j][k] = round(a * 1024.0) / 1024.0;
                saddle_fprintf(f, " %zu:%.17g", k + 1, row_of[i][j][k]);
            }
            saddle_fprintf(f, "\n");
        }
        fclose(f);
    }
}

/* Runs a problem on these rows with further settings; `churn` may be NULL. */
static saddle_result *run(const char *problem, const char *topology, const char *weights,
                          const char *churn, const char *const *more)
{
    const char *setting[MOST_SETTINGS + 8] = {
        problem,           topology,           weights,     "data=part-%d.libsvm",
        "iterations=4000", "trace-every=4000", "threads=2", "gap=end"};
    size_t count = 8;
    if (strcmp(problem, "problem=group-dro") == 0)
        setting[count++] = "groups=agents";
    if (churn != NULL) {
        saddle_test_write("churn.txt", churn);
        setting[count++] = "churn=churn.txt";
    }
    for (; more != NULL && *more != NULL; more++)
        setting[count++] = *more;
    return test_solve(NULL, setting);
}

static const saddle_row *last_row(const saddle_result *result)
{
    return &result->rows[result->row_count - 1];
}

/* ---- auc -------------------------------------------------------------------------------------- */

/* The linear score with the smallest loss over pairs of a positive and a negative row. */
typedef struct ranking {
    double share; /* of positives */
    double loss;
    double w[FEATURES];
} ranking;

/* Solves a w = b by elimination; a is positive definite. */
static void solve(double a[FEATURES][FEATURES], double b[FEATURES])
{
    for (size_t k = 0; k < FEATURES; k++)
        for (size_t r = 0; r < FEATURES; r++) {
            double factor = r == k ? 0.0 : a[r][k] / a[k][k];
            for (size_t c = 0; c < FEATURES; c++)
                a[r][c] -= factor * a[k][c];
            b[r] -= factor * b[k];
        }
    for (size_t k = 0; k < FEATURES; k++)
        b[k] /= a[k][k];
}

/* Minimizes the mean of (1 - w'(a - a'))^2 pair by pair, over the rows of the agents that count. A row weighs 1, or
 * 1 / n_i if the agents do. */
static ranking best_ranking(const bool counted[AGENTS], bool by_size)
{
    ranking best = {.share = 0.0};
    double a[FEATURES][FEATURES] = {{0.0}};
    double sum[FEATURES] = {0.0};
    double weight[2] = {0.0, 0.0};
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; counted[i] && j < size[i]; j++) {
            double w = by_size ? 1.0 : 1.0 / (double)size[i];
            weight[label_of[i][j] > 0.0] += w;
            for (size_t i2 = 0; label_of[i][j] > 0.0 && i2 < AGENTS; i2++)
                for (size_t j2 = 0; counted[i2] && j2 < size[i2]; j2++) {
                    if (label_of[i2][j2] > 0.0)
                        continue;
                    double both = w * (by_size ? 1.0 : 1.0 / (double)size[i2]);
                    for (size_t r = 0; r < FEATURES; r++) {
                        double d = row_of[i][j][r] - row_of[i2][j2][r];
                        sum[r] += both * d;
                        for (size_t c = 0; c < FEATURES; c++)
                            a[r][c] += both * d * (row_of[i][j][c] - row_of[i2][j2][c]);
                    }
                }
        }
    double pairs = weight[0] * weight[1];
    memcpy(best.w, sum, sizeof best.w);
    solve(a, best.w);
    best.loss = 1.0;
    for (size_t k = 0; k < FEATURES; k++)
        best.loss -= sum[k] / pairs * best.w[k];
    best.share = weight[1] / (weight[0] + weight[1]);
    return best;
}

TEST_LOOP(auc_ranks_the_rows_of_the_agents_that_count, 0, 10 / FEWER)
{
    static const struct {
        const char *weights, *topology, *churn;
        bool measured[AGENTS]; /* at the end */
        bool others[AGENTS];   /* of another component */
    } cases[] = {
        {"equal", "ring", NULL, {1, 1, 1, 1, 1}, {0}},
        {"by-size", "ring", NULL, {1, 1, 1, 1, 1}, {0}},
        {"equal", "complete", "100 leave 0\n", {0, 1, 1, 1, 1}, {0}},
        {"by-size", "complete", "100 leave 0\n", {0, 1, 1, 1, 1}, {0}},
        {"by-size", "complete", "9 leave 0\n90 join 3\n200 return 0\n", {1, 1, 1, 1, 1}, {0}},
        {"equal", "ring", "500000 join 1\n", {1, 0, 1, 1, 1}, {0}},
        {"equal", "path", "100 cut 1 2\n", {0, 0, 1, 1, 1}, {1, 1, 0, 0, 0}},
        {"by-size", "path", "100 cut 1 2\n", {0, 0, 1, 1, 1}, {1, 1, 0, 0, 0}},
        {"by-size", "path", "500000 join 2\n", {1, 1, 0, 0, 0}, {0, 0, 0, 1, 1}},
        {"equal", "path", "100 cut 1 2\n300 heal 1 2\n", {1, 1, 1, 1, 1}, {0}},
    };
    char topology[32];
    char weights[32];
    write_rows();
    snprintf(topology, sizeof topology, "topology=%s", cases[_i].topology);
    snprintf(weights, sizeof weights, "agent-weights=%s", cases[_i].weights);
    bool by_size = strcmp(cases[_i].weights, "by-size") == 0;
    saddle_result *result = run("problem=auc", topology, weights, cases[_i].churn, NULL);
    ranking best = best_ranking(cases[_i].measured, by_size);
    ck_assert(best.loss < 0.9); /* there is something to learn */
    assert_near(last_row(result)->primal, best.share * (1.0 - best.share) * (best.loss - 1.0),
                1e-9);
    assert_at_most(last_row(result)->metric, 1e-9);
    assert_at_most(last_row(result)->gap, 1e-6);
    for (int part = 0; part < 2; part++) {
        const bool *counted = part == 0 ? cases[_i].measured : cases[_i].others;
        for (size_t i = 0; i < AGENTS; i++) {
            if (!counted[i])
                continue;
            best = best_ranking(counted, by_size);
            for (size_t k = 0; k < FEATURES; k++)
                assert_near(result->x[i * result->x_dim + k], best.w[k], 1e-6);
        }
    }
    saddle_result_free(result);
}

/* A share that is given stays, and so does that of all agents if those present have one class. */
TEST(a_given_share_stays)
{
    static const char *const given[] = {"positive-share=0.3", "iterations=300", "trace-every=300",
                                        NULL};
    write_rows();
    saddle_result *all =
        run("problem=auc", "topology=complete", "agent-weights=equal", "5000 leave 0\n", given);
    saddle_result *weighted =
        run("problem=auc", "topology=complete", "agent-weights=by-size", "100 leave 0\n", given);
    assert_near(test_number(&all->plan, "positive-share"), 0.3, 0.0);
    assert_near(test_number(&weighted->plan, "positive-share"), 0.3, 0.0);
    ck_assert(isfinite(last_row(weighted)->metric));
    saddle_result_free(all);
    saddle_result_free(weighted);
}

TEST(agents_of_one_class_do_no_harm)
{
    static const char *const brief[] = {"iterations=300", "trace-every=300", NULL};
    write_rows();
    saddle_test_write("part-4.libsvm", "1 1:0.5 2:1 3:0\n1 1:0.25 2:-1 3:2\n");
    saddle_result *result = run("problem=auc", "topology=path", "agent-weights=equal",
                                "50 leave 0\n60 leave 1\n70 leave 2\n80 leave 3\n", brief);
    assert_at_most(last_row(result)->metric, 1e300);
    ck_assert_int_eq(result->stop, SADDLE_STOP_ITERATIONS);
    saddle_result_free(result);
}

/* ---- group-dro -------------------------------------------------------------------------------- */

#define RIDGE 0.1

/* Computes the largest value over the simplex of sum_g y_g l_g - (RIDGE/2) |y - 1/G|^2 by bisection. */
static double worst_mixture(size_t groups, const double *loss)
{
    double low = -10.0;
    double high = 10.0 + 100.0 / RIDGE;
    double value = 0.0;
    for (int step = 0; step < 200; step++) {
        double level = 0.5 * (low + high);
        double sum = 0.0;
        value = 0.0;
        for (size_t g = 0; g < groups; g++) {
            double off = (loss[g] - level) / RIDGE;
            double y = fmax(0.0, 1.0 / (double)groups + off);
            off = y - 1.0 / (double)groups;
            sum += y;
            value += y * loss[g] - 0.5 * RIDGE * off * off;
        }
        if (sum > 1.0)
            low = level;
        else
            high = level;
    }
    return value;
}

/* Q at a model of linear scores with a bias. Groups are agents or labels; one without rows has the loss 0. */
static double group_objective(const bool counted[AGENTS], bool by_agent, const double *x)
{
    double loss[AGENTS] = {0.0};
    double rows[AGENTS] = {0.0};
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; counted[i] && j < size[i]; j++) {
            size_t g = by_agent ? i : label_of[i][j] > 0.0;
            double h = x[FEATURES];
            for (size_t k = 0; k < FEATURES; k++)
                h += x[k] * row_of[i][j][k];
            loss[g] += log1p(exp(-label_of[i][j] * h));
            rows[g] += 1.0;
        }
    for (size_t g = 0; g < AGENTS; g++)
        loss[g] /= fmax(rows[g], 1.0);
    return worst_mixture(by_agent ? AGENTS : 2, loss);
}

TEST_LOOP(group_dro_minimizes_the_worst_loss_of_the_agents_present, 0, 5 / FEWER)
{
    static const struct {
        const char *groups, *churn;
        bool counted[AGENTS];
    } cases[] = {
        {"groups=label", NULL, {1, 1, 1, 1, 1}},
        {"groups=label", "100 leave 0\n", {0, 1, 1, 1, 1}},
        {"groups=agents", "100 leave 0\n", {0, 1, 1, 1, 1}},
        {"groups=label", "50 leave 4\n60 leave 0\n300 return 4\n", {0, 1, 1, 1, 1}},
        {"groups=agents", "90000 join 2\n", {1, 1, 0, 1, 1}},
    };
    const char *more[] = {cases[_i].groups, "algorithm=gt-gda", "group-ridge=0.1", NULL};
    bool by_agent = strcmp(cases[_i].groups, "groups=agents") == 0;
    saddle_rng rng;
    write_rows();
    saddle_result *result =
        run("problem=group-dro", "topology=complete", "agent-weights=equal", cases[_i].churn, more);
    const double *x = result->x_mean;
    double least = group_objective(cases[_i].counted, by_agent, x);
    assert_near(last_row(result)->primal, least, 1e-9);
    saddle_rng_init(&rng, 4, SADDLE_RNG_TEST, 0, 0);
    for (int direction = 0; direction < 50; direction++) {
        double moved[FEATURES + 1];
        for (size_t k = 0; k <= FEATURES; k++)
            moved[k] = x[k] + 1e-2 * saddle_rng_normal(&rng);
        assert_at_most(least, group_objective(cases[_i].counted, by_agent, moved));
    }
    /* It counts every row once in any case. */
    saddle_result *by_size = run("problem=group-dro", "topology=complete", "agent-weights=by-size",
                                 cases[_i].churn, more);
    test_assert_same_result(by_size, result, "weights by size");
    ck_assert_int_eq(by_size->plan.problem.agent_weights, SADDLE_WEIGHTS_EQUAL);
    saddle_result_free(by_size);
    saddle_result_free(result);
}

/* ---- the same bits ---------------------------------------------------------------------------- */

TEST_LOOP(bits_depend_on_neither_threads_nor_interruptions, 0, 12 / FEWER)
{
    static const char *const problem[] = {"problem=auc", "problem=group-dro",
                                          "problem=robust-logistic"};
    static const char *const weights[] = {"agent-weights=equal", "agent-weights=by-size"};
    static const char *const algorithm[] = {"algorithm=precision", "algorithm=gt-gda"};
    /* Before an event, at it, and while agents start over. */
    static const int moment[] = {39, 40, 41, 60, 95, 150};
    static const char events[] = "20 leave 1\n40 cut 2 3\n60 return 1\n70 join 4\n90 heal 2 3\n"
                                 "100 leave 0\n";
    char every[40];
    char shorter[40];
    const char *more[] = {
        algorithm[_i / 6], "trace-every=10", "iterations=180", "gap=never", NULL, NULL, NULL};
    write_rows();
    saddle_result *expected =
        run(problem[_i % 3], "topology=path", weights[_i / 3 % 2], events, more);
    more[4] = "threads=1";
    saddle_result *other = run(problem[_i % 3], "topology=path", weights[_i / 3 % 2], events, more);
    test_assert_same_result(other, expected, "threads");
    saddle_result_free(other);
    for (size_t k = 0; k < sizeof moment / sizeof *moment; k++) {
        if (!test_chosen((size_t)_i, k))
            continue;
        snprintf(every, sizeof every, "checkpoint-every=%d", moment[k]);
        snprintf(shorter, sizeof shorter, "iterations=%d", moment[k]);
        more[2] = shorter;
        more[4] = "checkpoint=points";
        more[5] = every;
        saddle_result_free(
            run(problem[_i % 3], "topology=path", weights[_i / 3 % 2], events, more));
        more[2] = "iterations=180";
        more[5] = "resume=points";
        saddle_result *resumed =
            run(problem[_i % 3], "topology=path", weights[_i / 3 % 2], events, more);
        test_assert_same_result(resumed, expected, every);
        saddle_result_free(resumed);
        more[4] = more[5] = NULL;
        ck_assert_int_eq(system("rm -r points"), 0);
    }
    saddle_result_free(expected);
}
