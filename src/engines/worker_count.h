/* How many threads pay off. */
#ifndef SADDLE_ENGINES_WORKER_COUNT_H
#define SADDLE_ENGINES_WORKER_COUNT_H

#include <saddle/instance.h>

/* The number of workers that have enough to do in an iteration of the agents in this process, at least one and
 * at most one for each agent; `published` doubles are an agent's span. */
size_t saddle_worker_count(const saddle_instance *instance, size_t published);

#endif
