/*
 * Reports: one self-contained HTML page about a few traces.
 *
 * The page asks nothing of the network, and a policy in its head forbids it to: style, script,
 * drawings and data are inside it. Style and scripts are the files of draw/report/.
 */
#ifndef SADDLE_DRAW_REPORT_H
#define SADDLE_DRAW_REPORT_H

#include <saddle/lab.h>

/* A chapter: traces of one experiment, with their curves and table of costs. */
typedef struct report_section {
    const char *title; /* NULL or "": none, for a page with one section */
    size_t traces;
    const saddle_trace *const *trace; /* borrowed */
    size_t levels;                    /* of the metric, for the table of costs; 0: chosen */
    const double *level;              /* descending; borrowed */
} report_section;

/* A page: sections, each with its curves. Everything is borrowed. */
typedef struct report_page {
    const char *title; /* NULL or "": made of what the first trace says */
    size_t sections;
    const report_section *section;
} report_page;

/* Writes the page, complete or not at all. */
saddle_status report_write(const report_page *r, const char *path, saddle_error *error);
/* Reads traces, or directories of them, and writes a page with a section for each experiment; of `section` all but
 * title and traces counts. `title`: NULL or "" for one made from the first trace. */
saddle_status report_of_files(const char *const *trace, size_t count, report_section section,
                              const char *title, const char *path, saddle_error *error);

#endif
