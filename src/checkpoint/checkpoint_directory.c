/* Directories of checkpoints: which files are checkpoints, and which is the newest. */
#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"

#define PREFIX "checkpoint-"
#define SUFFIX ".saddle"
/* Enough digits for any iteration, so that names sort like numbers. */
#define DIGITS 16

char *saddle_checkpoint_path(const char *directory, uint64_t iteration)
{
    return saddle_format("%s/%s%0*" PRIu64 "%s", directory, PREFIX, DIGITS, iteration, SUFFIX);
}

/* Returns what follows a checkpoint's name in a file name; NULL when the file is unrelated to checkpoints. */
static const char *after_name(const char *file)
{
    int end = 0;
    sscanf(file, PREFIX "%*[0-9]" SUFFIX "%n", &end);
    return end == sizeof PREFIX SUFFIX - 1 + DIGITS ? file + end : NULL;
}

bool saddle_is_checkpoint_name(const char *file)
{
    const char *rest = after_name(file);
    return rest != NULL && *rest == '\0';
}

static int is_checkpoint(const struct dirent *entry)
{
    return saddle_is_checkpoint_name(entry->d_name);
}

saddle_status saddle_checkpoint_find(char **path, const char *directory, size_t age,
                                     saddle_error *error)
{
    SADDLE_REQUIRE(error, path);
    *path = NULL;
    SADDLE_REQUIRE(error, directory);
    struct dirent **entry;
    int count = scandir(directory, &entry, is_checkpoint, alphasort);
    if (count < 0)
        return saddle_refuse(error,
                             "cannot read the directory '%s': %s; give a directory of checkpoints",
                             directory, strerror(errno));
    bool found = age < (size_t)count;
    if (found)
        *path = saddle_format("%s/%s", directory, entry[(size_t)count - 1 - age]->d_name);
    for (int k = 0; k < count; k++)
        free(entry[k]);
    free(entry);
    return found ? saddle_check_memory(*path, "a checkpoint's path", error) : SADDLE_OK;
}

saddle_status saddle_checkpoint_newest(char **path, const char *directory, saddle_error *error)
{
    SADDLE_REQUIRE(error, path);
    *path = NULL;
    SADDLE_REQUIRE(error, directory);
    saddle_error reason = {.message = ""};
    for (size_t age = 0;; age++) {
        saddle_checkpoint *checkpoint;
        SADDLE_TRY(saddle_checkpoint_find(path, directory, age, error));
        if (*path == NULL)
            return saddle_refuse(error, "there is no %scheckpoint in '%s'%s%s",
                                 age > 0 ? "valid " : "", directory, age > 0 ? ": " : "",
                                 reason.message);
        saddle_error found = {.message = ""};
        saddle_status status = saddle_checkpoint_open(&checkpoint, *path, &found);
        saddle_checkpoint_close(checkpoint);
        if (status == SADDLE_OK)
            return SADDLE_OK;
        saddle_free(*path);
        *path = NULL;
        if (age == 0)
            reason = found;
        if (status == SADDLE_NO_MEMORY)
            return saddle_fail(error, status, "%s", found.message);
    }
}

bool saddle_same_directory(const char *a, const char *b)
{
    struct stat one;
    struct stat other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Returns whether a path's last component is `name`. */
static bool ends_in(const char *path, const char *name)
{
    return path != NULL && strcmp(saddle_file_name(path), name) == 0;
}

void saddle_checkpoint_prune(const char *directory, const char *newest, const char *older)
{
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return;
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        const char *rest = after_name(entry->d_name);
        if (rest == NULL)
            continue;
        /* The suffix of an unfinished checkpoint: see files/output.c. */
        bool unfinished = fnmatch(".*.tmp", rest, 0) == 0;
        bool old =
            *rest == '\0' && !ends_in(newest, entry->d_name) && !ends_in(older, entry->d_name);
        if (unfinished || old)
            unlinkat(dirfd(stream), entry->d_name, 0);
    }
    closedir(stream);
}
