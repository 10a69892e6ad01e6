/*
 * Scaling of columns: statistics against a naive computation in long double, the same bits in any number
 * of processes, what is never scaled, invariance to units, and predictions for data as given.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/lab.h>

#include "core/memory.h"
#include "core/rng.h"
#include "data/scale.h"
#include "instance/instance.h"
#include "support.h"
#include "thread_world.h"

static saddle_error error;

enum { ROWS = 203, FEATURES = 8, AGENTS = 5 };

/* The columns of raw(): what they hold. */
enum { LARGE, TINY, SHIFTED, FLAG, CONSTANT, NORMAL, SIGN, NEARLY_CONSTANT };

/* Fills in columns of very different units, and labels that depend on three of them. */
static void raw(double *a, double *label)
{
    saddle_rng rng;
    saddle_rng_init(&rng, 3, 90, 0, 0);
    for (size_t row = 0; row < ROWS; row++) {
        double *v = a + row * FEATURES;
        for (size_t k = 0; k < FEATURES; k++)
            v[k] = saddle_rng_normal(&rng);
        label[row] = v[LARGE] - v[TINY] + 0.5 * v[NORMAL] > 0.0 ? 1.0 : -1.0;
        v[LARGE] = 700.0 + 300.0 * v[LARGE];
        v[TINY] = 1e-3 * v[TINY];
        v[SHIFTED] = 50.0 + v[SHIFTED];
        v[FLAG] = v[FLAG] > 1.0 ? 1.0 : 0.0;
        v[CONSTANT] = 0.1;
        v[SIGN] = v[SIGN] > 0.0 ? 1.0 : -1.0;
        v[NEARLY_CONSTANT] = 1e6 + (double)(row % 2) * 0x1p-10;
    }
}

static saddle_dataset *dense(size_t rows, size_t features, const double *a, const double *label)
{
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_from_dense(&data, rows, features, a, label, SADDLE_BORROW, &error),
              error);
    return data;
}

static saddle_dataset *raw_data(double *a, double *label)
{
    raw(a, label);
    return dense(ROWS, FEATURES, a, label);
}

/* Sizes of the agents' rows, very uneven; they add up to ROWS. */
static const char uneven[] = "100,3,60,1,39";

static void set(saddle_plan *plan, const char *name, const char *value)
{
    assert_ok(saddle_plan_set(plan, name, value, &error), error);
}

/* A plan for a problem on these rows, which are divided in their order. */
static void make_plan(saddle_plan *plan, const char *problem, const saddle_dataset *rows)
{
    saddle_plan_defaults(plan, sizeof *plan);
    plan->problem.rows = rows;
    set(plan, "problem", problem);
    set(plan, "partition", "contiguous");
    set(plan, "agents", "5");
    set(plan, "topology", "ring");
    set(plan, "iterations", "40");
}

static saddle_instance *make(const saddle_plan *plan)
{
    saddle_instance *instance = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    return instance;
}

/* Creates an instance for some rows with one more option, and frees the plan. */
static saddle_instance *make_with(const char *problem, const saddle_dataset *rows, const char *name,
                                  const char *value)
{
    saddle_plan plan;
    make_plan(&plan, problem, rows);
    if (name != NULL)
        set(&plan, name, value);
    saddle_instance *instance = make(&plan);
    saddle_plan_free(&plan);
    return instance;
}

/* The naive two passes. */
static void naive(const double *a, size_t k, double *mean, double *deviation)
{
    long double sum = 0.0L;
    long double square = 0.0L;
    for (size_t row = 0; row < ROWS; row++)
        sum += (long double)a[row * FEATURES + k];
    for (size_t row = 0; row < ROWS; row++) {
        long double d = (long double)a[row * FEATURES + k] - sum / ROWS;
        square += d * d;
    }
    *mean = (double)(sum / ROWS);
    *deviation = sqrt((double)(square / ROWS));
}

static bool stays(size_t k)
{
    return k == FLAG || k == SIGN;
}

