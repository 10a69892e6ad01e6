/* Names of data files with a number in them, such as part-%d.csv or part-%02d.csv: one file per agent. */
#pragma once

#include "core/base.h"

/* Returns whether a name contains a %, so that it stands for several files. */
bool saddle_is_pattern(const char *name);
/* Fails unless the pattern has exactly one %d or %0Nd and no other %. */
saddle_status saddle_pattern_check(const char *pattern, saddle_error *error);
/* Returns the name with a number filled in; the caller frees it. NULL when memory is short. The pattern
 * must be valid. */
char *saddle_pattern_name(const char *pattern, size_t number);
/* Raises *out to one more than the highest number of an existing file of the pattern, if that is larger.
 * There may be gaps below. */
saddle_status saddle_pattern_count(const char *pattern, size_t *out, saddle_error *error);
/* Fails because no file of a pattern exists. */
saddle_status saddle_no_first_file(const char *pattern, saddle_error *error);
/* Fails for names under which data cannot be written: patterns, and endings of formats that are only read. */
saddle_status saddle_check_data_name(const char *path, saddle_error *error);
