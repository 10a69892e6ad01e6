/*
 * Shared objects that hold problems, algorithms, sets or regularizers: <saddle/plugin.h>.
 *
 * A text names one by PATH[:ARGUMENT], with a / before its first colon.
 */
#ifndef SADDLE_FILES_PLUGIN_H
#define SADDLE_FILES_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/plugin.h>

#include "core/sha256.h"
#include "files/path_list.h"

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
/*
 * Load the object that a text names and check its ABI number before anything else of it is used. The
 * object stays loaded until saddle_plugin_close(), which must come after everything that was made from it.
 */
saddle_status saddle_plugin_open(saddle_plugin_object **out, const char *text, saddle_error *error);
/* The SHA-256 of the file of the object that a text names; false when it cannot be read. */
bool saddle_plugin_sum(const char *text, unsigned char out[SADDLE_SHA256_BYTES]);
/* Add every path of a shared object in a text: that of PATH[:ARGUMENT], and those in a list such as
 * blocks:2*./mine.so,*none or gda,./mine.so. Texts that only look like paths may be among them. */
void saddle_plugin_add_paths(saddle_path_list *list, const char *option, const char *text);
/* Unload. NULL is allowed. */
void saddle_plugin_close(saddle_plugin_object *plugin);
/* The classes that a text can name: problems, algorithms, sets or regularizers. */
typedef struct saddle_catalog {
    const char *what; /* "problem", "set" ... */
    const void *list; /* pointers to the built-in classes, whose first member is their name */
    size_t count;
    bool fields;     /* whether a built-in name may be followed by :FIELD:FIELD */
    size_t exported; /* offset of a plug-in's class in saddle_plugin_table */
    /* What a class lacks that it must have besides a name, such as "view function"; NULL: nothing. */
    const char *(*missing)(const void *kind);
} saddle_catalog;

/* Refuse a class that lacks something; `text` is how the user names it. */
saddle_status saddle_catalog_check(const saddle_catalog *catalog, const void *kind,
                                   const char *text, saddle_error *error);
/*
 * Find the class of a name, or load it from the shared object that a text names.
 * @param kind    receives the class; NULL on failure.
 * @param plugin  receives the object that it is in; NULL: it is built in. Close with saddle_plugin_close().
 */
saddle_status saddle_catalog_choose(const saddle_catalog *catalog, const char *text,
                                    const void **kind, saddle_plugin_object **plugin,
                                    saddle_error *error);
/* Fill the fields of options in `target` from name=value,name=value. `list` is cut into pieces that must
 * outlive `target`. Without a table of options (NULL) a class that reads the text itself is left to it, and
 * otherwise the text must be empty. */
saddle_status saddle_plugin_options(const saddle_option *const *options, bool reads_text,
                                    const char *name, char *list, void *target,
                                    saddle_error *error);
/*
 * The text of an object with the values of all its own options, PATH:name=value,name=value, from the struct
 * that they fill; without a table of options (NULL) the text as it was given. To be freed with saddle_free();
 * NULL when memory is short.
 */
char *saddle_plugin_text(const saddle_plugin_object *plugin, const saddle_option *const *options,
                         const void *target);
/* Pass on a failure of the functions of the object that a text names; `said` is their message. */
saddle_status saddle_plugin_failed(const char *text, saddle_status status, const saddle_error *said,
                                   saddle_error *error);

#endif
