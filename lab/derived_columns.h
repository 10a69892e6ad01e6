/*
 * Quantities that figures show and traces do not contain: they are computed from the runs of an experiment.
 *
 *   loss_gap     |loss - limit of the loss for this seed|; the loss itself would show nothing after its first digits
 *   mean_metric  mean of the metric over the iterations so far, which the theorems bound
 *   rounds_after rounds since the trace point before the last change of `present` or `components`, at least 1;
 *                all rounds if nothing changes
 *
 * They become columns of the traces in memory. A theorem's bound on a run becomes a separate trace with the same
 * columns, so that pictures and pages show it as one more curve.
 */
#ifndef SADDLE_LAB_DERIVED_COLUMNS_H
#define SADDLE_LAB_DERIVED_COLUMNS_H

#include "lab/paper_experiments.h"
#include "lab/theorem_check.h"

/* Appends the derived columns that the experiment's figure or claims need. trace[s * seeds + r] is series
 * s with seed r; NULL: missing. */
saddle_status saddle_derive_columns(const paper_experiment *e, saddle_trace **trace, size_t seeds,
                                    saddle_error *error);
/* Creates a trace of the bound on a run: mean_metric and potential are upper bounds. Free with
 * saddle_trace_free(). */
saddle_status saddle_derive_bound(saddle_trace **out, const saddle_trace *trace,
                                  const theorem_bound *bound, bool plus, saddle_error *error);

#endif
