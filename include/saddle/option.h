/**
 * @file option.h
 * @brief Options: name, kind, default, range, help, and the struct field that receives the value.
 *
 * Defaults, validation, --help, configuration files, the settings recorded in traces and models,
 * and the manual page all come from one table of options, so that they cannot disagree. The
 * library's options fill in ::saddle_plan; those of one problem or algorithm fill in its own
 * struct:
 *
 *     typedef struct parameters { double c_gamma; } parameters;
 *     static const saddle_option c_gamma = SADDLE_REAL_ABOVE(
 *         SADDLE_OWN(parameters, c_gamma, RUN), "c-gamma", "PRECISION+", "10", 0.0,
 *         SADDLE_UNBOUNDED, "C", "Factor of sigma^2 / gamma in the refresh size.");
 *     static const saddle_option *const options[] = {&c_gamma, NULL};
 *
 * The options of a plug-in are given after the colon: --algorithm ./mine.so:c-gamma=5. Those of an
 * algorithm in saddle_plan::algorithm.own are set, after it is assigned, by saddle_plan_set(&plan,
 * "c-gamma", "5", &error). The macros below work in C and C++20.
 */
#ifndef SADDLE_OPTION_H
#define SADDLE_OPTION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kind of value that an option takes, and the type of its field. */
typedef enum saddle_option_kind {
    SADDLE_OPTION_FLAG, /**< bool: yes or no; on the command line its name alone means yes. */
    /** uint64_t within [minimum, maximum]. "auto" is 0, or UINT64_MAX if the minimum is 0. */
    SADDLE_OPTION_INTEGER,
    SADDLE_OPTION_REAL,   /**< double, finite, within [minimum, maximum]. "auto" is NaN. */
    SADDLE_OPTION_CHOICE, /**< int or an enum: the index, from 0, of the value in `choices`. */
    SADDLE_OPTION_TEXT    /**< const char *; checked where it is used. "auto" and "" are NULL. */
} saddle_option_kind;

/** The stage at which an option is read. */
typedef enum saddle_option_stage {
    SADDLE_STAGE_RUN,     /**< One run: algorithm, steps, limits, outputs. */
    SADDLE_STAGE_INSTANCE /**< The instance that runs share: problem, data, network, start. */
} saddle_option_stage;

/** What changes when an option's value changes. */
typedef enum saddle_option_effect {
    SADDLE_EFFECT_RESULT, /**< The iterates. */
    SADDLE_EFFECT_LENGTH, /**< The length of a run. */
    SADDLE_EFFECT_RECORD, /**< The rows and columns of the trace. */
    SADDLE_EFFECT_METRIC, /**< What the metric measures. */
    SADDLE_EFFECT_SOURCE, /**< Where data are read from; their contents are compared separately. */
    SADDLE_EFFECT_OUTPUT, /**< Which files are written. */
    SADDLE_EFFECT_ENGINE  /**< Which processors compute; results do not depend on it. */
} saddle_option_effect;

/** The struct that contains an option's field. */
typedef enum saddle_option_home {
    SADDLE_HOME_NONE, /**< There is no field: the value is text only. */
    SADDLE_HOME_PLAN, /**< ::saddle_plan. */
    SADDLE_HOME_OWN   /**< The struct of the problem, algorithm or command whose table it is in. */
} saddle_option_home;

/**
 * How saddle_tune() varies an option: by factors 10^(k/2) of its value, k = low, ..., high. Options
 * that point to the same search are multiplied by the same factor.
 */
typedef struct saddle_search {
    const char *name; /**< The name of the factor, such as "eta-x". */
    int low;          /**< In half decades; at most 0. */
    int high;         /**< In half decades; at least 0. */
} saddle_search;

