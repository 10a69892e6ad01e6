/*
 * The experiments of the paper, and some of ours beside them, as a table.
 *
 * An experiment is a few series of runs that differ in one thing: the algorithm, a step size, the
 * network, the number of samples. experiment_runs.c makes the runs; paper_claims.h is about what they show.
 */
#ifndef SADDLE_LAB_PAPER_EXPERIMENTS_H
#define SADDLE_LAB_PAPER_EXPERIMENTS_H

#include <saddle/lab.h>

/* The most series of an experiment. */
#define EXPERIMENT_MOST_SERIES 24

/* One line of a figure: runs that differ in their seed alone. */
typedef struct experiment_series {
    const char *name; /* of its files, and in claims */
    const char
        *label; /* in legends and statements; "A, B": A with the value, or over the links, B */
    const char *algorithm; /* which one runs */
    const char *settings;  /* beyond the experiment's: "name=value name=value" */
    double value;          /* what is varied, where that is a number; 0 otherwise */
    bool tuned;            /* whether tau, alpha and the batch are searched */
    const char *churn;     /* contents of a churn file; NULL: all agents stay */
} experiment_series;

/* Which data an experiment is about. */
typedef enum experiment_data {
    EXPERIMENT_A9A,
    EXPERIMENT_MNIST,
    EXPERIMENT_OWN /* the problem makes its own */
} experiment_data;

/* One experiment. */
typedef struct paper_experiment {
    const char *name;
    const char *title;
    const char *source; /* where it is in the paper, or why it is here; without sizes */
    bool ours;          /* not in the paper */
    experiment_data data;
    const char *settings; /* of all series */
    const char *quick;    /* what --quick changes */
    uint64_t
        tuning; /* IFO calls of each search for tau, alpha and the batch; 0: none. Otherwise claims
                             about a series are about its algorithm: its best series counts */
    uint64_t quick_tuning;
    const char *batches; /* that a search tries: "batch=5,20"; NULL: none but the default */
    /* Of the figure: "x:y x:y", columns of the trace, or those of derived_columns.h. "x:y@A" has the series of one A alone;
     * "value:y" is y at the end of the runs against the series' values, a curve for each A. */
    const char *panels;
    const char *varied; /* what the values are, for an axis; NULL: no panel is about them */
    size_t count;
    const experiment_series *series;
    size_t drawn; /* series that are drawn, the first ones; 0: all */
} paper_experiment;

/* The table. */
const paper_experiment *saddle_paper_experiments(size_t *count);
/* The algorithms that the paper compares. */
const experiment_series *saddle_paper_algorithms(size_t *count);
/* The series of a name; NULL: none. */
const experiment_series *saddle_paper_series(const paper_experiment *e, const char *name,
                                             size_t length);

#endif
