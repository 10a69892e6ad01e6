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
#ifndef SADDLE_LAB_THEOREM_CHECK_H
#define SADDLE_LAB_THEOREM_CHECK_H

#include <signal.h>

#include <saddle/lab.h>

#include "lab/statistics.h"

/* T at which bounds are compared: a hundredth, a tenth and all of the iterations. */
#define THEOREM_POINTS 3
/* The most seeds. */
#define THEOREM_MOST_SEEDS 100
#define THEOREM_CONFIDENCE 0.95

/* One T, over seeds. */
typedef struct theorem_point {
    double iterations;
    double average[THEOREM_MOST_SEEDS];          /* measured */
    double average_bound[THEOREM_MOST_SEEDS];    /* the theorem's */
    double potential[THEOREM_MOST_SEEDS];        /* p_T */
    double potential_bound[THEOREM_MOST_SEEDS];  /* what it may be at most */
    double average_excess[THEOREM_MOST_SEEDS];   /* average / bound - 1 */
    double potential_excess[THEOREM_MOST_SEEDS]; /* (p_T - bound) / (p_0 - Q*) */
} theorem_point;

/* One theorem. */
typedef struct theorem_check {
    bool plus; /* Theorem 2 */
    size_t seeds;
    theorem_point point[THEOREM_POINTS];
} theorem_check;

/* What a theorem says about one run. */
typedef struct theorem_bound {
    double gap;   /* p_0 - Q* */
    double rate;  /* of the descent */
    double level; /* the floor; 0 for PRECISION */
} theorem_bound;

/* A theorem's bound for runs on an experiment. `c_epsilon` is the setting of that name. */
theorem_bound saddle_theorem_bound_of(const saddle_theory *theory, bool plus, double c_epsilon);
/* At every trace point, which are at equal distances, the first one at iteration 0: the mean of the
 * metric over the iterations before it, and what the theorem allows. Means are NaN at iteration 0. */
void saddle_theorem_mean_metric(size_t rows, const double *iteration, const double *metric,
                                double *mean);
void saddle_theorem_allowed(const theorem_bound *bound, size_t rows, const double *iteration,
                            const double *metric, const double *potential, double *mean_bound,
                            double *potential_bound);

/* Whether a theorem says anything about an experiment; otherwise `why` says why not. */
bool saddle_theorem_applies(const saddle_theory *theory, bool plus, const char **why);
/* Add a run: `rows` trace points at equal distances, the first one at iteration 0. */
void saddle_theorem_add(theorem_check *v, const theorem_bound *bound, size_t rows,
                        const double *iteration, const double *metric, const double *potential);
/* The same for a trace. */
void saddle_theorem_add_trace(theorem_check *v, const theorem_bound *bound,
                              const saddle_trace *trace);

/* What the theorems say about an instance, at the tau of a run with practical steps, which `practical`
 * receives, and the plan's epsilon or 0.1. */
saddle_status saddle_theorem_theory(const saddle_instance *instance, const saddle_plan *plan,
                                    saddle_steps *practical, saddle_theory *theory,
                                    saddle_error *error);
/* Run PRECISION and PRECISION+ with the theory's steps and one seed and add the runs to theorem[0] and
 * theorem[1]. An algorithm whose theorem says nothing is left out. */
saddle_status saddle_theorem_measure(theorem_check theorem[2], const saddle_plan *given,
                                     uint64_t seed, const volatile sig_atomic_t *interrupt,
                                     saddle_error *error);

/* Whether a bound is violated. */
bool saddle_theorem_violated(const theorem_check *v);
/* Describe bounds and measurements at the last T in a line. */
void saddle_theorem_describe(const theorem_check *v, char *out, size_t size);

#endif
