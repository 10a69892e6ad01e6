/* The step sizes of Theorems 1 and 2, and the coefficients of their guarantees. */
#ifndef SADDLE_INSTANCE_THEORY_BOUNDS_H
#define SADDLE_INSTANCE_THEORY_BOUNDS_H

#include <saddle/instance.h>

/* Evaluate the theorems' bounds; gap, epsilon and iterations stay NaN. SADDLE_UNSUPPORTED when L or mu is
 * neither known nor could be estimated. */
saddle_status saddle_theory_bounds(const saddle_instance *instance, double tau, double c_gamma,
                                   saddle_theory *out, saddle_error *error);

#endif
