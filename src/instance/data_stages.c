/*
 * Stages of an instance: the agents' data. Each process keeps only the rows of its own agents.
 *
 * From one file, or rows in memory, every process reads all rows, because the partition depends on
 * all of them. Of one file per agent ('part-%d.libsvm'), or one block of rows per agent, each is
 * opened only in the process of its agent; the processes exchange only numbers of rows and features
 * and the distinct labels.
 */
#include "core/memory_limits.h"
#include "data/columns.h"
#include "data/dataset.h"
#include "files/pattern.h"
#include "instance/instance.h"

/* The default number of samples per agent of a problem that generates them. */
#define DEFAULT_SAMPLES "100"

/* Returns whether the problem is made from data. */
static bool needs_data(const saddle_instance *e)
{
    return e->kind != NULL && e->kind->needs_data;
}

bool saddle_data_is_divided(const saddle_instance *e)
{
    return needs_data(e) &&
           (e->plan->problem.shards != NULL ||
            (e->plan->problem.rows == NULL && saddle_is_pattern(e->plan->problem.data)));
}

char *saddle_agent_file(const saddle_plan *plan, size_t agent)
{
    return plan->problem.own_file != NULL ? saddle_strdup(plan->problem.own_file)
                                          : saddle_pattern_name(plan->problem.data, agent);
}

bool saddle_scores_are_private(const saddle_instance *e)
{
    return saddle_data_is_divided(e) && e->problem->outcome_bytes > 0;
}

/* ---- one file -------------------------------------------------------------------------------- */

/* Refuses to copy rows if there is not enough memory. */
static saddle_status check_copies(const saddle_instance *e, const saddle_dataset *data,
                                  const saddle_partition *partition, saddle_error *error)
{
    double bytes = 0.0;
    for (size_t k = 0; k < e->world->local; k++) {
        size_t i = e->world->here[k];
        bytes += saddle_dataset_select_bytes(data, partition->row + partition->start[i],
                                             e->parts->samples[i]);
    }
    return saddle_need_check_one(bytes, "the agents' rows", "use fewer samples", error);
}

/* Copies the rows of the agents in this process. */
static saddle_status keep_own(saddle_instance *e, const saddle_dataset *data,
                              const saddle_partition *partition, saddle_error *error)
{
    e->features = data->features;
    for (size_t i = 0; i < e->world->agents; i++)
        e->parts->samples[i] = partition->start[i + 1] - partition->start[i];
    SADDLE_TRY(check_copies(e, data, partition, error));
    for (size_t k = 0; k < e->world->local; k++) {
        size_t i = e->world->here[k];
        SADDLE_TRY(saddle_dataset_select_by(&e->parts->shard[i], data,
                                            partition->row + partition->start[i],
                                            e->parts->samples[i], e->plan->engine.threads, error));
    }
    return SADDLE_OK;
}

saddle_status saddle_stage_split_data(saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = e->plan;
    saddle_dataset *data = e->parts->data;
    saddle_partition *partition = NULL;
    if (!needs_data(e) || saddle_data_is_divided(e))
        return SADDLE_OK;
    saddle_status status = saddle_instance_label(e, data, error);
    SADDLE_THEN(status, saddle_partition_create(
                            &partition, data, plan->problem.partition, e->world->agents,
                            plan->problem.samples != NULL ? plan->problem.samples : "auto", e->seed,
                            error));
    SADDLE_THEN(status, keep_own(e, data, partition, error));
    saddle_partition_free(partition);
    saddle_dataset_free(data);
    e->parts->data = NULL;
    return status;
}

/* ---- one file per agent ---------------------------------------------------------------------- */

/* Refuses a single label file if each agent has its own data file. */
static saddle_status check_labels(const saddle_instance *e, saddle_error *error)
{
    const char *data = e->plan->problem.data;
    const char *labels = e->plan->problem.labels;
    if (labels != NULL && strcmp(labels, "none") != 0 &&
        saddle_pattern_check(labels, NULL) != SADDLE_OK)
        return saddle_refuse(error,
                             "--labels: '%s' is one file, but data '%s' is one for each agent; use "
                             "%%d for the agent's number, such as labels-%%d",
                             labels, data);
    return SADDLE_OK;
}

/* Refuses a partition if each agent has its own rows. */
static saddle_status check_partition(saddle_instance *e, saddle_error *error)
{
    saddle_plan *plan = &e->parts->plan;
    const char *partition = plan->problem.partition;
    if (SADDLE_GIVEN(plan, problem.partition) && strcmp(partition, "contiguous") != 0)
        return saddle_refuse(error,
                             "--partition: '%s' with data '%s': every agent already has its own "
                             "%s; leave --partition out",
                             partition, plan->problem.data,
                             plan->problem.shards != NULL ? "rows" : "file");
    plan->problem.partition = "contiguous";
    return SADDLE_OK;
}

