/*
 * `saddle completion bash|zsh|fish`: scripts that ask `saddle __complete WORDS...`, which prints what the
 * last word can be, one candidate to a line with its explanation after a tab. "@FILE" and "@DIRECTORY"
 * stand for the names that the shell itself completes.
 */
#include <string.h>

#include "cli.h"

/* ---- the values of options and operands ---------------------------------------------------- */

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

/* The first words of all commands. */
static void print_commands(void)
{
    size_t count;
    const cli_command *const *list = cli_commands(&count);
    for (size_t k = 0; k < count; k++) {
        int length = (int)strcspn(list[k]->name, " ");
        if (list[k]->name[length] == '\0')
            printf("%s\t%s\n", list[k]->name, list[k]->summary);
        else if (k == 0 || strncmp(list[k]->name, list[k - 1]->name, (size_t)length + 1) != 0)
            printf("%.*s\tcommands of this family\n", length, list[k]->name);
    }
}

/* What is typed as it stands of a name or synopsis: "box:" of "box:LO:HI". */
static void print_name(const char *before, const char *synopsis)
{
    int length = (int)strcspn(synopsis, ":[ ");
    length += synopsis[length] == ':';
    printf("%s%.*s\n", before, length, synopsis);
}

/* Print a field of all entries of a list of pointers. */
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
            printf("%s%s\n", before, list[k].name);
}

/* "a|b|c", or all words of a kind such as "@ALGORITHM", each after `before`. */
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
        puts(kind);
    else
        for (size_t length; *kind != '\0'; kind += length + (kind[length] == '|')) {
            length = strcspn(kind, "|");
            printf("%s%.*s\n", before, (int)length, kind);
        }
}

/* ---- the word being typed ------------------------------------------------------------------ */

/* All options of a command with the first sentence of their help. */
static void print_options(const saddle_settings *settings, const cli_command *command)
{
    puts("--help\tExplain the command");
    for (size_t k = 0; k < saddle_settings_count(settings); k++) {
        const saddle_option *option = saddle_settings_option(settings, k);
        if (!cli_takes(command, option))
            continue;
        int length = 0;
        while (option->help[length] != '\0' && strncmp(option->help + length, ". ", 2) != 0)
            length++;
        length -= length > 0 && option->help[length - 1] == '.';
        printf("--%s\t%.*s\n", option->name, length, option->help);
    }
}

/* What `word` after the word `previous` of a command can be. */
static void complete_word(const saddle_settings *settings, const cli_command *command,
                          const char *previous, const char *word)
{
    char name[128]; /* "--name" of "--name value" or "--name=value" */
    const char *equals = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    snprintf(name, sizeof name - 1, "%.*s",
             equals != NULL ? (int)(equals - word) : (int)strlen(previous),
             equals != NULL ? word : previous);
    const saddle_option *option =
        strncmp(name, "--", 2) == 0 ? saddle_settings_find(settings, name + 2) : NULL;
    bool valued = option != NULL && option->kind != SADDLE_OPTION_FLAG;
    saddle_append(name, sizeof name, "=");
    if (valued && cli_takes(command, option))
        print_words(equals != NULL ? name : "", cli_option_words(option));
    else if (*word == '-')
        print_options(settings, command);
    else if (command->words != NULL)
        print_words("", command->words);
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
        saddle_settings *settings;
        if (cli_settings(&settings, command, &error) != SADDLE_OK)
            return cli_fail(&error);
        complete_word(settings, command, argv[argc - 2], argv[argc - 1]);
        saddle_settings_free(settings);
    } else if (argc == 2 && cli_is_family(argv[0])) {
        size_t count;
        const cli_command *const *list = cli_commands(&count);
        size_t length = strlen(argv[0]);
        for (size_t k = 0; k < count; k++)
            if (strncmp(list[k]->name, argv[0], length) == 0 && list[k]->name[length] == ' ')
                printf("%s\t%s\n", list[k]->name + length + 1, list[k]->summary);
    }
    return CLI_OK;
}

/* ---- the command --------------------------------------------------------------------------- */

static const char bash[] =
    "# bash completion for saddle\n"
    "_saddle() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} found\n"
    "    found=$(\"${COMP_WORDS[0]/#\\~/$HOME}\" __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" \\\n"
    "        2>/dev/null)\n"
    "    case $found in\n"
    "    @FILE) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
    "    @DIRECTORY) COMPREPLY=($(compgen -d -- \"$cur\")) ;;\n"
    "    *) COMPREPLY=($(compgen -W \"$(cut -f 1 <<<\"$found\")\" -- \"$cur\")) ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _saddle saddle\n";

static const char zsh[] =
    "#compdef saddle\n"
    "# zsh completion for saddle\n"
    "_saddle() {\n"
    "    local tab=$'\\t'\n"
    "    local -a found\n"
    "    found=(\"${(@f)$(${~words[1]} __complete \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "    case $found[1] in\n"
    "    '') ;;\n"
    "    @FILE) compset -P '--*='; _files ;;\n"
    "    @DIRECTORY) compset -P '--*='; _files -/ ;;\n"
    "    *)\n"
    "        found=(\"${(@)found//:/\\\\:}\")\n"
    "        found=(\"${(@)found/$tab/:}\")\n"
    "        _describe value found\n"
    "        ;;\n"
    "    esac\n"
    "}\n"
    "if [[ $funcstack[1] == _saddle ]]; then\n"
    "    _saddle \"$@\"\n"
    "elif (( $+functions[compdef] )); then\n"
    "    compdef _saddle saddle\n"
    "fi\n";

static const char fish[] = "# fish completion for saddle\n"
                           "function __saddle_complete\n"
                           "    set -l words (commandline -opc)\n"
                           "    set -l last (commandline -ct)\n"
                           "    set -l program $words[1]\n"
                           "    set -e words[1]\n"
                           "    set -l found ($program __complete $words \"$last\" 2>/dev/null)\n"
                           "    set -l option (string match -r -- '^--[^=]*=' \"$last\")\n"
                           "    set -l value (string replace -r -- '^--[^=]*=' '' \"$last\")\n"
                           "    switch \"$found\"\n"
                           "        case @FILE\n"
                           "            set found (__fish_complete_path \"$value\")\n"
                           "            string replace -r -- '^' \"$option\" $found\n"
                           "        case @DIRECTORY\n"
                           "            set found (__fish_complete_directories \"$value\")\n"
                           "            string replace -r -- '^' \"$option\" $found\n"
                           "        case '*'\n"
                           "            printf '%s\\n' $found\n"
                           "    end\n"
                           "end\n"
                           "complete -c saddle -f -a '(__saddle_complete)'\n";

static int run(const cli_arguments *arguments)
{
    const char *shell = arguments->operand[0];
    const char *script = strcmp(shell, "bash") == 0   ? bash
                         : strcmp(shell, "zsh") == 0  ? zsh
                         : strcmp(shell, "fish") == 0 ? fish
                                                      : NULL;
    if (script != NULL) {
        fputs(script, stdout);
        return CLI_OK;
    }
    saddle_error error;
    saddle_fail(&error, SADDLE_BAD_INPUT,
                "there is no completion for '%.80s'; there is for bash, zsh and fish", shell);
    return cli_fail(&error);
}

const cli_command cli_completion = {
    .name = "completion",
    .operands = "SHELL",
    .least = 1,
    .most = 1,
    .summary = "print a completion script for bash, zsh or fish",
    .details = "For bash: `source <(saddle completion bash)`.",
    .words = "bash|zsh|fish",
    .run = run,
};
