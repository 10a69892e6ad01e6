/*
 * Plans: defaults, setting options from text, loading and copying.
 *
 * The value of an option is in its field of the plan. Beside the fields, a plan lists its options,
 * which of them were given, the values of options without a field in the plan (those of one algorithm,
 * problem or command) as text, and the memory of all texts.
 */
#include "instance/plan.h"

#include <math.h>
#include <string.h>

#include <saddle/algorithm.h>
#include <saddle/problem.h>

#include "algorithms/step_options.h"
#include "core/float_mode.h"
#include "core/memory.h"
#include "core/option_value.h"
#include "core/status.h"
#include "core/text.h"
#include "files/yaml.h"
#include "instance/plan_options.h"

/* What gave a value. Each overrides those before it in this list. */
typedef enum origin { FROM_DEFAULT, FROM_FILE, FROM_CALLER } origin;

/* One option of a plan. */
typedef struct entry {
    const saddle_option *option; /* borrowed */
    origin from;
    const char *text; /* its value, if it has no field in the plan */
} entry;

/* A block of memory for texts, which stay where they are until the plan is freed. */
typedef struct block {
    struct block *next;
    size_t used;
    size_t bytes;
    char text[];
} block;

struct saddle_settings {
    size_t count;
    size_t capacity;
    entry *entries;
    block *texts;
};

/* ---- texts ----------------------------------------------------------------------------------- */

/* Copies a text into the memory of a plan; NULL if memory is short. */
static const char *keep(saddle_settings *settings, const char *text)
{
    size_t bytes = strlen(text) + 1;
    block *b = settings->texts;
    if (b == NULL || bytes > b->bytes - b->used) {
        size_t fresh = bytes > 1024 ? bytes : 1024;
        b = saddle_alloc(1, sizeof *b + fresh);
        if (b == NULL)
            return NULL;
        *b = (block){.next = settings->texts, .bytes = fresh};
        settings->texts = b;
    }
    char *copy = memcpy(b->text + b->used, text, bytes);
    b->used += bytes;
    return copy;
}

/* Returns whether a text is in the memory of a plan. */
static bool is_kept(const saddle_settings *settings, const char *text)
{
    for (const block *b = settings->texts; b != NULL; b = b->next)
        if ((uintptr_t)text - (uintptr_t)b->text < b->used)
            return true;
    return false;
}

static void free_settings(saddle_settings *settings)
{
    for (block *b = settings != NULL ? settings->texts : NULL; b != NULL;) {
        block *next = b->next;
        saddle_free(b);
        b = next;
    }
    if (settings != NULL)
        saddle_free(settings->entries);
    saddle_free(settings);
}

/* ---- the list of options --------------------------------------------------------------------- */

static entry *find(const saddle_plan *plan, const char *name)
{
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++)
        if (strcmp(plan->settings->entries[k].option->name, name) == 0)
            return &plan->settings->entries[k];
    return NULL;
}

/* Returns the entry of an option; NULL if the plan does not have it. */
static entry *entry_of(const saddle_plan *plan, const saddle_option *option)
{
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++)
        if (plan->settings->entries[k].option == option)
            return &plan->settings->entries[k];
    return NULL;
}

/* Returns the text that records a value: all spellings of a flag are recorded as yes or no. */
static const char *spelling(const saddle_option *option, const char *text,
                            const saddle_option_value *value)
{
    return option->kind != SADDLE_OPTION_FLAG ? text : value->flag ? "yes" : "no";
}

/* Appends an option with its default, unless it is already there. */
static saddle_status add(saddle_plan *plan, const saddle_option *option, saddle_error *error)
{
    saddle_settings *settings = plan->settings;
    saddle_option_value value;
    saddle_error why = {0};
    saddle_status status = saddle_option_check(option, error);
    if (status != SADDLE_OK || entry_of(plan, option) != NULL)
        return status;
    if (find(plan, option->name) != NULL)
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "option '%s' is declared twice; share one declaration", option->name);
    if (saddle_option_read(option, option->fallback, &value, &why) != SADDLE_OK)
        return saddle_fail(error, SADDLE_CHECK_FAILED, "the default of option '%s': %.900s",
                           option->name, why.message);
    entry *grown = saddle_grow(settings->entries, settings->count, &settings->capacity,
                               sizeof *settings->entries);
    if (grown == NULL)
        return saddle_no_memory(error, "the options");
    settings->entries = grown;
    grown[settings->count++] =
        (entry){.option = option, .text = spelling(option, option->fallback, &value)};
    return SADDLE_OK;
}

