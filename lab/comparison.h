/*
 * Several algorithms run from the same start, and what each paid to reach levels of the metric.
 *
 * The cost at a level is that of the first row of the trace whose metric is at most the level; it
 * is therefore as fine as the trace.
 */
#ifndef SADDLE_LAB_COMPARISON_H
#define SADDLE_LAB_COMPARISON_H

#include <saddle/lab.h>

#include "files/file.h"
#include "lab/algorithm_names.h"
#include "lab/paths.h"

/* The most algorithms and levels of one comparison. */
#define COMPARISON_MOST_ALGORITHMS ALGORITHM_NAMES_MOST
#define COMPARISON_MOST_LEVELS 64

/* One algorithm on one seed. */
typedef struct comparison_run {
    bool done;        /* whether it was run to an end of its own or the user's */
    saddle_stop stop; /* why it ended */
    saddle_row *rows; /* owned */
    size_t row_count;
    double *outcomes; /* comparison::outcome_count of each row; owned */
} comparison_run;

/* A comparison. The caller fills in algorithms, seeds and, unless they are to be chosen, levels. */
typedef struct comparison {
    algorithm_names names;
    char *refused[COMPARISON_MOST_ALGORITHMS]; /* why it cannot be run here; NULL: it can. Owned */
    bool failed[COMPARISON_MOST_ALGORITHMS];   /* whether a number could not be computed */
    bool untuned[COMPARISON_MOST_ALGORITHMS];  /* whether its steps are neither given nor tuned */
    uint64_t first_seed;
    size_t repeats;
    comparison_run *run;  /* run[a * repeats + r]; owned */
    size_t outcome_count; /* of the problem, the same in all runs */
    saddle_outcome_column outcome[SADDLE_MOST_OUTCOME_COLUMNS];
    size_t levels;
    double level[COMPARISON_MOST_LEVELS]; /* descending */
    saddle_error output_error; /* the first trace that could not be written; SADDLE_OK: none */
    DIR *held;                 /* its directory, until it is released */
} comparison;

/* Calls to the caller, in every process. */
typedef struct comparison_hooks {
    void *context;
    /* All algorithms were tried and the directory exists; a failure ends the comparison. */
    saddle_status (*ready)(void *context, const saddle_instance *instance, saddle_error *error);
    /* Algorithm a is about to run in repeat r: returns the run's hooks. */
    saddle_hooks (*begin)(void *context, size_t a, size_t r);
    /* The run was made by an earlier call, and its trace is kept. */
    void (*kept)(void *context, const comparison_run *run);
    /* The run has ended. */
    void (*end)(void *context, const comparison_run *run, const saddle_result *result);
    /* The run failed, and its algorithm is left out from here on. */
    void (*left_out)(void *context, const char *why);
    /* Whether to stop; the same in all processes. */
    bool (*stopped)(void *context);
} comparison_hooks;

/* What a comparison is made from. Borrowed. */
typedef struct comparison_inputs {
    const saddle_plan *plan; /* of all runs, but for algorithm, seed and outputs */
    const char *directory;   /* for the traces ALGORITHM-seedN.csv */
    bool overwrite;          /* its results are replaced, also those of other comparisons */
    const char *tuned; /* directory of ALGORITHM.yaml, as `saddle tune` writes them; NULL: none */
    const saddle_world *world; /* the processes that share the work; NULL: there is only this one */
    comparison_hooks hooks;
} comparison_inputs;

/*
 * Make the runs, but for those whose complete traces are in the directory already, as a comparison with the same
 * settings has left them; traces with other settings are refused. An algorithm that refuses the problem, or whose best response cannot be found, is left
 * out with its reason, as long as another one can be run. Free with saddle_comparison_release().
 */
saddle_status saddle_comparison_make(comparison *c, const comparison_inputs *in,
                                     saddle_error *error);
/* Take a run's rows from the complete trace that the plan names, if it is there; a trace of a run with other
 * settings is refused. Sets run->done. Collective. */
saddle_status saddle_comparison_find(comparison *c, comparison_run *run,
                                     const saddle_instance *instance, const saddle_plan *plan,
                                     saddle_error *error);
/* The file of an algorithm's tuned settings; returns `out`. */
const char *saddle_comparison_tuned_path(const comparison_inputs *in,
                                         const saddle_algorithm *algorithm, char out[LAB_PATH]);
/* The trace of algorithm a in repeat r; to be freed. NULL: memory is short. */
char *saddle_comparison_trace_path(const comparison *c, const comparison_inputs *in, size_t a,
                                   size_t r);

/* Free what it owns. */
void saddle_comparison_release(comparison *c);
/* Choose the levels: decades from the start's metric down to the best at an end. */
void saddle_comparison_choose_levels(comparison *c);
/* The row from which on the metric stays at or below a level; NULL: none. */
const saddle_row *saddle_comparison_reached(const comparison_run *run, double level);
/* Whether its runs have a link model, and so simulated seconds. */
bool saddle_comparison_is_simulated(const comparison *c);
/* Write algorithm, seed, level, IFO, rounds, bytes, seconds, simulated seconds if there are any, metric and outcomes
 * as CSV: a line for the row from which on it stays at each level, and one for the last row, whose level is `end`.
 * Atomic. */
saddle_status saddle_comparison_save(const comparison *c, const char *path, saddle_error *error);

#endif
