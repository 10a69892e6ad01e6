/* One-time work on large arrays, in a few threads that end with it. Iterations use the pool of
 * engines/thread_pool.h. */
#pragma once

#include "core/base.h"

/* The largest number of chunks. */
enum { SADDLE_MOST_PARALLEL = 256 };

/* Returns into how many chunks to divide work of a given `size`: one for every `least` or
 * fraction of it, at most `threads` (0: the number of processors) and at most
 * SADDLE_MOST_PARALLEL. */
size_t saddle_parallel_chunks(uint64_t threads, size_t size, size_t least);
/* Calls body(context, chunk) for every chunk, each in its own thread. The caller does chunk 0, and
 * those for which no thread can be started. */
void saddle_parallel(size_t chunks, void (*body)(void *context, size_t chunk), void *context);
