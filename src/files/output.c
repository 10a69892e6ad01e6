/*
 * Files that appear completely or not at all.
 *
 * The file has no name while it is written (O_TMPFILE), so nothing is left behind however the process
 * ends. Once it is on the disk, it gets an unpredictable random name next to its target, where nobody can
 * have put a link or file, and is renamed to the target. Where a file system has no unnamed files, it has
 * the random name from the start.
 */
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/file.h"

/* Bytes of the target's name in the random one: a name has at most 255 bytes. */
#define MOST_NAME 200
/* A random 64-bit name that exists twice in a row is not a coincidence. */
#define MOST_TRIES 8
/* For "/proc/self/fd/N". */
#define DESCRIPTOR_PATH 48

static void release(saddle_output *out)
{
    saddle_free(out->name);
    saddle_free(out->path);
    saddle_free(out->temporary);
    memset(out, 0, sizeof *out);
}

/* Returns the length of a path's directory, including the slash; 0 for the working directory. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash + 1 - path) : 0;
}

/* Chooses a name next to the target. It ends in .tmp, so that what a killed process leaves can be recognized. */
static bool choose_name(saddle_output *out)
{
    uint64_t number;
    size_t directory = directory_length(out->path);
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return false;
    saddle_free(out->temporary);
    out->temporary = saddle_format("%.*s%.*s.%016" PRIx64 ".tmp", (int)directory, out->path,
                                   MOST_NAME, out->path + directory, number);
    if (out->temporary == NULL)
        errno = ENOMEM;
    return out->temporary != NULL;
}

static const char *descriptor_path(int descriptor, char text[DESCRIPTOR_PATH])
{
    saddle_snprintf(text, DESCRIPTOR_PATH, "/proc/self/fd/%d", descriptor);
    return text;
}

/* Opens an unnamed file, if it can be named later; -1 if not. */
static int open_unnamed(const saddle_output *out)
{
    char place[DESCRIPTOR_PATH];
    SADDLE_OWNED char *directory = saddle_directory_of(out->path);
    int descriptor =
        directory != NULL ? open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    if (descriptor < 0 || access(descriptor_path(descriptor, place), F_OK) == 0)
        return descriptor;
    close(descriptor);
    errno = ENOENT;
    return -1;
}

