/* Names of data with a number in them, such as part-%d.csv or part-%02d.csv: one file per agent. */
#ifndef SADDLE_FILES_PATTERN_H
#define SADDLE_FILES_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/status.h>

/* Whether a name has a % in it, so that it stands for several files. */
bool saddle_is_pattern(const char *name);
/* Refuse a pattern that has anything but one %d or %0Nd. */
saddle_status saddle_pattern_check(const char *pattern, saddle_error *error);
/* The name with a number in its place, to be freed; NULL when memory is short. The pattern has been checked. */
char *saddle_pattern_name(const char *pattern, size_t number);
/* Let *out be one more than the highest number of the files of a pattern, whose path it is, if that is more. Says
 * nothing about those between. */
saddle_status saddle_pattern_count(const char *pattern, size_t *out, saddle_error *error);
/* Refuse the name of a file of data that is not written: a pattern, or an ending of a format that is only read. */
saddle_status saddle_check_data_name(const char *path, saddle_error *error);

#endif
