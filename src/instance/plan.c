/* Plans: defaults, setting options from text, loading and copying. */
#include "instance/plan.h"

#include <saddle/algorithm.h>
#include <saddle/problem.h>

#include "algorithms/step_options.h"
#include "core/float_mode.h"
#include "files/yaml.h"
#include "instance/plan_entries.h"
#include "instance/plan_options.h"
#include "instance/plan_plugins.h"

/* ---- the list of options --------------------------------------------------------------------- */

/* Lists all options of the library: those of plans, algorithms and problems. */
static saddle_status list_all(saddle_plan *plan, saddle_error *error)
{
    size_t algorithms;
    size_t problems;
    const saddle_algorithm *const *algorithm = saddle_algorithm_list(&algorithms);
    const saddle_problem_class *const *problem = saddle_problem_list(&problems);
    const saddle_option *const *const first[] = {saddle_plan_options};
    SADDLE_TRY(saddle_plan_list(plan, first, 1, error));
    for (size_t k = 0; k < algorithms; k++)
        SADDLE_TRY(saddle_plan_append(plan, algorithm[k]->options, error));
    for (size_t k = 0; k < problems; k++)
        SADDLE_TRY(saddle_plan_append(plan, problem[k]->options, error));
    return SADDLE_OK;
}

saddle_status saddle_plan_add_options(saddle_plan *plan, const saddle_option *const *options,
                                      saddle_error *error)
{
    SADDLE_TRY(plan->settings == NULL ? list_all(plan, error) : SADDLE_OK);
    if (options != NULL)
        SADDLE_TRY(saddle_plan_append(plan, options, error));
    return SADDLE_OK;
}

/* Lists the options if that was not yet done, and adds those of the caller's own algorithm. */
static saddle_status open_list(saddle_plan *plan, saddle_error *error)
{
    const saddle_algorithm *own = plan->algorithm.own;
    return saddle_plan_add_options(plan, own != NULL ? own->options : NULL, error);
}

/* ---- defaults, and the end ------------------------------------------------------------------- */

void saddle_plan_defaults_for(saddle_plan *plan, size_t size, uint32_t abi)
{
    memset(plan, 0, size);
    plan->size = size;
    plan->abi = abi;
    /* The program was compiled with other headers: every call refuses this plan. */
    if (size != sizeof *plan)
        return;
    const saddle_option *const *const table[] = {saddle_plan_options, saddle_step_options};
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
        for (const saddle_option *const *option = table[t]; *option != NULL; option++)
            saddle_option_default(*option, plan);
}

void saddle_plan_free(saddle_plan *plan)
{
    if (plan == NULL || (plan->size != sizeof *plan && plan->size != SADDLE_PLAN_SHOWN))
        return;
    saddle_settings_free(plan->settings);
    /* Its texts are freed: every later call refuses this plan. */
    memset(plan, 0, sizeof *plan);
}

saddle_status saddle_plan_check_size(const saddle_plan *plan, saddle_error *error)
{
    if (plan->size == sizeof *plan && plan->abi == SADDLE_ABI)
        return SADDLE_OK;
    if (plan->size == SADDLE_PLAN_SHOWN)
        return saddle_refuse(error, "a plan from saddle_checkpoint_examine() is for inspection "
                                    "only; set outputs.resume of your own plan");
    return saddle_refuse(error,
                         "the plan has %zu bytes and ABI %u, but saddle %s expects %zu and %u; "
                         "call saddle_plan_defaults(&plan, sizeof plan), compiled with its headers",
                         plan->size, (unsigned)plan->abi, saddle_version(), sizeof *plan,
                         SADDLE_ABI);
}

/* ---- setting values -------------------------------------------------------------------------- */

static saddle_status refuse_unknown(const saddle_plan *plan, const char *name, saddle_error *error)
{
    size_t count = saddle_plan_option_count(plan);
    const char **known = saddle_alloc(count, sizeof *known);
    for (size_t k = 0; known != NULL && k < count; k++)
        known[k] = saddle_plan_option(plan, k)->name;
    saddle_suggestion meant = saddle_suggest(name, known, known != NULL ? count : 0);
    saddle_free((void *)known);
    return saddle_refuse(error, "unknown option '%s'%s", SADDLE_EXCERPT(name), meant.text);
}

saddle_status saddle_plan_set(saddle_plan *plan, const char *name, const char *text,
                              saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, plan, name, text);
    SADDLE_TRY(saddle_plan_check_size(plan, error));
    SADDLE_TRY(open_list(plan, error));
    saddle_entry *chosen = saddle_entry_find(plan, name);
    return chosen != NULL ? saddle_entry_assign_named(plan, chosen, text, SADDLE_FROM_CALLER, error)
                          : refuse_unknown(plan, name, error);
}

