/* The options that fill a plan, besides those of step sizes (algorithms/step_options.h). */
#ifndef SADDLE_INSTANCE_PLAN_OPTIONS_H
#define SADDLE_INSTANCE_PLAN_OPTIONS_H

#include <saddle/plan.h>

/* Their table; NULL-terminated. */
const saddle_option *const *saddle_plan_options(void);

#endif
