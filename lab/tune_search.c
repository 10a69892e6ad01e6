/*
 * Options of a search whose values the user lists: "batch=10,20,40 fairness=0.1:10:log".
 *
 * A range is a number of values between its ends, evenly spaced on a logarithmic or linear scale.
 * The ends are used as they were typed; the others are rounded so that they are short to type.
 */
#include "lab/tune.h"

#include "core/elementary.h"
#include "core/option_value.h"
#include "instance/plan_plugins.h"
#include "instance/unused_options.h"

/* The default number of values in a range, and the most values of an option. */
#define RANGE_VALUES 5
#define MOST_VALUES 64
/* The most options of an algorithm and a problem. */
#define MOST_KNOWN 64

/* ---- which options --------------------------------------------------------------------------- */

/* Whether an option can have listed values. Texts, such as sizes of layers, cannot, because they
 * may contain commas. */
static bool can_vary(const saddle_option *option)
{
    return option->kind != SADDLE_OPTION_TEXT && option->effect == SADDLE_EFFECT_RESULT;
}

/* Whether one of two tables, the second of which may be NULL, contains an option that can vary. */
static bool in_tables(const saddle_option *const *const tables[2], const saddle_option *option)
{
    return can_vary(option) && (saddle_option_in(tables[0], option) ||
                                (tables[1] != NULL && saddle_option_in(tables[1], option)));
}

