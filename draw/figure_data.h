/* The points of curves, for gnuplot. */
#pragma once

#include "draw/figure.h"

/* An axis as it is drawn. */
typedef struct figure_axis {
    bool logarithmic;
    double low;  /* smallest value; a logarithmic axis begins at a decade */
    double high; /* largest value; a vertical logarithmic axis ends at a decade */
    bool fixed;  /* a linear axis shows exactly this range */
    double unit; /* values are divided by it */
    const char *unit_text;
} figure_axis;

/* The axis that shows the values of all curves of a panel. */
figure_axis figure_axis_make(const figure_panel *panel, bool vertical);
/* Whether two curves look the same on a vertical axis. */
bool figure_same_curve(const figure_curve *left, const figure_curve *right, const figure_axis *y);
/* Writes a curve as data blocks: `name` for the line, and name followed by Rr for the tail of
 * run r. */
saddle_status figure_write_data(FILE *f, const figure_curve *curve, const char *name,
                                const figure_axis *x, const figure_axis *y, saddle_error *error);
