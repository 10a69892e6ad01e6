/* The projection onto the simplex, which the l1 ball also uses. */
#ifndef SADDLE_SETS_SIMPLEX_H
#define SADDLE_SETS_SIMPLEX_H

#include <stddef.h>

/*
 * Replaces v by its projection onto {x >= 0, sum x = total}.
 * @param total    above 0.
 * @param scratch  count doubles.
 */
void saddle_project_simplex(size_t count, double total, double *v, double *scratch);

#endif
