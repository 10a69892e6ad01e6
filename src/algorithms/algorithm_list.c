/* The list of algorithms, and finding one by its name. */
#include "algorithms/algorithms.h"
#include "core/registry.h"
#include "core/status.h"

static const saddle_algorithm *const algorithms[] = {
#define SADDLE_ALGORITHM_ADDRESS(algorithm) &algorithm,
    SADDLE_ALGORITHMS(SADDLE_ALGORITHM_ADDRESS)
#undef SADDLE_ALGORITHM_ADDRESS
};

enum { COUNT = sizeof algorithms / sizeof *algorithms };

const saddle_algorithm *const *saddle_algorithm_list(size_t *count)
{
    *count = COUNT;
    return algorithms;
}

saddle_status saddle_algorithm_find(const saddle_algorithm **out, const char *name,
                                    saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, name);
    const void *found;
    saddle_status status =
        saddle_registry_find(&found, "algorithm", name, algorithms, COUNT, error);
    *out = found;
    return status;
}
