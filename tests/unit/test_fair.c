/*
 * The problem fair: its outcomes against a slow recount, the features it hides, the meaning of its
 * penalty, lambda = 0, and the trade-off on the real a9a.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "instances.h"
#include "support.h"

static double entry(const saddle_dataset *data, size_t row, size_t column)
{
    if (data->dense != NULL)
        return data->dense[row * data->features + column];
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        if (data->column[k] == column)
            return saddle_entry_value(data, k);
    return 0.0;
}

/* Returns whether a feature, from 0, is hidden from the models of the two instances: the attribute or
 * its opposite. */
static bool is_hidden(int which, size_t column)
{
    return which == FAIR_SPARSE ? column == 0 || column == 1 : column == 2 || column == 4;
}

static size_t attribute_of(int which)
{
    return which == FAIR_SPARSE ? 1 : 2;
}

/* Returns the difference of the two classes' scores of a row. */
static double log_odds(int which, const saddle_dataset *data, size_t row, const double *x)
{
    size_t half = data->features + 1;
    double score[2];
    for (size_t c = 0; c < 2; c++) {
        score[c] = x[c * half + data->features];
        for (size_t k = 0; k < data->features; k++)
            if (!is_hidden(which, k))
                score[c] += entry(data, row, k) * x[c * half + k];
    }
    return score[1] - score[0];
}

/* Returns the share of positive decisions among the rows of all data with this attribute and label (0:
 * any); NaN when there are none. */
static double positive_rate(int which, const saddle_dataset *const *data, size_t count,
                            const double *x, double attribute, double label)
{
    double rows = 0.0;
    double positive = 0.0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < data[i]->rows; j++)
            if (entry(data[i], j, attribute_of(which)) == attribute &&
                (label == 0.0 || data[i]->label[j] == label)) {
                rows += 1.0;
                positive += log_odds(which, data[i], j, x) > 0.0;
            }
    return rows > 0.0 ? positive / rows : NAN;
}

static void check_outcomes(const test_instance *instance, int which, const double *x,
                           const saddle_dataset *held_out)
{
    const saddle_dataset *const *data = (const saddle_dataset *const *)instance->made->parts->shard;
    size_t count = held_out != NULL ? 1 : instance->problem->agents;
    if (held_out != NULL)
        data = &held_out;
    saddle_outcome out[SADDLE_MOST_OUTCOMES];
    double y[2] = {0.1, -0.3};
    ck_assert_uint_eq(test_outcomes(instance->problem, held_out, x, y, out), 4);
    double rows = 0.0;
    double loss = 0.0;
    double correct = 0.0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < data[i]->rows; j++) {
            double t = log_odds(which, data[i], j, x);
            rows += 1.0;
            loss += log1p(exp(-data[i]->label[j] * t));
            correct += t * data[i]->label[j] > 0.0;
        }
    double gap[3];
    for (int b = -1; b <= 1; b++)
        gap[b + 1] = fabs(positive_rate(which, data, count, x, 1.0, b) -
                          positive_rate(which, data, count, x, 0.0, b));
    ck_assert_str_eq(out[0].name, "loss");
    assert_near(out[0].value, loss / rows, 1e-12);
    ck_assert_str_eq(out[1].name, "accuracy");
    assert_near(out[1].value, correct / rows, 1e-12);
    ck_assert_str_eq(out[2].name, "demographic_parity_gap");
    assert_near(out[2].value, gap[1], 1e-12);
    ck_assert_str_eq(out[3].name, "equalized_odds_gap");
    assert_near(out[3].value, fmax(gap[0], gap[2]), 1e-12);
}

TEST_LOOP(outcomes_are_what_a_recount_finds, FAIR_SPARSE, FAIR_DENSE_UNEQUAL + 1)
{
    int which = _i;
    test_instance instance;
    test_instance_open(&instance, which, NULL);
    saddle_error error = {.message = ""};
    saddle_dataset *held_out = NULL;
    if (which == FAIR_SPARSE) {
        assert_ok(saddle_dataset_generate(&held_out, 300, 20, 99, &error), error);
        assert_ok(saddle_dataset_make_binary(held_out, NULL, &error), error);
    }
    saddle_rng rng;
    saddle_rng_init(&rng, 3, SADDLE_RNG_TEST, 0, 0);
    double *x = test_doubles(instance.problem->x_dim);
    for (int round = 0; round < 5; round++) {
        for (size_t k = 0; k < instance.problem->x_dim; k++)
            x[k] = saddle_rng_normal(&rng);
        check_outcomes(&instance, which, x, NULL);
        if (held_out != NULL)
            check_outcomes(&instance, which, x, held_out);
    }
    free(x);
    saddle_dataset_free(held_out);
    test_instance_close(&instance);
}

