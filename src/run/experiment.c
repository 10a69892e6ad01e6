/* Setting up an experiment: data, network, problem, sets, starting point, in that order. */
#include "run/experiment.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "problems/pooled.h"

/* The text of an option, or `other` when it is "auto" or empty. */
static const char *text_or(const saddle_settings *settings, const char *name, const char *other)
{
    const char *text = saddle_settings_text(settings, name);
    return saddle_settings_auto(settings, name) || *text == '\0' ? other : text;
}

/* Ask the engine who takes part and which agents are where. */
static saddle_status make_world(saddle_experiment *e, saddle_error *error)
{
    const saddle_engine_class *engine;
    saddle_status status =
        saddle_engine_find(&engine, saddle_settings_text(e->settings, "engine"), error);
    if (status != SADDLE_OK)
        return status;
    return engine->meet != NULL ? engine->meet(&e->world, e->graph, error)
                                : saddle_world_alone(&e->world, e->graph->agents, error);
}

static saddle_status make_network(saddle_experiment *e, const saddle_problem *given,
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
    saddle_status status = saddle_graph_create(&e->graph, topology, agents,
                                               saddle_settings_integer(settings, "seed"), error);
    if (status == SADDLE_OK)
        status = make_world(e, error);
    if (status != SADDLE_OK)
        return status;
    status =
        saddle_mixing_create(&e->mixing, e->graph, saddle_settings_text(settings, "mixing"), error);
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

static saddle_data_options data_options(const saddle_settings *settings)
{
    return (saddle_data_options){
        .format = text_or(settings, "format", NULL),
        .label_column = saddle_settings_text(settings, "label-column"),
        .labels = text_or(settings, "labels", NULL),
        .threads = (int)saddle_settings_integer(settings, "threads"),
    };
}

/* ROWS of synthetic[:ROWS[:FEATURES]]; false for another name. */
static bool synthetic_rows(const char *name, uint64_t *rows)
{
    saddle_fields fields;
    if (!saddle_split(&fields, name) || strcmp(fields.field[0], "synthetic") != 0)
        return false;
    *rows = SADDLE_SYNTHETIC_ROWS;
    return fields.count < 2 || saddle_parse_integer(fields.field[1], rows);
}

/* Held-out rows of the generator: those that follow the agents', from the same model. Another seed
 * would make another model, of which the agents' data say nothing. */
static saddle_status generate_held_out(saddle_experiment *e, uint64_t rows, saddle_error *error)
{
    uint64_t taken = 0;
    const char *name = saddle_settings_text(e->settings, "data");
    if (!synthetic_rows(name, &taken))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--test-data: synthetic rows go with --data synthetic, not with '%s'",
                           name);
    saddle_dataset *all = NULL;
    size_t *row = saddle_alloc((size_t)rows, sizeof *row);
    if (row == NULL) {
        saddle_no_memory(error, "the held-out rows");
        return SADDLE_NO_MEMORY;
    }
    for (size_t k = 0; k < rows; k++)
        row[k] = (size_t)taken + k;
    saddle_status status =
        saddle_dataset_generate(&all, (size_t)(taken + rows), e->shard[0]->features,
                                saddle_settings_integer(e->settings, "seed"), error);
    if (status == SADDLE_OK)
        status = saddle_dataset_select(&e->held_out, all, row, (size_t)rows, error);
    saddle_dataset_free(all);
    saddle_free(row);
    return status;
}

/* Load the held-out rows, with as many features as the agents' data. */
static saddle_status make_held_out(saddle_experiment *e, saddle_error *error)
{
    const char *name = saddle_settings_text(e->settings, "test-data");
    uint64_t rows = 0;
    if (*name == '\0')
        return SADDLE_OK;
    if (e->shard == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--test-data: problem %s is not made from data; leave it out",
                           saddle_settings_text(e->settings, "problem"));
    saddle_data_options options = data_options(e->settings);
    /* The label file of --labels belongs to --data. */
    options.labels = NULL;
    options.features = e->shard[0]->features;
    saddle_status status = synthetic_rows(name, &rows) && rows > 0
                               ? generate_held_out(e, rows, error)
                               : saddle_dataset_load(&e->held_out, name, &options, 0, error);
    if (status == SADDLE_OK)
        status =
            saddle_dataset_label(e->held_out, saddle_settings_text(e->settings, "positive"), error);
    if (status == SADDLE_OK && e->held_out->features != e->shard[0]->features)
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "--test-data: '%s' has %zu features, but --data has %zu; give rows of "
                             "the same kind",
                             name, e->held_out->features, e->shard[0]->features);
    return status;
}

