/* How many threads pay off. */
#ifndef SADDLE_ENGINES_WORKER_COUNT_H
#define SADDLE_ENGINES_WORKER_COUNT_H

#include <saddle/instance.h>

/* Returns how many workers have enough work in an iteration of this process's agents, at least one and
 * at most one per agent. `published` is the doubles of an agent's span. */
size_t saddle_worker_count(const saddle_instance *instance, size_t published);

#endif
