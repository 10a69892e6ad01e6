/*
 * The problem robust-regression: its solution against least squares and against a slow descent that is
 * independent of the library, its outcomes against a recount, and labels that are real numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "data/rows.h"
#include "instances.h"
#include "support.h"

enum { FEATURES = 3, DIM = FEATURES + 1, ROWS = 60, SLOTS = 24, AGENTS = 3 };
static const char *const sizes[] = {"samples=24,20,16", "samples=20", NULL};

/* Returns rows of a line with noise, with an outlier in every tenth; the mean of the labels is far from 0. */
static saddle_dataset *make_rows(void)
{
    static double rows[ROWS * FEATURES];
    static double label[ROWS];
    saddle_error error = {.message = ""};
    saddle_dataset *data = NULL;
    saddle_rng rng;
    saddle_rng_init(&rng, 11, SADDLE_RNG_TEST, 0, 0);
    for (size_t j = 0; j < ROWS; j++) {
        double *a = rows + j * FEATURES;
        for (size_t k = 0; k < FEATURES; k++)
            a[k] = saddle_rng_normal(&rng);
        label[j] = 20.0 + 2.0 * a[0] - a[1] + saddle_rng_normal(&rng) + (j % 10 == 0 ? 9.0 : 0.0);
    }
    assert_ok(saddle_dataset_from_dense(&data, ROWS, FEATURES, rows, label, SADDLE_COPY, &error),
              error);
    return data;
}

static saddle_instance *make_instance(saddle_plan *plan, const saddle_dataset *data)
{
    saddle_error error = {.message = ""};
    saddle_instance *instance = NULL;
    plan->problem.rows = data;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    return instance;
}

static double residual(const saddle_dataset *data, size_t row, const double *x)
{
    double r = x[FEATURES] - data->label[row];
    for (size_t k = 0; k < FEATURES; k++)
        r += data->dense[row * FEATURES + k] * x[k];
    return r;
}

/* ---- a slow solver --------------------------------------------------------------------------- */

/* The projection onto the simplex, by bisection on the threshold. */
static void project(size_t count, double *y)
{
    double low = -1e6;
    double high = 1e6;
    for (int step = 0; step < 100; step++) { /* 2^-100 of the range is below its rounding */
        double threshold = 0.5 * (low + high);
        double sum = 0.0;
        for (size_t k = 0; k < count; k++)
            sum += fmax(y[k] - threshold, 0.0);
        if (sum > 1.0)
            low = threshold;
        else
            high = threshold;
    }
    for (size_t k = 0; k < count; k++)
        y[k] = fmax(y[k] - high, 0.0);
}

/* The problem that the descent solves. */
typedef struct form {
    double weight;  /* W */
    double delta;   /* of Huber's loss */
    bool per_slot;  /* agents share weights */
    size_t present; /* only the first agents count */
} form;

/* Q(x) and its gradient: the best y from the mean losses of the slots, or from the losses of all rows. */
static double primal(const saddle_instance *e, const form *f, const double *x, double *gradient)
{
    double loss[ROWS] = {0.0};
    double slope[ROWS][DIM] = {{0.0}};
    double y[ROWS];
    double weight = f->weight;
    double delta = f->delta;
    size_t first = 0;
    size_t n = 0;
    for (size_t i = 0; i < f->present; i++) {
        size_t rows = e->parts->shard[i]->rows;
        n = f->per_slot ? (rows > n ? rows : n) : n + rows;
    }
    for (size_t i = 0; i < f->present; i++) {
        const saddle_dataset *data = e->parts->shard[i];
        double share = f->per_slot ? (double)n / (double)(f->present * data->rows) : 1.0;
        for (size_t j = 0; j < data->rows; j++) {
            size_t at = first + j;
            double r = residual(data, j, x);
            double s = fmax(fmin(r, delta), -delta);
            loss[at] += share * (fabs(r) <= delta ? 0.5 * r * r : delta * (fabs(r) - 0.5 * delta));
            for (size_t k = 0; k < FEATURES; k++)
                slope[at][k] += share * s * data->dense[j * FEATURES + k];
            slope[at][FEATURES] += share * s;
        }
        first += f->per_slot ? 0 : data->rows;
    }
    for (size_t j = 0; j < n; j++)
        y[j] = 1.0 / (double)n + loss[j] / (weight * (double)n);
    project(n, y);
    double value = 0.0;
    memset(gradient, 0, DIM * sizeof *gradient);
    for (size_t j = 0; j < n; j++) {
        double off = (double)n * y[j] - 1.0;
        value += y[j] * loss[j] - weight / (2.0 * (double)n) * off * off;
        for (size_t k = 0; k < DIM; k++)
            gradient[k] += y[j] * slope[j][k];
    }
    return value;
}

