/* The list of algorithms, and finding one by its name. */
#include "algorithms/algorithms.h"
#include "core/registry.h"

static const saddle_algorithm *const algorithms[] = {
#define SADDLE_ALGORITHM_ADDRESS(algorithm) &algorithm,
    SADDLE_ALGORITHMS(SADDLE_ALGORITHM_ADDRESS)
#undef SADDLE_ALGORITHM_ADDRESS
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
