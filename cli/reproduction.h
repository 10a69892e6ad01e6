/*
 * What `saddle reproduce` has found, and the files that it makes of it.
 *
 * cmd_reproduce.c makes the runs; reproduction.c turns their traces into figures, tables and a
 * report.
 */
#ifndef SADDLE_CLI_REPRODUCTION_H
#define SADDLE_CLI_REPRODUCTION_H

#include "claims.h"
#include "verify.h"

/* One experiment's traces. */
typedef struct reproduction_part {
    const experiment *experiment;
    saddle_trace **trace; /* trace[s * seeds + r]; owned */
} reproduction_part;

/* Everything. */
typedef struct reproduction {
    const char *directory;
    size_t seeds;
    bool quick;
    size_t parts;
    reproduction_part *part; /* owned */
    size_t claims;
    claims_outcome *claim; /* owned; those of theorems have no levels */
} reproduction;

/* "a9a" or what stands in for it, for the heads of files. */
const char *reproduction_data(const reproduction_part *part);
/* Draw figures/NAME.svg and .png. */
saddle_status reproduction_draw(const reproduction *r, const reproduction_part *part,
                                saddle_error *error);
/* Write claims.md, claims.json, claims.csv and costs.csv, each whole or not at all. */
saddle_status reproduction_save(const reproduction *r, saddle_error *error);
/* Write report.html. */
saddle_status reproduction_report(const reproduction *r, saddle_error *error);
/* Print the claims of all experiments, or how many there are of each kind. */
void reproduction_print(const reproduction *r);
/* Free what it owns. */
void reproduction_release(reproduction *r);

#endif
