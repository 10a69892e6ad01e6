/* The members that the objects of --json have in common. docs/json.md describes them. */
#pragma once

#include "cli.h"
#include "json.h"

/* Incremented when a key changes its meaning or is removed; new keys do not change it. */
#define CLI_JSON_SCHEMA 2

/* Begins the object of a command on standard output. */
void cli_json_begin(saddle_json *j, const cli_command *command);
/* Adds the warnings so far and ends the object. */
void cli_json_end(saddle_json *j);

/* Adds "settings" with all options of the settings. */
void cli_json_settings(saddle_json *j, const saddle_plan *plan);
/* Adds "settings" with the options that a command takes; options of a single problem or
 * algorithm only if they were given. */
void cli_json_given(saddle_json *j, const cli_arguments *arguments);
/* Adds "stop", one word, and "ended", the text that traces have. */
void cli_json_stop(saddle_json *j, saddle_stop stop);
/* Adds an object with all columns of a row and its outcomes. */
void cli_json_row(saddle_json *j, const char *name, const saddle_row *row, size_t count,
                  const saddle_outcome_column *column, const double *outcome);
