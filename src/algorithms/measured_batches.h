/*
 * Estimates with measured errors: step (7) of PRECISION-auto and, by default, of PRECISION+, and --estimator plus and
 * kalman. measured_batches.c has the rules.
 */
#pragma once

#include <saddle/algorithm.h>

#include "algorithms/metric.h"

/* Numbers that an agent keeps, all 0 at the start. Variances are those of x and y. */
enum {
    X_ERROR,
    Y_ERROR,
    X_SAMPLE,
    Y_SAMPLE,
    DIFFERENCE, /* variance of a difference over one sample, in the units of the steps, relative to the movement */
    SINCE, /* iterations since the last refresh in which messages arrived */
    SPAN,  /* from one refresh to the next, in the mean */
    MEASURED_KEPT
};

/* Numbers of an iteration: the squared length of (x~ - x, y~ - y) in the units of the steps, the size of the batch, and
 * whether it is that of a refresh. */
enum { REACH, BATCH, REFRESHES, MEASURED_NUMBERS };
/* With a gain: those in x and y. */
enum { X_GAIN = MEASURED_NUMBERS, Y_GAIN, MEASURED_GAINS };

/* The weight of the newest number in what the network follows. */
#define SADDLE_FOLLOW 0.2

/* An agent's variables. Those of x and y are adjacent. */
typedef struct saddle_measured {
    size_t x_dim, y_dim, samples;
    const double *x, *y;   /* the last point */
    const double *x1, *y1; /* the new one */
    double *gx, *gy;       /* over a batch, or its first half */
    double *hx, *hy;       /* over its second half */
    double *old;           /* with a gain: two vectors (x, y), as g and h but at the last point */
    uint64_t next;         /* the number of the estimate */
    const saddle_metric *metric; /* H of x; NULL: H = I */
    double *wg, *wh;             /* gx and hx in the metric; gx and hx themselves if H = I */
    double curvature;            /* c, if gy and hy are changes of u + c y (shifted_estimate.h) */
    double x_step, y_step;       /* nu / tau, eta alpha */
    double noise;                /* theta */
    double most_partial;         /* the largest part of the samples that a refresh takes, or all */
    double renewed;              /* e: errors that a refresh leaves in a tracker, at first */
    double signal;               /* G; 0: not known */
    double *kept;
    double *noise_numbers; /* of noise.h; NULL: none are followed */
    double *number;
} saddle_measured;

/* Moves a mean over iterations towards a number; 0 means that there is none yet. */
static inline void saddle_learn(double *mean, double number, double weight)
{
    *mean = *mean == 0.0 ? number : *mean + weight * (number - *mean);
}

/* Returns the size of the smallest batches of an agent. */
size_t saddle_measured_least_batch(size_t samples);

/* Requests and evaluates the first estimates in (gx, gy), from as many samples as the smallest refresh has, or `count`
 * if these are more, or all. */
void saddle_measured_start(saddle_agent *agent, const saddle_measured *at, size_t count);
/* Decides between a refresh and a difference, draws the batch, and requests its first half. number[REACH] is known. */
void saddle_measured_begin(saddle_agent *agent, const saddle_measured *at);
/* Requests the second half. */
void saddle_measured_continue(saddle_agent *agent, const saddle_measured *at);
/* Makes (gx, gy) the new estimates (number[REFRESHES] > 0) or their change, and updates their errors. With a gain, (gx,
 * gy) is instead the mean over the batch at the new point, and `old` begins with the change. */
void saddle_measured_finish(const saddle_agent *agent, const saddle_measured *at);
