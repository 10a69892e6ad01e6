#include "json_output.h"

#include "instance/unused_options.h"

void cli_json_begin(saddle_json *j, const cli_command *command)
{
    saddle_json_begin(j, stdout);
    saddle_json_put(j, "saddle %s schema %zu command %s", saddle_version(), (size_t)CLI_JSON_SCHEMA,
                    command->name);
}

void cli_json_end(saddle_json *j)
{
    size_t count;
    const char *const *warning = cli_warnings(&count);
    saddle_json_put(j, "warnings [");
    for (size_t k = 0; k < count; k++)
        saddle_json_put(j, "%s", warning[k]);
    saddle_json_put(j, "]");
    saddle_json_end(j);
}

/* ---- settings ------------------------------------------------------------------------------ */

/* Adds an option by its name, with _ for -; null if it is automatic or empty. */
static void put_setting(saddle_json *j, const saddle_option *option, const char *text)
{
    char name[64];
    double real;
    uint64_t integer;
    saddle_snprintf(name, sizeof name, "%s", option->name);
    for (char *dash = name; (dash = strchr(dash, '-')) != NULL;)
        *dash = '_';
    bool unset =
        *text == '\0' || (option->kind != SADDLE_OPTION_CHOICE && strcmp(text, "auto") == 0);
    if (unset)
        saddle_json_put(j, "%s: null", name);
    else if (option->kind == SADDLE_OPTION_FLAG)
        saddle_json_put(j, "%s: %d", name, strcmp(text, "yes") == 0);
    else if (option->kind == SADDLE_OPTION_INTEGER && saddle_parse_integer(text, &integer))
        saddle_json_put(j, "%s: %" PRIu64, name, integer);
    else if (option->kind == SADDLE_OPTION_REAL && saddle_parse_real(text, &real))
        saddle_json_put(j, "%s: %g", name, real);
    else
        saddle_json_put(j, "%s: %s", name, text);
}

void cli_json_settings(saddle_json *j, const saddle_plan *plan)
{
    saddle_json_put(j, "settings {");
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        put_setting(j, option, SADDLE_PLAN_TEXT(plan, option));
    }
    saddle_json_put(j, "}");
}

void cli_json_given(saddle_json *j, const cli_arguments *arguments)
{
    const cli_command *command = arguments->command;
    const saddle_plan *plan = &arguments->plan;
    saddle_json_put(j, "settings {");
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        bool given = saddle_plan_given(plan, option);
        bool general = option->home == SADDLE_HOME_PLAN || saddle_option_in(command->own, option);
        bool undecided = !given && cli_has_option(command->undecided, option);
        if (option != &cli_option_json && cli_takes(command, option) && (given || general))
            put_setting(j, option, undecided ? "" : SADDLE_PLAN_TEXT(plan, option));
    }
    saddle_json_put(j, "}");
}

/* ---- runs ---------------------------------------------------------------------------------- */

void cli_json_stop(saddle_json *j, saddle_stop stop)
{
    static const char *const word[] = {[SADDLE_STOP_ITERATIONS] = "iterations",
                                       [SADDLE_STOP_TOLERANCE] = "tolerance",
                                       [SADDLE_STOP_IFO] = "ifo",
                                       [SADDLE_STOP_ROUNDS] = "rounds",
                                       [SADDLE_STOP_SECONDS] = "seconds",
                                       [SADDLE_STOP_NETWORK_SECONDS] = "network_seconds",
                                       [SADDLE_STOP_CONDITION] = "condition",
                                       [SADDLE_STOP_NO_GAIN] = "no_gain",
                                       [SADDLE_STOP_STALLED] = "stalled",
                                       [SADDLE_STOP_OSCILLATES] = "oscillates",
                                       [SADDLE_STOP_INTERRUPTED] = "interrupted",
                                       [SADDLE_STOP_DIVERGED] = "diverged"};
    saddle_json_put(j, "stop %s ended %s", word[stop], saddle_stop_text(stop));
}

void cli_json_row(saddle_json *j, const char *name, const saddle_row *row, size_t count,
                  const saddle_outcome_column *column, const double *outcome)
{
    saddle_json_put(j, "%s: {", name);
    for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++)
        saddle_json_put(j, "%s: %g", saddle_trace_column_name(k), saddle_row_cell(row, k));
    for (size_t k = 0; k < count; k++)
        saddle_json_put(j, "%s: %g", column[k].name, outcome[k]);
    saddle_json_put(j, "}");
}
