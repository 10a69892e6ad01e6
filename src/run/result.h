/* Making results, for the files of this folder. */
#ifndef SADDLE_RUN_RESULT_H
#define SADDLE_RUN_RESULT_H

#include <saddle/run.h>

/* What a model file holds: grows when a reader of the last one could not use it. */
#define SADDLE_MODEL_FORMAT 1

/* An empty result with room for the means and copies of a problem's variables. */
saddle_status saddle_result_create(saddle_result **out, const saddle_problem *problem,
                                   saddle_error *error);
/* Append a row of the trace. */
saddle_status saddle_result_append(saddle_result *result, const saddle_row *row,
                                   saddle_error *error);

#endif