/* Appends the options of a table: all of them or, on failure, none. */
static saddle_status add_table(saddle_plan *plan, const saddle_option *const *options,
                               saddle_error *error)
{
    size_t before = plan->settings->count;
    saddle_status status = SADDLE_OK;
    for (; status == SADDLE_OK && *options != NULL; options++)
        status = add(plan, *options, error);
    if (status != SADDLE_OK)
        plan->settings->count = before;
    return status;
}

saddle_status saddle_plan_list(saddle_plan *plan, const saddle_option *const *const *tables,
                               size_t table_count, saddle_error *error)
{
    plan->settings = saddle_alloc(1, sizeof *plan->settings);
    saddle_status status =
        plan->settings != NULL ? SADDLE_OK : saddle_no_memory(error, "the options");
    for (size_t t = 0; status == SADDLE_OK && t < table_count; t++)
        status = add_table(plan, tables[t], error);
    if (status != SADDLE_OK) {
        free_settings(plan->settings);
        plan->settings = NULL;
    }
    return status;
}

/* Lists all options of the library: those of plans, algorithms and problems. */
static saddle_status list_all(saddle_plan *plan, saddle_error *error)
{
    size_t algorithms;
    size_t problems;
    const saddle_algorithm *const *algorithm = saddle_algorithm_list(&algorithms);
    const saddle_problem_class *const *problem = saddle_problem_list(&problems);
    const saddle_option *const *const first[] = {saddle_plan_options()};
    saddle_status status = saddle_plan_list(plan, first, 1, error);
    for (size_t k = 0; status == SADDLE_OK && k < algorithms; k++)
        status = add_table(plan, algorithm[k]->options, error);
    for (size_t k = 0; status == SADDLE_OK && k < problems; k++)
        status = add_table(plan, problem[k]->options, error);
    return status;
}

saddle_status saddle_plan_add_options(saddle_plan *plan, const saddle_option *const *options,
                                      saddle_error *error)
{
    saddle_status status = plan->settings == NULL ? list_all(plan, error) : SADDLE_OK;
    SADDLE_THEN_IF(status, options != NULL, add_table(plan, options, error));
    return status;
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
    const saddle_option *const *const table[] = {saddle_plan_options(), saddle_step_options};
    for (size_t t = 0; t < sizeof table / sizeof *table; t++)
        for (const saddle_option *const *option = table[t]; *option != NULL; option++)
            saddle_option_default(*option, plan);
}

void saddle_plan_free(saddle_plan *plan)
{
    if (plan == NULL || (plan->size != sizeof *plan && plan->size != SADDLE_PLAN_SHOWN))
        return;
    free_settings(plan->settings);
    /* Its texts are freed: every later call refuses this plan. */
    memset(plan, 0, sizeof *plan);
}

saddle_status saddle_plan_check_size(const saddle_plan *plan, saddle_error *error)
{
    if (plan->size == sizeof *plan && plan->abi == SADDLE_ABI)
        return SADDLE_OK;
    if (plan->size == SADDLE_PLAN_SHOWN)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "a plan from saddle_checkpoint_examine() is for inspection only; set "
                           "outputs.resume of your own plan");
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "the plan has %zu bytes and ABI %u, but saddle %s expects %zu and %u; call "
                       "saddle_plan_defaults(&plan, sizeof plan), compiled with its headers",
                       plan->size, (unsigned)plan->abi, saddle_version(), sizeof *plan, SADDLE_ABI);
}

/* ---- setting values -------------------------------------------------------------------------- */

/* Replaces the value of an option; on failure it is unchanged. */
static saddle_status assign(saddle_plan *plan, entry *e, const char *text, origin from,
                            saddle_error *why)
{
    saddle_option_value value;
    bool field = e->option->home == SADDLE_HOME_PLAN;
    SADDLE_TRY(saddle_option_read(e->option, text, &value, why));
    bool points = e->option->kind == SADDLE_OPTION_TEXT && value.text != NULL;
    if (!field || points) {
        text = keep(plan->settings, spelling(e->option, text, &value));
        if (text == NULL)
            return saddle_no_memory(why, "a setting");
    }
    if (points)
        value.text = text;
    if (field)
        saddle_option_write(e->option, &value, plan);
    else
        e->text = text;
    e->from = from;
    return SADDLE_OK;
}

