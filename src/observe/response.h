/* The generic best response: argmax over Y of a concave function, from its gradients only. */
#pragma once

#include <saddle/set.h>

#include "core/base.h"

/* Computes the gradient of the concave function at y. */
typedef void saddle_ascent_gradient(void *context, const double *y, double *gradient);

/* Returns the doubles of scratch that saddle_maximize() needs besides the set's own. */
size_t saddle_maximize_scratch(size_t dimension);

/* The largest number of steps of a search. */
#define SADDLE_MAXIMIZE_STEPS 20000

/*
 * Accelerated projected gradient ascent with backtracking and restarts (Nesterov 1983; O'Donoghue and
 * Candes 2015), from the given y, until the step of the gradient mapping is at most `tolerance` times
 * (1 + |y|). `step` is a first guess of the step and is updated for the next call. Returns the last relative
 * step length, which shows whether the search converged.
 */
double saddle_maximize(const saddle_set *set, saddle_ascent_gradient *gradient, void *context,
                       double tolerance, double *step, double *y, double *scratch);