/** One option. Instances are constants with static storage. */
typedef struct saddle_option {
    const char *name;        /**< Without the dashes, such as "nu". */
    const char *group;       /**< Heading in the help, such as "Algorithm". */
    saddle_option_kind kind; /**< The kind of its value. */
    /** Its default, as text. "auto" makes "auto" an allowed value; "" makes the empty value
     * ("not given") an allowed value. */
    const char *fallback;
    double minimum;              /**< For numbers, inclusive. */
    double maximum;              /**< For numbers, inclusive. */
    bool above_minimum;          /**< Whether the minimum itself is excluded. */
    const char *choices;         /**< "a|b|c" for SADDLE_OPTION_CHOICE, else NULL. */
    const char *metavar;         /**< What the help calls the value, such as "STEP". */
    const char *help;            /**< One or two sentences. */
    saddle_option_home home;     /**< The struct that contains its field. */
    size_t offset;               /**< The offset of the field. */
    saddle_option_stage stage;   /**< When it is read. */
    saddle_option_effect effect; /**< What it can change. */
    /** For shell completion: "@FILE", "@DIRECTORY", "@ALGORITHM" and so on; NULL: its choices,
     * if any. */
    const char *words;
    const saddle_search *search; /**< How saddle_tune() varies it; NULL: it does not. */
    bool of_data;                /**< Only problems made from data use it. */
    bool not_in_file;            /**< It is refused in a configuration file. */
    /** A value with a / is refused in a configuration file, because it names code to be run. */
    bool no_path_in_file;
    /** What its name alone means on the command line; NULL: it needs a value, unless it is a
     * flag. */
    const char *alone;
    /** "NAME=PREFIX": it has an effect only if the value of the option NAME begins with PREFIX;
     * NULL: it always has. */
    const char *used_with;
} saddle_option;

/** No limit on this side of a range. */
#define SADDLE_UNBOUNDED ((double)INFINITY)
/** The field of an option in your own struct; `when` is RUN or INSTANCE. */
#define SADDLE_OWN(type, field, when) \
    .home = SADDLE_HOME_OWN, .offset = offsetof(type, field), .stage = SADDLE_STAGE_##when

/* Designators are in the order of the fields, as C++ requires. */

/** A number within [low, high]. `where` is SADDLE_OWN(...). */
#define SADDLE_REAL(where, id, heading, value, low, high, meta, help_)                     \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_REAL, .fallback = (value), \
        .minimum = (low), .maximum = (high), .metavar = (meta), .help = (help_), where     \
    }
/** A number within (low, high]. */
#define SADDLE_REAL_ABOVE(where, id, heading, value, low, high, meta, help_)               \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_REAL, .fallback = (value), \
        .minimum = (low), .maximum = (high), .above_minimum = true, .metavar = (meta),     \
        .help = (help_), where                                                             \
    }
/** A number within (0, high] that saddle_tune() varies as `how` says. */
#define SADDLE_STEP(where, id, heading, value, high, how, meta, words_)                    \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_REAL, .fallback = (value), \
        .minimum = 0.0, .maximum = (high), .above_minimum = true, .metavar = (meta),       \
        .help = (help_), where, .search = (how)                                            \
    }
/** An integer within [low, high], 0 <= low; SADDLE_UNBOUNDED allows all of uint64_t. */
#define SADDLE_INTEGER(where, id, heading, value, low, high, meta, words_)                    \
    {                                                                                         \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_INTEGER, .fallback = (value), \
        .minimum = (low), .maximum = (high), .metavar = (meta), .help = (help_), where        \
    }
/** One of "a|b|c". */
#define SADDLE_CHOICE(where, id, heading, value, allowed, meta, help_)                       \
    {                                                                                        \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_CHOICE, .fallback = (value), \
        .choices = (allowed), .metavar = (meta), .help = (help_), where                      \
    }
/** yes or no. */
#define SADDLE_FLAG(where, id, heading, value, help_)                                      \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_FLAG, .fallback = (value), \
        .help = (help_), where                                                             \
    }
/** Any text. */
#define SADDLE_TEXT(where, id, heading, value, meta, help_)                                \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_TEXT, .fallback = (value), \
        .metavar = (meta), .help = (help_), where                                          \
    }

#ifdef __cplusplus
}
#endif
#endif
