/*
 * What `saddle reproduce` has found, and the files that it makes of it.
 *
 * cmd_reproduce.c makes the runs; reproduction_figures.c turns their traces into figures, reproduction.c
 * into tables and a report.
 */
#ifndef SADDLE_CLI_REPRODUCTION_H
#define SADDLE_CLI_REPRODUCTION_H

#include "claims.h"
#include "derive.h"

/* One experiment's traces. */
typedef struct reproduction_part {
    const experiment *experiment;
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

/* "a9a" or what stands in for it, for the heads of files. */
const char *reproduction_data(const reproduction_part *part);
/* Whether the directory has claims, of a run whose claims.json says `what` at its head. */
bool reproduction_said(const reproduction *r, const char *what);
/* Whether a series is drawn: not if it has the default steps and the search had chosen these. */
bool reproduction_is_drawn(const reproduction *r, const reproduction_part *part, size_t s);
/* Draw figures/NAME.svg, .png and .pdf, NAME-slopes where slopes were fitted, and the networks of the part;
 * its claims must be decided. */
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
