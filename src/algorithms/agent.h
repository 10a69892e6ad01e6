/* What engines do with one agent. */
#ifndef SADDLE_ALGORITHMS_AGENT_H
#define SADDLE_ALGORITHMS_AGENT_H

#include <saddle/algorithm.h>

/* One round of an agent: all phases, and what they ask of the problem. */
void saddle_agent_round(const saddle_algorithm *algorithm, saddle_agent *agent, unsigned round);
/* The most IFO calls of the start, and of an iteration beyond saddle_agent::ifo_limit, at all agents. */
uint64_t saddle_algorithm_most_ifo(const saddle_algorithm *algorithm, const void *parameters,
                                   const saddle_problem *problem);

#endif
