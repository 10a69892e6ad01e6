/* Everything before the first iteration of a run. */
#include "algorithms/algorithms.h"
#include "algorithms/layout.h"
#include "algorithms/sampling.h"
#include "core/clock.h"
#include "core/option_value.h"
#include "data/dataset.h"
#include "engines/replicas.h"
#include "instance/fingerprint.h"
#include "instance/plan_plugins.h"
#include "instance/same_run.h"
#include "instance/unused_options.h"
#include "run/plan_files.h"
#include "run/result.h"
#include "run/run.h"

/* ---- the algorithm --------------------------------------------------------------------------- */

/* Refuses what the algorithm or the problem does not support. */
static saddle_status check_traits(const saddle_run_state *r, saddle_error *error)
{
    const saddle_instance *e = r->info.network;
    const saddle_algorithm *a = r->info.algorithm;
    bool wanted = r->given.outputs.outcomes == SADDLE_OUTCOMES_ALWAYS;
    if ((wanted || r->given.outputs.outcomes_per_agent) && e->problem->outcomes == NULL)
        return saddle_refuse(error, "--%s: problem %s has no outcomes; leave it out",
                             wanted ? "outcomes" : "outcomes-per-agent",
                             saddle_shown_name(e->problem->name));
    if (a->traits.centralized && e->world->ranks > 1)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s is centralized: it needs all data in one process, but they "
                           "are in %zu; use the engine threads",
                           a->name, e->world->ranks);
    if (!a->traits.x_set && !saddle_set_is_whole_space(e->x_set))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s does not support a constraint on x, but X is %s; set --x-set to "
                           "none or choose another algorithm",
                           a->name, saddle_set_text(e->x_set));
    if (!a->traits.y_set && !saddle_set_is_whole_space(e->y_set))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s does not support a constraint on y, but Y is %s; set --y-set to "
                           "none or choose another algorithm",
                           a->name, saddle_set_text(e->y_set));
    if (!a->traits.regularizer && !saddle_regularizer_is_zero(e->regularizer))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--regularizer: %s does not support a nonsmooth regularizer, but h is "
                           "%s; give none or choose another algorithm",
                           a->name, saddle_regularizer_text(e->regularizer));
    return SADDLE_OK;
}

/* Chooses the instance that the algorithm runs on. */
static saddle_status choose_instance(saddle_run_state *r, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    r->info.instance = r->info.network;
    if (r->info.algorithm->traits.centralized && r->info.network->problem->agents > 1) {
        status = saddle_instance_pool(&r->pooled, r->info.network, error);
        r->info.instance = r->pooled;
    } else {
        status = saddle_run_objective_create(&r->objective, r->info.network, error);
        if (r->objective != NULL)
            r->info.instance = saddle_run_objective_instance(r->objective);
    }
    return status;
}

/* Calls the algorithm's init(); errors of a plug-in name the plug-in. */
static saddle_status configure_own(saddle_run_state *r, saddle_configuration *c,
                                   saddle_error *error)
{
    saddle_error said = {.message = ""};
    saddle_status status = r->info.algorithm->init(r->parameters, c, &said);
    if (status != SADDLE_OK && r->choice->plugin != NULL)
        return saddle_in_field("--algorithm",
                               saddle_plugin_failed(r->choice->text, status, &said, error), error);
    return saddle_pass_on(error, status, &said, "algorithm", r->info.algorithm->name);
}

/* Computes the algorithm's layout. */
static saddle_status lay_out(saddle_run_state *r, saddle_error *error)
{
    saddle_layout *l = &r->layout;
    saddle_algorithm_layout(r->info.algorithm, r->parameters, r->info.instance->problem, l);
    const saddle_compression *rule = r->info.instance->compression;
    r->info.mixing_rate = rule != NULL ? saddle_replicas_rate(rule, l) : (double)NAN;
    if (l->published <= SADDLE_MOST_DOUBLES && l->kept <= SADDLE_MOST_DOUBLES &&
        l->work <= SADDLE_MOST_DOUBLES && l->scratch <= SADDLE_MOST_DOUBLES)
        return SADDLE_OK;
    return saddle_refuse(
        error,
        "algorithm %s needs %zu doubles of published and %zu of kept state, %zu of "
        "work and %zu of scratch; each can be at most %zu",
        r->info.algorithm->name, l->published, l->kept, l->work, l->scratch, SADDLE_MOST_DOUBLES);
}

