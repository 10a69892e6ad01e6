#include "core/rng.h"

#include "core/elementary.h"

void saddle_rng_init(saddle_rng *rng, uint64_t seed, saddle_purpose purpose, uint64_t agent,
                     uint64_t iteration)
{
    saddle_stream_init(rng, seed, (uint64_t)purpose, agent, iteration);
}

uint64_t saddle_rng_bits(saddle_rng *rng)
{
    return saddle_stream_bits(rng);
}

double saddle_rng_uniform(saddle_rng *rng)
{
    return (double)(saddle_rng_bits(rng) >> 11) * 0x1p-53;
}

uint64_t saddle_rng_below(saddle_rng *rng, uint64_t bound)
{
    return saddle_stream_below(rng, bound);
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
    saddle_stream_choose(rng, population, count, out, mark);
}
