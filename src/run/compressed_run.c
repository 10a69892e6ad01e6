/* Runs whose messages are compressed: what is refused, and what a rate that is too large leads to. */
#include <math.h>

#include "core/print.h"
#include "core/status.h"
#include "graph/compression.h"
#include "run/run.h"

saddle_status saddle_run_check_compression(const saddle_run_state *r, saddle_error *error)
{
    if (r->info.instance->compression == NULL || r->layout.rounds == 0 || r->layout.fields > 0)
        return SADDLE_OK;
    return saddle_fail(
        error, SADDLE_UNSUPPORTED,
        "compress: algorithm %s does not say which fields its messages have, so that "
        "they cannot be compressed; let its layout() add them by "
        "saddle_layout_add(), or leave compress out",
        r->info.algorithm->name);
}

/* What to do about a rate that was given or chosen. */
static const char *remedy(const saddle_compression *rule)
{
    return rule->kind == SADDLE_COMPRESS_QUANTIZE
               ? "give a smaller mixing-rate, or compress with more bits"
               : "give a smaller mixing-rate, or compress to a larger fraction";
}

void saddle_run_warn_of_replicas(saddle_run_state *r)
{
    const saddle_compression *rule = r->info.instance->compression;
    char message[256];
    if (rule == NULL || r->layout.rounds == 0)
        return;
    unsigned level = r->engine->kind->level(r->engine);
    if (level <= r->level)
        return;
    bool first = r->level == 0;
    r->level = level;
    if (rule->backs_off)
        saddle_snprintf(message, sizeof message,
                        "compress: messages did not keep up with the changes; the mixing rate is "
                        "lowered from %g to %g",
                        r->info.mixing_rate, ldexp(r->info.mixing_rate, -(int)level));
    else if (first)
        saddle_snprintf(message, sizeof message,
                        "mixing-rate: with %g, messages compressed by %.60s cannot keep up with "
                        "the changes, and agents drift apart; %s",
                        r->info.mixing_rate, r->info.plan->network.compress, remedy(rule));
    else
        return;
    saddle_run_warn(r, message);
}

void saddle_run_name_rate(const saddle_run_state *r, const saddle_fault *fault)
{
    const saddle_compression *rule = r->info.instance->compression;
    if (rule == NULL || r->layout.rounds == 0 || r->result->cause[0] != '\0')
        return;
    saddle_snprintf(
        r->result->cause, sizeof r->result->cause,
        "agent %zu, variable %.23s[%zu] is %.3g with compress %.30s and mixing-rate %g; "
        "%s, or take smaller steps",
        fault->agent, fault->variable, fault->index, fault->value, r->info.plan->network.compress,
        r->info.mixing_rate, remedy(rule));
}
