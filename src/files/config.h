/*
 * A YAML file of `name: value` lines, read with libcyaml against a list of allowed names.
 *
 * Values arrive as text; a flat list [a, b] arrives as "a,b". Unknown and repeated names, nested
 * blocks, aliases and further documents are errors that say where. An empty file holds nothing.
 */
#ifndef SADDLE_FILES_CONFIG_H
#define SADDLE_FILES_CONFIG_H

#include <stddef.h>

#include <saddle/status.h>

/* The contents of a file. */
typedef struct saddle_config saddle_config;

/* Room for a place with a reasonable path; a longer path is cut. */
#define SADDLE_PLACE_SIZE 512

/* Read a file. `name` is borrowed for the life of the result; free it with saddle_config_free(). */
saddle_status saddle_config_read(saddle_config **out, const char *path, const char *const *name,
                                 size_t count, saddle_error *error);
/* Free. NULL is allowed. */
void saddle_config_free(saddle_config *config);

/* The value of name[index], or NULL when the file does not give it. Borrowed. */
const char *saddle_config_value(const saddle_config *config, size_t index);
/* Where the value of a name stands, as "path:line:column"; the path alone when it is not there. */
void saddle_config_place(const saddle_config *config, const char *name,
                         char place[SADDLE_PLACE_SIZE]);

#endif