TEST(statistics_are_those_of_all_rows)
{
    double a[ROWS * FEATURES];
    double before[ROWS * FEATURES];
    double label[ROWS];
    saddle_dataset *data = raw_data(a, label);
    saddle_instance *e = make_with("auc", data, "samples", uneven);
    memcpy(before, a, sizeof a);
    ck_assert_ptr_nonnull(e->mean);
    ck_assert_int_eq(e->plan->problem.scale, SADDLE_SCALE_STANDARD);
    for (size_t k = 0; k < FEATURES; k++) {
        double mean = 0.0;
        double deviation = 1.0;
        if (!stays(k))
            naive(a, k, &mean, &deviation);
        if (k == CONSTANT) /* becomes 0 */
            deviation = mean;
        assert_near(e->mean[k], mean, stays(k) ? 0.0 : 1e-13 * deviation + 1e-15 * fabs(mean));
        assert_near(e->deviation[k], deviation, stays(k) ? 0.0 : 1e-12 * deviation);
    }
    /* The agents' rows are the scaled ones, in their order; the caller's rows are as they were. */
    size_t at = 0;
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t row = 0; row < e->parts->shard[i]->rows; row++, at++)
            for (size_t k = 0; k < FEATURES; k++)
                ck_assert_double_eq(e->parts->shard[i]->dense[row * FEATURES + k],
                                    (a[at * FEATURES + k] - e->mean[k]) / e->deviation[k]);
    ck_assert_uint_eq(at, ROWS);
    ck_assert_double_eq(e->parts->shard[0]->dense[CONSTANT], 0.0);
    ck_assert_mem_eq(a, before, sizeof a);
    saddle_instance_free(e);
    saddle_dataset_free(data);
}

/* ---- several processes ----------------------------------------------------------------------- */

typedef struct shared {
    const saddle_plan *plan;
    double mean[MOST_RANKS][FEATURES];
    double deviation[MOST_RANKS][FEATURES];
    double value[MOST_RANKS]; /* of the last row of the trace */
} shared;

static void solve(void *context, size_t rank)
{
    shared *all = context;
    saddle_instance *e = NULL;
    saddle_error own = {.message = ""};
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create_on(&e, &test_thread_world_engine, all->plan, &own), own);
    assert_ok(saddle_run(e, all->plan, NULL, &result, &own), own);
    memcpy(all->mean[rank], e->mean, sizeof all->mean[rank]);
    memcpy(all->deviation[rank], result->deviation, sizeof all->deviation[rank]);
    all->value[rank] = result->rows[result->row_count - 1].loss;
    saddle_result_free(result);
    saddle_instance_free(e);
}

TEST(the_bits_do_not_depend_on_processes)
{
    double a[ROWS * FEATURES];
    double label[ROWS];
    saddle_dataset *data = raw_data(a, label);
    saddle_dataset *part[AGENTS];
    static const size_t size[AGENTS] = {100, 3, 60, 1, 39};
    size_t at = 0;
    for (size_t i = 0; i < AGENTS; at += size[i++])
        part[i] = dense(size[i], FEATURES, a + at * FEATURES, label + at);
    saddle_plan plan;
    make_plan(&plan, "group-dro", data);
    set(&plan, "samples", uneven);
    set(&plan, "groups", "label");
    saddle_instance *e = make(&plan);
    saddle_result *result = NULL;
    assert_ok(saddle_run(e, &plan, NULL, &result, &error), error);
    /* Own rows of every agent, in memory as if from its file. */
    plan.problem.rows = NULL;
    plan.problem.shards = (const saddle_dataset *const *)part;
    plan.problem.shard_count = AGENTS;
    for (size_t ranks = 1; ranks <= AGENTS; ranks++) {
        shared all = {.plan = &plan};
        test_thread_world_run(ranks, solve, &all);
        for (size_t rank = 0; rank < ranks; rank++) {
            ck_assert_mem_eq(all.mean[rank], e->mean, sizeof all.mean[rank]);
            ck_assert_mem_eq(all.deviation[rank], e->deviation, sizeof all.mean[rank]);
            ck_assert_double_eq(all.value[rank], result->rows[result->row_count - 1].loss);
        }
    }
    saddle_result_free(result);
    saddle_instance_free(e);
    saddle_plan_free(&plan);
    for (size_t i = 0; i < AGENTS; i++)
        saddle_dataset_free(part[i]);
    saddle_dataset_free(data);
}