void saddle_run_reset_unread(const saddle_algorithm *algorithm, saddle_plan *plan)
{
    static const saddle_option *const automatic[] = {&saddle_option_steps, &saddle_option_nu,
                                                     &saddle_option_eta, &saddle_option_tau,
                                                     &saddle_option_alpha};
    for (size_t k = 0; k < sizeof automatic / sizeof *automatic; k++)
        if (!saddle_option_in(algorithm->options, automatic[k]))
            saddle_option_default(automatic[k], plan);
}

/* Refuses steps that the init() of an algorithm that is not built in lists but has not chosen. */
static saddle_status check_steps(const saddle_run_state *r, const saddle_steps *steps,
                                 saddle_error *error)
{
    const saddle_algorithm *a = r->info.algorithm;
    const struct {
        const saddle_option *option;
        double value;
    } step[] = {{&saddle_option_eta_x, steps->eta_x}, {&saddle_option_eta_y, steps->eta_y}};
    for (size_t k = 0; k < sizeof step / sizeof *step; k++)
        if (isnan(step[k].value) && saddle_option_in(a->options, step[k].option))
            return saddle_refuse(
                error,
                "--%s: algorithm %s has left this step automatic; give a number, or "
                "let it choose one if none is given (in C in init(), in Python by a "
                "class attribute)",
                step[k].option->name, a->name);
    return SADDLE_OK;
}

/* Sets step sizes and parameters. */
static saddle_status configure(saddle_run_state *r, saddle_error *error)
{
    const saddle_algorithm *a = r->info.algorithm;
    saddle_plan read = r->given;
    saddle_configuration c = {.instance = r->info.instance, .given = &read.steps};
    saddle_run_reset_unread(a, &read);
    SADDLE_TRY(saddle_instance_steps(r->info.network, &read, &c.steps, error));
    r->parameters = saddle_alloc(1, a->size);
    SADDLE_TRY(saddle_check_memory(r->parameters, "the algorithm's parameters", error));
    saddle_plan_read_own(&r->given, a->options, r->parameters);
    saddle_status status = saddle_algorithm_read_options(r->choice, r->parameters, error);
    SADDLE_THEN(status, configure_own(r, &c, error));
    SADDLE_THEN(status, check_steps(r, &c.steps, error));
    r->info.parameters = r->parameters;
    r->info.steps = c.steps;
    SADDLE_THEN(status, lay_out(r, error));
    return status;
}

/* Reads the link model. A single agent with all data computes at the model's default cost. */
static saddle_status read_link_model(saddle_run_state *r, saddle_error *error)
{
    const char *text = r->given.network.link_model;
    if (text == NULL && r->given.limits.max_network_seconds > 0.0)
        return saddle_refuse(error,
                             "--max-network-seconds: there are no simulated seconds without a "
                             "--link-model; give one, such as latency:0.02,bandwidth:125000");
    if (text == NULL)
        return SADDLE_OK;
    SADDLE_TRY(saddle_link_model_create(&r->link_model, text, r->info.network->graph, error));
    if (r->pooled != NULL)
        r->link_model->compute[0] = r->link_model->default_compute;
    return SADDLE_OK;
}

/* Distributes the numbers that process 0 has read. */
static void share_link_model(const saddle_run_state *r)
{
    const saddle_world *world = r->info.network->world;
    const saddle_graph *graph = r->info.network->graph;
    saddle_link_model *model = r->link_model;
    if (model == NULL)
        return;
    world->share(world, 0, graph->agents * sizeof *model->compute, model->compute);
    world->share(world, 0, 2 * graph->edges * sizeof *model->latency, model->latency);
    world->share(world, 0, 2 * graph->edges * sizeof *model->bandwidth, model->bandwidth);
}

/* Copies the title of an algorithm that is not built in, because the result outlives a plug-in. */
static saddle_status keep_title(saddle_run_state *r, saddle_error *error)
{
    const saddle_algorithm *a = r->info.algorithm;
    if (r->choice->plugin == NULL && r->given.algorithm.own == NULL)
        return SADDLE_OK;
    r->result->title = saddle_strdup(a->title != NULL ? a->title : a->name);
    r->info.title = r->result->title;
    return r->info.title != NULL ? SADDLE_OK : saddle_no_memory(error, "the result");
}

/* Does everything before the agents are made: the algorithm, its parameters, the effective plan.
 * Call saddle_run_release() even after a failure. */
