/*
 * The paper's comparisons of algorithms, tested on any runs.
 *
 * If there are traces of at least two of PRECISION, PRECISION+, Prox-GT-SGDA and Prox-DSGDA on the
 * same instance, the paper's claims about them are decided by the rules of claims.h, for the claim
 * table of a report.
 */
#ifndef SADDLE_LAB_PAPER_COMPARISONS_H
#define SADDLE_LAB_PAPER_COMPARISONS_H

#include "lab/claims.h"

/* Decides the claims that the traces can decide, possibly none. The traces are not kept. Free
 * with saddle_claims_list_release(). */
saddle_status saddle_paper_comparisons_make(claims_list *out, const saddle_trace *const *trace,
                                            size_t count, saddle_error *error);

#endif