void saddle_plan_reset(saddle_plan *plan, const saddle_option *option)
{
    saddle_option_value value;
    saddle_entry *chosen = saddle_entry_of(plan, option);
    if (chosen == NULL || saddle_option_read(option, option->fallback, &value, NULL) != SADDLE_OK)
        return;
    *chosen = (saddle_entry){.option = option,
                             .text = saddle_entry_spelling(option, option->fallback, &value)};
    if (option->home == SADDLE_HOME_PLAN)
        saddle_option_write(option, &value, plan);
}

/* ---- configuration files --------------------------------------------------------------------- */

/* Applies an entry of a file, unless the caller has set its option; `why` receives the reason if
 * it is refused. */
static saddle_status apply(saddle_plan *plan, const saddle_yaml_entry *from, saddle_error *why)
{
    const saddle_option *option;
    SADDLE_TRY(saddle_plan_seek(plan, from->name, &option, why));
    if (option == NULL)
        return refuse_unknown(plan, from->name, why);
    saddle_entry *chosen = saddle_entry_of(plan, option);
    saddle_error reason = {0};
    saddle_option_value checked;
    saddle_status status;
    bool given = chosen->from == SADDLE_FROM_CALLER;
    if (chosen->option->not_in_file)
        status = saddle_refuse(&reason, "not allowed in a file; give it directly");
    else if (!given && chosen->option->files == SADDLE_FILES_CODE &&
             strchr(from->value, '/') != NULL)
        status = saddle_refuse(&reason,
                               "'%.200s' is a plug-in, and plug-ins named in a file are not "
                               "loaded; if you trust it, give %.200s as --%s",
                               from->value, from->value, from->name);
    else
        status = given ? saddle_option_read(chosen->option, from->value, &checked, &reason)
                       : saddle_entry_assign(plan, chosen, from->value, SADDLE_FROM_FILE, &reason);
    return status == SADDLE_OK ? SADDLE_OK
                               : saddle_fail(why, status, "%s: %.800s", from->name, reason.message);
}

static saddle_status apply_all(saddle_plan *plan, const char *path, const saddle_yaml *file,
                               saddle_error *error)
{
    for (size_t k = 0; k < file->count; k++) {
        saddle_error why = {0};
        saddle_status status = apply(plan, &file->entry[k], &why);
        const saddle_yaml_entry *from = &file->entry[k];
        bool known = saddle_entry_find(plan, from->name) != NULL;
        if (status != SADDLE_OK)
            return saddle_fail(error, status, "%s:%zu:%zu: %s", path,
                               known ? from->line : from->name_line,
                               known ? from->column : from->name_column, why.message);
    }
    return SADDLE_OK;
}

saddle_status saddle_plan_load(saddle_plan *plan, const char *path, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, plan, path);
    /* The file is applied to a copy, so that an error leaves the plan unchanged. */
    saddle_plan with;
    saddle_yaml file = {0};
    SADDLE_TRY(saddle_plan_copy(&with, plan, error));
    saddle_status status = saddle_yaml_read(&file, path, error);
    SADDLE_THEN(status, apply_all(&with, path, &file, error));
    saddle_yaml_free(&file);
    if (status == SADDLE_OK) {
        saddle_plan_free(plan);
        *plan = with;
    } else {
        saddle_plan_free(&with);
    }
    return status;
}

/* ---- fields that were assigned directly ------------------------------------------------------ */

/* Checks the field of an option, and copies a text that the plan does not own. `given`: a value
 * that is not the default counts as given. */
static saddle_status take_field(saddle_plan *plan, saddle_entry *e, bool given, saddle_error *error)
{
    const saddle_option *option = e->option;
    char buffer[SADDLE_VALUE_SIZE];
    saddle_option_value usual;
    const void *field = saddle_option_field(option, plan);
    const char *text = saddle_option_text(option, field, buffer);
    if (text == NULL)
        return saddle_refuse(error, "--%s: choice number %d is not one of %s", option->name,
                             *(const int *)field, option->choices);
    bool points = option->kind == SADDLE_OPTION_TEXT;
    /* A NULL that stands for the default is not given. */
    if (strcmp(text, option->fallback) == 0) {
        if (points)
            saddle_option_default(option, plan);
        return SADDLE_OK;
    }
    saddle_option_read(option, option->fallback, &usual, NULL);
    if (saddle_option_holds(option, field, &usual))
        return SADDLE_OK;
    if (given && e->from == SADDLE_FROM_DEFAULT)
        e->from = SADDLE_FROM_CALLER;
    return points && saddle_plan_keeps(plan->settings, text)
               ? SADDLE_OK
               : saddle_entry_assign_named(plan, e, text, e->from, error);
}

