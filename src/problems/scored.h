/* What problems that score rows share; some do by a model (models/model.h). */
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

/* Scores all rows of a data set, as saddle_problem::scores. */
typedef saddle_status saddle_row_scorer(const saddle_problem *problem, const saddle_dataset *data,
                                        const double *x, const double *y, double *out,
                                        saddle_error *error);

/*
 * The scores of all agents' rows, brought to process 0, or of held-out rows, and behind these `*rows` numbers
 * their labels; nothing else leaves a process. `*score` is to be freed; NULL: they are in process 0. Without
 * held-out rows it is collective, and a failure is one in all processes.
 */
saddle_status saddle_collect_scores(double **score, size_t *rows, saddle_row_scorer *scorer,
                                    saddle_dataset *const *shard, const saddle_problem *problem,
                                    const saddle_dataset *held_out, const double *x,
                                    const double *y, saddle_error *error);

#endif
