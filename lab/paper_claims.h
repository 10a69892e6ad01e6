/*
 * The paper's claims about its experiments and its theory, and how each claim is tested.
 *
 * A claim is a sentence, the paper's or ours. Its tests are statements about the series of one experiment that traces
 * can contradict; the claim holds where all its tests do. Both are tables (paper_claims.c), to be read beside the
 * paper; claims.c decides.
 */
#ifndef SADDLE_LAB_PAPER_CLAIMS_H
#define SADDLE_LAB_PAPER_CLAIMS_H

#include "lab/paper_experiments.h"

/* What a test says about its series. */
typedef enum test_kind {
    TEST_FASTER, /* each reaches the levels at 1/factor of the next one's cost or less */
    TEST_ALIKE,  /* their costs differ by no more than the factor */
    TEST_BELOW, /* each metric is below the next: geometric mean of the ratio over the iterations that both traced */
    TEST_SLOPE_VALUE,   /* log cost to reach `level` against log of the varied value */
    TEST_SLOPE_EPSILON, /* log cost against log 1/epsilon^2, metric <= epsilon^2 */
    TEST_SLOPE_TIME,    /* log of the mean metric so far against log iterations */
    TEST_THEOREM        /* the mean metric of the series is below its theorem's bound */
} test_kind;

/* One claim. */
typedef struct paper_claim {
    const char *name;
    const char *source;  /* where it is in the paper; NULL: it is ours */
    const char *says;    /* the claim, in short */
    const char *reading; /* how it is understood, if that is not obvious; otherwise NULL */
} paper_claim;

/* One test of a claim. */
typedef struct paper_test {
    const char *claim;      /* its name */
    const char *experiment; /* the experiment whose runs decide it */
    test_kind kind;
    const char *series;   /* names in the order of the statement, separated by spaces */
    const char *cost;     /* a column of traces: "ifo", "rounds", "bytes" or "network_seconds" */
    const char *quantity; /* "metric" or "loss"; of TEST_FASTER */
    double factor;        /* of TEST_FASTER and TEST_ALIKE */
    double level;         /* of TEST_SLOPE_VALUE: the metric to reach */
    double bound;         /* of slopes: the exponent of the theory, an upper bound */
} paper_test;

/* The tables; the tests of a claim are consecutive. */
const paper_claim *saddle_paper_claims(size_t *count);
const paper_test *saddle_paper_tests(size_t *count);
/* The tests of the paper's comparison of algorithms, which apply to any runs of them; their
 * experiment is "". */
const paper_test *saddle_paper_comparison_tests(size_t *count);
/* The claim of a name. */
const paper_claim *saddle_paper_claim(const char *name);
/* Whether a claim is ours, and its source: a place in the paper, or "ours". */
bool saddle_claim_is_ours(const paper_claim *claim);
const char *saddle_claim_source(const paper_claim *claim);

#endif
