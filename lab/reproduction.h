/* Repeats the paper's experiments: traces, claims about them, and files of results. */
#ifndef SADDLE_LAB_REPRODUCTION_H
#define SADDLE_LAB_REPRODUCTION_H

#include "lab/claims.h"
#include "lab/derived_columns.h"
#include "lab/experiment_runs.h"

/* One experiment's traces. */
typedef struct reproduction_part {
    const paper_experiment *experiment;
    saddle_trace **trace;   /* trace[s * seeds + r]; owned */
    saddle_trace **bound;   /* bounds of theorems, indexed as trace; owned; NULL: none */
    theorem_check *theorem; /* of each series; owned; NULL: none */
    const char *why_not[EXPERIMENT_MOST_SERIES]; /* why a theorem does not apply; NULL: it does */
    bool chosen; /* chosen by the caller; otherwise it was finished before */
} reproduction_part;

/* All experiments and their results. */
typedef struct reproduction {
    experiment_runs runs;    /* filled in by the caller, except its counters */
    size_t experiments;      /* their number */
    size_t parts;            /* number of those with traces */
    reproduction_part *part; /* owned */
    claims_list claims;      /* owned */
    bool violated;           /* a theorem's bound is violated */
} reproduction;

/* Allocates all experiments and chooses those of a list "a,b" of names or beginnings of names;
 * "": all. */
saddle_status saddle_reproduction_choose(reproduction *r, const char *only, saddle_error *error);
/* Refuses to overwrite results with lesser ones: of short runs, or on built-in data. */
saddle_status saddle_reproduction_check_overwriting(const reproduction *r, saddle_error *error);
/* The k-th of the paper's data sets that was not found, and the built-in data used instead;
 * NULL: there are no more. */
const char *saddle_reproduction_substitute(const reproduction *r, size_t k, const char **data);
/* Makes the runs of a part, or finds them if it was not chosen, and compares them with theorems.
 * *there: all its runs exist. */
saddle_status saddle_reproduction_run(reproduction *r, reproduction_part *part, bool *there,
                                      saddle_error *error);
/* Leaves out the experiments that were neither chosen nor finished before. */
void saddle_reproduction_drop_missing(reproduction *r);
/* Decides the claims that the existing runs can decide. */
saddle_status saddle_reproduction_decide(reproduction *r, saddle_error *error);
/* Writes claims.md, claims.json, claims.csv, costs.csv and ends.csv, each atomically. */
saddle_status saddle_reproduction_save(const reproduction *r, saddle_error *error);
/* Frees what it owns. */
void saddle_reproduction_release(reproduction *r);

#endif
