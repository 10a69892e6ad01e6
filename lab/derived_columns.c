/* Quantities that follow from traces; see derive.h. */
#include "lab/derived_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/claims.h"

#define ITERATION "iteration"
#define MEAN_METRIC "mean_metric"
#define LOSS_GAP "loss_gap"

/* ---- columns --------------------------------------------------------------------------------- */

/* A column as traces hold it; NULL: none. */
static double *values_of(const saddle_trace *trace, const char *name)
{
    for (size_t c = 0; c < trace->columns; c++)
        if (strcmp(trace->column[c], name) == 0)
            return trace->value[c];
    return NULL;
}

/* Append a column to a trace, which copies it. */
static saddle_status append(saddle_trace *trace, const char *name, double *values,
                            saddle_error *error)
{
    char first[] = ITERATION;
    char second[32];
    snprintf(second, sizeof second, "%s", name);
    char *column[] = {first, second};
    double *value[] = {values_of(trace, ITERATION), values};
    saddle_trace other = {
        .columns = 2, .column = column, .value = value, .rows = trace->rows, .path = trace->path};
    return saddle_trace_join(trace, &other, error);
}

static void fill_loss_gap(const saddle_trace *trace, double limit, double *out)
{
    const double *loss = saddle_trace_column(trace, "loss");
    for (size_t k = 0; k < trace->rows; k++)
        out[k] = fabs(loss[k] - limit);
}

saddle_status saddle_derive_columns(const paper_experiment *e, saddle_trace **trace, size_t seeds,
                                    saddle_error *error)
{
    bool gap = strstr(e->panels, LOSS_GAP) != NULL;
    bool mean = strstr(e->panels, MEAN_METRIC) != NULL;
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && (gap || mean) && k < e->count * seeds; k++) {
        if (trace[k] == NULL || trace[k]->rows == 0)
            continue;
        double *values = calloc(trace[k]->rows, sizeof *values);
        if (values == NULL) {
            saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for a column");
            return SADDLE_NO_MEMORY;
        }
        if (gap) {
            double limit =
                saddle_claims_loss_limit(e, (const saddle_trace *const *)trace, seeds, k % seeds);
            fill_loss_gap(trace[k], limit, values);
            status = append(trace[k], LOSS_GAP, values, error);
        }
        if (status == SADDLE_OK && mean) {
            saddle_theorem_mean_metric(trace[k]->rows, saddle_trace_column(trace[k], ITERATION),
                                       saddle_trace_column(trace[k], "metric"), values);
            status = append(trace[k], MEAN_METRIC, values, error);
        }
        free(values);
    }
    return status;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Costs are those of the run; the last two columns are the bound's own. */
static const char *const costs[] = {ITERATION, "ifo", "rounds", "bytes"};
#define COSTS (sizeof costs / sizeof *costs)

/* A trace that nobody has read from a file. */
typedef struct fabricated {
    saddle_trace trace; /* the first member: saddle_derive_free() gets its address */
    saddle_trace_entry entry[2];
    char *column[COSTS + 2];
    double *value[COSTS + 2];
    double *own; /* owned: values of its own columns */
    char text[8][64];
} fabricated;

/* A text that a trace can point to. */
static char *keep(fabricated *f, size_t place, const char *text)
{
    snprintf(f->text[place], sizeof f->text[place], "%s", text);
    return f->text[place];
}

static void describe(fabricated *f, const saddle_trace *of, bool plus)
{
    const char *seed = saddle_trace_setting(of, "seed");
    char text[64];
    f->entry[0] = (saddle_trace_entry){keep(f, 0, "algorithm"), f->text[1]};
    snprintf(f->text[1], sizeof f->text[1], "bound of Theorem %d (%s)", plus ? 2 : 1,
             plus ? "PRECISION+" : "PRECISION");
    f->entry[1] = (saddle_trace_entry){keep(f, 2, "seed"), keep(f, 3, seed)};
    snprintf(text, sizeof text, "theorem-%d-bound-seed%.20s.csv", plus ? 2 : 1, seed);
    f->trace = (saddle_trace){.path = keep(f, 4, text),
                              .version = of->version,
                              .entries = 2,
                              .entry = f->entry,
                              .column = f->column,
                              .value = f->value,
                              .rows = of->rows,
                              .end = keep(f, 5, "no run: computed")};
}

static void add_column(fabricated *f, char *name, double *values)
{
    f->column[f->trace.columns] = name;
    f->value[f->trace.columns++] = values;
}

saddle_status saddle_derive_bound(saddle_trace **out, const saddle_trace *trace,
                                  const theorem_bound *bound, bool plus, saddle_error *error)
{
    *out = NULL;
    fabricated *f = calloc(1, sizeof *f);
    double *own = calloc(2 * trace->rows + 1, sizeof *own);
    if (f == NULL || own == NULL) {
        free(own);
        free(f);
        saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for a theorem's bound");
        return SADDLE_NO_MEMORY;
    }
    f->own = own;
    describe(f, trace, plus);
    saddle_theorem_allowed(bound, trace->rows, saddle_trace_column(trace, ITERATION),
                           saddle_trace_column(trace, "metric"),
                           saddle_trace_column(trace, "potential"), own, own + trace->rows);
    for (size_t k = 0; k < trace->columns; k++)
        for (size_t c = 0; c < COSTS; c++)
            if (strcmp(trace->column[k], costs[c]) == 0)
                add_column(f, trace->column[k], trace->value[k]);
    add_column(f, keep(f, 6, MEAN_METRIC), own);
    add_column(f, keep(f, 7, "potential"), own + trace->rows);
    *out = &f->trace;
    return SADDLE_OK;
}

void saddle_derive_free(saddle_trace *bound)
{
    if (bound == NULL)
        return;
    fabricated *f = (fabricated *)bound;
    free(f->own);
    free(f);
}
