/* Writes tests, claims and their results in words. */
#include "lab/claim_texts.h"

#include <math.h>
#include <string.h>

#include "core/print.h"

/* Appends "at 1e-01" for a single level, otherwise "down to 1e-03". */
static void append_levels(char *text, const claims_part *part)
{
    bool below = part->verdict == CLAIM_HOLDS_BELOW;
    if (part->single)
        saddle_append(text, CLAIMS_VERDICT, " at %.0e", part->level);
    else if (part->verdict != CLAIM_HOLDS)
        saddle_append(text, CLAIMS_VERDICT, below ? " from %.0e down" : " down to %.0e",
                      part->level);
}

static void append_verdict(char *text, const claims_part *part)
{
    static const char *const plain[CLAIM_VERDICTS] = {
        [CLAIM_HOLDS] = "holds",
        [CLAIM_HOLDS_BELOW] = "holds",
        [CLAIM_HOLDS_ABOVE] = "holds",
        [CLAIM_HOLDS_PARTLY] = "holds at some levels only",
        [CLAIM_FAILS] = "does not hold",
        [CLAIM_UNDECIDED] = "not decided",
        [CLAIM_UNTESTED] = "not tested: no run got there",
        [CLAIM_NOT_CONTRADICTED] = "not contradicted",
        [CLAIM_SAYS_NOTHING] = "says nothing here"};
    saddle_append(text, CLAIMS_VERDICT, "%s", plain[part->verdict]);
    if (part->verdict > CLAIM_HOLDS_ABOVE)
        return;
    append_levels(text, part);
    if (part->verdict == CLAIM_HOLDS_ABOVE)
        saddle_append(text, CLAIMS_VERDICT, part->open ? ", finer levels not decided" : " only");
    else if (part->single)
        saddle_append(text, CLAIMS_VERDICT, ", the %s level reached",
                      part->verdict == CLAIM_HOLDS ? "only" : "finest");
}

const char *saddle_claims_verdict_text(const claims_outcome *o, char out[CLAIMS_VERDICT])
{
    *out = '\0';
    if (o->whole.verdict != CLAIM_DIFFERS)
        append_verdict(out, &o->whole);
    for (size_t k = 0; o->whole.verdict == CLAIM_DIFFERS && k < o->parts; k++) {
        saddle_append(out, CLAIMS_VERDICT, "%s%s: ", k > 0 ? "; " : "",
                      o->part[k].experiment->name);
        append_verdict(out, &o->part[k]);
    }
    return out;
}

const char *saddle_claims_cost_text(const char *cost)
{
    return strcmp(cost, "ifo") == 0               ? "IFO calls"
           : strcmp(cost, "network_seconds") == 0 ? "simulated seconds"
           : strcmp(cost, "rounds_after") == 0    ? "rounds after the last change"
                                                  : cost;
}

static void append_names(char *text, const claims_chain *chain, const char *between)
{
    for (size_t s = 0; s < chain->count; s++)
        CLAIMS_APPEND(text, "%s%s", s > 0 ? between : "", chain->series[s]->label);
}

void saddle_claims_write_statement(claims_measurement *out, const claims_chain *chain)
{
    const paper_test *t = out->test;
    char *text = out->statement;
    switch (t->kind) {
    case TEST_FASTER:
        append_names(text, chain, " against ");
        CLAIMS_APPEND(text, ", %s by the %s", saddle_claims_cost_text(t->cost), t->quantity);
        if (t->factor > 1.0)
            CLAIMS_APPEND(text, ", %g times fewer", t->factor);
        else if (t->factor < 1.0)
            CLAIMS_APPEND(text, ", at most %g times as many", 1.0 / t->factor);
        break;
    case TEST_ALIKE:
        append_names(text, chain, ", ");
        CLAIMS_APPEND(text, ": %s within a factor of %g", saddle_claims_cost_text(t->cost),
                      t->factor);
        break;
    case TEST_BELOW:
        CLAIMS_APPEND(text, "metric at equal iterations: ");
        append_names(text, chain, " below ");
        break;
    case TEST_SLOPE_VALUE:
        CLAIMS_APPEND(text, "%s to metric <= %g against n", saddle_claims_cost_text(t->cost),
                      t->level);
        break;
    case TEST_SLOPE_EPSILON:
        CLAIMS_APPEND(text, "%s to metric <= epsilon^2 against 1/epsilon^2",
                      saddle_claims_cost_text(t->cost));
        break;
    case TEST_SLOPE_TIME:
        CLAIMS_APPEND(text, "mean metric over T iterations against T");
        break;
    case TEST_THEOREM:
        CLAIMS_APPEND(text, "mean metric of ");
        append_names(text, chain, ", ");
        CLAIMS_APPEND(text, " below its bound");
        break;
    }
}

void saddle_claims_describe_level(char *text, size_t size, const claims_level *level)
{
    size_t said = level->won + level->lost + level->tied;
    if (said == 0)
        return;
    if (level->log_ratio.count > 0) {
        int digits = level->level > 0.0 ? 3 : 6; /* curves differ by little */
        saddle_append(text, size, "%s%.*gx",
                      level->at_least  ? ">= "
                      : level->at_most ? "<= "
                                       : "",
                      digits, exp(level->log_ratio.mean));
        if (level->log_ratio.count > 1)
            saddle_append(text, size, " (%.*g-%.*g)", digits, exp(level->log_ratio.least), digits,
                          exp(level->log_ratio.most));
        saddle_append(text, size, ", ");
    }
    saddle_append(text, size, "%zu of %zu", level->won, said);
}

void saddle_claims_describe_chance(char *text, size_t size, const claims_list *list)
{
    double chance;
    size_t comparisons = saddle_claims_comparisons(list, &chance);
    saddle_append(text, size,
                  "If no method were better than another, the seeds of a test of which method is "
                  "first would still agree sometimes: of the %zu such tests at levels made here, "
                  "at most %.2g would be decided by chance.",
                  comparisons, chance);
}
