/*
 * The agents' data: each process keeps the rows of its own agents and nothing of the others'.
 *
 * From one file: every process reads all of it, because which rows an agent gets depends on all of
 * them, and keeps its own. From one file per agent ('part-%d.libsvm'): a file is opened only where
 * its agent is; what processes then tell each other are numbers of rows and features and the
 * distinct labels. Held-out rows are for process 0 alone.
 */
#include <string.h>

#include "core/memory.h"
#include "core/settings.h"
#include "core/status.h"
#include "core/text.h"
#include "data/dataset.h"
#include "instance/experiment.h"
#include "instance/fingerprint.h"
#include "instance/samples.h"

/* What stands for an agent's number in --data. */
#define NUMBER "%d"
/* An agent with more different labels has measurements rather than labels. */
#define MOST_LABELS 10000

static const char *positive_labels(const saddle_experiment *e)
{
    const char *text = saddle_settings_text(e->settings, "positive");
    return *text != '\0' ? text : NULL;
}

static saddle_data_options data_options(const saddle_settings *settings)
{
    const char *labels = saddle_settings_text(settings, "labels");
    return (saddle_data_options){
        .format = saddle_settings_auto(settings, "format")
                      ? NULL
                      : saddle_settings_text(settings, "format"),
        .label_column = saddle_settings_text(settings, "label-column"),
        .labels = *labels != '\0' ? labels : NULL,
        .threads = (int)saddle_settings_integer(settings, "threads"),
    };
}

/* ---- held-out rows --------------------------------------------------------------------------- */

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
        saddle_dataset_generate(&all, (size_t)(taken + rows), e->features,
                                saddle_settings_integer(e->settings, "seed"), error);
    if (status == SADDLE_OK)
        status = saddle_dataset_select(&e->held_out, all, row, (size_t)rows, error);
    saddle_dataset_free(all);
    saddle_free(row);
    return status;
}

static saddle_status load_held_out(saddle_experiment *e, const char *name, saddle_error *error)
{
    uint64_t rows = 0;
    saddle_data_options options = data_options(e->settings);
    /* The label file of --labels belongs to --data. */
    options.labels = NULL;
    options.features = e->features;
    saddle_status status = synthetic_rows(name, &rows) && rows > 0
                               ? generate_held_out(e, rows, error)
                               : saddle_dataset_load(&e->held_out, name, &options, 0, error);
    if (status == SADDLE_OK)
        status =
            saddle_dataset_label(e->held_out, saddle_settings_text(e->settings, "positive"), error);
    if (status == SADDLE_OK && e->held_out->features != e->features)
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "--test-data: '%s' has %zu features, but --data has %zu; give rows of "
                             "the same kind",
                             name, e->held_out->features, e->features);
    return status;
}

saddle_status saddle_make_held_out(saddle_experiment *e, saddle_error *error)
{
    const char *name = saddle_settings_text(e->settings, "test-data");
    if (*name == '\0')
        return SADDLE_OK;
    if (e->shard == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--test-data: problem %s is not made from data; leave it out",
                           saddle_settings_text(e->settings, "problem"));
    saddle_status status = e->world->rank == 0 ? load_held_out(e, name, error) : SADDLE_OK;
    return saddle_world_agree(e->world, status, error);
}

/* ---- one file -------------------------------------------------------------------------------- */

static saddle_status check_same(const saddle_world *world, const saddle_dataset *data,
                                saddle_error *error)
{
    uint64_t fingerprint = 0;
    if (world->ranks == 1)
        return SADDLE_OK;
    bool taken = saddle_fingerprint_data(data, &fingerprint);
    return saddle_same_contents(world, "data", data->name, taken, fingerprint, error);
}

/* Keep the rows of the agents here. */
static saddle_status keep_own(saddle_experiment *e, const saddle_dataset *data,
                              const saddle_partition *partition, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    e->features = data->features;
    for (size_t i = 0; i < e->world->agents; i++)
        e->samples[i] = partition->start[i + 1] - partition->start[i];
    for (size_t k = 0; status == SADDLE_OK && k < e->world->local; k++) {
        size_t i = e->world->here[k];
        status = saddle_dataset_select(&e->shard[i], data, partition->row + partition->start[i],
                                       e->samples[i], error);
    }
    return status;
}

