/* Products of one interval, [lower, upper]^n: what none, box, nonneg and linf-ball share. */
#ifndef SADDLE_SETS_INTERVAL_H
#define SADDLE_SETS_INTERVAL_H

#include "sets/set.h"

typedef struct saddle_interval {
    saddle_set base;
    double lower; /* perhaps -inf */
    double upper; /* perhaps inf */
} saddle_interval;

void saddle_interval_project(const saddle_set *set, double *v, double *scratch);
void saddle_interval_range(const saddle_set *set, double *lower, double *upper);
bool saddle_interval_uniform_bounds(const saddle_set *set, double *lower, double *upper);

#endif
