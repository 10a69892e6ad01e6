/* The PRECISION paper's refresh size, for a processor and for a graphics card. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "core/device_code.h"

/* The constants of (12) in precision_plus.c. Those that are not positive, or NaN, are not given. */
typedef struct saddle_refresh_constants {
    double c_gamma;
    double c_epsilon;
    double epsilon;
    double sigma2;
    double least; /* samples; 0: those of a mini-batch */
    double span;  /* iterations between refreshes; 0: by the size of the last one */
} saddle_refresh_constants;

/* A refresh of R samples is followed by the next after ceil(SADDLE_SPAN_ROOTS sqrt(R)) iterations. */
#define SADDLE_SPAN_ROOTS 2.0

/* Returns R_i. A gamma that is not positive imposes no bound, like an epsilon that is not given. */
SADDLE_BOTH double saddle_refresh_size(const saddle_refresh_constants *c, double samples,
                                       double batch, double variance, double gamma)
{
    double least = c->least > 0.0 ? c->least : batch;
    double size = samples;
    /* The variance of a single sample is not defined, so a refresh needs two to measure it. */
    if (!(c->sigma2 > 0.0) && least < 2.0)
        least = 2.0;
    if (gamma > 0.0)
        size = fmin(size, ceil(c->c_gamma * variance / gamma));
    if (c->epsilon > 0.0)
        size = fmin(size, ceil(c->c_epsilon * variance / c->epsilon));
    size = fmax(size, least);
    return size < samples ? size : samples;
}

/* Returns the number of iterations after which a refresh of this size is followed by the next. */
SADDLE_BOTH double saddle_refresh_span(const saddle_refresh_constants *c, double size)
{
    return c->span > 0.0 ? c->span : ceil(SADDLE_SPAN_ROOTS * sqrt(size));
}
