/* The results of a comparison, as tables and as JSON. */
#pragma once

#include <saddle/lab.h>

#include "comparison.h"
#include "json.h"

/* Prints a table for each level, then one of how the runs ended; before them what the plan says of links, compression
 * and churn. */
void cli_print_comparison(const comparison *c, const saddle_plan *plan);
/* Adds "levels" and "algorithms", with every run and the numbers of the tables. */
void cli_json_comparison(saddle_json *j, const comparison *c);
