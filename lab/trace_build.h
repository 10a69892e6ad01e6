/* Builds traces in memory. After any failure the trace can be freed with saddle_trace_free(). */
#ifndef SADDLE_LAB_TRACE_BUILD_H
#define SADDLE_LAB_TRACE_BUILD_H

#include <saddle/lab.h>

/* Creates a trace without entries and columns. Texts are copied; `end` may be NULL. NULL: memory
 * is short. */
saddle_trace *saddle_trace_create(const char *path, const char *version, const char *end,
                                  size_t rows);
/* Appends a line of the head; false: memory is short. */
bool saddle_trace_add_entry(saddle_trace *trace, const char *name, const char *value);
/* Appends a column and returns its values, which the caller fills in. NULL: memory is short. */
double *saddle_trace_add_column(saddle_trace *trace, const char *name);

#endif
