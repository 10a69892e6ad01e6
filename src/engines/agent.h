/* Functions by which engines run one agent. */
#pragma once

#include <saddle/algorithm.h>

#include "core/share.h"

/* Returns the number of doubles of partial results that a request over up to `samples` samples
 * may need. */
size_t saddle_partials_size(const saddle_problem *problem, size_t samples);

/* Evaluates an agent's request with the help of idle workers, without counting IFO calls. */
void saddle_agent_evaluate_uncounted(const saddle_agent *agent, saddle_request *request,
                                     double *scratch);
/* Adds up the partial results of a request after all parts of its batch are evaluated, with the help of
 * idle workers. */
void saddle_agent_sum(const saddle_agent *agent, saddle_request *request, double *partials);

/* Returns the number of blocks of a range. */
size_t saddle_block_count(const saddle_range *range);
/* All blocks of x and y. The sums of the blocks of x come before those of y. */
typedef struct saddle_blocks {
    saddle_range x; /* without `sums` */
    saddle_range y;
    size_t x_count;
    size_t y_count;
} saddle_blocks;
/* Returns the blocks into which the coordinates of a problem are divided. */
saddle_blocks saddle_blocks_of(const saddle_problem *problem);
/* Returns the number of doubles that the sums of all blocks take. */
static inline size_t saddle_blocks_sums(const saddle_blocks *blocks)
{
    return (blocks->x_count + blocks->y_count) * SADDLE_BLOCK_SUMS;
}
/* Returns whether a phase's before() has anything to do in this round; the same for all agents. */
bool saddle_phase_has_before(const saddle_phase *phase, const saddle_agent *agent);
/* Calls a phase's after(), if it has one, given the sums of all blocks of x, then of y. */
void saddle_agent_after(const saddle_phase *phase, saddle_agent *agent, const double *sums);
/* Runs a complete phase of an agent in the calling thread, without evaluating its request. */
void saddle_agent_phase(const saddle_phase *phase, saddle_agent *agent);
/* Runs one round of an agent: all phases, and the evaluation of their requests. */
void saddle_agent_round(const saddle_algorithm *algorithm, saddle_agent *agent, unsigned round);
