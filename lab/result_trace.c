/* Converts a result to a trace in memory. */
#include <string.h>

#include <saddle/lab.h>

#include "core/float_mode.h"
#include "core/memory.h"
#include "core/status.h"
#include "files/plugin.h"
#include "instance/plan.h"
#include "lab/trace_build.h"
#include "observe/trace.h"

static bool copy_settings(saddle_trace *trace, const saddle_result *result)
{
    const saddle_plan *plan = &result->plan;
    size_t count = saddle_plan_option_count(plan);
    bool good = true;
    for (size_t k = 0; good && k < count; k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        const char *value = SADDLE_PLAN_TEXT(plan, option);
        good = *value == '\0' || saddle_trace_add_entry(trace, option->name, value);
    }
    good = good && (result->title == NULL || saddle_trace_add_entry(trace, "title", result->title));
    good = good && saddle_trace_add_entry(trace, "untuned", result->untuned ? "yes" : "no");
    char *x_dim = saddle_format("%zu", result->x_dim);
    char *y_dim = saddle_format("%zu", result->y_dim);
    good = good && x_dim != NULL && y_dim != NULL &&
           saddle_trace_add_entry(trace, "x_dim", x_dim) &&
           saddle_trace_add_entry(trace, "y_dim", y_dim);
    saddle_free(x_dim);
    saddle_free(y_dim);
    return good;
}

static bool copy_disagreement(saddle_trace *trace, const saddle_result *result)
{
    if (!saddle_result_lists_disagreement(result))
        return true;
    trace->disagreement = saddle_alloc_doubles(result->agents);
    if (trace->disagreement == NULL)
        return false;
    trace->agents = result->agents;
    memcpy(trace->disagreement, result->disagreement, trace->agents * sizeof *trace->disagreement);
    return true;
}

static bool copy_rows(saddle_trace *trace, const saddle_result *result)
{
    for (size_t c = 0; c < SADDLE_TRACE_COLUMNS; c++) {
        if (!saddle_row_has(&result->rows[0], c))
            continue;
        double *value = saddle_trace_add_column(trace, saddle_trace_column_name(c));
        if (value == NULL)
            return false;
        for (size_t r = 0; r < result->row_count; r++)
            value[r] = saddle_row_cell(&result->rows[r], c);
    }
    for (size_t k = 0; k < result->outcome_count; k++) {
        double *value = saddle_trace_add_column(trace, result->outcome[k].name);
        if (value == NULL)
            return false;
        for (size_t r = 0; r < result->row_count; r++)
            value[r] = result->outcomes[r * result->outcome_count + k];
    }
    return true;
}

saddle_status saddle_result_trace(const saddle_result *result, saddle_trace **out,
                                  saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, result);
    const char *name = saddle_plugin_label(result->plan.algorithm.name);
    char *path = saddle_format("%.*s-seed%llu.csv", (int)strcspn(name, ":"), name,
                               (unsigned long long)result->plan.start.seed);
    saddle_trace *trace =
        path != NULL ? saddle_trace_create(path, saddle_version(), saddle_stop_text(result->stop),
                                           result->row_count)
                     : NULL;
    saddle_free(path);
    if (trace != NULL && copy_settings(trace, result) && copy_rows(trace, result) &&
        copy_disagreement(trace, result)) {
        *out = trace;
        return SADDLE_OK;
    }
    saddle_trace_free(trace);
    return saddle_no_memory(error, "the trace of a result");
}
