/*
 * Shared objects that contain problems, algorithms, sets or regularizers: <saddle/plugin.h>.
 *
 * A text names one as PATH[:ARGUMENT], with a / before its first colon.
 */
#pragma once

#include <stdatomic.h>

#include <saddle/plugin.h>

#include "core/base.h"
#include "core/sha256.h"
#include "files/path_list.h"

typedef struct saddle_plugin_object {
    const saddle_plugin_table *exported; /* in the object */
    const char *path;
    const char *argument; /* what follows the colon; "" if nothing */
    char *list;           /* a copy of it, to be split */
    char *owned;          /* memory of the strings */
    void *handle;
    atomic_size_t users; /* the last one unloads it */
} saddle_plugin_object;

/* Returns whether a text names a shared object. */
bool saddle_plugin_named(const char *text);
/* Returns a text that may name a shared object without its directory, as tables and curves show it. Borrowed. */
const char *saddle_plugin_label(const char *text);
/*
 * Loads the object that a text names and checks its ABI number before anything else. The object stays
 * loaded until saddle_plugin_close(); call that after everything made from it has been freed.
 */
saddle_status saddle_plugin_open(saddle_plugin_object **out, const char *text, saddle_error *error);
/* Computes the SHA-256 of the file of the object that a text names; false when it cannot be read. */
bool saddle_plugin_sum(const char *text, unsigned char out[SADDLE_SHA256_BYTES]);
/* Adds every path of a shared object in a text: PATH[:ARGUMENT], and those in lists such as
 * blocks:2*./mine.so,*none or gda,./mine.so. May add texts that only look like paths. */
void saddle_plugin_add_paths(saddle_path_list *list, const char *what, const char *text);
/* Returns the object with one more user; each user calls saddle_plugin_close(). */
saddle_plugin_object *saddle_plugin_share(saddle_plugin_object *plugin);
/* Unloads an object if nobody else uses it. NULL is allowed. */
void saddle_plugin_close(saddle_plugin_object *plugin);
/* The classes of one kind that a text can name: problems, algorithms, sets or regularizers. */
typedef struct saddle_catalog {
    const char *what; /* "problem", "set" ... */
    const void *list; /* pointers to the built-in classes, whose first member is their name */
    size_t count;
    bool fields;     /* whether a built-in name may be followed by :FIELD:FIELD */
    size_t exported; /* offset of a plug-in's class in saddle_plugin_table */
    /* Returns the name of a required member, other than the name, that a class lacks, such as "view
     * function"; NULL when complete. */
    const char *(*missing)(const void *kind);
} saddle_catalog;

/* Fails if a class lacks a required member; `text` is what the user called it. */
saddle_status saddle_catalog_check(const saddle_catalog *catalog, const void *kind,
                                   const char *text, saddle_error *error);
/*
 * Finds the class of a name, or loads it from the shared object that a text names.
 * @param kind    receives the class; NULL on failure.
 * @param plugin  receives the object that contains it; NULL if built in. Close with
 *                saddle_plugin_close().
 */
saddle_status saddle_catalog_choose(const saddle_catalog *catalog, const char *text,
                                    const void **kind, saddle_plugin_object **plugin,
                                    saddle_error *error);
/* Fills the options in `target` from name=value,name=value. `list` is modified and must outlive
 * `target`. Without a table of options (NULL), the text must be empty, unless the class reads it itself. */
saddle_status saddle_plugin_options(const saddle_option *const *options, bool reads_text,
                                    const char *name, char *list, void *target,
                                    saddle_error *error);
/*
 * Returns the text of an object with the values of all its options, PATH:name=value,name=value, from the
 * struct that holds them; without a table of options (NULL), the text as it was given. Free with
 * saddle_free(); NULL when memory is short.
 */
char *saddle_plugin_text(const saddle_plugin_object *plugin, const saddle_option *const *options,
                         const void *target);
/* Passes on a failure of the functions of the object that a text names; `said` is their message. */
saddle_status saddle_plugin_failed(const char *text, saddle_status status, const saddle_error *said,
                                   saddle_error *error);
