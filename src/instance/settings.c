#include "instance/settings.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/option_value.h"
#include "core/status.h"
#include "core/text.h"
#include "files/yaml.h"

/* What set a value. Each overrides those before it in this list. */
typedef enum origin { FROM_DEFAULT, FROM_FILE, FROM_CALLER } origin;

/* One option with its value. */
typedef struct entry {
    const saddle_option *option; /* borrowed */
    origin from;
    char *text;                /* owned; fields may point to it until it is replaced */
    saddle_option_value value; /* for a text option, it points to `text` */
} entry;

struct saddle_settings {
    size_t count;
    size_t capacity;
    entry *entries;
};

/* Makes the value of a text option point to the entry's own copy. */
static void own_text(entry *e)
{
    if (e->option->kind == SADDLE_OPTION_TEXT && e->value.text != NULL)
        e->value.text = e->text;
}

/* Replaces the value of an entry; on failure it is unchanged. */
static saddle_status assign(entry *out, const char *text, origin from, saddle_error *why)
{
    entry fresh = {.option = out->option, .from = from};
    SADDLE_TRY(saddle_option_read(fresh.option, text, &fresh.value, why));
    /* All spellings of a flag are recorded as yes or no. */
    if (fresh.option->kind == SADDLE_OPTION_FLAG)
        text = fresh.value.flag ? "yes" : "no";
    fresh.text = saddle_strdup(text);
    if (fresh.text == NULL)
        return saddle_no_memory(why, "a setting");
    own_text(&fresh);
    saddle_free(out->text);
    *out = fresh;
    return SADDLE_OK;
}

/* ---- making a store -------------------------------------------------------------------------- */

static entry *find(const saddle_settings *settings, const char *name)
{
    for (size_t k = 0; k < saddle_settings_count(settings); k++)
        if (strcmp(settings->entries[k].option->name, name) == 0)
            return &settings->entries[k];
    return NULL;
}

/* Returns the entry of an option; NULL if it is not in the settings. */
static entry *entry_of(const saddle_settings *settings, const saddle_option *option)
{
    for (size_t k = 0; k < settings->count; k++)
        if (settings->entries[k].option == option)
            return &settings->entries[k];
    return NULL;
}

/* Appends an entry without a text. */
static saddle_status append(saddle_settings *settings, const entry *fresh, saddle_error *error)
{
    entry *grown = saddle_grow(settings->entries, settings->count, &settings->capacity,
                               sizeof *settings->entries);
    if (grown == NULL)
        return saddle_no_memory(error, "the settings");
    settings->entries = grown;
    grown[settings->count] = *fresh;
    grown[settings->count++].text = NULL;
    return SADDLE_OK;
}

/* Appends an option with its default, unless it is already there. */
static saddle_status add(saddle_settings *settings, const saddle_option *option,
                         saddle_error *error)
{
    saddle_status status = saddle_option_check(option, error);
    if (status != SADDLE_OK || entry_of(settings, option) != NULL)
        return status;
    if (find(settings, option->name) != NULL)
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "option '%s' is declared twice; share one declaration", option->name);
    SADDLE_TRY(append(settings, &(entry){.option = option}, error));
    saddle_error why = {0};
    status = assign(&settings->entries[settings->count - 1], option->fallback, FROM_DEFAULT, &why);
    if (status == SADDLE_NO_MEMORY)
        return saddle_no_memory(error, "a setting");
    return status == SADDLE_OK
               ? SADDLE_OK
               : saddle_fail(error, SADDLE_CHECK_FAILED, "the default of option '%s': %.900s",
                             option->name, why.message);
}

saddle_status saddle_settings_add(saddle_settings *settings, const saddle_option *const *options,
                                  saddle_error *error)
{
    size_t before = settings->count;
    saddle_status status = SADDLE_OK;
    for (; status == SADDLE_OK && *options != NULL; options++)
        status = add(settings, *options, error);
    while (status != SADDLE_OK && settings->count > before)
        saddle_free(settings->entries[--settings->count].text);
    return status;
}

