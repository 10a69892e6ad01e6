/* Levels of the metric at which costs are reported. */
#ifndef SADDLE_LAB_METRIC_LEVELS_H
#define SADDLE_LAB_METRIC_LEVELS_H

#include <stddef.h>

/* The most levels that are chosen. */
#define LEVELS_MOST 6

/* Chooses levels, in descending order, between the initial metric and the best final one:
 * decades, evenly thinned. Returns their number, at least 1. */
size_t saddle_levels_choose(double start, double best, double level[LEVELS_MOST]);
/* The row from which values stay within `distance` of `limit`; the number of rows if never. A
 * metric is at a level from the row on where it stays at most that: a noisy method that touches
 * a level and leaves it again has not reached it. */
size_t saddle_levels_settled(const double *value, size_t rows, double limit, double distance);

#endif
