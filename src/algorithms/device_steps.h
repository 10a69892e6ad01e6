/* What an engine that computes on a graphics card knows of an algorithm: the constants of precision.c. */
#ifndef SADDLE_ALGORITHMS_DEVICE_STEPS_H
#define SADDLE_ALGORITHMS_DEVICE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "algorithms/refresh_size.h"

/* Indices into the numbers at the end of an agent's kept state: the number whose network mean the published extra
 * tracks; if refreshes are scheduled, the iteration of the agent's last one, the number of iterations until its next
 * one, and, by the paper's rule, sigma^2 and the sum of c since the last refresh. */
enum {
    SADDLE_PRECISION_FOLLOWED,
    SADDLE_PRECISION_REFRESHED,
    SADDLE_PRECISION_SPAN,
    SADDLE_SCHEDULE_SIGMA2,
    SADDLE_SCHEDULE_WINDOW
};

/* The sets that there is code for. */
typedef enum saddle_device_shape {
    SADDLE_DEVICE_BOX, /* every entry from `lower` to `upper`, possibly infinite */
    SADDLE_DEVICE_L2_BALL,
    SADDLE_DEVICE_L1_BALL,
    SADDLE_DEVICE_SIMPLEX
} saddle_device_shape;

/* A set, and for X the proximal step of h with 1 / tau: entries shrink by `threshold` and are divided by `divisor`;
 * then they are projected. */
typedef struct saddle_device_set {
    saddle_device_shape shape;
    bool clips; /* a box, and h = 0 */
    double lower;
    double upper;
    double size;     /* the radius or the sum */
    double rounding; /* saddle_rounding() */
    double down;     /* the power of 2 by which simplex.c scales, and its reciprocal */
    double up;
    double threshold;
    double divisor;
} saddle_device_set;

/* An algorithm whose iteration is that of PRECISION: (3) to (8) there, with a refresh in every q-th iteration or as
 * scheduled, and batches drawn for SADDLE_RNG_BATCH; or that of prox_sgda.c. precision_steps.h has the layout. */
typedef struct saddle_device_steps {
    double tau;
    double alpha;
    double nu;
    double eta;
    saddle_device_set x;
    saddle_device_set y;
    double curvature; /* c of shifted_estimate.h */
    uint64_t q;       /* UINT64_MAX: there are no refreshes at times of all agents */
    uint64_t batch;   /* |S|, as saddle_batch_size() takes it */
    bool replacement;
    bool recursive; /* estimates change by differences; otherwise they are new gradients */
    bool tracking;  /* p and d are published and mixed; otherwise p = v, d = u */
    bool
        scheduled; /* each agent refreshes at times of its own, by the paper's rule of precision_plus.c */
    saddle_refresh_constants refresh;
} saddle_device_steps;

#endif
