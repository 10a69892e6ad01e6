/* The logistic functions: correct, without overflow, and the same bits with every instruction set. */
#include <stdio.h>
#include <string.h>

#include "core/elementary.h"
#include "core/logistic.h"
#include "core/print.h"
#include "core/rng.h"
#include "core/scalar.h"
#include "support.h"

enum { COUNT = 4099 };

/* Arguments of all magnitudes, special cases first. */
static void fill(double *z)
{
    static const double corner[] = {0.0,    -0.0,  1e-320, -1e-320,  36.0,      -36.0, 709.0,
                                    -709.0, 745.0, -745.0, INFINITY, -INFINITY, 1e300, -1e300};
    size_t corners = sizeof corner / sizeof *corner;
    saddle_rng rng;
    saddle_rng_init(&rng, 5, SADDLE_RNG_TEST, 0, 0);
    for (size_t k = 0; k < COUNT; k++)
        z[k] = k < corners
                   ? corner[k]
                   : saddle_rng_normal(&rng) * saddle_exp(12.0 * saddle_rng_uniform(&rng) - 4.0);
}

TEST(values_are_right)
{
    double z[COUNT];
    double loss[COUNT];
    double slope[COUNT];
    fill(z);
    saddle_logistic(COUNT, z, loss, slope);
    for (size_t k = 0; k < COUNT; k++) {
        /* log(1 + e^z) = max(z, 0) + log1p(e^-|z|) in long double */
        long double tail = log1pl(expl(-fabsl((long double)z[k])));
        double expected = (double)((z[k] > 0.0 ? (long double)z[k] : 0.0L) + tail);
        if (isinf(z[k])) {
            ck_assert(loss[k] == (z[k] > 0.0 ? INFINITY : 0.0));
        } else {
            assert_near(loss[k], expected, 1e-15 * expected + 1e-300);
            assert_near(saddle_softplus(z[k]), loss[k], 0.0);
        }
        double sigmoid = (double)(1.0L / (1.0L + expl(-(long double)z[k])));
        assert_near(slope[k], sigmoid, 1e-15 * sigmoid + 1e-300);
    }
}

TEST(not_a_number_stays_one)
{
    double z[9];
    double loss[9];
    double slope[9];
    for (size_t k = 0; k < 9; k++)
        z[k] = NAN;
    saddle_logistic(9, z, loss, slope);
    for (size_t k = 0; k < 9; k++) {
        ck_assert(isnan(loss[k]));
        ck_assert(isnan(slope[k]));
    }
}

TEST(one_at_a_time_has_the_same_bits)
{
    double z[COUNT];
    double loss[COUNT];
    double slope[COUNT];
    fill(z);
    saddle_logistic(COUNT, z, loss, slope);
    for (size_t k = 0; k < COUNT; k++) {
        double own_loss;
        double own_slope;
        saddle_logistic_at(z[k], &own_loss, &own_slope);
        ck_assert_uint_eq(saddle_double_bits(own_loss), saddle_double_bits(saddle_flush(loss[k])));
        ck_assert_uint_eq(saddle_double_bits(own_slope),
                          saddle_double_bits(saddle_flush(slope[k])));
    }
    double own_loss;
    double own_slope;
    saddle_logistic_at((double)NAN, &own_loss, &own_slope);
    ck_assert(isnan(own_loss) && isnan(own_slope));
}

TEST(small_numbers_become_zero)
{
    ck_assert(saddle_flush(DBL_MIN) == DBL_MIN && saddle_flush(-DBL_MIN) == -DBL_MIN);
    ck_assert(saddle_flush(DBL_MIN / 2.0) == 0.0 && saddle_flush(-5e-324) == 0.0);
    ck_assert(signbit(saddle_flush(-5e-324)) && !signbit(saddle_flush(5e-324)));
    ck_assert(isnan(saddle_flush((double)NAN)) && isinf(saddle_flush((double)INFINITY)));
    ck_assert(saddle_is_finite(DBL_MAX) && !saddle_is_finite((double)NAN));
    ck_assert(!saddle_is_finite(-(double)INFINITY));
}

#if defined(SADDLE_X86_VECTORS) || defined(__aarch64__)
typedef void version(size_t count, const double *z, double *loss, double *slope);

static void compare(version *other)
{
    double z[COUNT];
    double loss[2][COUNT];
    double slope[2][COUNT];
    fill(z);
    /* All lengths below two vectors, for the tails; then the full length. */
    for (size_t count = 0; count <= COUNT; count = count < 17 ? count + 1 : count + COUNT - 17) {
        memset(loss, 0, sizeof loss);
        memset(slope, 0, sizeof slope);
        saddle_logistic_plain(count, z, loss[0], slope[0]);
        other(count, z, loss[1], slope[1]);
        ck_assert_mem_eq(loss[0], loss[1], sizeof loss[0]);
        ck_assert_mem_eq(slope[0], slope[1], sizeof slope[0]);
        other(count, z, NULL, slope[1]);
        ck_assert_mem_eq(slope[0], slope[1], sizeof slope[0]);
    }
}
#endif

TEST(every_instruction_set_gives_the_same_bits)
{
#ifdef SADDLE_X86_VECTORS
    if (__builtin_cpu_supports("avx"))
        compare(saddle_logistic_avx);
    else
        saddle_fprintf(stdout, "skip: this processor has no AVX\n");
    if (__builtin_cpu_supports("avx512f"))
        compare(saddle_logistic_avx512);
    else
        saddle_fprintf(stdout, "skip: this processor has no AVX-512\n");
#elif defined(__aarch64__)
    compare(saddle_logistic_neon);
#else
    saddle_fprintf(stdout, "skip: no vector versions in this build\n");
#endif
}
