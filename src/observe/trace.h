/* Traces as CSV: comment lines with the version and every effective setting, then rows. */
#pragma once

#include <saddle/run.h>

#include "files/file.h"

/* Returns the index of a column by name, outcomes excepted; SADDLE_TRACE_COLUMNS when there is none. */
size_t saddle_trace_column_find(const char *name);

/* Returns why the trace of a run does not have a column, such as "without churn; set churn to ..."; NULL if
 * it has it. */
const char *saddle_trace_lacks(const saddle_run_info *info, size_t column);

/* Opens a trace and writes its head, with the columns of the result's outcomes. SADDLE_BAD_INPUT when
 * the path cannot be written to. */
saddle_status saddle_trace_open(saddle_lines *out, const char *path, const saddle_run_info *info,
                                const saddle_result *result, saddle_error *error);
/* Appends a row of the result. The row is in the file when this returns. */
saddle_status saddle_trace_write(saddle_lines *trace, const saddle_result *result, size_t row,
                                 saddle_error *error);
/* Whether the trace of a run lists its agents' disagreement: not if it diverged, nor of very many agents. */
bool saddle_result_lists_disagreement(const saddle_result *result);
/* Appends the agents' disagreement and why the run ended, and closes the trace. `result` NULL: the run failed. */
saddle_status saddle_trace_end(saddle_lines *trace, const saddle_result *result, const char *reason,
                               saddle_error *error);
