/*
 * The regularizer group-l2 in the search of descent.h. Where a group of x is not 0, its norm is smooth, with gradient
 * W x / |x| and curvature W (1 - x x' / |x|^2) / |x|. A group that is 0 stays there unless the slope of f exceeds W.
 */
#pragma once

#include "observe/boundary.h"

/* Adds the slope of h to that of f. */
void saddle_add_group_slopes(saddle_descent_state *s);
/* Adds the curvature of h to the metric. A group that leaves 0 has one metric for all its entries, so that the move is
 * along the slope, the only direction that is known to lead downhill. */
void saddle_add_group_bends(saddle_descent_state *s);
/* Stores, for each coordinate, 1 / |x| of its group; 0 if the group is 0. */
void saddle_find_inverse_norms(const saddle_descent_state *s, double *out);
/* Returns an entry of the curvature of f + h off the diagonal, given that of f. */
double saddle_group_entry(const saddle_descent_state *s, const double *inverse_norm, size_t k,
                          size_t c, double entry);
/* Sets groups of the next point to 0 that would turn by more than a right angle. */
void saddle_stop_groups_at_zero(const saddle_descent_state *s);
/* Replaces the curvature of h in the change of the slope by the difference of its gradients. */
void saddle_change_group_slopes(const saddle_descent_state *s, double *change);
