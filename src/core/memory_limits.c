#include "core/memory_limits.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/control_groups.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "core/text.h"

/* Without SADDLE_MEMORY, needs below this are not checked: they fit, or allocation fails cleanly. */
#define SMALL_BYTES 1e8
/* Strings and other small blocks that no need lists. */
#define SMALL_BLOCKS 4096.0
/* The environment variable that limits the memory of a process. */
#define VARIABLE "SADDLE_MEMORY"

/* Returns the number after `word` at the beginning of a line of a file, such as "MemAvailable:";
 * with "", the number that begins the first line that has one. INFINITY when there is none, as
 * where a limit is "max". */
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

/* A control group's files, which have other names in version 1 and version 2. */
typedef struct control {
    const char *limit;
    const char *used;
    const char *cached; /* in memory.stat: cached files, which the kernel drops when memory is
                         * short */
} control;

static double group_number(const char *directory, const char *file, const char *word)
{
    char path[1100];
    saddle_snprintf(path, sizeof path, "%s/%s", directory, file);
    return read_number(path, word);
}

/* Lowers *context to the bytes that a group leaves. */
static void lower(void *context, const char *directory, bool unified)
{
    static const control files[] = {
        {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache "},
        {"memory.max", "memory.current", "file "}};
    const control *names = &files[unified];
    double *least = context;
    double used = or_zero(group_number(directory, names->used, ""));
    double cached = or_zero(group_number(directory, "memory.stat", names->cached));
    *least = fmin(*least, group_number(directory, names->limit, "") - fmax(used - cached, 0.0));
}

/* Returns the smallest number of bytes that any of this process's groups leaves. */
static double of_groups(void)
{
    double least = INFINITY;
    saddle_control_groups("", "memory", lower, &least);
    return least;
}

double saddle_available_bytes(size_t processes)
{
    /* The system still counts as available what this process has allocated but not yet written to. */
    double written = 1024.0 * or_zero(read_number("/proc/self/status", "RssAnon:"));
    double pending = fmax(saddle_memory_used() - written, 0.0);
    double share = fmin(of_system(), of_groups()) / (double)(processes > 0 ? processes : 1);
    return fmax(fmin(share - pending, of_addresses()), 0.0);
}

/* Reads SADDLE_MEMORY as bytes: INFINITY for "inf", negative when it is not set. */
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
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "%s: '%.80s' in the environment is neither a number of gigabytes above 0 "
            "nor inf; set it to one of these",
            VARIABLE, text);
    *bytes = 1e9 * gigabytes;
    return SADDLE_OK;
}

/* Set when this thread's last allocation was refused: the total it would have reached and the limit. */
static _Thread_local struct {
    double total; /* 0: not refused, the system had no more */
    double own;   /* what the process took before */
    double available;
    bool granted;
} refused;

bool saddle_available_allows(double bytes)
{
    double granted;
    double own = saddle_memory_used() + SADDLE_LIBRARY_BYTES;
    refused.total = 0.0;
    if (read_grant(&granted, NULL) != SADDLE_OK || (granted < 0.0 && bytes < SMALL_BYTES))
        return true;
    double available = granted >= 0.0 ? granted : own + saddle_available_bytes(1);
    if (own + bytes <= available)
        return true;
    refused.total = own + bytes;
    refused.own = own;
    refused.available = available;
    refused.granted = granted >= 0.0;
    return false;
}

void saddle_available_forget(void)
{
    refused.total = 0.0;
}

/* Fails because SADDLE_MEMORY allows less than the process took before it came to `what`. */
static saddle_status refuse_grant(double own, double available, const char *what,
                                  saddle_error *error)
{
    return saddle_fail(error, SADDLE_NO_MEMORY,
                       VARIABLE
                       " allows %.4g GB of memory, but before %s the program already takes "
                       "about %.4g GB; set " VARIABLE " to more gigabytes, or to inf",
                       available / 1e9, what, own / 1e9);
}

void saddle_say_no_memory(saddle_error *error, const char *what)
{
    if (refused.granted && refused.own > refused.available && refused.total > 0.0)
        refuse_grant(refused.own, refused.available, what, error);
    else if (refused.total > 0.0)
        saddle_fail(error, SADDLE_NO_MEMORY,
                    "%s would bring memory use to about %.4g GB, but about %.4g GB is %s; make the "
                    "network or the problem smaller, or set " VARIABLE
                    " to the gigabytes that it may take, or to inf",
                    what, refused.total / 1e9, refused.available / 1e9,
                    refused.granted ? "allowed by " VARIABLE : "available");
    else
        saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for %s; use fewer agents or less data",
                    what);
    saddle_available_forget();
}

/* ---- needs ----------------------------------------------------------------------------------- */

/* The largest announcement, in bytes. */
static atomic_size_t announced;

double saddle_memory_announced(void)
{
    return (double)atomic_load(&announced);
}

static void announce(double bytes)
{
    size_t now = bytes < (double)SIZE_MAX ? (size_t)bytes : SIZE_MAX;
    size_t before = atomic_load(&announced);
    while (now > before && !atomic_compare_exchange_weak(&announced, &before, now))
        ;
}

void saddle_need_add(saddle_need *need, double bytes, const char *remedy, const char *format, ...)
{
    need->bytes += bytes;
    if (bytes <= need->most)
        return;
    need->most = bytes;
    need->remedy = remedy;
    va_list arguments;
    va_start(arguments, format);
    saddle_vsnprintf(need->largest, sizeof need->largest, format, arguments);
    va_end(arguments);
}

/* Fails with the amounts. `granted`: `available` is the limit from SADDLE_MEMORY. */
static saddle_status refuse(const saddle_need *need, size_t processes, const char *what,
                            double available, bool granted, saddle_error *error)
{
    char share[64] = "";
    char largest[160] = "";
    if (!granted && processes > 1)
        saddle_snprintf(share, sizeof share, " to each of %zu processes", processes);
    if (need->largest[0] != '\0')
        saddle_snprintf(largest, sizeof largest, ", %.3g GB of it for %s", need->most / 1e9,
                        need->largest);
    double own = saddle_memory_used() + SMALL_BLOCKS + SADDLE_LIBRARY_BYTES;
    if (granted && own > available)
        return refuse_grant(own, available, what, error);
    double total = own + need->bytes;
    return saddle_fail(error, SADDLE_NO_MEMORY,
                       "%s would take about %.4g GB of memory%s, but about %.4g GB is %s%s; "
                       "%s, or set %s to the gigabytes that it may take, or to inf",
                       what, total / 1e9, largest, available / 1e9,
                       granted ? "allowed by " VARIABLE : "available", share, need->remedy,
                       VARIABLE);
}

saddle_status saddle_need_check(const saddle_need *need, size_t processes, const char *what,
                                saddle_error *error)
{
    double available;
    SADDLE_TRY(read_grant(&available, error));
    bool granted = available >= 0.0;
    double own = saddle_memory_used() + SMALL_BLOCKS + SADDLE_LIBRARY_BYTES;
    announce(saddle_memory_used() + SMALL_BLOCKS + need->bytes);
    if (!granted && need->bytes < SMALL_BYTES)
        return SADDLE_OK;
    if (!granted)
        available = own + saddle_available_bytes(processes);
    return own + need->bytes <= available
               ? SADDLE_OK
               : refuse(need, processes, what, available, granted, error);
}

saddle_status saddle_need_check_one(double bytes, const char *what, const char *remedy,
                                    saddle_error *error)
{
    const saddle_need need = {.bytes = bytes, .most = bytes, .remedy = remedy};
    return saddle_need_check(&need, 1, what, error);
}
