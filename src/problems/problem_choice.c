/* Finding or loading a kind of problem, and making a problem of it. */
#include "problems/problem_choice.h"

#include "core/memory.h"
#include "core/option_value.h"
#include "core/status.h"

/* Take the class out of a loaded object. */
static saddle_status take_class(saddle_problem_choice *choice, saddle_error *error)
{
    static const saddle_option *const no_options[] = {NULL};
    const saddle_problem_class *own = choice->plugin->exported->problem;
    if (own == NULL)
        return saddle_plugin_lacks(choice->plugin, "problem", error);
    const char *missing = own->name == NULL || *own->name == '\0' ? "name"
                          : own->bytes < sizeof(saddle_problem)
                              ? "size of a struct that begins with saddle_problem"
                          : own->fill == NULL ? "fill function"
                                              : NULL;
    if (missing != NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the problem of the plug-in '%s' has no %s; set it",
                           choice->plugin->path, missing);
    if (own->options != NULL && own->option_bytes == 0)
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "the problem of the plug-in '%s' has options but no struct for them; set "
            ".option_bytes",
            choice->plugin->path);
    choice->loaded = *own;
    choice->loaded.options = no_options;
    choice->kind = &choice->loaded;
    return SADDLE_OK;
}

saddle_status saddle_problem_choose(saddle_problem_choice *out, const char *text,
                                    saddle_error *error)
{
    *out = (saddle_problem_choice){.kind = NULL};
    SADDLE_TRY(saddle_plugin_check_name("problem", text, error));
    if (!saddle_plugin_named(text))
        return saddle_problem_find(&out->kind, text, error);
    saddle_status status = saddle_plugin_open(&out->plugin, text, error);
    SADDLE_THEN(status, take_class(out, error));
    if (status != SADDLE_OK)
        saddle_problem_release(out);
    return status;
}

void saddle_problem_release(saddle_problem_choice *choice)
{
    saddle_plugin_close(choice->plugin);
    *choice = (saddle_problem_choice){.kind = NULL};
}

saddle_status saddle_problem_read_options(const saddle_problem_choice *choice, void *options,
                                          saddle_error *error)
{
    const saddle_plugin_object *plugin = choice->plugin;
    if (plugin == NULL || plugin->exported->problem->options == NULL)
        return SADDLE_OK;
    saddle_error said = {.message = ""};
    saddle_status status =
        saddle_options_parse(plugin->exported->problem->options, plugin->list, options, &said);
    return status == SADDLE_OK ? status : saddle_plugin_failed(plugin->path, status, &said, error);
}

void saddle_problem_free(saddle_problem *problem)
{
    if (problem != NULL && problem->destroy != NULL)
        problem->destroy(problem);
    saddle_free(problem);
}

/* Let the class complete an instance; the message of a plug-in names it. */
static saddle_status fill(const saddle_problem_choice *choice, saddle_problem *problem,
                          const saddle_problem_inputs *inputs, saddle_error *error)
{
    saddle_error said = {.message = ""};
    saddle_status status = choice->kind->fill(problem, inputs, &said);
    if (status == SADDLE_OK && problem->agents != inputs->agents)
        status = saddle_fail(&said, SADDLE_BAD_INPUT,
                             "problem %s is for %zu agents, but there are %zu; give %zu as agents "
                             "or have it obey inputs->agents",
                             choice->kind->name, problem->agents, inputs->agents, problem->agents);
    if (status != SADDLE_OK && choice->plugin != NULL)
        return saddle_plugin_failed(choice->plugin->path, status, &said, error);
    if (status != SADDLE_OK && error != NULL)
        *error = said;
    return status;
}

saddle_status saddle_problem_make(const saddle_problem_choice *choice, saddle_problem **out,
                                  const saddle_problem_inputs *inputs, saddle_error *error)
{
    const saddle_problem_class *kind = choice->kind;
    *out = NULL;
    if (kind->needs_data && !kind->local_data && inputs->world->ranks > 1)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "problem: %s needs the data of all agents, which are in %zu processes; "
                           "use the engine threads, or have it read the shards of "
                           "inputs->world->here alone and set .local_data",
                           kind->name, inputs->world->ranks);
    saddle_problem *problem = saddle_alloc(1, kind->bytes);
    if (problem == NULL)
        return saddle_no_memory(error, "the problem");
    *problem = kind->common;
    problem->name = kind->name;
    problem->self = problem;
    problem->agents = inputs->agents;
    problem->samples = inputs->samples;
    problem->world = inputs->world;
    saddle_status status = fill(choice, problem, inputs, error);
    if (status == SADDLE_OK)
        *out = problem;
    else
        saddle_problem_free(problem);
    return status;
}
