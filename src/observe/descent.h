/*
 * How far a function can be decreased from a point with few evaluations: the search behind the gap.
 *
 * The function is f(x) + h(x) over X, with f smooth. Where X is a product of intervals and h separable, the search is
 * L-BFGS on the coordinates that are free to move (Bertsekas, SIAM J. Control Optim. 20, 1982; Andrew and Gao, ICML
 * 2007), whose first matrix is a given diagonal metric: in other units of the coordinates it visits the same points.
 * On other sets its points are projected, which helps where their boundary is far, and half of the evaluations are for
 * proximal gradient steps of the lengths of Barzilai and Borwein (1988).
 */
#ifndef SADDLE_OBSERVE_DESCENT_H
#define SADDLE_OBSERVE_DESCENT_H

#include <stddef.h>

#include <saddle/set.h>

typedef struct saddle_descent {
    const saddle_prox *prox; /* X and h */
    /* A positive number for each coordinate that scales like the square of the gradient there; 0: the coordinate
     * stays. */
    const double *metric;
    /* Returns f(x), possibly infinite or NaN. */
    double (*value)(void *context, const double *x);
    /* Computes the gradient of f at the point of the last call of value(). */
    void (*gradient)(void *context, double *gradient);
    void *context;
    int evaluations; /* how many times value() is called at most, besides finding the unit of f; at least 1 */
    int least; /* after so many evaluations the search ends when the decrease exceeds `plenty`, */
    double plenty;     /* or when as many have added less than a tenth of it */
    double enough;     /* the search ends when the decrease exceeds this, */
    double negligible; /* or when the next step is predicted to make no larger one than this */
} saddle_descent;

/* Returns the doubles of scratch that saddle_descend() needs. */
size_t saddle_descent_scratch(const saddle_prox *prox);

/* Moves x, a point of X, downhill; returns the decrease of f + h, at least 0. *start receives f + h at the first
 * point. */
double saddle_descend(const saddle_descent *descent, double *x, double *start, double *scratch);

#endif
