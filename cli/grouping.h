/*
 * Which traces belong together: runs of one algorithm that differ in their seed alone.
 *
 * Where there are several groups of one algorithm, the settings in which they differ name them:
 * "PRECISION, nu 0.1". A step size that was left to the program may follow from the seed's network;
 * it does not part runs whose seeds differ.
 */
#ifndef SADDLE_CLI_GROUPING_H
#define SADDLE_CLI_GROUPING_H

#include "cli.h"

typedef struct trace_group {
    const char *algorithm; /* borrowed from a trace; NULL: the file does not say */
    char *label;           /* owned */
    size_t first;          /* its first trace */
    size_t count;          /* how many it has */
    size_t repeat;         /* how many groups of its algorithm are before it */
} trace_group;

typedef struct grouping {
    size_t groups;
    trace_group *group; /* owned; in the order of the palette */
    size_t *of;         /* of[k]: the group of trace k; owned */
} grouping;

/* Group traces, which are borrowed and must outlive the result. */
saddle_status grouping_make(grouping *out, const saddle_trace *const *trace, size_t count,
                            saddle_error *error);
/* Free it. Safe on a zeroed struct. */
void grouping_release(grouping *g);

#endif
