/*
 * Curves drawn by gnuplot.
 *
 * A figure is a grid of panels, a panel a few curves over common axes, a curve one quantity of one
 * or several runs that differ only in their seed. For several runs the mean is drawn (the geometric
 * mean on a logarithmic axis), with a band from the 10th to the 90th percentile, rounded outwards,
 * which is their full range for up to 10 runs. Mean and band end where the first of the runs ends;
 * the rest of the others is drawn as thin lines. Several panels have the same curves and share one legend. If
 * curves look the same, the first is drawn widest, so that all are visible, and the legend says so.
 */
#pragma once

#include <saddle/lab.h>

#include "core/base.h"

/* One run: points of a curve, x ascending. Borrowed. A y that is not finite leaves a gap. */
typedef struct figure_run {
    size_t count;
    const double *x;
    const double *y;
} figure_run;

/* One curve, and line of the legend. */
typedef struct figure_curve {
    const char *label; /* for the legend; borrowed */
    /* The algorithm whose colour and dashes it has; NULL: by its index in the panel. */
    const char *algorithm;
    size_t runs;
    const figure_run *run; /* borrowed */
} figure_curve;

/* The scale of an axis. */
typedef enum figure_scale {
    FIGURE_LINEAR,
    FIGURE_LOG /* linear if the values span less than a decade */
} figure_scale;

/* The fraction of the horizontal axis in which losses fall steeply: see y_from. */
#define FIGURE_STEEP_START 0.1

/* One pair of axes. Texts are borrowed; NULL or "" for none. */
typedef struct figure_panel {
    const char *x_label;
    const char *y_label;
    figure_scale x_scale;
    /* Values of 0 and less are drawn at the lower end of a logarithmic axis. */
    figure_scale y_scale;
    /* On a linear vertical axis: if values before this fraction of the horizontal axis would take most of the
     * height, they are cut off, and the label says so; 0: never. */
    double y_from;
    size_t curves;
    const figure_curve *curve; /* borrowed */
} figure_panel;

/* A picture. */
typedef struct figure {
    const char *title; /* above all panels; NULL or "": none */
    size_t columns;    /* panels side by side; 0: two if there are four, otherwise at most three */
    size_t panels;
    const figure_panel *panel; /* borrowed */
} figure;

/* Draws into a file, whose ending decides the format. Atomic. */
saddle_status figure_draw(const figure *f, const char *path, saddle_error *error);
/* Draws the first panel with characters, `columns` wide and `rows` high, to a stream. */
saddle_status figure_print(const figure *f, FILE *stream, int columns, int rows, bool colour,
                           saddle_error *error);