/* Opens a file with a random name; -1 with errno on failure. */
static int open_named(saddle_output *out)
{
    int descriptor = -1;
    for (int k = 0; k < MOST_TRIES && descriptor < 0 && choose_name(out); k++) {
        descriptor =
            open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    return descriptor;
}

/* Gives an unnamed file a random name. */
static bool name_file(saddle_output *out)
{
    char place[DESCRIPTOR_PATH];
    descriptor_path(fileno(out->stream), place);
    for (int k = 0; k < MOST_TRIES && choose_name(out); k++) {
        if (linkat(AT_FDCWD, place, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    int reason = errno;
    saddle_free(out->temporary);
    out->temporary = NULL;
    errno = reason;
    return false;
}

/* Gives the new file the permissions of the file that it replaces. */
static void keep_access(int descriptor, const struct stat *old)
{
    struct stat own;
    mode_t mode = old->st_mode & 0777;
    if (fstat(descriptor, &own) != 0)
        return;
    if (own.st_gid != old->st_gid && fchown(descriptor, (uid_t)-1, old->st_gid) != 0)
        mode &= ~(mode_t)070;
    /* Ignore failure: a file system without permissions has none to keep. */
    if (mode != (own.st_mode & 0777) && fchmod(descriptor, mode) != 0)
        errno = 0;
}

/* Fails unless the path is free or a regular file that may be replaced. *there: whether it exists. */
static saddle_status check_target(const char *path, struct stat *old, bool *there,
                                  saddle_error *error)
{
    const char *why = saddle_unwritable(path);
    const char *remedy = "give another path";
    *there = stat(path, old) == 0;
    if (*path == '\0') {
        why = "the path is empty";
        remedy = "give a file's path";
    } else if (*there && S_ISDIR(old->st_mode)) {
        why = "it is a directory";
        remedy = "give a file's path";
    } else if (*there && !S_ISREG(old->st_mode)) {
        why = "it is a device or a pipe, which cannot be replaced";
        remedy = "give a regular file's path";
    } else if (*there && access(path, W_OK) != 0) {
        why = strerror(errno);
    }
    if (why == NULL)
        return SADDLE_OK;
    saddle_refuse(error, "cannot write '%s': %s; %s", path, why, remedy);
    return SADDLE_BAD_INPUT;
}

/* Opens the file that will become out->path. */
static bool open_stream(saddle_output *out, const struct stat *old)
{
    int descriptor = open_unnamed(out);
    if (descriptor < 0 && errno != ENOMEM)
        descriptor = open_named(out);
    if (descriptor < 0)
        return false;
    if (old != NULL)
        keep_access(descriptor, old);
    out->stream = fdopen(descriptor, "w");
    if (out->stream != NULL)
        return true;
    int reason = errno;
    close(descriptor);
    if (out->temporary != NULL)
        unlink(out->temporary);
    errno = reason;
    return false;
}

saddle_status saddle_output_open(saddle_output *out, const char *path, saddle_error *error)
{
    struct stat old;
    bool there;
    memset(out, 0, sizeof *out);
    SADDLE_TRY(check_target(path, &old, &there, error));
    SADDLE_TRY(saddle_check_unlocked(path, "", error));
    /* Keep a link and replace its target. */
    SADDLE_MALLOCED char *target = there ? realpath(path, NULL) : NULL;
    out->name = saddle_strdup(path);
    out->path = saddle_strdup(target != NULL ? target : path);
    if (out->name == NULL || out->path == NULL) {
        release(out);
        return saddle_no_memory(error, "a file name");
    }
    if (open_stream(out, there ? &old : NULL))
        return SADDLE_OK;
    int reason = errno;
    release(out);
    if (reason == ENOMEM)
        return saddle_no_memory(error, "a file name");
    saddle_refuse(
        error,
        "cannot write '%s': %s; give a path in a directory that exists and can be written to", path,
        strerror(reason));
    return SADDLE_BAD_INPUT;
}

bool saddle_sync_file(int descriptor)
{
    int result;
    do
        result = fsync(descriptor);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

bool saddle_sync_directory_of(const char *path)
{
    char *directory = saddle_directory_of(path);
    if (directory == NULL)
        return false;
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    saddle_free(directory);
    /* A directory that is writable but not readable cannot be synced; neither can some file systems. */
    if (descriptor < 0)
        return true;
    bool good = saddle_sync_file(descriptor) || errno == EINVAL;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return good;
}

/* Sets errno to why a stream, which is not used any more, could not be written to: a stream does not keep
 * the reason, and writing again has the same one. */
static void find_reason(FILE *stream)
{
    static const char zeros[65536];
    ssize_t written;
    do {
        errno = 0;
        written = write(fileno(stream), zeros, sizeof zeros);
    } while (written > 0 && (size_t)written < sizeof zeros);
}

/* Syncs what was written, under its random name. */
static bool write_out(saddle_output *out)
{
    errno = 0;
    if (ferror(out->stream)) {
        find_reason(out->stream);
        return false;
    }
    return fflush(out->stream) == 0 && saddle_sync_file(fileno(out->stream)) &&
           (out->temporary != NULL || name_file(out));
}

/* Gives a file that was written out its name. */
static bool put_in_place(saddle_output *out)
{
    if (rename(out->temporary, out->path) != 0)
        return false;
    /* The temporary name no longer exists. */
    saddle_free(out->temporary);
    out->temporary = NULL;
    return saddle_sync_directory_of(out->path);
}

static saddle_status refuse(const saddle_output *out, saddle_error *error)
{
    return errno == ENOMEM
               ? saddle_no_memory(error, "a file name")
               : saddle_fail(error, SADDLE_IO, "cannot write '%s': %s; is the disk full?",
                             out->name, strerror(errno != 0 ? errno : EIO));
}

/* Writes out a file that is still open. */
static saddle_status finish(saddle_output *out, saddle_error *error)
{
    /* Another run may have started to write to it. */
    SADDLE_TRY(saddle_check_unlocked(out->path, "", error));
    return out->stream == NULL || write_out(out) ? SADDLE_OK : refuse(out, error);
}

saddle_status saddle_output_finish(saddle_output *out, saddle_error *error)
{
    saddle_status status = finish(out, error);
    fclose(out->stream);
    out->stream = NULL;
    return status;
}

saddle_status saddle_outputs_commit(saddle_output *out, size_t count, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < count; k++)
        status = finish(&out[k], error);
    for (size_t k = 0; status == SADDLE_OK && k < count; k++)
        if (!put_in_place(&out[k]))
            status = refuse(&out[k], error);
    for (size_t k = 0; k < count; k++)
        saddle_output_discard(&out[k]);
    return status;
}

saddle_status saddle_output_commit(saddle_output *out, saddle_error *error)
{
    return saddle_outputs_commit(out, 1, error);
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
