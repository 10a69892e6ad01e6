/* The library does not overwrite its inputs, nor files that only a checkpoint names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <saddle/lab.h>

#include "files/path_list.h"
#include "support.h"

static saddle_error error;

TEST(files_are_known_by_device_and_inode)
{
    saddle_test_enter_directory();
    saddle_test_write("a", "");
    saddle_test_write("b", "");
    ck_assert_int_eq(mkdir("d", 0700), 0);
    ck_assert_int_eq(link("a", "d/hard"), 0);
    ck_assert_int_eq(symlink("../a", "d/soft"), 0);
    ck_assert_int_eq(symlink("d", "e"), 0);
    static const struct {
        const char *one;
        const char *other;
        bool same;
    } pair[] = {{"a", "a", true},
                {"a", "./a", true},
                {"a", "b", false},
                {"a", "d/hard", true},
                {"d/soft", "e/hard", true},
                {"b", "e/hard", false},
                {"new", "d/../new", true},
                {"d/new", "e/new", true},
                {"new", "d/new", false},
                {"a", "new", false},
                {"none/new", "none/new", true},
                {"none/new", "none/other", false},
                {"/dev/null", "/dev/null", false}};
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
        ck_assert_msg(saddle_same_file(pair[k].one, pair[k].other) == pair[k].same, "%s and %s",
                      pair[k].one, pair[k].other);
        for (int other_too = 0; other_too < 2; other_too++) {
            saddle_path_list outputs = {.count = 0};
            saddle_path_list inputs = {.count = 0};
            saddle_path_list_add(&outputs, "model", "unlike");
            saddle_path_list_add(&outputs, "trace", pair[k].one);
            saddle_path_list_add(other_too ? &outputs : &inputs, "other", pair[k].other);
            saddle_path_list_add(&inputs, "third", NULL);
            saddle_status status = saddle_path_lists_check(&outputs, &inputs, &error);
            ck_assert_int_eq(status, pair[k].same ? SADDLE_BAD_INPUT : SADDLE_OK);
        }
    }
    /* Two inputs may be the same file. */
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    saddle_path_list_add(&outputs, "trace", "b");
    saddle_path_list_add(&inputs, "data", "a");
    saddle_path_list_add(&inputs, "test-data", "d/hard");
    assert_ok(saddle_path_lists_check(&outputs, &inputs, &error), error);
}

/* Adds the paths in a rule, and joins them. */
static const char *paths_in(const char *rule)
{
    static char joined[200];
    saddle_path_list list = {.count = 0};
    joined[0] = '\0';
    saddle_path_list_add_rule(&list, "links", rule);
    for (size_t k = 0; k < list.count; k++) {
        strcat(joined, k > 0 ? " " : "");
        strcat(joined, list.entry[k].path);
    }
    saddle_path_list_release(&list);
    return joined;
}

TEST(files_are_found_anywhere_in_a_rule)
{
    ck_assert_str_eq(paths_in("file:a"), "a");
    ck_assert_str_eq(paths_in("schedule:dir/a"), "dir/a");
    ck_assert_str_eq(paths_in("sequence:ring,file:a"), "a");
    ck_assert_str_eq(paths_in("sequence:file:a,ring,file:b"), "a,ring,file:b a b");
    ck_assert_str_eq(paths_in("ring"), "");
    ck_assert_str_eq(paths_in("profile:a"), "");
    ck_assert_str_eq(paths_in("file:"), "");
    ck_assert_str_eq(paths_in(""), "");
}

/* Runs the quadratic problem with further settings; the last name is NULL. */
static saddle_status solve(const char *const (*setting)[2])
{
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_plan_defaults(&plan, sizeof plan);
    assert_ok(saddle_plan_set(&plan, "problem", "quadratic", &error), error);
    assert_ok(saddle_plan_set(&plan, "iterations", "5", &error), error);
    for (size_t k = 0; setting[k][0] != NULL; k++)
        assert_ok(saddle_plan_set(&plan, setting[k][0], setting[k][1], &error), error);
    saddle_status status = saddle_instance_create(&instance, &plan, &error);
    ck_assert_msg(status == SADDLE_OK, "%s", error.message);
    status = saddle_run(instance, &plan, NULL, &result, &error);
    saddle_result_free(result);
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return status;
}

