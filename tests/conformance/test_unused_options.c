/*
 * Options of algorithms that a run accepts. Every one of them is given to every algorithm, and also with values of the
 * algorithm's choices, of which test_chosen() takes a third: either the run is another one, or a warning says that the
 * option is not used and the run has the same bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/algorithms.h"
#include "core/print.h"
#include "instance/plan.h"
#include "instances.h"
#include "support.h"

#define COUNT_ALGORITHM(algorithm) +1
enum { MOST = 128, TEXT = 80, ALGORITHMS = 0 SADDLE_ALGORITHMS(COUNT_ALGORITHM) };

static const char *const common[] = {
    "problem=quadratic", "noise=0.1", "samples=60", "agents=4",
    "topology=ring",     "x-dim=3",   "y-dim=4",    "iterations=40",
    "trace-every=40",    "gap=never", NULL};

/* What a run did. */
typedef struct outcome {
    bool refused;
    bool warned; /* about the option `name` */
    const char *name;
    saddle_result *result;
} outcome;

static void hear(void *context, const char *message)
{
    outcome *o = context;
    size_t length = strlen(o->name);
    if (strncmp(message, "--", 2) == 0 && strncmp(message + 2, o->name, length) == 0 &&
        message[2 + length] == ':' && strstr(message, "used") != NULL)
        o->warned = true;
}

/* Returns a setting without which a short run does not come near the limit that an option sets. */
static const char *beside(const char *algorithm, const char *setting)
{
    bool plus = strcmp(algorithm, "precision+") == 0;
    return plus && strncmp(setting, "refresh-min=", 12) == 0 ? "c-gamma=1e-4"
           : plus && strncmp(setting, "epsilon=", 8) == 0    ? "c-gamma=1e6"
           : strcmp(algorithm, "vrlm") == 0 && strncmp(setting, "refresh-size=", 13) == 0 ? "q=10"
                                                                                          : "";
}

/* Runs an algorithm with up to three settings; "" is none. `setting` is the one that is heard of. */
static outcome try(const saddle_instance *instance, const saddle_plan *base, const char *algorithm,
                   const char *choice, const char *more, const char *setting)
{
    outcome o = {.name = setting};
    char name[TEXT] = "";
    saddle_error error = {.message = ""};
    saddle_plan plan;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(setting, "="), setting);
    o.name = name;
    assert_ok(saddle_plan_copy(&plan, base, &error), error);
    assert_ok(saddle_plan_set(&plan, "algorithm", algorithm, &error), error);
    const char *const settings[] = {choice, more, setting};
    for (size_t k = 0; k < 3; k++) {
        const char *equals = strchr(settings[k], '=');
        char option[TEXT];
        if (equals == NULL)
            continue;
        snprintf(option, sizeof option, "%.*s", (int)(equals - settings[k]), settings[k]);
        assert_ok(saddle_plan_set(&plan, option, equals + 1, &error), error);
    }
    const saddle_hooks hooks = {.context = &o, .warning = hear};
    o.refused = saddle_run(instance, &plan, &hooks, &o.result, &error) != SADDLE_OK;
    saddle_plan_free(&plan);
    o.name = NULL;
    return o;
}

/* Whether two runs have the same points and costs. */
static bool same(const saddle_result *a, const saddle_result *b)
{
    return memcmp(a->x, b->x, a->local * a->x_dim * sizeof *a->x) == 0 &&
           memcmp(a->y, b->y, a->local * a->y_dim * sizeof *a->y) == 0 &&
           test_same_cost(&a->cost, &b->cost);
}

/* Collects settings of an option that differ from its value in a run. */
static size_t others(const saddle_option *option, const saddle_plan *used, char out[][TEXT])
{
    size_t count = 0;
    char text[SADDLE_VALUE_SIZE];
    if (strcmp(option->name, "sampling") == 0 && used->steps.batch == 1)
        return 0; /* one sample is drawn either way */
    const saddle_option *known = saddle_plan_find(used, option->name);
    const char *now = known != NULL ? saddle_plan_text(used, known, text) : "";
    if (option->kind == SADDLE_OPTION_CHOICE) {
        for (const char *c = option->choices; *c != '\0';) {
            int length = (int)strcspn(c, "|");
            if (strncmp(c, "auto", 4) != 0 &&
                ((int)strlen(now) != length || strncmp(c, now, (size_t)length) != 0))
                snprintf(out[count++], TEXT, "%s=%.*s", option->name, length, c);
            c += length + (c[length] == '|');
        }
        return count;
    }
    if (option->kind == SADDLE_OPTION_FLAG) {
        snprintf(out[count++], TEXT, "%s=%s", option->name, strcmp(now, "yes") == 0 ? "no" : "yes");
        return count;
    }
    /* Far apart, because some are limits that a short run may not reach. */
    double value = 0.0;
    (void)saddle_parse_real(now, &value);
    bool whole = option->kind == SADDLE_OPTION_INTEGER;
    double middle = value > 0.0 ? value : whole ? 3.0 : 1.0;
    const double tried[] = {whole ? option->minimum : middle / 2.0, middle * (whole ? 16.0 : 2.0),
                            middle / 1024.0, fmin(middle * 1024.0, option->maximum)};
    for (size_t k = 0; k < (whole ? 2 : 4); k++)
        if (tried[k] >= option->minimum && tried[k] <= option->maximum && tried[k] != value)
            saddle_snprintf(out[count++], TEXT, "%s=%.17g", option->name, tried[k]);
    return count;
}

