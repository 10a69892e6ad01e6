/* Messages and warnings are one line, whatever the names and values in them. */
#include <stdio.h>
#include <string.h>

#include <saddle/lab.h>

#include "core/status.h"
#include "support.h"

static saddle_error error;

/* Names and values may have been read from a file. */
#define BROKEN "a\nb\x1b[31m\xC2\x9B"
#define SHOWN "a\\x0ab\\x1b[31m\\u009b"

static void assert_one_line(saddle_status status, const char *call)
{
    ck_assert_msg(status != SADDLE_OK, "%s", call);
    ck_assert_msg(strstr(error.message, SHOWN) != NULL, "%s: %s", call, error.message);
    ck_assert_msg(strpbrk(error.message, "\n\x1b\xC2") == NULL, "%s: %s", call, error.message);
}
#define ASSERT_ONE_LINE(call) assert_one_line((call), #call)

static void keep_warning(void *context, const char *message)
{
    snprintf(context, 1024, "%s", message);
}

TEST(messages_and_warnings_are_one_line)
{
    static const struct {
        const char *option, *value;
    } setting[] = {{"problem", BROKEN},        {"algorithm", BROKEN},
                   {"topology", BROKEN},       {"topology", "file:" BROKEN},
                   {"mixing", BROKEN},         {"mixing", "file:" BROKEN},
                   {"links", BROKEN},          {"links", "schedule:" BROKEN},
                   {"churn", BROKEN},          {"link-model", BROKEN},
                   {"compress", BROKEN},       {"x-set", BROKEN},
                   {"y-set", "./" BROKEN},     {"regularizer", BROKEN},
                   {"init", BROKEN},           {"init", "file:" BROKEN},
                   {"samples", BROKEN},        {"engine", BROKEN},
                   {"stop-when", BROKEN},      {"checkpoint-every", BROKEN},
                   {"resume", BROKEN},         {"trace", BROKEN "/t.csv"},
                   {"model", BROKEN "/m.npz"}, {"checkpoint", BROKEN "/c"}};
    saddle_plan plan;
    saddle_test_enter_directory();
    for (size_t k = 0; k < sizeof setting / sizeof *setting; k++) {
        saddle_instance *instance = NULL;
        saddle_result *result = NULL;
        saddle_plan_defaults(&plan, sizeof plan);
        assert_ok(saddle_plan_set(&plan, "problem", "quadratic", &error), error);
        assert_ok(saddle_plan_set(&plan, "iterations", "2", &error), error);
        saddle_status status = saddle_plan_set(&plan, setting[k].option, setting[k].value, &error);
        if (status == SADDLE_OK)
            status = saddle_instance_create(&instance, &plan, &error);
        if (status == SADDLE_OK)
            status = saddle_run(instance, &plan, NULL, &result, &error);
        if (status == SADDLE_OK) {
            status = result->output_error.status;
            error = result->output_error;
        }
        assert_one_line(status, setting[k].option);
        saddle_result_free(result);
        saddle_instance_free(instance);
        saddle_plan_free(&plan);
    }
    saddle_plan_defaults(&plan, sizeof plan);
    saddle_dataset *data = NULL;
    saddle_graph *graph = NULL;
    saddle_set *set = NULL;
    saddle_trace *trace = NULL;
    saddle_checkpoint_info info;
    ASSERT_ONE_LINE(saddle_plan_set(&plan, BROKEN, "1", &error));
    ASSERT_ONE_LINE(saddle_plan_load(&plan, BROKEN, &error));
    ASSERT_ONE_LINE(saddle_dataset_load(&data, "./" BROKEN, NULL, 1, &error));
    ASSERT_ONE_LINE(saddle_graph_create(&graph, BROKEN, 5, 1, &error));
    ASSERT_ONE_LINE(saddle_set_create(&set, BROKEN, 2, &error));
    ASSERT_ONE_LINE(saddle_trace_read(&trace, BROKEN, &error));
    ASSERT_ONE_LINE(saddle_checkpoint_examine(BROKEN, &info, NULL, &error));
    ASSERT_ONE_LINE(saddle_fail(&error, SADDLE_IO, "a plug-in says %s", BROKEN));
    saddle_plan_free(&plan);
    char warning[1024] = "";
    saddle_warn(keep_warning, warning, "the algorithm %s", BROKEN);
    ck_assert_str_eq(warning, "the algorithm " SHOWN);
    /* A long message is cut between characters. */
    char flood[3000];
    memset(flood, '\n', sizeof flood - 1);
    flood[sizeof flood - 1] = '\0';
    saddle_fail(&error, SADDLE_IO, "%s", flood);
    ck_assert_uint_eq(strlen(error.message), 1020);
    ck_assert_str_eq(error.message + 1016, "\\x0a");
}
