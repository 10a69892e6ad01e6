/*
 * `saddle completion bash|zsh|fish`: scripts that call `saddle __complete WORDS...`, which prints
 * the candidates for the last word, one per line, with an explanation after a tab. "@FILE" and
 * "@DIRECTORY" mean that the shell completes names itself; after a tab comes the part of the word
 * before the name, such as "--topology=file:".
 */
#include "cli.h"

/* ---- the values of options and operands ---------------------------------------------------- */

const char *cli_option_values(const saddle_option *option)
{
    const char *meta = option->metavar != NULL ? option->metavar : "";
    if (option->values != NULL)
        return option->values;
    if (option->choices != NULL)
        return option->choices;
    if (strcmp(meta, "DIR") == 0)
        return "@DIRECTORY";
    switch (option->files) {
    case SADDLE_FILES_INPUT:
    case SADDLE_FILES_DATA:
    case SADDLE_FILES_CHECKPOINT:
    case SADDLE_FILES_OUTPUT:
        return "@FILE";
    default: /* the value begins otherwise */
        return "";
    }
}

/* The first words of all commands. */
static void print_commands(void)
{
    const cli_command *const *list = cli_commands;
    for (size_t k = 0; list[k] != NULL; k++) {
        int length = (int)strcspn(list[k]->name, " ");
        if (list[k]->name[length] == '\0')
            saddle_fprintf(stdout, "%s\t%s\n", list[k]->name, list[k]->summary);
        else if (k == 0 || strncmp(list[k]->name, list[k - 1]->name, (size_t)length + 1) != 0)
            saddle_fprintf(stdout, "%.*s\tseveral commands\n", length, list[k]->name);
    }
}

/* Prints the fixed part of a name or synopsis: "box:" of "box:LO:HI". */
static void print_name(const char *before, const char *synopsis)
{
    int length = (int)strcspn(synopsis, ":[ ");
    length += synopsis[length] == ':';
    saddle_fprintf(stdout, "%s%.*s\n", before, length, synopsis);
}

/* Prints a field of all entries of a list of pointers. */
#define PRINT_LIST(before, entry, list, field)     \
    do {                                           \
        size_t count_;                             \
        const entry *const *list_ = list(&count_); \
        for (size_t k_ = 0; k_ < count_; k_++)     \
            print_name(before, list_[k_]->field);  \
    } while (0)

static void print_sources(const char *before)
{
    size_t count;
    const saddle_data_source *list = saddle_data_sources(&count);
    for (size_t k = 0; k < count; k++)
        if (k == 0 || strcmp(list[k].name, list[k - 1].name) != 0)
            saddle_fprintf(stdout, "%s%s\n", before, list[k].name);
}

/* Whether a value of a kind is going to be the path of a plug-in, or file:PATH; *skip receives
 * the length of what precedes the path. */
static bool is_path(const char *kind, const char *value, size_t *skip)
{
    static const char *const code[] = {"@ALGORITHM", "@PROBLEM", "@SET", "@REGULARIZER"};
    bool network = strcmp(kind, "@TOPOLOGY") == 0 || strcmp(kind, "@MIXING") == 0;
    *skip = network ? strlen("file:") : 0;
    if (network)
        return strncmp(value, "file:", *skip) == 0;
    for (size_t k = 0; k < sizeof code / sizeof *code; k++)
        if (strcmp(kind, code[k]) == 0)
            return strchr("./~", *value) != NULL && *value != '\0';
    return false;
}

static void print_words(const char *before, const char *kind);

/* Prints the candidates for a value of which `value` has been typed, each after `before`. */
static void print_values(const char *before, const char *kind, const char *value)
{
    char head[512];
    size_t skip;
    bool list = strcmp(kind, "@ALGORITHMS") == 0;
    const char *comma = list ? strrchr(value, ',') : NULL;
    size_t done = comma != NULL ? (size_t)(comma + 1 - value) : 0;
    kind = list ? "@ALGORITHM" : kind;
    value += done;
    bool path = is_path(kind, value, &skip);
    saddle_snprintf(head, sizeof head, "%s%.*s", before, (int)(done + (path ? skip : 0)),
                    value - done);
    if (path)
        saddle_fprintf(stdout, "@FILE\t%s\n", head);
    else
        print_words(head, kind);
    if (list && done == 0 && !path)
        saddle_fprintf(stdout, "%sall\n", head);
}

