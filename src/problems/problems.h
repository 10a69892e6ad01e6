/* The built-in problems. A new one is one file, one line here and one in registry.c. */
#ifndef SADDLE_PROBLEMS_H
#define SADDLE_PROBLEMS_H

#include <saddle/problem.h>

extern const saddle_problem_class saddle_robust_logistic;
extern const saddle_problem_class saddle_policy_evaluation;
extern const saddle_problem_class saddle_quadratic;
extern const saddle_problem_class saddle_auc;
extern const saddle_problem_class saddle_fair;
extern const saddle_problem_class saddle_poisoning;

#endif
