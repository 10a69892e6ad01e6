/* Setting up an experiment: data, network, problem, sets, starting point, in that order. */
#include "instance/experiment.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/rounding.h"
#include "core/status.h"
#include "core/text.h"
#include "instance/fingerprint.h"
#include "problems/pooled.h"

/* The text of an option, or `other` when it is "auto" or empty. */
static const char *text_or(const saddle_settings *settings, const char *name, const char *other)
{
    const char *text = saddle_settings_text(settings, name);
    return saddle_settings_auto(settings, name) || *text == '\0' ? other : text;
}

/* FNV-1a. */
static uint64_t digest(const char *text)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++)
        sum = (sum ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return sum;
}

/* The first option whose value differs from process 0's; NULL: none. `sum` has room for one number
 * per option. */
static const char *differing(const saddle_world *world, const saddle_settings *settings,
                             uint64_t *sum)
{
    size_t count = saddle_settings_count(settings);
    for (size_t k = 0; k < count; k++)
        sum[k] = digest(saddle_settings_text(settings, saddle_settings_option(settings, k)->name));
    world->share(world, 0, count * sizeof *sum, sum);
    for (size_t k = 0; k < count; k++) {
        const char *name = saddle_settings_option(settings, k)->name;
        /* How many threads a process has is its own affair. */
        if (strcmp(name, "threads") != 0 && sum[k] != digest(saddle_settings_text(settings, name)))
            return name;
    }
    return NULL;
}

saddle_status saddle_same_settings(const saddle_world *world, const saddle_settings *settings,
                                   saddle_error *error)
{
    if (world->ranks == 1)
        return SADDLE_OK;
    uint64_t *sum = saddle_alloc(saddle_settings_count(settings), sizeof *sum);
    saddle_status status = sum != NULL ? SADDLE_OK : saddle_no_memory(error, "the settings");
    status = saddle_world_agree(world, status, error);
    if (sum != NULL && status == SADDLE_OK) {
        const char *name = differing(world, settings, sum);
        if (name != NULL)
            status =
                saddle_fail(error, SADDLE_BAD_INPUT,
                            "--%s: process %zu has '%s', which is not what process 0 has; give "
                            "all processes the same options and the same files",
                            name, world->rank, saddle_settings_text(settings, name));
        status = saddle_world_agree(world, status, error);
    }
    saddle_free(sum);
    return status;
}

/* The eigenvalues that process 0 found, without the last bits, in which LAPACK may differ from run to
 * run: step sizes are made from them. */
static void share_spectrum(const saddle_world *world, saddle_spectrum *spectrum)
{
    double number[] = {
        saddle_round_significant(spectrum->lambda2), saddle_round_significant(spectrum->lambda_m),
        saddle_round_significant(spectrum->lambda), saddle_round_significant(spectrum->gap)};
    world->share(world, 0, sizeof number, number);
    spectrum->lambda2 = number[0];
    spectrum->lambda_m = number[1];
    spectrum->lambda = number[2];
    spectrum->gap = number[3];
}

/* Mixing weights and their spectrum. */
static saddle_status make_mixing(saddle_experiment *e, saddle_error *error)
{
    saddle_status status = saddle_mixing_create(&e->mixing, e->graph,
                                                saddle_settings_text(e->settings, "mixing"), error);
    if (status != SADDLE_OK)
        return status;
    saddle_error unknown;
    status = saddle_mixing_spectrum(e->mixing, &e->spectrum, &unknown);
    if (status == SADDLE_NUMERIC) {
        /* Only the theory needs it: a run goes on without. */
        e->spectrum = (saddle_spectrum){.lambda2 = NAN, .lambda_m = NAN, .lambda = NAN, .gap = NAN};
        e->spectrum.method = "unknown";
        return SADDLE_OK;
    }
    if (status != SADDLE_OK && error != NULL)
        *error = unknown;
    return status;
}

