/*
 * The problem group-dro: groups that span agents give the same objective however rows are distributed,
 * its outcomes against a slow recount, and its solution against Newton's method.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "data/rows.h"
#include "instances.h"
#include "support.h"

enum { GROUPS = 4 };

/* The group of a row in the sparse instance: by feature 2 and label. */
static size_t group_of(const saddle_dataset *data, size_t row)
{
    return (saddle_row_entry(data, row, 1) != 0.0 ? 2U : 0U) + (data->label[row] > 0.0 ? 1U : 0U);
}

static double score_of(const saddle_dataset *data, size_t row, const double *x)
{
    double sum = x[data->features];
    for (size_t k = 0; k < data->features; k++)
        sum += saddle_row_entry(data, row, k) * x[k];
    return sum;
}

/* Sums over groups, computed slowly. */
typedef struct recount {
    double rows[GROUPS], correct[GROUPS], loss[GROUPS];
} recount;

static void add_rows(const saddle_dataset *data, const double *x, recount *to)
{
    for (size_t j = 0; j < data->rows; j++) {
        size_t g = group_of(data, j);
        double h = score_of(data, j, x);
        to->rows[g] += 1.0;
        to->correct[g] += h * data->label[j] > 0.0;
        to->loss[g] += log1p(exp(-data->label[j] * h));
    }
}

static recount recount_of(const test_instance *instance, const saddle_dataset *held_out,
                          const double *x)
{
    recount r = {.rows = {0.0}};
    for (size_t i = 0; held_out == NULL && i < instance->problem->agents; i++)
        add_rows(instance->made->parts->shard[i], x, &r);
    if (held_out != NULL)
        add_rows(held_out, x, &r);
    return r;
}

static void draw(saddle_rng *rng, size_t count, double *out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = saddle_rng_normal(rng);
}

static double mean_value(const saddle_problem *problem, const double *x, const double *y)
{
    double *scratch = test_doubles(saddle_problem_scratch(problem));
    double sum = 0.0;
    for (size_t i = 0; i < problem->agents; i++)
        sum += saddle_problem_value(problem, i, x, y, scratch);
    free(scratch);
    return sum / (double)problem->agents;
}

/* (1/m) sum_i F_i = sum_g y_g l_g - (mu/2) |y - 1/G|^2, however a group is distributed over agents. */
TEST(groups_that_span_agents_are_weighted_exactly)
{
    static const char *const spread[][4] = {
        {NULL},
        {"samples=2,30,14", NULL},
        {"agents=1", "samples=46", NULL},
        {"partition=label-skew:0.2", "samples=46", "agents=1", NULL},
        {"partition=label-skew:0.2", "agents=3", NULL},
    };
    for (size_t s = 0; s < sizeof spread / sizeof *spread; s++) {
        test_instance instance;
        test_instance_open(&instance, GROUP_DRO_SPARSE_UNEQUAL, spread[s]);
        const saddle_problem *problem = instance.problem;
        ck_assert_uint_eq(problem->y_dim, GROUPS);
        double *x = test_doubles(problem->x_dim);
        double y[GROUPS];
        saddle_rng rng;
        saddle_rng_init(&rng, 6, SADDLE_RNG_TEST, s, 0);
        draw(&rng, problem->x_dim, x);
        draw(&rng, GROUPS, y);
        recount r = recount_of(&instance, NULL, x);
        double expected = 0.0;
        for (size_t g = 0; g < GROUPS; g++) {
            ck_assert(r.rows[g] > 0.0);
            expected += y[g] * r.loss[g] / r.rows[g] - 0.05 * (y[g] - 0.25) * (y[g] - 0.25);
        }
        assert_near(mean_value(problem, x, y), expected, 1e-13 * (1.0 + fabs(expected)));
        free(x);
        test_instance_close(&instance);
    }
}

