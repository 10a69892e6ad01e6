/* The paper's experiments repeated: their traces, the claims about them, and the files of results. */
#ifndef SADDLE_LAB_REPRODUCTION_H
#define SADDLE_LAB_REPRODUCTION_H

#include "lab/claims.h"
#include "lab/derived_columns.h"
#include "lab/experiment_runs.h"

/* One experiment's traces. */
typedef struct reproduction_part {
    const paper_experiment *experiment;
    saddle_trace **trace;   /* trace[s * seeds + r]; owned */
    saddle_trace **bound;   /* of theorems, as trace; owned; NULL: there are none */
    theorem_check *theorem; /* of each series; owned; NULL: there are none */
    const char *why_not[EXPERIMENT_MOST_SERIES]; /* why a theorem does not apply; NULL: it does */
    bool chosen; /* by the caller; otherwise it was finished before */
} reproduction_part;

/* Everything. */
typedef struct reproduction {
    experiment_runs runs;    /* filled in by the caller but for its counters */
    size_t experiments;      /* how many there are */
    size_t parts;            /* of them, those with traces */
    reproduction_part *part; /* owned */
    claims_list claims;      /* owned */
    bool violated;           /* a theorem's bound */
} reproduction;

/* Make room for all experiments, and choose those of a list "a,b" of names or their first parts; "": all. */
saddle_status saddle_reproduction_choose(reproduction *r, const char *only, saddle_error *error);
/* Refuse to overwrite results with lesser ones: of short runs, or on built-in data. */
saddle_status saddle_reproduction_check_overwriting(const reproduction *r, saddle_error *error);
/* The k-th of the paper's data sets that was not found, and the built-in data used instead; NULL: there are
 * no more. */
const char *saddle_reproduction_substitute(const reproduction *r, size_t k, const char **data);
/* Make the runs of a part, or find them if it was not chosen, and compare them with theorems. `there` receives
 * whether all its runs are there. */
saddle_status saddle_reproduction_run(reproduction *r, reproduction_part *part, bool *there,
                                      saddle_error *error);
/* Leave out the experiments that were neither chosen nor finished before. */
void saddle_reproduction_drop_missing(reproduction *r);
/* Decide the claims that the experiments which are there can decide. */
saddle_status saddle_reproduction_decide(reproduction *r, saddle_error *error);
/* Write claims.md, claims.json, claims.csv, costs.csv and ends.csv, each whole or not at all. */
saddle_status saddle_reproduction_save(const reproduction *r, saddle_error *error);
/* Free what it owns. */
void saddle_reproduction_release(reproduction *r);

#endif
