/* Checks of output files and directories, made before the work begins. */
#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "files/file.h"

/* Whether no file was given. */
static bool is_none(const char *path)
{
    return path == NULL || *path == '\0';
}

saddle_status cli_check_output(const char *what, const char *path, bool stream, saddle_error *error)
{
    if (is_none(path))
        return SADDLE_OK;
    char copy[4096];
    if (strlen(path) >= sizeof copy)
        return saddle_refuse(error, "%s: the path '%.80s...' is too long", what, path);
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return saddle_refuse(error, "%s: '%s' is a directory; give the path of a file", what, path);
    bool special = there && !S_ISREG(status.st_mode);
    if (special && !stream)
        return saddle_refuse(error,
                             "%s: '%s' is a device or a pipe, which cannot be replaced by a file; "
                             "give the path of a regular file",
                             what, path);
    const char *why = stream && saddle_named_stream(path) != 0 ? NULL : saddle_unwritable(path);
    if (why != NULL)
        return saddle_refuse(error, "%s: cannot write '%s': %s; give another path", what, path,
                             why);
    memcpy(copy, path, strlen(path) + 1);
    const char *probed = special ? path : dirname(copy);
    if (access(probed, special ? W_OK : W_OK | X_OK) == 0 && (!there || access(path, W_OK) == 0) &&
        path[strlen(path) - 1] != '/')
        return saddle_check_unlocked(path, what, error);
    return saddle_refuse(
        error, "%s: cannot write '%s': %s; give a path in a directory that exists and is writable",
        what, path, strerror(errno != 0 ? errno : ENOENT));
}

saddle_status cli_check_not_stdout(const char *what, const char *path, saddle_error *error)
{
    struct stat out;
    struct stat file;
    struct stat nothing;
    if (is_none(path) || fstat(STDOUT_FILENO, &out) != 0 || stat(path, &file) != 0 ||
        file.st_dev != out.st_dev || file.st_ino != out.st_ino)
        return SADDLE_OK;
    if (stat("/dev/null", &nothing) == 0 && S_ISCHR(file.st_mode) &&
        file.st_rdev == nothing.st_rdev)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "%s: '%s' is standard output, where --json prints its object; give "
                         "another file, or leave out --json",
                         what, path);
}

saddle_status cli_check_trace_output(const cli_arguments *arguments, const char *what,
                                     const char *path, saddle_error *error)
{
    SADDLE_TRY(cli_check_output(what, path, false, error));
    /* Any .csv file in a directory of traces may be a trace. */
    size_t length = strlen(path);
    bool like_trace = length > 4 && strcmp(path + length - 4, ".csv") == 0;
    for (size_t k = 0; like_trace && k < arguments->count; k++) {
        struct stat file;
        if (stat(arguments->operand[k], &file) == 0 && S_ISDIR(file.st_mode))
            return saddle_refuse(error,
                                 "%s: '%s' could be a trace; give a name that does not end in .csv",
                                 what, path);
    }
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    saddle_path_list_add(&outputs, what, path);
    for (size_t k = 0; k < arguments->count; k++)
        saddle_path_list_add(&inputs, "a trace", arguments->operand[k]);
    return saddle_path_lists_check(&outputs, &inputs, error);
}

saddle_status cli_check_directory(const char *what, const char *path, saddle_error *error)
{
    struct stat status;
    if (*path == '\0')
        return saddle_refuse(error, "%s: the name is empty; give the name of a directory", what);
    if (stat(path, &status) != 0)
        return cli_check_output(what, path, false, error);
    if (!S_ISDIR(status.st_mode))
        return saddle_refuse(error, "%s: '%s' is a file; give the name of a directory", what, path);
    if (access(path, W_OK | X_OK) != 0)
        return saddle_refuse(error, "%s: cannot write into '%s': %s; give another directory", what,
                             path, strerror(errno));
    return SADDLE_OK;
}
