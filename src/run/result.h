/* Making results, for the files of this folder. */
#pragma once

#include <saddle/run.h>

#include "core/base.h"

/* Makes an empty result with memory for the means and for the copies of the agents in this
 * process. */
saddle_status saddle_result_create(saddle_result **out, const saddle_instance *instance,
                                   saddle_error *error);
/* Return the number of bytes that this takes, the largest number that `count` rows with their
 * outcomes take in addition, and the number that writing the model takes temporarily. */
double saddle_result_bytes(const saddle_instance *instance);
double saddle_result_row_bytes(double count, size_t outcomes);
double saddle_result_write_bytes(const saddle_instance *instance);
/* Appends a row of the trace with its outcomes. */
saddle_status saddle_result_append(saddle_result *result, const saddle_row *row,
                                   const double *outcomes, saddle_error *error);
/* Compute result->disagreement from the copies and means. Collective. */
void saddle_result_measure_disagreement(saddle_result *result, const saddle_world *world);
/* Write the model, all agents' copies in it, as saddle_result_save() does: process 0 writes, and
 * the others send it a row at a time. After a failure the means are no longer there. Collective. */
saddle_status saddle_result_write(saddle_result *result, const saddle_world *world,
                                  const char *path, saddle_error *error);
/* Writes the model of the only agent of this process: its own copies, as if there were no other agents. */
saddle_status saddle_result_save_own(const saddle_result *result, const char *path,
                                     saddle_error *error);
SADDLE_RELEASES(saddle_result, saddle_result_free)
