/* The explicit list of problems, in the order they are shown. */
#include "core/registry.h"
#include "problems/problems.h"

static const saddle_problem_class *const problems[] = {
    &saddle_robust_logistic,   &saddle_auc,       &saddle_fair, &saddle_poisoning,
    &saddle_policy_evaluation, &saddle_quadratic,
};

static const char *name_of(size_t index)
{
    return problems[index]->name;
}

const saddle_problem_class *const *saddle_problem_list(size_t *count)
{
    *count = sizeof problems / sizeof *problems;
    return problems;
}

saddle_status saddle_problem_find(const saddle_problem_class **out, const char *name,
                                  saddle_error *error)
{
    size_t index = 0;
    size_t count = sizeof problems / sizeof *problems;
    *out = NULL;
    saddle_status status = saddle_registry_find(&index, "problem", name, name_of, count, error);
    if (status == SADDLE_OK)
        *out = problems[index];
    return status;
}
