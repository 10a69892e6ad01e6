/*
 * Saved models: the outcomes of a run on held-out rows are those of its model afterwards, bit for bit;
 * scores recomputed by formula, AUC by counting pairs; and all files that are refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saddle/lab.h>

#include "files/npz.h"
#include "instances.h"
#include "support.h"

static saddle_error error;

enum { TRAIN = 300, TEST = 150, FEATURES = 123 };

static void save_rows(const saddle_dataset *all, size_t first, size_t count, const char *path)
{
    size_t *row = malloc(count * sizeof *row);
    saddle_dataset *part = NULL;
    ck_assert_ptr_nonnull(row);
    for (size_t k = 0; k < count; k++)
        row[k] = first + k;
    assert_ok(saddle_dataset_select(&part, all, row, count, &error), error);
    assert_ok(saddle_dataset_save_libsvm(part, path, &error), error);
    saddle_dataset_free(part);
    free(row);
}

/* Creates the files train and test in the working directory. */
static void make_data(void)
{
    saddle_dataset *all = NULL;
    saddle_test_enter_directory();
    assert_ok(saddle_dataset_generate(&all, TRAIN + TEST, FEATURES, 5, &error), error);
    save_rows(all, 0, TRAIN, "train");
    save_rows(all, TRAIN, TEST, "test");
    saddle_dataset_free(all);
}

/* Runs with further settings, saves the model, and returns the result. */
static saddle_result *train(const char *const *assignment, const char *model)
{
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_plan_set(plan, "model", model, &error), error);
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    saddle_instance_free(instance);
    test_plan_free(plan);
    return result;
}

static double outcome_named(const char *name, const saddle_outcome *outcome, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(outcome[k].name, name) == 0)
            return outcome[k].value;
    ck_abort_msg("there is no %s", name);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Returns how many of the sorted numbers are below `limit` or, with `equal`, not above it. */
static size_t count_below(const double *sorted, size_t count, double limit, bool equal)
{
    size_t first = 0;
    while (count > 0) {
        size_t half = count / 2;
        bool below = equal ? sorted[first + half] <= limit : sorted[first + half] < limit;
        first += below ? half + 1 : 0;
        count = below ? count - half - 1 : half;
    }
    return first;
}

/* Returns the share of pairs in the right order, ties counted half: for each positive row, the negatives below it. */
static double count_pairs(const saddle_dataset *data, const double *score)
{
    double *positive = test_doubles(data->rows);
    double *negative = test_doubles(data->rows);
    size_t positives = 0;
    size_t negatives = 0;
    size_t won = 0; /* in halves */
    for (size_t k = 0; k < data->rows; k++)
        if (data->label[k] > 0.0)
            positive[positives++] = score[k];
        else
            negative[negatives++] = score[k];
    qsort(negative, negatives, sizeof *negative, by_value);
    for (size_t p = 0; p < positives; p++)
        won += count_below(negative, negatives, positive[p], false) +
               count_below(negative, negatives, positive[p], true);
    free(positive);
    free(negative);
    return 0.5 * (double)won / ((double)positives * (double)negatives);
}

/* Asserts that the measures are those of the individual scores. */
static void assert_measures(const saddle_dataset *data, const double *score,
                            const saddle_outcome *outcome, size_t count)
{
    double correct = 0.0;
    double loss = 0.0;
    for (size_t k = 0; k < data->rows; k++) {
        correct += (score[k] > 0.0) == (data->label[k] > 0.0);
        loss += log1p(exp(-data->label[k] * score[k]));
    }
    double rows = (double)data->rows;
    assert_near(outcome_named("auc", outcome, count), count_pairs(data, score), 1e-14);
    assert_near(outcome_named("accuracy", outcome, count), correct / rows, 1e-14);
    assert_near(outcome_named("loss", outcome, count), loss / rows, 1e-12 * (1.0 + loss / rows));
}

