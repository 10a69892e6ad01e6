/* Making an instance: the table of stages, and the problem and its sets. */
#include "instance/instance.h"

#include "core/clock.h"
#include "core/float_mode.h"
#include "core/sizes.h"
#include "core/world.h"
#include "data/columns.h"
#include "data/dataset.h"
#include "instance/fingerprint.h"
#include "instance/plan_plugins.h"
#include "problems/problems.h"

/* ---- the problem ----------------------------------------------------------------------------- */

/* Finds the kind of problem that the plan names: a built-in one, or a shared object by its path. */
static saddle_status find_kind(saddle_instance *e, saddle_error *error)
{
    if (e->plan->problem.own != NULL)
        return SADDLE_OK;
    saddle_status status = saddle_problem_choose(&e->parts->choice, e->plan->problem.name, error);
    status = saddle_in_field("--problem", status, error);
    e->kind = e->parts->choice.kind;
    return status;
}

/* Computes the agents' weights, unless all are equal. */
static saddle_status weigh_agents(saddle_instance *e, const size_t *samples, saddle_error *error)
{
    size_t agents = e->graph->agents;
    bool equal =
        saddle_sizes_sum(agents, samples) == agents * saddle_sizes_largest(agents, samples);
    if (e->plan->problem.agent_weights == SADDLE_WEIGHTS_EQUAL || equal)
        return SADDLE_OK;
    e->parts->weight = saddle_alloc_doubles(agents);
    SADDLE_TRY(saddle_check_memory(e->parts->weight, "the weights of agents", error));
    saddle_weigh_agents(agents, samples, true, NULL, e->parts->weight);
    return SADDLE_OK;
}

static saddle_status make_problem(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    if (e->plan->problem.own != NULL) {
        e->problem = e->plan->problem.own;
        return SADDLE_OK;
    }
    const saddle_plugin_object *plugin = parts->choice.plugin;
    const saddle_dataset *rows = e->plan->problem.rows;
    if (e->kind->options_size > 0) {
        parts->options = saddle_alloc(1, e->kind->options_size);
        SADDLE_TRY(saddle_check_memory(parts->options, "the problem's options", error));
    }
    saddle_plan_read_own(e->plan, e->kind->options, parts->options);
    size_t classes = 0;
    SADDLE_TRY(weigh_agents(e, parts->samples, error));
    SADDLE_TRY(saddle_problem_read_options(&parts->choice, parts->options, error));
    if (e->kind->needs_data && e->kind->labels == SADDLE_LABELS_CLASSES)
        SADDLE_TRY(
            saddle_labels_parse(e->plan->problem.classes, &parts->class_label, &classes, error));
    parts->inputs =
        (saddle_problem_inputs){.options = parts->options,
                                .argument = plugin != NULL ? plugin->argument : "",
                                .agents = e->graph->agents,
                                .features = e->features,
                                .samples = parts->samples,
                                .weight = parts->weight,
                                .shard = parts->shard,
                                .data = rows != NULL ? rows->name : e->plan->problem.data,
                                .columns = e->columns,
                                .classes = parts->class_label,
                                .class_count = classes,
                                .seed = e->seed,
                                .mixing = e->mixing,
                                .world = e->world};
    SADDLE_TRY(saddle_problem_make(&parts->choice, &parts->problem, &parts->inputs, error));
    e->problem = parts->problem;
    return SADDLE_OK;
}

/* Completes the problem by its join(). */
static saddle_status join_problem(saddle_instance *e, saddle_error *error)
{
    if (e->kind == NULL || e->kind->join == NULL)
        return SADDLE_OK;
    saddle_error said = {.message = ""};
    saddle_status status = e->kind->join(e->parts->problem, &e->parts->inputs, &said);
    return saddle_pass_on(error, status, &said, "problem", e->kind->name);
}

/* Sets a field of the plan to the path of a plug-in with the values of all its options. */
static saddle_status name_plugin(saddle_plan *plan, const char **field,
                                 const saddle_plugin_object *plugin,
                                 const saddle_option *const *options, const void *target,
                                 saddle_error *error)
{
    SADDLE_OWNED char *text = saddle_plugin_text(plugin, options, target);
    SADDLE_TRY(saddle_check_memory(text, "the settings", error));
    *field = text;
    return saddle_plan_refresh(plan, error);
}

