/* Mean and spread of a curve over several runs. */
#ifndef SADDLE_CLI_BAND_H
#define SADDLE_CLI_BAND_H

#include "figure.h"

/* Points of a mean with its band. Owned. */
typedef struct band {
    size_t count;
    double *x;
    double *mean;
    double *low;
    double *high;
} band;

/* Over the part of the axis that all runs cover, at points of the first one, at most `most` of them.
 * No point is left when they have none in common. With `logarithmic`, values are averaged and
 * interpolated by their logarithms, and those of 0 and less are gaps. */
saddle_status band_make(band *out, const figure_curve *curve, bool logarithmic, size_t most,
                        saddle_error *error);
/* Free it. Safe on a zeroed struct. */
void band_release(band *b);

#endif
