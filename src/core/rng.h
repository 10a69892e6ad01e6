/*
 * Counter-based random numbers (Philox4x64-10: Salmon, Moraes, Dror, Shaw, SC 2011).
 *
 * A stream is keyed by (seed, purpose, agent, iteration), so every number is a pure function of
 * where it is used: the same bits for any number of threads, any engine and after any restart.
 */
#pragma once

#include "core/base.h"
#include "core/rng_stream.h"

/* What a stream is for. Results depend on these values: append, never renumber. */
typedef enum saddle_purpose {
    SADDLE_RNG_BATCH = 1,     /* mini-batches */
    SADDLE_RNG_REFRESH = 2,   /* refresh samples */
    SADDLE_RNG_PILOT = 3,     /* pilot batch before the first refresh */
    SADDLE_RNG_TOPOLOGY = 4,  /* random graphs; agent = attempt */
    SADDLE_RNG_PARTITION = 5, /* which agent holds which row */
    SADDLE_RNG_GENERATOR = 6, /* built-in data; iteration = row */
    SADDLE_RNG_INSTANCE = 7,  /* built-in problem instances */
    SADDLE_RNG_INIT = 8,      /* starting points */
    SADDLE_RNG_CHECK = 9,     /* points of the gradient check */
    SADDLE_RNG_TEST = 10,     /* free for tests */
    SADDLE_RNG_ESTIMATE = 11, /* pairs of points for estimates of L and mu */
    SADDLE_RNG_PICK = 12,     /* which inner iterate is kept */
    SADDLE_RNG_LINK = 13,     /* which messages arrive; agent = edge, iteration = round */
    SADDLE_RNG_MATCHING = 14, /* random matchings; iteration = round */
    SADDLE_RNG_COMPRESS =
        15,                /* which entries are sent; agent = agent and field, iteration = round */
    SADDLE_RNG_COIN = 16,  /* which iterations refresh, the same for all agents; agent = 0 */
    SADDLE_RNG_NOISE = 17, /* on gradients; iteration = IFO calls before */
    SADDLE_RNG_TUNE = 64,  /* candidates of a search */
    SADDLE_RNG_VALIDATION = 65 /* rows that a search judges candidates by */
} saddle_purpose;

/* Starts a stream. */
void saddle_rng_init(saddle_rng *rng, uint64_t seed, saddle_purpose purpose, uint64_t agent,
                     uint64_t iteration);
/* Returns 64 random bits. */
uint64_t saddle_rng_bits(saddle_rng *rng);
/* Returns a uniform number in [0, 1) with 53 random bits. */
double saddle_rng_uniform(saddle_rng *rng);
/* Returns a uniform number in {0, ..., bound - 1}, without bias; bound >= 1. */
uint64_t saddle_rng_below(saddle_rng *rng, uint64_t bound);
/* Returns a standard normal number. */
double saddle_rng_normal(saddle_rng *rng);
/* Returns a Gamma(shape, 1) number, shape > 0 (Marsaglia and Tsang 2000). */
double saddle_rng_gamma(saddle_rng *rng, double shape);
/* Shuffles the first `count` entries of an array. */
void saddle_rng_shuffle(saddle_rng *rng, size_t *array, size_t count);

/* Returns the length of the `mark` array that saddle_rng_choose() needs for a population. */
size_t saddle_rng_mark_words(size_t population);
/*
 * Draws `count` distinct numbers from {0, ..., population - 1} in O(count) (Floyd, CACM 1987).
 * `mark` has saddle_rng_mark_words() entries, all zero before and after.
 */
void saddle_rng_choose(saddle_rng *rng, size_t population, size_t count, uint32_t *out,
                       uint64_t *mark);
