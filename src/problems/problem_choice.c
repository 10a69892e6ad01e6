/* Finding or loading a kind of problem, and making an instance of it. */
#include "problems/problem_choice.h"

static const char *missing(const void *kind)
{
    const saddle_problem_class *problem = kind;
    return problem->size < sizeof(saddle_problem)
               ? "size of a struct that begins with saddle_problem"
           : problem->init == NULL ? "init function"
           : problem->options != NULL && problem->options_size == 0
               ? "options_size, the bytes of the struct that its options fill"
               : NULL;
}

saddle_status saddle_problem_choose(saddle_problem_choice *out, const char *text,
                                    saddle_error *error)
{
    static const saddle_option *const no_options[] = {NULL};
    saddle_catalog catalog = {
        .what = "problem", .exported = offsetof(saddle_plugin_table, problem), .missing = missing};
    catalog.list = saddle_problem_list(&catalog.count);
    *out = (saddle_problem_choice){.kind = NULL};
    const void *kind;
    SADDLE_TRY(saddle_catalog_choose(&catalog, text, &kind, &out->plugin, error));
    out->kind = kind;
    if (out->plugin != NULL) {
        out->loaded = *out->kind;
        if (out->loaded.options == NULL)
            out->loaded.options = no_options;
        out->kind = &out->loaded;
    }
    return SADDLE_OK;
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
    if (plugin == NULL)
        return SADDLE_OK;
    saddle_error said = {.message = ""};
    saddle_status status = saddle_plugin_options(plugin->exported->problem->options, true, "",
                                                 plugin->list, options, &said);
    if (status == SADDLE_OK)
        return status;
    saddle_plugin_failed(plugin->path, status, &said, error);
    return saddle_in_field("--problem", status, error);
}

void saddle_problem_free(saddle_problem *problem)
{
    if (problem != NULL && problem->release != NULL)
        problem->release(problem);
    saddle_free(problem);
}

/* Calls the class's init(); errors of a plug-in name the plug-in. */
static saddle_status init(const saddle_problem_choice *choice, saddle_problem *problem,
                          const saddle_problem_inputs *inputs, saddle_error *error)
{
    saddle_error said = {.message = ""};
    saddle_status status = choice->kind->init(problem, inputs, &said);
    if (status == SADDLE_OK && problem->agents != inputs->agents)
        status = saddle_refuse(&said,
                               "problem %s is for %zu agent%s, but there are %zu; set --agents to "
                               "%zu or make it use inputs->agents",
                               choice->kind->name, problem->agents, SADDLE_PLURAL(problem->agents),
                               inputs->agents, problem->agents);
    if (status != SADDLE_OK && choice->plugin != NULL)
        return saddle_in_field(
            "--problem", saddle_plugin_failed(choice->plugin->path, status, &said, error), error);
    return saddle_pass_on(error, status, &said, "problem", choice->kind->name);
}

saddle_status saddle_problem_make(const saddle_problem_choice *choice, saddle_problem **out,
                                  const saddle_problem_inputs *inputs, saddle_error *error)
{
    const saddle_problem_class *kind = choice->kind;
    *out = NULL;
    if (kind->needs_data && !kind->local_data && inputs->world->ranks > 1)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--problem: %s needs the data of all agents, which are in %zu "
                           "processes; use the engine threads, or make it read only the shards of "
                           "inputs->world->here and set .local_data",
                           kind->name, inputs->world->ranks);
    saddle_problem *problem = saddle_alloc(1, kind->size);
    SADDLE_TRY(saddle_check_memory(problem, "the problem", error));
    *problem = kind->common;
    problem->name = kind->name;
    problem->self = problem;
    problem->agents = inputs->agents;
    problem->samples = inputs->samples;
    problem->world = inputs->world;
    saddle_status status = init(choice, problem, inputs, error);
    if (status == SADDLE_OK)
        *out = problem;
    else
        saddle_problem_free(problem);
    return status;
}
