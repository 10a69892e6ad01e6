/*
 * Whether a run stalls at the noise of its gradient estimates, or because its steps are too long, from an agent's own
 * numbers. noise.c has the rules.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The number of projections of an agent's point that show how far it is from an earlier one. */
#define SADDLE_NOISE_PLACES 4

/* Numbers that an agent keeps, all 0 at the start. */
enum {
    NOISE_SUM,   /* of squared movements since the last refresh */
    NOISE_COUNT, /* iterations since then */
    NOISE_STEP,  /* the squared change of the estimates in the last iteration without a refresh */
    NOISE_ERROR, /* w times the variance of the estimates' errors; a mean over refreshes, as the next one */
    NOISE_MOVEMENT,      /* the squared movement of an iteration */
    NOISE_HALFWAY,       /* the movement after between a half of all iterations and all of them */
    NOISE_BEFORE,        /* the same after half as many; 0: not known yet */
    NOISE_NEXT,          /* the iteration from which these two are taken anew */
    NOISE_LEARNED,       /* refreshes since then */
    NOISE_PLACED,        /* the iteration in which the point was projected for the last time */
    NOISE_NET,           /* its squared distance then from the point of NOISE_BEFORE */
    NOISE_PATH,          /* the sum of squared movements between them */
    NOISE_PLACE_HALFWAY, /* projections of the point of NOISE_HALFWAY */
    NOISE_PLACE_BEFORE = NOISE_PLACE_HALFWAY + SADDLE_NOISE_PLACES,
    SADDLE_NOISE_NUMBERS = NOISE_PLACE_BEFORE + SADDLE_NOISE_PLACES
};

/* Estimates that are not recursive are looked at in every SADDLE_NOISE_EVERY-th iteration. */
#define SADDLE_NOISE_EVERY 16

/* Where an agent is at the end of an iteration. */
typedef struct saddle_noise_point {
    uint64_t iteration;
    size_t agent, agents;
    size_t x_dim, y_dim;
    const double *x, *y; /* NULL: without projections */
    double x_step, y_step;
} saddle_noise_point;

/* Adds the squared movement of an iteration, in the units of the steps. */
static inline void saddle_noise_move(double *numbers, double movement)
{
    numbers[NOISE_SUM] += movement;
    numbers[NOISE_COUNT] += 1.0;
}

/* Takes in a refresh at the end of an iteration, with the mean of the variances of the errors before and after it, in
 * the units of the steps. */
void saddle_noise_refresh(double *numbers, double error, const saddle_noise_point *at);
/* The same with the squared change of the estimates at the refresh, of which half is that mean, apart from
 * NOISE_STEP. */
void saddle_noise_compare(double *numbers, double change, const saddle_noise_point *at);
/* Takes in the variance of the errors of estimates that are not recursive, which last for `span` iterations. */
void saddle_noise_sample(double *numbers, double error, double span, const saddle_noise_point *at);
