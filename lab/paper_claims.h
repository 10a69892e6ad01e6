/*
 * What the paper says about its experiments and its theory, sentence by sentence, and how each sentence is tested.
 *
 * A claim is a sentence, the paper's or one of ours. Its tests are statements about the series of one experiment, which
 * traces can contradict; the claim holds where all its tests do. Both are tables (paper_claims.c), to be read beside the paper;
 * claims.c decides.
 */
#ifndef SADDLE_LAB_PAPER_CLAIMS_H
#define SADDLE_LAB_PAPER_CLAIMS_H

#include "lab/paper_experiments.h"

/* What a test says about its series. */
typedef enum test_kind {
    TEST_FASTER,        /* each reaches the levels at 1/factor of the next one's cost or less */
    TEST_ALIKE,         /* their costs differ by no more than the factor */
    TEST_BELOW,         /* each one's metric is below the next one's: geometric mean of the ratio
                           over the iterations that both traced */
    TEST_SLOPE_VALUE,   /* log cost to reach `level` against log of the varied value */
    TEST_SLOPE_EPSILON, /* log cost against log 1/epsilon^2, metric <= epsilon^2 */
    TEST_SLOPE_TIME,    /* log of the mean metric so far against log iterations */
    TEST_THEOREM        /* the mean metric of the series is below its theorem's bound */
} test_kind;

/* One sentence. */
typedef struct paper_claim {
    const char *name;
    const char *source;  /* where it stands in the paper; NULL: it is ours */
    const char *says;    /* in short */
    const char *reading; /* how it is read where that is not plain; NULL: it is plain */
} paper_claim;

/* One test of a claim. */
typedef struct paper_test {
    const char *claim;      /* its name */
    const char *experiment; /* whose runs decide it */
    test_kind kind;
    const char *series;   /* names in the statement's order, separated by blanks */
    const char *cost;     /* a column of traces: "ifo", "rounds", "bytes" or "network_seconds" */
    const char *quantity; /* "metric" or "loss"; of TEST_FASTER */
    double factor;        /* of TEST_FASTER and TEST_ALIKE */
    double level;         /* of TEST_SLOPE_VALUE: the metric to reach */
    double bound;         /* of slopes: the theory's exponent, an upper bound */
} paper_test;

/* The tables; tests of a claim follow each other. */
const paper_claim *saddle_paper_claims(size_t *count);
const paper_test *saddle_paper_tests(size_t *count);
/* The tests of the paper's comparison of algorithms, which any runs of them can be put to; their experiment is "". */
const paper_test *saddle_paper_comparison_tests(size_t *count);
/* The claim of a name. */
const paper_claim *saddle_paper_claim(const char *name);
/* Whether a claim is ours, and where it stands: in the paper, or "ours". */
bool saddle_claim_is_ours(const paper_claim *claim);
const char *saddle_claim_source(const paper_claim *claim);

#endif
