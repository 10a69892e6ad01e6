/* Traces as CSV: comment lines with the version and every effective setting, then rows. */
#ifndef SADDLE_OBSERVE_TRACE_H
#define SADDLE_OBSERVE_TRACE_H

#include <stdio.h>

#include <saddle/run.h>

typedef struct saddle_trace_writer saddle_trace_writer;

/* Open a trace and write its head. SADDLE_BAD_INPUT when the path cannot be written to. */
saddle_status saddle_trace_open(saddle_trace_writer **out, const char *path,
                                const saddle_run_info *info, saddle_error *error);
/* Append a row; it is in the file when this returns. */
saddle_status saddle_trace_write(saddle_trace_writer *trace, const saddle_row *row,
                                 saddle_error *error);
/* Append why the run ended; no row follows. */
saddle_status saddle_trace_end(saddle_trace_writer *trace, const char *reason, saddle_error *error);
/* Close. NULL is allowed. */
saddle_status saddle_trace_close(saddle_trace_writer *trace, saddle_error *error);

/* Writes a comma and a number that reads back equal, or nothing after the comma for NaN, so that no
 * NaN is taken for a number. */
void saddle_write_field(FILE *f, double value);

#endif
