/**
 * @file option.h
 * @brief Options: name, kind, default, range, help, and the field of a struct that receives the value.
 *
 * One table of options drives defaults, validation, --help, configuration files, the settings recorded
 * in traces and models, and the manual page, so that they cannot disagree. The library's options fill
 * ::saddle_plan; those of one problem or algorithm fill a struct of its own:
 *
 *     typedef struct parameters { double c_gamma; } parameters;
 *     static const saddle_option c_gamma = SADDLE_REAL_ABOVE(
 *         SADDLE_OWN(parameters, c_gamma, RUN), "c-gamma", "PRECISION+", "10", 0.0,
 *         SADDLE_UNBOUNDED, "C", "Factor of sigma^2 / gamma in the refresh size.");
 *     static const saddle_option *const options[] = {&c_gamma, NULL};
 *
 * Options of your own are given like any other to the program, --algorithm ./mine.so --c-gamma 5, and in
 * configuration files; after the colon in texts that name a plug-in, ./mine.so:c-gamma=5; and by
 * saddle_plan_set(&plan, "c-gamma", "5", &error) for an algorithm in saddle_plan::algorithm.own, once that is
 * assigned. The macros below are for C and for C++20.
 */
#ifndef SADDLE_OPTION_H
#define SADDLE_OPTION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

/** What kind of value an option takes, and the type of its field. */
typedef enum saddle_option_kind {
    SADDLE_OPTION_FLAG, /**< bool: yes or no; on the command line its name alone means yes. */
    SADDLE_OPTION_INTEGER, /**< uint64_t within [minimum, maximum]. "auto" is 0, or UINT64_MAX where the
                                minimum is 0. */
    SADDLE_OPTION_REAL,   /**< double, finite, within [minimum, maximum]. "auto" is NaN. */
    SADDLE_OPTION_CHOICE, /**< int, or an enum: the place, from 0, of the value in `choices`. */
    SADDLE_OPTION_TEXT    /**< const char *; checked where it is used. "auto" and "" are NULL. */
} saddle_option_kind;

/** What is made from an option's value. */
typedef enum saddle_option_stage {
    SADDLE_STAGE_RUN,     /**< One run: algorithm, steps, limits, outputs. */
    SADDLE_STAGE_INSTANCE /**< The instance that runs share: problem, data, network, start. */
} saddle_option_stage;

/** What a change of an option's value can change. */
typedef enum saddle_option_effect {
    SADDLE_EFFECT_RESULT, /**< The iterates. */
    SADDLE_EFFECT_LENGTH, /**< How long a run is. */
    SADDLE_EFFECT_RECORD, /**< Which rows and columns the trace has. */
    SADDLE_EFFECT_METRIC, /**< What the metric measures. */
    SADDLE_EFFECT_SOURCE, /**< Where data are read from; their contents are compared by themselves. */
    SADDLE_EFFECT_OUTPUT, /**< Which files are written. */
    SADDLE_EFFECT_ENGINE  /**< Which processors compute; no result depends on it. */
} saddle_option_effect;

/** Who uses an option; the bits of saddle_option::users. */
typedef enum saddle_option_users {
    SADDLE_USERS_DATA = 1,    /**< Problems made from data. */
    SADDLE_USERS_SIGNS = 2,   /**< Problems whose labels are +1 and -1. */
    SADDLE_USERS_CLASSES = 4, /**< Problems whose labels are classes. */
    SADDLE_USERS_NAMED = 8, /**< Problems that a name or a plug-in gives, not objects in memory. */
    SADDLE_USERS_NETWORK = 16, /**< Algorithms that communicate. */
    SADDLE_USERS_MESSAGES =
        32, /**< The same. Of several algorithms, those that do not are reported. */
    SADDLE_USERS_TOPOLOGY = 64,   /**< The same, or a topology that sets the number of agents. */
    SADDLE_USERS_PROCESSES = 128, /**< Runs in several processes. */
    SADDLE_USERS_WEIGHTS = 256    /**< Problems that do not count rows themselves. */
} saddle_option_users;

/** Which files the value of an option names. No output of a run may be one of its inputs. */
typedef enum saddle_option_files {
    SADDLE_FILES_NONE,  /**< None. */
    SADDLE_FILES_INPUT, /**< It is the path of a file that is read, or of several with %d. */
    SADDLE_FILES_DATA,  /**< The same, or the name of a data set. */
    SADDLE_FILES_RULE,  /**< A file that is read follows "file:" or "schedule:", in a rule or in
                                  a list of rules. */
    SADDLE_FILES_START, /**< The same, but the model of the run may replace the file. */
    SADDLE_FILES_CODE,  /**< A word with a / is the path of a plug-in. A configuration file may
                                  not contain one, because it names code to be run. */
    SADDLE_FILES_CHECKPOINT, /**< A checkpoint, or a directory of checkpoints. */
    SADDLE_FILES_OUTPUT      /**< The path of a file that is written. */
} saddle_option_files;

