/* The effective plan of a run: the given values, those of the instance, and those that the run
 * resolved. */
#include "algorithms/algorithms.h"
#include "algorithms/sampling.h"
#include "instance/instance.h"
#include "instance/plan_options.h"
#include "instance/plan_plugins.h"
#include "run/run.h"

/* Returns a problem's local size, or 0 if agents have different ones. */
static size_t common_samples(const saddle_problem *problem)
{
    for (size_t i = 1; i < problem->agents; i++)
        if (problem->samples[i] != problem->samples[0])
            return 0;
    return problem->samples[0];
}

/* Makes the plan of the options that this run uses, with the given values. */
static saddle_status collect(saddle_run_state *r, saddle_plan *plan, saddle_error *error)
{
    const saddle_instance *network = r->info.network;
    const saddle_problem_class *kind = network->kind;
    const saddle_option *const *const tables[3] = {saddle_plan_options, r->info.algorithm->options,
                                                   kind != NULL ? kind->options : NULL};
    return saddle_plan_merge(plan, network->plan, &r->given, tables, kind != NULL ? 3 : 2, error);
}

/* Returns when outcomes are measured by default. If agents have their own rows and outcomes need
 * every row's score, these leave the agent only at the ends of the run, unless the user asks for
 * more. */
static saddle_outcome_points automatic_outcomes(const saddle_run_state *r)
{
    bool shared = !saddle_scores_are_private(r->info.network);
    if (r->resumed.from != NULL)
        return strcmp(saddle_resume_setting(&r->resumed, "outcomes"), "always") == 0
                   ? SADDLE_OUTCOMES_ALWAYS
                   : SADDLE_OUTCOMES_ENDS;
    return r->rules.outcomes || (r->given.outputs.trace != NULL && shared) ? SADDLE_OUTCOMES_ALWAYS
                                                                           : SADDLE_OUTCOMES_ENDS;
}

/* Fills in automatic values. */
static void resolve(const saddle_run_state *r, saddle_plan *plan)
{
    const saddle_instance *network = r->info.network;
    const char *init = network->problem->start != NULL ? NULL : SADDLE_DEFAULT_INIT;
    plan->steps = r->info.steps;
    bool measured = isnan(plan->steps.c_gamma); /* the batches of PRECISION+ */
    if (!measured && plan->steps.batch == 0 && common_samples(r->info.instance->problem) > 0)
        plan->steps.batch = saddle_batch_size(common_samples(r->info.instance->problem), 0);
    if (isnan(plan->outputs.metric_tau))
        plan->outputs.metric_tau = plan->steps.tau;
    plan->outputs.trace_every = r->trace_every;
    if (plan->outputs.outcomes == SADDLE_OUTCOMES_AUTO)
        plan->outputs.outcomes = automatic_outcomes(r);
    /* A resumed run has the same settings as one that was not interrupted. */
    plan->outputs.resume = NULL;
    if (plan->start.init == NULL)
        plan->start.init = init;
    if (plan->start.init_x == NULL)
        plan->start.init_x = plan->start.init;
    if (plan->start.init_y == NULL)
        plan->start.init_y = plan->start.init;
}

/* Whether a search could vary steps of an algorithm, and neither the user nor a search has set one of them, nor does
 * the algorithm measure them. */
static bool is_untuned(const saddle_plan *given, const saddle_algorithm_choice *choice)
{
    bool varied = false;
    if (choice->algorithm == &saddle_precision_auto)
        return false;
    const saddle_option *const *option = choice->algorithm->options;
    for (; *option != NULL; option++) {
        bool decides = (*option)->search != NULL || *option == &saddle_option_steps;
        if (decides && (saddle_plan_given(given, *option) ||
                        saddle_plugin_text_has(choice->text, (*option)->name)))
            return false;
        varied = varied || (*option)->search != NULL;
    }
    return varied;
}

/* Warns of a --hessian that the problem, its sets or its network do not allow. */
static void warn_of_hessian(const saddle_run_state *r, const saddle_plan *plan)
{
    const saddle_option *option = &saddle_option_hessian;
    if (r->choice->algorithm != &saddle_precision_auto || !saddle_plan_given(&r->given, option))
        return;
    const char *wanted = SADDLE_PLAN_TEXT(&r->given, option);
    const char *used = SADDLE_PLAN_TEXT(plan, option);
    if (strcmp(wanted, "auto") != 0 && strcmp(wanted, used) != 0)
        saddle_run_warn(r,
                        "--hessian: '%s' cannot be used with this problem, its constraints and its "
                        "network; the run uses '%s'",
                        wanted, used);
}

saddle_status saddle_run_effective(saddle_run_state *r, saddle_error *error)
{
    saddle_plan *plan = &r->result->plan;
    char *samples = NULL;
    SADDLE_TRY(collect(r, plan, error));
    resolve(r, plan);
    char *name = saddle_algorithm_effective(r->choice, r->parameters);
    SADDLE_TRY(saddle_check_memory(name, "the settings", error));
    plan->algorithm.name = name;
    size_t common = common_samples(r->info.network->problem);
    if (plan->problem.samples == NULL && common > 0) {
        samples = saddle_format("%zu", common);
        plan->problem.samples = samples;
    }
    saddle_status status = common == 0 || plan->problem.samples != NULL
                               ? saddle_plan_refresh(plan, error)
                               : saddle_no_memory(error, "the settings");
    saddle_free(samples);
    saddle_free(name);
    SADDLE_THEN(status,
                saddle_plan_record_own(plan, r->info.algorithm->options, r->parameters, error));
    r->info.plan = plan;
    if (status == SADDLE_OK)
        warn_of_hessian(r, plan);
    r->result->untuned = is_untuned(&r->given, r->choice);
    return status;
}
