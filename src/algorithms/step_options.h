/* Options that several algorithms share, so that each is described once. */
#ifndef SADDLE_ALGORITHMS_STEP_OPTIONS_H
#define SADDLE_ALGORITHMS_STEP_OPTIONS_H

#include <saddle/plan.h>

/* Their heading in the help. */
#define SADDLE_ALGORITHM_HEADING "Algorithm"

/* All of those that <saddle/plan.h> declares, NULL-terminated: they fill saddle_plan::steps. */
extern const saddle_option *const saddle_step_options[];

#endif
