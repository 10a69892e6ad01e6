/* Traces read from files. */
#pragma once

#include <saddle/lab.h>

#include "core/base.h"

/* Capacity for the path of a trace, or of a file beside traces. A longer path exceeds the system's
 * limit and is refused where it is used. */
#define TRACE_PATH (PATH_MAX + 256)
/* Capacity for the name of an experiment. */
#define TRACE_EXPERIMENT 256

typedef struct trace_list {
    size_t count;
    saddle_trace **trace; /* owned */
} trace_list;

/* Reads the files at the paths; for a directory, every file in it that ends in .csv. The
 * summary.csv of a comparison is left out, as is the log of a search in a directory, because
 * they are not traces. */
saddle_status saddle_trace_list_read(trace_list *out, const char *const *path, size_t count,
                                     saddle_error *error);
/* Frees the list. Safe on a zeroed struct. */
void saddle_trace_list_release(trace_list *t);
/* Writes the problem and data of a trace, "fair on a9a"; "" if the file does not have them.
 * Returns `out`. */
const char *saddle_trace_experiment(const saddle_trace *trace, char out[TRACE_EXPERIMENT]);
/* Refuses traces of several experiments, and says which trace belongs to which. */
saddle_status saddle_trace_list_check_one(const trace_list *t, saddle_error *error);
/* Refuses a trace without a column, and lists those that it has. */
saddle_status saddle_trace_missing_column(const saddle_trace *trace, const char *column,
                                          saddle_error *error);
