/* Curves of traces: which columns, what they are called, which traces make one curve. */
#ifndef SADDLE_DRAW_TRACE_CURVES_H
#define SADDLE_DRAW_TRACE_CURVES_H

#include "draw/figure.h"

/* What is known about a column of traces. */
typedef struct figure_column {
    const char *name;
    const char *word;  /* for --x and for a page's switch: "samples" */
    const char *title; /* for an axis: "gradient evaluations" */
    figure_scale scale;
} figure_column;

/* All columns that are known. */
const figure_column *figure_columns(size_t *count);
/* What a column is called in pictures and reports, "gradient evaluations" for "ifo"; its own name
 * where nothing better is known. */
const char *figure_title(const char *column);
/* The column behind a word of --x: samples, rounds, messages, bytes, seconds, iterations; the word
 * itself when it is none of these. */
const char *figure_column_of(const char *word);
/* How a column is best shown. */
figure_scale figure_scale_of(const char *column);

/* Curves of traces. Free with figure_release(). */
typedef struct figure_curves {
    size_t count;
    figure_curve *curve; /* owned */
    figure_run *run;     /* of all curves; owned */
    char **label;        /* owned */
} figure_curves;
/* Column y over column x of traces, which are borrowed and must outlive the result; see trace_groups.h
 * for which of them make one curve. A trace without one of the columns is refused. */
saddle_status figure_group(figure_curves *out, const saddle_trace *const *trace, size_t count,
                           const char *x, const char *y, saddle_error *error);
/* Free them. Safe on a zeroed struct. */
void figure_release(figure_curves *curves);

#endif
