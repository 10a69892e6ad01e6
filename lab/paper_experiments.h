/*
 * The experiments of the paper, and some of ours, as a table.
 *
 * An experiment is a few series of runs that differ in one thing: the algorithm, a step size, the
 * network, the number of samples. experiment_runs.c makes the runs; paper_claims.h says what they
 * show.
 */
#ifndef SADDLE_LAB_PAPER_EXPERIMENTS_H
#define SADDLE_LAB_PAPER_EXPERIMENTS_H

#include <saddle/lab.h>

/* The most series of an experiment. */
#define EXPERIMENT_MOST_SERIES 24

/* One curve of a figure: runs that differ only in their seed. */
typedef struct experiment_series {
    const char *name; /* of its files, and in claims */
    const char
        *label; /* in legends and statements; "A, B" is A with the value, or over the links, B */
    const char *algorithm; /* its name */
    const char *settings;  /* in addition to the experiment's: "name=value name=value" */
    double value;          /* the value that is varied, if it is a number; otherwise 0 */
    bool tuned;            /* whether tau, alpha and the batch are searched */
    const char *churn;     /* contents of a churn file; NULL: all agents stay */
} experiment_series;

/* The data of an experiment. */
typedef enum experiment_data {
    EXPERIMENT_A9A,
    EXPERIMENT_MNIST,
    EXPERIMENT_OWN /* the problem generates its own */
} experiment_data;

/* One experiment. */
typedef struct paper_experiment {
    const char *name;
    const char *title;
    const char *source; /* where it is in the paper, or its purpose; without sizes */
    bool ours;          /* not in the paper */
    experiment_data data;
    const char *settings; /* of all series */
    const char *quick;    /* what --quick changes */
    /* IFO calls of each search for tau, alpha and the batch; 0: none. If not 0, claims about a series are about
     * its algorithm, whose best series counts. */
    uint64_t tuning;
    uint64_t quick_tuning;
    const char *batches; /* values that a search tries: "batch=5,20"; NULL: only the default */
    /* Panels of the figure: "x:y x:y", columns of the trace or those of derived_columns.h.
     * "x:y@A" has only the series of A; "value:y" is y at the end of the runs against the
     * series' values, one curve for each A. */
    const char *panels;
    const char *varied; /* name of the values, for an axis; NULL: no panel shows them */
    size_t count;
    const experiment_series *series;
    size_t drawn; /* number of series that are drawn, the first ones; 0: all */
} paper_experiment;

/* The table. */
const paper_experiment *saddle_paper_experiments(size_t *count);
/* The algorithms that the paper compares. */
const experiment_series *saddle_paper_algorithms(size_t *count);
/* The series of a name, or NULL. */
const experiment_series *saddle_paper_series(const paper_experiment *e, const char *name,
                                             size_t length);

#endif
