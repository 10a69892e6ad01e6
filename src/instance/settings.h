/*
 * Settings: the values of options as text, and their typed fields.
 *
 * Settings are made from tables of options. Values are set from text, checked, and written to the
 * fields that the options name. Fields that were assigned directly or resolved by a run are read
 * back with the same checks.
 */
#ifndef SADDLE_INSTANCE_SETTINGS_H
#define SADDLE_INSTANCE_SETTINGS_H

#include <saddle/plan.h>

/* Makes settings with all options of the library, those of plans, algorithms and problems, at
 * their defaults. Free with saddle_settings_free(). */
saddle_status saddle_settings_create(saddle_settings **out, saddle_error *error);
/*
 * Makes settings with all options of some NULL-terminated tables at their defaults, in the order of
 * first occurrence. An option may be in several tables. Returns SADDLE_CHECK_FAILED if two options
 * have the same name or one contradicts itself. The options are borrowed. Free with
 * saddle_settings_free().
 */
saddle_status saddle_settings_build(saddle_settings **out,
                                    const saddle_option *const *const *tables, size_t table_count,
                                    saddle_error *error);
/* Appends the options of a NULL-terminated table, which are borrowed, at their defaults: all of
 * them or, on failure, none. */
saddle_status saddle_settings_add(saddle_settings *settings, const saddle_option *const *options,
                                  saddle_error *error);
/* Copies settings. Free with saddle_settings_free(). */
saddle_status saddle_settings_copy(saddle_settings **out, const saddle_settings *from,
                                   saddle_error *error);
/* Frees settings. NULL is allowed. */
void saddle_settings_free(saddle_settings *settings);

/* Sets an option from text. Refuses and names a value of the wrong kind or out of range. */
saddle_status saddle_settings_set(saddle_settings *settings, const char *name, const char *text,
                                  saddle_error *error);
/* Resets an option to its default, as if it had never been set. */
saddle_status saddle_settings_reset(saddle_settings *settings, const saddle_option *option,
                                    saddle_error *error);
/* Sets options from a YAML file of `name: value` lines. Options that are already set keep their
 * value. */
saddle_status saddle_settings_load(saddle_settings *settings, const char *path,
                                   saddle_error *error);

/* Returns the option of a name, or NULL. */
const saddle_option *saddle_settings_find(const saddle_settings *settings, const char *name);
/* Returns whether the user set the option. */
bool saddle_settings_given(const saddle_settings *settings, const saddle_option *option);
/* Returns the value of an option as a number; NaN if it is "auto", empty or not a number. */
double saddle_settings_number(const saddle_settings *settings, const saddle_option *option);

/* Writes the values of all options with this home to their fields in `target`. Texts are
 * borrowed from the settings. */
void saddle_settings_write(const saddle_settings *settings, saddle_option_home home, void *target);
/* The same for one option, and for the options of a NULL-terminated table. */
void saddle_settings_write_one(const saddle_settings *settings, const saddle_option *option,
                               void *target);
void saddle_settings_write_table(const saddle_settings *settings,
                                 const saddle_option *const *options, void *target);
/* Copies the fields of `target` that differ from the settings to the settings, for all options
 * with this home, or for those of a table with SADDLE_HOME_OWN. `given`: they count as set by
 * the user. */
saddle_status saddle_settings_read(saddle_settings *settings, saddle_option_home home,
                                   const void *target, bool given, saddle_error *error);
saddle_status saddle_settings_read_table(saddle_settings *settings,
                                         const saddle_option *const *options, const void *target,
                                         saddle_error *error);

#endif