static saddle_status make_graph(saddle_experiment *e, const saddle_problem *given,
                                saddle_error *error)
{
    const saddle_settings *settings = e->settings;
    const char *topology = saddle_settings_text(settings, "topology");
    size_t agents = (size_t)saddle_settings_integer(settings, "agents");
    if (given != NULL && agents != 0 && agents != given->agents)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--agents: %zu differs from the %zu agents of problem %s; leave it out",
                           agents, given->agents, given->name);
    if (given != NULL)
        agents = given->agents;
    if (agents == 0 && !saddle_topology_sets_agents(topology))
        agents = SADDLE_DEFAULT_AGENTS;
    return saddle_graph_create(&e->graph, topology, agents,
                               saddle_settings_integer(settings, "seed"), error);
}

/* Make the graph, the same in all processes: who holds which agent follows from it. */
static saddle_status agree_on_graph(saddle_experiment *e, const saddle_problem *given,
                                    saddle_error *error)
{
    saddle_world *all;
    uint64_t fingerprint = 0;
    saddle_status status = saddle_engine_meet(e->engine, &all, NULL, error);
    if (status != SADDLE_OK)
        return status;
    status = saddle_same_settings(all, e->settings, error);
    if (status == SADDLE_OK)
        status = saddle_world_agree(all, make_graph(e, given, error), error);
    if (status == SADDLE_OK && all->ranks > 1) {
        bool taken = saddle_fingerprint_graph(e->graph, &fingerprint);
        status = saddle_same_contents(all, "topology", e->graph->text, taken, fingerprint, error);
    }
    saddle_world_free(all);
    return status;
}

static saddle_status agree_on_mixing(saddle_experiment *e, saddle_error *error)
{
    uint64_t fingerprint = 0;
    saddle_status status = saddle_world_agree(e->world, make_mixing(e, error), error);
    if (status != SADDLE_OK || e->world->ranks == 1)
        return status;
    bool taken = saddle_fingerprint_mixing(e->mixing, &fingerprint);
    return saddle_same_contents(e->world, "mixing", e->mixing->text, taken, fingerprint, error);
}

static saddle_status make_network(saddle_experiment *e, const saddle_problem *given,
                                  saddle_error *error)
{
    saddle_status status = agree_on_graph(e, given, error);
    if (status == SADDLE_OK)
        status = saddle_engine_meet(e->engine, &e->world, e->graph, error);
    if (status == SADDLE_OK)
        status = agree_on_mixing(e, error);
    if (status == SADDLE_OK)
        share_spectrum(e->world, &e->spectrum);
    return status;
}

/* What --problem names: a shared object by its path, or a kind that is built in. */
static saddle_status find_kind(saddle_experiment *e, saddle_error *error)
{
    const char *text = saddle_settings_text(e->settings, "problem");
    size_t length = strcspn(text, ":");
    if (saddle_plugin_named(text)) {
        saddle_status status = saddle_plugin_open(&e->plugin, text, error);
        if (status == SADDLE_OK)
            e->kind = saddle_plugin_kind(e->plugin);
        return status;
    }
    if (length > 3 && strncmp(text + length - 3, ".so", 3) == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--problem: '%s' has no directory in it, and shared objects are not "
                           "searched for; give a path such as ./%s",
                           text, text);
    return saddle_problem_find(&e->kind, text, error);
}

/* The data of a problem that is made here, if it needs any. Collective. */
static saddle_status make_data(saddle_experiment *e, saddle_error *error)
{
    const saddle_problem_class *kind = e->kind;
    saddle_status status = SADDLE_OK;
    if (!kind->needs_data && saddle_settings_given(e->settings, "data"))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--data: problem %s makes its own instance; leave --data out",
                           kind->name);
    if (kind->needs_data)
        status = saddle_make_shards(e, error);
    if (status == SADDLE_OK)
        status = saddle_make_held_out(e, error);
    return status;
}

static saddle_status make_instance(saddle_experiment *e, saddle_error *error)
{
    saddle_problem_inputs inputs = {.settings = e->settings,
                                    .agents = e->graph->agents,
                                    .features = e->features,
                                    .samples = e->samples,
                                    .shard = e->shard,
                                    .seed = saddle_settings_integer(e->settings, "seed"),
                                    .mixing = e->mixing,
                                    .world = e->world};
    return e->plugin != NULL ? saddle_plugin_instance(e->plugin, &e->own_problem, &inputs, error)
                             : e->kind->create(&e->own_problem, &inputs, error);
}

