/*
 * A program in a locale with a decimal comma: texts and files keep their decimal points.
 *
 * localedef makes the locale, so that it is the same everywhere; without localedef the test is skipped.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saddle/lab.h>

#include "instances.h"
#include "support.h"

static saddle_error error;

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

/* Goes to a new directory and switches to a locale with a decimal comma; false when none can be made. */
static bool take_comma(void)
{
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
    bool taken = saddle_test_take_comma();
    if (!taken)
        saddle_test_skip("no locale with a decimal comma can be made here");
    return taken;
}

/* Asserts that a file contains a text. */
static void assert_points(const char *path, const char *number)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL)
        found = found || strstr(line, number) != NULL;
    fclose(file);
    ck_assert_msg(found, "'%s' does not contain %s", path, number);
}

TEST(settings_are_read_with_points)
{
    if (!take_comma())
        return;
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    assert_ok(saddle_plan_set(&plan, "nu", "0.25", &error), error);
    ck_assert_double_eq(plan.steps.nu, 0.25);
    ck_assert_int_eq(saddle_plan_set(&plan, "nu", "0,25", &error), SADDLE_BAD_INPUT);
    /* More digits than the fast conversion handles. */
    assert_ok(saddle_plan_set(&plan, "nu", "0.12345678901234567890123", &error), error);
    ck_assert_double_eq(plan.steps.nu, 0.12345678901234567890123);
    saddle_plan_free(&plan);
}

TEST(rows_are_read_and_written_with_points)
{
    if (!take_comma())
        return;
    saddle_dataset *data = NULL;
    saddle_dataset *back = NULL;
    write_file("rows", "1 1:0.5 3:-1.25e-3\n-1 2:7.75\n");
    write_file("rows.csv", "0.5,0.25,1\n1.5,2.5,-1\n");
    assert_ok(saddle_dataset_load(&data, "rows", NULL, 1, &error), error);
    ck_assert_double_eq(data->value[1], -1.25e-3);
    assert_ok(saddle_dataset_save_libsvm(data, "written", &error), error);
    assert_points("written", "3:-0.00125");
    assert_ok(saddle_dataset_load(&back, "written", NULL, 1, &error), error);
    ck_assert_double_eq(back->value[1], data->value[1]);
    saddle_dataset_free(back);
    saddle_dataset_free(data);
    assert_ok(saddle_dataset_load(&data, "rows.csv", NULL, 1, &error), error);
    ck_assert_double_eq(data->dense[1], 0.25);
    saddle_dataset_free(data);
    ck_assert_str_eq(localeconv()->decimal_point, ",");
}

/* Asserts that no number of a file has a comma: rows have as many commas as the header, and the head has none
 * except between classes. */
static void assert_no_commas(const char *path)
{
    char line[4096];
    size_t columns = 0;
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL) {
        size_t commas = 0;
        for (const char *c = line; *c != '\0'; c++)
            commas += *c == ',';
        if (line[0] != '#' && columns == 0)
            columns = commas;
        if (strncmp(line, "# classes: -1,1", 15) != 0)
            ck_assert_msg(commas == (line[0] == '#' ? 0 : columns), "%s: %s", path, line);
    }
    fclose(file);
    ck_assert_uint_gt(columns, 0);
}

/* Steps that the library chooses are printed like those that a user gives, and so are numbers in messages. */
TEST(automatic_steps_and_messages_have_points)
{
    if (!take_comma())
        return;
    static const char *const algorithm[] = {"precision", "precision+", "precision-auto",
                                            "gt-gda",    "dposg",      "sreda"};
    for (size_t k = 0; k < sizeof algorithm / sizeof *algorithm; k++) {
        saddle_result *result = NULL;
        saddle_instance *instance = NULL;
        saddle_predictor *predictor = NULL;
        saddle_plan *plan =
            test_plan(NULL, (const char *[]){"problem=auc", "data=synthetic:60", "iterations=8",
                                             "trace-every=1", "trace=t.csv", "model=m.npz",
                                             "outcomes=always", NULL});
        assert_ok(saddle_plan_set(plan, "algorithm", algorithm[k], &error), error);
        assert_ok(saddle_instance_create(&instance, plan, &error), error);
        assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
        assert_no_commas("t.csv");
        assert_ok(saddle_predictor_load(&predictor, "m.npz", NULL, &error), error);
        saddle_predictor_free(predictor);
        saddle_result_free(result);
        saddle_instance_free(instance);
        test_plan_free(plan);
    }
    saddle_fail(&error, SADDLE_BAD_INPUT, "%g %.3f", 0.25, 1234.5);
    ck_assert_str_eq(error.message, "0.25 1234.500");
    ck_assert_str_eq(localeconv()->decimal_point, ",");
}

/* What a run writes can be read, in this locale and in others. */
TEST(a_run_writes_points)
{
    if (!take_comma())
        return;
    saddle_plan *plan =
        test_plan(NULL, (const char *[]){"problem=quadratic", "iterations=20", "nu=0.125",
                                         "trace=trace.csv", "checkpoint=kept", NULL});
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_trace *trace = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    assert_points("trace.csv", "# nu: 0.125\n");
    assert_ok(saddle_trace_read(&trace, "trace.csv", &error), error);
    ck_assert_uint_eq(trace->rows, result->row_count);
    const double *metric = saddle_trace_column(trace, "metric");
    ck_assert_ptr_nonnull(metric);
    for (size_t k = 0; k < trace->rows; k++)
        ck_assert_double_eq(metric[k], result->rows[k].metric);
    saddle_trace_free(trace);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}
