/* The diameter with a say in how it is found. */
#ifndef SADDLE_GRAPH_DIAMETER_H
#define SADDLE_GRAPH_DIAMETER_H

#include <saddle/graph.h>

/*
 * saddle_graph_diameter() without regard to the topology's structure: up to `singles` bounding
 * searches one at a time, then the rest in batches. Exact for every value.
 */
saddle_status saddle_graph_search_diameter(const saddle_graph *graph, size_t singles,
                                           size_t *diameter, saddle_error *error);

#endif
