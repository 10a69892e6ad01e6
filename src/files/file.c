#include "files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/status.h"

/* ---- to be read ------------------------------------------------------------------------------ */

static saddle_status refuse(const char *path, const char *why, const char *wanted,
                            saddle_error *error)
{
    saddle_fail(error, SADDLE_BAD_INPUT, "cannot read '%.300s': %s; give %s", path, why, wanted);
    return SADDLE_BAD_INPUT;
}

/* Open whatever is there without waiting: opening a pipe that nobody writes to would wait for ever. */
static saddle_status open_at_once(FILE **out, struct stat *status, const char *path,
                                  const char *wanted, saddle_error *error)
{
    *out = NULL;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return refuse(path, strerror(errno), wanted, error);
    bool known = fstat(descriptor, status) == 0;
    if (known && S_ISDIR(status->st_mode)) {
        close(descriptor);
        return refuse(path, "it is a directory", wanted, error);
    }
    *out = known ? fdopen(descriptor, "r") : NULL;
    if (*out == NULL) {
        int reason = errno;
        close(descriptor);
        return refuse(path, strerror(reason), wanted, error);
    }
    return SADDLE_OK;
}

/* Whether there is something in a pipe, or somebody who may still write to it. */
static bool has_a_writer(FILE *pipe)
{
    int first = getc(pipe);
    bool there = first != EOF || !feof(pipe);
    clearerr(pipe);
    if (first != EOF)
        ungetc(first, pipe);
    return there;
}

saddle_status saddle_reading_open(FILE **out, const char *path, const char *wanted,
                                  saddle_error *error)
{
    struct stat status;
    saddle_status result = open_at_once(out, &status, path, wanted, error);
    if (result != SADDLE_OK)
        return result;
    /* From here on whoever reads waits for what will be written. */
    int flags = fcntl(fileno(*out), F_GETFL);
    if (!S_ISFIFO(status.st_mode) || has_a_writer(*out))
        if (flags >= 0 && fcntl(fileno(*out), F_SETFL, flags & ~O_NONBLOCK) == 0)
            return SADDLE_OK;
    fclose(*out);
    *out = NULL;
    return refuse(path, "it is a pipe that nobody writes to", wanted, error);
}

saddle_status saddle_reading_open_regular(FILE **out, const char *path, const char *wanted,
                                          size_t *bytes, saddle_error *error)
{
    struct stat status;
    saddle_status result = open_at_once(out, &status, path, wanted, error);
    if (result != SADDLE_OK)
        return result;
    *bytes = (size_t)status.st_size;
    if (S_ISREG(status.st_mode))
        return SADDLE_OK;
    fclose(*out);
    *out = NULL;
    return refuse(path, S_ISFIFO(status.st_mode) ? "it is a pipe" : "it is a device or a socket",
                  wanted, error);
}

/* ---- as a whole ------------------------------------------------------------------------------ */

static void release(saddle_output *out)
{
    saddle_free(out->name);
    saddle_free(out->path);
    saddle_free(out->temporary);
    memset(out, 0, sizeof *out);
}

saddle_status saddle_output_open(saddle_output *out, const char *path, saddle_error *error)
{
    memset(out, 0, sizeof *out);
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "cannot write '%s': it is a directory; give a file's path", path);
    if (there && !S_ISREG(status.st_mode))
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "cannot write '%s': it is a device or a pipe, which cannot be replaced as "
            "a whole; give a regular file's path",
            path);
    /* A link stays: what it points to is replaced. */
    char *target = there ? realpath(path, NULL) : NULL;
    out->name = saddle_strdup(path);
    out->path = saddle_strdup(target != NULL ? target : path);
    free(target);
    if (out->path != NULL)
        out->temporary = saddle_format("%s.%ld.tmp", out->path, (long)getpid());
    if (out->name == NULL || out->path == NULL || out->temporary == NULL) {
        release(out);
        return saddle_no_memory(error, "a file name");
    }
    int descriptor = open(out->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    out->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (out->stream == NULL) {
        int reason = errno;
        if (descriptor >= 0) {
            close(descriptor);
            unlink(out->temporary);
        }
        release(out);
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "cannot write '%s': %s; give a path in a directory that exists and can "
                           "be written to",
                           path, strerror(reason));
    }
    return SADDLE_OK;
}

