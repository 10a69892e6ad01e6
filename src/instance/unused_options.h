/* Warnings about a plan and its instance: options that were given but have no effect, options that
 * were not given although they matter, and data values that are too large. */
#pragma once

#include <saddle/algorithm.h>
#include <saddle/data.h>

#include "core/base.h"

/* Return whether an option is in a NULL-terminated table, or in that of some algorithm. */
bool saddle_option_in(const saddle_option *const *table, const saddle_option *option);
bool saddle_option_of_algorithm(const saddle_option *option);

/* Returns whether an option has no effect because another option does not have the value that it
 * needs; `out` then says which, such as "only used with --loss huber". For an option of an algorithm,
 * a value that is "auto" is the algorithm's rule; `algorithm` NULL: it is not one. */
bool saddle_option_lacks_companion(const saddle_plan *plan, const saddle_algorithm *algorithm,
                                   const saddle_option *option, char out[128]);

/* Warns of every option for reading data that the plan was given but that none of these formats,
 * a set as in saddle_dataset::formats, uses. */
void saddle_report_unread(const saddle_plan *plan, unsigned formats, saddle_warning *warning,
                          void *context);
/* Warns of choices that were left to Saddle and may not suit the data, and of clipped batches:
 * choice_warnings.c. */
void saddle_report_choices(const saddle_plan *plan, const saddle_instance *instance,
                           const saddle_algorithm *const *algorithm, size_t count,
                           saddle_warning *warning, void *context);
/* Does the same, and warns of columns of the instance's data whose values are too large for
 * training, and of every option that the plan was given but that neither the instance's problem nor
 * any of the algorithms uses. Without algorithms, warns only of options of problems and for reading data. */
void saddle_report_unused(const saddle_plan *plan, const saddle_instance *instance,
                          const saddle_algorithm *const *algorithm, size_t count,
                          saddle_warning *warning, void *context);
/* Reports the columns because of which a run on a data set scales them. */
void saddle_report_scale(saddle_dataset *data, saddle_warning *warning, void *context);
