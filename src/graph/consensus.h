/* What agents find out together by talking to their neighbours alone. */
#ifndef SADDLE_GRAPH_CONSENSUS_H
#define SADDLE_GRAPH_CONSENSUS_H

#include <saddle/graph.h>

/*
 * The mean of one number per agent. Agents pass sums up a breadth-first tree rooted at agent 0, and the
 * mean comes back down: one number per tree edge and direction, 2 depth rounds, and all agents end
 * with the same bits. (Rounds of mixing would need log(1e16) / gap of them, a million on a path of a
 * hundred agents, and would leave agents that differ in the last bits.)
 *
 * rounds  receives the number of rounds; may be NULL.
 */
saddle_status saddle_consensus_mean(const saddle_graph *graph, const double *value, double *mean,
                                    size_t *rounds, saddle_error *error);

#endif