static saddle_status make_problem(saddle_experiment *e, const saddle_problem *given,
                                  saddle_error *error)
{
    if (given != NULL) {
        e->problem = given;
        return saddle_world_agree(e->world, saddle_problem_check(given, error), error);
    }
    saddle_status status = saddle_world_agree(e->world, find_kind(e, error), error);
    if (status == SADDLE_OK)
        status = make_data(e, error);
    if (status == SADDLE_OK)
        status = saddle_world_agree(e->world, make_instance(e, error), error);
    if (status != SADDLE_OK)
        return status;
    e->problem = e->own_problem;
    if (*saddle_settings_text(e->settings, "test-data") != '\0' && e->problem->outcomes == NULL)
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "--test-data: problem %s reports no outcomes; leave it out, and give the "
            "model to `saddle eval`",
            e->kind->name);
    return saddle_world_agree(e->world, saddle_problem_check(e->problem, error), error);
}

static saddle_status make_sets(saddle_experiment *e, saddle_error *error)
{
    const saddle_problem *problem = e->problem;
    const char *x_set = problem->x_set != NULL ? problem->x_set : "none";
    const char *y_set = problem->y_set != NULL ? problem->y_set : "none";
    saddle_status status =
        saddle_set_create(&e->x_set, text_or(e->settings, "x-set", x_set), problem->x_dim, error);
    if (status == SADDLE_OK)
        status = saddle_set_create(&e->y_set, text_or(e->settings, "y-set", y_set), problem->y_dim,
                                   error);
    if (status == SADDLE_OK)
        status = saddle_regularizer_create(&e->regularizer,
                                           saddle_settings_text(e->settings, "regularizer"),
                                           problem->x_dim, error);
    if (status == SADDLE_OK)
        status = saddle_prox_create(&e->x_prox, e->x_set, e->regularizer, error);
    if (status == SADDLE_OK && problem->constants != NULL)
        status = problem->constants(problem, e->x_set, e->y_set, &e->constants, error);
    return status;
}

saddle_status saddle_experiment_create_on(saddle_experiment **out,
                                          const saddle_engine_class *engine,
                                          const saddle_settings *settings,
                                          const saddle_problem *problem, saddle_error *error)
{
    *out = NULL;
    saddle_experiment *e = saddle_alloc(1, sizeof *e);
    if (e == NULL)
        return saddle_no_memory(error, "the experiment");
    e->engine = engine;
    saddle_status status = saddle_settings_copy(&e->settings, settings, error);
    if (status == SADDLE_OK)
        status = make_network(e, problem, error);
    if (status == SADDLE_OK)
        status = make_problem(e, problem, error);
    if (status == SADDLE_OK)
        status = saddle_world_agree(e->world, make_sets(e, error), error);
    if (status == SADDLE_OK)
        status = saddle_make_start(e, error);
    if (status == SADDLE_OK)
        status = saddle_problem_estimate_constants(e->problem, e->x_set, e->y_set, e->x0, e->y0,
                                                   saddle_settings_integer(e->settings, "seed"),
                                                   &e->constants, error);
    if (status != SADDLE_OK) {
        saddle_experiment_free(e);
        return status;
    }
    *out = e;
    return SADDLE_OK;
}

saddle_status saddle_experiment_create(saddle_experiment **out, const saddle_settings *settings,
                                       const saddle_problem *problem, saddle_error *error)
{
    *out = NULL;
    const saddle_engine_class *engine;
    saddle_status status =
        saddle_engine_find(&engine, saddle_settings_text(settings, "engine"), error);
    return status == SADDLE_OK ? saddle_experiment_create_on(out, engine, settings, problem, error)
                               : status;
}

