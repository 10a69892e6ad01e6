/*
 * Where to draw the agents of a network.
 *
 * Rings, complete graphs and their like, and small irregular ones, lie on a circle; grids on a grid;
 * everything else where the distances on paper come close to the distances in the graph (stress
 * majorization: Gansner, Koren, North, GD 2004). The same graph always gets the same drawing.
 */
#ifndef SADDLE_DRAW_NETWORK_LAYOUT_H
#define SADDLE_DRAW_NETWORK_LAYOUT_H

#include <saddle/lab.h>

/* Drawings of more agents show nothing. */
#define LAYOUT_MOST_AGENTS 2000

/* Positions in the unit square. Owned. */
typedef struct network_layout {
    size_t agents;
    double *x;
    double *y;
} network_layout;

/* Place the agents of a graph; more than LAYOUT_MOST_AGENTS are refused. */
saddle_status network_layout_make(network_layout *out, const saddle_graph *graph,
                                  saddle_error *error);
/* Free it. Safe on a zeroed struct. */
void network_layout_release(network_layout *l);

#endif
