#include "core/clock.h"

#include <time.h>

double saddle_clock_seconds(void)
{
    /* Cannot fail: POSIX 2008 requires this clock. */
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
