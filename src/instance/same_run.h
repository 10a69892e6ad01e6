/*
 * Whether two runs are the same: a comparison of their settings, wherever these are recorded. What
 * settings do not show, the contents of data and network, is compared by fingerprint.h.
 */
#pragma once

#include <saddle/world.h>

#include "core/base.h"
#include "instance/plan.h"

/* The set of one effect, such as SADDLE_EFFECTS(ENGINE); sets are joined by |. */
#define SADDLE_EFFECTS(effect) (1U << SADDLE_EFFECT_##effect)

/* Returns whether an option's effect is in a set. */
static inline bool saddle_effect_in(const saddle_option *option, unsigned effects)
{
    return (effects >> option->effect & 1U) != 0;
}

/* Returns whether an option is that of a field, such as limits.max_ifo. */
#define SADDLE_IS_FIELD(option, field) \
    ((option)->home == SADDLE_HOME_PLAN && (option)->offset == offsetof(saddle_plan, field))

/* Returns the value of an option in a run's settings, which may be printed into the buffer. NULL: the source of
 * the settings does not know the option, and so it does not differ. */
typedef const char *saddle_value_of(const void *source, const saddle_option *option,
                                    char buffer[SADDLE_VALUE_SIZE]);
/* Settings of a run. */
typedef struct saddle_values {
    const void *source;
    saddle_value_of *value;
} saddle_values;

/* Sources: a saddle_plan, and the saddle_recorded below. */
saddle_value_of saddle_plan_value, saddle_recorded_value;

/* The differences between two runs, one at a time. The caller fills in the first four fields. */
typedef struct saddle_difference {
    const saddle_plan *options; /* whose options are compared */
    saddle_values here;
    saddle_values there;
    unsigned may_differ; /* the effects of options that are not compared */
    size_t next;
    const saddle_option *option; /* the option that differs, and its values: */
    const char *value_here;
    const char *value_there;
    char buffer[2][SADDLE_VALUE_SIZE];
} saddle_difference;

/* Returns whether an option differs, and keeps it and its values. Numbers are compared as numbers. */
bool saddle_setting_differs(saddle_difference *d, const saddle_option *option);
/* Moves to the next option that differs; false: there is none. */
bool saddle_next_difference(saddle_difference *d);

/* ---- settings as texts ----------------------------------------------------------------------- */

/* Begins the value of an option whose file's contents count; the first digits of its SHA-256 follow. */
#define SADDLE_FILE_VALUE "a file of SHA-256 "
/* Begins the value of a plug-in; the same. */
#define SADDLE_PLUGIN_VALUE "plug-in "

/* A setting. A value has the contents of a plug-in's file instead of its path. */
typedef struct saddle_setting {
    const char *name;
    const char *effective; /* its value, with "auto" resolved */
    const char *given;     /* as the user gave it; NULL: not given */
} saddle_setting;

/* The settings of a run, in a checkpoint or of another process. */
typedef struct saddle_recorded {
    char *text; /* name, effective value, and = and given value or nothing, each NUL-terminated */
    size_t bytes;
    size_t count;
    saddle_setting *setting; /* they point into the text */
} saddle_recorded;

/* Finds `count` settings in such a text, and moves *at behind them. Free with saddle_free();
 * NULL when memory is short. */
saddle_setting *saddle_recorded_index(char **at, size_t count);
/* Records the settings of an effective plan. `given` NULL: as if nothing was given; otherwise the plan of
 * the run that was given, and that of its instance. `files`: values of options that name text files
 * have their contents. Free even after a failure. */
saddle_status saddle_record_settings(saddle_recorded *out, const saddle_plan *plan,
                                     const saddle_plan *given, const saddle_plan *instance_given,
                                     bool files, saddle_error *error);
/* Frees recorded settings. Safe on a zeroed struct. */
void saddle_recorded_free(saddle_recorded *recorded);
/* Returns a recorded setting; NULL when there is none of the name. */
const saddle_setting *saddle_recorded_find(const saddle_recorded *recorded, const char *name);
/* Returns whether a recorded value is that of the plug-in that a text names, with whatever options. */
bool saddle_recorded_plugin_is(const char *recorded, const char *text);

/* Refuses plans whose settings are not the same in all processes. Collective. */
saddle_status saddle_compare_plans(const saddle_world *world, const saddle_plan *plan,
                                   saddle_error *error);
