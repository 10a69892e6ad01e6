/* Internal functions on plans. */
#pragma once

#include <saddle/data.h>
#include <saddle/plan.h>

#include "core/base.h"

/* saddle_plan::size of a plan for inspection only: it is from a file of a possibly untrusted
 * source, which can name plug-ins and outputs. */
#define SADDLE_PLAN_SHOWN SIZE_MAX
/* Refuses a plan of a program that was compiled with other headers. */
saddle_status saddle_plan_check_size(const saddle_plan *plan, saddle_error *error);

/* ---- the options of a plan ---- */

/* Makes the list of a plan's options, at their defaults, from NULL-terminated tables, in the order of first
 * occurrence. An option may be in several tables; two options of one name, or one that contradicts itself, are
 * refused with SADDLE_CHECK_FAILED. The options are borrowed. */
saddle_status saddle_plan_list(saddle_plan *plan, const saddle_option *const *const *tables,
                               size_t table_count, saddle_error *error);
/* Lists all options of the library unless a plan has a list, and appends those of a table (NULL:
 * none): all of them or, on failure, none. */
saddle_status saddle_plan_add_options(saddle_plan *plan, const saddle_option *const *options,
                                      saddle_error *error);
/* Resets an option to its default, as if it had never been given. */
void saddle_plan_reset(saddle_plan *plan, const saddle_option *option);
/* Returns whether the user gave an option. */
bool saddle_plan_given(const saddle_plan *plan, const saddle_option *option);
/* The same for the option of a field, such as limits.iterations. */
#define SADDLE_GIVEN(plan, field) saddle_plan_given_at((plan), offsetof(saddle_plan, field))
bool saddle_plan_given_at(const saddle_plan *plan, size_t offset);
/* The value of an option as text, which lives as long as the block that contains this. */
#define SADDLE_PLAN_TEXT(plan, option) \
    saddle_plan_text((plan), (option), (char[SADDLE_VALUE_SIZE]){""})
/* Returns the value of an option as a number; NaN if it is "auto", empty or not a number. */
double saddle_plan_number(const saddle_plan *plan, const saddle_option *option);

/* Fills the fields of a table's options with SADDLE_HOME_OWN in `target`. Texts are borrowed from the plan. */
void saddle_plan_read_own(const saddle_plan *plan, const saddle_option *const *options,
                          void *target);
/* Records the values of these fields that were resolved; they do not count as given. */
saddle_status saddle_plan_record_own(saddle_plan *plan, const saddle_option *const *options,
                                     const void *target, saddle_error *error);

/* ---- whole plans ---- */

/* Checks fields that were assigned since the plan was copied, and copies texts that it does not own. */
saddle_status saddle_plan_refresh(saddle_plan *plan, saddle_error *error);
/* Makes a plan with only the options of some tables, all of which count as given: those of the stage
 * SADDLE_STAGE_INSTANCE as in `instance`, the others as in `run`. Of two options of one name, the first is taken.
 * Texts of fields are borrowed until
 * saddle_plan_refresh(). */
saddle_status saddle_plan_merge(saddle_plan *out, const saddle_plan *instance,
                                const saddle_plan *run, const saddle_option *const *const *tables,
                                size_t table_count, saddle_error *error);

/* The number of iterations of a run that is ended by another limit. */
#define SADDLE_UNLIMITED_ITERATIONS (UINT64_C(1) << 53)
/* The text of a setting whose value is an object in the caller's memory without a text. */
#define SADDLE_IN_MEMORY "in memory"
/* Returns whether an object in the caller's memory is used instead of an option's text. */
bool saddle_plan_in_memory(const saddle_plan *plan, const saddle_option *option);
/* Returns the plan's options for reading data. Texts are borrowed. */
saddle_data_options saddle_plan_data_options(const saddle_plan *plan);
