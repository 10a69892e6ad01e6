/*
 * Measuring a run from outside: the convergence metric and the self-checks.
 *
 * No agent knows any of this. It is computed while the run's clock is stopped and is not counted as cost.
 */
#pragma once

#include <saddle/run.h>

#include "engines/engine.h"

typedef struct saddle_observer saddle_observer;

/* What an observer measures. All borrowed for its lifetime. */
typedef struct saddle_observer_inputs {
    saddle_engine *engine;
    const saddle_instance *instance;
    const saddle_algorithm *algorithm;
    const saddle_layout *layout; /* of its agents */
    saddle_steps steps;
    double metric_tau; /* the metric's tau */
    saddle_metric_direction metric_direction;
    bool potential; /* compute Theorem 1's potential: L and mu are bounds */
    bool feasible;  /* check that iterates stay in X and Y */
    bool gap;       /* measure the gap */
} saddle_observer_inputs;

/* Returns the doubles of scratch that an engine must provide for an observer's tasks. */
size_t saddle_observer_scratch(const saddle_instance *instance);

/* Creates an observer, whose inputs must outlive it. Collective. */
saddle_status saddle_observer_create(saddle_observer **out, const saddle_observer_inputs *inputs,
                                     saddle_error *error);
/* Returns the bytes that an observer of an instance takes, with what measuring the gap needs if `gap`. */
double saddle_observer_bytes(const saddle_instance *instance, const saddle_layout *layout,
                             bool gap);
/* NULL is allowed. */
void saddle_observer_free(saddle_observer *observer);

/* Fills in all fields of a row except the seconds. SADDLE_NUMERIC when y* cannot be found. */
saddle_status saddle_observe(saddle_observer *observer, saddle_row *row, saddle_error *error);

/*
 * Measures the gap of the last row: what a search finds that the objective can still be decreased by, what y lacks to
 * the best response, and what the agents furthest from the mean lack, all relative to a scale: what the same search
 * gains from the reference, x = 0 or the problem's own start. The search makes this many evaluations; one that has not
 * found more than the goal continues until little can be left. Unless `all` of it is needed, the search ends as soon as
 * the gap exceeds the goal, and the row's gap stays NaN. Collective.
 */
void saddle_observe_gap(saddle_observer *observer, double goal, int evaluations, bool all,
                        saddle_row *row);
/* Measures only what y and the agents lack in the last row, which takes no search. Collective. */
void saddle_observe_gap_parts(saddle_observer *observer, const saddle_row *row);
/* Returns the parts of the last gap. Borrowed. */
const saddle_gap *saddle_observer_gap(const saddle_observer *observer);

/* Returns the function of the problem that returned NaN for the last row, such as "value()", and the first agent at
 * which one did; NULL: none did. Collective. */
const char *saddle_observer_returned_nan(saddle_observer *observer, size_t *agent);
/* Returns whether all trackers and the estimates that they track are finite. Collective. */
bool saddle_observer_sums_are_finite(saddle_observer *observer);

/* Runs the self-checks: tracker mean = estimator mean, feasibility. SADDLE_CHECK_FAILED names the violation. */
saddle_status saddle_observer_check(saddle_observer *observer, saddle_error *error);

/* Computes the mean squared size of the agents' iterates, without reading samples. Returns whether it is far above
 * that of the start and grew at each of the last calls. Collective. */
bool saddle_observer_is_growing(saddle_observer *observer);
/* Returns the iteration of the last call; 0: there was none. */
uint64_t saddle_observer_watched(const saddle_observer *observer);

/* Returns the number of doubles that an observer carries from one row to the next: the starting point of
 * the search for y*, the scale of the self-checks, and the last sizes of the iterates. */
size_t saddle_observer_memory(const saddle_problem *problem);
void saddle_observer_remember(const saddle_observer *observer, double *memory);
void saddle_observer_recall(saddle_observer *observer, const double *memory);

/* Return xbar and ybar of the last row. Borrowed. */
const double *saddle_observer_x_mean(const saddle_observer *observer);
const double *saddle_observer_y_mean(const saddle_observer *observer);
