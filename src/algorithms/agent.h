/* Functions by which engines run one agent. */
#ifndef SADDLE_ALGORITHMS_AGENT_H
#define SADDLE_ALGORITHMS_AGENT_H

#include <saddle/algorithm.h>

#include "core/share.h"

/* Returns the number of doubles of partial results that a request over up to `samples` samples
 * may need. */
size_t saddle_partials_size(const saddle_problem *problem, size_t samples);

/* Evaluates an agent's request with the help of idle workers, without counting IFO calls. */
void saddle_agent_evaluate_uncounted(const saddle_agent *agent, saddle_request *request,
                                     double *scratch);
/* Adds up the partial results of a request after all its parts are evaluated, with the help of
 * idle workers. */
void saddle_agent_sum(const saddle_agent *agent, saddle_request *request, double *partials);

/* Returns the number of blocks of a range. */
size_t saddle_block_count(const saddle_range *range);
/* Returns the number of doubles that the sums of all blocks of x and y take. */
size_t saddle_block_sums(const saddle_problem *problem);
/* Returns the number of blocks of x or of y, whichever is larger. */
size_t saddle_most_blocks(const saddle_problem *problem);
/* A range of x and one of y. */
typedef struct saddle_ranges {
    saddle_range x;
    saddle_range y;
} saddle_ranges;
/* Returns the ranges of all coordinates; in `sums`, the sums of x come before those of y. */
saddle_ranges saddle_whole_ranges(const saddle_problem *problem, double *sums);
/* Returns whether a phase's before() has anything to do in this round; the same for all agents. */
bool saddle_phase_has_before(const saddle_phase *phase, const saddle_agent *agent);
/* Calls a phase's after(), if it has one, given the sums of all blocks of x, then of y. */
void saddle_agent_after(const saddle_phase *phase, saddle_agent *agent, double *sums);
/* Runs a complete phase of an agent in the calling thread, without evaluating its request. */
void saddle_agent_phase(const saddle_phase *phase, saddle_agent *agent);
/* Runs one round of an agent: all phases, and the evaluation of their requests. */
void saddle_agent_round(const saddle_algorithm *algorithm, saddle_agent *agent, unsigned round);
/* Calls the algorithm's view(); pointers that it does not set are NULL. */
void saddle_agent_view(const saddle_algorithm *algorithm, const saddle_agent *agent,
                       saddle_view *out);
/* Returns saddle_algorithm::most_ifo(), or its default if the algorithm has none. */
uint64_t saddle_algorithm_most_ifo(const saddle_algorithm *algorithm, const void *parameters,
                                   const saddle_problem *problem);

#endif
