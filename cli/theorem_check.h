/*
 * Comparison of what is proved (docs/theory.md) with measurements.
 *
 * With the theory's step sizes, in expectation, for every T:
 *   (1/T) sum_{t<T} M_t  <=  total / T + level
 * total and level are those of `saddle theory`; the level is 0 for PRECISION. The expectation is over the seed, which
 * also draws the instance, so both sides are compared run by run and then averaged. A contradiction is a mean above the
 * bound whose 95% interval excludes the bound.
 */
#pragma once

#include <signal.h>

#include <saddle/lab.h>

#include "statistics.h"

/* The T at which bounds are compared: a hundredth, a tenth and all of the iterations. */
#define THEOREM_POINTS 3
/* The most seeds. */
#define THEOREM_MOST_SEEDS 100
/* Capacity for the list of seeds. */
#define THEOREM_NAMES 256
#define THEOREM_CONFIDENCE 0.95
/* PRECISION+ assumes a sigma^2 of this many times the largest variance at the start. */
#define THEOREM_MARGIN 2.0

/* One T, over the seeds that were measured. */
typedef struct theorem_point {
    double iterations;
    double average[THEOREM_MOST_SEEDS];        /* measured */
    double average_bound[THEOREM_MOST_SEEDS];  /* bound of the theorem */
    double average_excess[THEOREM_MOST_SEEDS]; /* average / bound - 1 */
} theorem_point;

/* One theorem. */
typedef struct theorem_check {
    bool plus;                  /* PRECISION+ */
    size_t seeds;               /* that were compared: measured and failed ones */
    size_t measured;            /* those with a finite metric, to which the numbers below refer */
    size_t unguaranteed;        /* left out because the theorem does not apply */
    const char *why;            /* why it does not apply to the last of them */
    char failed[THEOREM_NAMES]; /* "seed 2, 5": seeds whose metric is not finite; "": none */
    /* The largest variance of one sample's gradient at the end, as a multiple of the sigma^2
     * that refreshes assume; 0: nothing was assumed. */
    double variance_share;
    double start[THEOREM_MOST_SEEDS]; /* the metric at the start */
    theorem_point point[THEOREM_POINTS];
} theorem_check;

/* A theorem's bound on one run. */
typedef struct theorem_bound {
    double total;
    double level;
} theorem_bound;

/* The bound on runs of an instance. `c_epsilon` is the setting of that name. */
theorem_bound saddle_theorem_bound_of(const saddle_theory *theory, bool plus, double c_epsilon);
/* The mean of the metric over the iterations before trace point k >= 1. Trace points are equally
 * spaced, the first at iteration 0. */
double saddle_theorem_mean_metric(const double *metric, size_t k);

/* Whether a theorem applies to an instance; otherwise *why receives the reason. */
bool saddle_theorem_applies(const saddle_theory *theory, bool plus, const char **why);
/* Adds a run with `rows` equally spaced trace points, the first at iteration 0. It has failed if
 * a metric is not finite. */
void saddle_theorem_add(theorem_check *v, const theorem_bound *bound, const char *seed, size_t rows,
                        const double *iteration, const double *metric);
/* The same for a trace; a run that diverged has failed. */
void saddle_theorem_add_trace(theorem_check *v, const theorem_bound *bound,
                              const saddle_trace *trace);

/* Evaluates the theorems for an instance, with the tau of a run with practical steps, which
 * *practical receives, and the plan's epsilon or 0.1. */
saddle_status saddle_theorem_theory(const saddle_instance *instance, const saddle_plan *plan,
                                    saddle_steps *practical, saddle_theory *theory,
                                    saddle_error *error);
/* Runs PRECISION and PRECISION+ with the theory's steps and one seed, and adds the runs to
 * theorem[0] and theorem[1]. An algorithm to which its theorem does not apply is left out, and
 * counted. Refreshes of PRECISION+ use the exact gamma and a sigma^2 of THEOREM_MARGIN times the
 * largest variance at the start. */
saddle_status saddle_theorem_measure(theorem_check theorem[2], const saddle_plan *given,
                                     uint64_t seed, const volatile sig_atomic_t *interrupt,
                                     saddle_error *error);

/* Whether a bound is violated: in the mean, or by a run that failed. */
bool saddle_theorem_violated(const theorem_check *v);
/* The ratio of the bound to the measured mean at the last T; both are means over seeds. */
double saddle_theorem_ratio(const theorem_check *v);
/* Whether the bound at the last T is above the metric at the start, so that standing still would satisfy it. */
bool saddle_theorem_is_vacuous(const theorem_check *v);
