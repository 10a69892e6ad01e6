#include "instance/plan_plugins.h"

#include "files/plugin.h"
#include "instance/algorithm_choice.h"
#include "instance/plan_entries.h"
#include "instance/unused_options.h"

/* Returns the table of options of what an option such as x-set takes from a plug-in; NULL: none. */
static const saddle_option *const *options_for(const saddle_plugin_table *table,
                                               const saddle_option *option)
{
    const char *kind = option->values;
    if (strcmp(kind, "@PROBLEM") == 0)
        return table->problem != NULL ? table->problem->options : NULL;
    if (strcmp(kind, "@SET") == 0)
        return table->set != NULL ? table->set->term.options : NULL;
    if (strcmp(kind, "@REGULARIZER") == 0)
        return table->regularizer != NULL ? table->regularizer->term.options : NULL;
    return table->algorithm != NULL ? table->algorithm->options : NULL;
}

/* Returns the object of a plan that a text names; NULL: not loaded. */
static saddle_plugin_object *loaded(const saddle_plan *plan, const char *text)
{
    size_t length = strcspn(text, ":");
    const saddle_settings *settings = plan->settings;
    for (size_t k = 0; settings != NULL && k < settings->plugin_count; k++) {
        const char *path = settings->plugins[k]->path;
        if (strlen(path) == length && strncmp(path, text, length) == 0)
            return settings->plugins[k];
    }
    return NULL;
}

/* Adds own options whose name the plan does not have. */
static saddle_status add_options(saddle_plan *plan, const saddle_option *const *options,
                                 saddle_error *error)
{
    for (; options != NULL && *options != NULL; options++) {
        const saddle_option *const one[] = {*options, NULL};
        if ((*options)->home == SADDLE_HOME_OWN)
            SADDLE_TRY(saddle_plan_append_new(plan, one, error));
    }
    return SADDLE_OK;
}

/* Loads the object that a text names, if it names one. */
static saddle_status load(saddle_plan *plan, const saddle_option *option, const char *text,
                          saddle_error *error)
{
    if (!saddle_plugin_named(text))
        return SADDLE_OK;
    saddle_plugin_object *plugin = loaded(plan, text);
    if (plugin == NULL) {
        SADDLE_TRY(saddle_plugin_open(&plugin, text, error));
        saddle_status kept = saddle_settings_share(plan->settings, plugin, error);
        saddle_plugin_close(plugin);
        SADDLE_TRY(kept);
    }
    saddle_error said = {.message = ""};
    saddle_status status = add_options(plan, options_for(plugin->exported, option), &said);
    return status == SADDLE_OK ? status : saddle_plugin_failed(text, status, &said, error);
}

saddle_status saddle_plan_adopt(saddle_plan *plan, saddle_plugin_object *plugin,
                                const saddle_option *const *options, saddle_error *error)
{
    SADDLE_TRY(saddle_settings_share(plan->settings, plugin, error));
    return add_options(plan, options, error);
}

/* Cuts the next text that may name an object off the value of an option. */
static char *next_text(const saddle_option *option, char **rest)
{
    if (strcmp(option->values, "@ALGORITHMS") == 0)
        return saddle_algorithm_next(rest);
    char *text = *rest;
    *rest = NULL;
    return text;
}

/* Loads all objects in the value of an option. */
static saddle_status load_all(saddle_plan *plan, const saddle_option *option, saddle_error *error)
{
    char *text = saddle_strdup(SADDLE_PLAN_TEXT(plan, option));
    SADDLE_TRY(saddle_check_memory(text, "the plug-ins", error));
    saddle_status status = SADDLE_OK;
    for (char *rest = text; status == SADDLE_OK && rest != NULL;)
        status = load(plan, option, next_text(option, &rest), error);
    saddle_free(text);
    char what[80];
    saddle_snprintf(what, sizeof what, "--%s", option->name);
    return saddle_in_field(what, status, error);
}

saddle_status saddle_plan_load_plugins(saddle_plan *plan, saddle_error *error)
{
    SADDLE_REQUIRE(error, plan);
    const saddle_algorithm *own = plan->algorithm.own;
    SADDLE_TRY(saddle_plan_check_size(plan, error));
    SADDLE_TRY(saddle_plan_add_options(plan, own != NULL ? own->options : NULL, error));
    for (size_t k = 0; k < plan->settings->count; k++) {
        const saddle_entry *e = &plan->settings->entries[k];
        /* What a file names is never loaded. */
        if (e->option->files == SADDLE_FILES_CODE && e->from != SADDLE_FROM_FILE)
            SADDLE_TRY(load_all(plan, e->option, error));
    }
    return SADDLE_OK;
}

saddle_status saddle_plan_seek(saddle_plan *plan, const char *name, const saddle_option **out,
                               saddle_error *error)
{
    if (saddle_plan_find(plan, name) == NULL)
        SADDLE_TRY(saddle_plan_load_plugins(plan, error));
    *out = saddle_plan_find(plan, name);
    return SADDLE_OK;
}

bool saddle_plugin_text_has(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *word = strchr(text, ':'); word != NULL; word = strchr(word + 1, ','))
        if (strncmp(word + 1, name, length) == 0 && word[1 + length] == '=')
            return true;
    return false;
}

