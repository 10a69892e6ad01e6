/*
 * A preloaded library for jobs on one machine: a process of Open MPI that waits for another one calls sched_yield()
 * again and again; here it sleeps instead, so that waiting takes no processor from other tests.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <time.h>

int sched_yield(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = 50000}, NULL);
    return 0;
}
