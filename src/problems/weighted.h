/*
 * A problem in which agents are weighted by their number of samples: its objective is sum_i (n_i /
 * N) F_i, N = sum_i n_i, instead of (1/m) sum_i F_i.
 */
#ifndef SADDLE_PROBLEMS_WEIGHTED_H
#define SADDLE_PROBLEMS_WEIGHTED_H

#include <saddle/problem.h>

/* Makes a weighted problem of another one, which is borrowed for its lifetime. Free with
 * saddle_problem_free(). */
saddle_status saddle_weighted_create(saddle_problem **out, const saddle_problem *of,
                                     saddle_error *error);

#endif
