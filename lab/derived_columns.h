/*
 * What figures show and traces do not say: quantities that follow from the runs of an experiment.
 *
 *   loss_gap     |loss - what the loss of the seed's runs settles at|; losses that fall by many digits
 *                show nothing after the first
 *   mean_metric  mean of the metric over the iterations so far, of which the theorems speak
 *   rounds_after rounds since the last change of `present` or `components`, from the trace point before it, at least 1;
 *                all rounds where nothing changes
 *
 * They become columns of the traces in memory. A theorem's bound on a run becomes a trace of its own
 * with the same columns, so that pictures and pages show it as one more curve.
 */
#ifndef SADDLE_LAB_DERIVED_COLUMNS_H
#define SADDLE_LAB_DERIVED_COLUMNS_H

#include "lab/paper_experiments.h"
#include "lab/theorem_check.h"

/* Append the derived columns that the experiment's figure or claims need. trace[s * seeds + r] is series s with
 * seed r; NULL: missing. */
saddle_status saddle_derive_columns(const paper_experiment *e, saddle_trace **trace, size_t seeds,
                                    saddle_error *error);
/* A bound on a run as a trace: mean_metric and potential are the most that they may be. Free with
 * saddle_trace_free(). */
saddle_status saddle_derive_bound(saddle_trace **out, const saddle_trace *trace,
                                  const theorem_bound *bound, bool plus, saddle_error *error);

#endif
