#include "instance/plan_entries.h"

/* A text of a plan, which stays where it is until the plan is freed. */
struct saddle_kept_text {
    struct saddle_kept_text *next;
    char text[];
};

/* ---- texts ----------------------------------------------------------------------------------- */

const char *saddle_plan_keep(saddle_settings *settings, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct saddle_kept_text *kept = saddle_alloc(1, sizeof *kept + bytes);
    if (kept == NULL)
        return NULL;
    kept->next = settings->texts;
    settings->texts = kept;
    return memcpy(kept->text, text, bytes);
}

bool saddle_plan_keeps(const saddle_settings *settings, const char *text)
{
    const struct saddle_kept_text *kept = settings->texts;
    while (kept != NULL && kept->text != text)
        kept = kept->next;
    return kept != NULL;
}

void saddle_settings_free(saddle_settings *settings)
{
    if (settings == NULL)
        return;
    while (settings->texts != NULL) {
        struct saddle_kept_text *next = settings->texts->next;
        saddle_free(settings->texts);
        settings->texts = next;
    }
    for (size_t k = 0; k < settings->plugin_count; k++)
        saddle_plugin_close(settings->plugins[k]);
    saddle_free((void *)settings->plugins);
    saddle_free(settings->entries);
    saddle_free(settings);
}

saddle_status saddle_settings_share(saddle_settings *settings, saddle_plugin_object *plugin,
                                    saddle_error *error)
{
    saddle_plugin_object **grown = saddle_grow((void *)settings->plugins, settings->plugin_count,
                                               &settings->plugin_capacity, sizeof *grown);
    SADDLE_TRY(saddle_check_memory(grown, "the plug-ins", error));
    settings->plugins = grown;
    grown[settings->plugin_count++] = saddle_plugin_share(plugin);
    return SADDLE_OK;
}

saddle_status saddle_settings_share_all(saddle_settings *settings, const saddle_settings *from,
                                        saddle_error *error)
{
    for (size_t k = 0; from != NULL && k < from->plugin_count; k++)
        SADDLE_TRY(saddle_settings_share(settings, from->plugins[k], error));
    return SADDLE_OK;
}

/* ---- the list of options --------------------------------------------------------------------- */

saddle_entry *saddle_entry_find(const saddle_plan *plan, const char *name)
{
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++)
        if (strcmp(plan->settings->entries[k].option->name, name) == 0)
            return &plan->settings->entries[k];
    return NULL;
}

saddle_entry *saddle_entry_of(const saddle_plan *plan, const saddle_option *option)
{
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++)
        if (plan->settings->entries[k].option == option)
            return &plan->settings->entries[k];
    return NULL;
}

const char *saddle_entry_spelling(const saddle_option *option, const char *text,
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
    if (status != SADDLE_OK || saddle_entry_of(plan, option) != NULL)
        return status;
    if (saddle_entry_find(plan, option->name) != NULL)
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "option '%s' is declared twice; share one declaration", option->name);
    if (saddle_option_read(option, option->fallback, &value, &why) != SADDLE_OK)
        return saddle_fail(error, SADDLE_CHECK_FAILED, "the default of option '%s': %.900s",
                           option->name, why.message);
    saddle_entry *grown = saddle_grow(settings->entries, settings->count, &settings->capacity,
                                      sizeof *settings->entries);
    SADDLE_TRY(saddle_check_memory(grown, "the options", error));
    settings->entries = grown;
    grown[settings->count++] = (saddle_entry){
        .option = option, .text = saddle_entry_spelling(option, option->fallback, &value)};
    return SADDLE_OK;
}

saddle_status saddle_plan_append(saddle_plan *plan, const saddle_option *const *options,
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

saddle_status saddle_plan_append_new(saddle_plan *plan, const saddle_option *const *options,
                                     saddle_error *error)
{
    for (; *options != NULL; options++)
        if (saddle_entry_find(plan, (*options)->name) == NULL)
            SADDLE_TRY(add(plan, *options, error));
    return SADDLE_OK;
}

saddle_status saddle_plan_list(saddle_plan *plan, const saddle_option *const *const *tables,
                               size_t table_count, saddle_error *error)
{
    plan->settings = saddle_alloc(1, sizeof *plan->settings);
    saddle_status status =
        plan->settings != NULL ? SADDLE_OK : saddle_no_memory(error, "the options");
    for (size_t t = 0; status == SADDLE_OK && t < table_count; t++)
        status = saddle_plan_append(plan, tables[t], error);
    if (status != SADDLE_OK) {
        saddle_settings_free(plan->settings);
        plan->settings = NULL;
    }
    return status;
}

/* ---- values ---------------------------------------------------------------------------------- */

saddle_status saddle_entry_assign(saddle_plan *plan, saddle_entry *e, const char *text,
                                  saddle_origin from, saddle_error *why)
{
    saddle_option_value value;
    bool field = e->option->home == SADDLE_HOME_PLAN;
    SADDLE_TRY(saddle_option_read(e->option, text, &value, why));
    bool points = e->option->kind == SADDLE_OPTION_TEXT && value.text != NULL;
    if (!field || points) {
        text = saddle_plan_keep(plan->settings, saddle_entry_spelling(e->option, text, &value));
        SADDLE_TRY(saddle_check_memory(text, "a setting", why));
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

saddle_status saddle_entry_assign_named(saddle_plan *plan, saddle_entry *e, const char *text,
                                        saddle_origin from, saddle_error *error)
{
    saddle_error why = {0};
    saddle_status status = saddle_entry_assign(plan, e, text, from, &why);
    if (status == SADDLE_OK)
        return SADDLE_OK;
    return saddle_fail(error, status, "--%s: %.900s", e->option->name, why.message);
}
