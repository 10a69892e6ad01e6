/* Tables of results: costs of a comparison, and bounds of theorems. */
#ifndef SADDLE_CLI_RESULT_TABLES_H
#define SADDLE_CLI_RESULT_TABLES_H

#include <saddle/lab.h>

#include "comparison.h"
#include "json.h"
#include "theorem_check.h"

/* Print a table for each level, then one of how the runs ended; before them what the plan says of links, compression
 * and churn. */
void cli_print_comparison(const comparison *c, const saddle_plan *plan);
/* Print a theorem's bounds beside measurements. */
void cli_print_theorem(const theorem_check *v);
/* Adds the same as an object to an array. */
void cli_json_theorem(saddle_json *j, const theorem_check *v);
/* Adds "levels" and "algorithms", with every run and the numbers of the tables. */
void cli_json_comparison(saddle_json *j, const comparison *c, const comparison_inputs *in);

#endif
