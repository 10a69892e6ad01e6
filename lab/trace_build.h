/* Internals of traces: building them in memory, and whether they are of the same run. */
#pragma once

#include <saddle/lab.h>

#include "core/base.h"
#include "files/line_reader.h"
#include "instance/same_run.h"

/* Creates a trace without entries and columns. Texts are copied; `end` may be NULL. NULL: memory
 * is short. After a failure of the functions below it can be freed with saddle_trace_free(). */
saddle_trace *saddle_trace_create(const char *path, const char *version, const char *end,
                                  size_t rows);
/* Appends a line of the head; false: memory is short. */
bool saddle_trace_add_entry(saddle_trace *trace, const char *name, const char *value);
/* Appends a column and returns its values, which the caller fills in. NULL: memory is short. */
double *saddle_trace_add_column(saddle_trace *trace, const char *name);

/* Reads the head of a trace, or of a log that begins like one, through the line of column names. */
saddle_status saddle_trace_read_head(saddle_trace **out, saddle_line_reader *file,
                                     saddle_error *error);
/* The settings of a saddle_trace; one that it does not have is empty. */
saddle_value_of saddle_trace_value;

/* A run that a file must belong to. Borrowed. */
typedef struct saddle_wanted_run {
    const char *what;              /* of which it is a part, such as "comparison" */
    const char *remedy;            /* ends messages */
    const saddle_plan *plan;       /* the effective one, whose options are compared */
    const saddle_plan *given;      /* the one that the user gave */
    saddle_values values;          /* usually those of the plan */
    unsigned may_differ;           /* effects of options that are not compared */
    const char *const (*extra)[2]; /* names, "--budget", and values that must also be equal */
    size_t extras;                 /* their number */
    uint64_t fingerprint;          /* as saddle_run_info::fingerprint */
} saddle_wanted_run;

/* Refuses a trace, or a log, of another version or run, or of files with other contents. */
saddle_status saddle_trace_check_run(const saddle_trace *trace, const saddle_wanted_run *wanted,
                                     saddle_error *error);
SADDLE_RELEASES(saddle_trace, saddle_trace_free)
