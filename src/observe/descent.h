/*
 * How far a function can be decreased from a point with few evaluations: the search behind the gap.
 *
 * The function is f(x) + h(x) over X, with f smooth. Where X is a product of intervals and h separable, the search is
 * L-BFGS on the coordinates that are free to move (Bertsekas, SIAM J. Control Optim. 20, 1982; Andrew and Gao, ICML
 * 2007), whose first matrix is a given metric (whitening.h): in other units of the coordinates it visits the same
 * points.
 * It follows the boundaries of l2-balls and simplices (boundary.h), and norms of groups (group_norms.h). On other sets
 * its points are projected, which helps where their boundary is far, and half of the evaluations are for proximal
 * gradient steps of the lengths of Barzilai and Borwein (1988).
 *
 * A pause in the decrease is not its end. So a search lasts until the slope shows that little can be left, and says how
 * much that is.
 */
#pragma once

#include <saddle/set.h>

#include "core/base.h"

typedef struct saddle_descent {
    const saddle_prox *prox; /* X and h */
    /* A positive number for each coordinate that scales like the square of the gradient there; 0: the coordinate
     * stays. */
    const double *metric;
    /* NULL, or the curvature of f: the lower triangle of a positive semidefinite matrix, row by row, whose diagonal is
     * the metric. */
    const double *matrix;
    /* Returns f(x), possibly infinite or NaN. */
    double (*value)(void *context, const double *x);
    /* Computes the gradient of f at the point of the last call of value(). */
    void (*gradient)(void *context, double *gradient);
    void *context;
    int evaluations; /* how many times value() is called at most, besides finding the unit of f; at least 1 */
    int least;      /* after this many the search ends when the decrease exceeds `plenty`, */
    double plenty;  /* or when little more can be left: */
    double ignored; /* at most this, */
    double unknown; /* or this many times the decrease */
    const double *reference; /* a point from which f + h can be decreased by about the gain */
    double gain;
    double before;     /* a decrease that was found before and counts like that of the search */
    double enough;     /* the search ends when the decrease exceeds this, */
    double negligible; /* or when the next step is predicted to make no larger one than this, */
    double precise;    /* or, with a matrix, than this part of a decrease that exceeds `plenty` */
} saddle_descent;

typedef struct saddle_decrease {
    double start; /* f + h at the first point */
    double found; /* the decrease, with that found before; NaN if `start` is not finite */
    double left;  /* how much more there can be; an estimate that holds for convex functions */
    bool known;   /* that is at most a few times what was found, or ignored */
} saddle_decrease;

/* Returns the doubles of scratch that saddle_descend() needs. */
size_t saddle_descent_scratch(const saddle_prox *prox);

/* Moves x, a point of X, downhill. */
saddle_decrease saddle_descend(const saddle_descent *descent, double *x, double *scratch);
