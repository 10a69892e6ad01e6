/* `saddle help` and --help: texts made from the tables of commands and options. */
#include "cli.h"
#include "instance/algorithm_choice.h"
#include "problems/problem_choice.h"

/* The column where the explanations of options begin. */
#define INDENT 26
/* The most words in the name of a command. */
#define LONGEST_NAME 2
/* The most commands that have an option of one name. */
#define MOST_USES 64
/* The most names of commands and options that an unknown word is compared with. */
#define MOST_TOPICS 512

void cli_option_heading(const saddle_option *option, char *out, size_t size)
{
    bool flag = option->kind == SADDLE_OPTION_FLAG;
    saddle_snprintf(out, size, "--%s%s%s", option->name, flag ? "" : " ",
                    flag ? "" : option->metavar);
}

void cli_option_text(const saddle_option *option, const saddle_algorithm *algorithm, bool holds,
                     char *out, size_t size)
{
    saddle_option_help(option, algorithm, out, size);
    /* A help of several lines explains one value per line. */
    bool lines = strchr(out, '\n') != NULL;
    bool choice = option->kind == SADDLE_OPTION_CHOICE && !lines;
    bool plain = option->kind == SADDLE_OPTION_FLAG || *option->fallback == '\0';
    const char *gap = lines || strstr(out, ". ") != NULL ? "\n" : " ";
    saddle_append(out, size, "%s%s", choice ? gap : "", choice ? "One of: " : "");
    for (const char *c = option->choices; choice && *c != '\0'; c++)
        saddle_append(out, size, "%s%c", *c == '|' ? "," : "", *c == '|' ? ' ' : *c);
    saddle_append(out, size, "%s", choice ? "." : "");
    if (holds && !plain)
        saddle_append(out, size, "%sDefault: %s.", choice ? " " : gap, option->fallback);
}

void cli_summary_sentence(const cli_command *command, char *out, size_t size)
{
    saddle_snprintf(out, size, "%s.", command->summary);
    if (out[0] >= 'a' && out[0] <= 'z')
        out[0] = (char)(out[0] - 'a' + 'A');
}

/* Whether the default of an option applies to the command. */
static bool default_holds(const cli_command *command, const saddle_option *option)
{
    return !cli_has_option(command->undecided, option);
}

int cli_first_sentence(const saddle_option *option)
{
    const char *help = option->help;
    size_t length = 0;
    while (help[length] != '\0' && (help[length] != '.' || strchr(" \n", help[length + 1]) == NULL))
        length++;
    return (int)length;
}

void cli_print_explained(const char *heading, const char *text)
{
    int used = saddle_fprintf(stdout, "  %s", heading);
    if (used + 2 > INDENT) {
        putchar('\n');
        used = 0;
    }
    cli_print("%*s", INDENT - used, "");
    cli_wrap(INDENT, INDENT, "%s", text);
}

/* `algorithm` NULL: for all algorithms. */
static void print_for(const saddle_algorithm *algorithm, const cli_command *command,
                      const saddle_option *option)
{
    char heading[128];
    char text[CLI_OPTION_TEXT];
    cli_option_heading(option, heading, sizeof heading);
    cli_option_text(option, algorithm, default_holds(command, option), text, sizeof text);
    cli_print_explained(heading, text);
}

static void print_option(const cli_command *command, const saddle_option *option)
{
    print_for(NULL, command, option);
}

static void print_group(const char *group)
{
    cli_print("\n%s:\n", group);
}

/* The index of the first option from k on that a command takes and that is in a group; NULL:
 * any. */
static size_t next_option(const saddle_plan *plan, const cli_command *command, const char *group,
                          size_t k)
{
    for (; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        if ((command == NULL || cli_takes(command, option)) &&
            (group == NULL || strcmp(option->group, group) == 0))
            break;
    }
    return k;
}

