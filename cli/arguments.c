/*
 * Reads argv into a plan, by the tables of options.
 *
 *     --name value    --name=value    --flag    --    operand    -o value (for --output)
 *
 * If an option is repeated the last value counts, unless the command joins them. The command line
 * takes precedence over the configuration file. An option that the tables do not have may be one of a
 * plug-in that is named anywhere on the command line.
 */
#include <unistd.h>

#include "cli.h"
#include "instance/instance.h"
#include "instance/plan_plugins.h"
#include "instance/unused_options.h"

/* The most options a command can have. */
#define MOST_OPTIONS 256

/* A field of the common options that a configuration file cannot set. */
#define TYPED(kind, field) CLI_OWN_FILES(kind, cli_common, field), .not_in_file = true

const saddle_option cli_option_config =
    SADDLE_TEXT(TYPED(INPUT, config), "config", "Configuration file", "", "FILE",
                "Read options from a YAML file. Its lines are `name: value`, with names of options "
                "without dashes; options on the command line take precedence.");

const saddle_option cli_option_report =
    SADDLE_TEXT(TYPED(OUTPUT, report), "report", SADDLE_OUTPUT_HEADING, "", "FILE",
                "Write an HTML report: curves, costs, network, settings. `saddle report` makes one "
                "from traces. Not given: none.");

const saddle_option cli_option_quiet =
    SADDLE_FLAG(SADDLE_OWN(cli_common, quiet, RUN), "quiet", SADDLE_OUTPUT_HEADING, "no",
                "Print only final tables, warnings and errors.");

const saddle_option cli_option_json =
    SADDLE_FLAG(TYPED(NONE, json), "json", SADDLE_OUTPUT_HEADING, "no",
                "Print the result as one JSON object. Nothing else goes to standard output; "
                "docs/json.md describes the object.");

/* ---- which options a command takes --------------------------------------------------------- */

bool cli_has_field(const cli_fields *list, size_t offset)
{
    for (; list != NULL && list->bytes > 0; list++)
        if (offset - list->offset < list->bytes)
            return true;
    return false;
}

bool cli_has_option(const cli_fields *list, const saddle_option *option)
{
    size_t own = option->stage == SADDLE_STAGE_INSTANCE ? offsetof(saddle_plan, problem.own)
                                                        : offsetof(saddle_plan, algorithm.own);
    return cli_has_field(list, option->home == SADDLE_HOME_PLAN ? option->offset : own);
}

bool cli_takes(const cli_command *command, const saddle_option *option)
{
    return (command->own != NULL && saddle_option_in(command->own, option)) ||
           cli_has_option(command->library, option);
}

saddle_status cli_plan(saddle_plan *out, const cli_command *command, saddle_error *error)
{
    saddle_plan_defaults(out, sizeof *out);
    saddle_status status = saddle_plan_add_options(out, command->own, error);
    if (status != SADDLE_OK)
        saddle_plan_free(out);
    return status;
}

/* ---- reading argv -------------------------------------------------------------------------- */

/* Finds a name among the values of an option, "a|b:|c". Returns what to write after it; NULL: it is not there. */
static const char *find_value(const char *name, const char *values)
{
    size_t length = strlen(name);
    for (const char *at = values; length > 0 && at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, name, length) == 0 && strchr("|:", at[length]) != NULL)
            return at[length] == ':' ? ":..." : "";
    }
    return NULL;
}

/* Fails with the option that is meant: one with such a value, as --links replay:... for --replay, or a similar name. */
static saddle_status unknown_option(const cli_arguments *a, const char *word, saddle_error *error)
{
    const char *known[MOST_OPTIONS];
    size_t count = 0;
    char name[81];
    char hint[240] = "";
    saddle_snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (size_t k = 0; k < saddle_plan_option_count(&a->plan) && count < MOST_OPTIONS; k++) {
        const saddle_option *option = saddle_plan_option(&a->plan, k);
        if (!cli_takes(a->command, option))
            continue;
        known[count++] = option->name;
        const char *rest = find_value(name, cli_option_values(option));
        if (rest != NULL && *hint == '\0')
            saddle_snprintf(hint, sizeof hint, " did you mean --%s %s%s?", option->name, name,
                            rest);
    }
    const char *near = saddle_closest(name, known, count);
    if (near != NULL && *hint == '\0')
        saddle_snprintf(hint, sizeof hint, " did you mean --%s?", near);
    return saddle_refuse(error,
                         "saddle %s has no option --%s;%s `saddle %s --help-all` lists the options",
                         a->command->name, name, hint, a->command->name);
}

/* Refuses an empty value where it would mean "not given": most likely a shell variable was never
 * set. */
