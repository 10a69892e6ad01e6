/* Problems from shared objects (<saddle/plugin.h>): loading, checking, making an instance. */
#ifndef SADDLE_PROBLEMS_PLUGIN_H
#define SADDLE_PROBLEMS_PLUGIN_H

#include <stdbool.h>

#include <saddle/plugin.h>

/* A loaded object. */
typedef struct saddle_plugin_object saddle_plugin_object;

/* Whether a --problem text names a shared object: there is a '/' before its first colon. */
bool saddle_plugin_named(const char *text);

/* Load the object that PATH[:OPTIONS] names and check what it exports. Free with
 * saddle_plugin_close(), after every instance made from it. */
saddle_status saddle_plugin_open(saddle_plugin_object **out, const char *text, saddle_error *error);
/* Unload. NULL is allowed. */
void saddle_plugin_close(saddle_plugin_object *plugin);

/* The plug-in as a kind of problem without options; its create is NULL. Borrowed. */
const saddle_problem_class *saddle_plugin_kind(const saddle_plugin_object *plugin);
/* Make an instance. */
saddle_status saddle_plugin_instance(const saddle_plugin_object *plugin, saddle_problem **out,
                                     const saddle_problem_inputs *inputs, saddle_error *error);

#endif