void saddle_experiment_free(saddle_experiment *e)
{
    if (e == NULL)
        return;
    saddle_mixing_free(e->pooled_mixing);
    saddle_graph_free(e->pooled_graph);
    saddle_world_free(e->pooled_world);
    saddle_problem_free(e->pooled_problem);
    saddle_problem_free(e->own_problem);
    saddle_plugin_close(e->plugin);
    for (size_t i = 0; e->shard != NULL && i < e->graph->agents; i++)
        saddle_dataset_free(e->shard[i]);
    saddle_free(e->shard);
    saddle_free(e->samples);
    saddle_dataset_free(e->held_out);
    saddle_prox_free(e->x_prox);
    saddle_regularizer_free(e->regularizer);
    saddle_set_free(e->x_set);
    saddle_set_free(e->y_set);
    saddle_mixing_free(e->mixing);
    saddle_world_free(e->world);
    saddle_graph_free(e->graph);
    saddle_free(e->x0);
    saddle_free(e->y0);
    saddle_settings_free(e->settings);
    saddle_free(e);
}

static saddle_status make_pool(saddle_experiment *e, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    if (e->pooled_problem == NULL)
        status = saddle_pooled_create(&e->pooled_problem, e->problem, error);
    if (status == SADDLE_OK && e->pooled_graph == NULL)
        status = saddle_graph_create(&e->pooled_graph, "complete", 1, 0, error);
    if (status == SADDLE_OK && e->pooled_world == NULL)
        status = saddle_world_alone(&e->pooled_world, 1, error);
    if (status == SADDLE_OK && e->pooled_mixing == NULL)
        status = saddle_mixing_create(&e->pooled_mixing, e->pooled_graph, "metropolis", error);
    return status;
}

saddle_status saddle_experiment_scene(saddle_experiment *e, bool centralized, saddle_scene *out,
                                      saddle_error *error)
{
    *out = (saddle_scene){.world = e->world,
                          .problem = e->problem,
                          .mixing = e->mixing,
                          .spectrum = e->spectrum,
                          .constants = e->constants,
                          .copies = 1};
    if (!centralized || e->problem->agents == 1)
        return SADDLE_OK;
    saddle_status status = make_pool(e, error);
    if (status != SADDLE_OK)
        return status;
    out->world = e->pooled_world;
    out->problem = e->pooled_problem;
    out->mixing = e->pooled_mixing;
    out->spectrum = (saddle_spectrum){.gap = 1.0, .method = "closed form"};
    out->copies = e->problem->agents;
    /* Unequal sizes make some samples heavier in the pool than at their agents. */
    if (out->problem->constants != NULL && !out->constants.estimated)
        status = out->problem->constants(out->problem, e->x_set, e->y_set, &out->constants, error);
    return status;
}

size_t saddle_experiment_features(const saddle_experiment *e)
{
    return e->features;
}

bool saddle_experiment_shaped_by(const saddle_experiment *e, const char *name)
{
    static const char *const group[] = {"Problem and data", "Network", "Start"};
    const saddle_option *option = saddle_settings_find(e->settings, name);
    for (size_t k = 0; option != NULL && k < sizeof group / sizeof *group; k++)
        if (strcmp(option->group, group[k]) == 0)
            return true;
    for (size_t k = 0; e->kind != NULL && e->kind->options[k] != NULL; k++)
        if (strcmp(e->kind->options[k]->name, name) == 0)
            return true;
    return strcmp(name, "engine") == 0;
}

size_t saddle_experiment_most_samples(const saddle_experiment *e)
{
    size_t most = 0;
    for (size_t i = 0; i < e->problem->agents; i++)
        most = e->problem->samples[i] > most ? e->problem->samples[i] : most;
    return most;
}

const saddle_mixing *saddle_experiment_mixing(const saddle_experiment *experiment)
{
    return experiment->mixing;
}

const saddle_problem *saddle_experiment_problem(const saddle_experiment *experiment)
{
    return experiment->problem;
}

const saddle_world *saddle_experiment_world(const saddle_experiment *experiment)
{
    return experiment->world;
}

const saddle_problem_class *saddle_experiment_kind(const saddle_experiment *experiment)
{
    return experiment->kind;
}

const saddle_prox *saddle_experiment_x(const saddle_experiment *experiment)
{
    return experiment->x_prox;
}

const saddle_set *saddle_experiment_y(const saddle_experiment *experiment)
{
    return experiment->y_set;
}

saddle_constants saddle_experiment_constants(const saddle_experiment *experiment)
{
    return experiment->constants;
}

saddle_spectrum saddle_experiment_spectrum(const saddle_experiment *experiment)
{
    return experiment->spectrum;
}
