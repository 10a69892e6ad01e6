/* The program: finds the command that the arguments name, and runs it. */
#include <string.h>

#include "cli.h"

#include "core/status.h"

/* Runs the command that argv names. */
static int dispatch(int argc, char *const *argv)
{
    if (argc == 0) {
        cli_print_greeting();
        return CLI_OK;
    }
    const char *first = argv[0];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        cli_print_overview();
        return CLI_OK;
    }
    if (strcmp(first, "--version") == 0) {
        cli_print("saddle %s\n", saddle_version());
        return CLI_OK;
    }
    if (strcmp(first, "__complete") == 0)
        return cli_complete(argc - 1, argv + 1);
    int used;
    const cli_command *command = cli_find_command(argc, argv, &used);
    bool wants_help = argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    if (command == NULL && cli_is_family(first) && wants_help) {
        cli_print_family(first);
        return CLI_OK;
    }
    saddle_error error;
    saddle_status status = cli_join_early(argc, argv, &error);
    if (status != SADDLE_OK)
        return cli_fail(&error);
    if (command == NULL)
        return cli_unknown_command(argc, argv);
    bool explained = argc > 1 && (wants_help || strcmp(argv[1], "--help-all") == 0);
    if (command->moved != NULL && !explained) {
        cli_say("%s", command->moved);
        return CLI_BAD_INPUT;
    }
    cli_arguments arguments;
    status = cli_read_arguments(&arguments, command, argc - used, argv + used, &error);
    SADDLE_THEN(status, cli_join(&arguments, &error));
    status = cli_agree(status, &error);
    int code;
    if (status != SADDLE_OK)
        code = cli_fail(&error);
    else if (arguments.help)
        code = cli_print_help(&arguments);
    else
        code = command->run(&arguments);
    cli_release_arguments(&arguments);
    return code;
}

int saddle_main(int argc, char **argv)
{
    cli_console_open();
    int code = dispatch(argc - 1, argv + 1);
    cli_progress_clear();
    code = cli_console_close(code);
    cli_leave(code != CLI_OK);
    return code;
}
