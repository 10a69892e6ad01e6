#include "observe/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"

struct saddle_trace_writer {
    FILE *stream;
    char *path;
};

const char *const *saddle_trace_columns(void)
{
    static const char *const columns[SADDLE_TRACE_COLUMNS] = {
        "iteration",   "ifo",         "rounds", "messages",     "bytes",
        "seconds",     "loss",        "primal", "metric",       "x_stationarity",
        "x_consensus", "y_consensus", "y_gap",  "stationarity", "potential"};
    return columns;
}

static saddle_status failed(const saddle_trace_writer *trace, saddle_error *error)
{
    return saddle_fail(error, SADDLE_IO, "cannot write the trace '%s': %s; is the disk full?",
                       trace->path, strerror(errno != 0 ? errno : EIO));
}

static void write_head(saddle_trace_writer *trace, const saddle_run_info *info)
{
    FILE *f = trace->stream;
    fprintf(f, "# saddle %s\n", saddle_version());
    for (size_t k = 0; k < saddle_settings_count(info->settings); k++) {
        const saddle_option *option = saddle_settings_option(info->settings, k);
        const char *text = saddle_settings_text(info->settings, option->name);
        if (*text != '\0')
            fprintf(f, "# %s: %s\n", option->name, text);
    }
    fprintf(f, "# x_dim: %zu\n# y_dim: %zu\n", info->problem->x_dim, info->problem->y_dim);
    fprintf(f, "# edges: %zu\n", info->mixing->graph->edges);
    if (!isnan(info->spectrum.lambda))
        fprintf(f, "# mixing_lambda2: %.17g\n# mixing_lambda_m: %.17g\n# mixing_lambda: %.17g\n",
                info->spectrum.lambda2, info->spectrum.lambda_m, info->spectrum.lambda);
    const char *how = info->constants.estimated ? " (estimated)" : "";
    if (info->constants.lipschitz > 0.0)
        fprintf(f, "# problem_L: %.17g%s\n", info->constants.lipschitz, how);
    if (info->constants.strong_concavity > 0.0)
        fprintf(f, "# problem_mu: %.17g%s\n", info->constants.strong_concavity, how);
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
    trace->path = saddle_strdup(path);
    trace->stream = trace->path != NULL ? fopen(path, "we") : NULL;
    if (trace->stream == NULL) {
        saddle_status status =
            trace->path == NULL
                ? saddle_no_memory(error, "the trace")
                : saddle_fail(error, SADDLE_BAD_INPUT,
                              "--trace: cannot write '%s': %s; give a path in a directory that "
                              "exists and can be written to",
                              path, strerror(errno));
        saddle_free(trace->path);
        saddle_free(trace);
        return status;
    }
    write_head(trace, info);
    if (fflush(trace->stream) != 0) {
        saddle_status status = failed(trace, error);
        saddle_trace_close(trace, NULL);
        return status;
    }
    *out = trace;
    return SADDLE_OK;
}

/* A number that reads back equal; nothing when it is not known. */
static void write_number(FILE *f, double value)
{
    if (isnan(value))
        fputc(',', f);
    else
        fprintf(f, ",%.17g", value);
}

saddle_status saddle_trace_write(saddle_trace_writer *trace, const saddle_row *row,
                                 saddle_error *error)
{
    FILE *f = trace->stream;
    errno = 0;
    fprintf(f, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->iteration,
            row->cost.ifo, row->cost.rounds, row->cost.messages, row->cost.bytes);
    const double number[] = {row->seconds,        row->loss,        row->primal,      row->metric,
                             row->x_stationarity, row->x_consensus, row->y_consensus, row->y_gap,
                             row->stationarity,   row->potential};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        write_number(f, number[k]);
    fputc('\n', f);
    return fflush(f) == 0 && !ferror(f) ? SADDLE_OK : failed(trace, error);
}

saddle_status saddle_trace_end(saddle_trace_writer *trace, const char *reason, saddle_error *error)
{
    errno = 0;
    fprintf(trace->stream, "# ended: %s\n", reason);
    return fflush(trace->stream) == 0 && !ferror(trace->stream) ? SADDLE_OK : failed(trace, error);
}

saddle_status saddle_trace_close(saddle_trace_writer *trace, saddle_error *error)
{
    if (trace == NULL)
        return SADDLE_OK;
    errno = 0;
    bool bad = ferror(trace->stream) != 0;
    bad = fclose(trace->stream) != 0 || bad;
    saddle_status status = bad ? failed(trace, error) : SADDLE_OK;
    saddle_free(trace->path);
    saddle_free(trace);
    return status;
}
