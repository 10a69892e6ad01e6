/*
 * What `saddle compare` keeps of its runs, and what it makes of them.
 *
 * cmd_compare.c makes the runs; compare_report.c turns their rows into levels, tables and a file.
 */
#ifndef SADDLE_CLI_COMPARE_H
#define SADDLE_CLI_COMPARE_H

#include "levels.h"

/* The most that the user may name. */
#define COMPARE_MOST_LEVELS 64

/* One algorithm on one seed. */
typedef struct compare_run {
    bool done;        /* whether it was run to an end of its own or the user's */
    saddle_stop stop; /* why it ended */
    saddle_row *rows; /* owned */
    size_t row_count;
} compare_run;

/* All runs. */
typedef struct comparison {
    size_t algorithms;
    const saddle_algorithm *algorithm[CLI_MOST_ALGORITHMS];
    char *refused[CLI_MOST_ALGORITHMS]; /* why it cannot be run here; NULL: it can. Owned */
    bool failed[CLI_MOST_ALGORITHMS];   /* whether that is because a number could not be computed */
    uint64_t first_seed;
    size_t repeats;
    compare_run *run; /* run[a * repeats + r]; owned */
    size_t levels;
    double level[COMPARE_MOST_LEVELS]; /* descending */
} comparison;

/* Keep of a result what the tables need. */
saddle_status compare_keep(compare_run *run, const saddle_result *result, saddle_error *error);
/* Free what it owns. */
void compare_release(comparison *c);
/* Choose the levels: decades from the start's metric down to the best that was reached. */
void compare_choose_levels(comparison *c);
/* The first row whose metric is at most a level; NULL: none. */
const saddle_row *compare_reached(const compare_run *run, double level);
/* Print a table for each level, then one of how the runs ended. */
void compare_print(const comparison *c);
/* Write algorithm, seed, level, IFO, rounds, bytes, seconds as CSV. Atomic. */
saddle_status compare_save(const comparison *c, const char *path, saddle_error *error);

#endif
