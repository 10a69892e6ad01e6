/* The message about a run that diverged: where, and what to change. */
#include "cli.h"

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
            fault->value, why, result->remedy);
}
