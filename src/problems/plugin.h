/* Problems from shared objects (<saddle/plugin.h>): loading, checking, making an instance. */
#ifndef SADDLE_PROBLEMS_PLUGIN_H
#define SADDLE_PROBLEMS_PLUGIN_H

#include <stdbool.h>

#include <saddle/plugin.h>

/* Whether a --problem text names a shared object: there is a '/' before its first colon. */
bool saddle_plugin_named(const char *text);

/* The plug-in as a kind of problem without options; its create is NULL. Borrowed. */
const saddle_problem_class *saddle_plugin_kind(const saddle_plugin_object *plugin);
/* Make an instance. */
saddle_status saddle_plugin_instance(const saddle_plugin_object *plugin, saddle_problem **out,
                                     const saddle_problem_inputs *inputs, saddle_error *error);

#endif