void cli_walk_options(const saddle_plan *plan, const cli_command *command,
                      void (*heading)(const char *group),
                      void (*visit)(const cli_command *command, const saddle_option *option))
{
    size_t count = saddle_plan_option_count(plan);
    for (size_t k = next_option(plan, command, NULL, 0); k < count;
         k = next_option(plan, command, NULL, k + 1)) {
        const char *group = saddle_plan_option(plan, k)->group;
        if (next_option(plan, command, group, 0) < k)
            continue; /* shown before */
        heading(group);
        for (size_t j = k; j < count; j = next_option(plan, command, group, j + 1))
            visit(command, saddle_plan_option(plan, j));
    }
}

static void print_exit_codes(void)
{
    fputs("\nExit status:\n", stdout);
#define PRINT_EXIT(name, code, text) cli_print("  %3d  %s\n", code, text);
    CLI_EXIT_LIST(PRINT_EXIT)
#undef PRINT_EXIT
}

const char *const cli_run_basics[] = {
    "problem",    "data",      "test-data",  "agents",  "topology",  "algorithm", "algorithms",
    "iterations", "tolerance", "max-ifo",    "budget",  "objective", "search",    "repeats",
    "levels",     "tuned",     "seed",       "threads", "trace",     "model",     "output",
    "report",     "json",      "checkpoint", "config",  NULL};

/* Prints the basic options with the first sentence of their help. */
static void print_basics(const saddle_plan *plan, const cli_command *command)
{
    print_group("Basic options");
    for (const char *const *name = command->basics; *name != NULL; name++) {
        const saddle_option *option = saddle_plan_find(plan, *name);
        if (option == NULL || !cli_takes(command, option))
            continue;
        char heading[128];
        char text[CLI_OPTION_TEXT];
        bool known = default_holds(command, option) && *option->fallback != '\0' &&
                     option->kind != SADDLE_OPTION_FLAG && strcmp(option->fallback, "auto") != 0 &&
                     strcmp(option->fallback, "0") != 0;
        saddle_snprintf(text, sizeof text, "%.*s%s%s%s", cli_first_sentence(option), option->help,
                        known ? " [" : "", known ? option->fallback : "", known ? "]" : "");
        cli_option_heading(option, heading, sizeof heading);
        cli_print_explained(heading, text);
    }
}

/* Prints the options of a problem (`algorithm` is NULL) or of an algorithm. */
static void print_own(const cli_command *command, const char *what, const char *name,
                      const saddle_algorithm *algorithm, const saddle_option *const *option)
{
    cli_print("\nOptions of %s %s:\n", what, name);
    for (; *option != NULL; option++)
        print_for(algorithm, command, *option);
}

/* Prints the options of the problem and of the algorithm that were given. */
static void print_named(const cli_arguments *arguments)
{
    const saddle_plan *plan = &arguments->plan;
    SADDLE_OWNED_BY(saddle_problem_release) saddle_problem_choice problem = {.kind = NULL};
    saddle_algorithm_choice *algorithm = NULL;
    if (SADDLE_GIVEN(plan, problem.name) &&
        saddle_problem_choose(&problem, plan->problem.name, NULL) == SADDLE_OK)
        print_own(arguments->command, "problem", problem.kind->name, NULL, problem.kind->options);
    if (SADDLE_GIVEN(plan, algorithm.name) &&
        saddle_algorithm_choose(&algorithm, plan, NULL, NULL, NULL) == SADDLE_OK)
        print_own(arguments->command, "algorithm", algorithm->algorithm->name, algorithm->algorithm,
                  algorithm->algorithm->options);
    saddle_algorithm_release(algorithm);
}

/* The --help of a command with many options: examples and the basic options. */
static void print_brief(const cli_arguments *arguments, const saddle_plan *plan)
{
    const cli_command *command = arguments->command;
    if (command->examples != NULL)
        print_group("Examples");
    for (const char *const *example = command->examples; example != NULL && *example != NULL;
         example++)
        cli_print("  %s\n", *example);
    print_basics(plan, command);
    print_named(arguments);
    putchar('\n');
    cli_wrap(0, 0,
             "`saddle problems` and `saddle algorithms` list the names; with a NAME, they show its "
             "options, such as step sizes. `saddle %s --help-all` shows all options, and "
             "docs/glossary.md explains the terms.",
             command->name);
}

