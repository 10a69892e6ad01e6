/*
 * Clocks that misbehave, for test_clock.sh: a preloaded library that replaces the C library's.
 *
 * The wall clock is wrong by hours, by a different amount at every call, forwards and backwards. The
 * monotonic clock is right, but if CLOCK_LEAP is set, it jumps forward by that many seconds CLOCK_AFTER
 * seconds after the first call. If CLOCK_TICK is set, it only advances by that many nanoseconds with every
 * call, so that what a program does by the clock depends only on its calls. At the end, the number of
 * calls for each clock is written to CLOCK_LOG.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_uint day_looks;
static atomic_uint steady_looks;
static atomic_long first_second; /* of the monotonic clock, plus one; 0: not read yet */

enum { SECOND = 1000000000 }; /* nanoseconds */

static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

/* Returns the current error of the wall clock in seconds. */
static long error_of_day(void)
{
    static const long hours[] = {0, -5, 3, -26, 8760, -1, 48};
    return 3600 * hours[atomic_fetch_add(&day_looks, 1) % (sizeof hours / sizeof *hours)];
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    long result = syscall(SYS_clock_gettime, clock, out);
    if (result != 0)
        return -1;
    if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
        clock == CLOCK_MONOTONIC_RAW) {
        long unseen = 0;
        long looks = (long)atomic_fetch_add(&steady_looks, 1);
        atomic_compare_exchange_strong(&first_second, &unseen, out->tv_sec + 1);
        long tick = number_of("CLOCK_TICK");
        if (tick > 0)
            *out =
                (struct timespec){.tv_sec = atomic_load(&first_second) - 1 + looks * tick / SECOND,
                                  .tv_nsec = looks * tick % SECOND};
        if (out->tv_sec + 1 - atomic_load(&first_second) >= number_of("CLOCK_AFTER"))
            out->tv_sec += number_of("CLOCK_LEAP");
    } else if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
        out->tv_sec += error_of_day();
    }
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

__attribute__((destructor)) static void write_log(void)
{
    const char *path = getenv("CLOCK_LOG");
    FILE *f = path != NULL ? fopen(path, "a") : NULL;
    if (f == NULL)
        return;
    fprintf(f, "%u %u\n", atomic_load(&day_looks), atomic_load(&steady_looks));
    fclose(f);
}
