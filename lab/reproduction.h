/* The paper's experiments repeated: their traces, the claims about them, and the files of results. */
#ifndef SADDLE_LAB_REPRODUCTION_H
#define SADDLE_LAB_REPRODUCTION_H

#include "lab/claims.h"
#include "lab/derived_columns.h"

/* One experiment's traces. */
typedef struct reproduction_part {
    const paper_experiment *experiment;
    saddle_trace **trace; /* trace[s * seeds + r]; owned */
    saddle_trace **bound; /* of theorems, as trace; owned; NULL: there are none */
    bool chosen;          /* by --only; otherwise it was finished before */
} reproduction_part;

/* Everything. */
typedef struct reproduction {
    const char *directory;
    size_t seeds;
    bool quick;
    size_t experiments;      /* how many there are */
    size_t parts;            /* of them, those with traces */
    reproduction_part *part; /* owned */
    size_t claims;
    claims_outcome *claim; /* owned; those of theorems have no levels */
} reproduction;

/* One more part, for which there is room, with room for its traces. */
saddle_status saddle_reproduction_add(reproduction *r, const paper_experiment *e, bool chosen,
                                      saddle_error *error);
/* "a9a" or what stands in for it, for the heads of files. */
const char *saddle_reproduction_data(const reproduction_part *part);
/* Whether the directory has claims, of a run whose claims.json says `what` at its head. */
bool saddle_reproduction_said(const reproduction *r, const char *what);
/* The likely reason why a claim does not hold; "" where it does, or none is known. */
const char *saddle_reproduction_reason(const claims_outcome *o);
/* The number of claims about an experiment, or about any if it is NULL, that have a verdict. */
size_t saddle_reproduction_count(const reproduction *r, const paper_experiment *e,
                                 claim_verdict verdict);
/* Write claims.md, claims.json, claims.csv and costs.csv, each whole or not at all. */
saddle_status saddle_reproduction_save(const reproduction *r, saddle_error *error);
/* Free what it owns. */
void saddle_reproduction_release(reproduction *r);

#endif
