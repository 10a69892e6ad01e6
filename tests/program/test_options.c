/* What the fields of an option determine, and that its heading in the help determines nothing. */
#include <string.h>

#include "cli.h"
#include "draw/trace_groups.h"
#include "lab/trace_build.h"

#include "support.h"

/* Calls `visit` with every option of the library and a copy of it with another heading. */
static void each_reworded(void (*visit)(const saddle_option *option, const saddle_option *reworded))
{
    static const char *const heading[] = {"Words of no meaning",  SADDLE_PROBLEM_HEADING,
                                          SADDLE_NETWORK_HEADING, SADDLE_STOPPING_HEADING,
                                          SADDLE_ENGINE_HEADING,  SADDLE_OUTPUT_HEADING};
    saddle_error error;
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    ck_assert_int_eq(saddle_plan_add_options(&plan, NULL, &error), SADDLE_OK);
    for (size_t k = 0; k < saddle_plan_option_count(&plan); k++)
        for (size_t h = 0; h < sizeof heading / sizeof *heading; h++) {
            saddle_option reworded = *saddle_plan_option(&plan, k);
            reworded.group = heading[h];
            visit(saddle_plan_option(&plan, k), &reworded);
        }
    saddle_plan_free(&plan);
}

static void check_commands(const saddle_option *option, const saddle_option *reworded)
{
    for (size_t c = 0; cli_commands[c] != NULL; c++)
        ck_assert_int_eq(cli_takes(cli_commands[c], reworded), cli_takes(cli_commands[c], option));
}

static void check_groups(const saddle_option *option, const saddle_option *reworded)
{
    ck_assert_int_eq(saddle_option_separates(reworded), saddle_option_separates(option));
}

TEST(headings_decide_nothing)
{
    each_reworded(check_commands);
    each_reworded(check_groups);
}

/* Returns an option of the library by name. */
static const saddle_option *option_of(const saddle_plan *plan, const char *name)
{
    const saddle_option *option = saddle_plan_find(plan, name);
    ck_assert_msg(option != NULL, "no option %s", name);
    return option;
}

TEST(commands_take_fields)
{
    static const struct {
        const cli_command *command;
        const char *taken, *refused;
    } list[] = {{&cli_run, "problem", NULL},          {&cli_run, "algorithm", NULL},
                {&cli_run, "ascents", NULL},          {&cli_run, "lambda1", NULL},
                {&cli_run, "resume", NULL},           {&cli_compare, "nu", "algorithm"},
                {&cli_compare, "ascents", "resume"},  {&cli_compare, "trace-every", "trace"},
                {&cli_tune, "resume", "iterations"},  {&cli_tune, "lambda1", "algorithm"},
                {&cli_theory, "tau", "nu"},           {&cli_theory, "lambda1", "ascents"},
                {&cli_theory, "epsilon", "steps"},    {&cli_graph, "agents", "topology"},
                {&cli_predict, "problem", "lambda1"}, {&cli_predict, "labels", "positive"},
                {&cli_eval, "positive", "seed"},      {&cli_check_grad, "seed", "init"},
                {&cli_data_info, "format", "data"}};
    saddle_error error;
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    ck_assert_int_eq(saddle_plan_add_options(&plan, NULL, &error), SADDLE_OK);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        ck_assert_msg(cli_takes(list[k].command, option_of(&plan, list[k].taken)), "%s --%s",
                      list[k].command->name, list[k].taken);
        if (list[k].refused != NULL)
            ck_assert_msg(!cli_takes(list[k].command, option_of(&plan, list[k].refused)), "%s --%s",
                          list[k].command->name, list[k].refused);
    }
    saddle_plan_free(&plan);
}

TEST(groups_differ_in_what_changes_a_run)
{
    static const char *const separate[] = {
        "nu", "topology", "data", "iterations", "lambda1", "metric-tau", "metric-direction"};
    static const char *const together[] = {
        "seed",   "algorithm", "trace",   "model",    "trace-every",       "checkpoint",
        "resume", "engine",    "threads", "outcomes", "outcomes-per-agent"};
    saddle_error error;
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    ck_assert_int_eq(saddle_plan_add_options(&plan, NULL, &error), SADDLE_OK);
    for (size_t k = 0; k < sizeof separate / sizeof *separate; k++)
        ck_assert_msg(saddle_option_separates(option_of(&plan, separate[k])), "%s", separate[k]);
    for (size_t k = 0; k < sizeof together / sizeof *together; k++)
        ck_assert_msg(!saddle_option_separates(option_of(&plan, together[k])), "%s", together[k]);
    saddle_plan_free(&plan);
}

