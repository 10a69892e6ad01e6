/* The generic best response: argmax over Y of a concave function, from its gradients alone. */
#ifndef SADDLE_OBSERVE_RESPONSE_H
#define SADDLE_OBSERVE_RESPONSE_H

#include <stddef.h>

#include <saddle/set.h>

/* Gradient at y of the concave function. */
typedef void saddle_ascent_gradient(void *context, const double *y, double *gradient);

/* Doubles of scratch that saddle_maximize() needs besides the set's own. */
size_t saddle_maximize_scratch(size_t dimension);

/* The most steps of a search. */
#define SADDLE_MAXIMIZE_STEPS 20000

/*
 * Accelerated projected gradient ascent with backtracking and restarts (Nesterov 1983; O'Donoghue
 * and Candes 2015), from the y given, until the step of the gradient mapping is at most 1e-12 times
 * (1 + |y|). step: first guess of the step, updated for the next call. Returns the last relative step
 * length, by which a caller sees whether it converged.
 */
double saddle_maximize(const saddle_set *set, saddle_ascent_gradient *gradient, void *context,
                       double *step, double *y, double *scratch);

#endif