/* ---- what is scaled -------------------------------------------------------------------------- */

/* Asserts whether the rule auto scales `features` columns that a function fills in. */
static void assert_auto(bool scales, size_t features, double (*value)(double normal, size_t k))
{
    double *a = saddle_alloc_doubles(ROWS * features);
    double label[ROWS];
    saddle_rng rng;
    ck_assert_ptr_nonnull(a);
    saddle_rng_init(&rng, 4, 90, 0, 0);
    for (size_t row = 0; row < ROWS; row++) {
        label[row] = row % 2 == 0 ? 1.0 : -1.0;
        for (size_t k = 0; k < features; k++)
            a[row * features + k] = value(saddle_rng_normal(&rng), k);
    }
    saddle_dataset *data = dense(ROWS, features, a, label);
    saddle_instance *e = make_with("auc", data, NULL, NULL);
    ck_assert_int_eq(e->mean != NULL, scales);
    ck_assert_int_eq(e->plan->problem.scale, scales ? SADDLE_SCALE_STANDARD : SADDLE_SCALE_NONE);
    saddle_instance_free(e);
    saddle_dataset_free(data);
    saddle_free(a);
}

static double standardized(double normal, size_t k)
{
    return k == 0 ? normal * normal * normal / 4.0 : normal; /* up to about 10 */
}
static double mixed(double normal, size_t k)
{
    return k == 0 ? 6.0 * normal : normal;
}
static double shifted(double normal, size_t k)
{
    return k == 0 ? 7.0 + normal : normal;
}
static double small_constant(double normal, size_t k)
{
    return k == 0 ? -0.01 : normal;
}
static double large_constant(double normal, size_t k)
{
    return k == 0 ? -6.0 : normal;
}
static double pixel(double normal, size_t k)
{
    double bright = fmin(fabs(normal), 2.0) / 2.0 * 255.0;
    return k % 8 == 0 ? floor(bright / 100.0) : floor(bright); /* dark at the border */
}
static double flag(double normal, size_t k)
{
    return normal > 2.2 ? 1.0 : k == 0 && normal < -2.2 ? -1.0 : 0.0;
}
static double age_and_flags(double normal, size_t k)
{
    return k == 0 ? 40.0 + 10.0 * normal : flag(normal, 1);
}
static double two_percentages(double normal, size_t k)
{
    return 50.0 + 20.0 * fmax(-2.5, fmin(2.5, normal + (double)k * 0.0));
}

TEST(auto_leaves_what_is_in_order)
{
    assert_auto(false, 6, standardized);
    assert_auto(true, 6, mixed);
    assert_auto(true, 6, shifted);
    assert_auto(false, 6, small_constant);
    assert_auto(true, 6, large_constant);
    assert_auto(false, 16, pixel);
    assert_auto(false, 6, flag);
    assert_auto(true, 6, age_and_flags);
    assert_auto(true, 2, two_percentages); /* too few columns to tell that they have one unit */
    assert_auto(false, 4, two_percentages);
}

TEST(rules_and_problems)
{
    double a[ROWS * FEATURES];
    double label[ROWS];
    saddle_dataset *data = raw_data(a, label);
    saddle_instance *e = make_with("auc", data, "steps", "paper");
    ck_assert_ptr_null(e->mean);
    saddle_instance_free(e);
    e = make_with("auc", data, "scale", "none");
    ck_assert_ptr_null(e->mean);
    ck_assert_ptr_nonnull(
        strstr(e->parts->unscaled, "features 8 (mean 1e+06, deviation 0.000488)"));
    saddle_instance_free(e);
    /* Without an intercept: divided by the root mean square. */
    e = make_with("robust-logistic", data, NULL, NULL);
    long double square = 0.0L;
    for (size_t row = 0; row < ROWS; row++)
        square += (long double)(a[row * FEATURES] * a[row * FEATURES]);
    ck_assert_double_eq(e->mean[LARGE], 0.0);
    assert_near(e->deviation[LARGE], sqrt((double)(square / ROWS)), 1e-10);
    ck_assert_double_eq(e->deviation[SIGN], 1.0);
    /* A constant can serve as an intercept. */
    ck_assert_double_eq(e->parts->shard[0]->dense[CONSTANT], 1.0);
    saddle_instance_free(e);
    for (size_t row = 0; row < ROWS; row++)
        a[row * FEATURES + CONSTANT] = -2e9;
    e = make_with("auc", data, "scale", "none");
    ck_assert_ptr_nonnull(strstr(e->parts->unscaled, "5 (always -2e+09)"));
    saddle_instance_free(e);
    /* A column of groups is read as given. */
    for (size_t row = 0; row < ROWS; row++)
        a[row * FEATURES + NORMAL] = (double)(row % 3) * 2.0;
    e = make_with("group-dro", data, "groups", "6");
    ck_assert_double_eq(e->mean[NORMAL], 0.0);
    ck_assert_double_eq(e->deviation[NORMAL], 1.0);
    ck_assert(e->deviation[LARGE] > 200.0);
    ck_assert_str_eq(SADDLE_PLAN_TEXT(e->plan, saddle_plan_find(e->plan, "group-values")), "0,2,4");
    saddle_instance_free(e);
    saddle_dataset_free(data);
}