/* Gradient descent on Q, which is convex: the step is halved until Q decreases. */
static double descend(const saddle_instance *e, const form *f, double *x)
{
    double gradient[DIM];
    double ahead[DIM];
    double step = 1.0;
    double value = primal(e, f, x, gradient);
    for (int t = 0; t < 30000; t++) {
        double next[DIM];
        for (size_t k = 0; k < DIM; k++)
            next[k] = x[k] - step * gradient[k];
        double there = primal(e, f, next, ahead);
        if (there > value) {
            step *= 0.5;
            continue;
        }
        step *= 1.1;
        value = there;
        memcpy(x, next, sizeof next);
        memcpy(gradient, ahead, sizeof ahead);
    }
    return value;
}

static const struct {
    const char *loss, *divergence;
    double weight, delta;
} forms[] = {{"loss=square", "divergence=40", 40.0, INFINITY},
             {"loss=square", "divergence=2", 2.0, INFINITY},
             {"loss=huber", "divergence=3", 3.0, 1.5}};

/* With one weight per sample, the solution does not depend on how rows are divided: it is that of one agent. */
TEST_LOOP(the_solution_is_that_of_a_slow_descent, 0,
          TEST_SLOWDOWN > 1 ? 1 : sizeof forms / sizeof *forms)
{
    static const char *const agents[] = {"agents=3", "agents=3", "agents=1"};
    static const char *const per[] = {"weights-per=sample", "weights-per=slot"};
    double pooled = NAN;
    for (size_t s = 0; s < 5; s++) {
        bool per_slot = s >= 3;
        size_t division = per_slot ? s - 3 : s;
        bool alone = division == 2;
        const char *assignment[] = {"problem=robust-regression",
                                    forms[_i].loss,
                                    forms[_i].divergence,
                                    "huber-delta=1.5",
                                    per[per_slot],
                                    agents[division],
                                    alone ? "samples=60" : sizes[division],
                                    "topology=path",
                                    "iterations=5000",
                                    "trace-every=5000",
                                    NULL};
        saddle_dataset *data = make_rows();
        saddle_plan *plan = test_plan(NULL, assignment);
        saddle_instance *e = make_instance(plan, data);
        saddle_error error = {.message = ""};
        saddle_result *result = NULL;
        double x[DIM] = {0.0};
        form f = {forms[_i].weight, forms[_i].delta, per_slot, alone ? 1 : AGENTS};
        double value = descend(e, &f, x);
        assert_ok(saddle_run(e, NULL, NULL, &result, &error), error);
        double found = result->rows[result->row_count - 1].primal;
        saddle_fprintf(stdout, "%s, %s, %s, %s: descent %.10f, the run %.10f\n", forms[_i].loss,
                       forms[_i].divergence, per[per_slot], assignment[6], value, found);
        if (!per_slot && s > 0)
            assert_near(value, pooled, 1e-12 * value);
        pooled = value;
        assert_near(found, value, 1e-8 * value);
        assert_at_most(test_farthest(DIM, result->x_mean, x), 1e-4);
        ck_assert_uint_eq(result->y_dim, per_slot ? (division == 0 ? SLOTS : 20) : ROWS);
        saddle_result_free(result);
        saddle_instance_free(e);
        test_plan_free(plan);
        saddle_dataset_free(data);
    }
}

