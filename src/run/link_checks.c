/* Which algorithms support which links, agents that leave and join, and compressed messages; and what a
 * mixing rate of these that is too large leads to. */
#include "algorithms/layout.h"
#include "graph/churn.h"
#include "graph/clip_rule.h"
#include "graph/compression.h"
#include "graph/link_rule.h"
#include "run/run.h"

bool saddle_run_is_between_owners(const saddle_run_state *r)
{
    return strcmp(r->info.network->parts->engine->name, "peer") == 0;
}

/* Refuses links for which the algorithm has no exact rule. */
static saddle_status check_losses(const saddle_run_state *r, saddle_error *error)
{
    const saddle_instance *e = r->info.instance;
    if (e->links == NULL || !saddle_link_rule_one_sided(e->links) ||
        saddle_layout_has_sums(&r->layout) || e->plan->network.inexact != SADDLE_INEXACT_NO)
        return SADDLE_OK;
    if (saddle_run_is_between_owners(r))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "deadline: %s cannot make up for late messages; use an algorithm that "
                           "tracks gradients, such as precision, or remove the line",
                           r->info.algorithm->name);
    return saddle_fail(
        error, SADDLE_UNSUPPORTED,
        "--links: %s cannot make up for lost or late messages: with links %.200s its agents would "
        "agree on a wrong answer; use --links agreed:P, or an algorithm that tracks gradients, "
        "such as precision, or set --inexact to own or stale to see the error",
        r->info.algorithm->name, e->plan->network.links);
}

/* Returns whether a layout has an iterate of a name and length that is sent. */
static bool has_iterate(const saddle_layout *layout, const char *name, size_t length)
{
    for (size_t f = 0; f < layout->fields; f++)
        if (layout->field[f].kind == SADDLE_FIELD_ITERATE && layout->field[f].length == length &&
            strcmp(layout->field[f].name, name) == 0)
            return true;
    return false;
}

/* Refuses churn if the algorithm cannot be restarted from an iterate. */
static saddle_status check_churn(const saddle_run_state *r, saddle_error *error)
{
    const saddle_instance *e = r->info.instance;
    const saddle_algorithm *a = r->info.algorithm;
    if (e->churn == NULL)
        return SADDLE_OK;
    if (!has_iterate(&r->layout, "x", e->problem->x_dim) ||
        !has_iterate(&r->layout, "y", e->problem->y_dim))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--churn: %s does not declare iterates x and y among its fields, from "
                           "which agents could start anew; use another algorithm",
                           a->name);
    if (a->wants_oracle != NULL && a->wants_oracle(r->parameters))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--churn: %s with these options needs a number that is computed from "
                           "all agents at once (gamma exact); set --gamma to local",
                           a->name);
    return SADDLE_OK;
}

/* Refuses to compress the messages of an algorithm that has no table of fields. */
static saddle_status check_compression(const saddle_run_state *r, saddle_error *error)
{
    if (r->info.instance->compression == NULL || r->layout.rounds == 0 || r->layout.fields > 0)
        return SADDLE_OK;
    return saddle_fail(
        error, SADDLE_UNSUPPORTED,
        "--compress: algorithm %s does not say which fields its messages have, so that they cannot "
        "be compressed; let its layout() add them by saddle_layout_add(), or leave --compress out",
        r->info.algorithm->name);
}

/* Refuses to clip the messages of algorithms that this drives away from the solution: what clipping takes from sums is
 * lost, and goes on being lost if the noise of gradients does not vanish, or a liar stays at the same distance. */
static saddle_status check_clipping(const saddle_run_state *r, saddle_error *error)
{
    const saddle_algorithm *a = r->info.algorithm;
    const saddle_clip_rule *rule = r->info.instance->clipping;
    const char *why = NULL;
    if (rule == NULL || r->layout.rounds == 0)
        return SADDLE_OK;
    if (r->layout.fields == 0)
        why = "does not say which fields its messages have; let its layout() add them";
    else if (saddle_layout_has_sums(&r->layout) && !a->traits.settles)
        why = "tracks gradients whose noise stays, and clipped trackers drift; use precision, "
              "gt-gda, dgda-vr, dream, vrlm, or one that tracks no gradients, such as prox-dsgda";
    else if (saddle_layout_has_sums(&r->layout) && rule->liars == 0)
        why = "tracks gradients, and a liar within a fixed radius moves trackers in every round; "
              "give liars:F";
    return why == NULL
               ? SADDLE_OK
               : saddle_fail(error, SADDLE_UNSUPPORTED, "--clip-mixing: %s %s", a->name, why);
}