/* Keeps only the first `count` rows. */
static saddle_status cut(saddle_dataset **data, size_t count, saddle_error *error)
{
    saddle_dataset *first = NULL;
    saddle_status status = saddle_dataset_range(&first, *data, 0, count, error);
    if (status == SADDLE_OK) {
        saddle_dataset_free(*data);
        *data = first;
    }
    return status;
}

saddle_status saddle_refuse_agent_file(size_t agent, const char *name, const saddle_error *why,
                                       saddle_error *error)
{
    char *path = NULL;
    bool there = saddle_data_find(name, &path, NULL) == SADDLE_OK;
    saddle_free(path);
    if (why->status == SADDLE_BAD_INPUT && !there)
        return saddle_refuse(error,
                             "--data: agent %zu has no file '%.300s'; add it, or set --agents to "
                             "the number of files",
                             agent, name);
    return saddle_fail(error, why->status, "--data: agent %zu: %s", agent, why->message);
}

/* Reads an agent's file. */
static saddle_status load_part(saddle_instance *e, size_t agent, saddle_error *error)
{
    saddle_data_options options = saddle_plan_data_options(e->plan);
    saddle_error why = {.message = ""};
    bool each = options.labels != NULL && saddle_is_pattern(options.labels);
    SADDLE_OWNED char *labels = each ? saddle_pattern_name(options.labels, agent) : NULL;
    SADDLE_OWNED char *name = saddle_agent_file(e->plan, agent);
    saddle_status status = SADDLE_OK;
    if (name == NULL || (each && labels == NULL)) {
        status = saddle_no_memory(error, "a file name");
    } else {
        options.labels = each ? labels : options.labels;
        options.columns = e->columns;
        status = saddle_dataset_load(&e->parts->shard[agent], name, &options, 0, &why);
        if (status != SADDLE_OK)
            saddle_refuse_agent_file(agent, name, &why, error);
    }
    return status;
}

/* Takes an agent's rows from its file or from memory; samples[agent] is 0 for all rows. */
static saddle_status take_part(saddle_instance *e, size_t agent, saddle_error *error)
{
    saddle_dataset **shard = &e->parts->shard[agent];
    const saddle_dataset *const *given = e->plan->problem.shards;
    if (given != NULL && given[agent] == NULL)
        return saddle_refuse(error, "shards: there are no rows for agent %zu: shards[%zu] is NULL",
                             agent, agent);
    SADDLE_TRY(given != NULL ? saddle_dataset_view(shard, given[agent], error)
                             : load_part(e, agent, error));
    if (given != NULL && e->columns == NULL)
        e->columns = e->parts->columns = saddle_columns_share((*shard)->columns);
    SADDLE_TRY(saddle_dataset_check_names(*shard, e->columns, error));
    size_t wanted = e->parts->samples[agent];
    if (wanted > (*shard)->rows)
        return saddle_refuse(error, "--samples: %zu for agent %zu, but '%s' has only %zu row%s",
                             wanted, agent, (*shard)->name, (*shard)->rows,
                             SADDLE_PLURAL((*shard)->rows));
    if (wanted > 0)
        SADDLE_TRY(cut(shard, wanted, error));
    e->parts->samples[agent] = (*shard)->rows;
    e->parts->formats |= (*shard)->formats;
    return SADDLE_OK;
}

static saddle_status take_parts(saddle_instance *e, saddle_error *error)
{
    SADDLE_TRY(e->plan->problem.shards == NULL ? check_labels(e, error) : SADDLE_OK);
    SADDLE_TRY(check_partition(e, error));
    if (e->plan->problem.samples != NULL)
        SADDLE_TRY(saddle_read_samples(e->parts->samples, e->world->agents,
                                       e->plan->problem.samples, error));
    for (size_t k = 0; k < e->world->local; k++)
        SADDLE_TRY(take_part(e, e->world->here[k], error));
    return SADDLE_OK;
}

saddle_status saddle_stage_read_data(saddle_instance *e, saddle_error *error)
{
    saddle_plan *plan = &e->parts->plan;
    if (plan->problem.own != NULL || plan->problem.rows != NULL || plan->problem.shards != NULL)
        plan->problem.data = SADDLE_IN_MEMORY;
    if (plan->problem.test_rows != NULL)
        plan->problem.test_data = SADDLE_IN_MEMORY;
    if (!needs_data(e))
        return SADDLE_OK;
    if (saddle_data_is_divided(e))
        return take_parts(e, error);
    saddle_dataset **data = &e->parts->data;
    saddle_data_options options = saddle_plan_data_options(plan);
    SADDLE_TRY(plan->problem.rows != NULL
                   ? saddle_dataset_view(data, plan->problem.rows, error)
                   : saddle_in_field(
                         "--data",
                         saddle_dataset_load(data, plan->problem.data, &options, e->seed, error),
                         error));
    e->columns = e->parts->columns = saddle_columns_share((*data)->columns);
    e->parts->formats = (*data)->formats;
    return SADDLE_OK;
}

