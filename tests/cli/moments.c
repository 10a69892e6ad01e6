/*
 * Sends a program a signal before a given call, so that the moment does not depend on the speed of the
 * machine. Preloaded, it intercepts the functions below, which read the clock and access files.
 *
 * MOMENT_CLOCK=N: before the N-th reading of the clock. MOMENT_FILE=N: before the N-th call that accesses
 * a file. Then MOMENT_SIGNAL is sent, and if MOMENT_AGAIN is K > 0, again K calls of either kind later.
 * When the program exits by itself, the numbers of both kinds of calls are written to the file MOMENT_LOG,
 * which therefore also shows that it was not ended by a signal. MOMENT_CALLS is a file for the names of
 * the calls that access files, in order, each after the number of its thread. Programs that this one
 * starts are not affected.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CLOCK, FILES, KINDS };

static atomic_long calls[KINDS];
static atomic_long after; /* calls since the first signal */
static long moment[KINDS];
static long again;
static int number;
static const char *log_path;
static int names = -1; /* the file of MOMENT_CALLS */
static pid_t self;

static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void prepare(void)
{
    moment[CLOCK] = number_of("MOMENT_CLOCK");
    moment[FILES] = number_of("MOMENT_FILE");
    again = number_of("MOMENT_AGAIN");
    number = (int)number_of("MOMENT_SIGNAL");
    log_path = getenv("MOMENT_LOG");
    self = getpid();
    const char *path = getenv("MOMENT_CALLS");
    if (path != NULL)
        names = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    unsetenv("LD_PRELOAD");
}

static void pass(int kind, const char *name)
{
    if (getpid() != self)
        return;
    if (names >= 0 && kind == FILES)
        dprintf(names, "%ld %s\n", (long)syscall(SYS_gettid), name);
    int first = atomic_fetch_add(&calls[kind], 1) + 1 == moment[kind];
    if (first || (atomic_load(&after) > 0 && atomic_fetch_add(&after, 1) == again))
        kill(self, number);
    if (first && again > 0)
        atomic_store(&after, 1);
}

#define NEXT(type, name, ...) (((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)))

int clock_gettime(clockid_t clock, struct timespec *out)
{
    pass(CLOCK, NULL);
    return (int)syscall(SYS_clock_gettime, clock, out);
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
    pass(FILES, "fopen");
    return NEXT(FILE *, "fopen", const char *, const char *)(path, mode);
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    pass(FILES, "open");
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int fflush(FILE *file)
{
    pass(FILES, "fflush");
    return NEXT(int, "fflush", FILE *)(file);
}

int fclose(FILE *file)
{
    pass(FILES, "fclose");
    return NEXT(int, "fclose", FILE *)(file);
}

int fsync(int file)
{
    pass(FILES, "fsync");
    return (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to)
{
    pass(FILES, "rename");
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
    pass(FILES, "unlink");
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode)
{
    pass(FILES, "mkdir");
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

__attribute__((destructor)) static void write_log(void)
{
    FILE *file = log_path != NULL && getpid() == self
                     ? NEXT(FILE *, "fopen", const char *, const char *)(log_path, "w")
                     : NULL;
    if (file == NULL)
        return;
    fprintf(file, "%ld %ld\n", atomic_load(&calls[CLOCK]), atomic_load(&calls[FILES]));
    NEXT(int, "fclose", FILE *)(file);
}
