/*
 * A vector register of doubles as one value, for loops that keep several quantities per coordinate
 * in registers. Its width is that of the instruction set for which the including file is compiled.
 * Arithmetic acts on each entry separately, so results do not depend on the width.
 *
 * gcc generates poor code for packs wider than the registers and for packs in functions with
 * target attributes, hence one file per instruction set. Pass packs by address only: the calling
 * convention for passing one by value depends on the instruction set.
 */
#pragma once

#include "core/base.h"
#include "core/vector.h"

/* gcc 12's analyzer does not see that memcpy fills a vector. Other checkers do. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-use-of-uninitialized-value"
#endif

/* Entries per pack. It divides SADDLE_LANES. */
#if defined(__AVX512F__)
#define SADDLE_PACK 8
#elif defined(__AVX__)
#define SADDLE_PACK 4
#else
#define SADDLE_PACK 2
#endif

typedef double saddle_pack __attribute__((vector_size(SADDLE_PACK * sizeof(double))));
typedef long long saddle_pack_mask __attribute__((vector_size(SADDLE_PACK * sizeof(double))));

/* Packs per SADDLE_LANES lanes. */
enum { SADDLE_PACKS = SADDLE_LANES / SADDLE_PACK };

/* One cache line: SADDLE_LANES doubles. */
typedef struct saddle_line {
    saddle_pack pack[SADDLE_PACKS];
} saddle_line;

/* Loads lanes [first, last) from memory, lane `first` from at[0]; sets the others to 0. */
SADDLE_INLINE void saddle_line_load(saddle_line *v, const double *at, size_t first, size_t last)
{
    if (first == 0 && last == SADDLE_LANES) {
        for (size_t i = 0; i < SADDLE_PACKS; i++)
            memcpy(&v->pack[i], at + i * SADDLE_PACK, sizeof v->pack[i]);
        return;
    }
    double lane[SADDLE_LANES] = {0.0};
    for (size_t l = first; l < last; l++)
        lane[l] = at[l - first];
    memcpy(v, lane, sizeof lane);
}

/* Stores lanes [first, last) to memory, lane `first` to at[0]. */
SADDLE_INLINE void saddle_line_store(double *at, const saddle_line *v, size_t first, size_t last)
{
    if (first == 0 && last == SADDLE_LANES) {
        for (size_t i = 0; i < SADDLE_PACKS; i++)
            memcpy(at + i * SADDLE_PACK, &v->pack[i], sizeof v->pack[i]);
        return;
    }
    double lane[SADDLE_LANES];
    memcpy(lane, v, sizeof lane);
    for (size_t l = first; l < last; l++)
        at[l - first] = lane[l];
}

/* sum += v in lanes [first, last). */
SADDLE_INLINE void saddle_line_add(saddle_line *sum, const saddle_line *v, size_t first,
                                   size_t last)
{
    saddle_line kept = *v;
    if (first != 0 || last != SADDLE_LANES) {
        double lane[SADDLE_LANES];
        saddle_line_store(lane, v, 0, SADDLE_LANES);
        saddle_line_load(&kept, lane + first, first, last);
    }
    for (size_t i = 0; i < SADDLE_PACKS; i++)
        sum->pack[i] += kept.pack[i];
}

/* Returns the sum of the lanes, in the order of saddle_add_lanes(). */
SADDLE_INLINE double saddle_line_sum(const saddle_line *v)
{
    double lane[SADDLE_LANES];
    memcpy(lane, v, sizeof lane);
    return saddle_add_lanes(lane);
}

/* Clips every entry to [lower, upper]; NaN stays NaN. */
SADDLE_INLINE void saddle_pack_clip(saddle_pack *v, double lower, double upper)
{
    const saddle_pack low = lower - (saddle_pack){0.0};
    const saddle_pack high = upper - (saddle_pack){0.0};
    saddle_pack_mask below = *v < low;
    saddle_pack_mask above = *v > high;
    *v = (saddle_pack)(((saddle_pack_mask)low & below) | ((saddle_pack_mask)high & above) |
                       ((saddle_pack_mask)*v & ~(below | above)));
}

/* Replaces every entry by its absolute value. */
SADDLE_INLINE void saddle_pack_abs(saddle_pack *v)
{
    *v = (saddle_pack)((saddle_pack_mask)*v & 0x7fffffffffffffffLL);
}