/* Replaces the value of an option; the error message begins with the option's name. */
static saddle_status assign_named(saddle_plan *plan, entry *e, const char *text, origin from,
                                  saddle_error *error)
{
    saddle_error why = {0};
    saddle_status status = assign(plan, e, text, from, &why);
    if (status == SADDLE_OK)
        return SADDLE_OK;
    return saddle_fail(error, status, "%s: %.900s", e->option->name, why.message);
}

static saddle_status refuse_unknown(const saddle_plan *plan, const char *name, saddle_error *error)
{
    size_t count = saddle_plan_option_count(plan);
    const char **known = saddle_alloc(count, sizeof *known);
    for (size_t k = 0; known != NULL && k < count; k++)
        known[k] = saddle_plan_option(plan, k)->name;
    saddle_suggestion meant = saddle_suggest(name, known, known != NULL ? count : 0);
    saddle_free((void *)known);
    return saddle_fail(error, SADDLE_BAD_INPUT, "unknown option '%s'%s", SADDLE_EXCERPT(name),
                       meant.text);
}

saddle_status saddle_plan_set(saddle_plan *plan, const char *name, const char *text,
                              saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, plan, name, text);
    saddle_status status = saddle_plan_check_size(plan, error);
    SADDLE_THEN(status, open_list(plan, error));
    if (status != SADDLE_OK)
        return status;
    entry *chosen = find(plan, name);
    return chosen != NULL ? assign_named(plan, chosen, text, FROM_CALLER, error)
                          : refuse_unknown(plan, name, error);
}

void saddle_plan_reset(saddle_plan *plan, const saddle_option *option)
{
    saddle_option_value value;
    entry *chosen = entry_of(plan, option);
    if (chosen == NULL || saddle_option_read(option, option->fallback, &value, NULL) != SADDLE_OK)
        return;
    *chosen = (entry){.option = option, .text = spelling(option, option->fallback, &value)};
    if (option->home == SADDLE_HOME_PLAN)
        saddle_option_write(option, &value, plan);
}

/* ---- configuration files --------------------------------------------------------------------- */

/* Applies an entry of a file, unless the caller has set its option; `why` receives the reason if
 * it is refused. */
static saddle_status apply(saddle_plan *plan, const saddle_yaml_entry *from, saddle_error *why)
{
    entry *chosen = find(plan, from->name);
    if (chosen == NULL)
        return refuse_unknown(plan, from->name, why);
    saddle_error reason = {0};
    saddle_option_value checked;
    saddle_status status;
    bool given = chosen->from == FROM_CALLER;
    if (chosen->option->not_in_file)
        status = saddle_fail(&reason, SADDLE_BAD_INPUT, "not allowed in a file; give it directly");
    else if (!given && chosen->option->no_path_in_file && strchr(from->value, '/') != NULL)
        status = saddle_fail(&reason, SADDLE_BAD_INPUT,
                             "'%.200s' is a plug-in, and plug-ins named in a file are not loaded; "
                             "if you trust it, give %.200s as the %s",
                             from->value, from->value, from->name);
    else
        status = given ? saddle_option_read(chosen->option, from->value, &checked, &reason)
                       : assign(plan, chosen, from->value, FROM_FILE, &reason);
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
        bool known = find(plan, from->name) != NULL;
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
static saddle_status take_field(saddle_plan *plan, entry *e, bool given, saddle_error *error)
{
    const saddle_option *option = e->option;
    char buffer[SADDLE_VALUE_SIZE];
    saddle_option_value usual;
    const void *field = saddle_option_field(option, plan);
    const char *text = saddle_option_text(option, field, buffer);
    if (text == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT, "%s: choice number %d is not one of %s",
                           option->name, *(const int *)field, option->choices);
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
    if (given && e->from == FROM_DEFAULT)
        e->from = FROM_CALLER;
    return points && is_kept(plan->settings, text) ? SADDLE_OK
                                                   : assign_named(plan, e, text, e->from, error);
}

static saddle_status take_fields(saddle_plan *plan, bool given, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < plan->settings->count; k++)
        if (plan->settings->entries[k].option->home == SADDLE_HOME_PLAN)
            status = take_field(plan, &plan->settings->entries[k], given, error);
    return status;
}

