/*
 * The experiments of the paper and its claims about them, as tables.
 *
 * An experiment is a few series of runs that differ in one thing: the algorithm, a step size, the
 * network, the number of samples. A claim is a statement about the series of one experiment that
 * their traces can contradict. Both are data (paper_experiments.c), to be read beside the paper; experiment_runs.c
 * makes the runs and claims.c decides.
 */
#ifndef SADDLE_LAB_PAPER_EXPERIMENTS_H
#define SADDLE_LAB_PAPER_EXPERIMENTS_H

#include <saddle/lab.h>

/* The most series of an experiment. */
#define EXPERIMENT_MOST_SERIES 8

/* One line of a figure: runs that differ in their seed alone. */
typedef struct experiment_series {
    const char *name;      /* of its files, and in claims */
    const char *label;     /* in legends and statements */
    const char *algorithm; /* which one runs */
    const char *settings;  /* beyond the experiment's: "name=value name=value" */
    double value;          /* what is varied, where that is a number; 0 otherwise */
    bool tuned;            /* whether tau and alpha are searched */
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
    const char *source; /* where it is in the paper, or why it is here */
    experiment_data data;
    const char *settings; /* of all series */
    const char *quick;    /* what --quick changes */
    uint64_t tuning;      /* IFO calls of each search for tau and alpha; 0: none. Otherwise claims
                             about a series are about its algorithm: its best series counts */
    uint64_t quick_tuning;
    const char
        *panels; /* of the figure: "x:y x:y", columns of the trace, or those of derived_columns.h */
    size_t count;
    const experiment_series *series; /* the first one measures the start */
} paper_experiment;

/* What a claim says about its series. */
typedef enum claim_kind {
    CLAIM_FASTER,        /* each reaches the levels at 1/factor of the next one's cost or less */
    CLAIM_ALIKE,         /* their costs differ by no more than the factor */
    CLAIM_BELOW,         /* each one's metric is below the next one's: geometric mean of the ratio
                            over the iterations that both traced */
    CLAIM_SLOPE_VALUE,   /* log cost to reach `level` against log of the varied value */
    CLAIM_SLOPE_EPSILON, /* log cost against log 1/epsilon^2, metric <= epsilon^2 */
    CLAIM_SLOPE_TIME     /* log of the least metric so far against log iterations */
} claim_kind;

/* One claim. */
typedef struct paper_claim {
    const char *experiment;
    const char *source; /* where it stands in the paper */
    const char *theme;  /* what it says in a few words, the same for all that say it elsewhere */
    claim_kind kind;
    const char *series;   /* names in the claim's order, separated by blanks */
    const char *cost;     /* "ifo" or "rounds" */
    const char *quantity; /* "metric" or "loss"; of CLAIM_FASTER */
    double factor;        /* of CLAIM_FASTER and CLAIM_ALIKE */
    double level;         /* of CLAIM_SLOPE_VALUE: the metric to reach */
    double bound;         /* of slopes: the theory's exponent, an upper bound */
    const char *reason;   /* the likely reason where it does not hold; NULL: none known */
} paper_claim;

/* The tables. */
const paper_experiment *saddle_paper_experiments(size_t *count);
const paper_claim *saddle_paper_claims(size_t *count);
/* The algorithms that the paper compares, and what it claims of them in every comparison. */
const experiment_series *saddle_paper_algorithms(size_t *count);
const paper_claim *saddle_paper_comparison_claims(size_t *count);
/* The series of a name; NULL: none. */
const experiment_series *saddle_paper_series(const paper_experiment *e, const char *name,
                                             size_t length);

#endif