static saddle_status configure_run(saddle_run_state *r, saddle_error *error)
{
    bool follows = r->resumed.from != NULL && !saddle_resume_was_given(&r->resumed, "algorithm");
    const char *recorded = follows ? saddle_resume_setting(&r->resumed, "algorithm") : NULL;
    SADDLE_TRY(saddle_algorithm_choose(&r->choice, &r->given, r->info.network->compression,
                                       recorded, error));
    r->info.algorithm = r->choice->algorithm;
    r->info.because = r->choice->because;
    saddle_status status = check_traits(r, error);
    SADDLE_THEN_IF(
        status, r->choice->plugin != NULL,
        saddle_plan_adopt(&r->given, r->choice->plugin, r->info.algorithm->options, error));
    SADDLE_THEN(status, choose_instance(r, error));
    SADDLE_THEN(status, configure(r, error));
    SADDLE_THEN(status, saddle_layout_check(r->info.algorithm, r->parameters,
                                            r->info.instance->problem, &r->layout, error));
    SADDLE_THEN(status, saddle_run_check_links(r, error));
    SADDLE_THEN(status, saddle_run_check_privacy(r, error));
    SADDLE_THEN(status, read_link_model(r, error));
    if (status != SADDLE_OK)
        return status;
    SADDLE_TRY(saddle_run_read_rules(r, error));
    saddle_run_choose_points(r);
    SADDLE_TRY(saddle_run_check_memory(r, error));
    SADDLE_TRY(saddle_result_create(&r->result, r->info.instance, error));
    r->info.result = r->result;
    SADDLE_TRY(keep_title(r, error));
    return saddle_run_effective(r, error);
}

/* ---- agents and observer --------------------------------------------------------------------- */

/* Returns whether every iterate is guaranteed to be in X and Y. Warns if the steps of the
 * PRECISION family are too long for its iterates to be convex combinations of feasible points. */
static bool stays_feasible(const saddle_run_state *r)
{
    const saddle_instance *e = r->info.instance;
    bool always = r->info.algorithm->traits.feasible;
    double bound = saddle_instance_least_self_weight(e);
    /* Weights are rounded to 40 bits, so that a weight of 1/10 may be a little less. */
    double allowed = bound * (1.0 + 1e-11);
    bool x_safe = always || r->info.steps.nu <= allowed || saddle_set_is_whole_space(e->x_set);
    bool y_safe = always || r->info.steps.eta <= allowed || saddle_set_is_whole_space(e->y_set);
    if (x_safe && y_safe)
        return true;
    const char *where = x_safe ? "Y" : y_safe ? "X" : "X and Y";
    char what[64];
    if (x_safe || y_safe)
        saddle_snprintf(what, sizeof what, "--%s: %.6g is", x_safe ? "eta" : "nu",
                        x_safe ? r->info.steps.eta : r->info.steps.nu);
    else
        saddle_snprintf(what, sizeof what, "--nu: %.6g, and --eta, %.6g, are", r->info.steps.nu,
                        r->info.steps.eta);
    saddle_run_warn(r,
                    "%s above %.6g, the smallest diagonal entry of the mixing matrix, so iterates "
                    "may leave %s",
                    what, bound, where);
    return false;
}

saddle_engine_inputs saddle_run_engine_inputs(const saddle_run_state *r)
{
    return (saddle_engine_inputs){
        .instance = r->info.instance,
        .problem = r->objective != NULL ? saddle_run_objective_problems(r->objective) : NULL,
        .algorithm = r->info.algorithm,
        .parameters = r->parameters,
        .link_model = r->link_model,
        .threads = (unsigned)r->given.engine.threads,
        .pin = r->given.engine.pin,
        .row_clip = r->given.privacy.row_clip,
        .row_noise = r->given.privacy.row_noise,
        .scratch = saddle_observer_scratch(r->info.instance),
    };
}

static saddle_status make_engine(saddle_run_state *r, saddle_error *error)
{
    saddle_engine_inputs inputs = saddle_run_engine_inputs(r);
    if (r->resumed.from != NULL) {
        inputs.iteration = r->resumed.from->number.iteration;
        inputs.restore = saddle_resume_agent;
        inputs.link_record = saddle_resume_links;
        inputs.restore_context = &r->resumed;
    }
    double begin = saddle_clock_seconds();
    saddle_status status = r->info.network->parts->engine->create(&r->engine, &inputs, error);
    r->unshared = saddle_clock_seconds() - begin;
    return status;
}

