/*
 * Theorems 1 and 2 against measurements.
 *
 * With the theory's step sizes, in expectation, for every T:
 *   average    (1/T) sum_{t<T} M_t  <=  (p_0 - Q*) / (rate (T + 1)) + floor
 *   potential  p_T  <=  p_0 - rate sum_{t<T} M_t + T floor
 * The first is the theorem's statement, the second the descent that its proof adds up; rate and floor
 * are those of `saddle theory`, the floor 0 for PRECISION. The expectation is over the seed, which
 * draws the instance, too, so both sides are compared run by run, relative to p_0 - Q*, and then
 * averaged: a violation is a mean above the bound whose 95% interval excludes it.
 */
#ifndef SADDLE_CLI_VERIFY_H
#define SADDLE_CLI_VERIFY_H

#include "cli.h"
#include "statistics.h"

/* T at which bounds are compared: a hundredth, a tenth and all of the iterations. */
#define VERIFY_POINTS 3
/* The most seeds. */
#define VERIFY_MOST_SEEDS 100
#define VERIFY_CONFIDENCE 0.95

/* One T, over seeds. */
typedef struct verify_point {
    double iterations;
    double average[VERIFY_MOST_SEEDS];          /* measured */
    double average_bound[VERIFY_MOST_SEEDS];    /* the theorem's */
    double potential[VERIFY_MOST_SEEDS];        /* p_T */
    double potential_bound[VERIFY_MOST_SEEDS];  /* what it may be at most */
    double average_excess[VERIFY_MOST_SEEDS];   /* average / bound - 1 */
    double potential_excess[VERIFY_MOST_SEEDS]; /* (p_T - bound) / (p_0 - Q*) */
} verify_point;

/* One theorem. */
typedef struct verify {
    bool plus; /* Theorem 2 */
    size_t seeds;
    verify_point point[VERIFY_POINTS];
} verify;

/* What a theorem says about one run. */
typedef struct verify_bound {
    double gap;   /* p_0 - Q* */
    double rate;  /* of the descent */
    double level; /* the floor; 0 for PRECISION */
} verify_bound;

/* A theorem's bound for runs on an experiment. `c_epsilon` is the setting of that name. */
verify_bound verify_bound_of(const saddle_theory *theory, bool plus, double c_epsilon);
/* At every trace point, which are at equal distances, the first one at iteration 0: the mean of the
 * metric over the iterations before it, and what the theorem allows. Means are NaN at iteration 0. */
void verify_mean(size_t rows, const double *iteration, const double *metric, double *mean);
void verify_allowed(const verify_bound *bound, size_t rows, const double *iteration,
                    const double *metric, const double *potential, double *mean_bound,
                    double *potential_bound);

/* Whether a theorem says anything about an experiment; otherwise `why` says why not. */
bool verify_applies(const saddle_theory *theory, bool plus, const char **why);
/* Add a run: `rows` trace points at equal distances, the first one at iteration 0. */
void verify_add(verify *v, const verify_bound *bound, size_t rows, const double *iteration,
                const double *metric, const double *potential);
/* Whether a bound is violated. */
bool verify_violated(const verify *v);
/* Print bounds beside measurements. */
void verify_print(const verify *v);
/* The same in a line, for claims. */
void verify_describe(const verify *v, char *out, size_t size);

#endif