/** Which struct an option's field is in. */
typedef enum saddle_option_home {
    SADDLE_HOME_NONE, /**< No field: the value is text only. */
    SADDLE_HOME_PLAN, /**< ::saddle_plan. */
    SADDLE_HOME_OWN   /**< The struct of the problem, algorithm or command whose table it is in. */
} saddle_option_home;

/**
 * How a search for good values (saddle_tune()) varies an option: by factors 10^(k/2) of its value,
 * k = low, ..., high. Options that point to the same search are varied together.
 */
typedef struct saddle_search {
    const char *name; /**< Of the factor, such as "eta-x". */
    int low;          /**< In half decades; at most 0. */
    int high;         /**< In half decades; at least 0. */
} saddle_search;

/** The condition that another option sets for an option to have an effect. */
typedef struct saddle_companion {
    const struct saddle_option *option; /**< The other option; NULL: there is no condition. */
    const char *beginning;              /**< How its value must begin: one of "a|b|c". */
    bool without;                       /**< Whether its value must not begin so. */
} saddle_companion;

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
    saddle_option_home home;     /**< Which struct its field is in. */
    size_t offset;               /**< Of the field. */
    saddle_option_stage stage;   /**< What is made from it. */
    saddle_option_effect effect; /**< What it can change. */
    const char *values;          /**< What its value can be, for completion: "@DIRECTORY",
                                      "@ALGORITHM" and the like; NULL: its choices, or files. */
    const saddle_search *search; /**< For numbers that a search varies; NULL: it does not. */
    unsigned users;              /**< Bits of ::saddle_option_users, all of which must apply for it
                                      to have an effect; 0: everybody uses it. */
    unsigned formats;            /**< For options for reading data: the formats that use it, as in
                                      saddle_dataset::formats. */
    bool not_in_file;            /**< Refused in a configuration file. */
    saddle_option_files files; /**< Which files its value names. Completion offers files for it. */
    const char *alone;         /**< What its name alone means on the command line; NULL: it needs
                                      a value, unless it is a flag. */
    saddle_companion
        used_with; /**< The value of another option that it needs to have an effect. It is
                                     not needed by algorithms without that option. */
} saddle_option;

/** Size of a buffer for the value of an option as text, and for its list of choices. */
#define SADDLE_VALUE_SIZE 512
/** No limit on this side of a range. */
#define SADDLE_UNBOUNDED ((double)INFINITY)
/** The field of an option in a struct of one's own; `when` is RUN or INSTANCE. */
#define SADDLE_OWN(type, field, when) \
    .home = SADDLE_HOME_OWN, .offset = offsetof(type, field), .stage = SADDLE_STAGE_##when

/* Designators are in the order of the fields, as C++ wants them. */

/* clang-format off */
/** A number within [low, high]. `where` is SADDLE_OWN(...). */
#define SADDLE_REAL(where, id, heading, value, low, high, meta, words_)                    \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_REAL, .fallback = (value), \
        .minimum = (low), .maximum = (high), .metavar = (meta), .help = (words_), where    \
    }
/** A number within (low, high]. */
#define SADDLE_REAL_ABOVE(where, id, heading, value, low, high, meta, words_)              \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_REAL, .fallback = (value), \
        .minimum = (low), .maximum = (high), .above_minimum = true, .metavar = (meta),     \
        .help = (words_), where                                                            \
    }
/** A number within (0, high] that a search varies. */
#define SADDLE_STEP(where, id, heading, value, high, how, meta, words_)                    \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_REAL, .fallback = (value), \
        .minimum = 0.0, .maximum = (high), .above_minimum = true, .metavar = (meta),       \
        .help = (words_), where, .search = (how)                                           \
    }
/** A whole number within [low, high], 0 <= low; SADDLE_UNBOUNDED allows all of uint64_t. */
#define SADDLE_INTEGER(where, id, heading, value, low, high, meta, words_)                    \
    {                                                                                         \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_INTEGER, .fallback = (value), \
        .minimum = (low), .maximum = (high), .metavar = (meta), .help = (words_), where       \
    }
/** One of "a|b|c". */
#define SADDLE_CHOICE(where, id, heading, value, allowed, meta, words_)                      \
    {                                                                                        \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_CHOICE, .fallback = (value), \
        .choices = (allowed), .metavar = (meta), .help = (words_), where                     \
    }
/** yes or no. */
#define SADDLE_FLAG(where, id, heading, value, words_)                                     \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_FLAG, .fallback = (value), \
        .help = (words_), where                                                            \
    }
/** Any text. */
#define SADDLE_TEXT(where, id, heading, value, meta, words_)                               \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_TEXT, .fallback = (value), \
        .metavar = (meta), .help = (words_), where                                         \
    }
/* clang-format on */

#endif
