/* Directories of checkpoints: which files in them are checkpoints, and which is the newest. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"

#define PREFIX "checkpoint-"
#define SUFFIX ".saddle"
/* Enough for any number of iterations, so that names sort as numbers do. */
#define DIGITS 16

char *saddle_checkpoint_path(const char *directory, uint64_t iteration)
{
    return saddle_format("%s/%s%0*" PRIu64 "%s", directory, PREFIX, DIGITS, iteration, SUFFIX);
}

/* The iteration in a checkpoint's name; *rest receives what follows it. */
static bool read_name(const char *name, uint64_t *iteration, const char **rest)
{
    char digits[DIGITS + 1];
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return false;
    name += strlen(PREFIX);
    if (strspn(name, "0123456789") != DIGITS)
        return false;
    memcpy(digits, name, DIGITS);
    digits[DIGITS] = '\0';
    name += DIGITS;
    *rest = name + strlen(SUFFIX);
    return strncmp(name, SUFFIX, strlen(SUFFIX)) == 0 && saddle_parse_integer(digits, iteration);
}

/* The largest iteration of a directory's checkpoints that is below a bound. */
static bool next_below(DIR *directory, uint64_t bound, uint64_t *out)
{
    bool found = false;
    rewinddir(directory);
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        uint64_t iteration;
        const char *rest;
        if (!read_name(entry->d_name, &iteration, &rest) || *rest != '\0' || iteration >= bound)
            continue;
        if (!found || iteration > *out)
            *out = iteration;
        found = true;
    }
    return found;
}

saddle_status saddle_checkpoint_find(char **path, const char *directory, size_t age,
                                     saddle_error *error)
{
    *path = NULL;
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT, "cannot look into '%s': %s", directory,
                           strerror(errno));
    uint64_t iteration = UINT64_MAX;
    bool found = true;
    for (size_t k = 0; found && k <= age; k++)
        found = next_below(stream, iteration, &iteration);
    closedir(stream);
    if (!found)
        return SADDLE_OK;
    *path = saddle_checkpoint_path(directory, iteration);
    if (*path != NULL)
        return SADDLE_OK;
    saddle_no_memory(error, "a checkpoint's path");
    return SADDLE_NO_MEMORY;
}

saddle_status saddle_checkpoint_newest(char **path, const char *directory, saddle_error *error)
{
    saddle_error reason = {.message = ""};
    *path = NULL;
    for (size_t age = 0;; age++) {
        saddle_checkpoint *checkpoint;
        saddle_status status = saddle_checkpoint_find(path, directory, age, error);
        if (status != SADDLE_OK)
            return status;
        if (*path == NULL)
            return saddle_fail(error, SADDLE_BAD_INPUT, "there is no %scheckpoint in '%s'%s%s",
                               age > 0 ? "whole " : "", directory, age > 0 ? ": " : "",
                               reason.message);
        saddle_error found = {.message = ""};
        status = saddle_checkpoint_open(&checkpoint, *path, &found);
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

char *saddle_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return saddle_strdup(".");
    return slash == path ? saddle_strdup("/") : saddle_format("%.*s", (int)(slash - path), path);
}

/* Whether a path names the entry of a directory. */
static bool ends_in(const char *path, const char *name)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL && strcmp(slash + 1, name) == 0;
}

void saddle_checkpoint_prune(const char *directory, const char *newest, const char *older)
{
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return;
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        uint64_t iteration;
        const char *rest;
        if (!read_name(entry->d_name, &iteration, &rest))
            continue;
        /* What follows the name of an unfinished one: see core/file.c. */
        size_t length = strlen(rest);
        bool unfinished = length > 4 && strcmp(rest + length - 4, ".tmp") == 0;
        bool whole =
            length == 0 && !ends_in(newest, entry->d_name) && !ends_in(older, entry->d_name);
        if (unfinished || whole)
            unlinkat(dirfd(stream), entry->d_name, 0);
    }
    closedir(stream);
}
