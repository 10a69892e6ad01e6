/*
 * Reports: one self-contained HTML page about a few traces, with claims if there are any.
 *
 * The page asks nothing of the network, and a policy in its head forbids it to: style, script,
 * drawings and data are inside it. Style and scripts are the files of draw/report/.
 */
#ifndef SADDLE_DRAW_REPORT_H
#define SADDLE_DRAW_REPORT_H

#include "lab/claims.h"

/* A chapter: traces of one experiment, with their curves and table of costs. */
typedef struct report_section {
    const char *title; /* NULL or "": none, for a page with one section */
    const char *text;  /* paragraphs separated by empty lines; NULL or "": none */
    const char *y;     /* columns shown first, "a,b"; NULL: the metric, and what there is */
    size_t traces;
    const saddle_trace *const *trace; /* borrowed */
    size_t levels;                    /* of the metric, for the table of costs; 0: chosen */
    const double *level;              /* descending; borrowed */
} report_section;

/* A page: the claims with their verdicts and numbers, then sections, each with its curves.
 * Everything is borrowed. */
typedef struct report_page {
    const char *title;         /* NULL or "": made of what the first trace says */
    const char *text;          /* as of a section */
    const char *claims_text;   /* what the claims were tested on; NULL or "": nothing */
    bool claims_last;          /* whether they follow the sections */
    const claims_list *claims; /* NULL: none */
    size_t sections;
    const report_section *section;
} report_page;

/* Write the page, whole or not at all. */
saddle_status report_write(const report_page *r, const char *path, saddle_error *error);
/* Read traces, or directories of them, and write a page with a section for each experiment; of `section` all
 * but title and traces counts. `claims`: with the paper's claims, where these runs can decide them. */
saddle_status report_of_files(const char *const *trace, size_t count, report_section section,
                              bool claims, const char *title, const char *path,
                              saddle_error *error);

#endif