/* One value in eight is not 0: 3 times a normal one in the first column, 1 in the others. */
TEST(sparse_rows_are_not_centred)
{
    enum { ENTRIES = ROWS };
    size_t start[ROWS + 1];
    uint32_t column[ENTRIES];
    double value[ENTRIES];
    double label[ROWS];
    saddle_rng rng;
    saddle_dataset *data = NULL;
    long double square = 0.0L;
    size_t count = 0;
    saddle_rng_init(&rng, 5, 90, 0, 0);
    for (size_t row = 0; row < ROWS; row++) {
        start[row] = row;
        column[row] = (uint32_t)(row % FEATURES);
        value[row] = column[row] == 0 ? 30.0 * saddle_rng_normal(&rng) : 1.0;
        label[row] = row % 3 == 0 ? 1.0 : -1.0;
        count += column[row] == 0;
        square += column[row] == 0 ? (long double)(value[row] * value[row]) : 0.0L;
    }
    start[ROWS] = ROWS;
    assert_ok(saddle_dataset_from_csr(&data, ROWS, FEATURES, start, column, value, label,
                                      SADDLE_BORROW, &error),
              error);
    saddle_instance *e = make_with("auc", data, NULL, NULL);
    assert_near(e->deviation[0], sqrt((double)(square / count)), 1e-12);
    for (size_t k = 0; k < FEATURES; k++)
        ck_assert_double_eq(e->mean[k], 0.0);
    for (size_t k = 1; k < FEATURES; k++)
        ck_assert_double_eq(e->deviation[k], 1.0);
    ck_assert_ptr_null(e->parts->shard[0]->dense);
    ck_assert_double_eq(e->parts->shard[0]->value[0], value[0] / e->deviation[0]);
    saddle_instance_free(e);
    saddle_dataset_free(data);
}

/* Rows that are stored sparse but are mostly not 0 have the statistics of the same dense rows. */
TEST(storage_does_not_matter)
{
    double a[ROWS * FEATURES];
    double label[ROWS];
    size_t start[ROWS + 1] = {0};
    uint32_t column[ROWS * FEATURES];
    double value[ROWS * FEATURES];
    size_t count = 0;
    saddle_dataset *data = raw_data(a, label);
    saddle_dataset *sparse = NULL;
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t k = 0; k < FEATURES; k++)
            if (a[row * FEATURES + k] != 0.0) {
                column[count] = (uint32_t)k;
                value[count++] = a[row * FEATURES + k];
            }
        start[row + 1] = count;
    }
    assert_ok(saddle_dataset_from_csr(&sparse, ROWS, FEATURES, start, column, value, label,
                                      SADDLE_BORROW, &error),
              error);
    saddle_instance *e = make_with("auc", data, NULL, NULL);
    saddle_instance *f = make_with("auc", sparse, NULL, NULL);
    ck_assert_mem_eq(e->mean, f->mean, FEATURES * sizeof(double));
    ck_assert_mem_eq(e->deviation, f->deviation, FEATURES * sizeof(double));
    for (size_t i = 0; i < AGENTS; i++)
        ck_assert_mem_eq(e->parts->shard[i]->dense, f->parts->shard[i]->dense,
                         e->parts->shard[i]->rows * FEATURES * sizeof(double));
    saddle_instance_free(e);
    saddle_instance_free(f);
    saddle_dataset_free(data);
    saddle_dataset_free(sparse);
}