TEST(gaps_without_two_groups_are_not_numbers)
{
    test_instance instance;
    test_instance_open(&instance, FAIR_DENSE_UNEQUAL, NULL);
    const saddle_problem *problem = instance.problem;
    double *x = test_doubles(problem->x_dim);
    double y[2] = {0.0, 0.0};
    double label[2] = {1.0, -1.0};
    double dense[12] = {[2] = 1.0, [8] = 1.0};
    char name[] = "one group";
    saddle_dataset data = {
        .name = name, .rows = 2, .features = 6, .nonzeros = 2, .label = label, .dense = dense};
    saddle_outcome out[SADDLE_MOST_OUTCOMES];
    ck_assert_uint_eq(test_outcomes(problem, &data, x, y, out), 4);
    assert_near(out[1].value, 0.5, 0.0);
    ck_assert(isnan(out[2].value) && isnan(out[3].value));
    /* A row whose attribute is neither 0 nor 1 belongs to no group. */
    dense[8] = 0.5;
    ck_assert_uint_eq(test_outcomes(problem, &data, x, y, out), 4);
    ck_assert(isnan(out[2].value) && isnan(out[3].value));
    /* Rows with another number of features are refused. */
    data.features = 5;
    ck_assert_uint_eq(test_outcomes(problem, &data, x, y, out), 0);
    saddle_error error = {.message = ""};
    double score[2];
    assert_refused(problem->scores(problem, &data, x, NULL, score, &error), error, SADDLE_BAD_INPUT,
                   "has 5 features, but the model has 6");
    free(x);
    test_instance_close(&instance);
}

TEST_LOOP(scores_are_log_odds, FAIR_SPARSE, FAIR_DENSE_UNEQUAL + 1)
{
    int which = _i;
    test_instance instance;
    test_instance_open(&instance, which, NULL);
    saddle_error error = {.message = ""};
    saddle_rng rng;
    saddle_rng_init(&rng, 4, SADDLE_RNG_TEST, 0, 0);
    double *x = test_doubles(instance.problem->x_dim);
    for (size_t k = 0; k < instance.problem->x_dim; k++)
        x[k] = saddle_rng_normal(&rng);
    const saddle_dataset *data = instance.made->parts->shard[1];
    double *score = test_doubles(data->rows);
    assert_ok(instance.problem->scores(instance.problem, data, x, NULL, score, &error), error);
    for (size_t j = 0; j < data->rows; j++)
        assert_near(score[j], log_odds(which, data, j, x), 1e-12);
    free(score);
    free(x);
    test_instance_close(&instance);
}

/* Returns whether the value at agent 0 depends on the weight of a feature (from 0). */
static bool depends_on(const test_instance *instance, size_t feature)
{
    const saddle_problem *problem = instance->problem;
    double *x = test_doubles(problem->x_dim);
    double *scratch = test_doubles(saddle_problem_scratch(problem));
    double y[2] = {0.2, 0.4};
    double before = saddle_problem_value(problem, 0, x, y, scratch);
    x[feature] = 1.0;
    double after = saddle_problem_value(problem, 0, x, y, scratch);
    free(scratch);
    free(x);
    return after != before;
}

TEST(excluded_features_take_no_part)
{
    static const struct {
        const char *text;
        const char *hidden; /* '-' marks the hidden ones of the six */
    } list[] = {{"exclude-features=auto", "++-+-+"},
                {"exclude-features=none", "++++++"},
                {"exclude-features=1,6", "-++++-"}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const char *more[] = {list[k].text, NULL};
        test_instance instance;
        test_instance_open(&instance, FAIR_DENSE_UNEQUAL, more);
        for (size_t f = 0; f < 6; f++)
            ck_assert_msg(depends_on(&instance, f) == (list[k].hidden[f] == '+'), "%s, feature %zu",
                          list[k].text, f + 1);
        test_instance_close(&instance);
    }
}

