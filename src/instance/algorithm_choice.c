/*
 * Finding or loading an algorithm. A plug-in's own options are read from the completed text.
 */
#include "instance/algorithm_choice.h"

#include "algorithms/algorithms.h"
#include "algorithms/step_options.h"
#include "instance/plan_plugins.h"
#include "instance/unused_options.h"

/* Returns whether a phase has no function. */
static bool lacks_function(const saddle_phase *phase)
{
    while (phase->name != NULL && (phase->before != NULL || phase->blocks != NULL))
        phase++;
    return phase->name != NULL;
}

static const char *missing(const void *kind)
{
    const saddle_algorithm *a = kind;
    return a->init == NULL                                  ? "init function"
           : a->layout == NULL                              ? "layout function"
           : a->start == NULL                               ? "start function"
           : a->phases == NULL || a->phases[0].name == NULL ? "phases"
           : lacks_function(a->phases)                      ? "function in one of its phases"
           : a->view == NULL                                ? "view function"
                                                            : NULL;
}

/* Refuses options of a plug-in that are neither its own nor step sizes. */
static saddle_status check_options(const saddle_algorithm_choice *choice, saddle_error *error)
{
    for (const saddle_option *const *own = choice->algorithm->options; *own != NULL; own++)
        if ((*own)->home == SADDLE_HOME_PLAN && !saddle_option_in(saddle_step_options, *own))
            return saddle_refuse(
                error,
                "the algorithm of the plug-in '%s' lists the option '%.80s', which is neither its "
                "own nor one of the step sizes that <saddle/plan.h> declares; list "
                "these, and load it into a program that exports them",
                choice->plugin->path, (*own)->name);
    return SADDLE_OK;
}

/* Appends the options in the text of a plug-in to its name and title, so that variants of it have
 * different names, which are valid in file names. */
static saddle_status name_variant(saddle_algorithm_choice *choice, saddle_error *error)
{
    const saddle_algorithm *algorithm = choice->plugin->exported->algorithm;
    const char *argument = strchr(choice->text, ':');
    if (argument == NULL || *++argument == '\0')
        return SADDLE_OK;
    const char *title = algorithm->title != NULL ? algorithm->title : algorithm->name;
    choice->name = saddle_format("%s-%.150s", algorithm->name, argument);
    choice->title = saddle_alloc(strlen(title) + 2 * strlen(argument) + 3, 1);
    if (choice->name == NULL || choice->title == NULL)
        return saddle_no_memory(error, "the algorithm");
    char *end = stpcpy(stpcpy(choice->title, title), ", ");
    for (; *argument != '\0'; argument++) {
        *end++ = *argument == '=' ? ' ' : *argument;
        if (*argument == ',')
            *end++ = ' ';
    }
    for (char *c = choice->name; *c != '\0'; c++)
        *c = *c == ',' ? '-' : strchr("/\\\"' \t", *c) != NULL ? '_' : *c;
    choice->loaded.name = choice->name;
    choice->loaded.title = choice->title;
    return SADDLE_OK;
}

/* Chooses `own`, the caller's algorithm, or, if it is NULL, the algorithm that the text names. */
static saddle_status choose(saddle_algorithm_choice *choice, const saddle_algorithm *own,
                            saddle_error *error)
{
    static const saddle_option *const no_options[] = {NULL};
    saddle_catalog catalog = {.what = "algorithm",
                              .exported = offsetof(saddle_plugin_table, algorithm),
                              .missing = missing};
    catalog.list = saddle_algorithm_list(&catalog.count);
    const void *kind = own;
    SADDLE_TRY(own != NULL ? saddle_catalog_check(&catalog, own, own->name, error)
                           : saddle_catalog_choose(&catalog, choice->completed, &kind,
                                                   &choice->plugin, error));
    choice->algorithm = kind;
    if (choice->plugin == NULL && choice->algorithm->options != NULL)
        return SADDLE_OK;
    choice->loaded = *choice->algorithm;
    if (choice->loaded.options == NULL)
        choice->loaded.options = no_options;
    choice->algorithm = &choice->loaded;
    if (choice->plugin == NULL)
        return SADDLE_OK;
    SADDLE_TRY(check_options(choice, error));
    return name_variant(choice, error);
}

