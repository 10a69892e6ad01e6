/* The step sizes of the theory and their guarantees, and Theorems 1 and 2 as printed. */
#ifndef SADDLE_INSTANCE_THEORY_BOUNDS_H
#define SADDLE_INSTANCE_THEORY_BOUNDS_H

#include <saddle/instance.h>

/* Computes what follows from the constants; epsilon and what depends on the start are set to
 * NaN. Returns SADDLE_UNSUPPORTED if L or mu is unknown and could not be estimated. */
saddle_status saddle_theory_bounds(const saddle_instance *instance, double tau, double c_gamma,
                                   saddle_theory *out, saddle_error *error);

#endif
