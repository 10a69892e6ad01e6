#include "files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading --------------------------------------------------------------------------------- */

static saddle_status refuse(const char *path, const char *why, const char *wanted,
                            saddle_error *error)
{
    return saddle_refuse(error, "cannot read '%.300s': %s; give %s", path, why, wanted);
}

/* Opens without blocking, because opening a pipe without a writer blocks. */
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

/* Returns whether a pipe has data or a process that may still write to it. */
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
    SADDLE_TRY(open_at_once(out, &status, path, wanted, error));
    /* From here on, reads wait for data. */
    int flags = fcntl(fileno(*out), F_GETFL);
    if (!S_ISFIFO(status.st_mode) || has_a_writer(*out))
        if (flags >= 0 && fcntl(fileno(*out), F_SETFL, flags & ~O_NONBLOCK) == 0)
            return SADDLE_OK;
    fclose(*out);
    *out = NULL;
    return refuse(path, "it is a pipe that no process writes to", wanted, error);
}

saddle_status saddle_reading_open_regular(FILE **out, const char *path, const char *wanted,
                                          size_t *bytes, saddle_error *error)
{
    struct stat status;
    SADDLE_TRY(open_at_once(out, &status, path, wanted, error));
    *bytes = (size_t)status.st_size;
    if (S_ISREG(status.st_mode))
        return SADDLE_OK;
    fclose(*out);
    *out = NULL;
    return refuse(path, S_ISFIFO(status.st_mode) ? "it is a pipe" : "it is a device or a socket",
                  wanted, error);
}

/* ---- paths ----------------------------------------------------------------------------------- */

const char *saddle_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

bool saddle_has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path);
    size_t tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

char *saddle_directory_of(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *directory = length > 0 ? saddle_format("%.*s", (int)length, path) : saddle_strdup(".");
    if (directory == NULL)
        errno = ENOMEM;
    return directory;
}

/* Returns which standard stream, 1 or 2, this process has redirected to a regular file; 0: none. */
static int stream_of(const struct stat *file)
{
    struct stat own;
    for (int k = 1; S_ISREG(file->st_mode) && k <= 2; k++)
        if (fstat(k, &own) == 0 && own.st_dev == file->st_dev && own.st_ino == file->st_ino)
            return k;
    return 0;
}

/* Returns the descriptor that /dev/fd/N or /proc/self/fd/N names; 0 for other paths. */
static int descriptor_of(const char *path)
{
    static const char *const directory[] = {"/dev/fd/", "/proc/self/fd/"};
    uint64_t number;
    for (size_t k = 0; k < 2; k++) {
        size_t length = strlen(directory[k]);
        if (strncmp(path, directory[k], length) == 0 &&
            saddle_parse_integer(path + length, &number) && number <= INT_MAX)
            return (int)number;
    }
    return 0;
}

int saddle_named_stream(const char *path)
{
    struct stat status;
    bool device = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    if (!device || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    int stream = stream_of(&status);
    return stream != 0 ? stream : descriptor_of(path);
}

const char *saddle_unwritable(const char *path)
{
    static const char *const why[] = {NULL, "it is standard output, which is redirected to a file",
                                      "it is standard error, which is redirected to a file"};
    struct stat status;
    if (saddle_named_stream(path) > 2)
        return "it is a file that this process was given open";
    if (stat(path, &status) == 0)
        return why[stream_of(&status)];
    int reason = errno;
    if (lstat(path, &status) != 0)
        return NULL;
    return reason == ENOENT ? "it is a link to a file that does not exist" : strerror(reason);
}

saddle_status saddle_make_directory(const char *what, const char *path, saddle_error *error)
{
    /* Sync the parent directory, so that the new name survives a power failure. */
    if (mkdir(path, 0777) == 0 ? saddle_sync_directory_of(path) : errno == EEXIST)
        return SADDLE_OK;
    if (errno == ENOMEM)
        return saddle_no_memory(error, "a directory name");
    return saddle_refuse(error, "%s: cannot create the directory '%s': %s", what, path,
                         strerror(errno));
}