saddle_status saddle_settings_build(saddle_settings **out,
                                    const saddle_option *const *const *tables, size_t table_count,
                                    saddle_error *error)
{
    *out = saddle_alloc(1, sizeof **out);
    saddle_status status = *out != NULL ? SADDLE_OK : saddle_no_memory(error, "the settings");
    for (size_t t = 0; status == SADDLE_OK && t < table_count; t++)
        status = saddle_settings_add(*out, tables[t], error);
    if (status != SADDLE_OK) {
        saddle_settings_free(*out);
        *out = NULL;
    }
    return status;
}

saddle_status saddle_settings_copy(saddle_settings **out, const saddle_settings *from,
                                   saddle_error *error)
{
    saddle_status status = saddle_settings_build(out, NULL, 0, error);
    for (size_t k = 0; status == SADDLE_OK && k < from->count; k++) {
        status = append(*out, &from->entries[k], error);
        if (status != SADDLE_OK)
            break;
        (*out)->entries[k].text = saddle_strdup(from->entries[k].text);
        if ((*out)->entries[k].text == NULL)
            status = saddle_no_memory(error, "the settings");
        own_text(&(*out)->entries[k]);
    }
    if (status != SADDLE_OK) {
        saddle_settings_free(*out);
        *out = NULL;
    }
    return status;
}

void saddle_settings_free(saddle_settings *settings)
{
    if (settings == NULL)
        return;
    for (size_t k = 0; k < settings->count; k++)
        saddle_free(settings->entries[k].text);
    saddle_free(settings->entries);
    saddle_free(settings);
}

/* ---- setting values -------------------------------------------------------------------------- */

static saddle_status refuse_unknown(const saddle_settings *settings, const char *name,
                                    saddle_error *error)
{
    const char **known = saddle_alloc(settings->count, sizeof *known);
    for (size_t k = 0; known != NULL && k < settings->count; k++)
        known[k] = settings->entries[k].option->name;
    saddle_suggestion meant = saddle_suggest(name, known, known != NULL ? settings->count : 0);
    saddle_free((void *)known);
    return saddle_fail(error, SADDLE_BAD_INPUT, "unknown option '%s'%s", SADDLE_EXCERPT(name),
                       meant.text);
}

/* Replaces the value of an entry; the error message begins with the option's name. */
static saddle_status assign_named(entry *chosen, const char *text, origin from, saddle_error *error)
{
    saddle_error why = {0};
    saddle_status status = assign(chosen, text, from, &why);
    if (status == SADDLE_OK)
        return SADDLE_OK;
    return saddle_fail(error, status, "%s: %.900s", chosen->option->name, why.message);
}

saddle_status saddle_settings_set(saddle_settings *settings, const char *name, const char *text,
                                  saddle_error *error)
{
    entry *chosen = find(settings, name);
    if (chosen == NULL)
        return refuse_unknown(settings, name, error);
    return assign_named(chosen, text != NULL ? text : "", FROM_CALLER, error);
}

saddle_status saddle_settings_reset(saddle_settings *settings, const saddle_option *option,
                                    saddle_error *error)
{
    entry *chosen = entry_of(settings, option);
    return chosen != NULL ? assign_named(chosen, option->fallback, FROM_DEFAULT, error) : SADDLE_OK;
}

/* Applies an entry of a file, unless the caller has set its option; `why` receives the reason if
 * it is refused. */
static saddle_status apply(const saddle_settings *settings, const saddle_yaml_entry *from,
                           saddle_error *why)
{
    entry *chosen = find(settings, from->name);
    if (chosen == NULL)
        return refuse_unknown(settings, from->name, why);
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
                       : assign(chosen, from->value, FROM_FILE, &reason);
    return status == SADDLE_OK ? SADDLE_OK
                               : saddle_fail(why, status, "%s: %.800s", from->name, reason.message);
}

static saddle_status apply_all(const saddle_settings *settings, const char *path,
                               const saddle_yaml *file, saddle_error *error)
{
    for (size_t k = 0; k < file->count; k++) {
        saddle_error why = {0};
        saddle_status status = apply(settings, &file->entry[k], &why);
        const saddle_yaml_entry *from = &file->entry[k];
        bool known = find(settings, from->name) != NULL;
        if (status != SADDLE_OK)
            return saddle_fail(error, status, "%s:%zu:%zu: %s", path,
                               known ? from->line : from->name_line,
                               known ? from->column : from->name_column, why.message);
    }
    return SADDLE_OK;
}

