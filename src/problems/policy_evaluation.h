/* Access to the internals of policy-evaluation, for its tests. */
#ifndef SADDLE_PROBLEMS_POLICY_EVALUATION_H
#define SADDLE_PROBLEMS_POLICY_EVALUATION_H

#include <saddle/problem.h>

#include "problems/mdp.h"

/* Returns the process that an instance was made from. Borrowed. */
const saddle_mdp *saddle_policy_evaluation_mdp(const saddle_problem *problem);

#endif
