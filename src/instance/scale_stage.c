/*
 * A stage of an instance: whether columns are scaled, and scaling all rows.
 *
 * Statistics are those of all agents' rows. Agents exchange extremes and sums of each column, no rows,
 * and held-out rows are scaled by the same numbers. After this stage nothing knows of the original
 * values: sets, h, the start and all measurements are in scaled columns.
 */
#include "data/columns.h"
#include "data/scale.h"
#include "instance/instance.h"

/* Marks the columns that the problem reads itself. It refuses those that do not exist later. */
static void mark_attributes(const saddle_instance *e, bool *left)
{
    const saddle_option *option = e->kind->attributes;
    char buffer[SADDLE_VALUE_SIZE];
    const char *list = option != NULL ? saddle_plan_text(e->plan, option, buffer) : NULL;
    size_t length;
    for (const char *item; (item = saddle_next_item(&list, &length)) != NULL;) {
        size_t first;
        size_t count;
        if (saddle_columns_features_of(e->columns, e->features, item, length, &first, &count,
                                       NULL) == SADDLE_OK)
            for (size_t k = first; k < first + count; k++)
                left[k] = true;
    }
}

/* Decides what the rule auto means for these columns. */
static saddle_scale_rule choose(const saddle_instance *e, const bool *left)
{
    if (e->plan->problem.scale != SADDLE_SCALE_AUTO)
        return e->plan->problem.scale;
    return e->plan->steps.rule != SADDLE_STEPS_PAPER &&
                   saddle_statistics_uneven(&e->parts->statistics, left)
               ? SADDLE_SCALE_STANDARD
               : SADDLE_SCALE_NONE;
}

/* Scales the rows of the agents in this process, and held-out rows. */
static saddle_status scale_rows(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    const saddle_scaling scaling = {e->features, e->mean, e->deviation};
    for (size_t k = 0; k < e->world->local; k++)
        SADDLE_TRY(saddle_dataset_scale(&parts->shard[e->world->here[k]], &scaling, error));
    if (parts->held_out != NULL)
        SADDLE_TRY(saddle_dataset_scale(&parts->held_out, &scaling, error));
    e->held_out = parts->held_out;
    return SADDLE_OK;
}

/* Refuses to scale the columns of a problem that depends on their values. */
static saddle_status check_rule(saddle_instance *e, saddle_error *error)
{
    if (e->plan->problem.scale == SADDLE_SCALE_STANDARD)
        return saddle_refuse(error,
                             "--scale: problem %s uses its data as they are; leave --scale out",
                             e->kind->name);
    e->parts->plan.problem.scale = SADDLE_SCALE_NONE;
    return SADDLE_OK;
}

saddle_status saddle_stage_scale(saddle_instance *e, saddle_error *error)
{
    struct saddle_instance_parts *parts = e->parts;
    saddle_column_statistics *s = &parts->statistics;
    if (e->kind == NULL || !e->kind->needs_data)
        return SADDLE_OK;
    if (e->kind->scaling == SADDLE_ROWS_AS_GIVEN)
        return check_rule(e, error);
    SADDLE_OWNED bool *left = saddle_alloc(e->features, sizeof *left);
    saddle_status status = saddle_check_memory(left, "the columns", error);
    status = saddle_world_agree(e->world, status, error);
    SADDLE_THEN(status, saddle_statistics_find(s, e->world, parts->shard, e->features,
                                               e->kind->scaling == SADDLE_ROWS_CENTRED, error));
    if (status == SADDLE_OK && left != NULL) {
        mark_attributes(e, left);
        parts->plan.problem.scale = choose(e, left);
        if (e->plan->problem.scale == SADDLE_SCALE_NONE)
            saddle_scale_warning(s, left, e->columns,
                                 "set --scale to standard, otherwise learning may be slow or fail",
                                 parts->unscaled);
        if (e->plan->problem.scale == SADDLE_SCALE_STANDARD &&
            saddle_statistics_settle(s, left) > 0) {
            e->mean = s->mean;
            e->deviation = s->deviation;
            status = scale_rows(e, error);
        }
    }
    if (e->mean == NULL)
        saddle_statistics_free(s);
    return status;
}

void saddle_scale_text(const saddle_instance *e, char out[SADDLE_SCALE_TEXT])
{
    const saddle_scaling scaling = {e->features, e->mean, e->deviation};
    size_t centred = 0;
    size_t count = e->mean != NULL ? saddle_scaling_count(&scaling, &centred) : 0;
    out[0] = '\0';
    if (count > 0)
        saddle_snprintf(out, SADDLE_SCALE_TEXT, "%zu column%s to %s", count, SADDLE_PLURAL(count),
                        centred > 0 ? "mean 0 and deviation 1"
                                    : "a root mean square of 1, without centring");
}
