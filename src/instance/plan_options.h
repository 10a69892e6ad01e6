/* The options that fill a plan, except the step sizes (algorithms/step_options.h). */
#pragma once

#include <saddle/plan.h>

/* Headings of the help, by what a user wants to do. Nothing depends on them: which options a command
 * takes, and what an option can change, follows from its other fields. */
#define SADDLE_PROBLEM_HEADING "Problem"
#define SADDLE_DATA_HEADING "Data"
#define SADDLE_READING_HEADING "Reading data files"
#define SADDLE_NETWORK_HEADING "Network"
#define SADDLE_LINKS_HEADING "Messages and links"
#define SADDLE_PRIVACY_HEADING "Privacy"
#define SADDLE_START_HEADING "Start"
#define SADDLE_STOPPING_HEADING "Stopping"
#define SADDLE_ENGINE_HEADING "Engine"
#define SADDLE_MEASURING_HEADING "Measuring"
#define SADDLE_OUTPUT_HEADING "Output"
#define SADDLE_CHECKPOINTS_HEADING "Checkpoints"

/* The table of these options; NULL-terminated. */
extern const saddle_option *const saddle_plan_options[];
