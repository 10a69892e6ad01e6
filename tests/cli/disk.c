/*
 * Records what a program does to the files below a directory; powercut.py computes from it what a power
 * failure can leave. Preloaded, this appends every successful operation to the file DISK_LOG.
 *
 * DISK_ROOT is the directory. DISK_NAMED=1: there are no files without a name, as on many network file
 * systems. A record is a line `OPERATION INODE BYTES PATH<tab>PATH`, with paths below the root, followed
 * by BYTES of a file's contents. Writes inside stdio are not seen; contents are recorded when they are
 * flushed, truncated, synced or closed. Files must be written by one thread of a process.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Descriptors from this one on are ignored. */
enum { DESCRIPTORS = 1024 };

static int log_file = -1;
static char root[PATH_MAX];
static bool named;
static bool
    written[DESCRIPTORS]; /* whether a descriptor is a file below the root, open for writing */
static bool touched;

#define NEXT(type, name, ...) (((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)))

__attribute__((constructor)) static void prepare(void)
{
    const char *path = getenv("DISK_LOG");
    const char *directory = getenv("DISK_ROOT");
    named = getenv("DISK_NAMED") != NULL;
    if (path == NULL || directory == NULL || realpath(directory, root) == NULL)
        abort();
    log_file =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    unsetenv("LD_PRELOAD");
}

/* Appends a record with the contents of a descriptor's file; -1: without contents. */
static void record(const char *operation, ino_t inode, int contents, const char *path,
                   const char *second)
{
    char head[2 * PATH_MAX + 100];
    char place[64];
    struct stat status = {.st_size = 0};
    void *bytes = NULL;
    int reason = errno;
    if (contents >= 0) {
        snprintf(place, sizeof place, "/proc/self/fd/%d", contents);
        int again = (int)syscall(SYS_openat, AT_FDCWD, place, O_RDONLY | O_CLOEXEC, 0);
        if (again < 0 || fstat(again, &status) != 0)
            abort();
        if (status.st_size > 0)
            bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, again, 0);
        syscall(SYS_close, again);
        inode = status.st_ino;
    }
    int length = snprintf(head, sizeof head, "%s %llu %zu %s\t%s\n", operation,
                          (unsigned long long)inode, (size_t)status.st_size, path, second);
    struct iovec part[2] = {{head, (size_t)length}, {bytes, (size_t)status.st_size}};
    if (writev(log_file, part, 2) != length + status.st_size)
        abort();
    if (bytes != NULL)
        munmap(bytes, (size_t)status.st_size);
    touched = true;
    errno = reason;
}

/* Returns whether a path is the root or below it; out receives the path relative to the root. */
static bool below(const char *path, char out[PATH_MAX])
{
    char parent[PATH_MAX];
    char whole[2 * PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    int reason = errno;
    snprintf(whole, sizeof whole, "%.*s.", (int)(name - path), path);
    bool known = realpath(whole, parent) != NULL;
    errno = reason;
    snprintf(whole, sizeof whole, "%s/%s", parent, name);
    size_t length = strlen(root);
    if (!known || strncmp(whole, root, length) != 0 || whole[length] != '/')
        return false;
    snprintf(out, PATH_MAX, "%s", whole + length + 1);
    return true;
}

static bool is_written(int file)
{
    return file >= 0 && file < DESCRIPTORS && written[file];
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    char own[PATH_MAX];
    struct stat status;
    bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    va_start(rest, flags);
    mode_t mode = unnamed || (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (unnamed && named) {
        errno = EOPNOTSUPP;
        return -1;
    }
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (file < 0 || file >= DESCRIPTORS)
        return file;
    written[file] = (flags & O_ACCMODE) != O_RDONLY && below(path, own);
    if (written[file] && fstat(file, &status) == 0)
        record("open", status.st_ino, -1, unnamed ? "" : own, "");
    return file;
}

int fflush(FILE *file)
{
    int result = NEXT(int, "fflush", FILE *)(file);
    if (file != NULL && is_written(fileno(file)))
        record("data", 0, fileno(file), "", "");
    return result;
}

int fclose(FILE *file)
{
    int own = fileno(file);
    fflush(file);
    if (is_written(own))
        written[own] = false;
    return NEXT(int, "fclose", FILE *)(file);
}

int ftruncate(int file, off_t size)
{
    int result = (int)syscall(SYS_ftruncate, file, size);
    if (result == 0 && is_written(file))
        record("data", 0, file, "", "");
    return result;
}

int fsync(int file)
{
    char place[64];
    char own[PATH_MAX];
    struct stat status;
    int result = (int)syscall(SYS_fsync, file);
    snprintf(place, sizeof place, "/proc/self/fd/%d/.", file);
    if (result == 0 && is_written(file))
        record("sync", 0, file, "", "");
    else if (result == 0 && fstat(file, &status) == 0 && S_ISDIR(status.st_mode) &&
             below(place, own))
        record("sync-directory", 0, -1, own, "");
    return result;
}

int rename(const char *from, const char *to)
{
    char first[PATH_MAX];
    char second[PATH_MAX];
    bool own = below(from, first) && below(to, second);
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (result == 0 && own)
        record("rename", 0, -1, first, second);
    return result;
}

int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags)
{
    char own[PATH_MAX];
    struct stat status;
    int result = (int)syscall(SYS_linkat, from_directory, from, to_directory, to, flags);
    if (result == 0 && below(to, own) && stat(to, &status) == 0)
        record("link", status.st_ino, -1, own, "");
    return result;
}

int unlinkat(int directory, const char *path, int flags)
{
    char whole[PATH_MAX + 64];
    char own[PATH_MAX];
    snprintf(whole, sizeof whole, "%s", path);
    if (directory != AT_FDCWD)
        snprintf(whole, sizeof whole, "/proc/self/fd/%d/%s", directory, path);
    bool meant = below(whole, own);
    int result = (int)syscall(SYS_unlinkat, directory, path, flags);
    if (result == 0 && meant)
        record("unlink", 0, -1, own, "");
    return result;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode)
{
    char own[PATH_MAX];
    int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0 && below(path, own))
        record("mkdir", 0, -1, own, "");
    return result;
}

__attribute__((destructor)) static void end(void)
{
    if (touched)
        record("exit", 0, -1, "", "");
}