/* Asserts that a model has the outcomes that its run reported, to the bit. */
static void assert_same_outcomes(const saddle_result *result, const char *model, const char *rows)
{
    saddle_predictor *predictor = NULL;
    saddle_dataset *data = NULL;
    saddle_outcome outcome[SADDLE_MOST_MEASURES];
    size_t count = 0;
    assert_ok(saddle_predictor_load(&predictor, model, NULL, &error), error);
    ck_assert_uint_eq(saddle_predictor_features(predictor), result->features);
    assert_ok(saddle_predictor_data(predictor, &data, rows, NULL, &error), error);
    ck_assert_uint_eq(data->features, result->features);
    assert_ok(saddle_predictor_evaluate(predictor, data, NULL, outcome, &count, &error), error);
    /* The second half of the run's columns is on held-out rows. */
    size_t half = result->outcome_count / 2;
    ck_assert_uint_ge(count, half);
    for (size_t k = 0; k < half; k++) {
        const char *column = result->outcome[half + k].name;
        double value = saddle_result_outcome(result, column);
        ck_assert_int_eq(strncmp(column, "test_", 5), 0);
        ck_assert_str_eq(column + 5, outcome[k].name);
        /* Some are undefined in both. */
        ck_assert_msg(outcome[k].value == value || (isnan(outcome[k].value) && isnan(value)),
                      "%s: %.17g, in the run %.17g", column, outcome[k].value, value);
    }
    double *score = test_doubles(data->rows);
    assert_ok(saddle_predictor_scores(predictor, data, score, &error), error);
    /* The data's labels are unchanged. */
    assert_ok(saddle_dataset_label(data, "1", &error), error);
    assert_measures(data, score, outcome, count);
    free(score);
    saddle_dataset_free(data);
    saddle_predictor_free(predictor);
}

static const char *const kinds[][6] = {
    {"problem=robust-logistic", "x-set=none", NULL},
    {"problem=auc", NULL},
    {"problem=auc", "score=mlp:7,3", "activation=tanh", NULL},
    {"problem=fair", "sensitive=3", NULL},
    {"problem=fair", "sensitive=3", "exclude-features=1,4", "fairness=0", NULL},
    {"problem=fair", "sensitive=3", "score=mlp:4", NULL},
    {"problem=group-dro", "groups=3,label", NULL},
    {"problem=group-dro", "groups=agents", "score=mlp:4", NULL},
    {"problem=poisoning", "poisoned=agents:1,4", NULL},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

TEST_LOOP(models_have_the_outcomes_of_their_runs, 0, KINDS)
{
    const char *assignment[16] = {"data=train", "iterations=30", "agents=6"};
    make_data();
    size_t used = 3;
    /* The paper's problem has no outcomes, so only the scores are compared. */
    if (strcmp(kinds[_i][0], "problem=robust-logistic") != 0)
        assignment[used++] = "test-data=test";
    for (size_t k = 0; kinds[_i][k] != NULL; k++)
        assignment[used++] = kinds[_i][k];
    saddle_result *result = train(assignment, "m.npz");
    assert_same_outcomes(result, "m.npz", "test");
    saddle_result_free(result);
}

/* Trained on a9a and used on a9a.t, which has one feature less. */
TEST(a9a_is_evaluated_on_a9a_t)
{
    static const char *const names[] = {"problem=auc", "problem=fair", "problem=poisoning"};
    if (saddle_test_data("a9a") == NULL || saddle_test_data("a9a.t") == NULL) {
        saddle_test_skip("a9a and a9a.t are not in $SADDLE_DATA");
        return;
    }
    saddle_test_enter_directory();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        /* Measuring the best response on a9a takes most of a run, so do it only at the start and the end. */
        const char *const assignment[] = {names[k],         "data=a9a",        "test-data=a9a.t",
                                          "iterations=100", "trace-every=100", NULL};
        saddle_result *result = train(assignment, "a9a.npz");
        ck_assert_uint_eq(result->features, 123);
        ck_assert_uint_ge(result->outcome_count, 4);
        assert_same_outcomes(result, "a9a.npz", "a9a.t");
        saddle_result_free(result);
    }
}

/* Scores by their formulas, from the run's solution. */
TEST(scores_are_the_formulas)
{
    static const char *const auc[] = {"data=train", "problem=auc", "iterations=30", NULL};
    static const char *const poisoning[] = {"data=train", "problem=poisoning", "iterations=30",
                                            NULL};
    make_data();
    for (int which = 0; which < 2; which++) {
        saddle_predictor *predictor = NULL;
        saddle_dataset *data = NULL;
        saddle_result *result = train(which == 0 ? auc : poisoning, "m.npz");
        assert_ok(saddle_predictor_load(&predictor, "m.npz", NULL, &error), error);
        assert_ok(saddle_predictor_data(predictor, &data, "test", NULL, &error), error);
        double *score = test_doubles(data->rows);
        assert_ok(saddle_predictor_scores(predictor, data, score, &error), error);
        size_t d = data->features;
        const double *w = which == 0 ? result->x_mean : result->y_mean;
        double middle = which == 0 ? 0.5 * (w[d + 1] + w[d + 2]) : 0.0;
        for (size_t row = 0; row < data->rows; row++) {
            double sum = w[d] - middle;
            for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
                sum += saddle_entry_value(data, k) * w[data->column[k]];
            assert_near(score[row], sum, 1e-12 * (1.0 + fabs(sum)));
        }
        free(score);
        saddle_dataset_free(data);
        saddle_predictor_free(predictor);
        saddle_result_free(result);
    }
}

