/* What the library does with plans. */
#ifndef SADDLE_INSTANCE_PLAN_H
#define SADDLE_INSTANCE_PLAN_H

#include <stdint.h>

#include <saddle/data.h>

#include "instance/settings.h"

/* saddle_plan::size of a plan that is to be looked at and not to be used: it is from a file,
 * which may name plug-ins and outputs and be anybody's. */
#define SADDLE_PLAN_SHOWN SIZE_MAX
/* Refuse a plan of a program that was compiled with other headers. */
saddle_status saddle_plan_check_size(const saddle_plan *plan, saddle_error *error);
/* Check the fields of a plan that has settings, take them over there, and own their texts. */
saddle_status saddle_plan_refresh(saddle_plan *plan, saddle_error *error);
/* Set an option of a plan that has settings back to its default, as if it had never been given. */
saddle_status saddle_plan_reset(saddle_plan *plan, const saddle_option *option,
                                saddle_error *error);
/* Take over the fields of one stage from another plan; texts are borrowed until
 * saddle_plan_refresh(). */
void saddle_plan_take_stage(saddle_plan *plan, const saddle_plan *from, saddle_option_stage stage);

/* Iterations of a run that ends by another limit. */
#define SADDLE_UNLIMITED_ITERATIONS (UINT64_C(1) << 53)
/* Returns whether the user gave the option of the field at an offset. */
bool saddle_plan_given(const saddle_plan *plan, size_t offset);
/* The text of a setting that is an object in the caller's memory and has no text of its own. */
#define SADDLE_IN_MEMORY "in memory"
/* Returns whether an object in the caller's memory is used instead of an option's text. */
bool saddle_plan_in_memory(const saddle_plan *plan, const saddle_option *option);
/* How the plan says that data are to be read. Texts are borrowed. */
saddle_data_options saddle_plan_data_options(const saddle_plan *plan);

#endif
