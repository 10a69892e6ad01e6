/* The curvature of an objective at its reference point, measured before a run. */
#pragma once

#include <saddle/instance.h>

#include "algorithms/metric.h"

/* What was measured. */
typedef struct saddle_curvature {
    saddle_metric metric; /* about the Hessian of F in x, or its diagonal */
    /* Whether the metric is 1 everywhere and nothing else is known, because X and h allow no proximal step in another
     * metric, or because the losses of samples depend on more than one score, or not on x there. */
    bool uniform;
    /* How far the measurement came: 0: nothing was evaluated; 1: to the test of the losses; 2: to its end. */
    int stage;
    /* Estimates, from random signs, of the largest eigenvalue of the Hessian in x and of the largest singular value of
     * the mixed derivative, in the metric. Their mean squares over signs are at least the squares of these; one
     * estimate may be a fraction of the value. */
    double xx;
    double xy;
} saddle_curvature;

/* How much is measured. Automatic: all of the matrix up to MOST_FULL columns, where X and h allow it. */
typedef enum saddle_curvature_kind {
    SADDLE_CURVATURE_AUTO,
    SADDLE_CURVATURE_FULL,
    SADDLE_CURVATURE_DIAGONAL,
    SADDLE_CURVATURE_NONE
} saddle_curvature_kind;

/* Measures it from gradients of single samples. `alpha` is a suitable step in y. Close the metric with
 * saddle_metric_close(), also after a failure. Collective. */
saddle_status saddle_curvature_measure(const saddle_instance *instance, saddle_curvature_kind kind,
                                       double alpha, saddle_curvature *out, saddle_error *error);

/* Returns the number of an agent's gradient evaluations in a measurement; NULL: the most that one can take. */
uint64_t saddle_curvature_cost(const saddle_problem *problem, size_t agent,
                               const saddle_curvature *measured);