/* Prints the candidates of "a|b|c", or of a kind such as "@ALGORITHM", each after `before`. */
static void print_words(const char *before, const char *kind)
{
    if (strcmp(kind, "@COMMAND") == 0)
        print_commands();
    else if (strcmp(kind, "@ALGORITHM") == 0)
        PRINT_LIST(before, saddle_algorithm, saddle_algorithm_list, name);
    else if (strcmp(kind, "@PROBLEM") == 0)
        PRINT_LIST(before, saddle_problem_class, saddle_problem_list, name);
    else if (strcmp(kind, "@SOURCE") == 0)
        print_sources(before);
    else if (strcmp(kind, "@TOPOLOGY") == 0)
        PRINT_LIST(before, saddle_network_info, saddle_topology_list, synopsis);
    else if (strcmp(kind, "@MIXING") == 0)
        PRINT_LIST(before, saddle_network_info, saddle_mixing_list, synopsis);
    else if (strcmp(kind, "@SET") == 0)
        PRINT_LIST(before, saddle_set_class, saddle_set_list, term.synopsis);
    else if (strcmp(kind, "@REGULARIZER") == 0)
        PRINT_LIST(before, saddle_regularizer_class, saddle_regularizer_list, term.synopsis);
    else if (*kind == '@')
        saddle_fprintf(stdout, "%s\t%s\n", kind, before);
    else
        for (size_t length; *kind != '\0'; kind += length + (kind[length] == '|')) {
            length = strcspn(kind, "|");
            saddle_fprintf(stdout, "%s%.*s\n", before, (int)length, kind);
        }
}

/* ---- the word being typed ------------------------------------------------------------------ */

/* Prints all options of a command with the first sentence of their help. */
static void print_options(const saddle_plan *plan, const cli_command *command)
{
    puts("--help\tExplain the command\n--help-all\tExplain all its options");
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        if (!cli_takes(command, option))
            continue;
        saddle_fprintf(stdout, "--%s\t%.*s\n", option->name, cli_first_sentence(option),
                       option->help);
    }
}

/* Prints the candidates for `word` of a command, after the word `previous`. */
static void complete_word(const saddle_plan *plan, const cli_command *command, const char *previous,
                          const char *word)
{
    char name[128]; /* "--name" of "--name value" or "--name=value" */
    const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    saddle_snprintf(name, sizeof name - 1, "%.*s",
                    equals != NULL ? (int)(equals - word) : (int)strlen(previous),
                    equals != NULL ? word : previous);
    const saddle_option *option =
        strncmp(name, "--", 2) == 0 ? saddle_plan_find(plan, name + 2) : NULL;
    bool valued = option != NULL && option->kind != SADDLE_OPTION_FLAG;
    saddle_append(name, sizeof name, "=");
    if (valued && cli_takes(command, option))
        print_values(equals != NULL ? name : "", cli_option_values(option),
                     equals != NULL ? equals + 1 : word);
    else if (*word == '-')
        print_options(plan, command);
    else if (command->values != NULL)
        print_values("", command->values, word);
}

int cli_complete(int argc, char *const *argv)
{
    int used;
    const cli_command *command = cli_find_command(argc - 1, argv, &used);
    if (argc <= 1) {
        print_commands();
        puts("--help\tList the commands\n--version\tPrint the version");
    } else if (command != NULL) {
        saddle_error error;
        SADDLE_OWNED_BY(saddle_plan_free) saddle_plan plan = {.settings = NULL};
        CLI_TRY(cli_plan(&plan, command, &error));
        complete_word(&plan, command, argv[argc - 2], argv[argc - 1]);
    } else if (argc == 2 && cli_is_family(argv[0])) {
        for (const cli_command *const *each = cli_commands; *each != NULL; each++) {
            const char *name = cli_member_of(*each, argv[0]);
            if (name != NULL)
                saddle_fprintf(stdout, "%s\t%s\n", name, (*each)->summary);
        }
    }
    return CLI_OK;
}

/* ---- the command --------------------------------------------------------------------------- */

static int run(const cli_arguments *arguments)
{
    const char *shell = arguments->operand[0];
    const char *script = strcmp(shell, "bash") == 0   ? cli_completion_bash
                         : strcmp(shell, "zsh") == 0  ? cli_completion_zsh
                         : strcmp(shell, "fish") == 0 ? cli_completion_fish
                                                      : NULL;
    if (script == NULL)
        return cli_refuse("no completion for '%.80s'; give bash, zsh or fish", shell);
    fputs(script, stdout);
    return CLI_OK;
}

const cli_command cli_completion = {
    .name = "completion",
    .operands = "SHELL",
    .summary = "print a completion script for bash, zsh or fish",
    .details = "For bash: `source <(saddle completion bash)`.",
    .values = "bash|zsh|fish",
    .run = run,
};
