/*
 * What runs cost until their metric stays at a level, and what they reached.
 *
 * A cost at a level is that of the first row from which on the metric stays at or below the level, so it is as precise
 * as the trace is fine.
 */
#pragma once

#include <saddle/lab.h>

/* In place of a level: the last row. */
#define TRACE_AT_END ((double)NAN)

/* A column over several runs. */
typedef struct trace_summary {
    size_t count; /* runs that have a value */
    double sum, least, largest;
} trace_summary;

/* Returns the row from which on the metric stays at or below a level; the number of rows if there is none. */
size_t trace_row_at(const saddle_trace *trace, double level);
/* Returns the value of a column in that row; NaN if there is none. */
double trace_value_at(const saddle_trace *trace, const char *column, double level);
/* Adds a value to a summary, which begins with zeros; NaN is not counted. */
void trace_summary_add(trace_summary *s, double value);
/* Returns the mean; NaN if there is no value. */
double trace_summary_mean(const trace_summary *s);
/* Adds the range of a run's metric to those of others, if it has a metric. */
void trace_range_add(saddle_metric_range *range, const saddle_trace *trace);
