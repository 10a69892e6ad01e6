/*
 * Reports: one self-contained HTML page about a few traces.
 *
 * The page asks nothing of the network, and a policy in its head forbids it to: style, script,
 * drawings and data are inside it. Style and scripts are the files of draw/report/.
 */
#pragma once

#include <saddle/lab.h>

/* What a page shows: a section for each experiment of the traces. Everything is borrowed. */
typedef struct report_page {
    const char *title; /* NULL or "": made of what the first trace says */
    size_t traces;
    const saddle_trace *const *trace;
    size_t levels;       /* of the metric, for the tables of costs; 0: chosen */
    const double *level; /* descending */
} report_page;

/* Writes the page, complete or not at all. */
saddle_status report_write(const report_page *r, const char *path, saddle_error *error);
/* Reads traces, or directories of them, and writes a page about them; of `page` only title and levels count. */
saddle_status report_of_files(const char *const *trace, size_t count, report_page page,
                              const char *path, saddle_error *error);
