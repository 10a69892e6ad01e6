#include "validation.h"

#include "core/rng.h"
#include "instance/plan.h"

/* Reads all training rows; *owned receives what must be freed. */
static saddle_status read_rows(const saddle_plan *plan, const saddle_dataset **out,
                               saddle_dataset **owned, saddle_error *error)
{
    *owned = NULL;
    *out = plan->problem.rows;
    if (*out != NULL)
        return SADDLE_OK;
    if (plan->problem.shards != NULL || strchr(plan->problem.data, '%') != NULL)
        return saddle_refuse(error,
                             "--objective: if each agent has its own rows, they cannot be split "
                             "for validation; give train_NAME, an outcome on the agents' data");
    saddle_data_options options = saddle_plan_data_options(plan);
    saddle_status status =
        saddle_dataset_load(owned, plan->problem.data, &options, plan->start.seed, error);
    *out = *owned;
    return saddle_in_field("--data", status, error);
}

static saddle_status split(validation *out, const saddle_dataset *all, double fraction,
                           uint64_t seed, saddle_error *error)
{
    size_t held_out = (size_t)ceil(fraction * (double)all->rows);
    if (held_out >= all->rows)
        return saddle_refuse(error,
                             "--validation-fraction: %g of %zu row%s leaves no rows for training; "
                             "give a smaller fraction",
                             fraction, all->rows, SADDLE_PLURAL(all->rows));
    SADDLE_OWNED size_t *row = saddle_alloc(all->rows, sizeof *row);
    SADDLE_TRY(saddle_check_memory(row, "the validation rows", error));
    for (size_t k = 0; k < all->rows; k++)
        row[k] = k;
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_VALIDATION, 0, 0);
    saddle_rng_shuffle(&rng, row, all->rows);
    SADDLE_TRY(saddle_dataset_select(&out->held_out, all, row, held_out, error));
    return saddle_dataset_select(&out->train, all, row + held_out, all->rows - held_out, error);
}

saddle_status saddle_validation_split(validation *out, saddle_plan *plan, double fraction,
                                      saddle_error *error)
{
    const saddle_dataset *all = NULL;
    saddle_dataset *owned = NULL;
    *out = (validation){.train = NULL};
    saddle_status status = read_rows(plan, &all, &owned, error);
    SADDLE_THEN(status, split(out, all, fraction, plan->start.seed, error));
    saddle_dataset_free(owned);
    if (status != SADDLE_OK) {
        saddle_validation_release(out);
        return status;
    }
    plan->problem.rows = out->train;
    plan->problem.test_rows = out->held_out;
    plan->problem.test_data = NULL;
    return SADDLE_OK;
}

void saddle_validation_release(validation *v)
{
    saddle_dataset_free(v->train);
    saddle_dataset_free(v->held_out);
    *v = (validation){.train = NULL};
}
