/* What is found by searching the graph from some of its agents. */
#pragma once

#include <saddle/graph.h>

/*
 * Like saddle_graph_diameter(), but ignores the topology's structure: does up to `singles` bounding
 * searches, then the rest in batches. Exact for every value.
 */
saddle_status saddle_graph_search_diameter(const saddle_graph *graph, size_t singles,
                                           size_t *diameter, saddle_error *error);

/*
 * Computes the mean of one number per agent. Agents pass sums up a breadth-first tree with root 0, and the
 * mean comes back down: one number per tree edge and direction, 2 depth rounds, and all agents end with
 * the same bits. (Mixing would need log(1e16) / gap rounds, a million on a path of a hundred agents, and
 * would leave agents that differ in the last bits.)
 *
 * `rounds` receives the number of rounds; it may be NULL.
 */
saddle_status saddle_consensus_mean(const saddle_graph *graph, const double *value, double *mean,
                                    size_t *rounds, saddle_error *error);
