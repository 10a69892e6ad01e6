/* Traces read from files. */
#ifndef SADDLE_LAB_TRACE_LIST_H
#define SADDLE_LAB_TRACE_LIST_H

#include <saddle/lab.h>

typedef struct trace_list {
    size_t count;
    saddle_trace **trace; /* owned */
} trace_list;

/* Read the files of the paths. */
saddle_status saddle_trace_list_read(trace_list *out, const char *const *path, size_t count,
                                     saddle_error *error);
/* Free them. Safe on a zeroed struct. */
void saddle_trace_list_release(trace_list *t);
/* Refuse a trace that has no column of a kind, and say which it has. */
saddle_status saddle_trace_missing_column(const saddle_trace *trace, const char *column,
                                          saddle_error *error);

#endif
