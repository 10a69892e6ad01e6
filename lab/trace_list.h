/* Traces read from files. */
#ifndef SADDLE_LAB_TRACE_LIST_H
#define SADDLE_LAB_TRACE_LIST_H

#include <saddle/lab.h>

/* Capacity for the name of an experiment. */
#define TRACE_EXPERIMENT 256

typedef struct trace_list {
    size_t count;
    saddle_trace **trace; /* owned */
} trace_list;

/* Read the files of the paths, and of a directory every file that ends in .csv. The summary.csv of a comparison is
 * no trace and is left out, as is a log of a search in a directory. */
saddle_status saddle_trace_list_read(trace_list *out, const char *const *path, size_t count,
                                     saddle_error *error);
/* Free them. Safe on a zeroed struct. */
void saddle_trace_list_release(trace_list *t);
/* What a trace is about: its problem and data, "fair on a9a"; "" when the file does not say. Returns `out`. */
const char *saddle_trace_experiment(const saddle_trace *trace, char out[TRACE_EXPERIMENT]);
/* Refuse traces of several experiments, and say which are of which. */
saddle_status saddle_trace_list_check_one(const trace_list *t, saddle_error *error);
/* Refuse a trace that has no column of a kind, and say which it has. */
saddle_status saddle_trace_missing_column(const saddle_trace *trace, const char *column,
                                          saddle_error *error);

#endif
