/*
 * Reads a YAML file of `name: value` lines into a list of entries with positions.
 *
 * Values are strings; a flat list [a, b] becomes "a,b". The caller checks names and values. Nested values,
 * repeated names, aliases and further documents are refused.
 */
#pragma once

#include "core/base.h"

/* One `name: value`. */
typedef struct saddle_yaml_entry {
    char *name;
    char *value;
    size_t name_line; /* all positions count from 1 */
    size_t name_column;
    size_t line; /* of the value */
    size_t column;
} saddle_yaml_entry;

/* The entries of a file, in its order; none for an empty file. */
typedef struct saddle_yaml {
    saddle_yaml_entry *entry;
    size_t count;
} saddle_yaml;

/* Reads a file. Failures are SADDLE_BAD_INPUT and begin with FILE:LINE:COLUMN where there is a position.
 * Free with saddle_yaml_free(), which is safe after a failure and on a zeroed struct. */
saddle_status saddle_yaml_read(saddle_yaml *out, const char *path, saddle_error *error);
void saddle_yaml_free(saddle_yaml *yaml);