/* Refuses a built-in problem whose default steps overflow because its data or options are too
 * large. */
static saddle_status check_scale(const saddle_instance *e, saddle_error *error)
{
    const struct saddle_instance_parts *parts = e->parts;
    bool built_in = parts->choice.kind != NULL && parts->choice.plugin == NULL;
    if (!built_in || (isfinite(e->problem->tau) && isfinite(e->problem->alpha)))
        return SADDLE_OK;
    return saddle_refuse(
        error, "tau %g and alpha %g of problem %s are not finite; %s", e->problem->tau,
        e->problem->alpha, saddle_shown_name(e->problem->name),
        parts->shard != NULL
            ? "squares of the data's values overflow: scale the data, as --scale standard does"
            : "choose its options closer to 1");
}

static saddle_status check_problem(saddle_instance *e, saddle_error *error)
{
    saddle_plan *plan = &e->parts->plan;
    if (plan->problem.own != NULL && e->problem->name != NULL)
        plan->problem.name = e->problem->name;
    if (e->held_out != NULL && e->problem->outcomes == NULL)
        return saddle_refuse(
            error,
            "--test-data: problem %s has no outcomes; leave --test-data out and evaluate the saved "
            "model on it, or choose a problem with outcomes, such as auc or fair",
            saddle_shown_name(e->problem->name));
    SADDLE_TRY(check_scale(e, error));
    SADDLE_TRY(saddle_problem_check(e->problem, error));
    saddle_plugin_object *plugin = e->parts->choice.plugin;
    if (plugin != NULL)
        SADDLE_TRY(saddle_plan_adopt(plan, plugin, e->kind->options, error));
    if (e->kind != NULL)
        SADDLE_TRY(saddle_plan_record_own(plan, e->kind->options, e->parts->options, error));
    if (plugin != NULL)
        SADDLE_TRY(name_plugin(plan, &plan->problem.name, plugin,
                               plugin->exported->problem->options, e->parts->options, error));
    return SADDLE_OK;
}

/* Makes the problem with weighted agents, if they are. A class has computed `shared` for these weights
 * already. */
static saddle_status weight_problem(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    const saddle_problem *problem = e->problem;
    /* What is not used is not recorded. */
    if (problem->counts_rows)
        parts->plan.problem.agent_weights = SADDLE_WEIGHTS_EQUAL;
    if (e->kind == NULL)
        SADDLE_TRY(weigh_agents(e, problem->samples, error));
    if (parts->weight == NULL || problem->counts_rows)
        return SADDLE_OK;
    SADDLE_TRY(saddle_weighted_create(&parts->weighted, problem, parts->weight, error));
    e->problem = parts->weighted;
    return SADDLE_OK;
}