static void check_outcomes(const test_instance *instance, const saddle_dataset *held_out,
                           const double *x)
{
    saddle_outcome out[SADDLE_MOST_OUTCOMES];
    const double y[GROUPS] = {0.25, 0.25, 0.25, 0.25};
    recount r = recount_of(instance, held_out, x);
    double total[3] = {0.0};
    double least = INFINITY;
    double most = 0.0;
    ck_assert_uint_eq(test_outcomes(instance->problem, held_out, x, y, out), 4 + GROUPS);
    for (size_t g = 0; g < GROUPS; g++) {
        char name[32];
        total[0] += r.rows[g];
        total[1] += r.correct[g];
        total[2] += r.loss[g];
        least = fmin(least, r.correct[g] / r.rows[g]);
        most = fmax(most, r.loss[g] / r.rows[g]);
        saddle_snprintf(name, sizeof name, "group_%zu_accuracy", g + 1);
        ck_assert_str_eq(out[4 + g].name, name);
        assert_near(out[4 + g].value, r.correct[g] / r.rows[g], 1e-14);
    }
    ck_assert_str_eq(out[0].name, "worst_group_accuracy");
    assert_near(out[0].value, least, 1e-14);
    ck_assert_str_eq(out[1].name, "accuracy");
    assert_near(out[1].value, total[1] / total[0], 1e-14);
    ck_assert_str_eq(out[2].name, "worst_group_loss");
    assert_near(out[2].value, most, 1e-13 * most);
    ck_assert_str_eq(out[3].name, "loss");
    assert_near(out[3].value, total[2] / total[0], 1e-13 * most);
}

TEST(outcomes_are_what_a_recount_finds)
{
    test_instance instance;
    saddle_error error = {.message = ""};
    saddle_dataset *held_out = NULL;
    test_instance_open(&instance, GROUP_DRO_SPARSE_UNEQUAL, NULL);
    assert_ok(saddle_dataset_generate(&held_out, 300, 20, 99, &error), error);
    assert_ok(saddle_dataset_make_binary(held_out, NULL, &error), error);
    double *x = test_doubles(instance.problem->x_dim);
    saddle_rng rng;
    saddle_rng_init(&rng, 3, SADDLE_RNG_TEST, 0, 0);
    for (int round = 0; round < 5; round++) {
        draw(&rng, instance.problem->x_dim, x);
        check_outcomes(&instance, NULL, x);
        check_outcomes(&instance, held_out, x);
    }
    free(x);
    saddle_dataset_free(held_out);
    test_instance_close(&instance);
}

/* Groups without rows have no accuracy; the worst is among the others, NaN if there are none. */
TEST(groups_without_rows_are_not_the_worst)
{
    test_instance instance;
    saddle_error error = {.message = ""};
    saddle_outcome out[SADDLE_MOST_OUTCOMES];
    const double y[GROUPS] = {0.0};
    const size_t row_start[] = {0, 1, 2, 3};
    const uint32_t column[] = {1, 1, 1};
    const double value[] = {1.0, 1.0, 7.0};
    const double label[] = {1.0, 1.0, 1.0};
    saddle_dataset *data = NULL;
    assert_ok(
        saddle_dataset_from_csr(&data, 3, 20, row_start, column, value, label, SADDLE_COPY, &error),
        error);
    test_instance_open(&instance, GROUP_DRO_SPARSE_UNEQUAL, NULL);
    double *x = test_doubles(instance.problem->x_dim);
    x[1] = 1.0;
    x[20] = -2.0;
    /* Two are wrong in group 4; the third is right and in no group. */
    ck_assert_uint_eq(test_outcomes(instance.problem, data, x, y, out), 8);
    assert_near(out[0].value, 0.0, 0.0);
    assert_near(out[1].value, 1.0 / 3.0, 1e-15);
    ck_assert(isnan(out[4].value) && isnan(out[5].value) && isnan(out[6].value));
    assert_near(out[7].value, 0.0, 0.0);
    /* NaN counts as the worst. */
    x[1] = NAN;
    ck_assert_uint_eq(test_outcomes(instance.problem, data, x, y, out), 8);
    ck_assert(isnan(out[2].value) && isnan(out[3].value));
    test_instance_close(&instance);
    /* Held-out rows belong to no agent. */
    x[1] = 1.0;
    const char *more[] = {"groups=agents", NULL};
    test_instance_open(&instance, GROUP_DRO_SPARSE_UNEQUAL, more);
    ck_assert_uint_eq(test_outcomes(instance.problem, data, x, y, out), 7);
    ck_assert(isnan(out[0].value) && isnan(out[2].value));
    assert_near(out[1].value, 1.0 / 3.0, 1e-15);
    ck_assert_uint_eq(test_outcomes(instance.problem, NULL, x, y, out), 7);
    ck_assert(out[0].value <= out[1].value);
    test_instance_close(&instance);
    free(x);
    saddle_dataset_free(data);
}

