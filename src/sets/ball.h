/* What the balls of radius R around 0 share, and the simplex kernel the l1 ball rests on. */
#ifndef SADDLE_SETS_BALL_H
#define SADDLE_SETS_BALL_H

#include "sets/set.h"

typedef struct saddle_ball {
    saddle_set base;
    double radius;
} saddle_ball;

/* Read NAME:R. */
saddle_status saddle_ball_parse(saddle_set *set, saddle_error *error);
/* [-R, R] */
void saddle_ball_range(const saddle_set *set, double *lower, double *upper);
/* R: the bound of the Euclidean norm over the l1 and l2 balls. */
double saddle_ball_norm_bound(const saddle_set *set);

/*
 * Replace v by its projection onto {x >= 0, sum x = total}.
 * @param total    above 0.
 * @param scratch  count doubles.
 */
void saddle_project_simplex(size_t count, double total, double *v, double *scratch);

#endif