saddle_status saddle_settings_load(saddle_settings *settings, const char *path, saddle_error *error)
{
    /* Apply the file to a copy, so that an error leaves the settings unchanged. */
    saddle_settings *copy = NULL;
    saddle_yaml file = {0};
    saddle_status status = saddle_yaml_read(&file, path, error);
    SADDLE_THEN(status, saddle_settings_copy(&copy, settings, error));
    SADDLE_THEN_IF(status, copy != NULL, apply_all(copy, path, &file, error));
    if (status == SADDLE_OK && copy != NULL) {
        saddle_settings old = *settings;
        *settings = *copy;
        *copy = old;
    }
    saddle_yaml_free(&file);
    saddle_settings_free(copy);
    return status;
}

/* ---- reading values -------------------------------------------------------------------------- */

size_t saddle_settings_count(const saddle_settings *settings)
{
    return settings != NULL ? settings->count : 0;
}

const saddle_option *saddle_settings_option(const saddle_settings *settings, size_t index)
{
    return index < saddle_settings_count(settings) ? settings->entries[index].option : NULL;
}

const saddle_option *saddle_settings_find(const saddle_settings *settings, const char *name)
{
    const entry *found = find(settings, name);
    return found != NULL ? found->option : NULL;
}

bool saddle_settings_given(const saddle_settings *settings, const saddle_option *option)
{
    const entry *found = entry_of(settings, option);
    return found != NULL && found->from != FROM_DEFAULT;
}

const char *saddle_settings_text(const saddle_settings *settings, const char *name)
{
    const entry *found = name != NULL ? find(settings, name) : NULL;
    return found != NULL ? found->text : NULL;
}

const char *saddle_settings_value(const saddle_settings *settings, const saddle_option *option)
{
    const entry *found = entry_of(settings, option);
    return found != NULL ? found->text : "";
}

double saddle_settings_number(const saddle_settings *settings, const saddle_option *option)
{
    const entry *found = entry_of(settings, option);
    double number = NAN;
    return found != NULL && saddle_parse_real(found->text, &number) ? number : (double)NAN;
}

/* ---- typed fields ---------------------------------------------------------------------------- */

void saddle_settings_write(const saddle_settings *settings, saddle_option_home home, void *target)
{
    for (size_t k = 0; k < settings->count; k++)
        if (settings->entries[k].option->home == home)
            saddle_option_write(settings->entries[k].option, &settings->entries[k].value, target);
}

void saddle_settings_write_one(const saddle_settings *settings, const saddle_option *option,
                               void *target)
{
    const entry *found = entry_of(settings, option);
    if (found != NULL)
        saddle_option_write(option, &found->value, target);
}

void saddle_settings_write_table(const saddle_settings *settings,
                                 const saddle_option *const *options, void *target)
{
    for (; *options != NULL; options++)
        if ((*options)->home == SADDLE_HOME_OWN)
            saddle_settings_write_one(settings, *options, target);
}

/* Copies a field to its entry if the values differ. */
static saddle_status read_field(entry *e, const void *target, bool given, saddle_error *error)
{
    char buffer[SADDLE_CHOICES_SIZE];
    const void *field = saddle_option_field(e->option, target);
    if (saddle_option_holds(e->option, field, &e->value))
        return SADDLE_OK;
    const char *text = saddle_option_text(e->option, field, buffer);
    if (text == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT, "%s: choice number %d is not one of %s",
                           e->option->name, *(const int *)field, e->option->choices);
    /* A NULL that stands for the default does not count as given. */
    if (e->from == FROM_DEFAULT && e->option->kind == SADDLE_OPTION_TEXT &&
        strcmp(text, e->text) == 0)
        return SADDLE_OK;
    return assign_named(e, text, given ? FROM_CALLER : e->from, error);
}

saddle_status saddle_settings_read(saddle_settings *settings, saddle_option_home home,
                                   const void *target, bool given, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < settings->count; k++)
        if (settings->entries[k].option->home == home)
            status = read_field(&settings->entries[k], target, given, error);
    return status;
}

saddle_status saddle_settings_read_table(saddle_settings *settings,
                                         const saddle_option *const *options, const void *target,
                                         saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (; status == SADDLE_OK && *options != NULL; options++) {
        entry *found = entry_of(settings, *options);
        if ((*options)->home == SADDLE_HOME_OWN && found != NULL)
            status = read_field(found, target, false, error);
    }
    return status;
}