static saddle_status take_fields(saddle_plan *plan, bool given, saddle_error *error)
{
    for (size_t k = 0; k < plan->settings->count; k++)
        if (plan->settings->entries[k].option->home == SADDLE_HOME_PLAN)
            SADDLE_TRY(take_field(plan, &plan->settings->entries[k], given, error));
    return SADDLE_OK;
}

saddle_status saddle_plan_refresh(saddle_plan *plan, saddle_error *error)
{
    return take_fields(plan, false, error);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Copies the value of an option that has no field in the plan. */
static saddle_status copy_text(saddle_plan *plan, saddle_entry *to, const char *text,
                               saddle_error *error)
{
    to->text = text == to->option->fallback ? text : saddle_plan_keep(plan->settings, text);
    return to->text != NULL ? SADDLE_OK : saddle_no_memory(error, "a setting");
}

/* Copies the list of options, with the values that are not in fields. */
static saddle_status copy_list(saddle_plan *out, const saddle_settings *from, saddle_error *error)
{
    SADDLE_TRY(saddle_plan_list(out, NULL, 0, error));
    saddle_settings *to = out->settings;
    to->entries = saddle_alloc(from->count, sizeof *to->entries);
    SADDLE_TRY(saddle_check_memory(to->entries, "the options", error));
    memcpy(to->entries, from->entries, from->count * sizeof *to->entries);
    to->count = to->capacity = from->count;
    SADDLE_TRY(saddle_settings_share_all(to, from, error));
    for (size_t k = 0; k < to->count; k++)
        if (to->entries[k].option->home != SADDLE_HOME_PLAN)
            SADDLE_TRY(copy_text(out, &to->entries[k], from->entries[k].text, error));
    return SADDLE_OK;
}

saddle_status saddle_plan_copy(saddle_plan *out, const saddle_plan *plan, saddle_error *error)
{
    SADDLE_REQUIRE(error, out, plan);
    saddle_status status = saddle_plan_check_size(plan, error);
    if (status != SADDLE_OK) {
        saddle_plan_defaults(out, sizeof *out);
        return status;
    }
    *out = *plan;
    out->settings = NULL;
    if (plan->settings != NULL)
        status = copy_list(out, plan->settings, error);
    SADDLE_THEN(status, open_list(out, error));
    SADDLE_THEN(status, take_fields(out, true, error));
    if (status != SADDLE_OK)
        saddle_plan_free(out);
    return status;
}

saddle_status saddle_plan_merge(saddle_plan *out, const saddle_plan *instance,
                                const saddle_plan *run, const saddle_option *const *const *tables,
                                size_t table_count, saddle_error *error)
{
    *out = *run;
    SADDLE_TRY(saddle_plan_list(out, tables, 1, error));
    for (size_t t = 1; t < table_count; t++)
        SADDLE_TRY(saddle_plan_append_new(out, tables[t], error));
    SADDLE_TRY(saddle_settings_share_all(out->settings, instance->settings, error));
    SADDLE_TRY(saddle_settings_share_all(out->settings, run->settings, error));
    for (size_t k = 0; k < out->settings->count; k++) {
        saddle_entry *e = &out->settings->entries[k];
        const saddle_option *option = e->option;
        const saddle_plan *source = option->stage == SADDLE_STAGE_INSTANCE ? instance : run;
        const saddle_entry *from = saddle_entry_of(source, option);
        e->from = SADDLE_FROM_CALLER;
        if (option->home == SADDLE_HOME_PLAN)
            memcpy((char *)out + option->offset, saddle_option_field(option, source),
                   saddle_option_bytes(option));
        else if (from != NULL)
            SADDLE_TRY(copy_text(out, e, from->text, error));
    }
    return SADDLE_OK;
}

/* ---- options of one algorithm, problem or command -------------------------------------------- */

void saddle_plan_read_own(const saddle_plan *plan, const saddle_option *const *options,
                          void *target)
{
    for (; *options != NULL; options++) {
        const saddle_entry *found = saddle_entry_of(plan, *options);
        saddle_option_value value;
        if ((*options)->home == SADDLE_HOME_OWN && found != NULL &&
            saddle_option_read(*options, found->text, &value, NULL) == SADDLE_OK)
            saddle_option_write(*options, &value, target);
    }
}

saddle_status saddle_plan_record_own(saddle_plan *plan, const saddle_option *const *options,
                                     const void *target, saddle_error *error)
{
    for (; *options != NULL; options++) {
        saddle_entry *found = saddle_entry_of(plan, *options);
        char buffer[SADDLE_VALUE_SIZE];
        saddle_option_value before;
        const void *field = saddle_option_field(*options, target);
        if ((*options)->home != SADDLE_HOME_OWN || found == NULL)
            continue;
        saddle_option_read(*options, found->text, &before, NULL);
        if (saddle_option_holds(*options, field, &before))
            continue;
        const char *text = saddle_option_text(*options, field, buffer);
        SADDLE_TRY(text != NULL
                       ? saddle_entry_assign_named(plan, found, text, found->from, error)
                       : saddle_refuse(error, "--%s: choice number %d is not one of %s",
                                       (*options)->name, *(const int *)field, (*options)->choices));
    }
    return SADDLE_OK;
}

/* ---- reading values -------------------------------------------------------------------------- */

size_t saddle_plan_option_count(const saddle_plan *plan)
{
    return plan != NULL && plan->settings != NULL ? plan->settings->count : 0;
}

const saddle_option *saddle_plan_option(const saddle_plan *plan, size_t index)
{
    return index < saddle_plan_option_count(plan) ? plan->settings->entries[index].option : NULL;
}

const saddle_option *saddle_plan_find(const saddle_plan *plan, const char *name)
{
    const saddle_entry *found = name != NULL ? saddle_entry_find(plan, name) : NULL;
    return found != NULL ? found->option : NULL;
}

bool saddle_plan_given(const saddle_plan *plan, const saddle_option *option)
{
    const saddle_entry *found = saddle_entry_of(plan, option);
    return found != NULL && found->from != SADDLE_FROM_DEFAULT;
}

bool saddle_plan_given_at(const saddle_plan *plan, size_t offset)
{
    for (const saddle_option *const *option = saddle_plan_options; *option != NULL; option++)
        if ((*option)->offset == offset)
            return saddle_plan_given(plan, *option);
    return false;
}

const char *saddle_plan_text(const saddle_plan *plan, const saddle_option *option,
                             char buffer[SADDLE_VALUE_SIZE])
{
    const saddle_entry *found = saddle_entry_of(plan, option);
    const char *text = found == NULL ? NULL
                       : option->home == SADDLE_HOME_PLAN
                           ? saddle_option_text(option, saddle_option_field(option, plan), buffer)
                           : found->text;
    return text != NULL ? text : "";
}

double saddle_plan_number(const saddle_plan *plan, const saddle_option *option)
{
    double number = NAN;
    return saddle_parse_real(SADDLE_PLAN_TEXT(plan, option), &number) ? number : (double)NAN;
}

/* ---- other views of a plan -------------------------------------------------------------------- */

/* The field of an option, and that of the object in memory that replaces it. */
#define FIELD(name) offsetof(saddle_plan, name)
static const struct {
    size_t option;
    size_t object;
} pairs[] = {
    {FIELD(problem.name), FIELD(problem.own)},
    {FIELD(problem.data), FIELD(problem.own)},
    {FIELD(problem.data), FIELD(problem.rows)},
    {FIELD(problem.data), FIELD(problem.shards)},
    {FIELD(problem.test_data), FIELD(problem.test_rows)},
    {FIELD(problem.x_set), FIELD(problem.own_x_set)},
    {FIELD(problem.y_set), FIELD(problem.own_y_set)},
    {FIELD(problem.regularizer), FIELD(problem.own_regularizer)},
    {FIELD(network.topology), FIELD(network.graph)},
    {FIELD(network.topology), FIELD(network.weights)},
    {FIELD(network.mixing), FIELD(network.weights)},
    {FIELD(start.init_x), FIELD(start.x)},
    {FIELD(start.init_y), FIELD(start.y)},
    {FIELD(algorithm.name), FIELD(algorithm.own)},
};

bool saddle_plan_in_memory(const saddle_plan *plan, const saddle_option *option)
{
    for (size_t k = 0; option->home == SADDLE_HOME_PLAN && k < sizeof pairs / sizeof *pairs; k++) {
        const void *object;
        memcpy(&object, (const char *)plan + pairs[k].object, sizeof object);
        if (pairs[k].option == option->offset && object != NULL)
            return true;
    }
    return false;
}

saddle_data_options saddle_plan_data_options(const saddle_plan *plan)
{
    return (saddle_data_options){
        .abi = SADDLE_ABI,
        .format = plan->problem.format,
        .header = plan->problem.header,
        .label_column = plan->problem.label_column,
        .labels = plan->problem.labels,
        .categories = plan->problem.categories,
        .missing = plan->problem.missing,
        .category_columns = plan->problem.category_columns,
        .drop_columns = plan->problem.drop_columns,
        .threads = plan->engine.threads,
    };
}
