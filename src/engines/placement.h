/* Which process holds which agents. */
#pragma once

#include <saddle/graph.h>

/* A function as saddle_transport.partition. */
typedef bool saddle_partitioner(unsigned method, size_t vertices, const size_t *start,
                                const size_t *neighbour, size_t parts, size_t *part);

/*
 * Assigns every agent of a graph to one of `ranks` <= agents processes: about the same number to each,
 * at least one, with few edges between processes. A pure function of them. With as many
 * processes as agents, agent i is at process i.
 * @param partition  NULL: agents with consecutive numbers stay together.
 * @param home       capacity for all agents.
 */
saddle_status saddle_place_agents(const saddle_graph *graph, size_t ranks,
                                  saddle_partitioner *partition, size_t *home, saddle_error *error);

/* Returns the number of edges between different processes. */
size_t saddle_crossing_edges(const saddle_graph *graph, const size_t *home);