/* When an agent has left, the problem is that of the rows that are present. */
TEST(without_an_agent_its_samples_have_no_weight)
{
    const char *assignment[] = {"problem=robust-regression",
                                "divergence=2",
                                "agents=3",
                                sizes[0],
                                "topology=complete",
                                "algorithm=gt-gda",
                                "iterations=12000",
                                "trace-every=12000",
                                "churn=churn.txt",
                                NULL};
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", "60 leave 2\n");
    saddle_dataset *data = make_rows();
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *e = make_instance(plan, data);
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    double x[DIM] = {0.0};
    double value = descend(e, &(form){2.0, INFINITY, false, 2}, x);
    assert_ok(saddle_run(e, NULL, NULL, &result, &error), error);
    assert_near(result->rows[result->row_count - 1].primal, value, 1e-8 * value);
    for (size_t i = 0; i < 2; i++)
        assert_at_most(test_farthest(DIM, result->x + i * DIM, x), 1e-4);
    for (size_t k = 44; k < ROWS; k++)
        assert_near(result->y[k], 0.0, 1e-9);
    saddle_result_free(result);
    saddle_instance_free(e);
    test_plan_free(plan);
    saddle_dataset_free(data);
}

/* If the adversary's cost is prohibitive, the problem is least squares: residuals orthogonal to every column. */
TEST(without_an_adversary_it_is_least_squares)
{
    const char *assignment[] = {
        "problem=robust-regression", "divergence=1e12",  "agents=3", "samples=20", "topology=path",
        "iterations=3000",           "trace-every=3000", NULL};
    saddle_dataset *data = make_rows();
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *e = make_instance(plan, data);
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    assert_ok(saddle_run(e, NULL, NULL, &result, &error), error);
    for (size_t k = 0; k < DIM; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < AGENTS; i++)
            for (size_t j = 0; j < e->parts->shard[i]->rows; j++)
                sum += residual(e->parts->shard[i], j, result->x_mean) *
                       (k < FEATURES ? e->parts->shard[i]->dense[j * FEATURES + k] : 1.0);
        assert_near(sum / ROWS, 0.0, 1e-9);
    }
    saddle_result_free(result);
    saddle_instance_free(e);
    test_plan_free(plan);
    saddle_dataset_free(data);
}

static int descending(const void *a, const void *b)
{
    return (*(const double *)a < *(const double *)b) - (*(const double *)a > *(const double *)b);
}

/* Computes the four outcomes over some rows. */
static void recount(const saddle_dataset *const *data, size_t count, const double *x, double *out)
{
    double off[ROWS];
    double label[ROWS];
    size_t rows = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < data[i]->rows; j++) {
            label[rows] = data[i]->label[j];
            off[rows++] = fabs(residual(data[i], j, x));
        }
    double n = (double)rows;
    double mean = 0.0;
    double spread = 0.0;
    double square = 0.0;
    double worst = 0.0;
    qsort(off, rows, sizeof *off, descending);
    out[1] = 0.0;
    for (size_t k = 0; k < rows; k++) {
        mean += label[k] / n;
        square += off[k] * off[k] / n;
        out[1] += off[k] / n;
    }
    for (size_t k = 0; k < rows; k++)
        spread += (label[k] - mean) * (label[k] - mean) / n;
    size_t tenth = (rows + 9) / 10;
    for (size_t k = 0; k < tenth; k++)
        worst += off[k] * off[k] / (double)tenth;
    out[0] = sqrt(square);
    out[2] = 1.0 - square / spread;
    out[3] = sqrt(worst);
}

