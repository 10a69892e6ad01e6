/* The files that a run reads and writes according to its plan. */
#pragma once

#include <saddle/plan.h>

#include "files/path_list.h"

/* Adds every file that the values of a plan's options name and that is read (saddle_option::files),
 * and the label files next to data. */
void saddle_plan_add_inputs(const saddle_plan *plan, saddle_path_list *inputs);
/* Refuses a `path` that is one of these files: what is written there would replace it. */
saddle_status saddle_plan_keep_inputs(const saddle_plan *plan, const char *path,
                                      saddle_error *error);
/* Adds the contents of the plug-ins of a plan, and of the files that their options name, to a fingerprint. */
saddle_status saddle_plan_add_contents(const saddle_plan *plan, uint64_t *fingerprint,
                                       saddle_error *error);
/* Adds every file that they name and that is written. */
void saddle_plan_add_outputs(const saddle_plan *plan, saddle_path_list *outputs);
/* Adds the files of a data set by its name: the file, or all files of a pattern with %d, and
 * their label files. */
void saddle_data_add_inputs(const char *what, const char *name, saddle_path_list *inputs);
/* Refuses an output in the checkpoint directory that has the name of a checkpoint. */
saddle_status saddle_plan_check_names(const saddle_plan *plan, saddle_error *error);
