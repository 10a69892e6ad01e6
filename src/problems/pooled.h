/*
 * A decentralized problem seen by one agent that holds everybody's samples, for the centralized
 * algorithms: the same objective F = (1/m) sum_i F_i, the same dimensions, the same best response.
 */
#ifndef SADDLE_PROBLEMS_POOLED_H
#define SADDLE_PROBLEMS_POOLED_H

#include <saddle/problem.h>

/* Pool a problem, which is borrowed for the result's lifetime. Free with saddle_problem_free(). */
saddle_status saddle_pooled_create(saddle_problem **out, const saddle_problem *of,
                                   saddle_error *error);

#endif