static saddle_status check_empty(const cli_command *command, const saddle_option *option,
                                 saddle_error *error)
{
    const char *words = cli_option_values(option);
    bool names_file = strcmp(words, "@FILE") == 0 || strcmp(words, "@DIRECTORY") == 0;
    bool general = option->home == SADDLE_HOME_PLAN ||
                   (command->own != NULL && saddle_option_in(command->own, option));
    bool counts_as_none =
        option->kind == SADDLE_OPTION_TEXT && general && *option->fallback == '\0';
    if (!names_file && !counts_as_none)
        return SADDLE_OK;
    return saddle_refuse(error, "--%s: the %s is empty; give %s, or leave the option out",
                         option->name, names_file ? "name" : "value",
                         names_file ? "a name" : option->metavar);
}

/* Sets an option; one whose values the command joins gets the new value appended. */
static saddle_status set_option(cli_arguments *a, const saddle_option *option, const char *value,
                                saddle_error *error)
{
    saddle_plan *plan = &a->plan;
    if (option != a->command->joined || !saddle_plan_given(plan, option))
        return saddle_plan_set(plan, option->name, value, error);
    SADDLE_OWNED char *both = saddle_format("%s %s", SADDLE_PLAN_TEXT(plan, option), value);
    return both != NULL ? saddle_plan_set(plan, option->name, both, error)
                        : saddle_no_memory(error, "the arguments");
}

/* Reads the value of an option in argv[*k]; advances *k if it is the next word. */
static saddle_status read_value(cli_arguments *a, const saddle_option *option, int argc,
                                char *const *argv, int *k, saddle_error *error)
{
    const char *text = argv[*k];
    size_t length = strcspn(text, "=");
    const char *value = NULL;
    if (text[length] == '=')
        value = text + length + 1;
    else if (option->kind == SADDLE_OPTION_FLAG)
        value = "yes";
    else if (*k + 1 < argc && strncmp(argv[*k + 1], "--", 2) != 0)
        value = argv[++*k];
    else
        value = option->alone;
    if (value == NULL)
        return saddle_refuse(error, "--%s needs a value: --%s %s", option->name, option->name,
                             option->metavar);
    if (*value == '\0')
        SADDLE_TRY(check_empty(a->command, option, error));
    return set_option(a, option, value, error);
}

/* Returns the option that a word begins with, --NAME or --NAME=VALUE; NULL if the command does not take it. */
static const saddle_option *option_in(const cli_arguments *a, const char *word)
{
    char name[128];
    size_t length = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || length >= sizeof name)
        return NULL;
    memcpy(name, word + 2, length - 2);
    name[length - 2] = '\0';
    const saddle_option *option = saddle_plan_find(&a->plan, name);
    return option != NULL && cli_takes(a->command, option) ? option : NULL;
}

/* Reads the options that can name plug-ins, and no others. */
static saddle_status read_plugins(cli_arguments *a, int argc, char *const *argv,
                                  saddle_error *error)
{
    for (int k = 0; k < argc && strcmp(argv[k], "--") != 0; k++) {
        const saddle_option *option = option_in(a, argv[k]);
        if (option != NULL && option->files == SADDLE_FILES_CODE)
            SADDLE_TRY(read_value(a, option, argc, argv, &k, error));
    }
    return saddle_plan_load_plugins(&a->plan, error);
}

/* Reads the option in argv[*k]; advances *k if its value is the next word. */
static saddle_status read_option(cli_arguments *a, int argc, char *const *argv, int *k,
                                 saddle_error *error)
{
    const char *word = strcmp(argv[*k], "-o") == 0 ? "--output" : argv[*k];
    const saddle_option *option = option_in(a, word);
    if (option == NULL) {
        SADDLE_TRY(read_plugins(a, argc, argv, error));
        option = option_in(a, word);
    }
    return option != NULL ? read_value(a, option, argc, argv, k, error)
                          : unknown_option(a, word + 2, error);
}

/* The remedy for an extra argument that is a file, most likely a data file. */
static const char *data_hint(const cli_arguments *a, const char *word)
{
    const saddle_option *data = saddle_plan_find(&a->plan, "data");
    if (data == NULL || !cli_takes(a->command, data) || access(word, F_OK) != 0)
        return "";
    return saddle_plan_given(&a->plan, data)
               ? "; for one file per agent, write %d in place of the number: --data 'part-%d.csv'"
               : "; give a data file as --data FILE";
}

/* The numbers of operands that "A B", "[A]" or "A..." allow. */
static size_t least_operands(const cli_command *command)
{
    size_t words = *command->operands != '\0' && *command->operands != '[';
    for (const char *c = command->operands; *c != '\0'; c++)
        words += *c == ' ';
    return words;
}

