/* Internal functions on plans. */
#ifndef SADDLE_INSTANCE_PLAN_H
#define SADDLE_INSTANCE_PLAN_H

#include <stdint.h>

#include <saddle/data.h>

#include "instance/settings.h"

/* saddle_plan::size of a plan for inspection only: it is from a file of a possibly untrusted
 * source, which can name plug-ins and outputs. */
#define SADDLE_PLAN_SHOWN SIZE_MAX
/* Refuses a plan of a program that was compiled with other headers. */
saddle_status saddle_plan_check_size(const saddle_plan *plan, saddle_error *error);
/* Checks the fields of a plan that has settings, copies their values to the settings, and makes
 * the fields point to texts owned by the settings. */
saddle_status saddle_plan_refresh(saddle_plan *plan, saddle_error *error);
/* Resets an option of a plan that has settings to its default, as if it had never been given. */
saddle_status saddle_plan_reset(saddle_plan *plan, const saddle_option *option,
                                saddle_error *error);
/* Copies the fields of one stage from another plan; texts are borrowed until
 * saddle_plan_refresh(). */
void saddle_plan_take_stage(saddle_plan *plan, const saddle_plan *from, saddle_option_stage stage);

/* The number of iterations of a run that is ended by another limit. */
#define SADDLE_UNLIMITED_ITERATIONS (UINT64_C(1) << 53)
/* Returns whether the user gave the option of the field at an offset. */
bool saddle_plan_given(const saddle_plan *plan, size_t offset);
/* The text of a setting whose value is an object in the caller's memory without a text. */
#define SADDLE_IN_MEMORY "in memory"
/* Returns whether an object in the caller's memory is used instead of an option's text. */
bool saddle_plan_in_memory(const saddle_plan *plan, const saddle_option *option);
/* Returns the plan's options for reading data. Texts are borrowed. */
saddle_data_options saddle_plan_data_options(const saddle_plan *plan);

#endif
