/*
 * Q at the points of the gap's search (gap.c), and the metrics in which it looks for lower ones.
 */
#pragma once

#include "observe/observer.h"

/* The memory of a search. */
typedef struct saddle_gap_search {
    double *point, *metric, *reference; /* x_dim each */
    double *saved_y, *agent_y;          /* y_dim each */
    double *base;                       /* x_dim: squares of gradients at the reference */
    double *last, *last_gradient;       /* x_dim: the last point, and the gradient there */
    double *y_slope;                    /* y_dim: the gradient in y at the last point and y* */
    double *matrix;                     /* lower triangle */
    double *scratch;                    /* of the descent */
    bool has_base;
    bool known; /* Q at the last point, */
    bool has_gradient;
    double value;
} saddle_gap_search;

/* Returns the doubles of a search. Divides a block of so many between its vectors, unless it is NULL. */
size_t saddle_search_lay_out(const saddle_instance *instance, double *block,
                             saddle_gap_search *out);

/* Notes that Q - h is this at x, whose best response is o->y_star. */
void saddle_search_remember(saddle_observer *o, const double *x, double value);
/* Returns Q(x) - h(x); NaN if y*(x) is not found. `context` is the observer. Where x is short, the last point costs
 * nothing. Collective. */
double saddle_search_primal(void *context, const double *x);
/* Computes the gradient of Q - h, that of F at y*, at the point of the last call of saddle_search_primal().
 * Collective. */
void saddle_search_gradient(void *context, double *gradient);
/* Stores the reference point: the problem's own start, or 0. */
void saddle_search_reference(saddle_observer *o, double *x);

/* Computes the gradient in x at (x_at, y*) of the k-th of `count` samples of an agent, or its change between there and
 * (moved, y) unless `moved` is NULL. In the agent's scratch. */
double *saddle_search_sample(const saddle_observer *o, saddle_agent *agent, size_t k, size_t count,
                             const double *moved, const double *y);
/* Computes mean squares of the samples' gradients at x. For linear models these are mean squares of the features, up to
 * a factor. A coordinate that no chosen sample has belongs to fewer than one in so many of them, so that its mean
 * square is at least their number times the square of the mean. Collective. */
void saddle_search_squares(saddle_observer *o, const double *x, double *metric);
/* Computes the metric at x as the diagonal of the samples' curvature, where they tell it. Squares of gradients do not
 * show the curvature along a coordinate in which x is at rest, such as the centres of auc while nothing is learned.
 * Collective. */
void saddle_search_diagonal(saddle_observer *o, const double *x);
/* Finds the curvature at x from about this many samples. Its diagonal becomes the metric. Returns false if there is
 * none: the metric is then made of squares. Collective. */
bool saddle_search_curvature(saddle_observer *o, double samples, const double *x);
/* Returns from how many samples a first search from x takes the curvature: so many that the matrix is not singular, if
 * it costs no more than a few passes over all samples; otherwise 0. */
double saddle_search_few(const saddle_observer *o, const double *x);
/* Returns the number of all samples. */
double saddle_search_all(const saddle_observer *o);
