/*
 * Positions of the agents of a network in a drawing.
 *
 * Rings, complete graphs and similar ones, and small irregular graphs, are drawn on a circle, grids
 * on a grid, and everything else so that distances in the picture are close to distances in the
 * graph (stress majorization: Gansner, Koren, North, GD 2004). The same graph always gets the same
 * drawing.
 */
#pragma once

#include <saddle/lab.h>

/* With more agents nothing can be seen. */
#define LAYOUT_MOST_AGENTS 2000

/* Positions in the unit square. Owned. */
typedef struct network_layout {
    size_t agents;
    double *x;
    double *y; /* in the block of x */
} network_layout;

/* Places the agents of a graph; more than LAYOUT_MOST_AGENTS are refused. */
saddle_status network_layout_make(network_layout *out, const saddle_graph *graph,
                                  saddle_error *error);
/* Frees the layout. Safe on a zeroed struct. */
void network_layout_release(network_layout *l);
