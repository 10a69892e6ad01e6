/* What an engine that computes on a graphics card knows of an algorithm: the constants of precision.c. */
#ifndef SADDLE_ALGORITHMS_DEVICE_STEPS_H
#define SADDLE_ALGORITHMS_DEVICE_STEPS_H

#include <saddle/algorithm.h>

/* An algorithm whose iteration is that of PRECISION: (3) to (8) there, with a refresh in every q-th iteration and
 * batches drawn for SADDLE_RNG_BATCH. The layout is that of precision_steps.h, with trackers. */
typedef struct saddle_device_steps {
    double tau;
    double alpha;
    double nu;
    double eta;
    double x_lower; /* bounds of every entry of x~ */
    double x_upper;
    double y_lower;
    double y_upper;
    double curvature; /* c of shifted_estimate.h */
    uint64_t q;
    uint64_t batch; /* |S|, as saddle_batch_size() takes it */
    bool replacement;
} saddle_device_steps;

#endif
