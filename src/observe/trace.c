#include "observe/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "files/file.h"

/* For messages. */
#define WHAT "the trace"

struct saddle_trace_writer {
    saddle_lines lines;
};

const char *const *saddle_trace_columns(void)
{
    static const char *const columns[SADDLE_TRACE_COLUMNS] = {
        "iteration",   "ifo",         "rounds", "messages",     "bytes",
        "seconds",     "loss",        "primal", "metric",       "x_stationarity",
        "x_consensus", "y_consensus", "y_gap",  "stationarity", "potential"};
    return columns;
}

static void write_constant(FILE *f, bool known, const char *name, double value, const char *how)
{
    char text[SADDLE_REAL_SIZE];
    if (known)
        fprintf(f, "# %s: %s%s\n", name, saddle_print_real(value, 17, text), how);
}

static void write_head(saddle_trace_writer *trace, const saddle_run_info *info)
{
    FILE *f = trace->lines.stream;
    const saddle_instance *e = info->instance;
    const saddle_settings *settings = info->plan->settings;
    fprintf(f, "# saddle %s\n", saddle_version());
    for (size_t k = 0; k < saddle_settings_count(settings); k++) {
        const saddle_option *option = saddle_settings_option(settings, k);
        const char *text = saddle_settings_value(settings, option);
        if (*text != '\0')
            fprintf(f, "# %s: %s\n", option->name, text);
    }
    fprintf(f, "# x_dim: %zu\n# y_dim: %zu\n", e->problem->x_dim, e->problem->y_dim);
    fprintf(f, "# edges: %zu\n", e->graph->edges);
    const char *how = e->constants.estimated ? " (estimated)" : "";
    bool known = !isnan(e->spectrum.lambda);
    write_constant(f, known, "mixing_lambda2", e->spectrum.lambda2, "");
    write_constant(f, known, "mixing_lambda_m", e->spectrum.lambda_m, "");
    write_constant(f, known, "mixing_lambda", e->spectrum.lambda, "");
    write_constant(f, e->constants.lipschitz > 0.0, "problem_L", e->constants.lipschitz, how);
    write_constant(f, e->constants.strong_concavity > 0.0, "problem_mu",
                   e->constants.strong_concavity, how);
    for (int k = 0; k < SADDLE_TRACE_COLUMNS; k++)
        fprintf(f, "%s%s", k == 0 ? "" : ",", saddle_trace_columns()[k]);
    fputc('\n', f);
}

saddle_status saddle_trace_open(saddle_trace_writer **out, const char *path,
                                const saddle_run_info *info, saddle_error *error)
{
    *out = NULL;
    saddle_trace_writer *trace = saddle_alloc(1, sizeof *trace);
    if (trace == NULL)
        return saddle_no_memory(error, "the trace");
    saddle_status status = saddle_lines_open(&trace->lines, path, "trace", error);
    if (status == SADDLE_OK) {
        write_head(trace, info);
        status = saddle_lines_flush(&trace->lines, WHAT, error);
    }
    if (status != SADDLE_OK) {
        saddle_trace_close(trace, NULL);
        return status;
    }
    *out = trace;
    return SADDLE_OK;
}

void saddle_write_field(FILE *f, double value)
{
    char text[SADDLE_REAL_SIZE];
    fprintf(f, ",%s", isnan(value) ? "" : saddle_print_real(value, 17, text));
}

saddle_status saddle_trace_write(saddle_trace_writer *trace, const saddle_row *row,
                                 saddle_error *error)
{
    FILE *f = trace->lines.stream;
    fprintf(f, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->iteration,
            row->cost.ifo, row->cost.rounds, row->cost.messages, row->cost.bytes);
    const double number[] = {row->seconds,        row->loss,        row->primal,      row->metric,
                             row->x_stationarity, row->x_consensus, row->y_consensus, row->y_gap,
                             row->stationarity,   row->potential};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        saddle_write_field(f, number[k]);
    fputc('\n', f);
    return saddle_lines_flush(&trace->lines, WHAT, error);
}

saddle_status saddle_trace_end(saddle_trace_writer *trace, const char *reason, saddle_error *error)
{
    fprintf(trace->lines.stream, "# ended: %s\n", reason);
    return saddle_lines_flush(&trace->lines, WHAT, error);
}

saddle_status saddle_trace_close(saddle_trace_writer *trace, saddle_error *error)
{
    if (trace == NULL)
        return SADDLE_OK;
    saddle_status status = saddle_lines_close(&trace->lines, WHAT, error);
    saddle_free(trace);
    return status;
}