TEST(found_groups_are_recorded_and_can_be_given)
{
    test_instance found;
    test_instance given;
    const char *more[] = {"group-values=1:1,0:-1,1:-1,0:1", NULL};
    test_instance_open(&found, GROUP_DRO_SPARSE_UNEQUAL, NULL);
    ck_assert_str_eq(test_text(&found.made->parts->plan, "group-values"), "0:-1,0:1,1:-1,1:1");
    test_instance_open(&given, GROUP_DRO_SPARSE_UNEQUAL, more);
    double *x = test_doubles(found.problem->x_dim);
    double y[GROUPS] = {0.1, 0.2, 0.3, 0.4};
    double turned[GROUPS] = {0.4, 0.1, 0.3, 0.2};
    x[3] = 1.0;
    assert_near(mean_value(given.problem, x, turned), mean_value(found.problem, x, y), 1e-15);
    free(x);
    test_instance_close(&found);
    test_instance_close(&given);
}

/* People by color (three texts), site (numbers) and whether they bought. */
static const char people[] = "color,site,bought\n"
                             "red,7,yes\nblue,7,no\nred,2,no\ngreen,2,yes\nblue,7,yes\nred,7,yes\n"
                             "green,2,no\nblue,2,no\nred,2,yes\nblue,7,no\n";

/* Checks the value of a one-agent problem where every row has the score 1, for y = (1, 2, ..., G), from
 * the counts of `positive` and `negative` rows of each group. */
static void check_counts(const char *const *more, size_t groups, const double (*counts)[2])
{
    static const char *const base[] = {"problem=group-dro", "data=people.csv", "agents=1",
                                       "group-ridge=0.1", NULL};
    saddle_error error = {.message = ""};
    saddle_plan *common = test_plan(NULL, base);
    saddle_plan *plan = test_plan(common, more);
    saddle_instance *instance = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    const saddle_problem *problem = instance->problem;
    ck_assert_uint_eq(problem->y_dim, groups);
    double *x = test_doubles(problem->x_dim);
    double *y = test_doubles(groups);
    double expected = 0.0;
    x[problem->x_dim - 1] = 1.0;
    for (size_t g = 0; g < groups; g++) {
        double total = counts[g][0] + counts[g][1];
        y[g] = (double)g + 1.0;
        expected +=
            y[g] * (counts[g][0] * log1p(exp(-1.0)) + counts[g][1] * log1p(exp(1.0))) / total;
        expected -= 0.05 * (y[g] - 1.0 / (double)groups) * (y[g] - 1.0 / (double)groups);
    }
    assert_near(mean_value(problem, x, y), expected, 1e-13 * fabs(expected));
    free(x);
    free(y);
    saddle_instance_free(instance);
    test_plan_free(plan);
    test_plan_free(common);
}

