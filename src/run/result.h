/* Making results, for the files of this folder. */
#ifndef SADDLE_RUN_RESULT_H
#define SADDLE_RUN_RESULT_H

#include <saddle/run.h>

/* What a model file holds: grows when a reader of the last one could not use it. */
#define SADDLE_MODEL_FORMAT 1

/* An empty result with room for the means of an instance's variables and the copies of the agents that
 * are here. */
saddle_status saddle_result_create(saddle_result **out, const saddle_instance *instance,
                                   saddle_error *error);
/* Bytes that this takes, those that `count` rows with their outcomes take at most on top of it, and those that writing the model
 * takes for a while. */
double saddle_result_bytes(const saddle_instance *instance);
double saddle_result_row_bytes(double count, size_t outcomes);
double saddle_result_write_bytes(const saddle_instance *instance);
/* Append a row of the trace with its outcomes. */
saddle_status saddle_result_append(saddle_result *result, const saddle_row *row,
                                   const double *outcomes, saddle_error *error);
/* Write the model, all agents' copies in it, as saddle_result_save() does: process 0 writes, and
 * the others send it a row at a time. After a failure the means are no longer there. Collective. */
saddle_status saddle_result_write(saddle_result *result, const saddle_world *world,
                                  const char *path, saddle_error *error);

#endif
