#include "core/rng.h"

#include <Random123/philox.h>

#include "core/elementary.h"

__extension__ typedef unsigned __int128 wide;

void saddle_rng_init(saddle_rng *rng, uint64_t seed, saddle_purpose purpose, uint64_t agent,
                     uint64_t iteration)
{
    memset(rng, 0, sizeof *rng);
    rng->key[0] = seed;
    rng->key[1] = (uint64_t)purpose;
    rng->counter[1] = agent;
    rng->counter[2] = iteration;
    rng->used = 4;
}

uint64_t saddle_rng_bits(saddle_rng *rng)
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

double saddle_rng_uniform(saddle_rng *rng)
{
    return (double)(saddle_rng_bits(rng) >> 11) * 0x1p-53;
}

uint64_t saddle_rng_below(saddle_rng *rng, uint64_t bound)
{
    /* Lemire 2019: multiply, and reject the few values that would be over-represented. */
    wide product = (wide)saddle_rng_bits(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = -bound % bound;
        while ((uint64_t)product < threshold)
            product = (wide)saddle_rng_bits(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

double saddle_rng_normal(saddle_rng *rng)
{
    /* Marsaglia's polar method: needs only log and sqrt, whose bits do not depend on the machine. */
    for (;;) {
        double u = 2.0 * saddle_rng_uniform(rng) - 1.0;
        double v = 2.0 * saddle_rng_uniform(rng) - 1.0;
        double s = u * u + v * v;
        if (s > 0.0 && s < 1.0)
            return u * sqrt(-2.0 * saddle_log(s) / s);
    }
}

double saddle_rng_gamma(saddle_rng *rng, double shape)
{
    if (shape < 1.0) {
        double boost = saddle_log(1.0 - saddle_rng_uniform(rng)) / shape;
        return saddle_rng_gamma(rng, shape + 1.0) * saddle_exp(boost);
    }
    double d = shape - 1.0 / 3.0;
    double c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        double z = saddle_rng_normal(rng);
        double w = 1.0 + c * z;
        if (w <= 0.0)
            continue;
        w = w * w * w;
        double u = 1.0 - saddle_rng_uniform(rng);
        if (saddle_log(u) < 0.5 * z * z + d - d * w + d * saddle_log(w))
            return d * w;
    }
}

void saddle_rng_shuffle(saddle_rng *rng, size_t *array, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)saddle_rng_below(rng, i);
        size_t kept = array[i - 1];
        array[i - 1] = array[j];
        array[j] = kept;
    }
}

size_t saddle_rng_mark_words(size_t population)
{
    return population / 64 + 1;
}

void saddle_rng_choose(saddle_rng *rng, size_t population, size_t count, uint32_t *out,
                       uint64_t *mark)
{
    for (size_t k = 0; k < count; k++) {
        size_t top = population - count + k;
        size_t pick = (size_t)saddle_rng_below(rng, top + 1);
        if (mark[pick / 64] >> (pick % 64) & 1)
            pick = top;
        mark[pick / 64] |= UINT64_C(1) << (pick % 64);
        out[k] = (uint32_t)pick;
    }
    for (size_t k = 0; k < count; k++)
        mark[out[k] / 64] = 0;
}
