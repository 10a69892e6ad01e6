/*
 * Groups of traces: runs of one algorithm that differ only in their seed.
 *
 * Several groups of one algorithm are named by the settings in which they differ: "PRECISION, nu
 * 0.1". A step size that the program chose may depend on the network, which depends on the seed, so
 * it does not separate runs with different seeds.
 */
#pragma once

#include <saddle/lab.h>

typedef struct trace_group {
    const char *algorithm; /* borrowed from a trace; NULL: not in the file */
    char *label;           /* owned */
    size_t first;          /* index of its first trace */
    size_t count;          /* number of its traces */
    size_t repeat;         /* number of earlier groups of its algorithm */
    bool untuned;          /* whether a trace records that nobody chose its step sizes */
} trace_group;

typedef struct trace_groups {
    saddle_plan
        options; /* a plan with all options, and those of the traces that the library does not have */
    saddle_option *own; /* the latter; owned */
    size_t groups;
    trace_group *group; /* owned; in the order of saddle_algorithm_list() */
    size_t *of;         /* of[k]: the group of trace k; owned */
} trace_groups;

/* Groups traces, which are borrowed and must outlive the result. */
saddle_status saddle_trace_groups_make(trace_groups *out, const saddle_trace *const *trace,
                                       size_t count, saddle_error *error);
/* Whether runs that differ in an option belong to different groups. */
bool saddle_option_separates(const saddle_option *option);
/* Frees the groups. Safe on a zeroed struct. */
void saddle_trace_groups_release(trace_groups *g);
