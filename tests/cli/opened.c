/*
 * Records which files a program reads. Preloaded, this appends the absolute path of every regular file below
 * OPENED_ROOT that is opened for reading, or loaded, to the file OPENED_LOG, one per line.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEXT(type, name, ...) (((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)))

static void record(const char *path)
{
    char whole[PATH_MAX + 1];
    struct stat status;
    int reason = errno;
    const char *root = getenv("OPENED_ROOT");
    const char *log = getenv("OPENED_LOG");
    if (path != NULL && root != NULL && log != NULL && stat(path, &status) == 0 &&
        S_ISREG(status.st_mode) && realpath(path, whole) != NULL &&
        strncmp(whole, root, strlen(root)) == 0) {
        int file = (int)syscall(SYS_openat, AT_FDCWD, log,
                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        size_t length = strlen(whole);
        whole[length] = '\n';
        if (file < 0 || write(file, whole, length + 1) != (ssize_t)length + 1)
            abort();
        close(file);
    }
    errno = reason;
}

static int open_at(int directory, const char *path, int flags, va_list arguments)
{
    mode_t mode = 0;
    if ((flags & (O_CREAT | O_TMPFILE)) != 0)
        mode = (mode_t)va_arg(arguments, unsigned);
    if ((flags & O_ACCMODE) != O_WRONLY)
        record(path);
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

#define OPEN(name)                                                  \
    int name(const char *path, int flags, ...)                      \
    {                                                               \
        va_list arguments;                                          \
        va_start(arguments, flags);                                 \
        int descriptor = open_at(AT_FDCWD, path, flags, arguments); \
        va_end(arguments);                                          \
        return descriptor;                                          \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                 \
    int name(int directory, const char *path, int flags, ...)        \
    {                                                                \
        va_list arguments;                                           \
        va_start(arguments, flags);                                  \
        int descriptor = open_at(directory, path, flags, arguments); \
        va_end(arguments);                                           \
        return descriptor;                                           \
    }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                         \
    FILE *name(const char *path, const char *mode)                          \
    {                                                                       \
        if (*mode == 'r')                                                   \
            record(path);                                                   \
        return NEXT(FILE *, #name, const char *, const char *)(path, mode); \
    }
FOPEN(fopen)
FOPEN(fopen64)

void *dlopen(const char *path, int flags)
{
    record(path);
    return NEXT(void *, "dlopen", const char *, int)(path, flags);
}
