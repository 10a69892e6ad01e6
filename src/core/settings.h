/*
 * How a store of settings is made from tables of options.
 *
 * Whoever has options declares them as constants with the macros below, such as
 *
 *     static const saddle_option nu =
 *         SADDLE_REAL_ABOVE("nu", "Algorithm", "auto", 0.0, 1.0, "STEP", "Step size of x.");
 *
 * and lists their addresses in an array that ends with NULL.
 */
#ifndef SADDLE_CORE_SETTINGS_H
#define SADDLE_CORE_SETTINGS_H

#include <math.h>

#include <saddle/settings.h>
#include <saddle/status.h>

/* No limit on this side of a range. */
#define SADDLE_UNBOUNDED ((double)INFINITY)

/* A number within [low, high]. */
#define SADDLE_REAL(id, heading, value, low, high, meta, words)                            \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_REAL, .fallback = (value), \
        .minimum = (low), .maximum = (high), .metavar = (meta), .help = (words)            \
    }
/* A number within (low, high]. */
#define SADDLE_REAL_ABOVE(id, heading, value, low, high, meta, words)                      \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_REAL, .fallback = (value), \
        .minimum = (low), .maximum = (high), .above_minimum = true, .metavar = (meta),     \
        .help = (words)                                                                    \
    }
/* A number within (0, high] that `saddle tune` varies. */
#define SADDLE_STEP(id, heading, value, high, how, meta, words)                            \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_REAL, .fallback = (value), \
        .minimum = 0.0, .maximum = (high), .above_minimum = true, .metavar = (meta),       \
        .help = (words), .search = (how)                                                   \
    }
/* A whole number within [low, high], 0 <= low; SADDLE_UNBOUNDED allows all of uint64_t. */
#define SADDLE_INTEGER(id, heading, value, low, high, meta, words)                            \
    {                                                                                         \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_INTEGER, .fallback = (value), \
        .minimum = (low), .maximum = (high), .metavar = (meta), .help = (words)               \
    }
/* One of "a|b|c". */
#define SADDLE_CHOICE(id, heading, value, allowed, meta, words)                              \
    {                                                                                        \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_CHOICE, .fallback = (value), \
        .choices = (allowed), .metavar = (meta), .help = (words)                             \
    }
/* yes or no. */
#define SADDLE_FLAG(id, heading, value, words)                                             \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_FLAG, .fallback = (value), \
        .help = (words)                                                                    \
    }
/* Anything. */
#define SADDLE_TEXT(id, heading, value, meta, words)                                       \
    {                                                                                      \
        .name = (id), .group = (heading), .kind = SADDLE_OPTION_TEXT, .fallback = (value), \
        .metavar = (meta), .help = (words)                                                 \
    }

/*
 * All options of some tables at their defaults, in the order of first occurrence. A table is an
 * array of options that ends with NULL. The same option may stand in several tables; two that
 * share a name, or one whose description contradicts itself, give SADDLE_CHECK_FAILED.
 * The options are borrowed. Free with saddle_settings_free().
 */
saddle_status saddle_settings_build(saddle_settings **out,
                                    const saddle_option *const *const *tables, size_t table_count,
                                    saddle_error *error);

/* Replace a value by the one that is in use, where only the work shows which that is: the same as
 * saddle_settings_set(), but who gave the option is not forgotten. */
saddle_status saddle_settings_settle(saddle_settings *settings, const char *name, const char *text,
                                     saddle_error *error);

#endif
