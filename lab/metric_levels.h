/* Levels of the metric that costs are told at. */
#ifndef SADDLE_LAB_METRIC_LEVELS_H
#define SADDLE_LAB_METRIC_LEVELS_H

#include <stddef.h>

/* The most levels that are chosen. */
#define LEVELS_MOST 6

/* Choose levels, in descending order, between the metric at the start and the best that was reached:
 * decades, evenly thinned. Returns their number, at least 1. */
size_t saddle_levels_choose(double start, double best, double level[LEVELS_MOST]);

#endif