/* Make labels +1 and -1, and --positive the list in use: held-out rows follow it, and the model's user
 * after the run. */
static saddle_status label(saddle_experiment *e, saddle_dataset *data, saddle_error *error)
{
    char *rule = NULL;
    saddle_status status = saddle_dataset_positive(data, positive_labels(e), &rule, error);
    if (status == SADDLE_OK)
        status = saddle_dataset_make_binary(data, rule, error);
    if (status == SADDLE_OK)
        status = saddle_settings_settle(e->settings, "positive", rule, error);
    saddle_free(rule);
    return status;
}

static saddle_status split_file(saddle_experiment *e, saddle_error *error)
{
    const saddle_settings *settings = e->settings;
    uint64_t seed = saddle_settings_integer(settings, "seed");
    saddle_data_options options = data_options(settings);
    saddle_dataset *data = NULL;
    saddle_partition *partition = NULL;
    saddle_status status =
        saddle_dataset_load(&data, saddle_settings_text(settings, "data"), &options, seed, error);
    status = saddle_world_agree(e->world, status, error);
    if (data == NULL || status != SADDLE_OK) {
        saddle_dataset_free(data);
        return status;
    }
    status = check_same(e->world, data, error);
    if (status == SADDLE_OK)
        status = label(e, data, error);
    if (status == SADDLE_OK)
        status = saddle_partition_create(
            &partition, data, saddle_settings_text(settings, "partition"), e->world->agents,
            saddle_settings_text(settings, "samples"), seed, error);
    if (status == SADDLE_OK)
        status = keep_own(e, data, partition, error);
    saddle_partition_free(partition);
    saddle_dataset_free(data);
    return status;
}

/* ---- one file per agent ---------------------------------------------------------------------- */

/* A text with the agent's number in place of %d, to be freed; NULL when memory is short. */
static char *number_text(const char *pattern, size_t agent)
{
    const char *place = strstr(pattern, NUMBER);
    return saddle_format("%.*s%zu%s", (int)(place - pattern), pattern, agent,
                         place + strlen(NUMBER));
}

static bool has_one_number(const char *pattern)
{
    const char *first = strchr(pattern, '%');
    return first != NULL && strncmp(first, NUMBER, strlen(NUMBER)) == 0 &&
           strchr(first + 1, '%') == NULL;
}

/* Refuse a pattern, or options beside it, that make no sense. */
static saddle_status check_pattern(saddle_experiment *e, saddle_error *error)
{
    const char *data = saddle_settings_text(e->settings, "data");
    const char *labels = saddle_settings_text(e->settings, "labels");
    const char *partition = saddle_settings_text(e->settings, "partition");
    if (!has_one_number(data))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--data: '%s' has a %% in it; %%d, once, stands for the number of an "
                           "agent from 0, as in part-%%d.libsvm, and nothing else is understood",
                           data);
    if (*labels != '\0' && !has_one_number(labels))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--labels: '%s' is one file, but --data '%s' is one for each agent; put "
                           "a %%d for the agent's number into it, too",
                           labels, data);
    if (saddle_settings_given(e->settings, "partition") && strcmp(partition, "contiguous") != 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--partition: '%s' with --data '%s': every agent has a file of its own "
                           "already; leave --partition out",
                           partition, data);
    return saddle_settings_settle(e->settings, "partition", "contiguous", error);
}

/* Keep the first `count` rows. */
static saddle_status cut(saddle_dataset **data, size_t count, saddle_error *error)
{
    saddle_dataset *part = NULL;
    size_t *row = saddle_alloc(count, sizeof *row);
    if (row == NULL) {
        saddle_no_memory(error, "the agents' data");
        return SADDLE_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++)
        row[k] = k;
    saddle_status status = saddle_dataset_select(&part, *data, row, count, error);
    saddle_free(row);
    if (status == SADDLE_OK) {
        saddle_dataset_free(*data);
        *data = part;
    }
    return status;
}

