/*
 * Curves drawn by gnuplot.
 *
 * A figure is a grid of panels, a panel a few curves over common axes, a curve one quantity of one or
 * several runs that differ in their seed alone. Of several runs the mean is drawn (the geometric
 * one on a logarithmic axis) with a band behind it. The program gnuplot is fed by a pipe; no shell
 * is involved and every text is escaped.
 */
#ifndef SADDLE_CLI_FIGURE_H
#define SADDLE_CLI_FIGURE_H

#include "cli.h"

/* One run: points of a curve, x ascending. Borrowed. NaN in y leaves a gap. */
typedef struct figure_run {
    size_t count;
    const double *x;
    const double *y;
} figure_run;

/* One line of the legend. */
typedef struct figure_curve {
    const char *label;     /* for the legend; borrowed */
    const char *algorithm; /* whose colour and dashes it has; NULL: by its place in the panel */
    size_t runs;
    const figure_run *run; /* borrowed */
} figure_curve;

/* How an axis is divided. */
typedef enum figure_scale {
    FIGURE_LINEAR,
    FIGURE_LOG /* where nothing is positive: linear after all */
} figure_scale;

/* One pair of axes. Texts are borrowed; NULL or "" for none. */
typedef struct figure_panel {
    const char *title;
    const char *x_label;
    const char *y_label;
    figure_scale x_scale;
    figure_scale y_scale;
    size_t curves;
    const figure_curve *curve; /* borrowed */
} figure_panel;

/* A picture. */
typedef struct figure {
    const char *title; /* above all panels; NULL or "": none */
    size_t columns;    /* panels side by side; 0: at most three */
    size_t panels;
    const figure_panel *panel; /* borrowed */
} figure;

/* Whether a path ends in .svg, .png or .pdf; `what` names the option for the message. */
saddle_status figure_check_path(const char *what, const char *path, saddle_error *error);
/* Draw into a file, of the kind that its name ends in. Whole or not at all. */
saddle_status figure_draw(const figure *f, const char *path, saddle_error *error);
/* Draw with characters, `columns` wide and `rows` high, into a stream. */
saddle_status figure_print(const figure *f, FILE *stream, int columns, int rows, bool colour,
                           saddle_error *error);

/* What an axis or a column is called in pictures and reports: "gradient evaluations (IFO calls)" for
 * "ifo"; the name itself where nothing better is known. */
const char *figure_title(const char *column);
/* The column behind a word of --x: samples, rounds, messages, bytes, seconds, iterations; the word
 * itself when it is none of these. */
const char *figure_column(const char *word);
/* How a column is best shown. */
figure_scale figure_scale_of(const char *column);

/* Curves of traces: those of one algorithm and different seeds make one curve. */
typedef struct figure_curves {
    size_t count;
    figure_curve *curve; /* owned, as is what it points to except the traces' numbers */
} figure_curves;
/* Group traces, which are borrowed and must outlive the result, into curves of column y over x.
 * Where two groups have the same algorithm, the settings in which they differ are in the label. */
saddle_status figure_group(figure_curves *out, const saddle_trace *const *trace, size_t count,
                           const char *x, const char *y, saddle_error *error);
/* Free them. Safe on a zeroed struct. */
void figure_release(figure_curves *curves);

#endif
