/*
 * The matrix of second derivatives of F in x at a point, as single samples' gradients show it.
 *
 * For a sample whose loss is a function of one score, f(a'x), the difference of gradients between x and x + delta is
 * g = f'' (a'delta) a, so that g g' / (g'delta) = f'' a a': its Hessian, whatever delta is. For other losses it is the
 * matrix of rank one that maps delta to g. The matrix is the mean of these over samples and agents. Terms that all
 * samples share (saddle_problem::add_common) are taken as separable and add their differences divided by delta's
 * entries to the diagonal.
 *
 * Q has the curvature F_xy B (-F_yy)^-1 F_yx besides, where B is how the projection onto Y follows a move of y. If the
 * best response has a closed form, y* = P(y* + F_y / -F_yy), this is added for a short y, with F_yy taken as diagonal.
 * If each sample has its own entry of y, the samples' differences include what the response adds to them.
 */
#pragma once

#include "observe/observer.h"

/* Returns the entries of the lower triangle; 0 if x is too long. */
size_t saddle_hessian_size(size_t x_dim);

/*
 * Measures the matrix at (o->x_at, o->y_star) from about this many samples: its lower triangle, row by row. `squares`
 * are the mean squares of the samples' gradients there (0: the coordinate stays), o->search.y_slope is the gradient in
 * y, `work` is 11 x_dim doubles. What no sample tells about the diagonal is 0 or, if `samples` are all, comes from the
 * squares, in the unit that the other entries suggest. Returns false if all curvature is 0, or not finite. Collective.
 */
bool saddle_measure_hessian(saddle_observer *o, const double *squares, double samples, double *work,
                            double *matrix);
