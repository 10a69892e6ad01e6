/* Help texts, made from the tables of commands and options; `saddle help`. */
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "core/print.h"

/* Where the explanations of options begin. */
#define INDENT 26
/* The most words in the name of a command. */
#define LONGEST_NAME 2

void cli_option_heading(const saddle_option *option, char *out, size_t size)
{
    bool flag = option->kind == SADDLE_OPTION_FLAG;
    saddle_snprintf(out, size, "--%s%s%s", option->name, flag ? "" : " ",
                    flag ? "" : option->metavar);
}

void cli_option_text(const saddle_option *option, bool holds, char *out, size_t size)
{
    bool choice = option->kind == SADDLE_OPTION_CHOICE;
    bool plain = option->kind == SADDLE_OPTION_FLAG || *option->fallback == '\0';
    saddle_snprintf(out, size, "%s%s", option->help, choice ? " One of: " : "");
    for (const char *c = option->choices; choice && *c != '\0'; c++)
        saddle_append(out, size, "%s%c", *c == '|' ? "," : "", *c == '|' ? ' ' : *c);
    saddle_append(out, size, "%s", choice ? "." : "");
    if (holds && !plain)
        saddle_append(out, size, " Default: %s.", option->fallback);
}

/* Whether the default of an option is the command's, too. */
static bool default_holds(const cli_command *command, const saddle_option *option)
{
    return !cli_has_option(command->undecided, option);
}

static void print_option(const cli_command *command, const saddle_option *option)
{
    char heading[128];
    char text[1024];
    cli_option_heading(option, heading, sizeof heading);
    cli_option_text(option, default_holds(command, option), text, sizeof text);
    int used = saddle_fprintf(stdout, "  %s", heading);
    if (used + 2 > INDENT) {
        putchar('\n');
        used = 0;
    }
    cli_print("%*s", INDENT - used, "");
    cli_wrap(stdout, text, INDENT, INDENT, cli_width(STDOUT_FILENO));
}

static void print_group(const char *group)
{
    cli_print("\n%s:\n", group);
}

/* The next option from the k-th on that a command takes and that is in a group; NULL: any. */
static size_t next_option(const saddle_settings *settings, const cli_command *command,
                          const char *group, size_t k)
{
    for (; k < saddle_settings_count(settings); k++) {
        const saddle_option *option = saddle_settings_option(settings, k);
        if ((command == NULL || cli_takes(command, option)) &&
            (group == NULL || strcmp(option->group, group) == 0))
            break;
    }
    return k;
}

void cli_walk_options(const saddle_settings *settings, const cli_command *command,
                      void (*heading)(const char *group),
                      void (*visit)(const cli_command *command, const saddle_option *option))
{
    size_t count = saddle_settings_count(settings);
    for (size_t k = next_option(settings, command, NULL, 0); k < count;
         k = next_option(settings, command, NULL, k + 1)) {
        const char *group = saddle_settings_option(settings, k)->group;
        if (next_option(settings, command, group, 0) < k)
            continue; /* shown before */
        heading(group);
        for (size_t j = k; j < count; j = next_option(settings, command, group, j + 1))
            visit(command, saddle_settings_option(settings, j));
    }
}

static void print_exit_codes(void)
{
    fputs("\nExit status:\n", stdout);
#define PRINT_EXIT(name, code, text) cli_print("  %3d  %s\n", code, text);
    CLI_EXIT_LIST(PRINT_EXIT)
#undef PRINT_EXIT
}

int cli_print_help(const cli_command *command)
{
    saddle_error error;
    saddle_settings *settings = NULL;
    if (cli_settings(&settings, command, &error) != SADDLE_OK)
        return cli_fail(&error);
    int width = cli_width(STDOUT_FILENO);
    bool options = command->library != NULL || command->own != NULL;
    cli_print("Usage: saddle %s%s%s%s\n\n", command->name, *command->operands != '\0' ? " " : "",
              command->operands, options ? " [options]" : "");
    cli_wrap(stdout, command->summary, 0, 0, width);
    if (command->details != NULL) {
        putchar('\n');
        cli_wrap(stdout, command->details, 0, 0, width);
    }
    cli_walk_options(settings, command, print_group, print_option);
    print_exit_codes();
    saddle_settings_free(settings);
    return CLI_OK;
}

static void print_commands(FILE *stream, const char *family)
{
    size_t count;
    const cli_command *const *command = cli_commands(&count);
    size_t length = strlen(family);
    for (size_t k = 0; k < count; k++) {
        const char *name = command[k]->name;
        if (length > 0 && (strncmp(name, family, length) != 0 || name[length] != ' '))
            continue;
        saddle_fprintf(stream, "  %-14s  ", name);
        cli_wrap(stream, command[k]->summary, 18, 18, cli_width(STDOUT_FILENO));
    }
}

void cli_print_overview(FILE *stream)
{
    saddle_fprintf(stream, "saddle %s: decentralized constrained min-max learning\n\n",
                   saddle_version());
    fputs("Usage: saddle COMMAND [options]\n\nCommands:\n", stream);
    print_commands(stream, "");
    fputs("\nExamples:\n"
          "  saddle run --agents 10 --topology ring --trace trace.csv\n"
          "  saddle compare --algorithms precision,prox-dsgda --repeats 3\n"
          "\n`saddle help COMMAND` explains a command, `saddle --version` prints the version.\n",
          stream);
}

void cli_print_family(const char *family)
{
    cli_print("Usage: saddle %s COMMAND [options]\n\nCommands:\n", family);
    print_commands(stdout, family);
    cli_print("\n`saddle help %s COMMAND` explains a command.\n", family);
}

/* `saddle help [COMMAND]`. */
static int run(const cli_arguments *arguments)
{
    char *word[LONGEST_NAME];
    for (size_t k = 0; k < arguments->count; k++)
        word[k] = (char *)(uintptr_t)arguments->operand[k];
    int used = 0;
    const cli_command *command =
        arguments->count > 0 ? cli_find_command((int)arguments->count, word, &used) : NULL;
    if (arguments->count == 0) {
        cli_print_overview(stdout);
    } else if (command != NULL && (size_t)used == arguments->count) {
        return cli_print_help(command);
    } else if (arguments->count == 1 && cli_is_family(word[0])) {
        cli_print_family(word[0]);
    } else {
        return cli_unknown_command((int)arguments->count, word);
    }
    return CLI_OK;
}

const cli_command cli_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .most = LONGEST_NAME,
    .summary = "explain a command and its options",
    .words = "@COMMAND",
    .run = run,
};