TEST(extreme_values_do_not_overflow)
{
    static const double unit[] = {DBL_MAX / 4.0, 1e-300, 0x1p-1060, 1.0};
    double a[4 * 4];
    static const double form[] = {-3.0, -1.0, 1.0, 3.0}; /* deviation sqrt 5 */
    static const double label[] = {1.0, -1.0, 1.0, -1.0};
    for (size_t row = 0; row < 4; row++)
        for (size_t k = 0; k < 4; k++)
            a[row * 4 + k] = form[row] * unit[k];
    saddle_dataset *data = dense(4, 4, a, label);
    saddle_plan plan;
    make_plan(&plan, "auc", data);
    set(&plan, "agents", "2");
    set(&plan, "scale", "standard");
    saddle_instance *e = make(&plan);
    for (size_t k = 0; k < 4; k++) {
        bool left = k == 2; /* smaller than normal numbers */
        assert_near(left ? 1.0 : e->deviation[k] / unit[k], left ? 1.0 : sqrt(5.0), 1e-14);
        ck_assert_double_eq(e->mean[k], 0.0);
        assert_near(e->parts->shard[0]->dense[k], left ? a[k] : -3.0 / sqrt(5.0), 1e-14);
    }
    saddle_instance_free(e);
    saddle_plan_free(&plan);
    saddle_dataset_free(data);
}

/* ---- results --------------------------------------------------------------------------------- */

static saddle_result *run_on(const char *problem, const saddle_dataset *data,
                             const saddle_dataset *held_out, const char *model)
{
    saddle_plan plan;
    saddle_result *result = NULL;
    make_plan(&plan, problem, data);
    set(&plan, "samples", uneven);
    set(&plan, "scale", "standard");
    plan.problem.test_rows = held_out;
    plan.outputs.model = model;
    assert_ok(saddle_solve(NULL, &plan, &result, &error), error);
    saddle_plan_free(&plan);
    return result;
}

/* Other units of the columns change nothing but rounding errors. */
TEST(units_do_not_matter)
{
    static const char *const problem[] = {"auc", "robust-regression", "poisoning"};
    static const double factor[] = {1e-4, 3e7, 1.8, 1.0, 1.0, 0.3, 1.0, 1.0};
    static const double shift[] = {5.0, -1e4, 32.0, 0.0, 0.0, 100.0, 0.0, 0.0};
    double a[ROWS * FEATURES];
    double b[ROWS * FEATURES];
    double label[ROWS];
    saddle_dataset *data = raw_data(a, label);
    for (size_t at = 0; at < sizeof a / sizeof *a; at++) {
        if (at % FEATURES == NEARLY_CONSTANT)
            a[at] -= 1e6; /* its digits would be lost */
        b[at] = factor[at % FEATURES] * a[at] + shift[at % FEATURES];
    }
    saddle_dataset *other = dense(ROWS, FEATURES, b, label);
    for (size_t p = 0; p < sizeof problem / sizeof *problem; p++) {
        saddle_result *r = run_on(problem[p], data, NULL, NULL);
        saddle_result *s = run_on(problem[p], other, NULL, NULL);
        ck_assert_uint_eq(r->row_count, s->row_count);
        for (size_t k = 0; k < r->x_dim; k++)
            assert_near(s->x_mean[k], r->x_mean[k], 1e-9);
        for (size_t k = 0; k < r->y_dim; k++)
            assert_near(s->y_mean[k], r->y_mean[k], 1e-9);
        assert_near(s->rows[s->row_count - 1].metric / r->rows[r->row_count - 1].metric, 1.0, 1e-6);
        saddle_result_free(r);
        saddle_result_free(s);
    }
    saddle_dataset_free(data);
    saddle_dataset_free(other);
}

