#include "core/memory_limits.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/control_groups.h"

/* Without SADDLE_MEMORY, needs below this are not checked: they fit, or allocation fails cleanly. */
#define SMALL_BYTES 1e8
/* Blocks are checked each time memory use has grown by this. */
#define CHECKED_BYTES 1048576.0
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
        return saddle_refuse(error,
                             "%s: '%.80s' in the environment is neither a number of gigabytes "
                             "above 0 nor inf; set it to one of these",
                             VARIABLE, text);
    *bytes = 1e9 * gigabytes;
    return SADDLE_OK;
}

/* What this process takes and may take, in bytes. */
typedef struct memory_limit {
    double own;       /* now */
    double available; /* in all; infinite where it is not checked */
    bool granted;     /* whether SADDLE_MEMORY says so */
} memory_limit;

/* Finds the limit for `bytes` more in each of `processes` processes. */
static saddle_status find_limit(memory_limit *out, double bytes, size_t processes,
                                saddle_error *error)
{
    double granted;
    SADDLE_TRY(read_grant(&granted, error));
    out->own = saddle_memory_used() + SADDLE_LIBRARY_BYTES;
    out->granted = granted >= 0.0;
    out->available = out->granted          ? granted
                     : bytes < SMALL_BYTES ? INFINITY
                                           : out->own + saddle_available_bytes(processes);
    return SADDLE_OK;
}

/* Why this thread's last allocation was refused: the total that it would have reached, and the limit. */
static _Thread_local struct {
    double total; /* 0: not refused, the system had no more */
    memory_limit limit;
} refused;

/* Memory use, in bytes, when a block was last compared with SADDLE_MEMORY, and with what the system has. Small
 * blocks add up: each is compared with what has been allocated since then. */
static atomic_size_t compared;
static atomic_size_t compared_with_system;

/* Returns how much memory use, with `bytes` more, is above a level, which is lowered to the use if that is below. */
static double growth(atomic_size_t *level, double bytes)
{
    double used = saddle_memory_used();
    if (used < (double)atomic_load_explicit(level, memory_order_relaxed))
        atomic_store_explicit(level, (size_t)used, memory_order_relaxed);
    return used + bytes - (double)atomic_load_explicit(level, memory_order_relaxed);
}

static void raise_level(atomic_size_t *level, double bytes)
{
    double reached = saddle_memory_used() + bytes;
    atomic_store_explicit(level, reached < (double)SIZE_MAX ? (size_t)reached : SIZE_MAX,
                          memory_order_relaxed);
}

bool saddle_available_allows(double bytes)
{
    refused.total = 0.0;
    if (growth(&compared, bytes) < CHECKED_BYTES)
        return true;
    double grown = growth(&compared_with_system, bytes);
    if (find_limit(&refused.limit, grown, 1, NULL) != SADDLE_OK ||
        refused.limit.own + bytes <= refused.limit.available) {
        raise_level(&compared, bytes);
        if (grown >= SMALL_BYTES)
            raise_level(&compared_with_system, bytes);
        return true;
    }
    refused.total = refused.limit.own + bytes;
    return false;
}

/* Fails because SADDLE_MEMORY allows less than the process took before it came to `what`. */
static saddle_status refuse_grant(const memory_limit *limit, const char *what, saddle_error *error)
{
    return saddle_fail(error, SADDLE_NO_MEMORY,
                       VARIABLE
                       " allows %.4g GB of memory, but before %s the program already takes "
                       "about %.4g GB; set " VARIABLE " to more gigabytes, or to inf",
                       limit->available / 1e9, what, limit->own / 1e9);
}

void saddle_say_no_memory(saddle_error *error, const char *what)
{
    const memory_limit *limit = &refused.limit;
    if (refused.total > 0.0 && limit->granted && limit->own > limit->available)
        refuse_grant(limit, what, error);
    else if (refused.total > 0.0)
        saddle_fail(error, SADDLE_NO_MEMORY,
                    "%s would bring memory use to about %.4g GB, but about %.4g GB is %s; make the "
                    "network or the problem smaller, or set " VARIABLE
                    " to the gigabytes that it may take, or to inf",
                    what, refused.total / 1e9, limit->available / 1e9,
                    limit->granted ? "allowed by " VARIABLE : "available");
    else
        saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for %s; use fewer agents or less data",
                    what);
    refused.total = 0.0;
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

/* Fails with the amounts. */
static saddle_status refuse(const saddle_need *need, size_t processes, const char *what,
                            const memory_limit *limit, saddle_error *error)
{
    char share[64] = "";
    char largest[160] = "";
    if (limit->granted && limit->own > limit->available)
        return refuse_grant(limit, what, error);
    if (!limit->granted && processes > 1)
        saddle_snprintf(share, sizeof share, " to each of %zu processes", processes);
    if (need->largest[0] != '\0')
        saddle_snprintf(largest, sizeof largest, ", %.3g GB of it for %s", need->most / 1e9,
                        need->largest);
    return saddle_fail(error, SADDLE_NO_MEMORY,
                       "%s would take about %.4g GB of memory%s, but about %.4g GB is %s%s; "
                       "%s, or set " VARIABLE " to the gigabytes that it may take, or to inf",
                       what, (limit->own + SMALL_BLOCKS + need->bytes) / 1e9, largest,
                       limit->available / 1e9,
                       limit->granted ? "allowed by " VARIABLE : "available", share, need->remedy);
}

saddle_status saddle_need_check(const saddle_need *need, size_t processes, const char *what,
                                saddle_error *error)
{
    memory_limit limit;
    SADDLE_TRY(find_limit(&limit, need->bytes, processes, error));
    announce(saddle_memory_used() + SMALL_BLOCKS + need->bytes);
    if (limit.own + SMALL_BLOCKS + need->bytes <= limit.available)
        return SADDLE_OK;
    return refuse(need, processes, what, &limit, error);
}

saddle_status saddle_need_check_one(double bytes, const char *what, const char *remedy,
                                    saddle_error *error)
{
    const saddle_need need = {.bytes = bytes, .most = bytes, .remedy = remedy};
    return saddle_need_check(&need, 1, what, error);
}
