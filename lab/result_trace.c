/* A result as a trace in memory. */
#include <string.h>

#include <saddle/run.h>

#include "core/memory.h"
#include "core/status.h"

/* Append a line of the head; there is room for it. */
static bool add_entry(saddle_trace *trace, const char *name, const char *value)
{
    saddle_trace_entry *entry = &trace->entry[trace->entries++];
    entry->name = saddle_strdup(name);
    entry->value = saddle_strdup(value);
    return entry->name != NULL && entry->value != NULL;
}

static bool copy_settings(saddle_trace *trace, const saddle_result *result)
{
    const saddle_settings *settings = result->plan.settings;
    size_t count = saddle_settings_count(settings);
    trace->entry = saddle_alloc(count + 2, sizeof *trace->entry);
    bool good = trace->entry != NULL;
    for (size_t k = 0; good && k < count; k++) {
        const char *name = saddle_settings_option(settings, k)->name;
        const char *value = saddle_settings_text(settings, name);
        good = *value == '\0' || add_entry(trace, name, value);
    }
    char *x_dim = saddle_format("%zu", result->x_dim);
    char *y_dim = saddle_format("%zu", result->y_dim);
    good = good && x_dim != NULL && y_dim != NULL && add_entry(trace, "x_dim", x_dim) &&
           add_entry(trace, "y_dim", y_dim);
    saddle_free(x_dim);
    saddle_free(y_dim);
    return good;
}

static bool copy_rows(saddle_trace *trace, const saddle_result *result)
{
    const char *const *name = saddle_trace_columns();
    trace->column = saddle_alloc(SADDLE_TRACE_COLUMNS, sizeof *trace->column);
    trace->value = saddle_alloc(SADDLE_TRACE_COLUMNS, sizeof *trace->value);
    if (trace->column == NULL || trace->value == NULL)
        return false;
    for (trace->columns = 0; trace->columns < SADDLE_TRACE_COLUMNS;) {
        size_t c = trace->columns++;
        trace->column[c] = saddle_strdup(name[c]);
        trace->value[c] = saddle_alloc_doubles(result->row_count);
        if (trace->column[c] == NULL || trace->value[c] == NULL)
            return false;
    }
    for (size_t r = 0; r < result->row_count; r++) {
        const saddle_row *row = &result->rows[r];
        const double cell[SADDLE_TRACE_COLUMNS] = {(double)row->iteration,
                                                   (double)row->cost.ifo,
                                                   (double)row->cost.rounds,
                                                   (double)row->cost.messages,
                                                   (double)row->cost.bytes,
                                                   row->seconds,
                                                   row->loss,
                                                   row->primal,
                                                   row->metric,
                                                   row->x_stationarity,
                                                   row->x_consensus,
                                                   row->y_consensus,
                                                   row->y_gap,
                                                   row->stationarity,
                                                   row->potential};
        for (size_t c = 0; c < SADDLE_TRACE_COLUMNS; c++)
            trace->value[c][r] = cell[c];
    }
    trace->rows = result->row_count;
    return true;
}

saddle_status saddle_result_trace(const saddle_result *result, saddle_trace **out,
                                  saddle_error *error)
{
    *out = NULL;
    saddle_trace *trace = saddle_alloc(1, sizeof *trace);
    bool good = trace != NULL;
    if (good) {
        trace->path = saddle_format("%s-seed%llu.csv", result->plan.algorithm.name,
                                    (unsigned long long)result->plan.start.seed);
        trace->version = saddle_strdup(saddle_version());
        trace->end = saddle_strdup(saddle_stop_text(result->stop));
        good = trace->path != NULL && trace->version != NULL && trace->end != NULL;
    }
    if (good && copy_settings(trace, result) && copy_rows(trace, result)) {
        *out = trace;
        return SADDLE_OK;
    }
    saddle_trace_free(trace);
    saddle_no_memory(error, "the trace of a result");
    return SADDLE_NO_MEMORY;
}
