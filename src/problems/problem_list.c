/* The built-in problems, in the order in which they are listed. */
#include "core/registry.h"
#include "problems/problems.h"

static const saddle_problem_class *const problems[] = {
    &saddle_robust_logistic,
    &saddle_auc,
    &saddle_fair,
    &saddle_group_dro,
    &saddle_robust_regression,
    &saddle_poisoning,
    &saddle_policy_evaluation,
    &saddle_quadratic,
};

enum { COUNT = sizeof problems / sizeof *problems };

const saddle_problem_class *const *saddle_problem_list(size_t *count)
{
    *count = COUNT;
    return problems;
}

saddle_status saddle_problem_find(const saddle_problem_class **out, const char *name,
                                  saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, name);
    const void *found;
    SADDLE_TRY(saddle_registry_find(&found, "problem", name, problems, COUNT, error));
    *out = found;
    return SADDLE_OK;
}
