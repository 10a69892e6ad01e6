/* Decides claims from their tests, by the rules in claims.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "lab/claims.h"

/* The state of a claim at level k, from all its tests. */
static claims_state together(const claims_measurement *measurement, size_t count, size_t k)
{
    size_t of[STATE_OPEN + 1] = {0};
    for (size_t j = 0; j < count; j++)
        if (k < measurement[j].levels)
            of[measurement[j].level[k].state]++;
    if (of[STATE_FALSE] > 0)
        return STATE_FALSE;
    if (of[STATE_OPEN] > 0)
        return STATE_OPEN;
    return of[STATE_TRUE] > 0 ? STATE_TRUE : STATE_SILENT;
}

/* The verdict on states from the coarsest level to the finest, none of them silent. *index
 * receives the last level of "holds down to", or the first of "holds". */
static claim_verdict judge_states(const claims_state *state, size_t count, size_t *index)
{
    size_t of[STATE_OPEN + 1] = {0};
    for (size_t k = 0; k < count; k++)
        of[state[k]]++;
    if (count == 0)
        return CLAIM_UNTESTED;
    if (of[STATE_TRUE] == count)
        return CLAIM_HOLDS;
    if (of[STATE_TRUE] == 0)
        return of[STATE_FALSE] > 0 ? CLAIM_FAILS : CLAIM_UNDECIDED;
    if (state[count - 1] == STATE_TRUE) {
        *index = count - 1;
        while (state[*index - 1] == STATE_TRUE)
            (*index)--;
        return CLAIM_HOLDS_BELOW;
    }
    if (state[0] == STATE_TRUE) {
        *index = 0;
        while (state[*index + 1] == STATE_TRUE)
            (*index)++;
        return CLAIM_HOLDS_ABOVE;
    }
    return CLAIM_HOLDS_PARTLY;
}

static claim_verdict of_theorem(claim_verdict verdict)
{
    return verdict == CLAIM_HOLDS      ? CLAIM_NOT_CONTRADICTED
           : verdict == CLAIM_UNTESTED ? CLAIM_SAYS_NOTHING
                                       : verdict;
}

/* The verdict of tests on one experiment. */
static void decide_part(claims_part *out, const claims_measurement *measurement, size_t count)
{
    claims_state state[CLAIMS_LEVELS];
    size_t level[CLAIMS_LEVELS] = {0};
    size_t said = 0;
    size_t index = 0;
    for (size_t k = 0; k < CLAIMS_LEVELS; k++) {
        state[said] = together(measurement, count, k);
        level[said] = k;
        said += state[said] != STATE_SILENT;
    }
    out->experiment = measurement->experiment;
    out->verdict = judge_states(state, said, &index);
    if (measurement->test->kind == TEST_THEOREM)
        out->verdict = of_theorem(out->verdict);
    out->level = saddle_claims_level(level[index]);
    bool first = out->verdict == CLAIM_HOLDS_ABOVE && index == 0;
    bool last =
        (out->verdict == CLAIM_HOLDS || out->verdict == CLAIM_HOLDS_BELOW) && index + 1 == said;
    /* Tests without levels have one state, which is not a level. */
    out->single = measurement->levels > 1 && (first || last);
    out->open = out->verdict == CLAIM_HOLDS_ABOVE;
    for (size_t k = index + 1; k < said; k++)
        out->open = out->open && state[k] == STATE_OPEN;
}

/* Whether two experiments have the same verdict. */
static bool agree(const claims_part *a, const claims_part *b)
{
    bool level = a->verdict == CLAIM_HOLDS_BELOW || a->verdict == CLAIM_HOLDS_ABOVE ||
                 (a->verdict == CLAIM_HOLDS && a->single);
    return a->verdict == b->verdict && a->single == b->single && a->open == b->open &&
           (!level || a->level == b->level);
}

static void decide(claims_outcome *out, const claims_measurement *measurement, size_t count)
{
    for (size_t first = 0, next; first < count; first = next) {
        next = first;
        while (next < count && measurement[next].experiment == measurement[first].experiment)
            next++;
        if (out->parts == CLAIMS_MOST_PARTS)
            return;
        claims_part *part = &out->part[out->parts++];
        decide_part(part, measurement + first, next - first);
        if (out->parts == 1)
            out->whole = *part;
        else if (!agree(&out->part[0], part))
            out->whole.verdict = CLAIM_DIFFERS;
    }
}

saddle_status saddle_claims_list_make(claims_list *out, size_t tests, size_t seeds,
                                      saddle_error *error)
{
    *out = (claims_list){.seeds = seeds,
                         .measurement = calloc(tests + 1, sizeof *out->measurement),
                         .outcome = calloc(tests + 1, sizeof *out->outcome)};
    return out->measurement != NULL && out->outcome != NULL ? SADDLE_OK
                                                            : saddle_no_memory(error, "the claims");
}

void saddle_claims_list_release(claims_list *list)
{
    free(list->measurement);
    free(list->outcome);
    *list = (claims_list){.tests = 0};
}

void saddle_claims_decide(claims_list *list)
{
    list->claims = 0;
    for (size_t first = 0, next; first < list->tests; first = next) {
        const char *name = list->measurement[first].test->claim;
        next = first;
        while (next < list->tests && strcmp(list->measurement[next].test->claim, name) == 0)
            next++;
        claims_outcome *out = &list->outcome[list->claims++];
        *out = (claims_outcome){
            .claim = saddle_paper_claim(name), .first = first, .count = next - first};
        decide(out, list->measurement + first, next - first);
    }
}

size_t saddle_claims_comparisons(const claims_list *list, double *chance)
{
    size_t comparisons = 0;
    *chance = 0.0;
    for (size_t j = 0; j < list->tests; j++)
        for (size_t k = 0; k < list->measurement[j].levels; k++) {
            const claims_level *level = &list->measurement[j].level[k];
            size_t said = level->won + level->lost + level->tied;
            if (said == 0 || 2 * said < list->seeds || level->state == STATE_SILENT ||
                list->measurement[j].test->kind != TEST_FASTER ||
                list->measurement[j].test->factor < 1.0)
                continue;
            comparisons++;
            *chance += ldexp(1.0, 1 - (int)said);
        }
    return comparisons;
}