static saddle_status make_observer(saddle_run_state *r, saddle_error *error)
{
    saddle_observer_inputs inputs = {
        .engine = r->engine,
        .instance = r->info.instance,
        .algorithm = r->info.algorithm,
        .layout = &r->layout,
        .steps = r->info.steps,
        .metric_tau = r->result->plan.outputs.metric_tau,
        .metric_direction = r->result->plan.outputs.metric_direction,
        /* The theorem about the potential needs bounds, not estimates. */
        .potential = r->info.algorithm->traits.potential && !r->info.instance->constants.estimated,
        .feasible = stays_feasible(r),
        .gap = r->given.outputs.gap != SADDLE_GAP_NEVER || r->given.outputs.gap_parts,
    };
    saddle_status status = saddle_observer_create(&r->observer, &inputs, error);
    if (status == SADDLE_OK && r->resumed.from != NULL)
        saddle_observer_recall(r->observer, r->resumed.memory);
    return status;
}

static saddle_status make_outcomes(saddle_run_state *r, saddle_error *error)
{
    const saddle_checkpoint *from = r->resumed.from;
    const saddle_outcomes_inputs inputs = {.network = r->info.network,
                                           .instance = r->info.instance,
                                           .algorithm = r->info.algorithm,
                                           .engine = r->engine,
                                           .shard = r->info.network->parts->shard,
                                           .per_agent = r->given.outputs.outcomes_per_agent,
                                           .result = r->result};
    if (r->info.network->problem->outcomes == NULL)
        return SADDLE_OK;
    SADDLE_TRY(saddle_outcomes_create(&r->outcomes, &inputs, error));
    if (from != NULL)
        saddle_outcomes_recall(r->outcomes, from->outcome, (size_t)from->number.outcomes);
    return SADDLE_OK;
}

/* Rows of a mini-batch smaller than this can be reconstructed from two messages on a desktop
 * computer: docs/privacy.md. */
enum { PRIVATE_BATCH = 64 };

/* Warns if messages to other processes are sums over so few rows that single rows can be
 * reconstructed. */
static void warn_of_small_batches(const saddle_run_state *r)
{
    const saddle_instance *e = r->info.network;
    const saddle_problem_choice *choice = &e->parts->choice;
    const char *data = e->plan->problem.data;
    bool generated = e->plan->problem.rows == NULL && e->plan->problem.shards == NULL &&
                     data != NULL && saddle_data_is_generated(data);
    bool has_data =
        choice->kind == NULL || choice->plugin != NULL || (e->parts->shard != NULL && !generated);
    if (e->world->ranks < 2 || !has_data || e->problem->agents == 0)
        return;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < e->problem->agents; i++) {
        size_t rows = e->problem->samples[i];
        if (r->info.algorithm->traits.stochastic)
            rows = saddle_batch_size(rows, r->info.steps.batch);
        least = rows < least ? rows : least;
    }
    if (least < PRIVATE_BATCH)
        saddle_run_warn(
            r,
            "gradients over %zu sample%s are sent to other processes, which can reconstruct "
            "rows of private data from sums of fewer than %d",
            least, SADDLE_PLURAL(least), PRIVATE_BATCH);
}

/* Starts watching for processes that do not respond. Until this run writes a checkpoint, the one
 * to resume from is that of the previous run. */
static void watch_processes(const saddle_run_state *r)
{
    const saddle_instance *network = r->info.network;
    const char *checkpoint = r->resumed.from != NULL ? r->resumed.from->path : NULL;
    if (!saddle_engine_watch(network->parts->engine, network->world,
                             network->plan->engine.stall_seconds, checkpoint))
        saddle_run_warn(r, "processes that do not respond will not be detected, because MPI was "
                           "initialized without MPI_THREAD_MULTIPLE");
}

bool saddle_run_is_identified(const saddle_run_state *r)
{
    return r->given.outputs.trace != NULL || r->given.outputs.checkpoint != NULL ||
           r->resumed.from != NULL;
}

/* Computes the fingerprint of everything that the run reads. */
static saddle_status fingerprint(const saddle_run_state *r, uint64_t *out, saddle_error *error)
{
    SADDLE_TRY(saddle_fingerprint_run(r->info.network, r->link_model, out, error));
    return saddle_plan_add_contents(r->info.plan, out, error);
}

