/*
 * A problem in which agents count by the number of their samples: the objective sum_i (n_i / N) F_i in place of
 * (1/m) sum_i F_i, N = sum_i n_i.
 */
#ifndef SADDLE_PROBLEMS_WEIGHTED_H
#define SADDLE_PROBLEMS_WEIGHTED_H

#include <saddle/problem.h>

/* Weigh a problem, which is borrowed for the result's lifetime. Free with saddle_problem_free(). */
saddle_status saddle_weighted_create(saddle_problem **out, const saddle_problem *of,
                                     saddle_error *error);

#endif
