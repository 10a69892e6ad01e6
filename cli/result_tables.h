/* Tables of results: costs of a comparison, bounds of theorems. */
#ifndef SADDLE_CLI_RESULT_TABLES_H
#define SADDLE_CLI_RESULT_TABLES_H

#include <saddle/lab.h>

#include "lab/comparison.h"
#include "lab/json.h"
#include "lab/reproduction.h"

/* Print a table for each level, then one of how the runs ended. */
void cli_print_comparison(const comparison *c);
/* Print a theorem's bounds beside measurements. */
void cli_print_theorem(const theorem_check *v);
/* Add the same as an object to an array. */
void cli_json_theorem(saddle_json *j, const theorem_check *v);
/* Add "levels" and "algorithms", with every run and the numbers of the tables. */
void cli_json_comparison(saddle_json *j, const comparison *c, const comparison_inputs *in);

#endif
