/* The longest stable step in x, measured before a run. */
#pragma once

#include <saddle/algorithm.h>

/* As a batch: gradients over all of an agent's samples. */
#define SADDLE_ALL_SAMPLES UINT64_MAX

/* Stores the longest step for gradients over `batch` samples of each agent; 0: ceil(sqrt(n_i)). INFINITY: nothing
 * limits it. It takes one evaluation of each sample and three of at most 4,096 of an agent, which are not counted
 * as IFO calls, like those for estimates of L and mu. Collective. */
saddle_status saddle_longest_step(const saddle_configuration *configuration, uint64_t batch,
                                  double *out, saddle_error *error);