/* Fails if an option speaks of files but does not say which files its value names. */
static void check_files(const saddle_option *option)
{
    const char *meta = option->metavar != NULL ? option->metavar : "";
    bool speaks =
        strcmp(meta, "FILE") == 0 || strcmp(meta, "PATH") == 0 ||
        strstr(option->help, "file:PATH") != NULL || strstr(option->help, "./mine.so") != NULL ||
        strstr(option->help, "schedule:FILE") != NULL || strstr(option->help, "ive a file") != NULL;
    ck_assert_msg(!speaks || option->files != SADDLE_FILES_NONE,
                  "--%s names files, but its .files is SADDLE_FILES_NONE", option->name);
    ck_assert_msg(option->files == SADDLE_FILES_NONE || option->kind == SADDLE_OPTION_TEXT, "--%s",
                  option->name);
}

TEST(options_that_name_files_say_so)
{
    saddle_error error;
    saddle_plan plan;
    size_t named = 0;
    for (size_t c = 0; cli_commands[c] != NULL; c++) {
        ck_assert_int_eq(cli_plan(&plan, cli_commands[c], &error), SADDLE_OK);
        for (size_t k = 0; k < saddle_plan_option_count(&plan); k++) {
            check_files(saddle_plan_option(&plan, k));
            named += saddle_plan_option(&plan, k)->files != SADDLE_FILES_NONE;
        }
        saddle_plan_free(&plan);
    }
    ck_assert_uint_gt(named, 20);
    static const char *const naming[] = {
        "data",        "test-data", "labels", "topology", "mixing",  "links",     "churn",
        "link-model",  "init",      "init-x", "init-y",   "problem", "x-set",     "y-set",
        "regularizer", "algorithm", "resume", "trace",    "model",   "checkpoint"};
    ck_assert_int_eq(cli_plan(&plan, &cli_run, &error), SADDLE_OK);
    for (size_t k = 0; k < sizeof naming / sizeof *naming; k++)
        ck_assert_msg(option_of(&plan, naming[k])->files != SADDLE_FILES_NONE, "%s", naming[k]);
    saddle_plan_free(&plan);
}

/* Returns a trace with a seed and one more setting; free with saddle_trace_free(). */
static saddle_trace *trace_with(const char *seed, const char *name, const char *value)
{
    saddle_trace *trace = saddle_trace_create("made.csv", "1", "done", 0);
    ck_assert(trace != NULL && saddle_trace_add_entry(trace, "algorithm", "precision") &&
              saddle_trace_add_entry(trace, "seed", seed) &&
              saddle_trace_add_entry(trace, name, value));
    return trace;
}

/* Results that are given names, as saddle.report() in Python does, are curves of these names. */
TEST(titles_name_groups)
{
    saddle_error error;
    saddle_trace *list[] = {trace_with("1", "title", "Ours"), trace_with("1", "title", "Theirs"),
                            trace_with("2", "title", "Ours"), trace_with("1", "title", "")};
    const saddle_trace *const traces[] = {list[0], list[1], list[2], list[3]};
    trace_groups g;
    ck_assert_int_eq(saddle_trace_groups_make(&g, traces, 4, &error), SADDLE_OK);
    ck_assert_uint_eq(g.groups, 3);
    ck_assert_uint_eq(g.group[0].count, 2);
    ck_assert_str_eq(g.group[0].label, "Ours");
    ck_assert_str_eq(g.group[1].label, "Theirs");
    ck_assert_str_eq(g.group[2].label, "PRECISION");
    for (size_t k = 0; k < 3; k++) /* their dashes differ */
        ck_assert_uint_eq(g.group[k].repeat, k);
    saddle_trace_groups_release(&g);
    for (size_t k = 0; k < 4; k++)
        saddle_trace_free(list[k]);
}