saddle_status saddle_run_check_links(const saddle_run_state *r, saddle_error *error)
{
    SADDLE_TRY(check_losses(r, error));
    SADDLE_TRY(check_churn(r, error));
    SADDLE_TRY(check_compression(r, error));
    return check_clipping(r, error);
}

/* Warns of rounds, in order, that lie behind the end of the run. An event takes effect at the
 * beginning of the first iteration that begins in its round or later. */
static void warn_of_late(const saddle_run_state *r, const char *option, const char *what,
                         uint64_t first, size_t late)
{
    if (late > 0)
        saddle_run_warn(r,
                        "--%s: the run ends after %" PRIu64
                        " rounds, so %zu %s%s from round %" PRIu64 " on %s no effect",
                        option, r->given.limits.iterations * r->layout.rounds, late, what,
                        SADDLE_PLURAL(late), first, late == 1 ? "has" : "have");
}

void saddle_run_warn_of_late_events(const saddle_run_state *r)
{
    const saddle_churn *churn = r->info.instance->churn;
    const saddle_link_rule *links = r->info.instance->links;
    uint64_t iterations = r->given.limits.iterations;
    unsigned rounds = r->layout.rounds;
    if (rounds == 0 || iterations == 0 || iterations > SADDLE_UNLIMITED_ITERATIONS / 64)
        return;
    size_t k = 0;
    while (churn != NULL && k < churn->count && churn->event[k].round <= (iterations - 1) * rounds)
        k++;
    if (churn != NULL && k < churn->count)
        warn_of_late(r, "churn", "event", churn->event[k].round, churn->count - k);
    k = 0;
    bool schedule = links != NULL && links->kind == SADDLE_LINKS_SCHEDULE;
    while (schedule && k < links->steps && links->from[k] < iterations * rounds)
        k++;
    if (schedule && k < links->steps)
        warn_of_late(r, "links", "change", links->from[k], links->steps - k);
}

saddle_status saddle_run_warn_of_separation(const saddle_run_state *r, saddle_error *error)
{
    const saddle_instance *e = r->info.instance;
    uint64_t iterations = r->given.limits.iterations;
    uint64_t rounds = UINT64_MAX;
    uint64_t from = 0;
    char components[SADDLE_COMPONENTS_TEXT];
    if (e->links == NULL || e->links->kind != SADDLE_LINKS_SCHEDULE || r->layout.rounds == 0)
        return SADDLE_OK;
    if (iterations <= SADDLE_UNLIMITED_ITERATIONS / 64)
        rounds = iterations * r->layout.rounds;
    SADDLE_TRY(saddle_link_rule_parted(e->links, e->graph, rounds, &from, components, error));
    /* A schedule of single edges connects nobody any more shortly before its end. */
    if (components[0] != '\0' && from <= rounds / 2)
        saddle_run_warn(r,
                        "--links: from round %" PRIu64
                        " to the end of the run, the edges of schedule '%.200s' never connect all "
                        "agents: %s, which cannot agree with each other; list edges that join "
                        "them in later rounds, too",
                        from, e->links->tail, components);
    return SADDLE_OK;
}

void saddle_run_warn_of_components(const saddle_run_state *r)
{
    if (r->row.components > 1.0 && r->result->stop != SADDLE_STOP_DIVERGED)
        saddle_run_warn(r,
                        "--churn: the run ends with a network of %.0f parts, which cannot agree "
                        "with each other; only the largest one is measured",
                        r->row.components);
}

/* ---- compressed messages --------------------------------------------------------------------- */

/* After this many times 1 / (spectral gap) rounds, messages that are not compressed have brought agents together. */
#define MIXING_TIMES 5.0
/* A run whose messages are not compressed is warned of if it ends at this many times the metric of its start. */
#define GROWN 1e3

