/* The traces that a command is given. */
#ifndef SADDLE_CLI_TRACES_H
#define SADDLE_CLI_TRACES_H

#include "cli.h"

typedef struct traces {
    size_t count;
    saddle_trace **trace; /* owned */
} traces;

/* Read the files of the paths. */
saddle_status traces_read(traces *out, const char *const *path, size_t count, saddle_error *error);
/* Free them. Safe on a zeroed struct. */
void traces_release(traces *t);
/* Refuse an output that cannot be written or is one of the command's operands. */
saddle_status traces_check_output(const cli_arguments *arguments, const char *what,
                                  const char *path, saddle_error *error);

/* Refuse a trace that has no column of a kind, and say which it has. */
saddle_status traces_missing(const saddle_trace *trace, const char *column, saddle_error *error);

#endif