TEST(one_class_and_other_labels)
{
    static const char *const assignment[] = {"data=train", "problem=auc", "iterations=30", NULL};
    make_data();
    saddle_result_free(train(assignment, "m.npz"));
    saddle_predictor *predictor = NULL;
    saddle_dataset *data = NULL;
    saddle_outcome outcome[SADDLE_MOST_MEASURES];
    size_t count = 0;
    assert_ok(saddle_predictor_load(&predictor, "m.npz", NULL, &error), error);
    ck_assert_str_eq(saddle_predictor_plan(predictor)->problem.positive, "1");
    /* All of one class: accuracy is defined, AUC is not. */
    saddle_test_write("one", "-1 1:1\n-1 2:1 123:1\n");
    assert_ok(saddle_predictor_data(predictor, &data, "one", NULL, &error), error);
    assert_ok(saddle_predictor_evaluate(predictor, data, NULL, outcome, &count, &error), error);
    ck_assert(isnan(outcome_named("auc", outcome, count)));
    double accuracy = outcome_named("accuracy", outcome, count);
    /* The same rows with labels that only the caller understands. */
    for (size_t k = 0; k < data->rows; k++)
        data->label[k] = 7.0;
    assert_ok(saddle_predictor_evaluate(predictor, data, "7", outcome, &count, &error), error);
    assert_near(outcome_named("accuracy", outcome, count), 1.0 - accuracy, 0.0);
    ck_assert_double_eq(data->label[0], 7.0);
    assert_refused(saddle_predictor_evaluate(predictor, data, "seven", outcome, &count, &error),
                   error, SADDLE_BAD_INPUT, "'seven' is neither a number nor a range");
    saddle_dataset_free(data);
    data = (saddle_dataset *)&error;
    saddle_test_write("wide", "1 1:1 124:1\n-1 2:1\n");
    assert_refused(saddle_predictor_data(predictor, &data, "wide", NULL, &error), error,
                   SADDLE_BAD_INPUT,
                   "'wide' has 124 features, but the model 'm.npz' was trained on 123");
    ck_assert_ptr_null(data);
    saddle_test_write("narrow.csv", "1,2,1\n2,1,-1\n");
    assert_refused(saddle_predictor_data(predictor, &data, "narrow.csv", NULL, &error), error,
                   SADDLE_BAD_INPUT, "'narrow.csv' has 2 features");
    saddle_predictor_free(predictor);
}

/* ---- files that are refused ------------------------------------------------------------------ */

static void refuse(const char *path, const char *plugin, const char *part)
{
    saddle_predictor *predictor = (saddle_predictor *)&error;
    assert_refused(saddle_predictor_load(&predictor, path, plugin, &error), error, SADDLE_BAD_INPUT,
                   part);
    ck_assert_ptr_null(predictor);
    ck_assert_ptr_null(strchr(error.message, '\n'));
}

/* Writes a model file as someone else might make it. */
static void forge(uint64_t format, uint64_t features, const char *settings, size_t x_dim)
{
    static const double zeros[256] = {0.0};
    const saddle_array arrays[] = {
        {"format", SADDLE_ARRAY_WORD, 0, {0}, .data = &format},
        {"xbar", SADDLE_ARRAY_REAL, 1, {x_dim}, .data = zeros},
        {"ybar", SADDLE_ARRAY_REAL, 1, {1}, .data = zeros},
        {"features", SADDLE_ARRAY_WORD, 0, {0}, .data = &features},
        {"settings", SADDLE_ARRAY_TEXT, 0, {0}, .data = settings},
    };
    ck_assert_uint_le(x_dim, 256);
    assert_ok(saddle_npz_write("forged.npz", arrays, 5, &error), error);
}

