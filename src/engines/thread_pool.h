/*
 * A pool of worker threads that run one job together, with a barrier inside the job.
 *
 * The caller is worker 0. Between jobs and inside them, workers meet at a spinning barrier, which needs no
 * system call unless a worker is late: then the others yield their processors and, after some tens of
 * microseconds, sleep. A worker that had to sleep spins less the next time, so that on a busy machine
 * waiting gives up the processor soon.
 *
 * A worker that has much to do while others wait can share its work: waiting workers take pieces of it.
 */
#pragma once

#include <saddle/status.h>

#include "core/base.h"

typedef struct saddle_thread_pool saddle_thread_pool;

/* The job of a worker; worker = 0 .. size - 1. */
typedef void saddle_thread_pool_job(void *context, unsigned worker);

/* Starts size - 1 threads; size >= 1. `processors` is how many it can use: if there are fewer than
 * workers, a waiting worker yields at once. `pin`: each worker stays on its own processor, one of those
 * that the calling thread may run on; the caller, worker 0, only inside a job. */
saddle_status saddle_thread_pool_create(saddle_thread_pool **out, unsigned size,
                                        unsigned processors, bool pin, saddle_error *error);
/* Ends the threads. NULL is allowed. */
void saddle_thread_pool_destroy(saddle_thread_pool *pool);
/* Returns the number of workers that run jobs. */
unsigned saddle_thread_pool_size(const saddle_thread_pool *pool);
/* Changes that number, between jobs; 1 to the size of creation. The other threads sleep. */
void saddle_thread_pool_resize(saddle_thread_pool *pool, unsigned size);
/* Returns the seconds, added over workers, of all waits at barriers that were longer than some
 * microseconds. */
double saddle_thread_pool_waited(const saddle_thread_pool *pool);
/* Runs a job on all workers and waits for all of them. Denormals are flushed to zero inside. */
void saddle_thread_pool_run(saddle_thread_pool *pool, saddle_thread_pool_job *job, void *context);
/* Called by every worker inside a job: waits until all have called it, and meanwhile helps workers that
 * share. A job ends in the same way. */
void saddle_thread_pool_barrier(saddle_thread_pool *pool, unsigned worker);

/* Does one piece of shared work, on some worker. */
typedef void saddle_thread_pool_piece(void *context, size_t piece, unsigned worker);
/* Called by a worker inside a job: does pieces 0 .. count - 1, in any order, with the help of workers
 * that wait at the barrier. A piece must not share or wait itself. */
void saddle_thread_pool_share(saddle_thread_pool *pool, unsigned worker, size_t count,
                              saddle_thread_pool_piece *piece, void *context);
