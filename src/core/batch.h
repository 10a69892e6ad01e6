/* Which sample a batch names at a place. */
#ifndef SADDLE_CORE_BATCH_H
#define SADDLE_CORE_BATCH_H

#include <saddle/problem.h>

/* The k-th sample number of a batch; a batch without a list names 0 .. count - 1. */
static inline size_t saddle_batch_sample(const saddle_batch *batch, size_t k)
{
    return batch->index != NULL ? batch->index[k] : k;
}

#endif