TEST(other_files_are_refused)
{
    static const char *const quadratic[] = {"problem=quadratic", "iterations=2", NULL};
    static const char linear[] = "problem: auc\nagents: 2\npositive-share: 0.5\npositive: 1\n";
    static const double zeros[4] = {0.0};
    const saddle_array old[] = {{"xbar", SADDLE_ARRAY_REAL, 1, {4}, .data = zeros},
                                {"ybar", SADDLE_ARRAY_REAL, 1, {4}, .data = zeros},
                                {"problem", SADDLE_ARRAY_TEXT, 0, {0}, .data = "auc"}};
    saddle_test_enter_directory();
    refuse("absent", NULL, "cannot read 'absent': No such file");
    refuse(".", NULL,
           "'.' is not a model; give a model file that a run wrote (cannot read '.': it is a "
           "directory");
    saddle_test_write("text", "1 2 3\n");
    refuse("text", NULL, "'text' is not a model; give a model file");
    assert_ok(saddle_npz_write("other.npz", old + 2, 1, &error), error);
    refuse("other.npz", NULL, "there is no such array; the file contains problem");
    assert_ok(saddle_npz_write("old.npz", old, 3, &error), error);
    refuse("old.npz", NULL, "'old.npz' has xbar but not the settings of its run");
    saddle_result_free(train(quadratic, "q.npz"));
    refuse("q.npz", NULL, "is a model of problem quadratic, which is not made from data");

    /* A valid one, then each with one error. */
    forge(1, 10, linear, 13);
    saddle_predictor *predictor = NULL;
    assert_ok(saddle_predictor_load(&predictor, "forged.npz", NULL, &error), error);
    saddle_predictor_free(predictor);
    refuse("forged.npz", "./libmine.so",
           "--problem: 'forged.npz' is a model of the built-in problem auc; leave out the problem");
    forge(3, 10, linear, 13);
    refuse("forged.npz", NULL, "is a model of format 3, but saddle");
    forge(1, 10, linear, 14);
    refuse("forged.npz", NULL, "has 14 entries in xbar, but problem auc with its settings has 13");
    forge(1, 0, linear, 13);
    refuse("forged.npz", NULL, "claims 0 features");
    forge(1, UINT64_C(1) << 52, linear, 13);
    refuse("forged.npz", NULL, "claims 4503599627370496 features for 14 numbers");
    forge(1, UINT64_MAX, linear, 13);
    refuse("forged.npz", NULL, "above 2^53");
    /* No memory is allocated for a network that the file cannot contain. */
    forge(1, 10, "problem: auc\nagents: 2\npositive-share: 0.5\nscore: mlp:4000,4000,4000\n", 13);
    refuse("forged.npz", NULL, "has 13 entries in xbar");
    forge(1, 10, "problem: auc\nagents: none\n", 13);
    refuse("forged.npz", NULL, "the settings in 'forged.npz' are not those of saddle");
    forge(1, 10, "problem auc\n", 13);
    refuse("forged.npz", NULL, "is not a line 'name: value'");
    forge(1, 10, "problem: auc\ncolour: blue\n", 13);
    refuse("forged.npz", NULL, "unknown option 'colour'");
    forge(1, 10, "problem: auc\n", 13);
    refuse("forged.npz", NULL, "it has 0 agents");
    forge(1, 10, "problem: mine\nagents: 2\n", 13);
    refuse("forged.npz", NULL, "problem 'mine', which is neither built in nor a plug-in");
    /* A path in a file is not followed. */
    forge(1, 10, "problem: ./libmine.so:3\nagents: 2\n", 13);
    refuse("forged.npz", NULL, "if you trust it, give ./libmine.so:3 as --problem");
    refuse("forged.npz", "auc", "--problem: 'auc' is not a path");
    refuse("forged.npz", "./absent.so", "cannot read the plug-in './absent.so'");
}

