#include "draw/trace_curves.h"

#include "core/outcome_name.h"
#include "draw/trace_groups.h"
#include "draw/trace_list.h"

/* An outcome on the agents' data and on held-out data. */
#define OUTCOME(name, title)                                                     \
    {"train_" name, "train_" name, title " on the agents' data", FIGURE_LINEAR}, \
    {                                                                            \
        "test_" name, "test_" name, title " on held-out data", FIGURE_LINEAR     \
    }

static const figure_column known[] = {
    {"ifo", "samples", "gradient evaluations", FIGURE_LINEAR},
    {"rounds", "rounds", "communication rounds", FIGURE_LINEAR},
    {"messages", "messages", "messages", FIGURE_LINEAR},
    {"bytes", "bytes", "bytes sent", FIGURE_LINEAR},
    {"seconds", "seconds", "seconds", FIGURE_LINEAR},
    {"network_seconds", "network_seconds", "simulated seconds", FIGURE_LINEAR},
    {"iteration", "iterations", "iterations", FIGURE_LINEAR},
    {"loss", "loss", "loss", FIGURE_LINEAR},
    {"primal", "primal", "primal value", FIGURE_LINEAR},
    {"metric", "metric", "convergence metric", FIGURE_LOG},
    {"x_stationarity", "x_stationarity", "x stationarity", FIGURE_LOG},
    {"x_consensus", "x_consensus", "x consensus error", FIGURE_LOG},
    {"y_consensus", "y_consensus", "y consensus error", FIGURE_LOG},
    {"y_gap", "y_gap", "gap of y to the best response", FIGURE_LOG},
    {"stationarity", "stationarity", "stationarity", FIGURE_LOG},
    {"potential", "potential", "potential", FIGURE_LOG},
    OUTCOME("auc", "AUC"),
    OUTCOME("pair_loss", "pair loss"),
    OUTCOME("loss", "loss"),
    OUTCOME("accuracy", "accuracy"),
    OUTCOME("demographic_parity_gap", "demographic-parity gap"),
    OUTCOME("equalized_odds_gap", "equalized-odds gap"),
    OUTCOME("worst_group_accuracy", "accuracy of the worst group"),
    OUTCOME("worst_group_loss", "loss of the worst group"),
    OUTCOME("rmse", "root mean square error"),
    OUTCOME("mae", "mean absolute error"),
    OUTCOME("r2", "R squared"),
    OUTCOME("worst_tenth_rmse", "error of the worst tenth"),
};

#define KNOWN (sizeof known / sizeof *known)

const figure_column *figure_columns(size_t *count)
{
    *count = KNOWN;
    return known;
}

/* The entry of a column in the table, or NULL. */
static const figure_column *find(const char *column)
{
    for (size_t k = 0; k < KNOWN; k++)
        if (strcmp(known[k].name, column) == 0)
            return &known[k];
    return NULL;
}

const char *figure_title(const char *column)
{
    const figure_column *found = find(column);
    return found != NULL ? found->title : column;
}

const char *figure_column_of(const char *word)
{
    for (size_t k = 0; k < KNOWN; k++)
        if (strcmp(known[k].word, word) == 0)
            return known[k].name;
    return word;
}

figure_scale figure_scale_of(const char *column)
{
    const figure_column *found = find(column);
    return found != NULL ? found->scale : FIGURE_LINEAR;
}

/* The column of a trace that a word may stand for, an outcome also without train_ or test_;
 * NULL: no guess. */
static const char *meant_column(const saddle_trace *trace, const char *word)
{
    const char *name[128] = {NULL};
    const char *column[128] = {NULL};
    size_t count = 0;
    for (size_t c = 0; c < trace->columns && count + 2 <= sizeof name / sizeof *name; c++) {
        const char *own = trace->column[c];
        column[count] = own;
        name[count++] = own;
        if (saddle_outcome_name_of(own).rows != SADDLE_ROWS_NONE) {
            column[count] = own;
            name[count++] = saddle_outcome_name_of(own).measure;
        }
    }
    const char *found = saddle_closest(word, name, count);
    for (size_t k = 0; found != NULL && k < count; k++)
        if (name[k] == found)
            return column[k];
    return NULL;
}

static saddle_status check_columns(const saddle_trace *const *trace, size_t count, const char *x,
                                   const char *y, saddle_error *error)
{
    for (size_t k = 0; k < count; k++)
        for (int side = 0; side < 2; side++)
            if (saddle_trace_column(trace[k], side == 0 ? x : y) == NULL) {
                char quoted[160];
                const char *meant = meant_column(trace[k], side == 0 ? x : y);
                saddle_snprintf(quoted, sizeof quoted, "'%.60s'%s%.60s%s", side == 0 ? x : y,
                                meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                                meant != NULL ? "'?)" : "");
                return saddle_trace_missing_column(trace[k], quoted, error);
            }
    return SADDLE_OK;
}

saddle_status figure_group(figure_curves *out, const saddle_trace *const *trace, size_t count,
                           const char *x, const char *y, saddle_error *error)
{
    *out = (figure_curves){.count = 0};
    trace_groups g;
    SADDLE_TRY(check_columns(trace, count, x, y, error));
    SADDLE_TRY(saddle_trace_groups_make(&g, trace, count, error));
    out->curve = calloc(g.groups + 1, sizeof *out->curve);
    out->label = calloc(g.groups + 1, sizeof *out->label);
    out->run = calloc(count + 1, sizeof *out->run);
    if (out->curve == NULL || out->label == NULL || out->run == NULL) {
        saddle_trace_groups_release(&g);
        figure_release(out);
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for %zu curves", count);
    }
    figure_run *next = out->run;
    for (size_t j = 0; j < g.groups; j++) {
        out->label[j] = g.group[j].label;
        g.group[j].label = NULL;
        out->curve[j] = (figure_curve){.label = out->label[j],
                                       .algorithm = g.group[j].algorithm,
                                       .runs = g.group[j].count,
                                       .run = next};
        for (size_t k = 0; k < count; k++)
            if (g.of[k] == j)
                *next++ = (figure_run){.count = trace[k]->rows,
                                       .x = saddle_trace_column(trace[k], x),
                                       .y = saddle_trace_column(trace[k], y)};
    }
    out->count = g.groups;
    saddle_trace_groups_release(&g);
    return SADDLE_OK;
}

void figure_release(figure_curves *curves)
{
    for (size_t k = 0; curves->label != NULL && k < curves->count; k++)
        free(curves->label[k]);
    free((void *)curves->label);
    free(curves->curve);
    free(curves->run);
    *curves = (figure_curves){.count = 0};
}
