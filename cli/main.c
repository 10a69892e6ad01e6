/* saddle: decentralized constrained min-max learning from the command line. */
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* The most words that an unknown command is compared with. */
#define MOST_NAMES 64

int cli_exit_code(saddle_status status)
{
    switch (status) {
    case SADDLE_OK:
        return CLI_OK;
    case SADDLE_BAD_INPUT:
    case SADDLE_UNSUPPORTED:
        return CLI_BAD_INPUT;
    case SADDLE_CHECK_FAILED:
        return CLI_CHECK_FAILED;
    case SADDLE_NO_MEMORY:
    case SADDLE_IO:
    case SADDLE_NUMERIC:
        break;
    }
    return CLI_FAILED;
}

int cli_fail(const saddle_error *error)
{
    cli_say("%s", error->message);
    return cli_exit_code(error->status);
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
        snprintf(hint, sizeof hint, " did you mean '%s%s%s'?", family ? argv[0] : "",
                 family ? " " : "", near);
    saddle_fail(&error, SADDLE_BAD_INPUT,
                "there is no command '%s%s%.80s';%s `saddle help%s%s` lists the commands",
                family ? argv[0] : "", family ? " " : "", word, hint, family ? " " : "",
                family ? argv[0] : "");
    return cli_fail(&error);
}

/* Run the command that argv names. */
static int dispatch(int argc, char *const *argv)
{
    const char *first = argc > 0 ? argv[0] : "--help";
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        cli_print_overview(stdout);
        return CLI_OK;
    }
    if (strcmp(first, "--version") == 0) {
        printf("saddle %s\n", saddle_version());
        return CLI_OK;
    }
    int used;
    const cli_command *command = cli_find_command(argc, argv, &used);
    bool asks = argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    if (command == NULL && cli_is_family(first) && asks) {
        cli_print_family(first);
        return CLI_OK;
    }
    cli_meet_early(argc, argv);
    if (command == NULL)
        return cli_unknown_command(argc, argv);
    saddle_error error;
    cli_arguments arguments;
    saddle_status status =
        cli_read_arguments(&arguments, command, argc - used, argv + used, &error);
    if (status == SADDLE_OK)
        cli_meet(arguments.settings);
    status = cli_agree(status, &error);
    int code;
    if (status != SADDLE_OK)
        code = cli_fail(&error);
    else if (arguments.help)
        code = cli_print_help(command);
    else
        code = command->run(&arguments);
    cli_release_arguments(&arguments);
    return code;
}

int main(int argc, char **argv)
{
    cli_console_open();
    int code = dispatch(argc - 1, argv + 1);
    cli_progress_clear();
    code = cli_console_close(code);
    cli_part(code != CLI_OK);
    return code;
}
