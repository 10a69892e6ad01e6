/* What the objects that --json prints have in common. docs/json.md describes them. */
#ifndef SADDLE_CLI_JSON_OUTPUT_H
#define SADDLE_CLI_JSON_OUTPUT_H

#include "cli.h"
#include "lab/json.h"

/* Raised when a key changes its meaning or goes; new keys do not raise it. */
#define CLI_JSON_SCHEMA 1

/* Begin the object of a command on standard output. */
void cli_json_begin(saddle_json *j, const cli_command *command);
/* Add the warnings so far and end it. */
void cli_json_end(saddle_json *j);

/* Add "settings" with all options of the settings. */
void cli_json_settings(saddle_json *j, const saddle_settings *settings);
/* Add "settings" with the options that a command takes, but for those of single problems and algorithms that
 * were not given. */
void cli_json_given(saddle_json *j, const cli_arguments *arguments);
/* Add "stop", a word, and "ended", the text that traces have. */
void cli_json_stop(saddle_json *j, saddle_stop stop);
/* Add an object with all columns of a row and its outcomes. */
void cli_json_row(saddle_json *j, const char *name, const saddle_row *row, size_t count,
                  const saddle_outcome_column *column, const double *outcome);

#endif
