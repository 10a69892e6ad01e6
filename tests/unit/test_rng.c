/* Counter-based streams: independence of order, ranges, distributions, sampling. */
#include <string.h>

#include "core/rng.h"
#include "support.h"

TEST(streams_are_functions_of_their_key)
{
    saddle_rng a;
    saddle_rng b;
    saddle_rng_init(&a, 7, SADDLE_RNG_TEST, 3, 11);
    saddle_rng_init(&b, 7, SADDLE_RNG_TEST, 3, 11);
    for (int k = 0; k < 100; k++)
        ck_assert_uint_eq(saddle_rng_bits(&a), saddle_rng_bits(&b));
    uint64_t key[4][4] = {{8, 10, 3, 11}, {7, 9, 3, 11}, {7, 10, 4, 11}, {7, 10, 3, 12}};
    saddle_rng_init(&a, 7, SADDLE_RNG_TEST, 3, 11);
    uint64_t first = saddle_rng_bits(&a);
    for (int k = 0; k < 4; k++) {
        saddle_rng_init(&b, key[k][0], (saddle_purpose)key[k][1], key[k][2], key[k][3]);
        ck_assert_uint_ne(first, saddle_rng_bits(&b));
    }
}

TEST(moments_are_right)
{
    enum { DRAWS = 200000 };
    saddle_rng rng;
    saddle_rng_init(&rng, 1, SADDLE_RNG_TEST, 0, 0);
    double uniform = 0.0;
    double normal = 0.0;
    double square = 0.0;
    double gamma[2] = {0.0, 0.0};
    double shape[2] = {0.3, 2.5};
    for (int k = 0; k < DRAWS; k++) {
        uniform += saddle_rng_uniform(&rng);
        double z = saddle_rng_normal(&rng);
        normal += z;
        square += z * z;
        for (int s = 0; s < 2; s++)
            gamma[s] += saddle_rng_gamma(&rng, shape[s]);
    }
    /* Five standard errors of each mean. */
    double root = sqrt((double)DRAWS);
    assert_near(uniform / DRAWS, 0.5, 5 * 0.2887 / root);
    assert_near(normal / DRAWS, 0.0, 5 / root);
    assert_near(square / DRAWS, 1.0, 5 * 1.4143 / root);
    for (int s = 0; s < 2; s++)
        assert_near(gamma[s] / DRAWS, shape[s], 5 * sqrt(shape[s]) / root);
}

TEST(below_is_uniform)
{
    enum { BOUND = 7, DRAWS = 70000 };
    saddle_rng rng;
    saddle_rng_init(&rng, 2, SADDLE_RNG_TEST, 0, 0);
    double count[BOUND] = {0};
    for (int k = 0; k < DRAWS; k++) {
        uint64_t v = saddle_rng_below(&rng, BOUND);
        ck_assert_uint_lt(v, BOUND);
        count[v] += 1.0;
    }
    for (int v = 0; v < BOUND; v++)
        assert_near(count[v], (double)DRAWS / BOUND, 5 * sqrt((double)DRAWS / BOUND));
}

TEST(choose_is_without_replacement_and_uniform)
{
    enum { POPULATION = 50, COUNT = 20, DRAWS = 20000 };
    uint64_t mark[8] = {0};
    uint32_t out[COUNT];
    double hits[POPULATION] = {0};
    ck_assert_uint_le(saddle_rng_mark_words(POPULATION), 8);
    for (uint64_t t = 0; t < DRAWS; t++) {
        saddle_rng rng;
        saddle_rng_init(&rng, 3, SADDLE_RNG_TEST, 0, t);
        saddle_rng_choose(&rng, POPULATION, COUNT, out, mark);
        int seen[POPULATION] = {0};
        for (int k = 0; k < COUNT; k++) {
            ck_assert_uint_lt(out[k], POPULATION);
            ck_assert_int_eq(seen[out[k]]++, 0);
            hits[out[k]] += 1.0;
        }
        for (int w = 0; w < 8; w++)
            ck_assert_uint_eq(mark[w], 0);
    }
    double p = (double)COUNT / POPULATION;
    for (int v = 0; v < POPULATION; v++)
        assert_near(hits[v], DRAWS * p, 5 * sqrt(DRAWS * p * (1 - p)));
    /* All of them: a permutation of the population. */
    uint32_t all[POPULATION];
    saddle_rng rng;
    saddle_rng_init(&rng, 4, SADDLE_RNG_TEST, 0, 0);
    saddle_rng_choose(&rng, POPULATION, POPULATION, all, mark);
    uint64_t sum = 0;
    for (int k = 0; k < POPULATION; k++)
        sum += all[k];
    ck_assert_uint_eq(sum, POPULATION * (POPULATION - 1) / 2);
}