TEST(a_run_keeps_its_inputs)
{
    static const char edges[] = "0 1\n1 2\n2 0\n";
    saddle_test_enter_directory();
    saddle_test_write("edges", edges);
    ck_assert_int_eq(link("edges", "hard"), 0);
    static const char *const output[] = {"trace", "model"};
    static const char *const path[] = {"edges", "hard"};
    for (size_t k = 0; k < 4; k++) {
        const char *const settings[][2] = {
            {"topology", "file:edges"}, {output[k / 2], path[k % 2]}, {NULL, NULL}};
        char wanted[64];
        snprintf(wanted, sizeof wanted, "--%s: '%s' is also the file of --topology", output[k / 2],
                 path[k % 2]);
        assert_refused(solve(settings), error, SADDLE_BAD_INPUT, wanted);
        assert_file_holds("edges", edges);
    }
    saddle_test_write("events", "2 leave 1\n4 return 1\n");
    saddle_test_write("costs", "default latency 0.01\n");
    static const char *const input[][3] = {{"churn", "events", "events"},
                                           {"link-model", "costs", "costs"},
                                           {"links", "sequence:complete,file:edges", "edges"}};
    for (size_t k = 0; k < 6; k++) {
        const char *const *in = input[k / 2];
        const char *const settings[][2] = {
            {"agents", "3"}, {in[0], in[1]}, {output[k % 2], in[2]}, {NULL, NULL}};
        char wanted[64];
        snprintf(wanted, sizeof wanted, "--%s: '%s' is also the file of --%s", output[k % 2], in[2],
                 in[0]);
        assert_refused(solve(settings), error, SADDLE_BAD_INPUT, wanted);
    }
    assert_file_holds("edges", edges);
    assert_file_holds("events", "2 leave 1\n4 return 1\n");
    assert_file_holds("costs", "default latency 0.01\n");
    const char *const both[][2] = {{"trace", "same"}, {"model", "same"}, {NULL, NULL}};
    assert_refused(solve(both), error, SADDLE_BAD_INPUT,
                   "--model: 'same' is also the file of --trace");
    ck_assert_int_ne(access("same", F_OK), 0);
}

/* So does what is saved from a result; only the model that a run started from may be replaced. */
TEST(a_result_keeps_the_inputs_of_its_run)
{
    static const char edges[] = "0 1\n1 2\n2 0\n";
    saddle_plan plan;
    saddle_result *result = NULL;
    saddle_test_enter_directory();
    saddle_test_write("edges", edges);
    saddle_plan_defaults(&plan, sizeof plan);
    plan.problem.name = "quadratic";
    plan.network.topology = "file:edges";
    plan.limits.iterations = 2;
    assert_ok(saddle_solve(NULL, &plan, &result, &error), error);
    assert_refused(saddle_result_save(result, "./edges", &error), error, SADDLE_BAD_INPUT,
                   "path: './edges' is also the file of --topology");
    assert_file_holds("edges", edges);
    assert_ok(saddle_result_save(result, "model.npz", &error), error);
    saddle_result_free(result);
    plan.start.init = "file:model.npz";
    assert_ok(saddle_solve(NULL, &plan, &result, &error), error);
    assert_ok(saddle_result_save(result, "model.npz", &error), error);
    saddle_result_free(result);
    saddle_plan_free(&plan);
}

/* Calls saddle_plan_resume() with a plan that has a trace, or none. */
static saddle_status resume(const char *trace)
{
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    assert_ok(saddle_plan_set(&plan, "resume", "theirs", &error), error);
    if (trace != NULL)
        assert_ok(saddle_plan_set(&plan, "trace", trace, &error), error);
    saddle_status status = saddle_plan_resume(&plan, NULL, &error);
    saddle_plan_free(&plan);
    return status;
}

TEST(a_checkpoint_names_no_files_of_others)
{
    saddle_test_enter_directory();
    const char *const far[][2] = {{"trace", "diary"}, {"checkpoint", "theirs"}, {NULL, NULL}};
    assert_ok(solve(far), error);
    assert_refused(resume(NULL), error, SADDLE_BAD_INPUT,
                   "'diary' lies outside the directory of the checkpoint");
    assert_ok(resume("diary"), error);
    assert_ok(resume("another"), error);
    ck_assert_int_eq(system("rm -r theirs && mkdir theirs"), 0);
    const char *const near[][2] = {
        {"trace", "theirs/t.csv"}, {"checkpoint", "theirs"}, {NULL, NULL}};
    assert_ok(solve(near), error);
    assert_ok(resume(NULL), error);
    ck_assert_int_eq(rename("theirs/t.csv", "diary"), 0);
    assert_ok(resume(NULL), error);
    ck_assert_int_eq(symlink("../diary", "theirs/t.csv"), 0);
    assert_refused(resume(NULL), error, SADDLE_BAD_INPUT, "or is a link");
    ck_assert_int_eq(unlink("theirs/t.csv"), 0);
    ck_assert_int_eq(link("diary", "theirs/t.csv"), 0);
    assert_refused(resume(NULL), error, SADDLE_BAD_INPUT, "or is a link");
}