static size_t most_operands(const cli_command *command)
{
    if (command->most > 0 || strstr(command->operands, "...") != NULL)
        return command->most > 0 ? command->most : SIZE_MAX;
    return *command->operands == '[' ? 1 : least_operands(command);
}

static saddle_status read_operand(cli_arguments *a, const char *word, saddle_error *error)
{
    if (word[0] == '-' && word[1] != '\0')
        return saddle_refuse(
            error, "'%.80s' is not an option; options begin with two dashes, as in --seed 7", word);
    if (a->count == most_operands(a->command))
        return saddle_refuse(error, "extra argument '%.80s'; usage: saddle %s%s%s [options]%s",
                             word, a->command->name, *a->command->operands != '\0' ? " " : "",
                             a->command->operands, data_hint(a, word));
    a->operand[a->count++] = word;
    return SADDLE_OK;
}

/* Whether the command takes -o, the short form of --output. */
static bool takes_output(const cli_arguments *a)
{
    const saddle_option *option = saddle_plan_find(&a->plan, "output");
    return option != NULL && cli_takes(a->command, option);
}

static saddle_status read_words(cli_arguments *a, int argc, char *const *argv, saddle_error *error)
{
    bool options = true;
    for (int k = 0; k < argc; k++) {
        bool brief = strcmp(argv[k], "-o") == 0 && takes_output(a);
        bool dashes = options && (brief || strncmp(argv[k], "--", 2) == 0);
        if (dashes && !brief && argv[k][2] == '\0')
            options = false;
        else if (dashes)
            SADDLE_TRY(read_option(a, argc, argv, &k, error));
        else if (options)
            SADDLE_TRY(read_operand(a, argv[k], error));
        else if (a->count < most_operands(a->command))
            a->operand[a->count++] = argv[k];
        else
            return saddle_refuse(error, "extra argument '%.80s'", argv[k]);
    }
    return SADDLE_OK;
}

/* Notes whether help is requested anywhere among the words, and for which problem and algorithm.
 * Nothing else is read, so that help works whatever else is given. */
static void look_for_help(cli_arguments *a, int argc, char *const *argv)
{
    for (int k = 0; k < argc && strcmp(argv[k], "--") != 0; k++) {
        a->help_all = a->help_all || strcmp(argv[k], "--help-all") == 0;
        a->help =
            a->help || a->help_all || strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0;
    }
    if (a->help)
        (void)read_plugins(a, argc, argv, NULL);
}

/* Reads the file that --config names, if it is given. */
static saddle_status read_config(saddle_plan *plan, saddle_error *error)
{
    if (!saddle_plan_given(plan, &cli_option_config))
        return SADDLE_OK;
    return saddle_plan_load(plan, SADDLE_PLAN_TEXT(plan, &cli_option_config), error);
}

saddle_status cli_read_arguments(cli_arguments *out, const cli_command *command, int argc,
                                 char *const *argv, saddle_error *error)
{
    *out = (cli_arguments){.command = command};
    out->operand = calloc((size_t)argc + 1, sizeof *out->operand);
    out->own = calloc(1, command->own_bytes + 1);
    if (out->operand == NULL || out->own == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for %d arguments", argc);
    saddle_status status = cli_plan(&out->plan, command, error);
    if (status == SADDLE_OK)
        look_for_help(out, argc, argv);
    if (status != SADDLE_OK || out->help)
        return status;
    status = read_words(out, argc, argv, error);
    if (status == SADDLE_OK && out->count < least_operands(command))
        status = saddle_refuse(error, "saddle %s needs %s; `saddle help %s` explains it",
                               command->name, command->operands, command->name);
    SADDLE_THEN(status, read_config(&out->plan, error));
    if (command->own != NULL)
        saddle_plan_read_own(&out->plan, command->own, out->own);
    return status;
}

void cli_release_arguments(cli_arguments *arguments)
{
    saddle_plan_free(&arguments->plan);
    free((void *)arguments->operand);
    free(arguments->own);
    *arguments = (cli_arguments){.count = 0};
}

/* ---- options without effect ---------------------------------------------------------------- */

static void warn(void *context, const char *message)
{
    (void)context;
    cli_warn("%s", message);
}

void cli_warn_unused(const saddle_plan *plan, const saddle_instance *instance,
                     const saddle_algorithm *const *algorithm, size_t count)
{
    char scaled[SADDLE_SCALE_TEXT];
    saddle_scale_text(instance, scaled);
    if (scaled[0] != '\0')
        cli_say("scaled %s (--scale none leaves them)", scaled);
    saddle_report_unused(plan, instance, algorithm, count, warn, NULL);
}

void cli_warn_unread(const saddle_plan *plan, unsigned formats)
{
    saddle_report_unread(plan, formats, warn, NULL);
}
