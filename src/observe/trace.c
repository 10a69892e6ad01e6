#include "observe/trace.h"

#include "engines/link_state.h"

/* The name of the file in messages. */
#define WHAT "the trace"

/* The most agents whose disagreement is listed: a reader refuses lines of many megabytes. */
#define MOST_LISTED 10000

/* Which runs have a column; in rows of others it is NaN. */
typedef enum condition { ALWAYS, WITH_LINK_MODEL, WITH_LINKS, WITH_CHURN } condition;
/* Why the others do not. */
static const char *const lacks[] = {
    [WITH_LINK_MODEL] = "without a --link-model; give one, such as latency:0.02,bandwidth:125000",
    [WITH_LINKS] = "with reliable links; set --links to another kind, such as lossy:0.1",
    [WITH_CHURN] = "without churn; set --churn to a file of events"};

/* The columns of a trace, in order. */
#define FIELD(name) offsetof(saddle_row, name)
static const struct {
    const char *name;
    size_t offset; /* in a row */
    bool whole;    /* uint64_t; otherwise double */
    condition condition;
} columns[SADDLE_TRACE_COLUMNS] = {
    {"iteration", FIELD(iteration), true, ALWAYS},
    {"ifo", FIELD(cost.ifo), true, ALWAYS},
    {"rounds", FIELD(cost.rounds), true, ALWAYS},
    {"messages", FIELD(cost.messages), true, ALWAYS},
    {"bytes", FIELD(cost.bytes), true, ALWAYS},
    {"seconds", FIELD(seconds), false, ALWAYS},
    {"network_seconds", FIELD(cost.network_seconds), false, WITH_LINK_MODEL},
    {"age", FIELD(cost.age), false, WITH_LINKS},
    {"present", FIELD(present), false, WITH_CHURN},
    {"components", FIELD(components), false, WITH_CHURN},
    {"loss", FIELD(loss), false, ALWAYS},
    {"primal", FIELD(primal), false, ALWAYS},
    {"metric", FIELD(metric), false, ALWAYS},
    {"x_stationarity", FIELD(x_stationarity), false, ALWAYS},
    {"x_consensus", FIELD(x_consensus), false, ALWAYS},
    {"y_consensus", FIELD(y_consensus), false, ALWAYS},
    {"y_gap", FIELD(y_gap), false, ALWAYS},
    {"stationarity", FIELD(stationarity), false, ALWAYS},
    {"potential", FIELD(potential), false, ALWAYS},
    {"gap", FIELD(gap), false, ALWAYS}};

static const void *field_of(const saddle_row *row, size_t column)
{
    return (const char *)row + columns[column].offset;
}

const char *saddle_trace_column_name(size_t column)
{
    return columns[column].name;
}

size_t saddle_trace_column_find(const char *name)
{
    size_t k = 0;
    while (k < SADDLE_TRACE_COLUMNS && strcmp(columns[k].name, name) != 0)
        k++;
    return k;
}

double saddle_row_cell(const saddle_row *row, size_t column)
{
    return columns[column].whole ? (double)*(const uint64_t *)field_of(row, column)
                                 : *(const double *)field_of(row, column);
}

bool saddle_row_has(const saddle_row *row, size_t column)
{
    return columns[column].condition == ALWAYS || !isnan(saddle_row_cell(row, column));
}

const char *saddle_trace_lacks(const saddle_run_info *info, size_t column)
{
    condition needed = columns[column].condition;
    bool has = needed == WITH_LINK_MODEL ? info->given->network.link_model != NULL
               : needed == WITH_LINKS    ? saddle_link_state_needed(info->instance)
               : needed == WITH_CHURN    ? info->instance->churn != NULL
                                         : true;
    return has ? NULL : lacks[needed];
}

static void write_constant(FILE *f, bool known, const char *name, double value, const char *how)
{
    char text[SADDLE_REAL_SIZE];
    if (known)
        saddle_fprintf(f, "# %s: %s%s\n", name, saddle_print_real(value, 17, text), how);
}

