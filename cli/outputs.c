/* Files and directories that will be written to are looked at before the work begins. */
#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

saddle_status cli_check_output(const char *what, const char *path, saddle_error *error)
{
    if (*path == '\0')
        return SADDLE_OK;
    char copy[4096];
    if (strlen(path) >= sizeof copy)
        return saddle_fail(error, SADDLE_BAD_INPUT, "%s: '%.80s...' is too long a path", what,
                           path);
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: '%s' is a directory; give the path of a file", what, path);
    memcpy(copy, path, strlen(path) + 1);
    bool special = there && !S_ISREG(status.st_mode);
    const char *probed = special ? path : dirname(copy);
    if (access(probed, special ? W_OK : W_OK | X_OK) == 0 && (!there || access(path, W_OK) == 0) &&
        path[strlen(path) - 1] != '/')
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "%s: cannot write '%s': %s; give a path in a directory that exists and "
                       "can be written to",
                       what, path, strerror(errno != 0 ? errno : ENOENT));
}

saddle_status cli_check_directory(const char *what, const char *path, saddle_error *error)
{
    struct stat status;
    if (*path == '\0')
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: the name is empty; give the name of a directory", what);
    if (stat(path, &status) != 0)
        return cli_check_output(what, path, error);
    if (!S_ISDIR(status.st_mode))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: '%s' is a file; give the name of a directory", what, path);
    if (access(path, W_OK | X_OK) != 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: cannot write into '%s': %s; give another directory", what, path,
                           strerror(errno));
    return SADDLE_OK;
}

saddle_status cli_make_directory(const char *what, const char *path, saddle_error *error)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT, "%s: cannot make '%s': %s", what, path,
                       strerror(errno));
}
