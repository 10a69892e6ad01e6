/* Quantities computed from traces; see derived_columns.h. */
#include "lab/derived_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/print.h"
#include "core/status.h"
#include "lab/claims.h"
#include "lab/trace_build.h"

#define ITERATION "iteration"
#define MEAN_METRIC "mean_metric"
#define LOSS_GAP "loss_gap"
#define ROUNDS_AFTER "rounds_after"

/* ---- columns --------------------------------------------------------------------------------- */

static bool add_loss_gap(saddle_trace *trace, double limit)
{
    const double *loss = saddle_trace_column(trace, "loss");
    double *gap = saddle_trace_add_column(trace, LOSS_GAP);
    for (size_t k = 0; gap != NULL && k < trace->rows; k++)
        gap[k] = fabs(loss[k] - limit);
    return gap != NULL;
}

static bool add_mean_metric(saddle_trace *trace)
{
    const double *metric = saddle_trace_column(trace, "metric");
    double *mean = saddle_trace_add_column(trace, MEAN_METRIC);
    for (size_t k = 0; mean != NULL && k < trace->rows; k++)
        mean[k] = k > 0 ? saddle_theorem_mean_metric(metric, k) : (double)NAN;
    return mean != NULL;
}

/* The rounds of the last trace point before a column changes for the last time; 0: it never does. */
static double last_change(const saddle_trace *trace, const char *name)
{
    const double *rounds = saddle_trace_column(trace, "rounds");
    const double *value = saddle_trace_column(trace, name);
    double last = 0.0;
    for (size_t k = 1; value != NULL && k < trace->rows; k++)
        if (value[k] != value[k - 1])
            last = rounds[k - 1];
    return last;
}

static bool add_rounds_after(saddle_trace *trace)
{
    double last = fmax(last_change(trace, "present"), last_change(trace, "components"));
    double *after = saddle_trace_add_column(trace, ROUNDS_AFTER);
    const double *rounds = saddle_trace_column(trace, "rounds");
    for (size_t k = 0; after != NULL && k < trace->rows; k++)
        after[k] = fmax(1.0, rounds[k] - last);
    return after != NULL;
}

static bool has_churn(const paper_experiment *e)
{
    for (size_t s = 0; s < e->count; s++)
        if (e->series[s].churn != NULL)
            return true;
    return false;
}

saddle_status saddle_derive_columns(const paper_experiment *e, saddle_trace **trace, size_t seeds,
                                    saddle_error *error)
{
    bool gap = strstr(e->panels, LOSS_GAP) != NULL;
    bool mean = strstr(e->panels, MEAN_METRIC) != NULL;
    bool after = has_churn(e);
    const saddle_trace *const *all = (const saddle_trace *const *)trace;
    for (size_t k = 0; k < e->count * seeds; k++) {
        if (trace[k] == NULL || trace[k]->rows == 0)
            continue;
        if ((gap && !add_loss_gap(trace[k], saddle_claims_loss_limit(e, all, seeds, k % seeds))) ||
            (mean && !add_mean_metric(trace[k])) || (after && !add_rounds_after(trace[k])))
            return saddle_no_memory(error, "a column");
    }
    return SADDLE_OK;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Creates a trace without values, named after the algorithm. */
static saddle_trace *create_bound(const saddle_trace *of, bool plus)
{
    const char *seed = saddle_trace_setting(of, "seed");
    char path[64];
    char algorithm[64];
    saddle_snprintf(path, sizeof path, "%s-bound-seed%.20s.csv", plus ? "precision+" : "precision",
                    seed);
    saddle_snprintf(algorithm, sizeof algorithm, "bound of %s", plus ? "PRECISION+" : "PRECISION");
    saddle_trace *bound = saddle_trace_create(path, of->version, "no run: computed", of->rows);
    if (bound != NULL && saddle_trace_add_entry(bound, "algorithm", algorithm) &&
        saddle_trace_add_entry(bound, "seed", seed))
        return bound;
    saddle_trace_free(bound);
    return NULL;
}

/* Copies the costs of the run. */
static bool copy_costs(saddle_trace *bound, const saddle_trace *of)
{
    static const char *const cost[] = {ITERATION, "ifo", "rounds", "bytes", "network_seconds"};
    for (size_t c = 0; c < sizeof cost / sizeof *cost; c++) {
        const double *from = saddle_trace_column(of, cost[c]);
        double *to = from != NULL ? saddle_trace_add_column(bound, cost[c]) : NULL;
        if (from != NULL && to == NULL)
            return false;
        if (from != NULL)
            memcpy(to, from, of->rows * sizeof *to);
    }
    return true;
}

saddle_status saddle_derive_bound(saddle_trace **out, const saddle_trace *trace,
                                  const theorem_bound *bound, bool plus, saddle_error *error)
{
    double *mean = NULL;
    saddle_trace *made = create_bound(trace, plus);
    if (made != NULL && copy_costs(made, trace))
        mean = saddle_trace_add_column(made, MEAN_METRIC);
    if (mean == NULL) {
        saddle_trace_free(made);
        *out = NULL;
        return saddle_no_memory(error, "a theorem's bound");
    }
    saddle_theorem_allowed(bound, trace->rows, saddle_trace_column(trace, ITERATION), mean);
    *out = made;
    return SADDLE_OK;
}
