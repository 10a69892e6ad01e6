/*
 * The logistic functions of many arguments at once, one version per instruction set. All give
 * the same bits; saddle_logistic() of core/elementary.h calls the widest that the processor
 * supports.
 */
#pragma once

#include "core/base.h"

/* One argument at a time, on any processor. */
void saddle_logistic_plain(size_t count, const double *z, double *loss, double *slope);

#if defined(SADDLE_X86_VECTORS) || defined(__aarch64__)
/* Four at a time; needs AVX. */
void saddle_logistic_avx(size_t count, const double *z, double *loss, double *slope);
/* Eight at a time; needs AVX-512F. */
void saddle_logistic_avx512(size_t count, const double *z, double *loss, double *slope);
/* Two at a time; on arm64 only. */
void saddle_logistic_neon(size_t count, const double *z, double *loss, double *slope);

/* The body of such a function: works in groups of `size` and pads the last one, because a padded
 * group takes less time than two single arguments. */
#define SADDLE_LOGISTIC_GROUPS(size, group)                          \
    do {                                                             \
        size_t whole = count / (size) * (size);                      \
        for (size_t k = 0; k < whole; k += (size))                   \
            group(z + k, loss != NULL ? loss + k : NULL, slope + k); \
        if (whole < count) {                                         \
            double rest[3][size] = {{0.0}};                          \
            size_t bytes = (count - whole) * sizeof(double);         \
            memcpy(rest[0], z + whole, bytes);                       \
            group(rest[0], loss != NULL ? rest[1] : NULL, rest[2]);  \
            memcpy(slope + whole, rest[2], bytes);                   \
            if (loss != NULL)                                        \
                memcpy(loss + whole, rest[1], bytes);                \
        }                                                            \
    } while (0)
#endif
