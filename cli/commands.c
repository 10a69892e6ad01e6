/* All commands in the order in which they are shown, the search for one by its name, and the program itself. */
#include "cli.h"

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

const cli_command cli_watch = {
    .name = "watch",
    .operands = "",
    .summary = "says what takes its place: watch saddle plot TRACE",
    .details =
        "A trace grows while its run goes on. `watch saddle plot TRACE` draws it anew every two "
        "seconds, and `tail -f TRACE` prints its rows; neither affects the run.",
    .moved = "watch is no longer a command of saddle: `watch saddle plot TRACE` draws a trace anew "
             "every two seconds, `tail -f TRACE` prints its rows",
};

const cli_command *const cli_commands[] = {&cli_demo,       &cli_run,
                                           &cli_compare,    &cli_tune,
                                           &cli_eval,       &cli_predict,
                                           &cli_checkpoint, &cli_plot,
                                           &cli_watch,      &cli_report,
                                           &cli_reproduce,  &cli_theory,
                                           &cli_graph,      &cli_data_list,
                                           &cli_data_info,  &cli_data_convert,
                                           &cli_data_split, &cli_data_generate,
                                           &cli_data_fetch, &cli_algorithms,
                                           &cli_problems,   &cli_sets,
                                           &cli_topologies, &cli_check_grad,
                                           &cli_peer_demo,  &cli_peer_keygen,
                                           &cli_peer_init,  &cli_peer_check,
                                           &cli_peer_run,   &cli_peer_status,
                                           &cli_completion, &cli_man,
                                           &cli_help,       NULL};

#define COMMANDS (sizeof cli_commands / sizeof *cli_commands - 1)

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
        *used = matches(cli_commands[k]->name, argc, argv);
        if (*used > 0)
            return cli_commands[k];
    }
    return NULL;
}

const char *cli_member_of(const cli_command *command, const char *family)
{
    size_t length = strlen(family);
    bool member = strncmp(command->name, family, length) == 0 && command->name[length] == ' ';
    return member ? command->name + length + 1 : NULL;
}

bool cli_is_family(const char *family)
{
    for (size_t k = 0; k < COMMANDS; k++)
        if (cli_member_of(cli_commands[k], family) != NULL)
            return true;
    return false;
}

int cli_unknown_command(int argc, char *const *argv)
{
    bool family = cli_is_family(argv[0]);
    const char *word = family && argc > 1 ? argv[1] : argv[0];
    const char *name[COMMANDS];
    size_t names = 0;
    for (size_t k = 0; k < COMMANDS; k++) {
        name[names] = family ? cli_member_of(cli_commands[k], argv[0]) : cli_commands[k]->name;
        names += name[names] != NULL;
    }
    const char *near = saddle_closest(word, name, names);
    char hint[160] = "";
    if (near != NULL)
        saddle_snprintf(hint, sizeof hint, " did you mean '%s%s%s'?", family ? argv[0] : "",
                        family ? " " : "", near);
    return cli_refuse("there is no command '%s%s%.80s';%s `saddle help%s%s` lists the commands",
                      family ? argv[0] : "", family ? " " : "", word, hint, family ? " " : "",
                      family ? argv[0] : "");
}

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
    CLI_TRY(cli_join_early(argc, argv, &error));
    if (command == NULL)
        return cli_unknown_command(argc, argv);
    bool explained = argc > 1 && (wants_help || strcmp(argv[1], "--help-all") == 0);
    if (command->moved != NULL && !explained) {
        cli_say("%s", command->moved);
        return CLI_BAD_INPUT;
    }
    SADDLE_OWNED_BY(cli_release_arguments) cli_arguments arguments = {.command = command};
    saddle_status status =
        cli_read_arguments(&arguments, command, argc - used, argv + used, &error);
    SADDLE_THEN(status, cli_join(&arguments, &error));
    CLI_TRY(cli_agree(status, &error));
    return arguments.help ? cli_print_help(&arguments) : command->run(&arguments);
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
