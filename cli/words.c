/* What the value of an option or an operand may be, for completion. */
#include <string.h>

#include "cli.h"

/* Append a word to "a|b|c". */
static void append(char *out, size_t size, const char *word, size_t length)
{
    size_t used = strlen(out);
    if (used + length + 2 <= size)
        snprintf(out + used, size - used, "%s%.*s", used > 0 ? "|" : "", (int)length, word);
}

/* The part of "box:LO:HI" that is to be typed as it stands: "box:". */
static void append_synopses(char *out, size_t size, const saddle_set_info *(*list)(size_t *))
{
    size_t count;
    const saddle_set_info *info = list(&count);
    for (size_t k = 0; k < count; k++) {
        size_t length = strcspn(info[k].synopsis, ":[ ");
        append(out, size, info[k].synopsis, length + (info[k].synopsis[length] == ':'));
    }
}

static void append_algorithms(char *out, size_t size)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    for (size_t k = 0; k < count; k++)
        append(out, size, list[k]->name, strlen(list[k]->name));
}

static void append_problems(char *out, size_t size)
{
    size_t count;
    const saddle_problem_class *const *list = saddle_problem_list(&count);
    for (size_t k = 0; k < count; k++)
        append(out, size, list[k]->name, strlen(list[k]->name));
}

static void append_sources(char *out, size_t size)
{
    size_t count;
    const saddle_data_source *list = saddle_data_sources(&count);
    for (size_t k = 0; k < count; k++)
        if (k == 0 || strcmp(list[k].name, list[k - 1].name) != 0)
            append(out, size, list[k].name, strlen(list[k].name));
}

/* First words of all commands. */
static void append_commands(char *out, size_t size)
{
    size_t count;
    const cli_command *const *list = cli_commands(&count);
    for (size_t k = 0; k < count; k++) {
        size_t length = strcspn(list[k]->name, " ");
        if (k == 0 || strncmp(list[k]->name, list[k - 1]->name, length + 1) != 0)
            append(out, size, list[k]->name, length);
    }
}

void cli_words(const char *kind, char *out, size_t size)
{
    out[0] = '\0';
    if (strcmp(kind, "@ALGORITHM") == 0)
        append_algorithms(out, size);
    else if (strcmp(kind, "@PROBLEM") == 0)
        append_problems(out, size);
    else if (strcmp(kind, "@SOURCE") == 0)
        append_sources(out, size);
    else if (strcmp(kind, "@COMMAND") == 0)
        append_commands(out, size);
    else if (strcmp(kind, "@TOPOLOGY") == 0)
        append_synopses(out, size, saddle_topology_list);
    else if (strcmp(kind, "@MIXING") == 0)
        append_synopses(out, size, saddle_mixing_list);
    else if (strcmp(kind, "@SET") == 0)
        append_synopses(out, size, saddle_set_list);
    else if (strcmp(kind, "@REGULARIZER") == 0)
        append_synopses(out, size, saddle_regularizer_list);
    else
        snprintf(out, size, "%s", kind);
}

const char *cli_option_words(const saddle_option *option)
{
    const char *meta = option->metavar != NULL ? option->metavar : "";
    if (option->words != NULL)
        return option->words;
    if (option->choices != NULL)
        return option->choices;
    if (strcmp(meta, "PATH") == 0 || strcmp(meta, "FILE") == 0)
        return "@FILE";
    return strcmp(meta, "DIR") == 0 ? "@DIRECTORY" : "";
}