TEST(outcomes_are_what_a_recount_finds)
{
    static const char *const names[] = {"rmse", "mae", "r2", "worst_tenth_rmse"};
    const char *assignment[] = {"problem=robust-regression", "agents=3", sizes[0], "topology=path",
                                NULL};
    saddle_dataset *data = make_rows();
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *e = make_instance(plan, data);
    const double x[DIM] = {1.8, -0.5, 0.3, 19.0};
    saddle_outcome out[SADDLE_MOST_OUTCOMES];
    double expected[4];
    const saddle_dataset *held_out = data;
    for (int held = 0; held < 2; held++) {
        const saddle_dataset *const *all = (const saddle_dataset *const *)e->parts->shard;
        recount(held == 1 ? &held_out : all, held == 1 ? 1 : AGENTS, x, expected);
        ck_assert_uint_eq(test_outcomes(e->problem, held == 1 ? data : NULL, x, NULL, out), 4);
        for (size_t k = 0; k < 4; k++) {
            ck_assert_str_eq(out[k].name, names[k]);
            assert_near(out[k].value, expected[k], 1e-13 * (1.0 + fabs(expected[k])));
        }
    }
    const double broken[DIM] = {NAN};
    ck_assert_uint_eq(test_outcomes(e->problem, data, broken, NULL, out), 4);
    for (size_t k = 0; k < 4; k++)
        ck_assert(isnan(out[k].value));
    saddle_instance_free(e);
    test_plan_free(plan);
    saddle_dataset_free(data);
}

/* Labels far from 0 are learned like others: v starts at their mean, which is that of all agents. */
TEST(the_start_predicts_the_mean)
{
    const char *assignment[] = {"problem=robust-regression", "agents=3", "topology=path", NULL};
    saddle_dataset *data = make_rows();
    saddle_plan *plan = test_plan(NULL, assignment);
    for (size_t j = 0; j < ROWS; j++)
        data->label[j] += 1e8;
    saddle_instance *e = make_instance(plan, data);
    long double mean = 0.0L;
    long double variance = 0.0L;
    for (size_t j = 0; j < ROWS; j++)
        mean += (long double)data->label[j] / ROWS;
    for (size_t j = 0; j < ROWS; j++)
        variance += (data->label[j] - mean) * (data->label[j] - mean) / ROWS;
    for (size_t k = 0; k < FEATURES; k++)
        ck_assert(e->x0[k] == 0.0);
    assert_near(e->x0[FEATURES], (double)mean, 1e-14 * (double)mean);
    assert_near(test_number(&e->parts->plan, "divergence"), (double)variance,
                1e-6 * (double)variance);
    saddle_instance_free(e);
    test_plan_free(plan);
    saddle_dataset_free(data);
}

/* Options that are derived from the data are recorded, and a saved model predicts labels. */
TEST(a_saved_model_predicts)
{
    const char *assignment[] = {"problem=robust-regression",
                                "loss=huber",
                                "agents=3",
                                "topology=path",
                                "iterations=500",
                                NULL};
    saddle_dataset *data = make_rows();
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *e = make_instance(plan, data);
    double mean = 0.0;
    double variance = 0.0;
    for (size_t j = 0; j < ROWS; j++)
        mean += data->label[j] / ROWS;
    for (size_t j = 0; j < ROWS; j++)
        variance += (data->label[j] - mean) * (data->label[j] - mean) / ROWS;
    assert_near(test_number(&e->parts->plan, "divergence"), variance, 1e-10 * variance);
    assert_near(test_number(&e->parts->plan, "huber-delta"), sqrt(variance), 1e-10 * variance);
    const double x[DIM] = {1.0, 2.0, 3.0, 4.0};
    double score[ROWS];
    saddle_error error = {.message = ""};
    assert_ok(e->problem->scores(e->problem, data, x, NULL, score, &error), error);
    for (size_t j = 0; j < ROWS; j++)
        assert_near(score[j], residual(data, j, x) + data->label[j], 1e-13);
    saddle_instance_free(e);
    test_plan_free(plan);
    saddle_dataset_free(data);
}
