/*
 * Several algorithms run from the same start, and what each paid to reach levels of the metric.
 *
 * The cost at a level is that of the first row of the trace whose metric is at most the level; it
 * is therefore as fine as the trace.
 */
#ifndef SADDLE_LAB_COMPARISON_H
#define SADDLE_LAB_COMPARISON_H

#include <saddle/saddle.h>

/* The most algorithms and levels of one comparison. */
#define COMPARISON_MOST_ALGORITHMS 64
#define COMPARISON_MOST_LEVELS 64

/* One algorithm on one seed. */
typedef struct comparison_run {
    bool done;        /* whether it was run to an end of its own or the user's */
    saddle_stop stop; /* why it ended */
    saddle_row *rows; /* owned */
    size_t row_count;
} comparison_run;

/* All runs. */
typedef struct comparison {
    size_t algorithms;
    const saddle_algorithm *algorithm[COMPARISON_MOST_ALGORITHMS];
    char *refused[COMPARISON_MOST_ALGORITHMS]; /* why it cannot be run here; NULL: it can. Owned */
    bool failed
        [COMPARISON_MOST_ALGORITHMS]; /* whether that is because a number could not be computed */
    uint64_t first_seed;
    size_t repeats;
    comparison_run *run; /* run[a * repeats + r]; owned */
    size_t levels;
    double level[COMPARISON_MOST_LEVELS]; /* descending */
} comparison;

/* Keep of a result what the tables need. */
saddle_status saddle_comparison_keep(comparison_run *run, const saddle_result *result,
                                     saddle_error *error);
/* Free what it owns. */
void saddle_comparison_release(comparison *c);
/* Choose the levels: decades from the start's metric down to the best that was reached. */
void saddle_comparison_choose_levels(comparison *c);
/* The first row whose metric is at most a level; NULL: none. */
const saddle_row *saddle_comparison_reached(const comparison_run *run, double level);
/* Write algorithm, seed, level, IFO, rounds, bytes, seconds as CSV. Atomic. */
saddle_status saddle_comparison_save(const comparison *c, const char *path, saddle_error *error);

#endif
