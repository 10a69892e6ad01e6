/*
 * Stages of an instance: the columns of CSV files, if each agent has its own file. The texts of a
 * column must become the same features at all agents, and missing values must get the same
 * substitutes. So agents exchange what their columns contain: names, texts and how often each
 * occurs, and sums of numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "data/columns.h"
#include "data/dataset.h"
#include "files/pattern.h"
#include "instance/instance.h"

/* Scans the files of the agents in this process. */
saddle_status saddle_stage_scan_columns(saddle_instance *e, saddle_error *error)
{
    const saddle_world *world = e->world;
    const saddle_plan *plan = e->plan;
    if (!saddle_data_is_divided(e) || plan->problem.shards != NULL)
        return SADDLE_OK;
    SADDLE_TRY(saddle_in_field("data", saddle_pattern_check(plan->problem.data, error), error));
    e->parts->scanned = saddle_alloc(world->agents, sizeof(saddle_columns *));
    SADDLE_TRY(saddle_check_memory(e->parts->scanned, "the columns", error));
    saddle_data_options options = saddle_plan_data_options(plan);
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < world->local; k++) {
        size_t agent = world->here[k];
        saddle_error why = {.message = ""};
        char *name = saddle_pattern_name(plan->problem.data, agent);
        SADDLE_TRY(saddle_check_memory(name, "a file name", error));
        status = saddle_dataset_scan(&e->parts->scanned[agent], name, &options, &why);
        if (status != SADDLE_OK)
            saddle_refuse_agent_file(agent, name, &why, error);
        saddle_free(name);
    }
    return status;
}

/* Returns an agent's columns as text, to be freed, in all processes. NULL with a length of 0
 * means that it has none; NULL with another length means that memory is short in some process.
 * Collective. */
static char *share_text(const saddle_instance *e, size_t agent, uint64_t *length)
{
    const saddle_world *world = e->world;
    const saddle_columns *own = e->parts->scanned[agent];
    bool here = world->home[agent] == world->rank;
    char *text = here && own != NULL ? saddle_columns_print(own, true) : NULL;
    *length = !here || own == NULL ? 0 : text != NULL ? strlen(text) + 1 : UINT64_MAX;
    world->share(world, world->home[agent], sizeof *length, length);
    if (*length == 0 || *length == UINT64_MAX)
        return NULL;
    if (!here)
        text = malloc((size_t)*length);
    double lacking = text == NULL ? 1.0 : 0.0;
    world->largest(world, 1, &lacking);
    if (lacking > 0.0) {
        free(text);
        return NULL;
    }
    world->share(world, world->home[agent], (size_t)*length, text);
    return text;
}

/* Merges an agent's columns into those of the agents before it. */
static saddle_status add_columns(saddle_instance *e, size_t agent, const char *text,
                                 saddle_error *error)
{
    saddle_columns *columns = NULL;
    saddle_error why = {.message = ""};
    SADDLE_TRY(saddle_columns_parse(&columns, text, error));
    if (e->parts->columns == NULL) {
        e->parts->columns = columns;
        return SADDLE_OK;
    }
    saddle_status status = saddle_columns_merge(e->parts->columns, columns, &why);
    saddle_columns_free(columns);
    if (status == SADDLE_OK)
        return status;
    char *name = saddle_pattern_name(e->plan->problem.data, agent);
    saddle_fail(error, status, "agent %zu, '%s': %s", agent,
                SADDLE_EXCERPT(name != NULL ? name : ""), why.message);
    saddle_free(name);
    return status;
}

/* Merges the columns of all agents, in their order, and decides which features they become. */
saddle_status saddle_stage_share_columns(saddle_instance *e, saddle_error *error)
{
    const saddle_plan *plan = e->plan;
    saddle_status status = SADDLE_OK;
    size_t with = 0;
    if (e->parts->scanned == NULL)
        return SADDLE_OK;
    for (size_t i = 0; i < e->world->agents; i++) {
        uint64_t length = 0;
        char *text = share_text(e, i, &length);
        with += length > 0;
        SADDLE_THEN_IF(status, length > 0 && text == NULL, saddle_no_memory(error, "the columns"));
        SADDLE_THEN_IF(status, text != NULL,
                       saddle_in_field("data", add_columns(e, i, text, error), error));
        free(text);
    }
    if (status == SADDLE_OK && with > 0 && with < e->world->agents)
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "data: the files of %zu agents are CSV and those of %zu are not; give "
                             "all agents files of the same format",
                             with, e->world->agents - with);
    SADDLE_THEN_IF(status, with > 0,
                   saddle_in_field(
                       "data",
                       saddle_columns_settle(e->parts->columns, plan->problem.categories,
                                             plan->problem.missing == SADDLE_MISSING_IMPUTE, error),
                       error));
    e->columns = e->parts->columns;
    return status;
}
