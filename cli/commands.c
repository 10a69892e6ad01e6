/* All commands, in the order in which they are shown, and the search for one by its name. */
#include <string.h>

#include "cli.h"
#include "core/print.h"

/* The paper's experiments, which are part of the Python package. */
const cli_command cli_reproduce = {
    .name = "reproduce",
    .operands = "",
    .summary = "says where it is now: python3 -m saddle.reproduce",
    .details = "The experiments of the PRECISION paper and the decision of its claims are part of "
               "the Python package: `python3 -m saddle.reproduce --help` lists the options, and "
               "docs/reproduction.md has the results. In a checkout, `./scripts/reproduce` builds "
               "the package and runs it.",
    .moved = "reproduce is part of the Python package: python3 -m saddle.reproduce, with the same "
             "options; in a checkout ./scripts/reproduce",
};

static const cli_command *const commands[] = {
    &cli_demo,         &cli_run,        &cli_compare,       &cli_tune,       &cli_eval,
    &cli_predict,      &cli_checkpoint, &cli_plot,          &cli_watch,      &cli_report,
    &cli_reproduce,    &cli_theory,     &cli_graph,         &cli_data_list,  &cli_data_info,
    &cli_data_convert, &cli_data_split, &cli_data_generate, &cli_data_fetch, &cli_algorithms,
    &cli_problems,     &cli_sets,       &cli_topologies,    &cli_check_grad, &cli_completion,
    &cli_man,          &cli_help};

#define COMMANDS (sizeof commands / sizeof *commands)
/* The most command names that an unknown one is compared with, for "did you mean". */
#define MOST_NAMES 64

const cli_command *const *cli_commands(size_t *count)
{
    *count = COMMANDS;
    return commands;
}

/* The number of words of argv that a command's name matches, or 0. */
static int matches(const char *name, int argc, char *const *argv)
{
    size_t first = strcspn(name, " ");
    if (argc < 1 || strlen(argv[0]) != first || strncmp(argv[0], name, first) != 0)
        return 0;
    if (name[first] == '\0')
        return 1;
    return argc >= 2 && strcmp(argv[1], name + first + 1) == 0 ? 2 : 0;
}

const cli_command *cli_find_command(int argc, char *const *argv, int *used)
{
    for (size_t k = 0; k < COMMANDS; k++) {
        *used = matches(commands[k]->name, argc, argv);
        if (*used > 0)
            return commands[k];
    }
    return NULL;
}

bool cli_is_family(const char *family)
{
    size_t length = strlen(family);
    for (size_t k = 0; k < COMMANDS; k++)
        if (strncmp(commands[k]->name, family, length) == 0 && commands[k]->name[length] == ' ')
            return true;
    return false;
}

int cli_unknown_command(int argc, char *const *argv)
{
    bool family = cli_is_family(argv[0]);
    const char *word = family && argc > 1 ? argv[1] : argv[0];
    const char *name[MOST_NAMES];
    size_t count;
    size_t names = 0;
    const cli_command *const *command = cli_commands(&count);
    size_t skip = family ? strlen(argv[0]) + 1 : 0;
    for (size_t k = 0; k < count && names < MOST_NAMES; k++)
        if (!family || strncmp(command[k]->name, argv[0], skip - 1) == 0)
            name[names++] = command[k]->name + skip;
    const char *near = saddle_closest(word, name, names);
    saddle_error error;
    char hint[160] = "";
    if (near != NULL)
        saddle_snprintf(hint, sizeof hint, " did you mean '%s%s%s'?", family ? argv[0] : "",
                        family ? " " : "", near);
    saddle_fail(&error, SADDLE_BAD_INPUT,
                "there is no command '%s%s%.80s';%s `saddle help%s%s` lists the commands",
                family ? argv[0] : "", family ? " " : "", word, hint, family ? " " : "",
                family ? argv[0] : "");
    return cli_fail(&error);
}
