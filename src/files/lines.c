/* Files that grow line by line and can be read at any time. */
#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/file.h"

/* Fails because a path cannot be written to. */
static saddle_status refuse(const char *path, const char *option, const char *why,
                            saddle_error *error)
{
    return saddle_refuse(
        error,
        "%s: cannot write '%s': %s; give a path in a directory that exists and can be written to",
        option, path, why);
}

/* Opens a path for writing without waiting for a reader; -1 on failure. */
static int open_at_once(const saddle_lines *lines, const char *option, saddle_error *error)
{
    const char *path = lines->path;
    struct stat status;
    if (lines->shared)
        return fcntl(saddle_named_stream(path), F_DUPFD_CLOEXEC, 3);
    const char *why = saddle_unwritable(path);
    if (why != NULL) {
        refuse(path, option, why, error);
        return -1;
    }
    int descriptor = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    int reason = errno;
    if (descriptor >= 0)
        return descriptor;
    if (reason == ENXIO && stat(path, &status) == 0 && S_ISFIFO(status.st_mode))
        saddle_refuse(error,
                      "%s: cannot write '%s': it is a pipe that no process reads; start its reader "
                      "first, or give a file's path",
                      option, path);
    else
        refuse(path, option, strerror(reason), error);
    return -1;
}

/* Locks an open file for this run and makes writes blocking. `keep`: keeps the contents of the file. */
static saddle_status take(int descriptor, const char *path, const char *option, bool keep,
                          saddle_error *error)
{
    struct stat status;
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) != 0 ||
        fstat(descriptor, &status) != 0)
        return refuse(path, option, strerror(errno), error);
    /* Pipes and devices may have several writers. */
    if (!S_ISREG(status.st_mode))
        return SADDLE_OK;
    SADDLE_TRY(saddle_lock_file(descriptor, path, option, error));
    if ((!keep && ftruncate(descriptor, 0) != 0) || !saddle_sync_directory_of(path))
        return errno == ENOMEM ? saddle_no_memory(error, "a file name")
                               : refuse(path, option, strerror(errno), error);
    return SADDLE_OK;
}

saddle_status saddle_lines_open(saddle_lines *out, const char *path, const char *option, bool keep,
                                saddle_error *error)
{
    memset(out, 0, sizeof *out);
    out->path = saddle_strdup(path);
    SADDLE_TRY(saddle_check_memory(out->path, "a file name", error));
    out->shared = !keep && saddle_named_stream(path) != 0;
    int descriptor = open_at_once(out, option, error);
    saddle_status status = descriptor < 0 ? SADDLE_BAD_INPUT : SADDLE_OK;
    SADDLE_THEN_IF(status, !out->shared, take(descriptor, path, option, keep, error));
    if (status == SADDLE_OK) {
        out->stream = fdopen(descriptor, "w");
        if (out->stream == NULL)
            status = refuse(path, option, strerror(errno), error);
    }
    if (status == SADDLE_OK)
        return SADDLE_OK;
    if (descriptor >= 0)
        close(descriptor);
    saddle_free(out->path);
    out->path = NULL;
    return status;
}

saddle_status saddle_lines_cut(saddle_lines *lines, size_t bytes, const char *what,
                               saddle_error *error)
{
    if (ftruncate(fileno(lines->stream), (off_t)bytes) == 0 &&
        fseeko(lines->stream, (off_t)bytes, SEEK_SET) == 0) {
        lines->whole = (off_t)bytes;
        return SADDLE_OK;
    }
    return saddle_fail(error, SADDLE_IO, "cannot write %s '%s': %s", what, lines->path,
                       strerror(errno));
}

/* Drops what could not be written, including a partial last line. */
static void abandon(saddle_lines *lines)
{
    struct stat status;
    lines->broken = true;
    __fpurge(lines->stream);
    /* If truncation fails, the last line stays incomplete; readers handle that. */
    if (!lines->shared && fstat(fileno(lines->stream), &status) == 0 && S_ISREG(status.st_mode) &&
        ftruncate(fileno(lines->stream), lines->whole) != 0)
        lines->whole = status.st_size;
}

saddle_status saddle_lines_flush(saddle_lines *lines, const char *what, saddle_error *error)
{
    struct stat status;
    if (lines->broken) {
        __fpurge(lines->stream);
        return SADDLE_OK;
    }
    errno = 0;
    if (fflush(lines->stream) != 0 || ferror(lines->stream)) {
        saddle_fail(error, SADDLE_IO, "cannot write %s '%s': %s; is the disk full?", what,
                    lines->path, strerror(errno != 0 ? errno : EIO));
        abandon(lines);
        return SADDLE_IO;
    }
    bool known = fstat(fileno(lines->stream), &status) == 0 && S_ISREG(status.st_mode);
    if (known && status.st_nlink == 0) {
        abandon(lines);
        return saddle_fail(error, SADDLE_IO, "%s '%s' was removed during the run", what,
                           lines->path);
    }
    if (known)
        lines->whole = status.st_size;
    return SADDLE_OK;
}

/* Syncs and closes a file; pipes and devices cannot be synced. False with errno on failure. */
static bool sync_and_close(FILE *stream)
{
    bool synced = saddle_sync_file(fileno(stream)) || errno == EINVAL || errno == EROFS;
    int reason = errno;
    bool closed = fclose(stream) == 0;
    if (!synced)
        errno = reason;
    return synced && closed;
}

saddle_status saddle_lines_close(saddle_lines *lines, const char *what, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    if (lines->stream != NULL) {
        status = saddle_lines_flush(lines, what, error);
        if (!sync_and_close(lines->stream) && status == SADDLE_OK && !lines->broken)
            status = saddle_fail(error, SADDLE_IO, "cannot write %s '%s': %s; is the disk full?",
                                 what, lines->path, strerror(errno));
    }
    saddle_free(lines->path);
    memset(lines, 0, sizeof *lines);
    return status;
}
