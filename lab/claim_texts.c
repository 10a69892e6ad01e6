/* Claims and their results in words. */
#include "lab/claim_texts.h"

#include <math.h>
#include <string.h>

#define LEVELS_TEXT "1e-2, 1e-3, 1e-4, 1e-6 and 1e-8 of the start's"

const char *saddle_claims_verdict_text(claim_verdict verdict)
{
    static const char *const text[] = {[CLAIM_HOLDS] = "holds",
                                       [CLAIM_FAILS] = "does not hold",
                                       [CLAIM_UNDECIDED] = "not decided"};
    return text[verdict];
}

const char *saddle_claims_statement(const claims_outcome *o)
{
    const char *colon = strstr(o->statement, ": ");
    return colon != NULL ? colon + 2 : o->statement;
}

const char *saddle_claims_cost_text(const char *cost)
{
    return strcmp(cost, "ifo") == 0 ? "IFO calls" : "rounds";
}

static void append_names(char *text, const claims_chain *h, size_t first)
{
    for (size_t s = first; s < h->count; s++)
        CLAIMS_APPEND(text, "%s%s",
                      s == first         ? ""
                      : s + 1 < h->count ? ", "
                                         : " and ",
                      h->series[s]->label);
}

void saddle_claims_state(claims_outcome *out, const claims_chain *h)
{
    const paper_claim *c = out->claim;
    char *text = out->statement;
    CLAIMS_APPEND(text, "%s: ", out->experiment->title);
    switch (c->kind) {
    case CLAIM_FASTER:
        CLAIMS_APPEND(text, "%s brings the %s to " LEVELS_TEXT " in ", h->series[0]->label,
                      strcmp(c->quantity, "loss") == 0 ? "loss's distance from its limit"
                                                       : c->quantity);
        if (c->factor > 1.0)
            CLAIMS_APPEND(text, "at most 1/%g of the %s of ", c->factor,
                          saddle_claims_cost_text(c->cost));
        else
            CLAIMS_APPEND(text, "fewer %s than ", saddle_claims_cost_text(c->cost));
        CLAIMS_APPEND(text, "%s", h->count > 1 ? h->series[1]->label : "");
        for (size_t s = 2; s < h->count; s++)
            CLAIMS_APPEND(text, ", and that in fewer than %s", h->series[s]->label);
        break;
    case CLAIM_ALIKE:
        CLAIMS_APPEND(text,
                      "the %s to bring the metric to " LEVELS_TEXT
                      " differ by less than a factor of %g between ",
                      saddle_claims_cost_text(c->cost), c->factor);
        append_names(text, h, 0);
        break;
    case CLAIM_BELOW:
        CLAIMS_APPEND(text, "at equal iterations the metric of %s", h->series[0]->label);
        for (size_t s = 1; s < h->count; s++)
            CLAIMS_APPEND(text, "%s is below that of %s", s > 1 ? ", which" : "",
                          h->series[s]->label);
        break;
    case CLAIM_SLOPE_VALUE:
        CLAIMS_APPEND(text, "the %s to metric <= %g grow at most like n^%g",
                      saddle_claims_cost_text(c->cost), c->level, c->bound);
        break;
    case CLAIM_SLOPE_EPSILON:
        CLAIMS_APPEND(text, "the %s to metric <= epsilon^2 grow at most like (1/epsilon^2)^%g",
                      saddle_claims_cost_text(c->cost), c->bound);
        break;
    case CLAIM_SLOPE_TIME:
        CLAIMS_APPEND(text, "the least metric in T iterations falls at least like T^%g", c->bound);
        break;
    }
}

void saddle_claims_describe_level(char *text, const claims_level *level)
{
    size_t said = level->won + level->lost + level->tied;
    if (level->level > 0.0)
        CLAIMS_APPEND(text, "%s%.0e: ", *text == '\0' ? "" : "; ", level->level);
    if (said == 0) {
        CLAIMS_APPEND(text, "not reached");
        return;
    }
    if (level->log_ratio.count > 0) {
        int digits = level->level > 0.0 ? 3 : 6; /* whole curves differ by little */
        CLAIMS_APPEND(text, "%s%.*gx",
                      level->at_least  ? ">= "
                      : level->at_most ? "<= "
                                       : "",
                      digits, exp(level->log_ratio.mean));
        if (level->log_ratio.count > 1)
            CLAIMS_APPEND(text, " (%.*g-%.*g)", digits, exp(level->log_ratio.least), digits,
                          exp(level->log_ratio.most));
        CLAIMS_APPEND(text, ", ");
    }
    CLAIMS_APPEND(text, "%zu of %zu", level->won, said);
}

void saddle_claims_describe_halves(claims_outcome *out)
{
    size_t named = 0;
    for (size_t k = CLAIMS_FIRST_DECIDING; k < CLAIMS_LEVELS; k++) {
        const claims_level *level = &out->level[k];
        if (level->won > 0 && level->lost + level->tied == 0)
            CLAIMS_APPEND(out->numbers, "%s%.0e", named++ == 0 ? "; so it holds only at " : ", ",
                          level->level);
    }
}
