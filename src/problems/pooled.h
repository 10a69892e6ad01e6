/*
 * A decentralized problem as a problem of one agent that holds the samples of all agents, for the
 * centralized algorithms: it has the same objective F = (1/m) sum_i F_i, the same dimensions and
 * the same best response.
 */
#ifndef SADDLE_PROBLEMS_POOLED_H
#define SADDLE_PROBLEMS_POOLED_H

#include <saddle/problem.h>

/* Pools a problem, which is borrowed for the result's lifetime. Free with saddle_problem_free(). */
saddle_status saddle_pooled_create(saddle_problem **out, const saddle_problem *of,
                                   saddle_error *error);

#endif
