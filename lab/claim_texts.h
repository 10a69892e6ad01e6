/* Claims and their results in words, for claims.c. Texts have a capacity of CLAIMS_TEXT. */
#ifndef SADDLE_LAB_CLAIM_TEXTS_H
#define SADDLE_LAB_CLAIM_TEXTS_H

#include "lab/claims.h"
#include "lab/number_text.h"

/* The series of a claim with their traces, in the claim's order. */
typedef struct claims_chain {
    size_t count;
    const experiment_series *series[EXPERIMENT_MOST_SERIES];
    const saddle_trace *const *trace[EXPERIMENT_MOST_SERIES]; /* by seed */
} claims_chain;

/* Append to a text of a claim. */
#define CLAIMS_APPEND(text, ...) saddle_append((text), CLAIMS_TEXT, __VA_ARGS__)
/* Write what is claimed. */
void saddle_claims_state(claims_outcome *out, const claims_chain *h);
/* Append what was measured at a level. */
void saddle_claims_describe_level(char *text, const claims_level *level);
/* Append the levels at which a claim that fails at some of them holds. */
void saddle_claims_describe_halves(claims_outcome *out);

#endif