/* Distributes every agent's number of rows to all processes. A peer may say anything: fails for what cannot be true, or
 * changes the numbers of this process. Collective. */
static saddle_status fill_sizes(const saddle_world *world, size_t *number, double *buffer,
                                saddle_error *error)
{
    for (size_t k = 0; k < world->local; k++)
        buffer[world->here[k]] = (double)number[world->here[k]];
    saddle_world_fill(world, 1, buffer);
    for (size_t i = 0; i < world->agents; i++) {
        bool good = buffer[i] >= 0.0 && buffer[i] < 0x1p40;
        if (!good || (saddle_world_has(world, i) && number[i] != (size_t)buffer[i]))
            return saddle_refuse(error,
                                 "--data: the processes say that agent %zu has %g rows; give all "
                                 "of them the same build of saddle",
                                 i, buffer[i]);
        number[i] = (size_t)buffer[i];
    }
    return SADDLE_OK;
}

/* Distributes the formats of the agents' files to all processes. Collective. */
static void share_formats(const saddle_world *world, unsigned *formats)
{
    double seen[SADDLE_FORMAT_NUMPY + 1];
    for (unsigned k = 0; k <= SADDLE_FORMAT_NUMPY; k++)
        seen[k] = (*formats & SADDLE_FORMAT_BIT(k)) != 0 ? 1.0 : 0.0;
    world->largest(world, SADDLE_FORMAT_NUMPY + 1, seen);
    for (unsigned k = 0; k <= SADDLE_FORMAT_NUMPY; k++)
        *formats |= seen[k] > 0.0 ? SADDLE_FORMAT_BIT(k) : 0;
}

/* Distributes every agent's number of rows to all processes, and gives all agents as many
 * features as the widest rows have. */
saddle_status saddle_stage_share_sizes(saddle_instance *e, saddle_error *error)
{
    const saddle_world *world = e->world;
    double most = 0.0;
    if (!saddle_data_is_divided(e))
        return SADDLE_OK;
    saddle_status status = fill_sizes(world, e->parts->samples, e->parts->numbers, error);
    share_formats(world, &e->parts->formats);
    for (size_t k = 0; k < world->local; k++) {
        double features = (double)e->parts->shard[world->here[k]]->features;
        most = features > most ? features : most;
    }
    world->largest(world, 1, &most);
    if (status == SADDLE_OK && !(most >= 0.0 && most <= UINT32_MAX))
        status = saddle_refuse(error, "--data: a process says that a row has %g features", most);
    if (status != SADDLE_OK)
        return status;
    e->features = (size_t)most;
    for (size_t k = 0; k < world->local; k++) {
        saddle_dataset *data = e->parts->shard[world->here[k]];
        if (data->dense != NULL && data->features != e->features)
            return saddle_refuse(error,
                                 "--data: '%s' of agent %zu has %zu feature%s, but another agent's "
                                 "file has %zu; give all agents the same features",
                                 data->name, world->here[k], data->features,
                                 SADDLE_PLURAL(data->features), e->features);
        data->features = e->features;
    }
    return SADDLE_OK;
}

/* ---- held-out rows, which only process 0 has ------------------------------------------------- */

/* Parses ROWS of synthetic[:ROWS[:FEATURES]]; returns false for another name. */
static bool synthetic_rows(const char *name, uint64_t *rows)
{
    saddle_fields fields;
    if (!saddle_split(&fields, name) || strcmp(fields.field[0], "synthetic") != 0)
        return false;
    *rows = SADDLE_SYNTHETIC_ROWS;
    return fields.count < 2 || saddle_parse_integer(fields.field[1], rows);
}

/* Generates held-out rows: those after the agents' rows, from the same model. Another seed would
 * give another model, unrelated to the agents' data. */
static saddle_status generate_held_out(saddle_instance *e, uint64_t rows, saddle_error *error)
{
    uint64_t taken = 0;
    const char *name = e->plan->problem.data;
    if (!synthetic_rows(name, &taken))
        return saddle_refuse(error,
                             "--test-data: synthetic rows belong to synthetic data, but the "
                             "agents' data are '%s'; give a file of held-out rows",
                             name);
    SADDLE_OWNED_BY(saddle_dataset_free_at) saddle_dataset *all = NULL;
    SADDLE_TRY(saddle_dataset_generate(&all, (size_t)(taken + rows), e->features, e->seed, error));
    return saddle_dataset_range(&e->parts->held_out, all, (size_t)taken, (size_t)rows, error);
}

