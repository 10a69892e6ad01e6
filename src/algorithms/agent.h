/* What engines do with one agent. */
#ifndef SADDLE_ALGORITHMS_AGENT_H
#define SADDLE_ALGORITHMS_AGENT_H

#include <saddle/algorithm.h>

#include "core/share.h"

/* Doubles of partials that a request of one of the agents here may need. */
size_t saddle_partials_size(const saddle_problem *problem, size_t samples);

/* Evaluate a request of an agent with the engine's help, without counting IFO calls. */
void saddle_agent_answer(const saddle_agent *agent, saddle_request *request, double *scratch);
/* The end of a request with several parts, which are done, with the help of other workers. */
void saddle_agent_sum(const saddle_agent *agent, saddle_request *request, double *partials);

/* Blocks of a range, and the doubles of the sums of all blocks of x and y. */
size_t saddle_block_count(const saddle_range *range);
size_t saddle_block_sums(const saddle_problem *problem);
/* The number of blocks of x or of y, whichever has more. */
size_t saddle_most_blocks(const saddle_problem *problem);
/* Coordinates of x and of y. */
typedef struct saddle_ranges {
    saddle_range x;
    saddle_range y;
} saddle_ranges;
/* All of x and of y, with the sums of x before those of y. */
saddle_ranges saddle_whole_ranges(const saddle_problem *problem, double *sums);
/* Whether a phase's run() has anything to do in this round; the same for all agents. */
bool saddle_phase_runs(const saddle_phase *phase, const saddle_agent *agent);
/* The end of a divided phase, with the sums of all blocks: those of x, then those of y. */
void saddle_agent_finish(const saddle_phase *phase, saddle_agent *agent, double *sums);
/* A whole phase of an agent by one worker, without what it asks of the problem. */
void saddle_agent_phase(const saddle_phase *phase, saddle_agent *agent);
/* One round of an agent: all phases, and what they ask of the problem. */
void saddle_agent_round(const saddle_algorithm *algorithm, saddle_agent *agent, unsigned round);
/* Where an agent's variables are: the algorithm's view(), with NULL for what it does not have. */
void saddle_agent_view(const saddle_algorithm *algorithm, const saddle_agent *agent,
                       saddle_view *out);
/* The most IFO calls of the start, and of an iteration beyond saddle_agent::ifo_limit, at all agents. */
uint64_t saddle_algorithm_most_ifo(const saddle_algorithm *algorithm, const void *parameters,
                                   const saddle_problem *problem);

#endif