/* {yes, no} of blue, green and red; of sites 2 and 7; of the groups that color and site, or the label, form. */
TEST(groups_are_columns_by_name)
{
    static const double color[][2] = {{1, 3}, {1, 1}, {3, 1}};
    static const double turned[][2] = {{3, 1}, {1, 3}, {1, 1}};
    static const double site[][2] = {{2, 3}, {3, 2}};
    static const double both[][2] = {{0, 1}, {1, 2}, {1, 1}, {1, 1}, {2, 0}};
    static const double labels[][2] = {{0, 3}, {1, 0}, {0, 1}, {1, 0}, {0, 1}, {3, 0}};
    static const double red[][2] = {{2, 4}, {3, 1}};
    saddle_test_enter_directory();
    saddle_test_write("people.csv", people);
    check_counts((const char *[]){"groups=color", NULL}, 3, color);
    check_counts((const char *[]){"groups=color", "categories=codes", NULL}, 3, color);
    check_counts((const char *[]){"groups=site", NULL}, 2, site);
    check_counts((const char *[]){"groups=color", "group-values=red,0,green", NULL}, 3, turned);
    check_counts((const char *[]){"groups=color,site", NULL}, 5, both);
    check_counts((const char *[]){"groups=color,label", NULL}, 6, labels);
    check_counts((const char *[]){"groups=color,bought", NULL}, 6, labels);
    check_counts((const char *[]){"groups=color=red", NULL}, 2, red);
    check_counts((const char *[]){"groups=3", NULL}, 2, red);
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, (const char *[]){"problem=group-dro", "data=people.csv",
                                                         "groups=colour,label", NULL});
    saddle_instance *instance = NULL;
    assert_refused(saddle_instance_create(&instance, plan, &error), error, SADDLE_BAD_INPUT,
                   "--groups: 'colour' is not a feature; give a number from 1 to 4, or the name of "
                   "a column or feature: color, site; did you mean 'color'?");
    test_plan_free(plan);
}

