/* Which process holds which agents. */
#ifndef SADDLE_ENGINES_PLACEMENT_H
#define SADDLE_ENGINES_PLACEMENT_H

#include <saddle/graph.h>

/*
 * Assigns every agent of a graph to one of `ranks` <= agents processes: about the same number to each,
 * at least one, with few edges between processes. A pure function of graph and ranks. With as many
 * processes as agents, agent i is at process i.
 * @param home  capacity for all agents.
 */
saddle_status saddle_place_agents(const saddle_graph *graph, size_t ranks, size_t *home,
                                  saddle_error *error);

/* Returns the number of edges between different processes. */
size_t saddle_crossing_edges(const saddle_graph *graph, const size_t *home);

#endif
