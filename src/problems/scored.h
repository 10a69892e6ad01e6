/* Functions shared by problems that score rows, some of them by a model (models/model.h). */
#pragma once

#include <saddle/problem.h>

#include "models/model.h"

/* Computes the mean of |grad h|^2 over a block of rows of every agent, at the model's start; 0
 * for an instance made for scoring. Collective; fails in all processes or in none. */
saddle_status saddle_start_square(const saddle_model *model, const saddle_problem_inputs *inputs,
                                  double *out, saddle_error *error);

/* Returns the cost of a sample, in the unit of saddle_row_cost(). Collective. */
double saddle_model_cost(const saddle_model *model, const saddle_problem_inputs *inputs);

/* Counts over rows that a classifier was tested on. */
typedef struct saddle_tally {
    double rows;
    double correct;
    double loss;
} saddle_tally;

/* Returns the counts of one row with label -1 or 1. A score of 0 predicts -1. */
saddle_tally saddle_tally_row(double label, double score);
void saddle_tally_add(saddle_tally *sum, saddle_tally more);
/* Return the share of correct rows and the mean logistic loss; NaN if there are no rows. */
double saddle_tally_accuracy(const saddle_tally *tally);
double saddle_tally_loss(const saddle_tally *tally);

/* Scores all rows of a data set, like saddle_problem::scores. */
typedef saddle_status saddle_row_scorer(const saddle_problem *problem, const saddle_dataset *data,
                                        const double *x, const double *y, double *out,
                                        saddle_error *error);

/* Computes numbers from scores, which it may overwrite, and labels. */
typedef saddle_status saddle_score_measure(size_t rows, double *score, const double *label,
                                           double *out, saddle_error *error);

/*
 * Computes `count` numbers from the scores of the held-out rows or, without any, of the rows of the
 * agents that count. In the latter case scores and labels, and nothing else, are sent to process 0;
 * the call is collective, and every process receives the numbers.
 */
saddle_status saddle_measure_scores(saddle_row_scorer *scorer, saddle_score_measure *measure,
                                    saddle_dataset *const *shard, const saddle_problem *problem,
                                    const saddle_outcome_rows *rows, const double *x,
                                    const double *y, size_t count, double *out,
                                    saddle_error *error);