/* A model cut short anywhere is refused, never misread. */
TEST(cut_files_are_refused)
{
    static const char *const assignment[] = {"data=train", "problem=auc", "iterations=2", NULL};
    make_data();
    saddle_result_free(train(assignment, "m.npz"));
    FILE *file = fopen("m.npz", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    fclose(file);
    for (long cut = size - 1; cut > 0; cut -= 1 + cut / 20) {
        ck_assert_int_eq(truncate("m.npz", cut), 0);
        saddle_predictor *predictor = NULL;
        ck_assert_int_eq(saddle_predictor_load(&predictor, "m.npz", NULL, &error),
                         SADDLE_BAD_INPUT);
    }
}

/* ---- complete models ------------------------------------------------------------------------- */

static void assert_same_files(const char *one, const char *other)
{
    FILE *a = fopen(one, "r");
    FILE *b = fopen(other, "r");
    ck_assert(a != NULL && b != NULL);
    int byte;
    do {
        byte = getc(a);
        ck_assert_int_eq(byte, getc(b));
    } while (byte != EOF);
    fclose(a);
    fclose(b);
}

TEST(complete_models_are_read_and_written)
{
    static const char *const assignment[] = {"problem=auc", "data=train",   "agents=3",
                                             "seed=4",      "iterations=7", NULL};
    make_data();
    saddle_saved_model *model = NULL;
    saddle_result *result = train(assignment, "m.npz");
    assert_ok(saddle_saved_model_load(&model, "m.npz", &error), error);
    ck_assert_uint_eq(model->agents, 3);
    ck_assert_uint_eq(model->x_dim, result->x_dim);
    ck_assert_uint_eq(model->iteration, 7);
    ck_assert_uint_eq(model->features, result->features);
    ck_assert_mem_eq(model->x_mean, result->x_mean, result->x_dim * sizeof *model->x);
    ck_assert_mem_eq(model->x, result->x, 3 * result->x_dim * sizeof *model->x);
    ck_assert_mem_eq(model->y, result->y, 3 * result->y_dim * sizeof *model->y);
    ck_assert_str_eq(model->problem, "auc");
    ck_assert_ptr_nonnull(strstr(model->settings, "seed: 4\n"));
    assert_ok(saddle_saved_model_save(model, "copy.npz", &error), error);
    assert_same_files("m.npz", "copy.npz");
    saddle_saved_model_free(model);
    saddle_result_free(result);
}

/* Writes a complete model with these copies, and asserts that it is refused, if `part` is not
 * NULL. */
static void load_copies(size_t rank, const size_t shape[2], const double *x, const char *part)
{
    static const double zeros[16] = {0.0};
    const uint64_t one = 1;
    const saddle_array arrays[] = {
        {"format", SADDLE_ARRAY_WORD, 0, {0}, .data = &one},
        {"xbar", SADDLE_ARRAY_REAL, 1, {3}, .data = zeros},
        {"ybar", SADDLE_ARRAY_REAL, 1, {2}, .data = zeros},
        {"x", SADDLE_ARRAY_REAL, rank, {shape[0], shape[1]}, .data = x},
        {"y", SADDLE_ARRAY_REAL, 2, {4, 2}, .data = zeros},
        {"iteration", SADDLE_ARRAY_WORD, 0, {0}, .data = &one},
        {"problem", SADDLE_ARRAY_TEXT, 0, {0}, .data = "auc"},
        {"algorithm", SADDLE_ARRAY_TEXT, 0, {0}, .data = "precision"},
        {"version", SADDLE_ARRAY_TEXT, 0, {0}, .data = "0"},
        {"features", SADDLE_ARRAY_WORD, 0, {0}, .data = &one},
        {"settings", SADDLE_ARRAY_TEXT, 0, {0}, .data = "problem: auc"},
    };
    saddle_saved_model *model = (saddle_saved_model *)&error;
    assert_ok(saddle_npz_write("copies.npz", arrays, 11, &error), error);
    saddle_status status = saddle_saved_model_load(&model, "copies.npz", &error);
    if (part == NULL)
        assert_ok(status, error);
    else
        assert_refused(status, error, SADDLE_BAD_INPUT, part);
    ck_assert_int_eq(model == NULL, part != NULL);
    saddle_saved_model_free(model);
}

TEST(copies_that_do_not_fit_are_refused)
{
    double x[20] = {0.0};
    saddle_test_enter_directory();
    load_copies(2, (size_t[]){4, 3}, x, NULL);
    load_copies(2, (size_t[]){5, 3}, x, "its x and y have the shapes (5, 3) and (4, 2), but xbar");
    load_copies(2, (size_t[]){4, 5}, x, "(4, 5) and (4, 2), but xbar and ybar have 3 and 2");
    load_copies(1, (size_t[]){12, 0}, x, "its 'x' has rank 1 and 12 numbers; it must have rank 2");
    load_copies(2, (size_t[]){0, 3}, x, "its 'x' has rank 2 and 0 numbers");
    x[7] = (double)NAN;
    load_copies(2, (size_t[]){4, 3}, x, "entry 7 of 'x' in 'copies.npz' is nan");
}
