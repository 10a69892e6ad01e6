/* Which process holds which agents. */
#ifndef SADDLE_ENGINES_PLACEMENT_H
#define SADDLE_ENGINES_PLACEMENT_H

#include <saddle/graph.h>

/*
 * Give every agent of a graph a home among `ranks` <= agents processes: about as many agents to
 * each, at least one, so that few edges cross. A pure function of graph and ranks. As many
 * processes as agents: agent i at process i.
 * @param home  room for all agents.
 */
saddle_status saddle_place_agents(const saddle_graph *graph, size_t ranks, size_t *home,
                                  saddle_error *error);

/* Edges whose ends have different homes. */
size_t saddle_crossing_edges(const saddle_graph *graph, const size_t *home);

#endif
