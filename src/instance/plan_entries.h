/*
 * What a plan keeps beside its fields: the list of its options, which of them were given, the values
 * of options without a field in the plan (those of one algorithm, problem or command) as text, the
 * memory of all texts, and the plug-ins that some options are in.
 */
#pragma once

#include "core/option_value.h"
#include "files/plugin.h"
#include "instance/plan.h"

/* What gave a value. Each overrides those before it in this list. */
typedef enum saddle_origin {
    SADDLE_FROM_DEFAULT,
    SADDLE_FROM_FILE,
    SADDLE_FROM_CALLER
} saddle_origin;

/* One option of a plan. */
typedef struct saddle_entry {
    const saddle_option *option; /* borrowed */
    saddle_origin from;
    const char *text; /* its value, if it has no field in the plan */
} saddle_entry;

struct saddle_settings {
    size_t count;
    size_t capacity;
    saddle_entry *entries;
    struct saddle_kept_text *texts;
    saddle_plugin_object **plugins; /* shared with copies of the plan */
    size_t plugin_count;
    size_t plugin_capacity;
};

/* Copies a text into the memory of a plan; returns NULL if memory is short. */
const char *saddle_plan_keep(saddle_settings *settings, const char *text);
/* Returns whether a text is in the memory of a plan. */
bool saddle_plan_keeps(const saddle_settings *settings, const char *text);
/* Frees the list and all texts. NULL is allowed. */
void saddle_settings_free(saddle_settings *settings);
/* Keep a plug-in, or all those of other settings (NULL: none), loaded as long as the settings exist. */
saddle_status saddle_settings_share(saddle_settings *settings, saddle_plugin_object *plugin,
                                    saddle_error *error);
saddle_status saddle_settings_share_all(saddle_settings *settings, const saddle_settings *from,
                                        saddle_error *error);

/* Returns the entry of a name, or of an option; NULL if the plan does not have it. */
saddle_entry *saddle_entry_find(const saddle_plan *plan, const char *name);
saddle_entry *saddle_entry_of(const saddle_plan *plan, const saddle_option *option);
/* Appends the options of a table: all of them or, on failure, none. */
saddle_status saddle_plan_append(saddle_plan *plan, const saddle_option *const *options,
                                 saddle_error *error);
/* Appends the options of a table whose name the plan does not have. */
saddle_status saddle_plan_append_new(saddle_plan *plan, const saddle_option *const *options,
                                     saddle_error *error);

/* Returns the text that records a value: all spellings of a flag are recorded as yes or no. */
const char *saddle_entry_spelling(const saddle_option *option, const char *text,
                                  const saddle_option_value *value);
/* Replaces the value of an option; on failure it is unchanged, and `why` gets the reason. */
saddle_status saddle_entry_assign(saddle_plan *plan, saddle_entry *e, const char *text,
                                  saddle_origin from, saddle_error *why);
/* The same; the error message begins with the option's name. */
saddle_status saddle_entry_assign_named(saddle_plan *plan, saddle_entry *e, const char *text,
                                        saddle_origin from, saddle_error *error);