static void write_head(FILE *f, const saddle_run_info *info, const saddle_result *result)
{
    const saddle_instance *e = info->instance;
    const saddle_plan *plan = info->plan;
    saddle_fprintf(f, "# saddle %s\n", saddle_version());
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        char buffer[SADDLE_VALUE_SIZE];
        const char *text = saddle_plan_text(plan, option, buffer);
        if (*text != '\0')
            saddle_fprintf(f, "# %s: %s\n", option->name, text);
    }
    if (info->title != NULL)
        saddle_fprintf(f, "# title: %s\n", info->title);
    if (info->fingerprint != 0)
        saddle_fprintf(f, "# fingerprint: %016" PRIx64 "\n", info->fingerprint);
    saddle_fprintf(f, "# untuned: %s\n", result->untuned ? "yes" : "no");
    saddle_fprintf(f, "# x_dim: %zu\n# y_dim: %zu\n", e->problem->x_dim, e->problem->y_dim);
    saddle_fprintf(f, "# edges: %zu\n", e->graph->edges);
    const char *how = e->constants.estimated ? " (estimated)" : "";
    bool known = !isnan(e->spectrum.lambda);
    write_constant(f, known, "mixing_lambda2", e->spectrum.lambda2, "");
    write_constant(f, known, "mixing_lambda_m", e->spectrum.lambda_m, "");
    write_constant(f, known, "mixing_lambda", e->spectrum.lambda, "");
    write_constant(f, e->constants.lipschitz > 0.0, "problem_L", e->constants.lipschitz, how);
    write_constant(f, e->constants.strong_concavity > 0.0, "problem_mu",
                   e->constants.strong_concavity, how);
    for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++)
        if (saddle_trace_lacks(info, k) == NULL)
            saddle_fprintf(f, "%s%s", k == 0 ? "" : ",", columns[k].name);
    for (size_t k = 0; k < result->outcome_count; k++)
        saddle_fprintf(f, ",%s", result->outcome[k].name);
    fputc('\n', f);
}

saddle_status saddle_trace_open(saddle_lines *out, const char *path, const saddle_run_info *info,
                                const saddle_result *result, saddle_error *error)
{
    saddle_status status = saddle_lines_open(out, path, "--trace", false, error);
    if (status == SADDLE_OK) {
        write_head(out->stream, info, result);
        status = saddle_lines_flush(out, WHAT, error);
    }
    if (status != SADDLE_OK)
        saddle_lines_close(out, WHAT, NULL);
    return status;
}

/* Writes a comma and a number that reads back equal, or only the comma for NaN, so that readers do not
 * take NaN for a number. */
static void write_field(FILE *f, double value)
{
    char text[SADDLE_REAL_SIZE];
    saddle_fprintf(f, ",%s", isnan(value) ? "" : saddle_print_real(value, 17, text));
}

saddle_status saddle_trace_write(saddle_lines *trace, const saddle_result *result, size_t r,
                                 saddle_error *error)
{
    FILE *f = trace->stream;
    const saddle_row *row = &result->rows[r];
    for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++) {
        const char *comma = k == 0 ? "" : ",";
        if (!saddle_row_has(row, k))
            continue;
        if (columns[k].whole)
            saddle_fprintf(f, "%s%" PRIu64, comma, *(const uint64_t *)field_of(row, k));
        else
            write_field(f, *(const double *)field_of(row, k));
    }
    for (size_t k = 0; k < result->outcome_count; k++)
        write_field(f, result->outcomes[r * result->outcome_count + k]);
    fputc('\n', f);
    return saddle_lines_flush(trace, WHAT, error);
}

bool saddle_result_lists_disagreement(const saddle_result *result)
{
    return result != NULL && result->stop != SADDLE_STOP_DIVERGED && result->agents <= MOST_LISTED;
}

saddle_status saddle_trace_end(saddle_lines *trace, const saddle_result *result, const char *reason,
                               saddle_error *error)
{
    FILE *f = trace->stream;
    if (saddle_result_lists_disagreement(result)) {
        char text[SADDLE_REAL_SIZE];
        fputs("# disagreement:", f);
        for (size_t i = 0; i < result->agents; i++)
            saddle_fprintf(f, " %s", saddle_print_real(result->disagreement[i], 1, text));
        fputc('\n', f);
    }
    saddle_fprintf(f, "# ended: %s\n", reason);
    saddle_status status = saddle_lines_flush(trace, WHAT, error);
    saddle_status closed = saddle_lines_close(trace, WHAT, status == SADDLE_OK ? error : NULL);
    return status != SADDLE_OK ? status : closed;
}
