/* What a problem asks of all agents' rows, wherever they are. */
#ifndef SADDLE_PROBLEMS_LONGEST_ROW_H
#define SADDLE_PROBLEMS_LONGEST_ROW_H

#include <saddle/problem.h>

/* The largest |a| over all rows of all agents. Collective. */
double saddle_longest_row(const saddle_problem_inputs *inputs);

#endif
