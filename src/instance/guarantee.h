/*
 * The guarantees of PRECISION and PRECISION+ that docs/theory.md proves; the numbers of
 * inequalities are those used there.
 *
 * Nine sums over t < T of expectations bound each other linearly: s <= K s + b, K >= 0. If I - K
 * has a nonnegative inverse, s is at most (I - K)^-1 b, which also bounds the sum of the metric.
 */
#ifndef SADDLE_INSTANCE_GUARANTEE_H
#define SADDLE_INSTANCE_GUARANTEE_H

#include <saddle/instance.h>

/* What the inequalities depend on. */
typedef struct saddle_guarantee_inputs {
    double lipschitz;
    double strong_concavity;
    double lambda; /* of the mixing matrix */
    double agents;
    double tau;
    double alpha; /* at most 1 / lipschitz */
    double nu;
    double eta;
    double q;
    double batch;
    double c_gamma; /* INFINITY: every refresh is full */
} saddle_guarantee_inputs;

/* Returns the factors of a guarantee; total and iterations are NaN. */
saddle_guarantee saddle_guarantee_at(const saddle_guarantee_inputs *inputs);
/* Sets nu and eta to the pair, each at most `most`, whose guarantee has the smallest factor of
 * Q(xbar_0) - Q*. */
void saddle_guarantee_best_steps(saddle_guarantee_inputs *inputs, double most);
/* Returns the smallest c_gamma, up to rounding, for which the steps have a guarantee; INFINITY
 * if there is none. */
double saddle_guarantee_least_c_gamma(const saddle_guarantee_inputs *inputs);

#endif
