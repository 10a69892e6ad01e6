/* Drawing an agent's samples. */
#ifndef SADDLE_ALGORITHMS_SAMPLING_H
#define SADDLE_ALGORITHMS_SAMPLING_H

#include <saddle/algorithm.h>

#include "core/rng.h"

/* |S_i| of an agent with so many samples: `batch`, or ceil(sqrt(n_i)) when that is 0; at most n_i. */
size_t saddle_batch_size(size_t samples, uint64_t batch);

/*
 * Draw count of the agent's samples into agent->index, in O(count), as a function of the run's
 * seed, the purpose, the agent and `iteration`: each (purpose, iteration) is to be used once. All
 * samples without replacement need no drawing: the batch's index is NULL then.
 */
saddle_batch saddle_draw(saddle_agent *agent, saddle_purpose purpose, uint64_t iteration,
                         size_t count, bool replacement);

#endif
