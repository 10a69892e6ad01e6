/*
 * The paper's comparisons of algorithms, asked of anybody's runs.
 *
 * Where traces are of at least two of PRECISION, PRECISION+, Prox-GT-SGDA and Prox-DSGDA on the same
 * instance, the claims that the paper makes about them are decided by the rules of claims.h, for the
 * claim table of a report.
 */
#ifndef SADDLE_CLI_ASKED_H
#define SADDLE_CLI_ASKED_H

#include "claims.h"

typedef struct asked {
    size_t seeds;  /* that the claims were asked of */
    size_t claims; /* 0: these runs say nothing about them */
    report_claim *claim;
    claims_outcome *outcome;
} asked;

/* Decide what can be decided; nothing is kept of the traces. Free with asked_release(). */
saddle_status asked_make(asked *out, const saddle_trace *const *trace, size_t count,
                         saddle_error *error);
/* Free it. Safe on a zeroed struct. */
void asked_release(asked *a);

#endif