bool saddle_plan_algorithm_has(const saddle_plan *plan, const saddle_option *option)
{
    const saddle_settings *settings = plan->settings;
    for (size_t k = 0; settings != NULL && k < settings->plugin_count; k++) {
        const saddle_algorithm *algorithm = settings->plugins[k]->exported->algorithm;
        if (algorithm != NULL && algorithm->options != NULL &&
            saddle_option_in(algorithm->options, option))
            return true;
    }
    return false;
}

bool saddle_plan_text_overrides(const saddle_plan *plan, const saddle_option *option,
                                char out[SADDLE_VALUE_SIZE])
{
    *out = '\0';
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *names = saddle_plan_option(plan, k);
        char *text =
            names->files == SADDLE_FILES_CODE ? saddle_strdup(SADDLE_PLAN_TEXT(plan, names)) : NULL;
        bool used = false;
        for (char *rest = text; rest != NULL && !used;) {
            const char *one = next_text(names, &rest);
            const saddle_plugin_object *plugin = loaded(plan, one);
            const saddle_option *const *own =
                plugin != NULL ? options_for(plugin->exported, names) : NULL;
            if (own == NULL || !saddle_option_in(own, option))
                continue;
            used = !saddle_plugin_text_has(one, option->name);
            if (*out == '\0')
                saddle_snprintf(out, SADDLE_VALUE_SIZE, "%s", one);
        }
        saddle_free(text);
        if (used)
            return false;
    }
    return *out != '\0';
}

/* Appends name=value to a text. */
static saddle_status append(char **text, const char *name, const char *value, saddle_error *error)
{
    if (strchr(value, ',') != NULL)
        return saddle_refuse(error,
                             "--%s: '%.200s' has a comma, which no option of a plug-in can have",
                             name, value);
    const char *colon = strchr(*text, ':');
    const char *separator = colon == NULL ? ":" : colon[1] == '\0' ? "" : ",";
    char *longer = saddle_format("%s%s%s=%s", *text, separator, name, value);
    SADDLE_TRY(saddle_check_memory(longer, "the options of a plug-in", error));
    saddle_free(*text);
    *text = longer;
    return SADDLE_OK;
}

saddle_status saddle_plan_plugin_text(const saddle_plan *plan, const char *option, const char *text,
                                      char **out, saddle_error *error)
{
    *out = saddle_strdup(text);
    SADDLE_TRY(saddle_check_memory(*out, "the options of a plug-in", error));
    const saddle_plugin_object *plugin = plan != NULL ? loaded(plan, text) : NULL;
    const saddle_option *const *own =
        plugin != NULL ? options_for(plugin->exported, saddle_plan_find(plan, option)) : NULL;
    for (; own != NULL && *own != NULL; own++)
        if ((*own)->home == SADDLE_HOME_OWN && saddle_plan_given(plan, *own) &&
            !saddle_plugin_text_has(text, (*own)->name))
            SADDLE_TRY(append(out, (*own)->name, SADDLE_PLAN_TEXT(plan, *own), error));
    return SADDLE_OK;
}

/* Replaces the value of a field. */
static saddle_status complete(saddle_plan *plan, const char *option, const char **field,
                              saddle_error *error)
{
    if (*field == NULL || loaded(plan, *field) == NULL)
        return SADDLE_OK;
    SADDLE_OWNED char *text = NULL;
    SADDLE_TRY(saddle_plan_plugin_text(plan, option, *field, &text, error));
    return saddle_entry_assign_named(plan, saddle_entry_find(plan, option), text,
                                     SADDLE_FROM_CALLER, error);
}

saddle_status saddle_plan_complete_plugins(saddle_plan *plan, saddle_error *error)
{
    SADDLE_TRY(complete(plan, "problem", &plan->problem.name, error));
    SADDLE_TRY(complete(plan, "x-set", &plan->problem.x_set, error));
    SADDLE_TRY(complete(plan, "y-set", &plan->problem.y_set, error));
    return complete(plan, "regularizer", &plan->problem.regularizer, error);
}

saddle_status saddle_plan_restore_plugin(saddle_plan *plan, const saddle_option *option,
                                         const char *text, saddle_error *error)
{
    SADDLE_OWNED char *longer = saddle_strdup(SADDLE_PLAN_TEXT(plan, option));
    SADDLE_OWNED char *list = saddle_strdup(strchrnul(text, ':'));
    saddle_status status = longer != NULL && list != NULL
                               ? SADDLE_OK
                               : saddle_no_memory(error, "the options of a plug-in");
    char *rest = status == SADDLE_OK && *list == ':' ? list + 1 : NULL;
    while (status == SADDLE_OK && rest != NULL) {
        char *name = strsep(&rest, ",");
        char *value = strchr(name, '=');
        if (value == NULL)
            continue;
        *value++ = '\0';
        const saddle_entry *by_name = saddle_entry_find(plan, name);
        bool given = by_name != NULL && by_name->option->home == SADDLE_HOME_OWN &&
                     by_name->from != SADDLE_FROM_DEFAULT;
        if (!given && !saddle_plugin_text_has(longer, name))
            status = append(&longer, name, value, error);
    }
    SADDLE_THEN(status, saddle_plan_set(plan, option->name, longer, error));
    return status;
}
