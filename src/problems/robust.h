/*
 * What robust-logistic and robust-regression have in common: losses of a linear model, weighted by
 * an adversary.
 *
 *   f_ij(x, y) = w y_j l_ij(x) - V(y) + g(x)
 *   V(y)       = (lambda1 / 2) |n y - 1|^2
 *   g(x)       = lambda2 sum_k c x_k^2 / (1 + c x_k^2)
 *
 * y has one entry per sample slot j = 0 .. n - 1, shared by all agents; n is the largest local
 * size, and an agent with fewer samples leaves the remaining slots empty. V is isotropic, so the
 * best response over any convex Y is a projection:
 *   y*(x) = projection onto Y of  1/n + mean_i (w l_ij(x) / n_i) / (lambda1 n^2).
 *
 * Or y has one entry y_ij per sample (saddle_robust_own_weights()): n = N = sum_i n_i, and the
 * samples of agent i have the factor w_i = m n_i, so that the mean over samples and agents is
 *   F(x, y) = sum_ij y_ij l_ij(x) - V(y) + g(x),
 * which does not depend on how rows are divided among agents. If agents leave, m and N are those of
 * the agents that are present, lambda1 N stays, and V = (lambda1 / 2) |N y - e|^2, where e is 0 at
 * the samples of absent agents and 1 elsewhere: on the simplex their weights are then 0 in the best
 * response, so that the problem is the one of the rows that are present.
 */
#pragma once

#include <saddle/problem.h>

#include "core/base.h"

/* The loss l as a function of the label b and of t = a'x, or t = a'x + v with an intercept. */
typedef enum saddle_robust_loss {
    SADDLE_ROBUST_LOGISTIC, /* log(1 + exp(-b t)) */
    SADDLE_ROBUST_SQUARE,   /* (t - b)^2 / 2 */
    SADDLE_ROBUST_HUBER     /* the same for |t - b| <= delta, linear beyond */
} saddle_robust_loss;

/* The first member of an instance. */
typedef struct saddle_robust {
    saddle_problem problem;       /* first: shares the address of the instance */
    saddle_dataset *const *shard; /* borrowed */
    saddle_robust_loss loss;
    double delta;   /* of Huber's loss */
    bool intercept; /* the last entry of x is v */
    double lambda1;
    double lambda2;
    double curvature;  /* c */
    double weight;     /* w; with own weights N, the length of y */
    size_t *first;     /* with own weights: the entry of y of each agent's first sample; or NULL */
    double row_norm;   /* largest |a_ij|, of (a_ij, 1) with an intercept */
    double most_label; /* largest |b_ij|; not needed for the logistic loss */
    double mean_label; /* mean of all b_ij, likewise */
} saddle_robust;

/* Gives every sample its own entry of y. Call it in init(), and free by saddle_robust_release(). */
saddle_status saddle_robust_own_weights(saddle_robust *self, const saddle_problem_inputs *inputs,
                                        saddle_error *error);
void saddle_robust_release(saddle_problem *problem);

/* Returns the factor w of an agent's losses. */
double saddle_sample_weight(const saddle_problem *problem, size_t agent);
/* Returns V(y), and the curvature lambda1 n^2 of V. */
double saddle_penalty(const saddle_problem *problem, const double *y);
double saddle_penalty_curvature(const saddle_problem *problem);
/* gy -= scale (grad V(y) - grad V(y0)); y0 may be NULL */
void saddle_penalty_add_slope(const saddle_problem *problem, double scale, const double *y,
                              const double *y0, double *gy);

/* Sets sizes, and what depends on lambda1, for y of `most` entries. lambda1 and the other
 * constants must be set. */
saddle_status saddle_robust_prepare(saddle_robust *self, const saddle_problem_inputs *inputs,
                                    size_t most, saddle_error *error);

/* The functions of saddle_problem for both classes. */
void saddle_robust_add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                               double *scratch);
void saddle_robust_add_rows(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                            const double *along, double *gx);
void saddle_robust_add_common(const saddle_problem *problem, const saddle_part *part);
bool saddle_robust_response(const saddle_problem *problem, const double *x, const double *statistic,
                            const saddle_set *y_set, double *y, double *scratch);
double saddle_robust_value(const saddle_problem *problem, const double *x, const double *statistic,
                           const double *y, double *scratch);
saddle_status saddle_robust_constants(const saddle_problem *problem, const saddle_set *x_set,
                                      const saddle_set *y_set, saddle_constants *out,
                                      saddle_error *error);
saddle_status saddle_robust_scores(const saddle_problem *problem, const saddle_dataset *data,
                                   const double *x, const double *y, double *out,
                                   saddle_error *error);
/* saddle_problem::device */
bool saddle_robust_device(const saddle_problem *problem, struct saddle_device_problem *out);
bool saddle_robust_linear(const saddle_problem *problem, const double *x, const double *y,
                          double *out);
