/* A stage of an instance: held-out rows, which only process 0 has. */
#include <string.h>

#include "core/status.h"
#include "core/text.h"
#include "data/dataset.h"
#include "instance/instance.h"

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
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "test-data: synthetic rows belong to synthetic data, but the agents' "
                           "data are '%s'; give a file of held-out rows",
                           name);
    saddle_dataset *all = NULL;
    saddle_status status =
        saddle_dataset_generate(&all, (size_t)(taken + rows), e->features, e->seed, error);
    SADDLE_THEN(status,
                saddle_dataset_range(&e->parts->held_out, all, (size_t)taken, (size_t)rows, error));
    saddle_dataset_free(all);
    return status;
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
    SADDLE_THEN(status,
                saddle_labels_apply(e->kind->labels, saddle_plan_label_rule(plan, e->kind->labels),
                                    *held_out, error));
    status = saddle_in_field("test-data", status, error);
    if (status == SADDLE_OK && (*held_out)->features != e->features)
        status =
            saddle_fail(error, SADDLE_BAD_INPUT,
                        "test-data: '%s' has %zu feature%s, but the agents' data have %zu; give "
                        "rows with the same features",
                        (*held_out)->name, (*held_out)->features,
                        SADDLE_PLURAL((*held_out)->features), e->features);
    e->held_out = *held_out;
    return status;
}
