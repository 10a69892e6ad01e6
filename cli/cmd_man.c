/* `saddle man`: prints the manual page in roff, made from the tables of commands and options and from texts/. */
#include "cli.h"

/* Prints text with the characters that are special in roff escaped; a line must not begin with a
 * dot or quote. */
static void print_roff(const char *text)
{
    static const char special[] = "\\-'`~^";
    static const char *const escape[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ti", "\\(ha"};
    bool fresh = true;
    for (; *text != '\0'; text++) {
        if (fresh && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        fresh = *text == '\n';
        const char *place = strchr(special, *text);
        if (place != NULL)
            fputs(escape[place - special], stdout);
        else
            putchar(*text);
    }
}

static void print_tagged(const char *tag, const char *text)
{
    fputs(".TP\n.B ", stdout);
    print_roff(tag);
    putchar('\n');
    print_roff(text);
    putchar('\n');
}

static void print_option(const cli_command *command, const saddle_option *option)
{
    (void)command;
    char text[CLI_OPTION_TEXT];
    cli_option_text(option, NULL, true, text, sizeof text);
    fputs(".TP\n.BI \\-\\-", stdout);
    print_roff(option->name);
    if (option->kind != SADDLE_OPTION_FLAG) {
        fputs(" \" \" \"", stdout);
        print_roff(option->metavar);
        putchar('"');
    }
    putchar('\n');
    for (char *line = text, *end; line != NULL; line = end) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        print_roff(line);
        fputs(end != NULL ? "\n.br\n" : "\n", stdout);
    }
}

static void print_group(const char *group)
{
    fputs(".SS ", stdout);
    print_roff(group);
    putchar('\n');
}

/* Counts the options under a heading that a command takes (or, with `taken` false, does not).
 * Unless `before` is NULL, prints their names, with `before` before the first. */
static size_t name_options(const saddle_plan *settings, const cli_command *command,
                           const char *heading, bool taken, const char *before)
{
    size_t count = 0;
    for (size_t k = 0; k < saddle_plan_option_count(settings); k++) {
        const saddle_option *option = saddle_plan_option(settings, k);
        if (option->home != SADDLE_HOME_PLAN || strcmp(option->group, heading) != 0 ||
            cli_takes(command, option) != taken)
            continue;
        if (before != NULL) {
            saddle_fprintf(stdout, "%s\\-\\-", count == 0 ? before : ", ");
            print_roff(option->name);
        }
        count++;
    }
    return count;
}

/* The first option of the plan under a heading, or NULL. */
static const saddle_option *first_under(const saddle_plan *settings, const char *heading)
{
    for (size_t k = 0; k < saddle_plan_option_count(settings); k++) {
        const saddle_option *option = saddle_plan_option(settings, k);
        if (option->home == SADDLE_HOME_PLAN && strcmp(option->group, heading) == 0)
            return option;
    }
    return NULL;
}

/* Prints which library options a command takes; if it takes most of those under a heading, by
 * the heading. */
static void print_taken(const saddle_plan *settings, const cli_command *command)
{
    const char *before = ".PP\nTakes these options, which section OPTIONS explains: ";
    for (size_t k = 0; command->library != NULL && k < saddle_plan_option_count(settings); k++) {
        const saddle_option *option = saddle_plan_option(settings, k);
        const char *heading = option->group;
        if (option != first_under(settings, heading))
            continue;
        size_t taken = name_options(settings, command, heading, true, NULL);
        if (taken > name_options(settings, command, heading, false, NULL)) {
            saddle_fprintf(stdout, "%s%s (all", before, heading);
            name_options(settings, command, heading, false, " but ");
            putchar(')');
        } else {
            name_options(settings, command, heading, true, before);
        }
        before = taken > 0 ? ", " : before;
    }
    if (cli_has_field(command->library, offsetof(saddle_plan, problem.own)))
        saddle_fprintf(stdout, "%sthe options of each problem", before);
    if (cli_has_field(command->library, offsetof(saddle_plan, algorithm.own)))
        saddle_fprintf(stdout, "%sthe options of each algorithm", before);
    if (command->library != NULL)
        fputs(".\n", stdout);
}

static void print_command(const saddle_plan *settings, const cli_command *command)
{
    fputs(".SS saddle ", stdout);
    print_roff(command->name);
    saddle_fprintf(stdout, "%s", *command->operands != '\0' ? " " : "");
    print_roff(command->operands);
    saddle_fprintf(stdout, "\n.PP\n");
    char sentence[128];
    cli_summary_sentence(command, sentence, sizeof sentence);
    print_roff(sentence);
    putchar('\n');
    if (command->details != NULL) {
        print_roff(command->details);
        putchar('\n');
    }
    print_taken(settings, command);
    for (const saddle_option *const *option = command->own; option != NULL && *option != NULL;
         option++)
        print_option(command, *option);
}

static int run(const cli_arguments *arguments)
{
    const saddle_plan *plan = &arguments->plan;
    saddle_fprintf(stdout, ".TH SADDLE 1 \"\" \"saddle %s\" \"User Commands\"\n", saddle_version());
    fputs(cli_manual_begin, stdout);
    fputs(".SH COMMANDS\n", stdout);
    for (size_t k = 0; cli_commands[k] != NULL; k++)
        print_command(plan, cli_commands[k]);
    fputs(".SH OPTIONS\n", stdout);
    cli_walk_options(plan, NULL, print_group, print_option);
    fputs(".SH EXIT STATUS\n", stdout);
#define PRINT_EXIT(name, value, text) print_tagged(#value, text);
    CLI_EXIT_LIST(PRINT_EXIT)
#undef PRINT_EXIT
    fputs(cli_manual_end, stdout);
    return CLI_OK;
}

const cli_command cli_man = {
    .name = "man",
    .operands = "",
    .summary = "print the manual page in roff",
    .details = "`saddle man | man -l -` shows it.",
    .run = run,
};
