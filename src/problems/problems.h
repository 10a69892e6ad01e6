/* The built-in problems, and what they share. A new one is one file, one line here and one in
 * problem_list.c. */
#ifndef SADDLE_PROBLEMS_H
#define SADDLE_PROBLEMS_H

#include <saddle/problem.h>

extern const saddle_problem_class saddle_robust_logistic;
extern const saddle_problem_class saddle_robust_regression;
extern const saddle_problem_class saddle_policy_evaluation;
extern const saddle_problem_class saddle_quadratic;
extern const saddle_problem_class saddle_auc;
extern const saddle_problem_class saddle_fair;
extern const saddle_problem_class saddle_group_dro;
extern const saddle_problem_class saddle_poisoning;

/* Adds -(ridge / 2) |y|^2, which all samples share, to the outputs of a part. */
void saddle_add_ridge(const saddle_problem *problem, double ridge, const saddle_part *part);

/* The norm of the symmetric 2x2 matrix of the norms of a Hessian's blocks, which bounds its own. */
double saddle_block_norm(double xx, double xy, double yy);

/* Sets the bound of Q to `bound` if Y holds, to within a tolerance, the vector of these entries. */
saddle_status saddle_bound_primal(saddle_constants *out, double bound, const saddle_set *y_set,
                                  double entry, double tolerance, saddle_error *error);

struct saddle_sensitive;
/* The largest |a|^2 over all rows of all agents, without the features that `sensitive` hides; NULL: with all
 * features. Collective. */
double saddle_largest_norm2(const saddle_problem_inputs *inputs,
                            const struct saddle_sensitive *sensitive);

/* The cost of a sample whose row is multiplied by a matrix of `columns` columns and back, from the mean
 * number of entries of all rows. Collective. */
double saddle_row_cost(const saddle_problem_inputs *inputs, size_t columns);

/* Adds up numbers over one agent's samples, or over held-out rows, at (x, y): overwrites sums. */
typedef void saddle_outcome_counter(const saddle_problem *problem, const saddle_dataset *held_out,
                                    size_t agent, const double *x, const double *y, double *sums,
                                    double *scratch);

/*
 * Computes sums for a problem's outcomes: `size` numbers over the held-out rows or, without any, over the agents that
 * count. Without held-out rows it is collective, and a failure is one in all processes. The problem's scratch memory
 * follows the sums in the block, which the caller frees; NULL on failure.
 */
saddle_status saddle_outcome_sums(double **out, size_t size, saddle_outcome_counter *count,
                                  const saddle_problem *problem, const saddle_outcome_rows *rows,
                                  const double *x, const double *y, saddle_error *error);

#endif
