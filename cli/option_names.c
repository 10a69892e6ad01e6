/* The library's messages name options without dashes, "x-set: ...", and a command without the
 * program, "(data fetch a9a)"; the program adds both. Its own messages have them already. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "core/print.h"

/* The plan whose options messages may name. */
static const saddle_plan *current;

void cli_set_options(const saddle_plan *plan)
{
    current = plan;
}

/* The length of the option name at the beginning of a text, or 0. */
static size_t name_length(const saddle_plan *options, const char *text)
{
    char name[64];
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if (length == 0 || length >= sizeof name)
        return 0;
    memcpy(name, text, length);
    name[length] = '\0';
    return saddle_plan_find(options, name) != NULL ? length : 0;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether a name ends here, and does not go on as the name of a file or as another word. */
static bool is_alone(const char *end)
{
    return *end == '\0' || strchr("/.=%'", *end) == NULL;
}

/* Whether the word at `at`, inside a message, names an option: it has a hyphen, or before and after
 * it words that messages put around an option. */
static bool is_named(const saddle_plan *options, const char *message, const char *at)
{
    static const char *const around[][2] = {{" set ", " to "},
                                            {"the file of ", " and would"},
                                            {" as ", ", the "},
                                            {" as ", ", or as "},
                                            {" as ", " the path"},
                                            {" leave ", " out"},
                                            {" leave ", " or "},
                                            {" or ", " out"},
                                            {" raise ", ", or "},
                                            {" with ", " set to "},
                                            {" used with ", " "},
                                            {" stop by ", " or "},
                                            {" then: ", " "},
                                            {" another run: ", " is "},
                                            {" cannot change ", ": it is "},
                                            {" another comparison: ", " is "},
                                            {" another search: ", " is "},
                                            {" and so ", " theory"}};
    size_t length = name_length(options, at);
    const char *list = strstr(message, " then: ");
    if (length > 0 && list != NULL && at > list && begins(at - 2, ", ") && at[length] == ' ')
        return true;
    /* A name with a hyphen cannot be another word, but lists of names have no dashes. */
    if (length > 0 && memchr(at, '-', length) != NULL && is_alone(at + length))
        return strstr(message, " one of ") == NULL || strstr(message, " one of ") > at;
    for (size_t k = 0; length > 0 && k < sizeof around / sizeof *around; k++) {
        size_t before = strlen(around[k][0]);
        if ((size_t)(at - message) >= before && begins(at - before, around[k][0]) &&
            begins(at + length, around[k][1]))
            return true;
    }
    return false;
}

/* Copies a message with two dashes before every option in it, and `saddle` before a command. */
static void add_dashes(const char *message, char *out, size_t size)
{
    size_t length = name_length(current, message);
    bool first =
        length > 0 && (begins(message + length, ": ") ||
                       (memchr(message, '-', length) != NULL && is_alone(message + length)));
    size_t used = (size_t)saddle_snprintf(out, size, "%s", first ? "--" : "");
    for (const char *at = message; *at != '\0' && used + 12 < size; at++) {
        bool word = at > message && strchr(" (", at[-1]) != NULL;
        if (word && is_named(current, message, at))
            used += (size_t)saddle_snprintf(out + used, size - used, "--");
        out[used++] = *at;
        if (begins(at, "(data fetch "))
            used += (size_t)saddle_snprintf(out + used, size - used, "saddle ");
    }
    out[used] = '\0';
}

int cli_fail(const saddle_error *error)
{
    /* In a job of several processes an error begins with "rank 1: ". */
    int rank = 0;
    char shown[sizeof error->message + 64];
    sscanf(error->message, "rank %*u: %n", &rank);
    add_dashes(error->message + rank, shown, sizeof shown);
    cli_say("%.*s%s", rank, error->message, shown);
    return cli_exit_code(error->status);
}

void cli_warn_of(const char *message)
{
    char shown[2 * sizeof((saddle_error *)0)->message];
    add_dashes(message, shown, sizeof shown);
    cli_warn("%s", shown);
}