/* Scores of a saved model, its coefficients and outcomes are those of rows as given. */
TEST(models_take_rows_as_given)
{
    static const char *const problem[] = {
        "auc", "fair", "group-dro", "poisoning", "robust-regression", "robust-logistic"};
    static const char path[] = "model.npz";
    double a[ROWS * FEATURES];
    double label[ROWS];
    double score[ROWS];
    double w[FEATURES + 1];
    saddle_dataset *data = raw_data(a, label);
    saddle_test_enter_directory();
    for (size_t p = 0; p < sizeof problem / sizeof *problem; p++) {
        saddle_plan plan;
        saddle_result *r = NULL;
        saddle_predictor *predictor = NULL;
        saddle_outcome outcome[SADDLE_MOST_MEASURES];
        size_t count = 0;
        make_plan(&plan, problem[p], data);
        if (p == 1)
            set(&plan, "sensitive", "4");
        if (p == 2)
            set(&plan, "groups", "agents");
        plan.problem.test_rows = p < 5 ? data : NULL;
        plan.outputs.model = path;
        assert_ok(saddle_solve(NULL, &plan, &r, &error), error);
        assert_ok(saddle_predictor_load(&predictor, path, NULL, &error), error);
        assert_ok(saddle_predictor_scores(predictor, data, score, &error), error);
        assert_ok(saddle_predictor_coefficients(predictor, w, &error), error);
        for (size_t row = 0; row < ROWS; row++) {
            double sum = w[FEATURES];
            double size = fabs(sum);
            for (size_t k = 0; k < FEATURES; k++) {
                sum += w[k] * a[row * FEATURES + k];
                size += fabs(w[k] * a[row * FEATURES + k]);
            }
            assert_near(score[row], sum, 1e-14 * size + 1e-300);
        }
        ck_assert(fabs(score[0] - score[1]) > 1e-6);
        /* The outcomes of the run on held-out rows are those of the model on the rows as given. */
        assert_ok(saddle_predictor_evaluate(predictor, data, NULL, outcome, &count, &error), error);
        for (size_t k = 0; k < count; k++) {
            char column[SADDLE_OUTCOME_NAME + 8] = "test_";
            double own = saddle_result_outcome(r, strcat(column, outcome[k].name));
            ck_assert(isnan(own) || own == outcome[k].value);
        }
        saddle_predictor_free(predictor);
        saddle_result_free(r);
        saddle_plan_free(&plan);
    }
    saddle_dataset_free(data);
}

/* By hand, for one model: (a - mean) / deviation, then the linear score of auc. */
TEST(scores_by_hand)
{
    double a[ROWS * FEATURES];
    double label[ROWS];
    double score[ROWS];
    saddle_dataset *data = raw_data(a, label);
    saddle_saved_model *model = NULL;
    saddle_predictor *predictor = NULL;
    saddle_test_enter_directory();
    saddle_result_free(run_on("auc", data, NULL, "model.npz"));
    assert_ok(saddle_saved_model_load(&model, "model.npz", &error), error);
    assert_ok(saddle_predictor_load(&predictor, "model.npz", NULL, &error), error);
    assert_ok(saddle_predictor_scores(predictor, data, score, &error), error);
    const double *x = model->x_mean;
    for (size_t row = 0; row < ROWS; row++) {
        double sum = x[FEATURES] - 0.5 * (x[FEATURES + 1] + x[FEATURES + 2]);
        for (size_t k = 0; k < FEATURES; k++)
            sum += x[k] * (a[row * FEATURES + k] - model->mean[k]) / model->deviation[k];
        assert_near(score[row], sum, 1e-13);
    }
    saddle_predictor_free(predictor);
    /* A network has no coefficients. A damaged model is refused. */
    model->deviation[2] = -1.0;
    assert_ok(saddle_saved_model_save(model, "bad.npz", &error), error);
    assert_refused(saddle_predictor_load(&predictor, "bad.npz", NULL, &error), error,
                   SADDLE_BAD_INPUT, "a deviation is not positive");
    model->deviation[2] = 1.0;
    model->features--;
    assert_ok(saddle_saved_model_save(model, "bad.npz", &error), error);
    assert_refused(saddle_predictor_load(&predictor, "bad.npz", NULL, &error), error,
                   SADDLE_BAD_INPUT, "");
    saddle_saved_model_free(model);
    saddle_dataset_free(data);
}