/* A network does not see hidden features, whatever its weights: checked by value, gradient, decision and score. */
TEST(a_network_does_not_see_hidden_features)
{
    enum { UNITS = 3 };
    test_instance instance;
    test_instance_open(&instance, FAIR_MLP_DENSE, NULL);
    const saddle_problem *problem = instance.problem;
    size_t dim = problem->x_dim;
    double *x = test_doubles(dim);
    double *g = test_doubles(dim + 2);
    double *scratch = test_doubles(saddle_problem_scratch(problem));
    double y[2] = {0.2, -0.4};
    double score[2][20];
    double value[2];
    saddle_error error = {.message = ""};
    saddle_rng rng;
    saddle_rng_init(&rng, 8, SADDLE_RNG_TEST, 0, 0);
    for (size_t k = 0; k < dim; k++)
        x[k] = saddle_rng_normal(&rng);
    for (int turn = 0; turn < 2; turn++) {
        saddle_batch all = {.count = problem->samples[1]};
        value[turn] = saddle_problem_value(problem, 1, x, y, scratch);
        assert_ok(
            problem->scores(problem, instance.made->parts->shard[1], x, y, score[turn], &error),
            error);
        saddle_problem_gradient(problem, 1, &all, x, y, g, g + dim, scratch);
        for (size_t k = 0; k < (size_t)6 * UNITS; k++) {
            bool hidden = is_hidden(FAIR_DENSE_UNEQUAL, k / UNITS);
            ck_assert((g[k] == 0.0) == hidden);
            x[k] = hidden ? 100.0 : x[k];
        }
    }
    ck_assert(value[0] == value[1]);
    ck_assert_mem_eq(score[0], score[1], 20 * sizeof(double));
    free(scratch);
    free(g);
    free(x);
    test_instance_close(&instance);
}

/* Without fairness, a network of one agent has the loss of group-dro with one group. */
TEST(without_fairness_it_is_the_logistic_loss)
{
    static const char *const plain[] = {"fairness=0", "exclude-features=none", "agents=1",
                                        "samples=50", "topology=complete",     NULL};
    static const char *const group[] = {"data=@groups", "x-set=none",        "agents=1",
                                        "samples=50",   "topology=complete", NULL};
    test_instance instance[2];
    test_instance_open(&instance[0], FAIR_MLP_DENSE, plain);
    test_instance_open(&instance[1], GROUP_DRO_MLP_DENSE, group);
    size_t dim = instance[0].problem->x_dim;
    ck_assert_uint_eq(instance[1].problem->x_dim, dim);
    double *x = test_doubles(dim);
    double *g[2];
    double y[2][2] = {{0.0, 0.0}, {1.0, 0.0}};
    double gy[2];
    double value[2];
    saddle_batch all = {.count = 50};
    saddle_rng rng;
    saddle_rng_init(&rng, 9, SADDLE_RNG_TEST, 0, 0);
    for (size_t k = 0; k < dim; k++)
        x[k] = saddle_rng_normal(&rng);
    for (int which = 0; which < 2; which++) {
        const saddle_problem *problem = instance[which].problem;
        double *scratch = test_doubles(saddle_problem_scratch(problem));
        g[which] = test_doubles(dim);
        value[which] = saddle_problem_value(problem, 0, x, y[which], scratch);
        saddle_problem_gradient(problem, 0, &all, x, y[which], g[which], gy, scratch);
        free(scratch);
        test_instance_close(&instance[which]);
    }
    assert_near(value[0], value[1], 1e-14);
    assert_at_most(test_farthest(dim, g[0], g[1]), 1e-14);
    free(g[0]);
    free(g[1]);
    free(x);
}

/* Computes y*(x) from the mean statistic; returns F(x, y*(x)) minus the loss. */
static double penalty(const test_instance *instance, const double *x, double *y)
{
    const saddle_problem *problem = instance->problem;
    const saddle_set *y_set = instance->made->y_set;
    double *scratch = test_doubles(saddle_problem_scratch(problem) + saddle_set_scratch(y_set));
    double mean[4] = {0.0};
    double zero[2] = {0.0, 0.0};
    double sum = 0.0;
    for (size_t i = 0; i < problem->agents; i++) {
        double own[4];
        saddle_problem_statistic(problem, i, x, own, scratch);
        for (size_t k = 0; k < 4; k++)
            mean[k] += own[k] / (double)problem->agents;
    }
    ck_assert(problem->response_solve(problem, x, mean, y_set, y, scratch));
    for (size_t i = 0; i < problem->agents; i++)
        sum += saddle_problem_value(problem, i, x, y, scratch) -
               saddle_problem_value(problem, i, x, zero, scratch);
    free(scratch);
    return sum / (double)problem->agents;
}

/* The penalty's minimum is (W/4) (mean s)^2, which a model that ignores its input attains. */
TEST(the_penalty_is_least_for_independence)
{
    test_instance instance;
    test_instance_open(&instance, FAIR_SPARSE, NULL);
    const saddle_problem *problem = instance.problem;
    double mean = 0.0;
    for (size_t i = 0; i < problem->agents; i++)
        for (size_t j = 0; j < problem->samples[i]; j++)
            mean += (2.0 * entry(instance.made->parts->shard[i], j, 1) - 1.0) /
                    (double)(problem->samples[i] * problem->agents);
    double least = 2.0 / 4.0 * mean * mean;
    saddle_rng rng;
    saddle_rng_init(&rng, 5, SADDLE_RNG_TEST, 0, 0);
    double *x = test_doubles(problem->x_dim);
    double y[2];
    x[20] = 0.7; /* only the biases */
    x[41] = -0.4;
    assert_near(penalty(&instance, x, y), least, 1e-14);
    for (int round = 0; round < 20; round++) {
        for (size_t k = 0; k < problem->x_dim; k++)
            x[k] = saddle_rng_normal(&rng);
        ck_assert(penalty(&instance, x, y) > least);
        assert_at_most(fmax(fabs(y[0]), fabs(y[1])), 0.5);
    }
    free(x);
    test_instance_close(&instance);
}

