/* The diameter, with control over the method. */
#ifndef SADDLE_GRAPH_DIAMETER_H
#define SADDLE_GRAPH_DIAMETER_H

#include <saddle/graph.h>

/*
 * Like saddle_graph_diameter(), but ignores the topology's structure: does up to `singles` bounding
 * searches, then the rest in batches. Exact for every value.
 */
saddle_status saddle_graph_search_diameter(const saddle_graph *graph, size_t singles,
                                           size_t *diameter, saddle_error *error);

#endif
