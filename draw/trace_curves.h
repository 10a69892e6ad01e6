/* Curves of traces: columns, their titles, and which traces make one curve. */
#pragma once

#include "draw/figure.h"

/* The name, title and scale of a known column. */
typedef struct figure_column {
    const char *name;
    const char *word;  /* for --x and for a page's switch: "samples" */
    const char *title; /* for an axis: "gradient evaluations" */
    figure_scale scale;
} figure_column;

/* All known columns. */
const figure_column *figure_columns(size_t *count);
/* The title of a column in pictures and reports, "gradient evaluations" for "ifo"; the column's
 * name if it is not a known one. */
const char *figure_title(const char *column);
/* The column for a word of --x: samples, rounds, messages, bytes, seconds, iterations; the word
 * itself otherwise. */
const char *figure_column_of(const char *word);
/* The scale that suits a column. */
figure_scale figure_scale_of(const char *column);

/* Curves of traces. Free with figure_release(). */
typedef struct figure_curves {
    size_t count;
    figure_curve *curve; /* owned */
    figure_run *run;     /* of all curves; owned */
    char **label;        /* owned */
} figure_curves;
/* Groups traces into curves of column y over column x; trace_groups.h says which traces make one
 * curve. The traces are borrowed and must outlive the result. A trace without one of the columns
 * is refused. */
saddle_status figure_group(figure_curves *out, const saddle_trace *const *trace, size_t count,
                           const char *x, const char *y, saddle_error *error);
/* Frees the curves. Safe on a zeroed struct. */
void figure_release(figure_curves *curves);
