/* Bounds that constants of problems are made of. */
#ifndef SADDLE_PROBLEMS_BOUNDS_H
#define SADDLE_PROBLEMS_BOUNDS_H

#include <saddle/set.h>

/* An upper bound of |v| over a set, exact for balls, boxes and simplices; perhaps infinite. */
double saddle_set_norm_bound(const saddle_set *set);

/* The norm of the symmetric 2x2 matrix of the norms of a Hessian's blocks, which bounds its own. */
double saddle_block_norm(double xx, double xy, double yy);

#endif
