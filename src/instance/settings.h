/*
 * The values of options as text, and their typed fields.
 *
 * A store is made from tables of options. Values are set from text, checked, and written into the
 * fields that the options name; fields that were assigned by hand or resolved by a run are read
 * back, by the same checks.
 */
#ifndef SADDLE_INSTANCE_SETTINGS_H
#define SADDLE_INSTANCE_SETTINGS_H

#include <saddle/plan.h>

/* All options of the library at their defaults: those of plans, algorithms and problems. Free with
 * saddle_settings_free(). */
saddle_status saddle_settings_create(saddle_settings **out, saddle_error *error);
/*
 * All options of some tables at their defaults, in the order of first occurrence. A table is an
 * array of options that ends with NULL. The same option may stand in several tables; two that
 * share a name, or one whose description contradicts itself, give SADDLE_CHECK_FAILED.
 * The options are borrowed. Free with saddle_settings_free().
 */
saddle_status saddle_settings_build(saddle_settings **out,
                                    const saddle_option *const *const *tables, size_t table_count,
                                    saddle_error *error);
/* Add further options, which are borrowed, at their defaults and after those that are there: all of
 * them or, on failure, none. `options` ends with NULL. */
saddle_status saddle_settings_add(saddle_settings *settings, const saddle_option *const *options,
                                  saddle_error *error);
/* A copy of its own. */
saddle_status saddle_settings_copy(saddle_settings **out, const saddle_settings *from,
                                   saddle_error *error);
/* Free settings. NULL is allowed. */
void saddle_settings_free(saddle_settings *settings);

/* Set an option from text; a value of the wrong kind or out of range is refused and named. */
saddle_status saddle_settings_set(saddle_settings *settings, const char *name, const char *text,
                                  saddle_error *error);
/* Set an option of the store back to its default, as if it had never been set. */
saddle_status saddle_settings_reset(saddle_settings *settings, const saddle_option *option,
                                    saddle_error *error);
/* Set options from a YAML file of `name: value` lines; options set before keep their value. */
saddle_status saddle_settings_load(saddle_settings *settings, const char *path,
                                   saddle_error *error);

/* Returns the option of a name, or NULL. */
const saddle_option *saddle_settings_find(const saddle_settings *settings, const char *name);
/* Returns whether the user set the option (rather than its default holding). */
bool saddle_settings_given(const saddle_settings *settings, const saddle_option *option);
/* Returns the value of a number; NaN when it is "auto", empty or not a number. */
double saddle_settings_number(const saddle_settings *settings, const saddle_option *option);

/* Write the values of all options of the store that have this home into their fields in
 * `target`. Texts are borrowed from the store. */
void saddle_settings_write(const saddle_settings *settings, saddle_option_home home, void *target);
/* The same for one option, and for the options of a table that ends with NULL. */
void saddle_settings_write_one(const saddle_settings *settings, const saddle_option *option,
                               void *target);
void saddle_settings_write_table(const saddle_settings *settings,
                                 const saddle_option *const *options, void *target);
/* Take over the fields of `target` that differ from the store's values, for all options of the
 * store with this home, or for those of a table with SADDLE_HOME_OWN. `given`: they count as set
 * by the user. */
saddle_status saddle_settings_read(saddle_settings *settings, saddle_option_home home,
                                   const void *target, bool given, saddle_error *error);
saddle_status saddle_settings_read_table(saddle_settings *settings,
                                         const saddle_option *const *options, const void *target,
                                         saddle_error *error);

#endif
