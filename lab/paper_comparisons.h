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

/* Decide what can be decided, which may be nothing; nothing is kept of the traces. Free with saddle_claims_list_release(). */
saddle_status saddle_paper_comparisons_make(claims_list *out, const saddle_trace *const *trace,
                                            size_t count, saddle_error *error);

#endif
