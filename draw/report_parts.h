/* The parts of a report's page, for report.c. */
#ifndef SADDLE_DRAW_REPORT_PARTS_H
#define SADDLE_DRAW_REPORT_PARTS_H

#include <stdio.h>

#include "draw/report.h"
#include "draw/trace_groups.h"

/* Longer texts from traces are cut on the page, and their length is given. */
#define REPORT_MOST_TEXT 2000

/* A text with what HTML would take for itself escaped, in elements and in quoted attributes, and letters that
 * cannot be seen shown as saddle_show_letter() does. NULL: none. */
void report_text(FILE *f, const char *text);
/* HTML, with %s for texts that are escaped, and %zu. */
void report_html(FILE *f, const char *html, ...) SADDLE_PRINTF(2, 3);
/* A coloured dot and the label of a group, with a mark if nobody chose its step sizes, between two pieces of HTML. */
void report_label(FILE *f, const char *before, const trace_groups *g, size_t group,
                  const char *after);
/* The colour of a group as CSS says it. */
void report_colour(FILE *f, const trace_group *group, size_t place);

/* Costs at levels of the metric: a table for each kind of cost. Nothing without a metric. */
void report_costs(FILE *f, const report_section *section, const trace_groups *g);
/* The outcomes in the last rows: means over the runs, and their ranges. Nothing without outcomes. */
void report_outcomes(FILE *f, const report_section *section, const trace_groups *g);
/* The networks of the runs, agents coloured by their disagreement where the traces list it. `place` is the
 * section's, for names. */
saddle_status report_networks(FILE *f, const report_section *section, const trace_groups *g,
                              size_t place, saddle_error *error);
/* The settings that differ between runs, and those that do not folded away; of one run the most important. */
void report_settings(FILE *f, const report_section *section, const trace_groups *g);
/* The runs: seed, end, last values, and the data behind a link. */
void report_runs(FILE *f, const report_section *section, const trace_groups *g);

#endif