static saddle_status load_held_out(saddle_instance *e, const char *name, saddle_error *error)
{
    uint64_t rows = 0;
    saddle_data_options options = saddle_plan_data_options(e->plan);
    /* The label file that the plan names belongs to the agents' data. */
    options.labels = NULL;
    options.features = e->features;
    options.columns = e->columns;
    return synthetic_rows(name, &rows) && rows > 0
               ? generate_held_out(e, rows, error)
               : saddle_dataset_load(&e->parts->held_out, name, &options, 0, error);
}

saddle_status saddle_stage_held_out(saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = e->plan;
    saddle_dataset **held_out = &e->parts->held_out;
    if ((plan->problem.test_data == NULL && plan->problem.test_rows == NULL) || e->world->rank > 0)
        return SADDLE_OK;
    saddle_status status = plan->problem.test_rows != NULL
                               ? saddle_dataset_view(held_out, plan->problem.test_rows, error)
                               : load_held_out(e, plan->problem.test_data, error);
    const saddle_label_rule rule = saddle_plan_label_rule(plan, e->kind->labels);
    SADDLE_THEN(status, saddle_labels_apply(&rule, *held_out, error));
    SADDLE_THEN(status, saddle_dataset_check_names(*held_out, e->columns, error));
    status = saddle_in_field("--test-data", status, error);
    if (status == SADDLE_OK && (*held_out)->features != e->features)
        status = saddle_refuse(error,
                               "--test-data: '%s' has %zu feature%s, but the agents' data have "
                               "%zu; give rows with the same features",
                               (*held_out)->name, (*held_out)->features,
                               SADDLE_PLURAL((*held_out)->features), e->features);
    e->held_out = *held_out;
    return status;
}

/* ---- how much there is ----------------------------------------------------------------------- */

/* Refuses rows in memory that contradict each other or the number of agents. */
static saddle_status check_shards(const saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = e->plan;
    if (plan->problem.shards == NULL)
        return SADDLE_OK;
    if (plan->problem.rows != NULL)
        return saddle_refuse(error, "rows and shards are both given; give rows to be split between "
                                    "agents, or a shard for each agent");
    if (plan->problem.shard_count != e->world->agents)
        return saddle_refuse(
            error, "shards: shard_count is %zu, but there are %zu agents; give one shard for each",
            plan->problem.shard_count, e->world->agents);
    return SADDLE_OK;
}

/* Refuses data for a problem that does not use any. */
static saddle_status check_need(const saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = e->plan;
    const char *own = plan->problem.own != NULL ? plan->problem.own->name : NULL;
    const char *name = e->kind != NULL ? e->kind->name : saddle_shown_name(own);
    bool data = plan->problem.rows != NULL || plan->problem.shards != NULL ||
                SADDLE_GIVEN(plan, problem.data);
    if (data && !needs_data(e))
        return saddle_refuse(
            error, "--data: problem %s generates its own samples; leave --data out", name);
    if ((plan->problem.test_data != NULL || plan->problem.test_rows != NULL) && !needs_data(e))
        return saddle_refuse(error, "--test-data: problem %s is not made from data; leave it out",
                             name);
    return SADDLE_OK;
}

/* Refuses rows without labels. */
static saddle_status refuse_unlabelled(const saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = e->plan;
    const char *column = plan->problem.label_column;
    const char *file = plan->problem.labels;
    bool no_column = column != NULL && strcmp(column, "none") == 0;
    if (!needs_data(e) || (!no_column && (file == NULL || strcmp(file, "none") != 0)))
        return SADDLE_OK;
    return saddle_refuse(error,
                         "--%s: 'none' means rows without labels, which only predict can use; give "
                         "the %s of the labels",
                         no_column ? "label-column" : "labels", no_column ? "column" : "file");
}

/* Allocates the arrays of the agents' data; for a problem that generates its samples, sets their
 * numbers. */
saddle_status saddle_stage_samples(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    size_t agents = e->world->agents;
    saddle_status status = check_need(e, error);
    SADDLE_THEN(status, check_shards(e, error));
    SADDLE_THEN(status, refuse_unlabelled(e, error));
    if (status != SADDLE_OK || e->kind == NULL)
        return status;
    parts->samples = saddle_alloc(agents, sizeof *parts->samples);
    SADDLE_TRY(saddle_check_memory(parts->samples, "the agents' data", error));
    const char *given = e->plan->problem.samples;
    if (!needs_data(e))
        return saddle_read_samples(parts->samples, agents, given != NULL ? given : DEFAULT_SAMPLES,
                                   error);
    parts->shard = saddle_alloc(agents, sizeof(saddle_dataset *));
    parts->numbers = saddle_alloc_doubles(agents);
    if (parts->shard == NULL || parts->numbers == NULL)
        return saddle_no_memory(error, "the agents' data");
    return SADDLE_OK;
}
