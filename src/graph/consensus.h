/* What agents find out together by talking to their neighbours alone. */
#ifndef SADDLE_GRAPH_CONSENSUS_H
#define SADDLE_GRAPH_CONSENSUS_H

#include <saddle/graph.h>

/*
 * The mean of one number per agent, by rounds of mixing, value_i <- sum_j M_ij value_j, until all
 * agree to rounding. The agents then settle on the smallest of their numbers.
 *
 * About log(1e15) / gap rounds; a network so slow that it would take more than 10^6 is refused.
 *
 * value   one per agent; on return what each agent holds.
 * rounds  receives the number of rounds; may be NULL.
 */
saddle_status saddle_consensus_mean(const saddle_mixing *mixing, double *value, double *mean,
                                    size_t *rounds, saddle_error *error);

#endif
