/* The files that a run reads and writes, as its plan names them. */
#ifndef SADDLE_RUN_PLAN_FILES_H
#define SADDLE_RUN_PLAN_FILES_H

#include <saddle/plan.h>

#include "files/path_list.h"

/* Add every file that a run of a plan reads: data, held-out data and the labels that are found beside them,
 * networks, starting points, plug-ins, checkpoints. */
void saddle_plan_add_inputs(const saddle_plan *plan, saddle_path_list *inputs);
/* Add every file that it writes, but for checkpoints. */
void saddle_plan_add_outputs(const saddle_plan *plan, saddle_path_list *outputs);
/* Add the files of a data set, by its name: the file, or all parts of a pattern with a %d, and the labels that
 * are found by their names. */
void saddle_data_add_inputs(const char *option, const char *name, saddle_path_list *inputs);
/* Refuse an output with the name of a checkpoint in the directory of checkpoints. */
saddle_status saddle_plan_check_names(const saddle_plan *plan, saddle_error *error);

#endif
