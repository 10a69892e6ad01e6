/*
 * Comparisons of algorithms that start from the same point: the costs at which each reached levels
 * of the metric.
 *
 * The cost at a level is that of the first trace point from which the metric stays at or below it,
 * so it is as precise as the trace is fine.
 */
#ifndef SADDLE_CLI_COMPARISON_H
#define SADDLE_CLI_COMPARISON_H

#include <saddle/lab.h>

#include "algorithm_names.h"
#include "draw/trace_list.h"
#include "files/file.h"

/* The most algorithms and levels of one comparison. */
#define COMPARISON_MOST_ALGORITHMS ALGORITHM_NAMES_MOST
#define COMPARISON_MOST_LEVELS 64

/* One algorithm on one seed. */
typedef struct comparison_run {
    bool done;        /* whether it ran to its end or was interrupted */
    saddle_stop stop; /* why it ended */
    saddle_row *rows; /* owned */
    size_t row_count;
    double *outcomes; /* comparison::outcome_count of each row; owned */
} comparison_run;

/* A comparison. The caller fills in algorithms, seeds and, unless they are to be chosen, levels. */
typedef struct comparison {
    algorithm_names names;
    char *refused[COMPARISON_MOST_ALGORITHMS]; /* why it cannot be run; NULL: it can. Owned */
    bool failed[COMPARISON_MOST_ALGORITHMS];   /* whether a best response could not be computed */
    bool untuned[COMPARISON_MOST_ALGORITHMS];  /* whether its steps are neither given nor tuned */
    uint64_t first_seed;
    size_t repeats;
    comparison_run *run;  /* run[a * repeats + r]; owned */
    size_t outcome_count; /* of the problem, the same in all runs */
    saddle_outcome_column outcome[SADDLE_MOST_OUTCOME_COLUMNS];
    size_t levels;
    double level[COMPARISON_MOST_LEVELS]; /* descending */
    saddle_error output_error; /* the first trace that could not be written; SADDLE_OK: none */
    DIR *held;                 /* the output directory, held until the release */
} comparison;

/* Callbacks, called in every process. */
typedef struct comparison_hooks {
    void *context;
    /* All algorithms were tried and the directory exists; a failure ends the comparison. */
    saddle_status (*ready)(void *context, const saddle_instance *instance, saddle_error *error);
    /* Algorithm a is about to run in repeat r: returns the run's hooks. */
    saddle_hooks (*begin)(void *context, size_t a, size_t r);
    /* The run exists from an earlier call; its trace is kept. */
    void (*kept)(void *context, const comparison_run *run);
    /* The run has ended. */
    void (*end)(void *context, const comparison_run *run, const saddle_result *result);
    /* The run failed; its algorithm is left out from now on. */
    void (*left_out)(void *context, const char *why);
    /* Whether to stop; the same in all processes. */
    bool (*stopped)(void *context);
} comparison_hooks;

/* The inputs of a comparison. Borrowed. */
typedef struct comparison_inputs {
    const saddle_plan *plan;   /* of all runs, except algorithm, seed and outputs */
    const char *directory;     /* for the traces ALGORITHM-seedN.csv */
    bool overwrite;            /* replace its results, also those of other comparisons */
    const char *tuned;         /* directory of ALGORITHM.yaml files of `saddle tune`; NULL: none */
    const saddle_world *world; /* the processes of the job; NULL: this is the only one */
    comparison_hooks hooks;
} comparison_inputs;

/*
 * Makes the runs. A run whose complete trace with the same settings is in the directory is not made
 * again; a trace with other settings is refused. An algorithm that refuses the problem, or whose
 * best response cannot be found, is left out with the reason, as long as another can run. Free with
 * saddle_comparison_release().
 */
saddle_status saddle_comparison_make(comparison *c, const comparison_inputs *in,
                                     saddle_error *error);
/* Reads the rows of a run from the complete trace that the plan names, if it exists; a trace
 * with other settings is refused. Sets run->done. Collective. */
saddle_status saddle_comparison_find(comparison *c, comparison_run *run,
                                     const saddle_instance *instance, const saddle_plan *plan,
                                     saddle_error *error);
/* Writes the path of an algorithm's tuned settings; returns `out`. */
const char *saddle_comparison_tuned_path(const comparison_inputs *in,
                                         const saddle_algorithm *algorithm, char out[TRACE_PATH]);
/* The path of the trace of algorithm a in repeat r; free it. NULL: memory is short. */
char *saddle_comparison_trace_path(const comparison *c, const comparison_inputs *in, size_t a,
                                   size_t r);

/* Frees what the comparison owns. */
void saddle_comparison_release(comparison *c);
/* Chooses the levels by saddle_levels_choose(). */
void saddle_comparison_choose_levels(comparison *c);
/* The row from which the metric stays at or below a level, or NULL. */
const saddle_row *saddle_comparison_reached(const comparison_run *run, double level);
/* Whether the runs have a link model, and so simulated seconds. */
bool saddle_comparison_is_simulated(const comparison *c);
/* Writes algorithm, seed, level, IFO, rounds, bytes, seconds, simulated seconds if there are
 * any, metric and outcomes as CSV: for each level one line, the row from which the metric stays
 * there, and one for the last row, whose level is `end`. Atomic. */
saddle_status saddle_comparison_save(const comparison *c, const char *path, saddle_error *error);

#endif
