/* `saddle completion bash|zsh|fish`: completion scripts, made from the tables. */
#include <string.h>

#include "cli.h"

/* Room for the words of one option. */
#define WORDS 1024

/* Calls a function for every option that a command takes. */
typedef void visitor(const cli_command *command, const saddle_option *option);

static int for_options(const cli_command *command, visitor *visit)
{
    saddle_error error;
    saddle_settings *settings = NULL;
    if (cli_settings(&settings, command, &error) != SADDLE_OK)
        return cli_fail(&error);
    for (size_t k = 0; k < saddle_settings_count(settings); k++) {
        const saddle_option *option = saddle_settings_option(settings, k);
        if (cli_takes(command, option))
            visit(command, option);
    }
    saddle_settings_free(settings);
    return CLI_OK;
}

/* "a|b|c" with another separator. */
static void print_words(const char *words, char separator)
{
    for (; *words != '\0'; words++)
        putchar(*words == '|' ? separator : *words);
}

/* A help text's first sentence inside single quotes, as every shell here reads them. */
static void print_quoted(const char *text, const char *special)
{
    const char *end = strstr(text, ". ");
    size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
    if (length > 0 && text[length - 1] == '.')
        length--;
    for (size_t k = 0; k < length; k++) {
        if (text[k] == '\'' || text[k] == '`')
            continue;
        if (strchr(special, text[k]) != NULL)
            putchar('\\');
        putchar(text[k]);
    }
}

/* ---- bash ---------------------------------------------------------------------------------- */

static void bash_name(const cli_command *command, const saddle_option *option)
{
    (void)command;
    printf(" --%s", option->name);
}

static void bash_value(const cli_command *command, const saddle_option *option)
{
    (void)command;
    char words[WORDS];
    cli_words(cli_option_words(option), words, sizeof words);
    if (option->kind == SADDLE_OPTION_FLAG)
        return;
    printf("        --%s) ", option->name);
    if (strcmp(words, "@FILE") == 0)
        fputs("COMPREPLY=($(compgen -f -- \"$cur\"))", stdout);
    else if (strcmp(words, "@DIRECTORY") == 0)
        fputs("COMPREPLY=($(compgen -d -- \"$cur\"))", stdout);
    else {
        fputs("COMPREPLY=($(compgen -W '", stdout);
        print_words(words, ' ');
        fputs("' -- \"$cur\"))", stdout);
    }
    fputs("; return ;;\n", stdout);
}

static int bash(void)
{
    size_t count;
    const cli_command *const *command = cli_commands(&count);
    char words[WORDS];
    fputs("# bash completion for saddle\n"
          "_saddle() {\n"
          "    local cur prev command options words\n"
          "    cur=${COMP_WORDS[COMP_CWORD]}\n"
          "    prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W '",
          stdout);
    cli_words("@COMMAND", words, sizeof words);
    print_words(words, ' ');
    fputs(" --help --version' -- \"$cur\"))\n        return\n    fi\n"
          "    if [[ ${COMP_WORDS[1]} == data ]] && ((COMP_CWORD == 2)); then\n"
          "        COMPREPLY=($(compgen -W '",
          stdout);
    for (size_t k = 0; k < count; k++)
        if (strchr(command[k]->name, ' ') != NULL)
            printf("%s ", strchr(command[k]->name, ' ') + 1);
    fputs("' -- \"$cur\"))\n        return\n    fi\n"
          "    command=${COMP_WORDS[1]}\n"
          "    [[ $command == data ]] && command=\"data ${COMP_WORDS[2]}\"\n"
          "    options='' words=''\n"
          "    case $command in\n",
          stdout);
    for (size_t k = 0; k < count; k++) {
        cli_words(command[k]->words != NULL ? command[k]->words : "", words, sizeof words);
        printf("    '%s')\n        case $prev in\n", command[k]->name);
        if (for_options(command[k], bash_value) != CLI_OK)
            return CLI_FAILED;
        fputs("        esac\n        options='--help", stdout);
        for_options(command[k], bash_name);
        fputs("' words='", stdout);
        print_words(words, ' ');
        fputs("' ;;\n", stdout);
    }
    fputs("    esac\n"
          "    if [[ $cur == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
          "    elif [[ $words == @FILE ]]; then\n"
          "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
          "    else\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "    fi\n"
          "}\n"
          "complete -F _saddle saddle\n",
          stdout);
    return CLI_OK;
}

/* ---- zsh ----------------------------------------------------------------------------------- */

static void zsh_option(const cli_command *command, const saddle_option *option)
{
    (void)command;
    char words[WORDS];
    cli_words(cli_option_words(option), words, sizeof words);
    printf("            '--%s[", option->name);
    print_quoted(option->help, "[]:\\");
    putchar(']');
    if (option->kind != SADDLE_OPTION_FLAG) {
        printf(":%s:", option->metavar);
        if (strcmp(words, "@FILE") == 0)
            fputs("_files", stdout);
        else if (strcmp(words, "@DIRECTORY") == 0)
            fputs("_files -/", stdout);
        else if (*words != '\0') {
            putchar('(');
            for (const char *c = words; *c != '\0'; c++) {
                if (*c == ':')
                    putchar('\\');
                putchar(*c == '|' ? ' ' : *c);
            }
            putchar(')');
        }
    }
    fputs("' \\\n", stdout);
}

