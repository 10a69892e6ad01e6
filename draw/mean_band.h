/* Mean and band of a curve over several runs. */
#ifndef SADDLE_DRAW_MEAN_BAND_H
#define SADDLE_DRAW_MEAN_BAND_H

#include "draw/figure.h"

/* Points of a mean with its band. Owned. */
typedef struct mean_band {
    size_t count;
    double *x;
    double *mean;
    double *low;
    double *high;
} mean_band;

/* Computes mean and band over the part of the axis that all runs cover, at points of the first
 * run, at most `most` of them. The result is empty if the runs have no part in common. With
 * `logarithmic`, logarithms of values are averaged and interpolated, and values of 0 and less
 * are gaps. */
saddle_status mean_band_make(mean_band *out, const figure_curve *curve, bool logarithmic,
                             size_t most, saddle_error *error);
/* Frees the band. Safe on a zeroed struct. */
void mean_band_release(mean_band *b);

#endif
