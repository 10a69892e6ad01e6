/* Options that several algorithms share. */
#pragma once

#include <saddle/plan.h>

/* Their heading in the help. */
#define SADDLE_ALGORITHM_HEADING "Algorithm"

/* The step options that <saddle/plan.h> declares, NULL-terminated; they fill in
 * saddle_plan::steps. */
extern const saddle_option *const saddle_step_options[];
