/* Finding the file for a name: the path itself, then $SADDLE_DATA, then the data directory (XDG). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/memory.h"
#include "core/status.h"
#include "data/sources.h"
#include "files/pattern.h"

/* Returns the value of a variable if it is an absolute path; XDG says to ignore any other. */
static const char *absolute(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] == '/' ? value : NULL;
}

saddle_status saddle_data_directory(char **out, saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    const char *data = absolute("XDG_DATA_HOME");
    const char *home = absolute("HOME");
    if (data == NULL && home == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "no data directory: neither XDG_DATA_HOME nor HOME is an absolute path; "
                           "set one of them or SADDLE_DATA, or give a directory");
    *out = data != NULL ? saddle_format("%s/saddle", data)
                        : saddle_format("%s/.local/share/saddle", home);
    return *out != NULL ? SADDLE_OK : saddle_no_memory(error, "a directory name");
}

static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* Returns DIRECTORY/FILE if it exists, otherwise NULL; a known name also stands for its files. */
static char *look_in(const char *directory, const char *name)
{
    const saddle_data_source *source = saddle_source_of(name);
    const char *file = source != NULL ? source->file : name;
    size_t length = strlen(file);
    bool packed = source != NULL && length > 3 && strcmp(file + length - 3, ".gz") == 0;
    char *candidate[3] = {
        saddle_format("%s/%s", directory, name),
        saddle_format("%s/%s", directory, file),
        packed ? saddle_format("%s/%.*s", directory, (int)(length - 3), file) : NULL,
    };
    char *found = NULL;
    for (size_t k = 0; k < 3; k++) {
        if (found == NULL && candidate[k] != NULL && is_there(candidate[k]))
            found = candidate[k];
        else
            saddle_free(candidate[k]);
    }
    return found;
}

static const char *what_is_here(const char *name)
{
    struct stat status;
    if (lstat(name, &status) != 0)
        return "not a file here";
    return S_ISDIR(status.st_mode) ? "here it is a directory" : "here it is a link to no file";
}

/* Reports where the data set was looked for and how to get it. */
static saddle_status not_found(const char *name, const char *given, const char *standard,
                               saddle_error *error)
{
    char *remedy = NULL;
    const char *close = saddle_closest_source(name);
    if (saddle_source_of(name) != NULL)
        remedy = saddle_format("download it first (data fetch %s)", name);
    else
        remedy = saddle_format("%s%s%sgive a file's path or one of " SADDLE_SOURCE_NAMES
                               ", synthetic[:ROWS[:FEATURES]]",
                               close != NULL ? "did you mean '" : "", close != NULL ? close : "",
                               close != NULL ? "'? " : "");
    saddle_fail(error, SADDLE_BAD_INPUT,
                "no data set '%.200s': %s, not in %.200s, not in %.200s; %s", name,
                what_is_here(name), given != NULL ? given : "$SADDLE_DATA (not set)",
                standard != NULL ? standard : "the data directory (HOME is not set)",
                remedy != NULL ? remedy : "");
    saddle_free(remedy);
    return SADDLE_BAD_INPUT;
}

/* Reports that a path, a name with a slash, does not exist. */
static saddle_status no_file(const char *path, saddle_error *error)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "cannot read '%s': it is a directory; give the path of a file", path);
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "cannot read '%s': %s; give the path of a file, or one of the "
                       "names " SADDLE_SOURCE_NAMES ", synthetic[:ROWS[:FEATURES]]",
                       path, strerror(errno));
}

saddle_status saddle_data_find(const char *name, char **path, saddle_error *error)
{
    SADDLE_REQUIRE(error, path);
    *path = NULL;
    SADDLE_REQUIRE(error, name);
    if (*name == '\0')
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "no data set named; give a file's path or one of " SADDLE_SOURCE_NAMES
                           ", synthetic[:ROWS[:FEATURES]]");
    if (is_there(name)) {
        *path = saddle_strdup(name);
        return *path != NULL ? SADDLE_OK : saddle_no_memory(error, "a file name");
    }
    if (strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return no_file(name, error);
    const char *given = getenv("SADDLE_DATA");
    if (given != NULL && *given == '\0')
        given = NULL;
    if (given != NULL)
        *path = look_in(given, name);
    char *standard = NULL;
    /* Without HOME, there is one directory less to search. */
    if (*path == NULL && saddle_data_directory(&standard, NULL) == SADDLE_OK)
        *path = look_in(standard, name);
    saddle_status status = SADDLE_OK;
    if (*path == NULL)
        status = not_found(name, given, standard, error);
    saddle_free(standard);
    return status;
}

/* ---- several files ---- */

/* Counts the files of a pattern in a directory that is searched for data sets. */
static saddle_status count_below(const char *directory, const char *pattern, size_t *out,
                                 saddle_error *error)
{
    char *path = saddle_format("%s/%s", directory, pattern);
    SADDLE_TRY(saddle_check_memory(path, "a file name", error));
    saddle_status status = saddle_pattern_count(path, out, error);
    saddle_free(path);
    return status;
}

saddle_status saddle_data_count_files(const char *pattern, size_t *out, saddle_error *error)
{
    SADDLE_REQUIRE(error, pattern, out);
    char *standard = NULL;
    const char *given = getenv("SADDLE_DATA");
    *out = 0;
    SADDLE_TRY(saddle_pattern_check(pattern, error));
    saddle_status status = saddle_pattern_count(pattern, out, error);
    bool path = strchr(pattern, '/') != NULL;
    SADDLE_THEN_IF(status, !path && given != NULL && *given != '\0',
                   count_below(given, pattern, out, error));
    if (!path && saddle_data_directory(&standard, NULL) == SADDLE_OK)
        SADDLE_THEN(status, count_below(standard, pattern, out, error));
    saddle_free(standard);
    return status;
}
