/* Drawing an agent's samples. */
#pragma once

#include <saddle/algorithm.h>

#include "core/rng.h"

/* Returns |S_i| for an agent with n_i = `samples`: `batch`, or ceil(sqrt(n_i)) if it is 0; at
 * most n_i. */
size_t saddle_batch_size(size_t samples, uint64_t batch);

/*
 * Draws `count` of the agent's samples into agent->index, in O(count). The result depends on the
 * run's seed, the purpose, the agent and `iteration`; use each (purpose, iteration) only once. If
 * all samples are drawn without replacement, the batch's index is NULL.
 */
saddle_batch saddle_draw(saddle_agent *agent, saddle_purpose purpose, uint64_t iteration,
                         size_t count, bool replacement);
