/* The options of a plan, except those of step sizes (algorithms/step_options.h). */
#ifndef SADDLE_INSTANCE_PLAN_OPTIONS_H
#define SADDLE_INSTANCE_PLAN_OPTIONS_H

#include <saddle/plan.h>

/* Headings of the help. They are only printed: which options a command takes, and what an option
 * can change, depends on other fields. */
#define SADDLE_PROBLEM_HEADING "Problem and data"
#define SADDLE_NETWORK_HEADING "Network"
#define SADDLE_LINKS_HEADING "Lossy, slow and changing networks"
#define SADDLE_START_HEADING "Start"
#define SADDLE_STOPPING_HEADING "Stopping"
#define SADDLE_ENGINE_HEADING "Engine"
#define SADDLE_MEASURING_HEADING "Measuring"
#define SADDLE_OUTPUT_HEADING "Output"
#define SADDLE_CHECKPOINTS_HEADING "Checkpoints"

/* Returns the table of these options, NULL-terminated. */
const saddle_option *const *saddle_plan_options(void);

#endif
