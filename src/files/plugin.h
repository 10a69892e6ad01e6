/*
 * Shared objects that hold problems, algorithms, sets or regularizers: <saddle/plugin.h>.
 *
 * A text names one by PATH[:ARGUMENT], with a / before its first colon.
 */
#ifndef SADDLE_FILES_PLUGIN_H
#define SADDLE_FILES_PLUGIN_H

#include <stdbool.h>

#include <saddle/plugin.h>

typedef struct saddle_plugin_object {
    const saddle_plugin_table *exported; /* in the object */
    const char *path;
    const char *argument; /* what followed the colon; "": nothing */
    char *list;           /* a copy of it, to be cut into pieces */
    char *owned;          /* memory of the texts */
    void *handle;
} saddle_plugin_object;

/* Whether a text names a shared object. */
bool saddle_plugin_named(const char *text);
/* A text that may name a shared object as tables and curves show it: without the directory. Borrowed. */
const char *saddle_plugin_label(const char *text);
/* Refuse the name of a shared object without a directory; `what` is "problem", "set" ... */
saddle_status saddle_plugin_check_name(const char *what, const char *text, saddle_error *error);
/*
 * Load the object that a text names and check its ABI number before anything else of it is used. The
 * object stays loaded until saddle_plugin_close(), which must come after everything that was made from it.
 */
saddle_status saddle_plugin_open(saddle_plugin_object **out, const char *text, saddle_error *error);
/* Unload. NULL is allowed. */
void saddle_plugin_close(saddle_plugin_object *plugin);
/* Refuse an object that does not have a `what`. */
saddle_status saddle_plugin_lacks(const saddle_plugin_object *plugin, const char *what,
                                  saddle_error *error);
/* Pass on a failure of the functions of the object that a text names; `said` is their message. */
saddle_status saddle_plugin_failed(const char *text, saddle_status status, const saddle_error *said,
                                   saddle_error *error);

#endif