saddle_status saddle_run_prepare(saddle_run_state *r, saddle_error *error)
{
    const saddle_world *world = r->info.network->world;
    saddle_status status = saddle_compare_plans(world, &r->given, error);
    status = saddle_run_agree(r, status, error);
    SADDLE_THEN(status, saddle_resume_open(&r->resumed, &r->given, world, error));
    if (status == SADDLE_OK && r->resumed.refused != NULL)
        saddle_run_warn(r, "%s", r->resumed.refused);
    SADDLE_THEN(status,
                saddle_run_agree(r, saddle_resume_directory(&r->resumed, &r->given, error), error));
    if (status == SADDLE_OK)
        watch_processes(r);
    SADDLE_THEN(status, saddle_run_agree(r, configure_run(r, error), error));
    if (status == SADDLE_OK) {
        share_link_model(r);
        warn_of_small_batches(r);
        saddle_run_warn_of_no_guarantee(r);
        saddle_run_warn_of_late_events(r);
        saddle_run_warn_of_privacy(r);
        status = saddle_run_agree(r, saddle_run_warn_of_separation(r, error), error);
    }
    if (status == SADDLE_OK && r->alone && r->hooks->warning != NULL)
        saddle_report_unused(&r->given, r->info.network, &r->info.algorithm, 1, r->hooks->warning,
                             r->hooks->context);
    SADDLE_THEN_IF(status, saddle_run_is_identified(r),
                   saddle_run_agree(r, fingerprint(r, &r->info.fingerprint, error), error));
    if (status == SADDLE_OK) /* other processes may have other parts of a plug-in's files */
        world->share(world, 0, sizeof r->info.fingerprint, &r->info.fingerprint);
    SADDLE_THEN(status, saddle_resume_load(&r->resumed, &r->info, error));
    uint64_t begin = r->resumed.from != NULL ? r->resumed.from->number.iteration : 0;
    SADDLE_THEN_IF(status, r->objective != NULL,
                   saddle_run_objective_begin(r->objective, begin, r->layout.rounds, error));
    SADDLE_THEN(status, saddle_run_agree(r, make_engine(r, error), error));
    SADDLE_THEN(status, saddle_checkpoint_writer_create(&r->writer, &r->info, r->engine,
                                                        &r->resumed, error));
    SADDLE_THEN(status, saddle_run_agree(r, make_observer(r, error), error));
    SADDLE_THEN(status, saddle_run_agree(r, make_outcomes(r, error), error));
    if (status != SADDLE_OK)
        return status;
    r->info.resumed = r->resumed.from != NULL ? r->resumed.from->path : NULL;
    r->info.start = r->engine->kind->iteration(r->engine);
    return SADDLE_OK;
}

void saddle_run_release(saddle_run_state *r)
{
    saddle_outcomes_free(r->outcomes);
    saddle_observer_free(r->observer);
    saddle_checkpoint_writer_free(r->writer);
    saddle_resume_close(&r->resumed);
    if (r->engine != NULL)
        r->engine->kind->destroy(r->engine);
    if (r->parameters != NULL && r->info.algorithm->release != NULL)
        r->info.algorithm->release(r->parameters);
    saddle_free(r->parameters);
    saddle_link_model_free(r->link_model);
    saddle_algorithm_release(r->choice);
    saddle_instance_free(r->pooled);
    saddle_run_objective_free(r->objective);
    saddle_plan_free(&r->given);
}

/* ---- the plan -------------------------------------------------------------------------------- */

saddle_status saddle_run_take_plan(saddle_run_state *r, const saddle_plan *plan,
                                   saddle_error *error)
{
    SADDLE_TRY(saddle_plan_copy(&r->given, plan, error));
    if (plan->limits.max_ifo > 0 && !SADDLE_GIVEN(&r->given, limits.iterations))
        r->given.limits.iterations = SADDLE_UNLIMITED_ITERATIONS;
    return SADDLE_OK;
}

/* ---- forecasts ------------------------------------------------------------------------------- */

saddle_status saddle_run_forecast(const saddle_instance *instance, const saddle_plan *plan,
                                  saddle_forecast *out, saddle_error *error)
{
    static const saddle_hooks no_hooks = {.context = NULL};
    saddle_run_state r = {.info = {.network = instance, .given = &r.given}, .hooks = &no_hooks};
    memset(out, 0, sizeof *out);
    saddle_status status = saddle_run_take_plan(&r, plan, error);
    SADDLE_THEN(status, configure_run(&r, error));
    SADDLE_THEN_IF(status, instance->parts->fingerprint != 0,
                   fingerprint(&r, &out->fingerprint, error));
    if (status == SADDLE_OK) {
        out->feasible = stays_feasible(&r);
        out->most_ifo =
            saddle_algorithm_most_ifo(r.info.algorithm, r.parameters, r.info.instance->problem);
        out->plan = r.result->plan;
        r.result->plan.settings = NULL;
    }
    saddle_result_free(r.result);
    saddle_run_release(&r);
    return status;
}
