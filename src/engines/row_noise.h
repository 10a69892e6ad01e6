/*
 * Gradients that say little about a single row: each row's gradient (x and y together) is shortened to a norm of at
 * most C, and normal noise is added to the mean. Whatever an agent sends is computed from these gradients, so it
 * reveals no more than they do (core/gaussian_privacy.h).
 */
#pragma once

#include <saddle/algorithm.h>

#include "core/base.h"

typedef struct saddle_row_noise {
    double clip;   /* C; 0: gradients as they are */
    double noise;  /* the deviation of the noise is this times C / rows of the batch */
    uint64_t seed; /* of the noise */
} saddle_row_noise;

/* Returns the doubles of scratch that a noisy gradient needs. */
size_t saddle_row_noise_scratch(const saddle_problem *problem);
/* Evaluates a request of kind SADDLE_REQUEST_GRADIENT. The noise is that of (seed, agent, its IFO calls so far). */
void saddle_noisy_gradient(const saddle_agent *agent, saddle_request *request, double *scratch);
