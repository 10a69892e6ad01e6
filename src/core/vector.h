/*
 * Vector kernels. Sums use eight fixed lanes that are added in a fixed order, so their bits
 * depend neither on the instruction set nor on the compiler's choices.
 */
#pragma once

#include "core/base.h"

/*
 * A function that is compiled once per instruction set; the loader picks the version. The build
 * disables this where a sanitizer or the compiler does not support it. All versions give the
 * same bits, because contraction is off. SADDLE_WIDEST is for the test that compares them: a
 * build for one instruction set only, 0 (any processor), 256 (AVX2) or 512 (AVX-512F) bits wide.
 */
#if defined(SADDLE_WIDEST)
#if SADDLE_WIDEST == 512
#define SADDLE_KERNEL __attribute__((target("avx512f")))
#elif SADDLE_WIDEST == 256
#define SADDLE_KERNEL __attribute__((target("avx2")))
#else
#define SADDLE_KERNEL
#endif
#elif defined(SADDLE_MULTIVERSION)
#define SADDLE_KERNEL __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SADDLE_KERNEL
#endif

/* Returns the width in bits of the widest vectors with versions in separate files that may be
 * called: 0, 256 (AVX2) or 512 (AVX-512F). */
static inline int saddle_vector_bits(void)
{
#if defined(SADDLE_WIDEST)
    return SADDLE_WIDEST;
#elif defined(SADDLE_X86_VECTORS)
    if (__builtin_cpu_supports("avx512f"))
        return 512;
    return __builtin_cpu_supports("avx2") ? 256 : 0;
#else
    return 0;
#endif
}

/* The version of a function for the widest vectors that may be called. */
#ifdef SADDLE_X86_VECTORS
#define SADDLE_WIDEST_OF(plain, bits256, bits512) \
    (saddle_vector_bits() == 512 ? (bits512) : saddle_vector_bits() == 256 ? (bits256) : (plain))
#else
#define SADDLE_WIDEST_OF(plain, bits256, bits512) (plain)
#endif

#define SADDLE_INLINE static inline __attribute__((always_inline))

/* The number of lanes of every sum. */
#define SADDLE_LANES 8

/* Returns `count` rounded up to whole cache lines of doubles, so that what follows in memory is aligned. */
static inline size_t saddle_whole_lines(size_t count)
{
    return (count + SADDLE_LANES - 1) / SADDLE_LANES * SADDLE_LANES;
}

/* Returns the sum of the lanes, in the one order that all code uses. */
static inline double saddle_add_lanes(const double lane[SADDLE_LANES])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/*
 * Runs `body` for k = 0 .. count - 1, where l is the lane of k: a loop over whole groups of
 * lanes, which compilers vectorize, and one over the rest.
 */
#define SADDLE_FOR_LANES(count, body)                                                     \
    do {                                                                                  \
        size_t lanes_whole = (count) / SADDLE_LANES * SADDLE_LANES;                       \
        for (size_t lanes_base = 0; lanes_base < lanes_whole; lanes_base += SADDLE_LANES) \
            for (size_t l = 0; l < SADDLE_LANES; l++) {                                   \
                size_t k = lanes_base + l;                                                \
                body                                                                      \
            }                                                                             \
        for (size_t k = lanes_whole; k < (count); k++) {                                  \
            size_t l = k - lanes_whole;                                                   \
            body                                                                          \
        }                                                                                 \
    } while (0)

/* sum_k a[k] b[k] */
double saddle_dot(size_t count, const double *a, const double *b);
/* sum_k v[k] */
double saddle_sum(size_t count, const double *v);
/* sum_k v[k]^2 */
double saddle_norm2(size_t count, const double *v);
/* sum_k (a[k] - b[k])^2 */
double saddle_distance2(size_t count, const double *a, const double *b);
/* y += a x */
void saddle_axpy(size_t count, double a, const double *x, double *y);
/* v *= a */
void saddle_scale(size_t count, double a, double *v);
/* Index of the first entry that is not finite, or count. */
size_t saddle_first_nonfinite(size_t count, const double *v);