static saddle_status unknown(const saddle_plan *plan, const char *name,
                             const saddle_option *const *const tables[2], saddle_error *error)
{
    const char *known[MOST_KNOWN];
    char list[600] = "";
    size_t count = 0;
    for (size_t k = 0; k < saddle_plan_option_count(plan) && count < MOST_KNOWN; k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        if (!in_tables(tables, option))
            continue;
        saddle_append(list, sizeof list, "%s%s", count > 0 ? ", " : "", option->name);
        known[count++] = option->name;
    }
    return saddle_refuse(error, "--search: '%s' is not one of %s%s", SADDLE_EXCERPT(name), list,
                         saddle_suggest(name, known, count).text);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Appends a value, in the form in which settings print it, unless it is in the list. */
static saddle_status add_value(saddle_tune_axis *axis, const char *text, saddle_error *error)
{
    saddle_error why = {.message = ""};
    saddle_option_value value;
    char buffer[SADDLE_VALUE_SIZE];
    saddle_status status = saddle_option_read(axis->option, text, &value, &why);
    if (status != SADDLE_OK)
        return saddle_fail(error, status, "--search: %s: %.900s", axis->option->name, why.message);
    const char *shown = saddle_option_text(axis->option, &value, buffer);
    for (size_t k = 0; k < axis->count; k++)
        if (strcmp(axis->value[k], shown) == 0)
            return SADDLE_OK;
    if (axis->count == MOST_VALUES || strlen(shown) >= SADDLE_TUNE_TEXT)
        return saddle_refuse(
            error,
            "--search: %s has more than %d values, or one with more than %d characters; give fewer",
            axis->option->name, MOST_VALUES, SADDLE_TUNE_TEXT - 1);
    saddle_snprintf(axis->value[axis->count++], SADDLE_TUNE_TEXT, "%s", shown);
    return SADDLE_OK;
}

/* FROM:TO[:log|linear[:COUNT]] */
static saddle_status add_range(saddle_tune_axis *axis, const char *text, saddle_error *error)
{
    saddle_fields f;
    double low;
    double high;
    uint64_t count = RANGE_VALUES;
    bool whole = axis->option->kind == SADDLE_OPTION_INTEGER;
    bool good = (whole || axis->option->kind == SADDLE_OPTION_REAL) && saddle_split(&f, text) &&
                f.count <= 4 && saddle_parse_real(f.field[0], &low) &&
                saddle_parse_real(f.field[1], &high) && low < high;
    bool linear = good && (f.count > 2 ? strcmp(f.field[2], "linear") == 0 : low <= 0.0);
    good = good && (linear || f.count < 3 || strcmp(f.field[2], "log") == 0) &&
           (linear || low > 0.0) && (f.count < 4 || saddle_parse_integer(f.field[3], &count)) &&
           count >= 2 && count <= MOST_VALUES;
    if (!good)
        return saddle_refuse(error,
                             "--search: %s: '%s' is not a range; give FROM:TO, FROM:TO:log:COUNT "
                             "or FROM:TO:linear:COUNT with numbers FROM < TO, above 0 for log, and "
                             "2 to %d values, or a list A,B,C",
                             axis->option->name, SADDLE_EXCERPT(text), MOST_VALUES);
    SADDLE_TRY(add_value(axis, f.field[0], error));
    for (uint64_t k = 1; k + 1 < count; k++) {
        double share = (double)k / (double)(count - 1);
        double value =
            linear ? low + share * (high - low) : low * saddle_exp(share * saddle_log(high / low));
        char shown[SADDLE_REAL_SIZE];
        saddle_snprintf(shown, sizeof shown, whole ? "%.0f" : linear ? "%.6g" : "%.3g", value);
        SADDLE_TRY(add_value(axis, shown, error));
    }
    return add_value(axis, f.field[1], error);
}

static saddle_status add_values(saddle_tune_axis *axis, char *text, saddle_error *error)
{
    if (strchr(text, ':') != NULL)
        return add_range(axis, text, error);
    for (char *rest = text; rest != NULL;)
        SADDLE_TRY(add_value(axis, strsep(&rest, ","), error));
    return SADDLE_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Adds the option of a word NAME=VALUES; an option of another algorithm is reported and ignored. */
static saddle_status add_axis(saddle_tuning *t, char *word, const saddle_plan *plan,
                              const saddle_problem_choice *problem, const saddle_tune_hooks *hooks,
                              saddle_error *error)
{
    saddle_tune_axes *out = t->listed;
    const saddle_option *const *const tables[2] = {
        t->choice->algorithm->options, problem->kind != NULL ? problem->kind->options : NULL};
    char *values = strchr(word, '=');
    if (values != NULL)
        *values++ = '\0';
    const saddle_option *option = saddle_plan_find(plan, word);
    if (option != NULL && can_vary(option) && !in_tables(tables, option) &&
        (saddle_option_of_algorithm(option) || saddle_plan_algorithm_has(plan, option))) {
        if (hooks != NULL)
            saddle_warn(hooks->warning, hooks->context, "--search: %s is not used by %s",
                        option->name, t->algorithm->name);
        return SADDLE_OK;
    }
    if (option == NULL || !in_tables(tables, option))
        return unknown(plan, word, tables, error);
    const char *text =
        option->stage == SADDLE_STAGE_INSTANCE ? plan->problem.name : t->choice->text;
    if (option->home == SADDLE_HOME_OWN && saddle_plugin_named(text) &&
        saddle_plugin_text_has(text, word))
        return saddle_refuse(error,
                             "--search: %s is also given in '%.200s'; give it in one of them only",
                             word, text);
    if (values == NULL || *values == '\0')
        return saddle_refuse(error, "--search: %s has no values; give %s=A,B,C or %s=FROM:TO", word,
                             word, word);
    if (saddle_tune_listed(out, option) != NULL)
        return saddle_refuse(error, "--search: %s is given twice; list all its values together",
                             word);
    if (out->count == SADDLE_TUNE_MOST_LISTED)
        return saddle_refuse(error, "--search: give at most %d options", SADDLE_TUNE_MOST_LISTED);
    saddle_tune_axis *axis = &out->axis[out->count++];
    axis->option = option;
    axis->value = saddle_alloc(MOST_VALUES, sizeof *axis->value);
    SADDLE_TRY(saddle_check_memory(axis->value, "the options to search", error));
    out->changes_problem = out->changes_problem || option->stage == SADDLE_STAGE_INSTANCE;
    return add_values(axis, values, error);
}

saddle_status saddle_tune_read_search(saddle_tuning *t, const char *text, const saddle_plan *plan,
                                      const saddle_problem_choice *problem,
                                      const saddle_tune_hooks *hooks, saddle_error *error)
{
    t->listed = saddle_alloc(1, sizeof *t->listed);
    SADDLE_TRY(saddle_check_memory(t->listed, "the search", error));
    if (text == NULL || *text == '\0')
        return SADDLE_OK;
    t->search = saddle_strdup(text);
    SADDLE_OWNED char *words = saddle_strdup(text);
    if (t->search == NULL || words == NULL)
        return saddle_no_memory(error, "the search");
    for (char *rest = words; rest != NULL;) {
        char *word = strsep(&rest, " ");
        if (*word != '\0')
            SADDLE_TRY(add_axis(t, word, plan, problem, hooks, error));
    }
    return SADDLE_OK;
}

const saddle_tune_axis *saddle_tune_listed(const saddle_tune_axes *axes,
                                           const saddle_option *option)
{
    for (size_t k = 0; k < axes->count; k++)
        if (axes->axis[k].option == option)
            return &axes->axis[k];
    return NULL;
}

void saddle_tune_axes_free(saddle_tune_axes *axes)
{
    for (size_t k = 0; axes != NULL && k < axes->count; k++)
        saddle_free(axes->axis[k].value);
    saddle_free(axes);
}

saddle_status saddle_tune_read_hold(saddle_tuning *t, const char *text, const saddle_plan *plan,
                                    saddle_error *error)
{
    if (text == NULL || *text == '\0')
        return SADDLE_OK;
    t->hold = saddle_strdup(text);
    SADDLE_TRY(saddle_check_memory(t->hold, "the options to hold", error));
    if (strcmp(t->hold, "all") == 0)
        return SADDLE_OK;
    const char *rest = t->hold;
    size_t length;
    for (const char *word; (word = saddle_next_item(&rest, &length)) != NULL;) {
        char name[64];
        saddle_snprintf(name, sizeof name, "%.*s",
                        (int)(length < sizeof name ? length : sizeof name), word);
        const saddle_option *option = saddle_plan_find(plan, name);
        if (option == NULL)
            return saddle_refuse(error,
                                 "--hold: '%s' is not an option; give names of step sizes "
                                 "separated by commas, such as nu,eta, or all",
                                 name);
        if (saddle_tune_listed(t->listed, option) != NULL)
            return saddle_refuse(
                error, "--hold: %s is also listed in --search; give it in one of them only", name);
    }
    return SADDLE_OK;
}

/* ---- the instances of candidates ------------------------------------------------------------- */

/* Whether two candidates have the same problem. */
static bool same_problem(const saddle_tuning *tuning, size_t a, size_t b)
{
    for (size_t j = 0; j < tuning->option_count; j++)
        if (tuning->option[j]->stage == SADDLE_STAGE_INSTANCE &&
            strcmp(saddle_tuning_value(tuning, a, j), saddle_tuning_value(tuning, b, j)) != 0)
            return false;
    return true;
}

saddle_status saddle_tune_instance(saddle_tune_instances *list, const saddle_tuning *tuning,
                                   size_t candidate, const saddle_instance **out,
                                   saddle_error *error)
{
    *out = list->given;
    if (same_problem(tuning, candidate, 0))
        return SADDLE_OK;
    *out = list->made;
    if (list->made != NULL && same_problem(tuning, candidate, list->candidate))
        return SADDLE_OK;
    saddle_instance_free(list->made);
    list->made = NULL;
    saddle_plan plan;
    saddle_error why = {.message = ""};
    const struct saddle_instance_parts *parts = list->given->parts;
    saddle_status status = saddle_plan_copy(&plan, &parts->given, &why);
    SADDLE_THEN(status, saddle_plan_load_plugins(&plan, &why));
    for (size_t j = 0; status == SADDLE_OK && j < tuning->option_count; j++)
        if (tuning->option[j]->stage == SADDLE_STAGE_INSTANCE)
            status = saddle_plan_set(&plan, tuning->option[j]->name,
                                     saddle_tuning_value(tuning, candidate, j), &why);
    status = saddle_world_agree(list->given->world, status, &why);
    SADDLE_THEN(status, saddle_instance_create_on(&list->made, parts->engine, &plan, &why));
    saddle_plan_free(&plan);
    list->candidate = candidate;
    *out = list->made;
    if (status == SADDLE_OK)
        return SADDLE_OK;
    return saddle_fail(error, status,
                       "--search: the problem of candidate %zu cannot be made: %.900s", candidate,
                       why.message);
}
