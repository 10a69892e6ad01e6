/* What engines do with one agent. */
#ifndef SADDLE_ALGORITHMS_AGENT_H
#define SADDLE_ALGORITHMS_AGENT_H

#include <saddle/algorithm.h>

/* One round of an agent: all phases, and what they ask of the problem. */
void saddle_agent_round(const saddle_algorithm *algorithm, saddle_agent *agent, unsigned round);
/* Where an agent's variables are: the algorithm's view(), with NULL for what it does not have. */
void saddle_agent_view(const saddle_algorithm *algorithm, const saddle_agent *agent,
                       saddle_view *out);
/* The most IFO calls of the start, and of an iteration beyond saddle_agent::ifo_limit, at all agents. */
uint64_t saddle_algorithm_most_ifo(const saddle_algorithm *algorithm, const void *parameters,
                                   const saddle_problem *problem);

#endif
