/* Files and directories that will be written to are looked at before the work begins. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "core/status.h"
#include "files/plugin.h"

/* Whether there is no file: no name was given, or a function above found none. */
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
        return saddle_fail(error, SADDLE_BAD_INPUT, "%s: '%.80s...' is too long a path", what,
                           path);
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: '%s' is a directory; give the path of a file", what, path);
    bool special = there && !S_ISREG(status.st_mode);
    if (special && !stream)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: '%s' is a device or a pipe, which cannot be replaced as a whole; "
                           "give a regular file's path",
                           what, path);
    memcpy(copy, path, strlen(path) + 1);
    const char *probed = special ? path : dirname(copy);
    if (access(probed, special ? W_OK : W_OK | X_OK) == 0 && (!there || access(path, W_OK) == 0) &&
        path[strlen(path) - 1] != '/')
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "%s: cannot write '%s': %s; give a path in a directory that exists and "
                       "can be written to",
                       what, path, strerror(errno != 0 ? errno : ENOENT));
}

/* A file that need not exist yet, by its directory and its name in it. */
static bool locate(const char *path, struct stat *directory, char *name, size_t size)
{
    char first[4096];
    char second[4096];
    if (strlen(path) >= sizeof first)
        return false;
    memcpy(first, path, strlen(path) + 1);
    memcpy(second, path, strlen(path) + 1);
    snprintf(name, size, "%s", basename(second));
    return stat(dirname(first), directory) == 0;
}

static bool same_file(const char *a, const char *b)
{
    struct stat one;
    struct stat other;
    if (stat(a, &one) == 0 && stat(b, &other) == 0)
        return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    char name[2][256];
    return locate(a, &one, name[0], sizeof name[0]) && locate(b, &other, name[1], sizeof name[1]) &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino &&
           strcmp(name[0], name[1]) == 0;
}

saddle_status cli_check_distinct(const char *what, const char *path, const char *other_what,
                                 const char *other, saddle_error *error)
{
    if (is_none(path) || is_none(other) || !same_file(path, other))
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "%s: '%s' is the file of %s too and would be overwritten; give another path",
                       what, path, other_what);
}

saddle_status cli_check_trace_output(const cli_arguments *arguments, const char *what,
                                     const char *path, saddle_error *error)
{
    saddle_status status = cli_check_output(what, path, false, error);
    for (size_t k = 0; status == SADDLE_OK && k < arguments->count; k++)
        status = cli_check_distinct(what, path, "a trace", arguments->operand[k], error);
    return status;
}

/* What follows "file:", or nothing. */
static const char *file_of(const char *text)
{
    return strncmp(text, "file:", 5) == 0 ? text + 5 : "";
}

/* Refuse a path that is that of a plug-in. */
static saddle_status check_plugins(const char *what, const char *path, const saddle_plan *plan,
                                   saddle_error *error)
{
    const struct {
        const char *option;
        const char *text;
    } code[] = {{"--problem", plan->problem.name},
                {"--algorithm", plan->algorithm.name},
                {"--x-set", plan->problem.x_set},
                {"--y-set", plan->problem.y_set},
                {"--regularizer", plan->problem.regularizer}};
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < sizeof code / sizeof *code; k++) {
        if (code[k].text == NULL || !saddle_plugin_named(code[k].text))
            continue;
        char *object = strndup(code[k].text, strcspn(code[k].text, ":"));
        status = object != NULL ? cli_check_distinct(what, path, code[k].option, object, error)
                                : saddle_no_memory(error, "a path");
        free(object);
    }
    return status;
}

/* Refuse a path that is one of the agents' files part-0, part-1, ... that are in this machine. */
static saddle_status check_parts(const char *what, const char *path, const char *pattern,
                                 saddle_error *error)
{
    const char *number = strstr(pattern, "%d");
    struct stat status;
    for (size_t agent = 0; number != NULL; agent++) {
        char *part = NULL;
        if (asprintf(&part, "%.*s%zu%s", (int)(number - pattern), pattern, agent, number + 2) < 0)
            return saddle_no_memory(error, "a path");
        bool there = stat(part, &status) == 0;
        saddle_status found = cli_check_distinct(what, path, "--data", part, error);
        free(part);
        if (!there || found != SADDLE_OK)
            return found;
    }
    return SADDLE_OK;
}

saddle_status cli_check_inputs(const char *what, const char *path, const cli_arguments *arguments,
                               saddle_error *error)
{
    const saddle_plan *plan = &arguments->plan;
    const cli_common *common = arguments->own;
    char *data = NULL;
    char *test = NULL;
    /* A name that is no file is refused where it is used. */
    saddle_data_find(plan->problem.data, &data, NULL);
    if (plan->problem.test_data != NULL)
        saddle_data_find(plan->problem.test_data, &test, NULL);
    const struct {
        const char *option;
        const char *path;
    } input[] = {{"--data", data},
                 {"--test-data", test},
                 {"--labels", plan->problem.labels},
                 {"--config", common->config},
                 {"--topology", file_of(plan->network.topology)},
                 {"--mixing", file_of(plan->network.mixing)}};
    saddle_status status = check_plugins(what, path, plan, error);
    for (size_t k = 0; status == SADDLE_OK && k < sizeof input / sizeof *input; k++)
        status = cli_check_distinct(what, path, input[k].option, input[k].path, error);
    SADDLE_THEN(status, check_parts(what, path, plan->problem.data, error));
    free(data);
    free(test);
    return status;
}

saddle_status cli_check_directory(const char *what, const char *path, saddle_error *error)
{
    struct stat status;
    if (*path == '\0')
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: the name is empty; give the name of a directory", what);
    if (stat(path, &status) != 0)
        return cli_check_output(what, path, false, error);
    if (!S_ISDIR(status.st_mode))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: '%s' is a file; give the name of a directory", what, path);
    if (access(path, W_OK | X_OK) != 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: cannot write into '%s': %s; give another directory", what, path,
                           strerror(errno));
    return SADDLE_OK;
}