/* Read an agent's file; e->samples[agent] is 0 for all its rows. */
static saddle_status load_part(saddle_experiment *e, size_t agent, saddle_error *error)
{
    saddle_data_options options = data_options(e->settings);
    saddle_error why = {.message = ""};
    saddle_dataset **shard = &e->shard[agent];
    char *labels = options.labels != NULL ? number_text(options.labels, agent) : NULL;
    char *name = number_text(saddle_settings_text(e->settings, "data"), agent);
    saddle_status status = SADDLE_OK;
    if (name == NULL || (options.labels != NULL && labels == NULL)) {
        status = saddle_no_memory(error, "a file name");
        goto cleanup;
    }
    options.labels = labels;
    status = saddle_dataset_load(shard, name, &options, 0, &why);
    if (*shard == NULL) {
        saddle_fail(error, status, "--data: agent %zu: %s", agent, why.message);
        goto cleanup;
    }
    size_t wanted = e->samples[agent];
    if (wanted > (*shard)->rows)
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "--samples: %zu for agent %zu, but '%s' has only %zu rows", wanted,
                             agent, name, (*shard)->rows);
    else if (wanted > 0)
        status = cut(shard, wanted, error);
    if (status == SADDLE_OK)
        e->samples[agent] = (*shard)->rows;
cleanup:
    saddle_free(name);
    saddle_free(labels);
    return status;
}

static saddle_status load_parts(saddle_experiment *e, saddle_error *error)
{
    const char *samples = saddle_settings_text(e->settings, "samples");
    saddle_status status = check_pattern(e, error);
    if (status == SADDLE_OK && !saddle_settings_auto(e->settings, "samples"))
        status = saddle_read_samples(e->samples, e->world->agents, samples, error);
    for (size_t k = 0; status == SADDLE_OK && k < e->world->local; k++)
        status = load_part(e, e->world->here[k], error);
    return status;
}

/* Give every agent's numbers to everybody. Collective. */
static void fill_sizes(const saddle_world *world, size_t *number, double *room)
{
    for (size_t k = 0; k < world->local; k++)
        room[world->here[k]] = (double)number[world->here[k]];
    saddle_world_fill(world, 1, room);
    for (size_t i = 0; i < world->agents; i++)
        number[i] = (size_t)room[i];
}

/* As many features as the widest file has. Collective. */
static saddle_status widen(saddle_experiment *e, saddle_error *error)
{
    const saddle_world *world = e->world;
    double most = 0.0;
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; k < world->local; k++) {
        double features = (double)e->shard[world->here[k]]->features;
        most = features > most ? features : most;
    }
    world->largest(world, 1, &most);
    e->features = (size_t)most;
    for (size_t k = 0; status == SADDLE_OK && k < world->local; k++) {
        saddle_dataset *data = e->shard[world->here[k]];
        if (data->dense != NULL && data->features != e->features)
            status = saddle_fail(error, SADDLE_BAD_INPUT,
                                 "--data: '%s' of agent %zu has %zu features, but another agent's "
                                 "file has %zu; give rows of the same kind",
                                 data->name, world->here[k], data->features, e->features);
        else
            data->features = e->features;
    }
    return status;
}

/* The distinct labels of the agents here: `count` of them for each agent, in `label`, one list
 * after another. The caller frees `label`. */
static saddle_status list_labels(const saddle_experiment *e, size_t *count, double **label,
                                 saddle_error *error)
{
    const saddle_world *world = e->world;
    size_t used = 0;
    size_t room = 0;
    for (size_t k = 0; k < world->local; k++)
        room += e->samples[world->here[k]];
    *label = saddle_alloc_doubles(room);
    if (*label == NULL)
        return saddle_no_memory(error, "the labels");
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = e->shard[world->here[k]];
        memcpy(*label + used, data->label, data->rows * sizeof **label);
        size_t distinct = saddle_labels_distinct(*label + used, data->rows);
        if (distinct > MOST_LABELS)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "--data: '%s' has %zu different labels; with a file for each agent "
                               "at most %d can be agreed on",
                               data->name, distinct, MOST_LABELS);
        count[world->here[k]] = distinct;
        used += distinct;
    }
    return SADDLE_OK;
}