static void zsh_operand(const cli_command *command)
{
    char words[WORDS];
    cli_words(command->words != NULL ? command->words : "", words, sizeof words);
    if (strcmp(words, "@FILE") == 0) {
        fputs("            '*:file:_files'\n", stdout);
    } else {
        fputs("            '*:argument:(", stdout);
        for (const char *c = words; *c != '\0'; c++) {
            if (*c == ':')
                putchar('\\');
            putchar(*c == '|' ? ' ' : *c);
        }
        fputs(")'\n", stdout);
    }
}

static int zsh(void)
{
    size_t count;
    const cli_command *const *command = cli_commands(&count);
    fputs("#compdef saddle\n"
          "# zsh completion for saddle\n"
          "_saddle() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          stdout);
    for (size_t k = 0; k < count; k++) {
        if (strchr(command[k]->name, ' ') == NULL) {
            printf("        '%s:", command[k]->name);
            print_quoted(command[k]->summary, "");
            fputs("'\n", stdout);
        } else if (k == 0 || strchr(command[k - 1]->name, ' ') == NULL) {
            fputs("        'data:data sets that are there and how to get them'\n", stdout);
        }
    }
    fputs("    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local command=$words[2]\n"
          "    if [[ $command == data ]]; then\n"
          "        if ((CURRENT == 3)); then\n"
          "            compadd",
          stdout);
    for (size_t k = 0; k < count; k++)
        if (strchr(command[k]->name, ' ') != NULL)
            printf(" %s", strchr(command[k]->name, ' ') + 1);
    fputs("\n            return\n        fi\n"
          "        command=\"data $words[3]\"\n"
          "        shift words; ((CURRENT--))\n"
          "    fi\n"
          "    shift words; ((CURRENT--))\n"
          "    case $command in\n",
          stdout);
    for (size_t k = 0; k < count; k++) {
        printf("    '%s')\n        _arguments \\\n            '--help[explain the command]' \\\n",
               command[k]->name);
        if (for_options(command[k], zsh_option) != CLI_OK)
            return CLI_FAILED;
        zsh_operand(command[k]);
        fputs("        ;;\n", stdout);
    }
    fputs("    esac\n}\n"
          "if [[ $funcstack[1] == _saddle ]]; then\n"
          "    _saddle \"$@\"\n"
          "elif (( $+functions[compdef] )); then\n"
          "    compdef _saddle saddle\n"
          "fi\n",
          stdout);
    return CLI_OK;
}

/* ---- fish ---------------------------------------------------------------------------------- */

/* The condition under which a command is being completed. */
static void fish_condition(const cli_command *command)
{
    const char *second = strchr(command->name, ' ');
    printf("complete -c saddle -n '__fish_seen_subcommand_from %.*s",
           (int)strcspn(command->name, " "), command->name);
    if (second != NULL)
        printf("; and __fish_seen_subcommand_from %s", second + 1);
    putchar('\'');
}

static void fish_option(const cli_command *command, const saddle_option *option)
{
    char words[WORDS];
    cli_words(cli_option_words(option), words, sizeof words);
    fish_condition(command);
    printf(" -l %s", option->name);
    if (option->kind != SADDLE_OPTION_FLAG) {
        fputs(words[0] == '@' ? " -r -F" : " -x", stdout);
        if (words[0] != '@' && words[0] != '\0') {
            fputs(" -a '", stdout);
            print_words(words, ' ');
            putchar('\'');
        }
    }
    fputs(" -d '", stdout);
    print_quoted(option->help, "\\");
    fputs("'\n", stdout);
}

static int fish(void)
{
    size_t count;
    const cli_command *const *command = cli_commands(&count);
    fputs("# fish completion for saddle\ncomplete -c saddle -f\n", stdout);
    for (size_t k = 0; k < count; k++) {
        const char *second = strchr(command[k]->name, ' ');
        char words[WORDS];
        int length = (int)strcspn(command[k]->name, " ");
        if (second != NULL)
            printf("complete -c saddle -n '__fish_seen_subcommand_from %.*s' -a %s -d '", length,
                   command[k]->name, second + 1);
        else
            printf("complete -c saddle -n __fish_use_subcommand -a %s -d '", command[k]->name);
        print_quoted(command[k]->summary, "\\");
        fputs("'\n", stdout);
        cli_words(command[k]->words != NULL ? command[k]->words : "", words, sizeof words);
        if (*words != '\0') {
            fish_condition(command[k]);
            if (words[0] == '@') {
                fputs(" -F\n", stdout);
            } else {
                fputs(" -a '", stdout);
                print_words(words, ' ');
                fputs("'\n", stdout);
            }
        }
        if (for_options(command[k], fish_option) != CLI_OK)
            return CLI_FAILED;
    }
    fputs("complete -c saddle -n __fish_use_subcommand -a data -d 'data sets'\n", stdout);
    return CLI_OK;
}

/* ---- the command --------------------------------------------------------------------------- */

static int run(const cli_arguments *arguments)
{
    static const struct {
        const char *name;
        int (*print)(void);
    } shell[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t k = 0; k < sizeof shell / sizeof *shell; k++)
        if (strcmp(arguments->operand[0], shell[k].name) == 0)
            return shell[k].print();
    saddle_error error;
    saddle_fail(&error, SADDLE_BAD_INPUT,
                "there is no completion for '%.80s'; there is for bash, "
                "zsh and fish",
                arguments->operand[0]);
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
