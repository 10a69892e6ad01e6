/* Tests and their results in words, for claims.c. Texts have a capacity of CLAIMS_TEXT. */
#ifndef SADDLE_LAB_CLAIM_TEXTS_H
#define SADDLE_LAB_CLAIM_TEXTS_H

#include "lab/claims.h"
#include "lab/number_text.h"

/* The series of a test with their traces, in the test's order. */
typedef struct claims_chain {
    size_t count;
    const experiment_series *series[EXPERIMENT_MOST_SERIES];
    const saddle_trace *const *trace[EXPERIMENT_MOST_SERIES]; /* by seed */
} claims_chain;

/* Appends to a text of a test. */
#define CLAIMS_APPEND(text, ...) saddle_append((text), CLAIMS_TEXT, __VA_ARGS__)
/* Writes what is tested. */
void saddle_claims_write_statement(claims_measurement *out, const claims_chain *chain);

#endif