int cli_print_help(const cli_arguments *arguments)
{
    const cli_command *command = arguments->command;
    saddle_error error;
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
    CLI_TRY(cli_plan(&plan, command, &error));
    bool options = command->library != NULL || command->own != NULL;
    bool brief = command->basics != NULL && !arguments->help_all;
    cli_print("Usage: saddle %s%s%s%s\n\n", command->name, *command->operands != '\0' ? " " : "",
              command->operands, options ? " [options]" : "");
    char sentence[128];
    cli_summary_sentence(command, sentence, sizeof sentence);
    cli_wrap(0, 0, "%s", sentence);
    if (command->details != NULL && !brief) {
        putchar('\n');
        cli_wrap(0, 0, "%s", command->details);
    }
    if (brief) {
        print_brief(arguments, &plan);
    } else {
        cli_walk_options(&plan, command, print_group, print_option);
        print_exit_codes();
    }
    return CLI_OK;
}

/* Lists the commands of a family; NULL: all. */
static void print_commands(const char *family)
{
    const cli_command *const *command = cli_commands;
    for (size_t k = 0; command[k] != NULL; k++) {
        if (family != NULL && cli_member_of(command[k], family) == NULL)
            continue;
        cli_print("  %-14s  ", command[k]->name);
        cli_wrap(18, 18, "%s", command[k]->summary);
    }
}

void cli_print_greeting(void)
{
    cli_print("saddle %s: decentralized constrained min-max learning\n\n  saddle demo    compare "
              "four algorithms on built-in data and make a report\n  saddle run     solve a "
              "problem: the PRECISION paper's, if no other is given\n  saddle help    list all "
              "commands and explain them\n",
              saddle_version());
}

void cli_print_overview(void)
{
    cli_print("saddle %s: decentralized constrained min-max learning\n\n"
              "Usage: saddle COMMAND [options]\n\nCommands:\n",
              saddle_version());
    print_commands(NULL);
    fputs("\nExamples:\n"
          "  saddle run --agents 10 --topology ring --trace trace.csv\n"
          "  saddle compare --algorithms precision,prox-dsgda --repeats 3\n"
          "\n`saddle help COMMAND` explains a command, `saddle help tau` the option --tau,\n"
          "`saddle --version` prints the version.\n"
          "PRECISION, a decentralized min-max algorithm, is from Liu, Zhang, Lu, Liu 2023.\n"
          "docs/glossary.md explains terms such as metric, round and IFO call.\n",
          stdout);
}

void cli_print_family(const char *family)
{
    cli_print("Usage: saddle %s COMMAND [options]\n\nCommands:\n", family);
    print_commands(family);
    cli_print("\n`saddle help %s COMMAND` explains a command.\n", family);
}

/* An option as a command has it. */
typedef struct option_use {
    const cli_command *command;
    const saddle_option *option;
    bool explained;
} option_use;

/* Finds the commands that have an option of this name; returns their number. */
static size_t find_uses(const char *name, option_use use[MOST_USES])
{
    size_t count = 0;
    for (size_t k = 0; cli_commands[k] != NULL; k++) {
        SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
        if (cli_plan(&plan, cli_commands[k], NULL) != SADDLE_OK)
            continue;
        for (size_t j = 0; j < saddle_plan_option_count(&plan) && count < MOST_USES; j++) {
            const saddle_option *option = saddle_plan_option(&plan, j);
            if (strcmp(option->name, name) == 0 && cli_takes(cli_commands[k], option))
                use[count++] = (option_use){.command = cli_commands[k], .option = option};
        }
    }
    return count;
}

