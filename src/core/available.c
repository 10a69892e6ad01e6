#include "core/available.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/status.h"

/* Less than this always fits, or fails cleanly. */
#define SMALL_BYTES 1e8

/* The number after a word at the beginning of a line, such as "MemAvailable:"; a word of no letters
 * is found at once. Infinite when it is not there, as where a limit is "max". */
static double read_number(const char *path, const char *word)
{
    char line[256];
    double found = INFINITY;
    FILE *f = fopen(path, "re");
    while (f != NULL && isinf(found) && fgets(line, sizeof line, f) != NULL) {
        size_t length = strlen(word);
        char *end = line + length;
        if (strncmp(line, word, length) != 0)
            continue;
        double number = (double)strtoull(line + length, &end, 10);
        if (end != line + length)
            found = number;
    }
    if (f != NULL)
        fclose(f);
    return found;
}

/* What a number is when it is known, and otherwise 0. */
static double or_zero(double number)
{
    return isfinite(number) ? number : 0.0;
}

static double of_system(void)
{
    double kilobytes = read_number("/proc/meminfo", "MemAvailable:") +
                       or_zero(read_number("/proc/meminfo", "SwapFree:"));
    return 1024.0 * kilobytes;
}

static double of_addresses(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    double used = or_zero(read_number("/proc/self/statm", "")) * (double)sysconf(_SC_PAGESIZE);
    return (double)limit.rlim_cur - used;
}

/* Names of the two versions of control groups. */
typedef struct control {
    const char *root;
    const char *limit;
    const char *used;
    const char *cached; /* in memory.stat: files, which are dropped when memory is short */
} control;

/* What a group leaves, given its directory. */
static double of_group(const control *names, const char *directory)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s/%s", names->root, directory, names->limit);
    double limit = read_number(path, "");
    snprintf(path, sizeof path, "%s%s/%s", names->root, directory, names->used);
    double used = or_zero(read_number(path, ""));
    snprintf(path, sizeof path, "%s%s/memory.stat", names->root, directory);
    double cached = or_zero(read_number(path, names->cached));
    return limit - fmax(used - cached, 0.0);
}

/* The least that this group and those above it leave. In a container the path of a group may be the
 * host's, and only the root is there. */
static double of_groups(void)
{
    static const control second = {"/sys/fs/cgroup", "memory.max", "memory.current", "file "};
    static const control first = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                  "memory.usage_in_bytes", "total_cache "};
    char line[512];
    double least = fmin(of_group(&second, ""), of_group(&first, ""));
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        bool unified = strncmp(line, "0::", 3) == 0;
        char *directory = unified ? line + 3 : strstr(line, ":memory:");
        if (directory == NULL)
            continue;
        directory += unified ? 0 : strlen(":memory:");
        for (char *slash = strrchr(directory, '/'); slash != NULL && slash[1] != '\0';
             slash = strrchr(directory, '/')) {
            least = fmin(least, of_group(unified ? &second : &first, directory));
            *slash = '\0';
        }
    }
    if (f != NULL)
        fclose(f);
    return least;
}

double saddle_available_bytes(void)
{
    return fmax(fmin(of_system(), fmin(of_addresses(), of_groups())), 0.0);
}

saddle_status saddle_available_check(double bytes, const char *what, saddle_error *error)
{
    if (bytes < SMALL_BYTES)
        return SADDLE_OK;
    double available = saddle_available_bytes();
    if (bytes <= available)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_NO_MEMORY,
                       "%s would take about %.3g GB of memory, and about %.3g GB can be had", what,
                       bytes / 1e9, available / 1e9);
}
