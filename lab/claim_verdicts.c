/* Deciding claims from their tests: the rules are in claims.h. */
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "lab/claims.h"

/* What all tests of a claim together are at level k. */
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

/* The verdict on states from the coarsest level to the finest, none of them silent. */
static claim_verdict judge_states(const claims_state *state, size_t count, size_t *place)
{
    size_t false_ones = 0;
    size_t open = 0;
    for (size_t k = 0; k < count; k++) {
        false_ones += state[k] == STATE_FALSE;
        open += state[k] == STATE_OPEN;
    }
    if (count == 0)
        return CLAIM_UNTESTED;
    if (false_ones + open == 0)
        return CLAIM_HOLDS;
    if (state[count - 1] == STATE_TRUE) {
        *place = count - 1;
        while (state[*place - 1] == STATE_TRUE)
            (*place)--;
        return CLAIM_HOLDS_BELOW;
    }
    if (state[0] == STATE_TRUE) {
        *place = 0;
        while (state[*place + 1] == STATE_TRUE)
            (*place)++;
        return CLAIM_HOLDS_ABOVE;
    }
    return false_ones > 0 ? CLAIM_FAILS : CLAIM_UNDECIDED;
}

static void decide(claims_outcome *out, const claims_measurement *measurement, size_t count)
{
    claims_state state[CLAIMS_LEVELS];
    size_t level[CLAIMS_LEVELS] = {0};
    size_t said = 0;
    size_t place = 0;
    for (size_t k = 0; k < CLAIMS_LEVELS; k++) {
        state[said] = together(measurement, count, k);
        level[said] = k;
        said += state[said] != STATE_SILENT;
    }
    out->verdict = judge_states(state, said, &place);
    out->level = saddle_claims_level(level[place]);
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

size_t saddle_claims_comparisons(const claims_list *list)
{
    size_t comparisons = 0;
    for (size_t j = 0; j < list->tests; j++)
        for (size_t k = 0; k < list->measurement[j].levels; k++) {
            const claims_level *level = &list->measurement[j].level[k];
            comparisons += level->won + level->lost + level->tied > 0;
        }
    return comparisons;
}

size_t saddle_claims_count(const claims_list *list, bool ours, claim_verdict verdict)
{
    size_t count = 0;
    for (size_t k = 0; k < list->claims; k++)
        count +=
            (list->outcome[k].claim->source == NULL) == ours && list->outcome[k].verdict == verdict;
    return count;
}
