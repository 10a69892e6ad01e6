/* The step sizes of the theory and their guarantees; Theorems 1 and 2 as printed. */
#ifndef SADDLE_INSTANCE_THEORY_BOUNDS_H
#define SADDLE_INSTANCE_THEORY_BOUNDS_H

#include <saddle/instance.h>

/* What follows from the constants alone; epsilon and what the start decides stay NaN. SADDLE_UNSUPPORTED when L or mu is
 * neither known nor could be estimated. */
saddle_status saddle_theory_bounds(const saddle_instance *instance, double tau, double c_gamma,
                                   saddle_theory *out, saddle_error *error);

#endif
