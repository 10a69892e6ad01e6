/*
 * A pool of worker threads that run one job together, with a barrier inside the job.
 *
 * The caller is worker 0. Between jobs and inside them workers meet at a spinning barrier, which costs no
 * system call unless a worker is late: then the others offer their processors and, after some tens of
 * microseconds, sleep.
 *
 * A worker that has much to do while others wait can share it: workers that wait take parts of it.
 */
#ifndef SADDLE_ENGINES_THREAD_POOL_H
#define SADDLE_ENGINES_THREAD_POOL_H

#include <stdbool.h>

#include <saddle/status.h>

typedef struct saddle_thread_pool saddle_thread_pool;

/* What a worker does; worker = 0 .. size - 1. */
typedef void saddle_thread_pool_job(void *context, unsigned worker);

/* Start size - 1 threads; size >= 1. `processors` are those that it may count on: with fewer than
 * workers, a worker that waits yields its processor at once. `pin`: each worker stays on a processor of its own, of those that the
 * calling thread may run on; the caller, which is worker 0, only inside a job. */
saddle_status saddle_thread_pool_create(saddle_thread_pool **out, unsigned size,
                                        unsigned processors, bool pin, saddle_error *error);
/* End the threads. NULL is allowed. */
void saddle_thread_pool_destroy(saddle_thread_pool *pool);
/* Number of workers. */
unsigned saddle_thread_pool_size(const saddle_thread_pool *pool);
/* Run a job on all workers and wait for all of them. Denormals are flushed to zero inside. */
void saddle_thread_pool_run(saddle_thread_pool *pool, saddle_thread_pool_job *job, void *context);
/* Called by every worker inside a job: wait until all have called it, and help those that share meanwhile. A job
 * ends in the same way. */
void saddle_thread_pool_barrier(saddle_thread_pool *pool, unsigned worker);

/* One part of something, done by some worker. */
typedef void saddle_thread_pool_part(void *context, size_t part, unsigned worker);
/* Called by a worker inside a job: do parts 0 .. count - 1, in any order, with the help of workers that wait at the barrier. A
 * part must not share or wait itself. */
void saddle_thread_pool_share(saddle_thread_pool *pool, unsigned worker, size_t count,
                              saddle_thread_pool_part *part, void *context);

#endif
