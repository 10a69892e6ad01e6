/* The explicit list of commands, in the order they are shown, and how one is found by name. */
#include <string.h>

#include "cli.h"

static const cli_command *const commands[] = {
    &cli_run,           &cli_compare,    &cli_tune,       &cli_eval,      &cli_predict,
    &cli_checkpoint,    &cli_theory,     &cli_graph,      &cli_data_list, &cli_data_info,
    &cli_data_generate, &cli_data_fetch, &cli_algorithms, &cli_problems,  &cli_sets,
    &cli_topologies,    &cli_check_grad, &cli_completion, &cli_man,       &cli_help};

#define COMMANDS (sizeof commands / sizeof *commands)

const cli_command *const *cli_commands(size_t *count)
{
    *count = COMMANDS;
    return commands;
}

/* How many words of argv a name matches; 0: it does not. */
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
