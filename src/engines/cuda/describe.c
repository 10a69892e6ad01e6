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

/* Fills in the names of the algorithms that have device code. */
static void list_algorithms(size_t size, char *out)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    out[0] = '\0';
    for (size_t k = 0; k < count; k++)
        if (list[k]->device != NULL)
            saddle_append(out, size, "%s%s", out[0] != '\0' ? " or " : "", list[k]->name);
}

static void list_problems(size_t size, char *out)
{
    size_t count;
    const saddle_problem_class *const *list = saddle_problem_list(&count);
    out[0] = '\0';
    for (size_t k = 0; k < count; k++)
        if (list[k]->common.device != NULL)
            saddle_append(out, size, "%s%s", out[0] != '\0' ? " or " : "", list[k]->name);
}

saddle_status saddle_card_describe(const saddle_local *e, saddle_device_steps *steps,
                                   saddle_device_problem *problem, saddle_error *error)
{
    const saddle_engine_inputs *in = &e->inputs;
    const saddle_problem *of = in->instance->problem;
    const char *option = NULL;
    char algorithms[160];
    char problems[160];
    bool known = saddle_describe_device(of, problem);
    SADDLE_TRY(check_network(e, error));
    if (!known && problem->refused != NULL)
        return refuse(e, problem->refused, "has no code for this one", error);
    if (known && in->algorithm->device != NULL) {
        bool fits = in->algorithm->device(in->parameters, in->instance, steps, &option);
        if (fits && problem->answers && steps->scheduled)
            return refuse(e, "--algorithm precision+", "has no code for it with this problem",
                          error);
        if (fits)
            return SADDLE_OK;
        return refuse(e, option != NULL ? option : "--algorithm", "has no code for this one",
                      error);
    }
    list_algorithms(sizeof algorithms, algorithms);
    list_problems(sizeof problems, problems);
    return saddle_fail(error, SADDLE_UNSUPPORTED,
                       "--engine: %s has code for --algorithm %s with --problem %s or "
                       "card_gradients(), but not for %s with %.60s; use --engine threads",
                       e->base.kind->name, algorithms, problems, in->algorithm->name,
                       saddle_shown_name(of->name));
}