TEST(bad_settings_are_refused)
{
    static const struct {
        const char *assignment[6];
        const char *part;
    } bad[] = {
        {{"groups=21"}, "--groups: '21' is not a feature; give a number from 1 to 20"},
        {{"groups=0"}, "'0'"},
        {{"groups=1.5"}, "'1.5'"},
        {{"groups=2,2"}, "--groups: '2' is listed twice"},
        {{"groups=label,label"}, "--groups: 'label' is listed twice"},
        {{"groups=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"}, "give at most 16 columns"},
        {{"groups=label,"}, "--groups: '' is not a feature"},
        {{"groups=sex"}, "'sex'"},
        {{"groups=agents", "group-values=1"}, "with groups = agents there are no values"},
        {{"groups=2,label", "group-values=0:1,1"}, "'0:1,1' is not a list of groups"},
        {{"groups=2,label", "group-values=0:1,0:1"}, "'0:1,0:1'"},
        {{"groups=2,label", "group-values=0:1:2"}, "'0:1:2'"},
        {{"groups=2", "group-values=0"}, "belong to none of the 1 groups"},
        {{"groups=2", "group-values=0,1,2"}, "no agent has a row of group 3"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_plan *plan = test_instance_plan(GROUP_DRO_SPARSE_UNEQUAL, bad[k].assignment);
        assert_plan_refused(plan, bad[k].part);
    }
    /* With a column of measurements, every row would be a group. */
    saddle_error error = {.message = ""};
    static double rows[300 * 2];
    static double label[300];
    for (size_t k = 0; k < 300; k++) {
        rows[2 * k] = (double)k;
        label[k] = k % 2 == 0 ? 1.0 : -1.0;
    }
    saddle_dataset *data = NULL;
    assert_ok(saddle_dataset_from_dense(&data, 300, 2, rows, label, SADDLE_BORROW, &error), error);
    const char *assignment[] = {"problem=group-dro", "groups=1", "agents=3", "topology=path", NULL};
    saddle_plan *plan = test_plan(NULL, assignment);
    plan->problem.rows = data;
    assert_plan_refused(plan, "more than 256 groups");
    saddle_dataset_free(data);
}

/* ---- the solution, by Newton's method -------------------------------------------------------- */

/*
 * Two groups: D(p) = min over x of p l_2(x) + (1 - p) l_1(x) - mu (p - 1/2)^2 is concave in the weight p
 * of the second one, and its slope at the minimizer is l_2 - l_1 - mu (2 p - 1). Uses bisection on the
 * slope and Newton's method for the minimizer; shares nothing with the library.
 */
typedef struct newton {
    const test_instance *instance;
    size_t column;  /* splits the rows in two */
    size_t dim;     /* features and a bias */
    double rows[2]; /* of the groups */
    double loss[2]; /* at the last x */
    double *x, *gradient, *hessian;
} newton;

/* Lists a row's entries, and 1 for the bias; returns their number. */
static size_t row_entries(const saddle_dataset *data, size_t row, size_t *at, double *value)
{
    size_t count = 0;
    for (size_t k = 0; data->dense != NULL && k < data->features; k++) {
        at[count] = k;
        value[count++] = data->dense[row * data->features + k];
    }
    for (size_t k = data->dense != NULL ? 0 : data->row_start[row];
         data->dense == NULL && k < data->row_start[row + 1]; k++) {
        at[count] = data->column[k];
        value[count++] = saddle_entry_value(data, k);
    }
    at[count] = data->features;
    value[count++] = 1.0;
    return count;
}

/* Losses, gradient and Hessian of the weighted losses at n->x. */
static void evaluate(newton *n, double p)
{
    const double weight[2] = {(1.0 - p) / n->rows[0], p / n->rows[1]};
    size_t at[200];
    double value[200];
    memset(n->gradient, 0, n->dim * sizeof(double));
    memset(n->hessian, 0, n->dim * n->dim * sizeof(double));
    n->loss[0] = n->loss[1] = 0.0;
    for (size_t i = 0; i < n->instance->problem->agents; i++) {
        const saddle_dataset *data = n->instance->made->parts->shard[i];
        for (size_t row = 0; row < data->rows; row++) {
            size_t g = saddle_row_entry(data, row, n->column) != 0.0 ? 1 : 0;
            size_t count = row_entries(data, row, at, value);
            double z = 0.0;
            for (size_t k = 0; k < count; k++)
                z -= data->label[row] * value[k] * n->x[at[k]];
            double s = 1.0 / (1.0 + exp(-z));
            n->loss[g] += log1p(exp(z)) / n->rows[g];
            for (size_t k = 0; k < count; k++) {
                n->gradient[at[k]] -= weight[g] * data->label[row] * s * value[k];
                for (size_t l = 0; l < count; l++)
                    n->hessian[at[k] * n->dim + at[l]] +=
                        weight[g] * s * (1.0 - s) * value[k] * value[l];
            }
        }
    }
}

/* gradient = (hessian + 1e-9 I)^-1 gradient, by Cholesky factors. */
static void solve(newton *n)
{
    size_t d = n->dim;
    double *a = n->hessian;
    double *b = n->gradient;
    for (size_t k = 0; k < d; k++) {
        a[k * d + k] += 1e-9;
        for (size_t j = 0; j < k; j++)
            a[k * d + k] -= a[k * d + j] * a[k * d + j];
        ck_assert(a[k * d + k] > 0.0);
        a[k * d + k] = sqrt(a[k * d + k]);
        for (size_t i = k + 1; i < d; i++) {
            for (size_t j = 0; j < k; j++)
                a[i * d + k] -= a[i * d + j] * a[k * d + j];
            a[i * d + k] /= a[k * d + k];
        }
    }
    for (size_t k = 0; k < d; k++) {
        for (size_t j = 0; j < k; j++)
            b[k] -= a[k * d + j] * b[j];
        b[k] /= a[k * d + k];
    }
    for (size_t k = d; k-- > 0;) {
        for (size_t i = k + 1; i < d; i++)
            b[k] -= a[i * d + k] * b[i];
        b[k] /= a[k * d + k];
    }
}

/* Minimizes over x, from the present one. */
static void minimize(newton *n, double p, int steps)
{
    for (int step = 0; step < steps; step++) {
        evaluate(n, p);
        solve(n);
        for (size_t k = 0; k < n->dim; k++)
            n->x[k] -= n->gradient[k];
    }
    evaluate(n, p);
}

/* Returns the smallest worst-group loss, max over p of D(p); leaves its x in n->x. */
static double minimax(newton *n, double mu, double *weight)
{
    double low = 0.0;
    double high = 1.0;
    for (int step = 0; step < 40; step++) {
        double p = 0.5 * (low + high);
        minimize(n, p, step == 0 ? 40 : 4);
        if (n->loss[1] - n->loss[0] - mu * (2.0 * p - 1.0) > 0.0)
            low = p;
        else
            high = p;
    }
    double p = *weight = 0.5 * (low + high);
    return p * n->loss[1] + (1.0 - p) * n->loss[0] - mu * (p - 0.5) * (p - 0.5);
}

static void newton_open(newton *n, const test_instance *instance, size_t column)
{
    *n = (newton){.instance = instance,
                  .column = column,
                  .dim = instance->made->parts->shard[0]->features + 1};
    n->x = test_doubles(n->dim);
    n->gradient = test_doubles(n->dim);
    n->hessian = test_doubles(n->dim * n->dim);
    for (size_t i = 0; i < instance->problem->agents; i++)
        for (size_t j = 0; j < instance->problem->samples[i]; j++)
            n->rows[saddle_row_entry(instance->made->parts->shard[i], j, column) != 0.0] += 1.0;
}

static void newton_close(newton *n)
{
    free(n->x);
    free(n->gradient);
    free(n->hessian);
}

TEST(the_solution_is_newtons)
{
    static const char *const more[] = {"data=@groups",      "groups=3",          "agents=4",
                                       "samples=7,20,11,3", "topology=complete", "algorithm=gt-gda",
                                       "iterations=20000",  "trace-every=20000", NULL};
    static const struct {
        const char *ridge;
        double mu;
    } weak[] = {{"group-ridge=0.1", 0.1}, {"group-ridge=0.001", 0.001}};
    for (size_t k = 0; k < 2; k++) {
        const char *settings[12] = {weak[k].ridge};
        memcpy(settings + 1, more, sizeof more);
        test_instance instance;
        test_instance_open(&instance, GROUP_DRO_SPARSE_UNEQUAL, settings);
        newton n;
        newton_open(&n, &instance, 2);
        double p;
        double value = minimax(&n, weak[k].mu, &p);
        saddle_error error = {.message = ""};
        saddle_result *result = NULL;
        assert_ok(saddle_run(instance.made, NULL, NULL, &result, &error), error);
        saddle_fprintf(stdout, "mu %g: Newton %.10f at y2 = %.8f; the run %.10f at %.8f\n",
                       weak[k].mu, value, p, result->rows[result->row_count - 1].primal,
                       result->y_mean[1]);
        assert_near(result->rows[result->row_count - 1].primal, value, 1e-7);
        assert_near(result->y_mean[1], p, 1e-4);
        saddle_result_free(result);
        newton_close(&n);
        test_instance_close(&instance);
    }
}

/* On a9a, men and women: the run approaches the smallest worst-group loss from above, to within two percent. */
TEST(the_worst_group_of_a9a)
{
    static const char *const assignment[] = {
        "problem=group-dro", "data=a9a", "test-data=a9a.t", "groups=73",
        "group-ridge=0.01",  "agents=5", "topology=er:0.6", "iterations=3000",
        "trace-every=3000",  NULL};
    if (saddle_test_data("a9a") == NULL || saddle_test_data("a9a.t") == NULL) {
        saddle_test_skip("a9a and a9a.t are not in $SADDLE_DATA");
        return;
    }
    test_instance instance = {.plan = test_plan(NULL, assignment)};
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&instance.made, instance.plan, &error), error);
    instance.problem = instance.made->problem;
    assert_ok(saddle_run(instance.made, NULL, NULL, &result, &error), error);
    newton n;
    newton_open(&n, &instance, 72);
    double p;
    double value = minimax(&n, 0.01, &p);
    saddle_fprintf(stdout, "a9a: Newton %.8f at y2 = %.4f; the run %.6f at %.4f\n", value, p,
                   result->rows[result->row_count - 1].primal, result->y_mean[1]);
    assert_near(value, 0.38441020, 1e-7); /* L-BFGS with a gradient below 1e-9 */
    assert_at_most(value, result->rows[result->row_count - 1].primal + 1e-6);
    assert_near(result->rows[result->row_count - 1].primal, value, 0.02 * value);
    ck_assert(saddle_result_outcome(result, "test_worst_group_accuracy") > 0.80);
    saddle_result_free(result);
    newton_close(&n);
    test_instance_close(&instance);
}