/* Tries an option beside a choice. Returns the number of failures. */
static size_t check(const saddle_instance *instance, const saddle_plan *plan, const char *algorithm,
                    const char *choice, const saddle_result *base, const saddle_option *option)
{
    char setting[16][TEXT];
    size_t count = others(option, &base->plan, setting);
    const char *more = count > 0 ? beside(algorithm, setting[0]) : "";
    outcome with_more = {.result = NULL};
    bool changed = false;
    bool silent = false;
    size_t wrong = 0;
    if (*more != '\0') {
        with_more = try(instance, plan, algorithm, choice, more, "");
        base = with_more.result;
        ck_assert_ptr_nonnull(base);
    }
    for (size_t k = 0; k < count; k++) {
        outcome o = try(instance, plan, algorithm, choice, more, setting[k]);
        if (o.refused)
            continue;
        bool differs = !same(base, o.result);
        if (o.warned && differs) {
            fprintf(stderr, "%s %s %s: warned of, but used\n", algorithm, choice, setting[k]);
            wrong++;
        }
        changed = changed || differs;
        silent = silent || !o.warned;
        saddle_result_free(o.result);
    }
    if (silent && !changed) {
        fprintf(stderr, "%s %s %s: not used, without a warning\n", algorithm, choice, setting[0]);
        wrong++;
    }
    saddle_result_free(with_more.result);
    return wrong;
}

static size_t check_all(const saddle_instance *instance, const saddle_plan *plan,
                        const saddle_algorithm *a, const char *choice, size_t row,
                        const saddle_option *const *option)
{
    outcome base = try(instance, plan, a->name, choice, "", "");
    size_t wrong = 0;
    size_t chosen = strcspn(choice, "=");
    if (base.refused)
        return 0;
    for (size_t k = 0; option[k] != NULL; k++)
        if ((strlen(option[k]->name) != chosen || strncmp(option[k]->name, choice, chosen) != 0) &&
            (*choice == '\0' || test_chosen(row, k)))
            wrong += check(instance, plan, a->name, choice, base.result, option[k]);
    saddle_result_free(base.result);
    return wrong;
}

static bool is_in(const saddle_option *const *list, const saddle_option *option)
{
    for (; *list != NULL; list++)
        if (*list == option)
            return true;
    return false;
}

/* Collects the options of all algorithms. */
static void collect(const saddle_option *all[MOST])
{
    size_t algorithms;
    size_t count = 0;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    all[0] = NULL;
    for (size_t k = 0; k < algorithms; k++)
        for (const saddle_option *const *o = list[k]->options; *o != NULL; o++)
            if (!is_in(all, *o)) {
                ck_assert_uint_lt(count + 1, MOST);
                all[count++] = *o;
                all[count] = NULL;
            }
}

TEST_LOOP(every_option_is_used_or_warned_of, 0, ALGORITHMS)
{
    size_t algorithms;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    const saddle_algorithm *a = list[_i];
    const saddle_option *all[MOST];
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, common);
    saddle_instance *instance;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    collect(all);
    size_t wrong = check_all(instance, plan, a, "", 0, all);
    outcome base = try(instance, plan, a->name, "", "", "");
    ck_assert(!base.refused);
    size_t row = 0;
    for (const saddle_option *const *o = a->options; *o != NULL; o++) {
        char choice[16][TEXT];
        size_t count =
            (*o)->kind == SADDLE_OPTION_CHOICE ? others(*o, &base.result->plan, choice) : 0;
        for (size_t k = 0; k < count; k++)
            wrong += check_all(instance, plan, a, choice[k], row++, a->options);
    }
    saddle_result_free(base.result);
    saddle_instance_free(instance);
    test_plan_free(plan);
    ck_assert_msg(wrong == 0, "%s: %zu options are accepted without use, or used with a warning",
                  a->name, wrong);
}
