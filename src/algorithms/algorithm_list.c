/* The explicit list of algorithms, in the order they are shown. */
#include "algorithms/algorithms.h"
#include "core/registry.h"

static const saddle_algorithm *const algorithms[] = {
    &saddle_precision,   &saddle_precision_plus, &saddle_prox_gt_sgda, &saddle_prox_dsgda,
    &saddle_gt_gda,      &saddle_dposg,          &saddle_dppsp,        &saddle_cspsg,
    &saddle_gda,         &saddle_sgda,           &saddle_minimax_ppa,  &saddle_sreda,
    &saddle_sreda_boost,
};

static const char *name_of(size_t index)
{
    return algorithms[index]->name;
}

const saddle_algorithm *const *saddle_algorithm_list(size_t *count)
{
    *count = sizeof algorithms / sizeof *algorithms;
    return algorithms;
}

saddle_status saddle_algorithm_find(const saddle_algorithm **out, const char *name,
                                    saddle_error *error)
{
    size_t index = 0;
    size_t count = sizeof algorithms / sizeof *algorithms;
    *out = NULL;
    saddle_status status = saddle_registry_find(&index, "algorithm", name, name_of, count, error);
    if (status == SADDLE_OK)
        *out = algorithms[index];
    return status;
}