TEST(without_fairness_y_goes_to_zero)
{
    static const char *const more[] = {"fairness=0", "fairness-ridge=auto", NULL};
    test_instance instance;
    test_instance_open(&instance, FAIR_DENSE_UNEQUAL, more);
    saddle_constants constants = instance.made->constants;
    ck_assert(!constants.estimated);
    assert_near(constants.strong_concavity, 1e-3, 0.0);
    double *x = test_doubles(instance.problem->x_dim);
    double y[2] = {1.0, 1.0};
    x[0] = 0.3;
    assert_near(penalty(&instance, x, y), 0.0, 0.0);
    ck_assert(y[0] == 0.0 && y[1] == 0.0);
    free(x);
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    assert_ok(saddle_run(instance.made, NULL, NULL, &result, &error), error);
    ck_assert_int_eq(result->stop, SADDLE_STOP_ITERATIONS);
    assert_at_most(test_largest(2, result->y_mean), 1e-6);
    saddle_result_free(result);
    test_instance_close(&instance);
}

TEST(bad_settings_are_refused)
{
    static const struct {
        const char *assignment[5];
        const char *part;
    } bad[] = {
        {{"problem=fair", "data=synthetic:60:20"},
         "--sensitive: the default, feature 73 of a9a, is not in these data; give a number from 1 "
         "to 20"},
        {{"problem=fair", "data=@dense", "sensitive=2", "agents=2"}, "feature 2 is"},
        {{"problem=fair", "data=synthetic:60", "exclude-features=72,124"}, "'124' is not"},
        {{"problem=fair", "data=synthetic:60", "exclude-features=0"}, "'0'"},
        {{"problem=fair", "data=synthetic:60", "exclude-features="}, "'' is not a feature"},
        {{"problem=fair", "data=synthetic:60", "exclude-features=72,"}, "'' is not"},
        {{"problem=fair", "data=synthetic:60", "exclude-features=72,72"}, "'72' is listed twice"},
        {{"problem=fair", "data=synthetic:60", "fairness=0", "fairness-ridge=0"},
         "fairness-ridge:"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_plan *plan = test_plan(NULL, bad[k].assignment);
        assert_plan_refused(plan, bad[k].part);
    }
}

/* ---- the real a9a ---------------------------------------------------------------------------- */

typedef struct quality {
    double accuracy;
    double parity_gap;
} quality;

/* Trains 3000 iterations of PRECISION on a9a with automatic steps, and measures on a9a.t. */
static quality train(const char *fairness)
{
    const char *assignment[] = {"problem=fair",    "data=a9a",        "test-data=a9a.t",
                                "agents=5",        "topology=er:0.6", "iterations=3000",
                                "trace-every=500", fairness,          NULL};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, NULL, NULL, &result, &error), error);
    ck_assert_uint_eq(result->outcome_count, 8);
    quality out = {.accuracy = saddle_result_outcome(result, "test_accuracy"),
                   .parity_gap = saddle_result_outcome(result, "test_demographic_parity_gap")};
    saddle_fprintf(
        stdout,
        "%-12s held-out accuracy %.4f, demographic-parity gap %.4f, equalized-odds gap %.4f\n",
        fairness, out.accuracy, out.parity_gap,
        saddle_result_outcome(result, "test_equalized_odds_gap"));
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return out;
}

TEST(fairness_halves_the_gap_of_a9a_for_two_points)
{
    static const char *const sweep[] = {"fairness=2", "fairness=8", "fairness=32"};
    if (saddle_test_data("a9a") == NULL || saddle_test_data("a9a.t") == NULL) {
        saddle_test_skip("a9a and a9a.t are not in $SADDLE_DATA");
        return;
    }
    quality plain = train("fairness=0");
    ck_assert(plain.accuracy > 0.845);
    quality before = plain;
    bool bargain = false;
    for (size_t k = 0; k < sizeof sweep / sizeof *sweep; k++) {
        quality now = train(sweep[k]);
        ck_assert(now.parity_gap < before.parity_gap);
        ck_assert(now.accuracy < before.accuracy);
        bargain = bargain || (now.parity_gap <= plain.parity_gap / 2.0 &&
                              now.accuracy > plain.accuracy - 0.02);
        before = now;
    }
    ck_assert(bargain);
}
