/* Elapsed time, for traces and time limits. Results never depend on it. */
#pragma once

#include <time.h>

/* Returns the seconds since some fixed moment. Never runs backwards, even if the wall clock is set. */
static inline double saddle_clock_seconds(void)
{
    /* Cannot fail: POSIX 2008 requires this clock. */
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
