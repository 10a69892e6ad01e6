/*
 * The parts of X that the search of descent.h follows where they hold it back.
 *
 * X is a product of pieces. On the boundary of an l2-ball, and in a simplex, a point x has a normal: x itself, or ones.
 * The slope is freed of its part along the normal, moves are tangent, and the next point is brought back into X: for a
 * ball towards 0, for a simplex by a projection in the metric. A ball's boundary bends, which adds the multiplier of
 * its constraint to the curvature of f.
 */
#pragma once

#include "core/base.h"
#include "observe/descent.h"

/* The number of pairs of moves and changes of the gradient that L-BFGS keeps. */
#define SADDLE_SEARCH_PAIRS 8
/* The number of other vectors in a search. */
#define SADDLE_SEARCH_VECTORS 7

/* A search in progress. */
typedef struct saddle_descent_state {
    const saddle_descent *given;
    const saddle_regularizer *h;
    saddle_weights weight; /* of h, if it is separable */
    double group_weight;   /* of group-l2; 0: h is another */
    size_t group_size;
    size_t n;
    bool followed; /* X is a product of intervals, l2-balls and simplices */
    int left;      /* evaluations */
    double start;  /* f + h at the first point */
    double most;   /* how much can be left */
    bool at_rest;  /* no step of L-BFGS decreases f + h by more than is negligible */
    double total;  /* f + h at x */
    double *x, *g;
    double *next, *next_g;
    double *slope;     /* the gradient of f + h along free coordinates; 0 elsewhere */
    double *direction; /* where the search looks for the next point */
    double *normal;    /* of the boundaries of balls and simplices that hold x back; 0 elsewhere */
    double *bend;      /* the curvature that the boundary of a ball adds to that of f */
    double *move[SADDLE_SEARCH_PAIRS], *change[SADDLE_SEARCH_PAIRS];
    double product[SADDLE_SEARCH_PAIRS]; /* of both, along free coordinates; 0: not used */
    size_t pairs;
    double length;  /* of steps along the slope, in the metric */
    double *factor; /* of the matrix, as it was for these diagonal entries */
    double damping, factored_damping;
    double least_damping; /* with which the matrix could be inverted */
    double *factored;     /* 0: the coordinate was not free */
    double *white;        /* n doubles */
    double *scratch;      /* of the prox */
} saddle_descent_state;

/* A factor of X: a set that is not a product itself, for coordinates from `offset`. */
typedef struct saddle_piece {
    const saddle_set *set;
    size_t offset;
} saddle_piece;

/* Returns the number of pieces of X and stores one of them, if there is one of this index. */
size_t saddle_find_piece(const saddle_descent_state *s, size_t index, saddle_piece *out);
/* Returns whether X has only pieces that can be followed: products of intervals, l2-balls and simplices. */
bool saddle_can_follow(const saddle_descent_state *s);
/* Finds the normal of a piece at x, and takes its part off the slope. Coordinates of a simplex that stay 0 have the
 * slope 0. */
void saddle_follow_boundary(saddle_descent_state *s, const saddle_piece *f);
/* Takes off the change of a gradient what is along normals. */
void saddle_remove_normals(const saddle_descent_state *s, double *change);
/* Takes off a move what is along normals. */
void saddle_make_tangent(const saddle_descent_state *s, double *move);
/* Lets the boundaries of balls hold x back where the direction leads out of them although the slope does not. Returns
 * whether there are any. */
bool saddle_hold_balls(saddle_descent_state *s);
/* Returns how far to go along the direction, at most 1: along the boundary of a ball by half of its radius, because
 * the direction leads away from the boundary; with a matrix, up to a boundary that does not hold x back. */
double saddle_longest_move(const saddle_descent_state *s);
/* Projects the coordinates of the next point that are in simplices. */
void saddle_move_into_simplices(const saddle_descent_state *s);

/* Returns the coordinate behind the last one of a piece. */
static inline size_t saddle_piece_end(const saddle_piece *f)
{
    return f->offset + saddle_set_dimension(f->set);
}

/* Returns the metric with the curvature of a ball's boundary, in the same units: those of f's divided by the length. */
static inline double saddle_metric_at(const saddle_descent_state *s, size_t k)
{
    return s->given->metric[k] + s->length * s->bend[k];
}
