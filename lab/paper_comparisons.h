/*
 * The paper's comparisons of algorithms, tested on any runs.
 *
 * Where traces are of at least two of PRECISION, PRECISION+, Prox-GT-SGDA and Prox-DSGDA on the same
 * instance, the claims that the paper makes about them are decided by the rules of claims.h, for the
 * claim table of a report.
 */
#ifndef SADDLE_LAB_PAPER_COMPARISONS_H
#define SADDLE_LAB_PAPER_COMPARISONS_H

#include "lab/claims.h"

typedef struct paper_comparisons {
    size_t seeds;            /* that the claims were tested on */
    size_t claims;           /* 0: these runs decide none */
    claims_outcome *outcome; /* owned */
} paper_comparisons;

/* Decide what can be decided; nothing is kept of the traces. Free with saddle_paper_comparisons_release(). */
saddle_status saddle_paper_comparisons_make(paper_comparisons *out,
                                            const saddle_trace *const *trace, size_t count,
                                            saddle_error *error);
/* Free it. Safe on a zeroed struct. */
void saddle_paper_comparisons_release(paper_comparisons *a);

#endif
