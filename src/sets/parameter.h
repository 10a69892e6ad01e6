/* Reading the texts that name sets and regularizers, with messages that show the right form. */
#ifndef SADDLE_SETS_PARAMETER_H
#define SADDLE_SETS_PARAMETER_H

#include <stddef.h>

#include <saddle/option.h>

#include "core/text.h"
#include "files/plugin.h"

/*
 * Find which of several names a text begins with, up to its first colon, or load the shared object that it
 * names.
 * @param what    "set" or "regularizer", for the message.
 * @param index   receives the index of the name.
 * @param plugin  receives the object; NULL: it is a name. Close with saddle_plugin_close().
 */
saddle_status saddle_find_name(const char *what, const char *text, const char *const *name,
                               size_t count, size_t *index, saddle_plugin_object **plugin,
                               saddle_error *error);

/* Copy a text: *text is the copy, *argument what follows its first colon, *options another copy of that,
 * which can be cut into pieces. Returns the memory of all three; NULL when it is short. */
char *saddle_copy_text(const char *from, const char **text, const char **argument, char **options);

/* The text of something of a class that is not named by text: "NAME" or "NAME:ARGUMENT". NULL: memory is
 * short. */
char *saddle_class_text(const char *name, const char *argument);

/* Fill the fields of a class's options in `target`. A class that has neither options nor a function that
 * parses them accepts no argument. */
saddle_status saddle_read_options(const saddle_option *const *options, bool parses,
                                  const char *name, char *list, void *target, saddle_error *error);

/* Cut a text at its colons; it must have `least` to `most` parameters after its name. */
saddle_status saddle_read_fields(saddle_fields *out, const char *text, const char *synopsis,
                                 size_t least, size_t most, saddle_error *error);

/* What a parameter may be. */
typedef enum saddle_sign { SADDLE_POSITIVE, SADDLE_NONNEGATIVE } saddle_sign;

/*
 * Read one parameter, a finite number of the sign given.
 * @param text      the whole text, for the message.
 * @param synopsis  the right form, for the message.
 * @param name      what the synopsis calls the parameter.
 */
saddle_status saddle_read_parameter(double *out, const char *field, saddle_sign sign,
                                    const char *text, const char *synopsis, const char *name,
                                    saddle_error *error);

/* Read a text that holds nothing but its name. */
saddle_status saddle_read_bare(const char *text, const char *synopsis, saddle_error *error);

#endif
