/*
 * Looking at a run from outside: the convergence metric and the self-checks.
 *
 * Nothing here is known to any agent; it is computed off the run's clock and is not counted as
 * cost.
 */
#ifndef SADDLE_OBSERVE_OBSERVER_H
#define SADDLE_OBSERVE_OBSERVER_H

#include <saddle/row.h>

#include "engines/engine.h"

typedef struct saddle_observer saddle_observer;

/* What an observer looks at. All borrowed for its lifetime. */
typedef struct saddle_observer_inputs {
    saddle_engine *engine;
    const saddle_instance *instance;
    const saddle_algorithm *algorithm;
    const saddle_layout *layout; /* of its agents */
    saddle_steps steps;
    double metric_tau; /* the metric's tau */
    saddle_metric_direction metric_direction;
    bool potential; /* Theorem 1's potential is to be computed: L and mu are bounds */
    bool feasible;  /* iterates are sure to stay in X and Y: check it */
} saddle_observer_inputs;

/* Doubles of scratch an engine must have for an observer's tasks. */
size_t saddle_observer_scratch(const saddle_instance *instance);

saddle_status saddle_observer_create(saddle_observer **out, const saddle_observer_inputs *inputs,
                                     saddle_error *error);
/* Bytes that an observer of an instance takes. */
double saddle_observer_bytes(const saddle_instance *instance, const saddle_layout *layout);
/* NULL is allowed. */
void saddle_observer_free(saddle_observer *observer);

/* Fill in everything of a row but the seconds. SADDLE_NUMERIC when y* cannot be found. */
saddle_status saddle_observe(saddle_observer *observer, saddle_row *row, saddle_error *error);

/* Self-checks: tracker mean = estimator mean, feasibility. SADDLE_CHECK_FAILED says what broke. */
saddle_status saddle_observer_check(saddle_observer *observer, saddle_error *error);

/* What an observer carries from one row to the next, in so many doubles: where the search for y*
 * begins, and the scale of the self-checks. */
size_t saddle_observer_memory(const saddle_problem *problem);
void saddle_observer_remember(const saddle_observer *observer, double *memory);
void saddle_observer_recall(saddle_observer *observer, const double *memory);

/* xbar and ybar of the last row. Borrowed. */
const double *saddle_observer_x_mean(const saddle_observer *observer);
const double *saddle_observer_y_mean(const saddle_observer *observer);

#endif
