/*
 * Whether a run stalls at the noise of its gradient estimates, from an agent's own numbers. noise.c has the rule.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Numbers that an agent keeps, all 0 at the start. */
enum {
    NOISE_SUM,   /* of squared movements since the last refresh */
    NOISE_COUNT, /* iterations since then */
    NOISE_STEP,  /* the squared change of the estimates in the last iteration without a refresh */
    NOISE_ERROR, /* w times the variance of the estimates' errors; a mean over refreshes, as the next one */
    NOISE_MOVEMENT, /* the squared movement of an iteration */
    NOISE_HALFWAY,  /* the movement after between a half of all iterations and all of them */
    NOISE_BEFORE,   /* the same after half as many; 0: not known yet */
    NOISE_NEXT,     /* the iteration in which these two are taken anew */
    SADDLE_NOISE_NUMBERS
};

/* Adds the squared movement of an iteration, in the units of the steps. */
static inline void saddle_noise_move(double *numbers, double movement)
{
    numbers[NOISE_SUM] += movement;
    numbers[NOISE_COUNT] += 1.0;
}

/* Takes in a refresh at the end of an iteration, with the mean of the variances of the errors before and after it, in
 * the units of the steps. */
void saddle_noise_refresh(double *numbers, double error, size_t agents, uint64_t iteration);
/* The same with the squared change of the estimates at the refresh, of which half is that mean, apart from
 * NOISE_STEP. */
void saddle_noise_compare(double *numbers, double change, size_t agents, uint64_t iteration);
