/* The sections of a report, for report.c. */
#pragma once

#include "core/base.h"
#include "draw/report.h"
#include "draw/trace_groups.h"

/* Longer texts from traces are cut on the page, and their length is given. */
#define REPORT_MOST_TEXT 2000

/* A section that is being written: its traces and levels, as of report_page, and groups. */
typedef struct report_section {
    FILE *f;
    size_t place; /* among the sections, for names */
    size_t traces;
    const saddle_trace *const *trace;
    const trace_groups *g;
    size_t levels;
    const double *level;
} report_section;

/* Writes HTML with %zu, %g or %e (with one digit of precision), and %s for texts, in elements and in quoted
 * attributes: what HTML would take for itself is escaped, letters that cannot be seen are shown as
 * saddle_show_letter() does, and NULL is "". */
void report_put(FILE *f, const char *html, ...) SADDLE_PRINTF(2, 3);
/* A coloured dot and the label of a group, with a mark if nobody chose its step sizes, between two pieces of HTML. */
void report_label(const report_section *r, const char *before, size_t group, const char *after);

/* Costs at levels of the metric: a table for each kind of cost. Nothing without a metric. */
void report_costs(const report_section *r);
/* The outcomes in the last rows: means over the runs, and their ranges. Nothing without outcomes. */
void report_outcomes(const report_section *r);
/* The networks of the runs, agents coloured by their disagreement where the traces list it. */
saddle_status report_networks(const report_section *r, saddle_error *error);
/* The settings that differ between runs, and those that do not folded away; of one run the most important. */
void report_settings(const report_section *r);
/* The runs: seed, end, last values, and the data behind a link. */
void report_runs(const report_section *r);

/* Style and script: the files of draw/report/, built into the program. */
extern const char report_css[];
extern const char report_curves_js[];
extern const char report_chart_js[];
extern const char report_page_js[];
