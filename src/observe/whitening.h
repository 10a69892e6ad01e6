/*
 * The metric of a search: lengths of moves, and of slopes in its inverse. It is diagonal or, with a matrix of
 * curvature, that matrix, restricted to the free coordinates, with the curvature of balls' boundaries and a multiple of
 * its diagonal added.
 */
#pragma once

#include "observe/boundary.h"

/* Returns the doubles that it needs for n coordinates if there is a matrix. */
size_t saddle_whitening_scratch(size_t n);
/* Adapts the inverse to the free coordinates. */
void saddle_whiten(saddle_descent_state *s);
/* Adds more or less of the diagonal from now on. */
void saddle_damp(saddle_descent_state *s, bool more);
/* Multiplies v, which is 0 at coordinates that are not free, by the inverse. */
void saddle_apply_inverse(const saddle_descent_state *s, double *v);
/* Returns the squared length of v's free coordinates in the inverse. */
double saddle_inverse_square(const saddle_descent_state *s, const double *v);
/* Returns the squared length of a move. */
double saddle_move_square(const saddle_descent_state *s, const double *move);