/* Whether an option means the same in two commands. */
static bool means_the_same(const option_use *a, const option_use *b)
{
    char text[2][CLI_OPTION_TEXT];
    cli_option_text(a->option, NULL, default_holds(a->command, a->option), text[0], sizeof text[0]);
    cli_option_text(b->option, NULL, default_holds(b->command, b->option), text[1], sizeof text[1]);
    return strcmp(text[0], text[1]) == 0;
}

/* Explains an option, once for all commands in which it means the same. Returns whether a command
 * has an option of this name. */
static bool explain_option(const char *name)
{
    option_use use[MOST_USES];
    size_t count = find_uses(name, use);
    for (size_t k = 0; k < count; k++) {
        char commands[512] = "";
        if (use[k].explained)
            continue;
        print_option(use[k].command, use[k].option);
        for (size_t j = k; j < count; j++)
            if (!use[j].explained && means_the_same(&use[k], &use[j])) {
                saddle_append(commands, sizeof commands, "%s`saddle %s`", j > k ? ", " : "",
                              use[j].command->name);
                use[j].explained = true;
            }
        cli_print("%*sIn: ", INDENT, "");
        cli_wrap(INDENT + 4, INDENT + 4, "%s", commands);
    }
    return count > 0;
}

/* Adds the names of options that a command takes and that are not in the list yet. */
static size_t add_option_names(const char **name, size_t count, const cli_command *command)
{
    SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
    if (cli_plan(&plan, command, NULL) != SADDLE_OK)
        return count;
    for (size_t j = 0; j < saddle_plan_option_count(&plan); j++) {
        const saddle_option *option = saddle_plan_option(&plan, j);
        size_t k = 0;
        while (k < count && strcmp(name[k], option->name) != 0)
            k++;
        if (k == count && count < MOST_TOPICS && cli_takes(command, option))
            name[count++] = option->name;
    }
    return count;
}

/* Fails because a word is neither a command nor an option. */
static int refuse_topic(const char *word)
{
    const char *name[MOST_TOPICS] = {NULL};
    size_t count = 0;
    for (size_t k = 0; cli_commands[k] != NULL; k++)
        name[count++] = cli_commands[k]->name;
    for (size_t k = 0; cli_commands[k] != NULL; k++)
        count = add_option_names(name, count, cli_commands[k]);
    saddle_suggestion meant = saddle_suggest(word, name, count);
    return cli_refuse(
        "'%.80s' is neither a command nor an option%s `saddle help` lists the commands, "
        "docs/glossary.md explains terms",
        word, meant.text[0] != '\0' ? meant.text : ";");
}

/* `saddle help [COMMAND|OPTION]`. */
static int run(const cli_arguments *arguments)
{
    char *word[LONGEST_NAME];
    for (size_t k = 0; k < arguments->count; k++)
        word[k] = (char *)(uintptr_t)arguments->operand[k];
    int used = 0;
    const cli_command *command =
        arguments->count > 0 ? cli_find_command((int)arguments->count, word, &used) : NULL;
    if (arguments->count == 0) {
        cli_print_overview();
    } else if (command != NULL && (size_t)used == arguments->count) {
        cli_arguments of = {.command = command, .plan = arguments->plan};
        return cli_print_help(&of);
    } else if (arguments->count == 1 && cli_is_family(word[0])) {
        cli_print_family(word[0]);
    } else if (arguments->count > 1 && !cli_is_family(word[0])) {
        return cli_refuse("there is no command '%.80s %.80s'; `saddle help` explains one command "
                          "or option at a time",
                          word[0], word[1]);
    } else if (arguments->count > 1) {
        return cli_unknown_command((int)arguments->count, word);
    } else if (!explain_option(word[0])) {
        return refuse_topic(word[0]);
    }
    return CLI_OK;
}

const cli_command cli_help = {
    .name = "help",
    .operands = "[COMMAND|OPTION]",
    .most = LONGEST_NAME,
    .summary = "explain a command and its options, or an option (without its dashes)",
    .values = "@COMMAND",
    .run = run,
};
