/* What problems that score rows by a model (models/model.h) share. */
#ifndef SADDLE_PROBLEMS_SCORED_H
#define SADDLE_PROBLEMS_SCORED_H

#include <saddle/problem.h>

#include "models/model.h"

/* The mean of |grad h|^2 over a block of rows of every agent, at the model's start; 0 for an instance
 * that is only used for scoring. Collective; a failure is one in all processes. */
saddle_status saddle_start_square(const saddle_model *model, const saddle_problem_inputs *inputs,
                                  double *out, saddle_error *error);

/* The cost of a sample, as saddle_row_cost(). Collective. */
double saddle_model_cost(const saddle_model *model, const saddle_problem_inputs *inputs);

#endif
