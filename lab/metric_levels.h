/* Whether values settle; levels of the metric are in <saddle/lab.h>. */
#ifndef SADDLE_LAB_METRIC_LEVELS_H
#define SADDLE_LAB_METRIC_LEVELS_H

#include <stddef.h>

/* The row from which values stay within `distance` of `limit`; the number of rows if never. */
size_t saddle_levels_settled(const double *value, size_t rows, double limit, double distance);

#endif