/* Make a renaming last through a power cut. Some file systems cannot; the file is whole either way.
 */
static void sync_directory(char *path)
{
    if (path == NULL)
        return;
    char *slash = strrchr(path, '/');
    const char *directory = slash == NULL ? "." : slash == path ? "/" : path;
    if (slash != NULL && slash != path)
        *slash = '\0';
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    fsync(descriptor);
    close(descriptor);
}

saddle_status saddle_output_commit(saddle_output *out, saddle_error *error)
{
    FILE *stream = out->stream;
    out->stream = NULL;
    errno = 0;
    int bad = ferror(stream) != 0;
    bad |= fflush(stream) != 0;
    bad |= fsync(fileno(stream)) != 0;
    int reason = errno;
    bad |= fclose(stream) != 0;
    if (!bad && rename(out->temporary, out->path) == 0) {
        sync_directory(out->path);
        release(out);
        return SADDLE_OK;
    }
    if (!bad)
        reason = errno;
    saddle_fail(error, SADDLE_IO, "cannot write '%s': %s; is the disk full?", out->name,
                strerror(reason != 0 ? reason : EIO));
    saddle_output_discard(out);
    return SADDLE_IO;
}

void saddle_output_discard(saddle_output *out)
{
    if (out->stream != NULL)
        fclose(out->stream);
    if (out->temporary != NULL)
        unlink(out->temporary);
    release(out);
}

saddle_status saddle_output_save(const char *path, void (*write)(FILE *f, const void *context),
                                 const void *context, saddle_error *error)
{
    saddle_output out;
    SADDLE_TRY(saddle_output_open(&out, path, error));
    write(out.stream, context);
    return saddle_output_commit(&out, error);
}

/* ---- paths ----------------------------------------------------------------------------------- */

const char *saddle_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

saddle_status saddle_make_directory(const char *what, const char *path, saddle_error *error)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT, "%s: cannot make '%s': %s", what, path,
                       strerror(errno));
}

/* ---- line by line ---------------------------------------------------------------------------- */

saddle_status saddle_lines_open(saddle_lines *out, const char *path, const char *option,
                                saddle_error *error)
{
    memset(out, 0, sizeof *out);
    out->path = saddle_strdup(path);
    if (out->path == NULL) {
        saddle_no_memory(error, "a file name");
        return SADDLE_NO_MEMORY;
    }
    out->stream = fopen(path, "we");
    if (out->stream != NULL)
        return SADDLE_OK;
    saddle_free(out->path);
    out->path = NULL;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "%s: cannot write '%s': %s; give a path in a directory that exists and can "
                       "be written to",
                       option, path, strerror(errno));
}

/* Drop what could not be written, and what was written of the last line. */
static void abandon(saddle_lines *lines)
{
    struct stat status;
    lines->broken = true;
    __fpurge(lines->stream);
    /* A file whose last line stays torn is no reason to end anything. */
    if (fstat(fileno(lines->stream), &status) == 0 && S_ISREG(status.st_mode) &&
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
        return saddle_fail(error, SADDLE_IO, "%s '%s' was removed while the run went on", what,
                           lines->path);
    }
    if (known)
        lines->whole = status.st_size;
    return SADDLE_OK;
}

saddle_status saddle_lines_close(saddle_lines *lines, const char *what, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    if (lines->stream != NULL) {
        status = saddle_lines_flush(lines, what, error);
        if (fclose(lines->stream) != 0 && status == SADDLE_OK && !lines->broken)
            status = saddle_fail(error, SADDLE_IO, "cannot write %s '%s': %s; is the disk full?",
                                 what, lines->path, strerror(errno));
    }
    saddle_free(lines->path);
    memset(lines, 0, sizeof *lines);
    return status;
}