/* Returns how to lose less in messages. */
static const char *remedy(const saddle_compression *rule)
{
    return rule->kind == SADDLE_COMPRESS_QUANTIZE ? "compress with more bits"
                                                  : "compress to a larger fraction";
}

void saddle_run_warn_of_replicas(saddle_run_state *r)
{
    const saddle_compression *rule = r->info.instance->compression;
    if (rule == NULL || r->layout.rounds == 0)
        return;
    unsigned level = r->engine->kind->level(r->engine);
    if (level <= r->level)
        return;
    bool first = r->level == 0;
    double before = ldexp(r->info.mixing_rate, -(int)r->level);
    r->level = level;
    if (rule->backs_off)
        saddle_run_warn(r,
                        "--compress: messages did not keep up with the changes; the mixing rate is "
                        "lowered from %g to %g",
                        before, ldexp(r->info.mixing_rate, -(int)level));
    else if (first)
        saddle_run_warn(r,
                        "--mixing-rate: with %g, messages compressed by %.60s cannot keep up with "
                        "the changes, and agents drift apart; give a smaller --mixing-rate, or %s",
                        r->info.mixing_rate, r->info.plan->network.compress, remedy(rule));
}

saddle_status saddle_run_warn_of_growth(const saddle_run_state *r, saddle_error *error)
{
    const saddle_instance *e = r->info.instance;
    const saddle_row *row = &r->row;
    const saddle_row *first = r->result->rows;
    bool compressed = e->compression != NULL && r->layout.rounds > 0;
    bool solved = row->gap <= saddle_result_goal(r->result);
    if (r->result->row_count == 0 || r->result->stop == SADDLE_STOP_DIVERGED || solved)
        return SADDLE_OK;
    /* Agents that have hardly communicated yet may differ. The objective may rise as long as y is behind, which the
     * metric then shows to come closer; and it is another one once agents have left or joined. */
    bool begun = r->layout.rounds > 0 && (double)row->cost.rounds * e->spectrum.gap < MIXING_TIMES;
    bool higher = row->metric > (compressed && !begun ? 1.0 : GROWN) * first->metric;
    bool worse = !begun && e->churn == NULL && row->primal > first->primal &&
                 (compressed || row->metric > first->metric);
    if (!higher && !worse)
        return SADDLE_OK;
    char steps[sizeof r->result->remedy] = "";
    double apart = row->x_consensus + row->y_consensus;
    const char *what = higher ? "metric" : "primal objective";
    double end = higher ? row->metric : row->primal;
    double start = higher ? first->metric : first->primal;
    SADDLE_TRY(saddle_run_name_steps(r, &(saddle_fault){.value = (double)NAN}, steps, sizeof steps,
                                     error));
    if (!compressed)
        saddle_run_warn(r, "the run ends at a %s of %.3g, %sabove the %.3g of its start; %s", what,
                        end, higher ? "far " : "", start, steps);
    else if (apart > 0.5 * row->metric)
        saddle_run_warn(r,
                        "--compress: the run ends at a %s of %.3g, above the %.3g of its start: "
                        "messages compressed by %.60s do not hold the agents together (consensus "
                        "error %.3g); %s, or take smaller steps or larger batches",
                        what, end, start, r->info.plan->network.compress, apart,
                        remedy(e->compression));
    else
        saddle_run_warn(r,
                        "--compress: the run ends at a %s of %.3g, above the %.3g of its start, "
                        "with messages compressed by %.60s; %s, or %s",
                        what, end, start, r->info.plan->network.compress, remedy(e->compression),
                        steps);
    return SADDLE_OK;
}

void saddle_run_name_rate(const saddle_run_state *r, const saddle_fault *fault)
{
    const saddle_compression *rule = r->info.instance->compression;
    if (rule == NULL || r->layout.rounds == 0 || r->result->cause[0] != '\0')
        return;
    saddle_snprintf(r->result->cause, sizeof r->result->cause,
                    "agent %zu, variable %.23s[%zu] is %.3g with --compress %.30s and "
                    "--mixing-rate %g; give a smaller --mixing-rate, %s, or take smaller steps",
                    fault->agent, fault->variable, fault->index, fault->value,
                    r->info.plan->network.compress, r->info.mixing_rate, remedy(rule));
}