/* Everybody's distinct labels in one list of `total`, from the lists of the agents here. */
static saddle_status merge_labels(const saddle_experiment *e, const size_t *count,
                                  const double *label, double *all, size_t total,
                                  saddle_error *error)
{
    const saddle_world *world = e->world;
    saddle_status status = all != NULL ? SADDLE_OK : saddle_no_memory(error, "the labels");
    status = saddle_world_agree(world, status, error);
    if (all == NULL || status != SADDLE_OK)
        return status;
    size_t place = 0;
    for (size_t i = 0; i < world->agents; i++) {
        if (saddle_world_has(world, i)) {
            memcpy(all + place, label, count[i] * sizeof *all);
            label += count[i];
        }
        place += count[i];
    }
    /* A number and nothing else add up to the number, if both are taken as bits. */
    world->add_words(world, total, (int64_t *)(void *)all);
    return SADDLE_OK;
}

/* Turn the labels of the agents here into +1 and -1, and make --positive the list in use; `all` are
 * the distinct labels of all agents. */
static saddle_status label_parts(saddle_experiment *e, const double *all, size_t total,
                                 saddle_error *error)
{
    char *rule = NULL;
    bool *marked = saddle_alloc(total, sizeof *marked);
    saddle_status status = marked != NULL
                               ? saddle_labels_rule(all, total, positive_labels(e), &rule, error)
                               : saddle_no_memory(error, "the labels");
    if (status == SADDLE_OK)
        status = saddle_labels_mark(rule, false, all, total, marked, error);
    for (size_t k = 0; status == SADDLE_OK && k < e->world->local; k++)
        saddle_labels_apply(e->shard[e->world->here[k]], all, total, marked);
    if (status == SADDLE_OK)
        status = saddle_settings_settle(e->settings, "positive", rule, error);
    saddle_free(marked);
    saddle_free(rule);
    return status;
}

/* Turn labels into +1 and -1 by a rule that sees the labels of all agents. Collective. */
static saddle_status agree_on_labels(saddle_experiment *e, double *room, saddle_error *error)
{
    const saddle_world *world = e->world;
    double *label = NULL;
    double *all = NULL;
    size_t *count = saddle_alloc(world->agents, sizeof *count);
    saddle_status status = count != NULL ? list_labels(e, count, &label, error)
                                         : saddle_no_memory(error, "the labels");
    status = saddle_world_agree(world, status, error);
    if (count == NULL || status != SADDLE_OK)
        goto cleanup;
    fill_sizes(world, count, room);
    size_t total = 0;
    for (size_t i = 0; i < world->agents; i++)
        total += count[i];
    all = saddle_alloc_doubles(total);
    status = merge_labels(e, count, label, all, total, error);
    if (all == NULL || status != SADDLE_OK)
        goto cleanup;
    status = label_parts(e, all, saddle_labels_distinct(all, total), error);
cleanup:
    saddle_free(all);
    saddle_free(label);
    saddle_free(count);
    return status;
}

static saddle_status gather_parts(saddle_experiment *e, saddle_error *error)
{
    const saddle_world *world = e->world;
    double *room = saddle_alloc_doubles(world->agents);
    saddle_status status =
        room != NULL ? load_parts(e, error) : saddle_no_memory(error, "the agents' data");
    status = saddle_world_agree(world, status, error);
    if (room != NULL && status == SADDLE_OK) {
        fill_sizes(world, e->samples, room);
        status = saddle_world_agree(world, widen(e, error), error);
    }
    if (room != NULL && status == SADDLE_OK)
        status = agree_on_labels(e, room, error);
    saddle_free(room);
    return status;
}

saddle_status saddle_make_shards(saddle_experiment *e, saddle_error *error)
{
    e->shard = saddle_alloc(e->world->agents, sizeof(saddle_dataset *));
    e->samples = saddle_alloc(e->world->agents, sizeof *e->samples);
    saddle_status status = SADDLE_OK;
    if (e->shard == NULL || e->samples == NULL)
        status = saddle_no_memory(error, "the agents' data");
    status = saddle_world_agree(e->world, status, error);
    if (status != SADDLE_OK || e->shard == NULL || e->samples == NULL)
        return status;
    status = strchr(saddle_settings_text(e->settings, "data"), '%') != NULL ? gather_parts(e, error)
                                                                            : split_file(e, error);
    return saddle_world_agree(e->world, status, error);
}
