/*
 * Options of plug-ins as options of a plan.
 *
 * Once a plan has loaded the plug-ins that it names, their own options are set by name like those of the
 * library. When a problem, set, regularizer or algorithm is made, the values given are appended to the text
 * that names it, ./mine.so:name=value,..., which is what runs read and what traces and checkpoints record. The
 * settings of a run also have the own options of its problem and algorithm one by one.
 */
#pragma once

#include "files/plugin.h"
#include "instance/plan.h"

/* Finds the option of a name like saddle_plan_find(); loads the plug-ins if the plan does not have it. */
saddle_status saddle_plan_seek(saddle_plan *plan, const char *name, const saddle_option **out,
                               saddle_error *error);
/* Returns in `out` the value of an option that names a plug-in, followed by the plug-in's options that are
 * given in the plan (NULL: none) and not in the text. Free with saddle_free(). */
saddle_status saddle_plan_plugin_text(const saddle_plan *plan, const char *option, const char *text,
                                      char **out, saddle_error *error);
/* Replaces the value of every option of the instance that names a plug-in by its text with options. */
saddle_status saddle_plan_complete_plugins(saddle_plan *plan, saddle_error *error);
/* Appends the options in `text`, PATH:name=value,..., to the value of an option that names the same plug-in,
 * except those that are given there or by name. */
saddle_status saddle_plan_restore_plugin(saddle_plan *plan, const saddle_option *option,
                                         const char *text, saddle_error *error);
/* Adds a plug-in's own options to a plan, which keeps the object loaded; except those whose name the plan
 * already has. */
saddle_status saddle_plan_adopt(saddle_plan *plan, saddle_plugin_object *plugin,
                                const saddle_option *const *options, saddle_error *error);
/* Returns whether an algorithm of the plug-ins that a plan has loaded has an option. */
bool saddle_plan_algorithm_has(const saddle_plan *plan, const saddle_option *option);
/* Returns whether the texts of all plug-ins that have an option give it, so that its name has no effect; `out`
 * receives the first of them. */
bool saddle_plan_text_overrides(const saddle_plan *plan, const saddle_option *option,
                                char out[SADDLE_VALUE_SIZE]);
/* Returns whether PATH:name=value,... has a value for an option. */
bool saddle_plugin_text_has(const char *text, const char *name);
