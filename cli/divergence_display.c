/* The message about a run that diverged: where, and what to change. */
#include <math.h>
#include <string.h>

#include <saddle/algorithm.h>

#include "cli.h"

/* Which step sizes to change, depending on the algorithm's options and on the variable that is
 * farther off. Once an entry is not finite all others soon are not, so it does not show which
 * step is to blame. */
static const char *advice(const char *algorithm, const saddle_fault *fault)
{
    static const struct {
        const char *option;
        const char *in_x;
        const char *in_y;
        const char *in_both;
    } known[] = {
        {"nu", "lower --nu or raise --tau", "lower --alpha or --eta",
         "lower --nu and --eta, or raise --tau and lower --alpha"},
        {"eta-x", "lower --eta-x", "lower --eta-y", "lower --eta-x and --eta-y"},
        {"ppa-lipschitz", "raise --ppa-lipschitz", "raise --ppa-lipschitz-y",
         "raise --ppa-lipschitz and --ppa-lipschitz-y"},
    };
    bool in_y = *fault->variable == 'y';
    const saddle_algorithm *found = NULL;
    if (saddle_algorithm_find(&found, algorithm, NULL) != SADDLE_OK)
        return "take smaller steps";
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (const saddle_option *const *option = found->options; *option != NULL; option++)
            if (strcmp((*option)->name, known[k].option) == 0)
                return !isfinite(fault->value) ? known[k].in_both
                       : in_y                  ? known[k].in_y
                                               : known[k].in_x;
    return "take smaller steps";
}

void cli_report_divergence(const saddle_result *result, const char *prefix)
{
    const saddle_fault *fault = &result->fault;
    const char *why = "";
    if (result->cause[0] != '\0') {
        cli_say("%sdiverged at iteration %llu: %s", prefix, (unsigned long long)fault->iteration,
                result->cause);
        return;
    }
    if (fault->kind == SADDLE_FAULT_RUNAWAY)
        why = ", so large that the metric grows without bound";
    else if (isfinite(fault->value))
        why = ", so large that the loss is not finite";
    cli_say("%sdiverged at iteration %llu: agent %zu, variable %s[%zu] is %.3g%s; %s", prefix,
            (unsigned long long)fault->iteration, fault->agent, fault->variable, fault->index,
            fault->value, why, advice(result->plan.algorithm.name, fault));
}
