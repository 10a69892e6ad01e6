/**
 * @file trace.h
 * @brief Reading back what runs have written: traces and outcomes.
 *
 *     saddle_trace *trace;
 *     saddle_trace_read(&trace, "trace.csv", &error);
 *     const double *samples = saddle_trace_column(trace, "ifo");
 *     const double *metric = saddle_trace_column(trace, "metric");
 *     for (size_t k = 0; k < trace->rows; k++) ...
 */
#ifndef SADDLE_TRACE_H
#define SADDLE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A line `# name: value` of a trace's head. */
typedef struct saddle_trace_entry {
    char *name;  /**< Such as "algorithm". */
    char *value; /**< Such as "precision". */
} saddle_trace_entry;

/** A trace in memory. Fields are for reading only. Free with saddle_trace_free(). */
typedef struct saddle_trace {
    char *path;                /**< Where it was read from. */
    char *version;             /**< Of the program that wrote it; "" when the file does not say. */
    size_t entries;            /**< Lines of the head. */
    saddle_trace_entry *entry; /**< In the order of the file. */
    size_t columns;            /**< At least 1. */
    char **column;             /**< Their names. */
    double **value;            /**< value[c][r]; NaN where a cell is empty. */
    size_t rows;               /**< May be 0: a run has only begun. */
    char
        *end; /**< Why the run ended; NULL: it goes on, or was killed, or the file is an old one. */
} saddle_trace;

/**
 * Read a trace, or a file of outcomes, also one that a run is writing at the moment: a last line
 * that is not whole yet is left out. A line that is no row of numbers is refused and named.
 * @param[out] out  NULL on failure.
 */
SADDLE_API saddle_status saddle_trace_read(saddle_trace **out, const char *path,
                                           saddle_error *error);
/** Free a trace. NULL is allowed. */
SADDLE_API void saddle_trace_free(saddle_trace *trace);

/** What the head says about a name; "" when it says nothing. Borrowed. */
SADDLE_API const char *saddle_trace_setting(const saddle_trace *trace, const char *name);
/** The `rows` values of a column; NULL: there is none of this name. Borrowed. */
SADDLE_API const double *saddle_trace_column(const saddle_trace *trace, const char *name);

/**
 * Append the columns that `trace` does not have and `other` does, matched by the column
 * `iteration`; NaN in rows that `other` lacks. So a run's outcomes get the costs of its trace.
 */
SADDLE_API saddle_status saddle_trace_join(saddle_trace *trace, const saddle_trace *other,
                                           saddle_error *error);

#ifdef __cplusplus
}
#endif
#endif
