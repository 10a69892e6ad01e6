/*
 * Options of plug-ins as options of a plan.
 *
 * Once a plan has loaded the plug-ins that it names, their own options are set by name like those of the
 * library. When a problem, set, regularizer or algorithm is made, the values given are appended to the text
 * that names it, ./mine.so:name=value,..., which is what runs read and what traces and checkpoints record.
 */
#ifndef SADDLE_INSTANCE_PLAN_PLUGINS_H
#define SADDLE_INSTANCE_PLAN_PLUGINS_H

#include "instance/plan.h"

/* Loads the plug-ins that the caller named in a plan, and adds their own options to the plan, which keeps the
 * objects loaded. An option whose name the plan already has can only be given in the text of its plug-in. */
saddle_status saddle_plan_load_plugins(saddle_plan *plan, saddle_error *error);
/* Finds the option of a name like saddle_plan_find(); loads the plug-ins if the plan does not have it. */
saddle_status saddle_plan_seek(saddle_plan *plan, const char *name, const saddle_option **out,
                               saddle_error *error);
/* Returns in `out` the value of an option that names a plug-in, followed by the plug-in's options that are
 * given in the plan (NULL: none) and not in the text. Free with saddle_free(). */
saddle_status saddle_plan_plugin_text(const saddle_plan *plan, const char *option, const char *text,
                                      char **out, saddle_error *error);
/* Replaces the value of every option of the instance that names a plug-in by its text with options. */
saddle_status saddle_plan_complete_plugins(saddle_plan *plan, saddle_error *error);
/* Adds to a plan those of a plug-in's own options that another plan has, with their values there, except
 * those that the text has. */
saddle_status saddle_plan_take_own(saddle_plan *plan, const saddle_plan *from, const char *text,
                                   const saddle_option *const *options, saddle_error *error);
/* Returns whether PATH:name=value,... has a value for an option. */
bool saddle_plugin_text_has(const char *text, const char *name);

#endif
