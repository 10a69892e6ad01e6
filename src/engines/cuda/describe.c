/* What the engines `cuda` and `cuda-host` refuse, and the descriptions of what they do not. */
#include "core/base.h"
#include "engines/cuda/tables.h"

static saddle_status refuse(const saddle_local *e, const char *option, const char *what,
                            saddle_error *error)
{
    return saddle_fail(error, SADDLE_UNSUPPORTED, "%s: --engine %s %s; use --engine threads",
                       option, e->base.kind->name, what);
}

static saddle_status check_network(const saddle_local *e, saddle_error *error)
{
    const saddle_engine_inputs *in = &e->inputs;
    if (in->instance->churn != NULL)
        return refuse(e, "--churn", "has no agents that leave or join", error);
    if (e->links.changing)
        return refuse(e, "--links", "has only reliable links", error);
    if (e->links.compressed)
        return refuse(e, "--compress", "does not compress messages", error);
    if (e->links.clipper.rule != NULL || in->row_clip > 0.0)
        return refuse(e, in->row_clip > 0.0 ? "--row-clip" : "--clip-mixing", "does not clip",
                      error);
    if (in->link_model != NULL)
        return refuse(e, "--link-model", "does not simulate time", error);
    return SADDLE_OK;
}

/* Refuses an algorithm or a problem that has no code; `known`: the names of those that have some. */
static saddle_status refuse_name(const saddle_local *e, const char *option, const char *name,
                                 const char *known, saddle_error *error)
{
    return saddle_fail(error, SADDLE_UNSUPPORTED,
                       "%s: --engine %s has no code for %.60s; give %s, or use --engine threads",
                       option, e->base.kind->name, saddle_shown_name(name), known);
}

static saddle_status refuse_algorithm(const saddle_local *e, saddle_error *error)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    char known[160] = "";
    for (size_t k = 0; k < count; k++)
        if (list[k]->device != NULL)
            saddle_append(known, sizeof known, "%s%s", known[0] != '\0' ? " or " : "",
                          list[k]->name);
    return refuse_name(e, "--algorithm", e->inputs.algorithm->name, known, error);
}

static saddle_status refuse_problem(const saddle_local *e, saddle_error *error)
{
    size_t count;
    const saddle_problem_class *const *list = saddle_problem_list(&count);
    char known[160] = "";
    for (size_t k = 0; k < count; k++)
        if (list[k]->common.device != NULL)
            saddle_append(known, sizeof known, "%s or ", list[k]->name);
    saddle_append(known, sizeof known, "one of your own with card_gradients()");
    return refuse_name(e, "--problem", e->inputs.instance->problem->name, known, error);
}

saddle_status saddle_card_describe(const saddle_local *e, saddle_device_steps *steps,
                                   saddle_device_problem *problem, saddle_error *error)
{
    const saddle_engine_inputs *in = &e->inputs;
    const char *option = NULL;
    bool known = saddle_describe_device(in->instance->problem, problem);
    SADDLE_TRY(check_network(e, error));
    if (in->algorithm->device == NULL)
        return refuse_algorithm(e, error);
    if (!known)
        return problem->refused != NULL
                   ? refuse(e, problem->refused, "has no code for this one", error)
                   : refuse_problem(e, error);
    if (!in->algorithm->device(in->parameters, in->instance, steps, &option))
        return refuse(e, option != NULL ? option : "--algorithm", "has no code for this one",
                      error);
    if (problem->answers && steps->scheduled)
        return refuse(e, "--algorithm precision+", "has no code for it with this problem", error);
    return SADDLE_OK;
}
