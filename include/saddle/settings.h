/**
 * @file settings.h
 * @brief Options with their defaults, ranges and help, and a store of their values.
 *
 * One table of options drives defaults, validation, --help, configuration files, the echo in the
 * trace and the manual page, so that they cannot disagree. Problems and algorithms declare the
 * options they add; the store knows the union.
 */
#ifndef SADDLE_SETTINGS_H
#define SADDLE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What kind of value an option takes. */
typedef enum saddle_option_kind {
    SADDLE_OPTION_FLAG,    /**< yes or no; on the command line its name alone means yes. */
    SADDLE_OPTION_INTEGER, /**< A whole number within [minimum, maximum]. */
    SADDLE_OPTION_REAL,    /**< A finite number within [minimum, maximum]. */
    SADDLE_OPTION_CHOICE,  /**< One of `choices`. */
    SADDLE_OPTION_TEXT     /**< Anything; checked by whoever uses it. */
} saddle_option_kind;

/**
 * How a search for good values (<saddle/tune.h>) varies an option: by factors 10^(k/2) of its
 * value, k = low, ..., high. Options that point to the same search are varied together.
 */
typedef struct saddle_search {
    const char *name; /**< Of the factor, such as "eta-x". */
    int low;          /**< In half decades; at most 0. */
    int high;         /**< In half decades; at least 0. */
} saddle_search;

/** One option. Instances are constants with static storage. */
typedef struct saddle_option {
    const char *name;            /**< Without the dashes, such as "nu". */
    const char *group;           /**< Heading in the help, such as "Algorithm". */
    saddle_option_kind kind;     /**< What it takes. */
    const char *fallback;        /**< Its default, as text. "auto" makes "auto" an allowed value;
                                      "" makes the empty value ("not given") one. */
    double minimum;              /**< For numbers, inclusive. */
    double maximum;              /**< For numbers, inclusive. */
    bool above_minimum;          /**< Whether the minimum itself is excluded. */
    const char *choices;         /**< "a|b|c" for SADDLE_OPTION_CHOICE, else NULL. */
    const char *metavar;         /**< How the value is called in the help, such as "STEP". */
    const char *help;            /**< One or two sentences. */
    const saddle_search *search; /**< For numbers that a search varies; NULL: it does not. */
    bool not_in_file;            /**< Refused in a configuration file. */
    bool no_path_in_file;        /**< There, a value with a / is: it names code to be run. */
    const char *alone;           /**< What its name alone means on the command line; NULL: it needs
                                      a value, unless it is a flag. */
} saddle_option;

/** Values of options. */
typedef struct saddle_settings saddle_settings;

/** All options at their defaults. Free with saddle_settings_free(). */
SADDLE_API saddle_status saddle_settings_create(saddle_settings **out, saddle_error *error);
/**
 * Add options of a program's own, at their defaults and after those that are there.
 * @param options  ends with NULL; the options are borrowed. Two that share a name, or one whose
 *                 description contradicts itself, give SADDLE_CHECK_FAILED and add nothing.
 */
SADDLE_API saddle_status saddle_settings_add(saddle_settings *settings,
                                             const saddle_option *const *options,
                                             saddle_error *error);
/** A copy of its own. */
SADDLE_API saddle_status saddle_settings_copy(saddle_settings **out, const saddle_settings *from,
                                              saddle_error *error);
/** Free settings. NULL is allowed. */
SADDLE_API void saddle_settings_free(saddle_settings *settings);

/** Set an option from text; a value of the wrong kind or out of range is refused and named. */
SADDLE_API saddle_status saddle_settings_set(saddle_settings *settings, const char *name,
                                             const char *text, saddle_error *error);
/** Set an option to a number, with as many digits as it takes to read back equal. */
SADDLE_API saddle_status saddle_settings_set_real(saddle_settings *settings, const char *name,
                                                  double value, saddle_error *error);
/** Replace an "auto" by the number in use; an option that is not there or not "auto" is left alone.
 */
SADDLE_API saddle_status saddle_settings_fill(saddle_settings *settings, const char *name,
                                              double value, saddle_error *error);
/** Set options from a YAML file of `name: value` lines; options set before keep their value. */
SADDLE_API saddle_status saddle_settings_load(saddle_settings *settings, const char *path,
                                              saddle_error *error);

/** Number of options in the store. */
SADDLE_API size_t saddle_settings_count(const saddle_settings *settings);
/** The option at an index, in the order of the help. */
SADDLE_API const saddle_option *saddle_settings_option(const saddle_settings *settings,
                                                       size_t index);
/** The option of a name, or NULL. */
SADDLE_API const saddle_option *saddle_settings_find(const saddle_settings *settings,
                                                     const char *name);
/** Whether the user set the option (rather than its default holding). */
SADDLE_API bool saddle_settings_given(const saddle_settings *settings, const char *name);
/** Whether the value is "auto". */
SADDLE_API bool saddle_settings_auto(const saddle_settings *settings, const char *name);
/** The value as text. Borrowed until the next set. Asking for an unknown name is a bug: NULL. */
SADDLE_API const char *saddle_settings_text(const saddle_settings *settings, const char *name);
/** The value of a number; NaN when it is "auto", empty or no number. */
SADDLE_API double saddle_settings_real(const saddle_settings *settings, const char *name);
/** The value of a whole number; 0 when it is "auto", empty or no number. */
SADDLE_API uint64_t saddle_settings_integer(const saddle_settings *settings, const char *name);
/** The value of a flag. */
SADDLE_API bool saddle_settings_flag(const saddle_settings *settings, const char *name);

#ifdef __cplusplus
}
#endif
#endif
