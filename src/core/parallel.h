/* Work on large arrays that is done once, in a few threads that end with it. (Iterations have a pool: engines/thread_pool.h.) */
#ifndef SADDLE_CORE_PARALLEL_H
#define SADDLE_CORE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* The most parts that work is divided into. */
enum { SADDLE_MOST_PARALLEL = 256 };

/* Returns how many parts are worth a thread each: no more than `threads` (0: the number of processors), one for every `least` of
 * `size` that is begun, and at most SADDLE_MOST_PARALLEL. */
size_t saddle_parallel_parts(uint64_t threads, size_t size, size_t least);
/* Call body(context, part) for every part, each in a thread of its own; part 0, and those that no thread can be had for, are
 * done by the caller. */
void saddle_parallel(size_t parts, void (*body)(void *context, size_t part), void *context);

#endif
