/*
 * A crew of worker threads that run one job together, with a barrier inside the job.
 *
 * The caller is worker 0. Between jobs the others sleep; inside a job they meet at a spinning
 * barrier, which costs no system call unless a worker is late: then the others offer their processors
 * and, after some tens of microseconds, sleep.
 */
#ifndef SADDLE_ENGINES_CREW_H
#define SADDLE_ENGINES_CREW_H

#include <saddle/status.h>

typedef struct saddle_crew saddle_crew;

/* What a worker does; worker = 0 .. size - 1. */
typedef void saddle_crew_job(void *context, unsigned worker);

/* Processors of this machine, and those of them that this process may run on. */
unsigned saddle_processors_online(void);
unsigned saddle_processors(void);

/* Start size - 1 threads; size >= 1. `processors` are those that it may count on: with fewer than
 * workers, a worker that waits makes room at once. */
saddle_status saddle_crew_create(saddle_crew **out, unsigned size, unsigned processors,
                                 saddle_error *error);
/* End the threads. NULL is allowed. */
void saddle_crew_destroy(saddle_crew *crew);
/* Number of workers. */
unsigned saddle_crew_size(const saddle_crew *crew);
/* Run a job on all workers and wait for all of them. Denormals are flushed to zero inside. */
void saddle_crew_run(saddle_crew *crew, saddle_crew_job *job, void *context);
/* Called by every worker inside a job: wait until all have called it. */
void saddle_crew_meet(saddle_crew *crew);

#endif