/* Make labels +1 and -1, and --positive the list in use: held-out rows follow it, and the model's user
 * after the run. */
static saddle_status label(saddle_experiment *e, saddle_dataset *data, saddle_error *error)
{
    char *rule = NULL;
    saddle_status status =
        saddle_dataset_positive(data, text_or(e->settings, "positive", NULL), &rule, error);
    if (status == SADDLE_OK)
        status = saddle_dataset_make_binary(data, rule, error);
    if (status == SADDLE_OK)
        status = saddle_settings_set(e->settings, "positive", rule, error);
    saddle_free(rule);
    return status;
}

/* Load the data and give every agent its rows. */
static saddle_status make_shards(saddle_experiment *e, saddle_error *error)
{
    const saddle_settings *settings = e->settings;
    uint64_t seed = saddle_settings_integer(settings, "seed");
    saddle_data_options options = data_options(settings);
    saddle_dataset *data = NULL;
    saddle_partition *partition = NULL;
    saddle_status status =
        saddle_dataset_load(&data, saddle_settings_text(settings, "data"), &options, seed, error);
    if (status == SADDLE_OK)
        status = label(e, data, error);
    if (status == SADDLE_OK)
        status = saddle_partition_create(
            &partition, data, saddle_settings_text(settings, "partition"), e->graph->agents,
            saddle_settings_text(settings, "samples"), seed, error);
    if (status == SADDLE_OK) {
        e->shard = saddle_alloc(e->graph->agents, sizeof(saddle_dataset *));
        if (e->shard == NULL)
            status = saddle_no_memory(error, "the agents' data");
    }
    for (size_t i = 0; status == SADDLE_OK && i < e->graph->agents; i++)
        status = saddle_dataset_select(&e->shard[i], data, partition->row + partition->start[i],
                                       partition->start[i + 1] - partition->start[i], error);
    saddle_partition_free(partition);
    saddle_dataset_free(data);
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

static saddle_status make_problem(saddle_experiment *e, const saddle_problem *given,
                                  saddle_error *error)
{
    if (given != NULL) {
        e->problem = given;
        return saddle_problem_check(given, error);
    }
    saddle_status status = find_kind(e, error);
    if (status != SADDLE_OK)
        return status;
    const saddle_problem_class *kind = e->kind;
    if (!kind->needs_data && saddle_settings_given(e->settings, "data"))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--data: problem %s makes its own instance; leave --data out",
                           kind->name);
    if (kind->needs_data)
        status = make_shards(e, error);
    if (status == SADDLE_OK)
        status = make_held_out(e, error);
    if (status != SADDLE_OK)
        return status;
    saddle_problem_inputs inputs = {.settings = e->settings,
                                    .agents = e->graph->agents,
                                    .shard = e->shard,
                                    .seed = saddle_settings_integer(e->settings, "seed"),
                                    .mixing = e->mixing,
                                    .world = e->world};
    status = e->plugin != NULL ? saddle_plugin_instance(e->plugin, &e->own_problem, &inputs, error)
                               : kind->create(&e->own_problem, &inputs, error);
    if (status != SADDLE_OK)
        return status;
    e->problem = e->own_problem;
    if (e->held_out != NULL && e->problem->outcomes == NULL)
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "--test-data: problem %s reports no outcomes; leave it out, and give the "
            "model to `saddle eval`",
            kind->name);
    return saddle_problem_check(e->problem, error);
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
        problem->constants(problem, e->x_set, e->y_set, &e->constants);
    return status;
}

saddle_status saddle_experiment_create(saddle_experiment **out, const saddle_settings *settings,
                                       const saddle_problem *problem, saddle_error *error)
{
    *out = NULL;
    saddle_experiment *e = saddle_alloc(1, sizeof *e);
    if (e == NULL)
        return saddle_no_memory(error, "the experiment");
    saddle_status status = saddle_settings_copy(&e->settings, settings, error);
    if (status == SADDLE_OK)
        status = make_network(e, problem, error);
    if (status == SADDLE_OK)
        status = make_problem(e, problem, error);
    if (status == SADDLE_OK)
        status = make_sets(e, error);
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
        out->problem->constants(out->problem, e->x_set, e->y_set, &out->constants);
    return SADDLE_OK;
}

size_t saddle_experiment_features(const saddle_experiment *e)
{
    return e->shard != NULL ? e->shard[e->world->here[0]]->features : 0;
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