/* `plan` NULL: the text has all options. */
static saddle_status open_choice(saddle_algorithm_choice **out, const saddle_plan *plan,
                                 const char *text, const saddle_algorithm *own, saddle_error *error)
{
    *out = NULL;
    const char *name = own != NULL ? own->name : text;
    saddle_algorithm_choice *choice = saddle_alloc(1, sizeof *choice);
    SADDLE_TRY(saddle_check_memory(choice, "the algorithm", error));
    choice->owned = saddle_strdup(name != NULL ? name : "");
    choice->text = choice->owned;
    saddle_status status = saddle_check_memory(choice->owned, "the algorithm", error);
    SADDLE_THEN_IF(status, own == NULL && text != NULL,
                   saddle_plan_plugin_text(plan, "algorithm", text, &choice->completed, error));
    SADDLE_THEN(status, choose(choice, own, error));
    if (status == SADDLE_OK)
        *out = choice;
    else
        saddle_algorithm_release(choice);
    return status;
}

saddle_status saddle_algorithm_open(saddle_algorithm_choice **out, const char *text,
                                    saddle_error *error)
{
    return open_choice(out, NULL, text, NULL, error);
}

/* Returns the name of the option that decides for precision; NULL: none does. */
static const char *against_measured(const saddle_plan *plan, const saddle_compression *compression)
{
    const saddle_option *const *option = saddle_precision.options;
    for (; *option != NULL; option++)
        if (saddle_plan_given(plan, *option) &&
            !saddle_option_in(saddle_precision_auto.options, *option))
            return (*option)->name;
    return compression != NULL ? "compress" : NULL;
}

saddle_status saddle_algorithm_choose(saddle_algorithm_choice **out, const saddle_plan *plan,
                                      const saddle_compression *compression, const char *recorded,
                                      saddle_error *error)
{
    const char *text = plan->algorithm.name;
    const char *because = NULL;
    if (text == NULL && plan->algorithm.own == NULL) {
        because = against_measured(plan, compression);
        text = because != NULL ? saddle_precision.name : saddle_precision_auto.name;
        if (recorded != NULL && strcmp(recorded, text) != 0) {
            text = recorded;
            because = "resume";
        }
    }
    saddle_status status = open_choice(out, plan, text, plan->algorithm.own, error);
    if (status == SADDLE_OK)
        (*out)->because = because;
    return saddle_in_field("--algorithm", status, error);
}

char *saddle_algorithm_next(char **rest)
{
    char *entry = *rest;
    char *end = entry + strcspn(entry, ",");
    while (*end == ',' && end[1 + strcspn(end + 1, ",=/")] == '=')
        end += 1 + strcspn(end + 1, ",");
    *rest = *end == ',' ? end + 1 : NULL;
    *end = '\0';
    return entry;
}

void saddle_algorithm_release(saddle_algorithm_choice *choice)
{
    if (choice == NULL)
        return;
    saddle_plugin_close(choice->plugin);
    saddle_free(choice->owned);
    saddle_free(choice->completed);
    saddle_free(choice->name);
    saddle_free(choice->title);
    saddle_free(choice);
}

saddle_status saddle_algorithm_read_options(const saddle_algorithm_choice *choice, void *parameters,
                                            saddle_error *error)
{
    const saddle_plugin_object *plugin = choice->plugin;
    if (plugin == NULL)
        return SADDLE_OK;
    saddle_error said = {.message = ""};
    saddle_status status =
        saddle_plugin_options(plugin->exported->algorithm->options, false,
                              plugin->exported->algorithm->name, plugin->list, parameters, &said);
    if (status == SADDLE_OK)
        return status;
    saddle_plugin_failed(plugin->path, status, &said, error);
    return saddle_in_field("--algorithm", status, error);
}

char *saddle_algorithm_effective(const saddle_algorithm_choice *choice, const void *parameters)
{
    const saddle_plugin_object *plugin = choice->plugin;
    return plugin != NULL
               ? saddle_plugin_text(plugin, plugin->exported->algorithm->options, parameters)
               : saddle_strdup(choice->text);
}