/* Computes what depends on the weights, for a problem of the caller's own. */
static saddle_status share_weights(saddle_instance *e, saddle_error *error)
{
    bool own = e->kind == NULL && e->parts->weighted != NULL;
    return own ? saddle_weighted_share(e->parts->weighted, e->parts->weight, error) : SADDLE_OK;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static saddle_status make_set(const saddle_set **out, saddle_set **made, const saddle_set *own,
                              const char *option, const char *text, const char *suits,
                              size_t dimension, saddle_error *error)
{
    if (own != NULL && saddle_set_dimension(own) != dimension)
        return saddle_refuse(error, "%s: the set has dimension %zu, but the variable has %zu",
                             option, saddle_set_dimension(own), dimension);
    *out = own;
    if (own != NULL)
        return SADDLE_OK;
    const char *other = suits != NULL ? suits : "none";
    saddle_status status = saddle_set_create(made, text != NULL ? text : other, dimension, error);
    *out = *made;
    return saddle_in_field(option, status, error);
}

/* Does the same for a set or regularizer, if it is a plug-in. */
static saddle_status name_term(saddle_plan *plan, const char **field, const saddle_term *term,
                               saddle_error *error)
{
    return term->plugin != NULL
               ? name_plugin(plan, field, term->plugin, term->kind->options, term, error)
               : SADDLE_OK;
}

/* Makes the joint prox of h over X. If the user did not give X, the error message says that it
 * is the problem's default. */
static saddle_status make_prox(saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = e->plan;
    bool given = plan->problem.x_set != NULL || plan->problem.own_x_set != NULL;
    saddle_status status = saddle_prox_create(&e->parts->x_prox, e->x_set, e->regularizer, error);
    if (status != SADDLE_UNSUPPORTED || given || error == NULL)
        return status;
    saddle_error said = *error;
    return saddle_fail(error, status,
                       "%.900s; --x-set was not given, so the set is the problem's default",
                       said.message);
}

saddle_status saddle_instance_take_constants(saddle_instance *e, saddle_error *error)
{
    const saddle_problem *problem = e->problem;
    saddle_constants *c = &e->constants;
    saddle_error said = {.message = ""};
    *c = (saddle_constants){.lipschitz = 0.0};
    SADDLE_TRY(saddle_pass_on(error, problem->constants(problem, e->x_set, e->y_set, c, &said),
                              &said, "problem", problem->name));
    if (c->lipschitz >= 0.0 && c->strong_concavity >= 0.0 &&
        !(c->has_primal_bound && isnan(c->primal_bound)))
        return SADDLE_OK;
    return saddle_fail(
        error, SADDLE_CHECK_FAILED,
        "constants() of problem %.60s gives L = %g, mu = %g and a primal bound of %g; "
        "L and mu must not be negative, and none of them may be nan",
        saddle_shown_name(problem->name), c->lipschitz, c->strong_concavity, c->primal_bound);
}

static saddle_status make_sets(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    const saddle_problem *problem = e->problem;
    saddle_plan *plan = &parts->plan;
    saddle_status status = make_set(&e->x_set, &parts->x_set, plan->problem.own_x_set, "--x-set",
                                    plan->problem.x_set, problem->x_set, problem->x_dim, error);
    SADDLE_THEN(status, make_set(&e->y_set, &parts->y_set, plan->problem.own_y_set, "--y-set",
                                 plan->problem.y_set, problem->y_set, problem->y_dim, error));
    e->regularizer = plan->problem.own_regularizer;
    if (status == SADDLE_OK && e->regularizer == NULL) {
        status = saddle_regularizer_create(&parts->regularizer, plan->problem.regularizer,
                                           problem->x_dim, error);
        status = saddle_in_field("--regularizer", status, error);
        e->regularizer = parts->regularizer;
    }
    SADDLE_THEN(status, make_prox(e, error));
    if (status != SADDLE_OK)
        return status;
    e->x_prox = parts->x_prox;
    plan->problem.x_set = saddle_set_text(e->x_set);
    plan->problem.y_set = saddle_set_text(e->y_set);
    plan->problem.regularizer = saddle_regularizer_text(e->regularizer);
    status = saddle_plan_refresh(plan, error);
    SADDLE_THEN(status, name_term(plan, &plan->problem.x_set, &e->x_set->term, error));
    SADDLE_THEN(status, name_term(plan, &plan->problem.y_set, &e->y_set->term, error));
    SADDLE_THEN(status, name_term(plan, &plan->problem.regularizer, &e->regularizer->term, error));
    if (status != SADDLE_OK || problem->constants == NULL)
        return status;
    return saddle_instance_take_constants(e, error);
}

static saddle_status estimate_constants(saddle_instance *e, saddle_error *error)
{
    return saddle_problem_estimate_constants(e->problem, e->x_set, e->y_set, e->x0, e->y0, e->seed,
                                             &e->constants, error);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The stages in order, the field of saddle_setup_times that their time is added to and, if what
 * they make must have the same contents in all processes, its option and contents. */
static const struct {
    saddle_stage *make;
    enum { NETWORK, READING, SPLITTING, PROBLEM, CONSTANTS } time;
    const char *option;
    saddle_contents *contents;
} stages[] = {
    {saddle_stage_compare_plans, .time = NETWORK},
    {saddle_stage_count_files, .time = NETWORK},
    {saddle_stage_read_links, .time = NETWORK},
    {saddle_stage_read_compression, .time = NETWORK},
    {saddle_stage_graph, NETWORK, "topology", saddle_graph_contents},
    {saddle_stage_place_agents, .time = NETWORK},
    {saddle_stage_mixing, NETWORK, "mixing", saddle_mixing_contents},
    {saddle_stage_complete_links, NETWORK, "links", saddle_links_contents},
    {saddle_stage_read_clipping, .time = NETWORK},
    {saddle_stage_read_churn, NETWORK, "churn", saddle_churn_contents},
    {saddle_stage_share_spectrum, .time = NETWORK},
    {find_kind, .time = PROBLEM},
    {saddle_stage_samples, .time = READING},
    {saddle_stage_scan_columns, .time = READING},
    {saddle_stage_share_columns, .time = READING},
    {saddle_stage_read_data, READING, "data", saddle_data_contents},
    {saddle_stage_split_data, .time = SPLITTING},
    {saddle_stage_share_sizes, .time = SPLITTING},
    {saddle_stage_list_labels, .time = SPLITTING},
    {saddle_stage_share_labels, .time = SPLITTING},
    {saddle_stage_held_out, .time = READING},
    {saddle_stage_scale, .time = SPLITTING},
    {make_problem, .time = PROBLEM},
    {join_problem, .time = PROBLEM},
    {check_problem, .time = PROBLEM},
    {weight_problem, .time = PROBLEM},
    {share_weights, .time = PROBLEM},
    {make_sets, .time = PROBLEM},
    {saddle_stage_start, .time = PROBLEM},
    {saddle_stage_share_start, .time = PROBLEM},
    {estimate_constants, .time = CONSTANTS},
};

/* Runs a stage. All processes succeed or fail. */
static saddle_status run_stage(saddle_instance *e, size_t k, saddle_error *error)
{
    saddle_status status = stages[k].make(e, error);
    const saddle_world *world = e->world != NULL ? e->world : e->parts->processes;
    SADDLE_TRY(saddle_world_agree(world, status, error));
    if (stages[k].contents == NULL)
        return SADDLE_OK;
    status = saddle_same_contents(e, world, stages[k].option, stages[k].contents, error);
    return saddle_world_agree(world, status, error);
}

/* Returns an empty instance; NULL if memory is short. */
static saddle_instance *make_empty(void)
{
    saddle_instance *e = saddle_alloc(1, sizeof *e);
    struct saddle_instance_parts *parts = saddle_alloc(1, sizeof *parts);
    if (e != NULL && parts != NULL) {
        e->parts = parts;
        return e;
    }
    saddle_free(e);
    saddle_free(parts);
    return NULL;
}

/* Adds to the message of a failure that the run of the checkpoint did not fail there. */
static void mention_checkpoint(const saddle_plan *plan, saddle_error *error)
{
    const char *resume = plan->outputs.resume;
    if (error == NULL || error->status != SADDLE_BAD_INPUT || resume == NULL || *resume == '\0' ||
        strcmp(resume, "no") == 0 || strcmp(resume, "auto") == 0)
        return;
    saddle_error said = *error;
    saddle_fail(error, said.status,
                "%.700s; the run of the checkpoint that is resumed had no such fault: its data or "
                "settings have changed since",
                said.message);
}

saddle_status saddle_instance_create_on(saddle_instance **out, const saddle_engine_class *engine,
                                        const saddle_plan *plan, saddle_error *error)
{
    *out = NULL;
    saddle_instance *e = make_empty();
    SADDLE_TRY(saddle_check_memory(e, "the instance", error));
    struct saddle_instance_parts *parts = e->parts;
    e->plan = &parts->plan;
    e->copies = 1;
    parts->engine = engine;
    saddle_status status = saddle_engine_connect(engine, &parts->processes, NULL, error);
    saddle_status copied = saddle_plan_copy(&parts->plan, plan, error);
    SADDLE_THEN(copied, saddle_plan_complete_plugins(&parts->plan, error));
    SADDLE_THEN(copied, saddle_plan_copy(&parts->given, plan, error));
    SADDLE_THEN(status, saddle_world_agree(parts->processes, copied, error));
    if (status == SADDLE_OK)
        saddle_engine_watch(engine, parts->processes, parts->plan.engine.stall_seconds, NULL);
    e->seed = parts->plan.start.seed;
    double *const seconds[] = {&e->times.network, &e->times.reading, &e->times.splitting,
                               &e->times.problem, &e->times.constants};
    for (size_t k = 0; status == SADDLE_OK && k < sizeof stages / sizeof *stages; k++) {
        double begin = saddle_clock_seconds();
        status = run_stage(e, k, error);
        *seconds[stages[k].time] += saddle_clock_seconds() - begin;
    }
    saddle_world_free(parts->processes);
    parts->processes = NULL;
    if (status == SADDLE_OK) {
        *out = e;
    } else {
        mention_checkpoint(plan, error);
        saddle_instance_free(e);
    }
    return status;
}

saddle_status saddle_instance_create(saddle_instance **out, const saddle_plan *plan,
                                     saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, plan);
    const saddle_engine_class *engine;
    SADDLE_TRY(saddle_plan_check_size(plan, error));
    /* The other fields are checked later, where all processes agree on a failure. */
    saddle_status status = saddle_engine_find(
        &engine, plan->engine.name != NULL ? plan->engine.name : "threads", error);
    return status == SADDLE_OK ? saddle_instance_create_on(out, engine, plan, error)
                               : saddle_in_field("--engine", status, error);
}

const saddle_dataset *saddle_instance_rows(const saddle_instance *instance, size_t agent)
{
    const struct saddle_instance_parts *parts = instance->parts;
    bool some = parts->shard != NULL && agent < instance->world->agents;
    return some ? parts->shard[agent] : NULL;
}

void saddle_instance_free(saddle_instance *e)
{
    if (e == NULL)
        return;
    struct saddle_instance_parts *parts = e->parts;
    saddle_problem_free(parts->weighted);
    saddle_free(parts->weight);
    saddle_problem_free(parts->problem);
    saddle_problem_release(&parts->choice);
    saddle_free(parts->options);
    for (size_t i = 0; parts->shard != NULL && i < e->graph->agents; i++)
        saddle_dataset_free(parts->shard[i]);
    saddle_free(parts->shard);
    saddle_free(parts->samples);
    saddle_dataset_free(parts->data);
    saddle_dataset_free(parts->held_out);
    saddle_columns_free(parts->columns);
    saddle_statistics_free(&parts->statistics);
    for (size_t i = 0; parts->scanned != NULL && i < e->graph->agents; i++)
        saddle_columns_free(parts->scanned[i]);
    saddle_free((void *)parts->scanned);
    saddle_free(parts->numbers);
    saddle_free(parts->label);
    saddle_free(parts->classes);
    saddle_free(parts->class_label);
    saddle_prox_free(parts->x_prox);
    saddle_regularizer_free(parts->regularizer);
    saddle_set_free(parts->x_set);
    saddle_set_free(parts->y_set);
    saddle_mixing_free(parts->mixing);
    saddle_link_rule_free(parts->links);
    saddle_churn_free(parts->churn);
    saddle_world_free(parts->world);
    saddle_graph_free(parts->graph);
    saddle_free(parts->x0);
    saddle_free(parts->y0);
    saddle_plan_free(&parts->plan);
    saddle_plan_free(&parts->given);
    saddle_free(parts);
    saddle_free(e);
}

/* ---- one agent with all data ----------------------------------------------------------------- */

saddle_status saddle_instance_pool(saddle_instance **out, const saddle_instance *instance,
                                   saddle_error *error)
{
    *out = NULL;
    SADDLE_OWNED_BY(saddle_instance_free_at) saddle_instance *e = make_empty();
    SADDLE_TRY(saddle_check_memory(e, "the pooled data", error));
    struct saddle_instance_parts *parts = e->parts;
    *e = *instance;
    e->parts = parts;
    SADDLE_TRY(saddle_pooled_create(&parts->problem, instance->problem, error));
    SADDLE_TRY(saddle_graph_create(&parts->graph, "complete", 1, 0, error));
    SADDLE_TRY(saddle_world_alone(&parts->world, 1, error));
    SADDLE_TRY(saddle_mixing_create(&parts->mixing, parts->graph, "metropolis", error));
    e->problem = parts->problem;
    e->graph = parts->graph;
    e->world = parts->world;
    e->mixing = parts->mixing;
    e->links = NULL; /* a single agent has no links */
    e->compression = NULL;
    e->clipping = NULL;
    e->churn = NULL;
    e->spectrum = (saddle_spectrum){.gap = 1.0, .method = "closed form"};
    e->copies = instance->problem->agents;
    /* With unequal sizes, some samples have a larger weight in the pool than at their agents. */
    if (e->problem->constants != NULL && !e->constants.estimated)
        SADDLE_TRY(saddle_instance_take_constants(e, error));
    *out = saddle_taken(&e);
    return SADDLE_OK;
}
