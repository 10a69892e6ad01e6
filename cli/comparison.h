/*
 * Comparisons of algorithms that start from the same point: the costs at which each reached levels
 * of the metric.
 */
#pragma once

#include <saddle/lab.h>

#include "algorithm_names.h"
#include "cli.h"
#include "draw/trace_costs.h"
#include "draw/trace_list.h"
#include "files/file.h"

/* The most algorithms and levels of one comparison. */
#define COMPARISON_MOST_ALGORITHMS ALGORITHM_NAMES_MOST
#define COMPARISON_MOST_LEVELS 64

/* One algorithm on one seed. */
typedef struct comparison_run {
    bool done;        /* whether it ran to its end or was interrupted */
    saddle_stop stop; /* why it ended */
    saddle_trace
        *trace; /* its rows; NULL in a process without the file of a run that was kept. Owned */
} comparison_run;

/* A comparison. */
typedef struct comparison {
    /* The caller fills in these, and the levels unless they are to be chosen. Borrowed. */
    /* With the plan of all runs, except algorithm, seed and outputs. */
    const cli_arguments *arguments;
    const char *directory; /* for the traces ALGORITHM-seedN.csv */
    const char *tuned;     /* directory of ALGORITHM.yaml files of `saddle tune`; NULL: none */
    const char *report;    /* path of a page; NULL: none */
    bool overwrite;        /* replace the directory's results, also those of other comparisons */
    bool json;             /* print JSON only */
    bool hidden;           /* show no progress */
    bool quiet;            /* print only warnings and errors and, without JSON, the tables */
    algorithm_names names;
    uint64_t first_seed;
    size_t repeats;

    char *refused[COMPARISON_MOST_ALGORITHMS]; /* why it cannot be run; NULL: it can. Owned */
    bool failed[COMPARISON_MOST_ALGORITHMS];   /* whether a best response could not be computed */
    bool untuned[COMPARISON_MOST_ALGORITHMS];  /* whether its steps are neither given nor tuned */
    comparison_run *run;                       /* run[a * repeats + r]; owned */
    size_t levels;
    double level[COMPARISON_MOST_LEVELS]; /* descending */
    double metric_tau;         /* the same for all algorithms, because their tau may differ */
    saddle_error output_error; /* the first trace that could not be written; SADDLE_OK: none */
    DIR *held;                 /* the output directory, held until the release */
    const volatile sig_atomic_t *interrupt;
    bool stopped; /* whether an interrupt was seen; the same in all processes */
    cli_meter meter;
    char label[128];          /* of the current run */
    char numbered_label[192]; /* the same with its number among all runs */
} comparison;

/*
 * Makes the runs, and reports them. A run whose complete trace with the same settings is in the directory is not made
 * again; a trace with other settings is refused. An algorithm that refuses the problem, or whose
 * best response cannot be found, is left out with the reason, as long as another can run. Free with
 * saddle_comparison_release().
 */
saddle_status saddle_comparison_make(comparison *c, saddle_error *error);
/* Reads the rows of a run from the complete trace that the plan names, if it exists; a trace
 * with other settings is refused. Sets run->done. Collective. */
saddle_status saddle_comparison_find(const comparison *c, comparison_run *run,
                                     const saddle_instance *instance, const saddle_plan *plan,
                                     saddle_error *error);
/* Writes the path of an algorithm's tuned settings; returns `out`. */
const char *saddle_comparison_tuned_path(const comparison *c, const saddle_algorithm *algorithm,
                                         char out[TRACE_PATH]);
/* The path of the trace of algorithm a in repeat r; free it. NULL: memory is short. */
char *saddle_comparison_trace_path(const comparison *c, size_t a, size_t r);
/* Writes the path of the summary; returns `out`. */
const char *saddle_comparison_summary_path(const comparison *c, char out[TRACE_PATH]);

/* Frees what the comparison owns. */
void saddle_comparison_release(comparison *c);
/* Chooses the levels by saddle_levels_choose(). */
void saddle_comparison_choose_levels(comparison *c);
/* The number of runs. */
size_t saddle_comparison_runs(const comparison *c);
/* A trace of the comparison, for the names of its columns; NULL: none. */
const saddle_trace *saddle_comparison_trace(const comparison *c);
/* Whether a column of a trace is an outcome. */
bool saddle_comparison_is_outcome(const char *column);
/* Writes algorithm, seed, level, IFO, rounds, bytes, seconds, simulated seconds if there are
 * any, metric and outcomes as CSV: for each level one line, the row from which the metric stays
 * there, and one for the last row, whose level is `end`. Atomic. */
saddle_status saddle_comparison_save(const comparison *c, const char *path, saddle_error *error);
