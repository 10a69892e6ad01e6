/* The built-in problems, and functions that they share. A new problem needs one file, one line
 * here and one in problem_list.c. */
#pragma once

#include <saddle/problem.h>

extern const saddle_problem_class saddle_robust_logistic;
extern const saddle_problem_class saddle_robust_regression;
extern const saddle_problem_class saddle_policy_evaluation;
extern const saddle_problem_class saddle_quadratic;
extern const saddle_problem_class saddle_auc;
extern const saddle_problem_class saddle_fair;
extern const saddle_problem_class saddle_group_dro;
extern const saddle_problem_class saddle_poisoning;

/* Returns the process that an instance of policy-evaluation was made from, for tests. Borrowed. */
const struct saddle_mdp *saddle_policy_evaluation_mdp(const saddle_problem *problem);

/* Adds the common term -(ridge / 2) |y|^2 to the outputs of a part. */
void saddle_add_ridge(const saddle_problem *problem, double ridge, const saddle_part *part);

/* Returns a bound of the norm of a Hessian: the norm of the symmetric 2x2 matrix of the norms of
 * its blocks. */
double saddle_block_norm(double xx, double xy, double yy);

/* Sets the lower bound of Q to `bound` if Y contains, to within a tolerance, the vector whose
 * entries all are `entry`. */
saddle_status saddle_bound_primal(saddle_constants *out, double bound, const saddle_set *y_set,
                                  double entry, double tolerance, saddle_error *error);

struct saddle_sensitive;
/* Returns the largest |a|^2 over all rows of all agents, without the features that `sensitive`
 * hides; NULL: none are hidden. Collective. */
double saddle_largest_norm2(const saddle_problem_inputs *inputs,
                            const struct saddle_sensitive *sensitive);

/* Returns the cost of a sample whose row is multiplied by a matrix of `columns` columns and by
 * its transpose, computed from the mean number of entries per row. Collective. */
double saddle_row_cost(const saddle_problem_inputs *inputs, size_t columns);

/* Overwrites `sums` with sums over one agent's samples, or over held-out rows, at (x, y). */
typedef void saddle_outcome_counter(const saddle_problem *problem, const saddle_dataset *held_out,
                                    size_t agent, const double *x, const double *y, double *sums,
                                    double *scratch);

/*
 * Computes sums for a problem's outcomes: `size` numbers over the held-out rows or, without any,
 * over the agents that count. Without held-out rows it is collective and fails in all processes or
 * in none. In `*out`, which the caller frees, the sums are followed by the problem's scratch
 * memory; NULL on failure.
 */
saddle_status saddle_outcome_sums(double **out, size_t size, saddle_outcome_counter *count,
                                  const saddle_problem *problem, const saddle_outcome_rows *rows,
                                  const double *x, const double *y, saddle_error *error);
