#include "core/available.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/status.h"
#include "core/text.h"

/* Less than this always fits, or fails cleanly. */
#define SMALL_BYTES 1e8
/* What the user says about it. */
#define VARIABLE "SADDLE_MEMORY"

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

/* A number in a file of a group. */
static double group_number(const control *names, const char *directory, const char *file,
                           const char *word)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s/%s", names->root, directory, file);
    return read_number(path, word);
}

/* What a group leaves, given its directory. */
static double of_group(const control *names, const char *directory)
{
    double used = or_zero(group_number(names, directory, names->used, ""));
    double cached = or_zero(group_number(names, directory, "memory.stat", names->cached));
    return group_number(names, directory, names->limit, "") - fmax(used - cached, 0.0);
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

double saddle_available_bytes(size_t processes)
{
    double share = fmin(of_system(), of_groups()) / (double)(processes > 0 ? processes : 1);
    return fmax(fmin(share, of_addresses()), 0.0);
}

/* Bytes that the user grants; infinite for "inf", negative when nothing is said. */
static saddle_status read_grant(double *bytes, saddle_error *error)
{
    const char *text = getenv(VARIABLE);
    double gigabytes = 0.0;
    *bytes = -1.0;
    if (text == NULL || *text == '\0')
        return SADDLE_OK;
    if (strcmp(text, "inf") == 0)
        gigabytes = INFINITY;
    else if (!saddle_parse_real(text, &gigabytes) || !(gigabytes > 0.0))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the environment variable %s is '%.80s'; it must be a number of "
                           "gigabytes above 0, or inf",
                           VARIABLE, text);
    *bytes = 1e9 * gigabytes;
    return SADDLE_OK;
}

saddle_status saddle_available_check(double bytes, size_t processes, const char *what,
                                     saddle_error *error)
{
    double available = 0.0;
    saddle_status status = read_grant(&available, error);
    if (status != SADDLE_OK || bytes < SMALL_BYTES)
        return status;
    bool granted = available >= 0.0;
    if (!granted)
        available = saddle_available_bytes(processes);
    if (bytes <= available)
        return SADDLE_OK;
    char share[64] = "";
    if (!granted && processes > 1)
        snprintf(share, sizeof share, " by each of %zu processes", processes);
    return saddle_fail(
        error, SADDLE_NO_MEMORY,
        "%s would take about %.3g GB of memory, and about %.3g GB can be had%s%s; to "
        "go on nonetheless, set %s to the gigabytes that it may take, or to inf",
        what, bytes / 1e9, available / 1e9, share, granted ? " by " VARIABLE : "", VARIABLE);
}
