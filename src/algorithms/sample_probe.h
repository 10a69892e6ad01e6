/* Gradients of single samples before a run, where steps and metrics are measured. */
#pragma once

#include <saddle/instance.h>

typedef struct saddle_sample_probe {
    const saddle_instance *instance;
    double *y;        /* y_dim: the reference point in y; saddle_sample_probe_respond() sets it */
    double *g;        /* x_dim + y_dim, for saddle_sample_probe_respond() */
    double *scratch;  /* of the problem and its sets */
    double first_nan; /* minus the first agent with a NaN in a gradient; at first -INFINITY */
} saddle_sample_probe;

/* The number of an agent's samples where few are enough. */
#define SADDLE_PROBE_FEW 64

/* Sets y halfway between the first y and what one ascent step from it gives at x, with gradients over all samples or
 * `few` of them. Collective. */
saddle_status saddle_sample_probe_respond(saddle_sample_probe *probe, const double *x, double alpha,
                                          bool few, saddle_error *error);

/* Computes the gradient of the k-th of `count` samples of an agent, at equal distances, at x and y. */
void saddle_sample_probe_gradient(saddle_sample_probe *probe, size_t agent, size_t k, size_t count,
                                  const double *x, double *out);

/* The same; the entries in y may be left out, which there can be many more of than in x. */
void saddle_sample_probe_slope(saddle_sample_probe *probe, size_t agent, size_t k, size_t count,
                               const double *x, double *out);

/* Fails if a gradient of any process had a NaN. `what` is measured. Collective. */
saddle_status saddle_sample_probe_refuse_nan(const saddle_sample_probe *probe, const char *what,
                                             saddle_error *error);
