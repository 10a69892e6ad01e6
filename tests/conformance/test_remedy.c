/* The steps that a run names when it diverges: with them, the next run does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/algorithms.h"
#include "core/print.h"
#include "instances.h"
#include "support.h"

/* How many times too long the steps are. */
#define LONGER 30.0

/* The numbers of which a larger one is a shorter step. */
static bool is_inverse(const char *name)
{
    return strcmp(name, "tau") == 0 || strncmp(name, "ppa-lipschitz", 13) == 0;
}

static bool is_step(const char *name)
{
    static const char *const steps[] = {"tau",   "alpha",         "eta-x",
                                        "eta-y", "ppa-lipschitz", "ppa-lipschitz-y"};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
        if (strcmp(name, steps[k]) == 0)
            return true;
    return false;
}

static saddle_result *run_plan(saddle_plan *plan, saddle_error *error)
{
    saddle_result *result = NULL;
    if (saddle_solve(NULL, plan, &result, error) != SADDLE_OK)
        ck_assert_int_eq(error->status, SADDLE_UNSUPPORTED);
    return result;
}

/* Makes the steps that a run used too long. */
static void make_longer(saddle_plan *plan, const saddle_algorithm *algorithm,
                        const saddle_result *used)
{
    saddle_error error = {.message = ""};
    char value[64];
    for (const saddle_option *const *o = algorithm->options; *o != NULL; o++) {
        double step = NAN;
        char text[SADDLE_VALUE_SIZE];
        if (!is_step((*o)->name) ||
            !saddle_parse_real(saddle_plan_text(&used->plan, *o, text), &step))
            continue;
        saddle_snprintf(value, sizeof value, "%.17g",
                        is_inverse((*o)->name) ? step / LONGER : step * LONGER);
        assert_ok(saddle_plan_set(plan, (*o)->name, value, &error), error);
    }
}

/* Sets what "raise --tau from 0.03 to 0.9 and lower --alpha from 81 to 2.7, or ..." says. Returns the number of
 * options. */
static size_t follow(saddle_plan *plan, const char *remedy)
{
    saddle_error error = {.message = ""};
    char text[sizeof((saddle_result *)0)->remedy];
    saddle_snprintf(text, sizeof text, "%s", remedy);
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, " ,", &rest); word != NULL;
         word = strtok_r(NULL, " ,", &rest)) {
        if (strcmp(word, "raise") != 0 && strcmp(word, "lower") != 0)
            continue;
        const char *name = strtok_r(NULL, " ,", &rest) + 2;
        ck_assert_str_eq(strtok_r(NULL, " ,", &rest), "from");
        double before = 0.0;
        double after = 0.0;
        ck_assert(saddle_parse_real(strtok_r(NULL, " ,", &rest), &before));
        ck_assert_str_eq(strtok_r(NULL, " ,", &rest), "to");
        const char *value = strtok_r(NULL, " ,", &rest);
        ck_assert(saddle_parse_real(value, &after));
        ck_assert(is_inverse(name) == (strcmp(word, "raise") == 0));
        ck_assert(is_inverse(name) ? after > before : after < before);
        assert_ok(saddle_plan_set(plan, name, value, &error), error);
        count++;
    }
    return count;
}

static const char *const problems[][6] = {
    {"problem=quadratic", "curvature=convex", "samples=60", NULL},
    {"problem=auc", "data=synthetic:600:10", NULL},
    {"problem=robust-regression", "loss=square", "data=synthetic:600:10", NULL}};

TEST_LOOP(the_next_run_does_not_diverge, 0, sizeof problems / sizeof *problems)
{
    size_t count;
    size_t diverged = 0;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    for (size_t a = 0; a < count; a++) {
        const char *setting[12] = {"agents=8", "topology=ring", "iterations=400", "trace-every=100",
                                   "gap=never"};
        char name[64];
        saddle_error error = {.message = ""};
        if (!test_chosen((size_t)_i, a))
            continue;
        saddle_snprintf(name, sizeof name, "algorithm=%s", list[a]->name);
        setting[5] = name;
        for (size_t k = 0; problems[_i][k] != NULL; k++)
            setting[6 + k] = problems[_i][k];
        saddle_plan *plan = test_plan(NULL, setting);
        saddle_result *first = run_plan(plan, &error);
        if (first != NULL) {
            ck_assert_int_ne(first->stop, SADDLE_STOP_DIVERGED);
            make_longer(plan, list[a], first);
            saddle_result *second = run_plan(plan, &error);
            if (second->stop == SADDLE_STOP_DIVERGED) {
                diverged++;
                if (getenv("SADDLE_TEST_VERBOSE") != NULL)
                    saddle_fprintf(stdout, "%s: %s\n", list[a]->name, second->remedy);
                ck_assert_msg(follow(plan, second->remedy) > 0, "%s: %s%s", list[a]->name,
                              second->cause, second->remedy);
                saddle_result *third = run_plan(plan, &error);
                ck_assert_msg(third->stop != SADDLE_STOP_DIVERGED, "%s: %s", list[a]->name,
                              second->remedy);
                saddle_result_free(third);
            }
            saddle_result_free(second);
        }
        saddle_result_free(first);
        test_plan_free(plan);
    }
    ck_assert(diverged > 0);
}
