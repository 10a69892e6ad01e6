#include "core/processors.h"

#include <sched.h>
#include <unistd.h>

#include "core/control_groups.h"

static unsigned online(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

/* Returns the number of processors that this process may run on. */
static unsigned allowed(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : online();
}

bool saddle_processors_are_own(void)
{
    return allowed() < online();
}

/* Reads up to `count` positive integers from the start of a group's file. Returns how many it
 * read: 0 where a limit is "max" or -1. */
static unsigned read_numbers(const char *directory, const char *name, unsigned count, double *out)
{
    char text[1100];
    saddle_snprintf(text, sizeof text, "%s/%s", directory, name);
    FILE *f = fopen(text, "re");
    bool read = f != NULL && fgets(text, sizeof text, f) != NULL;
    if (f != NULL)
        fclose(f);
    unsigned found = 0;
    for (char *next = text; read && found < count; found++) {
        char *end;
        out[found] = (double)strtoll(next, &end, 10);
        if (end == next || out[found] <= 0.0)
            break;
        next = end;
    }
    return found;
}

/* Lowers *context to a group's limit, its quota divided by its period (both in microseconds). */
static void lower(void *context, const char *directory, bool unified)
{
    double *least = context;
    double number[2]; /* quota, period */
    bool found = unified ? read_numbers(directory, "cpu.max", 2, number) == 2
                         : read_numbers(directory, "cpu.cfs_quota_us", 1, number) +
                                   read_numbers(directory, "cpu.cfs_period_us", 1, number + 1) ==
                               2;
    if (found)
        *least = fmin(*least, number[0] / number[1]);
}

double saddle_processor_quota(const char *root)
{
    double least = INFINITY;
    saddle_control_groups(root, "cpu", lower, &least);
    return least;
}

unsigned saddle_processors(size_t together)
{
    double processors = allowed();
    if (!saddle_processors_are_own())
        processors /= (double)together;
    return (unsigned)fmax(fmin(processors, saddle_processor_quota("") / (double)together), 1.0);
}
