/* Streams of random numbers (rng.h), in a form that a graphics card can run, too. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <Random123/philox.h>

#include "core/device_code.h"

/* A stream. The struct is public so that it can live on the stack. */
typedef struct saddle_rng {
    uint64_t key[2];
    uint64_t counter[4];
    uint64_t block[4];
    unsigned used; /* numbers of the block already returned; 4: none left */
} saddle_rng;

__extension__ typedef unsigned __int128 saddle_wide;

/* Begins the stream of (seed, purpose, agent, iteration). */
SADDLE_BOTH void saddle_stream_init(saddle_rng *rng, uint64_t seed, uint64_t purpose,
                                    uint64_t agent, uint64_t iteration)
{
    memset(rng, 0, sizeof *rng);
    rng->key[0] = seed;
    rng->key[1] = purpose;
    rng->counter[1] = agent;
    rng->counter[2] = iteration;
    rng->used = 4;
}

/* Returns the next 64 random bits. */
SADDLE_BOTH uint64_t saddle_stream_bits(saddle_rng *rng)
{
    if (rng->used == 4) {
        philox4x64_key_t key = {{rng->key[0], rng->key[1]}};
        philox4x64_ctr_t counter = {
            {rng->counter[0], rng->counter[1], rng->counter[2], rng->counter[3]}};
        philox4x64_ctr_t block = philox4x64(counter, key);
        memcpy(rng->block, block.v, sizeof rng->block);
        rng->counter[0]++;
        rng->used = 0;
    }
    return rng->block[rng->used++];
}

/* Returns a number from 0 to bound - 1, all equally likely. */
SADDLE_BOTH uint64_t saddle_stream_below(saddle_rng *rng, uint64_t bound)
{
    /* Lemire 2019: multiply, and reject the few values that would be over-represented. */
    saddle_wide product = (saddle_wide)saddle_stream_bits(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = -bound % bound;
        while ((uint64_t)product < threshold)
            product = (saddle_wide)saddle_stream_bits(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

/* Chooses `count` different numbers below `population` (Floyd); `mark` are zeroed bits, a bit for each number, and
 * are zeroed again. */
SADDLE_BOTH void saddle_stream_choose(saddle_rng *rng, size_t population, size_t count,
                                      uint32_t *out, uint64_t *mark)
{
    for (size_t k = 0; k < count; k++) {
        size_t top = population - count + k;
        size_t pick = (size_t)saddle_stream_below(rng, top + 1);
        if (mark[pick / 64] >> (pick % 64) & 1)
            pick = top;
        mark[pick / 64] |= (uint64_t)1 << (pick % 64);
        out[k] = (uint32_t)pick;
    }
    for (size_t k = 0; k < count; k++)
        mark[out[k] / 64] = 0;
}