saddle_status saddle_plan_refresh(saddle_plan *plan, saddle_error *error)
{
    return take_fields(plan, false, error);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Copies the value of an option that has no field in the plan. */
static saddle_status copy_text(saddle_plan *plan, entry *to, const char *text, saddle_error *error)
{
    to->text = text == to->option->fallback ? text : keep(plan->settings, text);
    return to->text != NULL ? SADDLE_OK : saddle_no_memory(error, "a setting");
}

/* Copies the list of options, with the values that are not in fields. */
static saddle_status copy_list(saddle_plan *out, const saddle_settings *from, saddle_error *error)
{
    SADDLE_TRY(saddle_plan_list(out, NULL, 0, error));
    saddle_settings *to = out->settings;
    to->entries = saddle_alloc(from->count, sizeof *to->entries);
    if (to->entries == NULL)
        return saddle_no_memory(error, "the options");
    memcpy(to->entries, from->entries, from->count * sizeof *to->entries);
    to->count = to->capacity = from->count;
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < to->count; k++)
        if (to->entries[k].option->home != SADDLE_HOME_PLAN)
            status = copy_text(out, &to->entries[k], from->entries[k].text, error);
    return status;
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
    saddle_status status = saddle_plan_list(out, tables, table_count, error);
    for (size_t k = 0; status == SADDLE_OK && k < out->settings->count; k++) {
        entry *e = &out->settings->entries[k];
        const saddle_option *option = e->option;
        const saddle_plan *source = option->stage == SADDLE_STAGE_INSTANCE ? instance : run;
        const entry *from = entry_of(source, option);
        e->from = FROM_CALLER;
        if (option->home == SADDLE_HOME_PLAN)
            memcpy((char *)out + option->offset, saddle_option_field(option, source),
                   saddle_option_bytes(option));
        else if (from != NULL)
            status = copy_text(out, e, from->text, error);
    }
    return status;
}

/* ---- options of one algorithm, problem or command -------------------------------------------- */

void saddle_plan_read_own(const saddle_plan *plan, const saddle_option *const *options,
                          void *target)
{
    for (; *options != NULL; options++) {
        const entry *found = entry_of(plan, *options);
        saddle_option_value value;
        if ((*options)->home == SADDLE_HOME_OWN && found != NULL &&
            saddle_option_read(*options, found->text, &value, NULL) == SADDLE_OK)
            saddle_option_write(*options, &value, target);
    }
}

saddle_status saddle_plan_record_own(saddle_plan *plan, const saddle_option *const *options,
                                     const void *target, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (; status == SADDLE_OK && *options != NULL; options++) {
        entry *found = entry_of(plan, *options);
        char buffer[SADDLE_VALUE_SIZE];
        saddle_option_value before;
        const void *field = saddle_option_field(*options, target);
        if ((*options)->home != SADDLE_HOME_OWN || found == NULL)
            continue;
        saddle_option_read(*options, found->text, &before, NULL);
        if (saddle_option_holds(*options, field, &before))
            continue;
        const char *text = saddle_option_text(*options, field, buffer);
        status = text != NULL
                     ? assign_named(plan, found, text, found->from, error)
                     : saddle_fail(error, SADDLE_BAD_INPUT, "%s: choice number %d is not one of %s",
                                   (*options)->name, *(const int *)field, (*options)->choices);
    }
    return status;
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
    const entry *found = name != NULL ? find(plan, name) : NULL;
    return found != NULL ? found->option : NULL;
}

bool saddle_plan_given(const saddle_plan *plan, const saddle_option *option)
{
    const entry *found = entry_of(plan, option);
    return found != NULL && found->from != FROM_DEFAULT;
}

bool saddle_plan_given_at(const saddle_plan *plan, size_t offset)
{
    for (const saddle_option *const *option = saddle_plan_options(); *option != NULL; option++)
        if ((*option)->offset == offset)
            return saddle_plan_given(plan, *option);
    return false;
}

const char *saddle_plan_text(const saddle_plan *plan, const saddle_option *option,
                             char buffer[SADDLE_VALUE_SIZE])
{
    const entry *found = entry_of(plan, option);
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
