/*
 * Curves drawn by gnuplot.
 *
 * A figure is a grid of panels, a panel a few curves over common axes, a curve one quantity of one or
 * several runs that differ in their seed alone. Of several runs the mean is drawn (the geometric
 * one on a logarithmic axis) over a band that holds the runs: from the 10th to the 90th percentile,
 * rounded outwards, which is their whole range for up to 10 runs. Mean and band end where the first
 * of the runs does; what others did beyond is drawn as thin lines. Panels with the same curves share
 * one legend. Of curves that cannot be told apart the first is drawn widest, so that all are seen, and the legend says so.
 */
#ifndef SADDLE_DRAW_FIGURE_H
#define SADDLE_DRAW_FIGURE_H

#include <stdio.h>

#include <saddle/lab.h>

/* One run: points of a curve, x ascending. Borrowed. What is not finite in y leaves a gap. */
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
    FIGURE_LOG /* where the values do not span a decade: linear after all */
} figure_scale;

/* Share of the horizontal axis in which losses fall steeply: see y_from. */
#define FIGURE_STEEP_START 0.1

/* One pair of axes. Texts are borrowed; NULL or "" for none. */
typedef struct figure_panel {
    const char *title;
    const char *x_label;
    const char *y_label;
    figure_scale x_scale;
    figure_scale y_scale; /* on a logarithmic axis, values of 0 and less lie on its lower end */
    double
        y_from; /* of a linear vertical axis: where values before this share of the horizontal axis would take most of
                      the height, they are cut off, and the label says so; 0: all are shown */
    size_t curves;
    const figure_curve *curve; /* borrowed */
} figure_panel;

/* A picture. */
typedef struct figure {
    const char *title; /* above all panels; NULL or "": none */
    size_t columns;    /* panels side by side; 0: two of four, otherwise at most three */
    size_t panels;
    const figure_panel *panel; /* borrowed */
} figure;

/* Refuse a path that does not end in .svg, .png or .pdf; `what` names the option. */
saddle_status figure_check_path(const char *what, const char *path, saddle_error *error);
/* Draw into a file, of the kind that its name ends in. Whole or not at all. */
saddle_status figure_draw(const figure *f, const char *path, saddle_error *error);
/* Draw the first panel with characters, `columns` wide and `rows` high, into a stream. */
saddle_status figure_print(const figure *f, FILE *stream, int columns, int rows, bool colour,
                           saddle_error *error);

#endif
