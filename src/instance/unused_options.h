/* Warnings about a plan and its instance: options that were given and have no effect, and values
 * that are too large. */
#ifndef SADDLE_INSTANCE_UNUSED_OPTIONS_H
#define SADDLE_INSTANCE_UNUSED_OPTIONS_H

#include <saddle/algorithm.h>
#include <saddle/data.h>

/* Receives a warning of one line; one about an option begins with its name. */
typedef void saddle_unused_warning(void *context, const char *message);

/* Returns whether an option stands in a table that ends with NULL, or in that of some algorithm. */
bool saddle_option_in(const saddle_option *const *table, const saddle_option *option);
bool saddle_option_of_algorithm(const saddle_option *option);

/* Returns whether an option goes with a value that another one does not have; `out` says which:
 * "only used with loss huber". */
bool saddle_option_lacks_companion(const saddle_settings *settings, const saddle_option *option,
                                   char out[128]);

/* Report every option of reading data that the plan was given and that files of no format of a
 * set, as saddle_dataset::formats, have a use for. */
void saddle_report_unread(const saddle_plan *plan, unsigned formats, saddle_unused_warning *warning,
                          void *context);
/* Report every option that the plan was given and that neither the instance's problem nor any of
 * the algorithms uses. Without algorithms only those of problems and of reading data are
 * reported. */
void saddle_report_unused(const saddle_plan *plan, const saddle_instance *instance,
                          const saddle_algorithm *const *algorithm, size_t count,
                          saddle_unused_warning *warning, void *context);
/* Report a column of a data set, or of an instance's data, whose values are too large to learn
 * from. */
void saddle_report_large_values(const saddle_dataset *data, saddle_unused_warning *warning,
                                void *context);
void saddle_report_scale(const saddle_instance *instance, saddle_unused_warning *warning,
                         void *context);

#endif
