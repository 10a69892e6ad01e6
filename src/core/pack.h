/*
 * A vector register of doubles as one value, as wide as the file that includes this is compiled for: for
 * loops that keep many things of a coordinate in registers at once. Arithmetic on a pack is arithmetic
 * on each of its entries, so results do not depend on the width.
 *
 * gcc makes poor code of packs wider than the registers, and of packs in functions with target
 * attributes: hence one file per instruction set. Packs are handed on by address only: how one is passed
 * by value depends on the instruction set.
 */
#ifndef SADDLE_CORE_PACK_H
#define SADDLE_CORE_PACK_H

#include <string.h>

#include "core/vector.h"

/* Entries of a pack; they divide SADDLE_LANES. */
#if defined(__AVX512F__)
#define SADDLE_PACK 8
#elif defined(__AVX__)
#define SADDLE_PACK 4
#else
#define SADDLE_PACK 2
#endif

typedef double saddle_pack __attribute__((vector_size(SADDLE_PACK * sizeof(double))));
typedef long long saddle_pack_mask __attribute__((vector_size(SADDLE_PACK * sizeof(double))));

/* Entries [low, high) from memory, at[0] to entry low; the others are 0. */
SADDLE_INLINE void saddle_pack_load(saddle_pack *v, const double *at, size_t low, size_t high)
{
    if (low == 0 && high == SADDLE_PACK) {
        memcpy(v, at, sizeof *v);
        return;
    }
    *v = (saddle_pack){0.0};
    for (size_t l = low; l < high; l++)
        (*v)[l] = at[l - low];
}

/* Entries [low, high) to memory, entry low to at[0]. */
SADDLE_INLINE void saddle_pack_store(double *at, const saddle_pack *v, size_t low, size_t high)
{
    if (low == 0 && high == SADDLE_PACK) {
        memcpy(at, v, sizeof *v);
        return;
    }
    for (size_t l = low; l < high; l++)
        at[l - low] = (*v)[l];
}

/* sum += v in entries [low, high). */
SADDLE_INLINE void saddle_pack_add(saddle_pack *sum, const saddle_pack *v, size_t low, size_t high)
{
    if (low == 0 && high == SADDLE_PACK) {
        *sum += *v;
        return;
    }
    for (size_t l = low; l < high; l++)
        (*sum)[l] += (*v)[l];
}

/* The nearest number of [lower, upper] in every entry; NaN stays NaN. */
SADDLE_INLINE void saddle_pack_clip(saddle_pack *v, double lower, double upper)
{
    const saddle_pack low = lower - (saddle_pack){0.0};
    const saddle_pack high = upper - (saddle_pack){0.0};
    saddle_pack_mask below = *v < low;
    saddle_pack_mask above = *v > high;
    *v = (saddle_pack)(((saddle_pack_mask)low & below) | ((saddle_pack_mask)high & above) |
                       ((saddle_pack_mask)*v & ~(below | above)));
}

/* |v| in every entry. */
SADDLE_INLINE void saddle_pack_abs(saddle_pack *v)
{
    *v = (saddle_pack)((saddle_pack_mask)*v & 0x7fffffffffffffffLL);
}

/* Sum of SADDLE_LANES lanes held in packs, as saddle_add_lanes(). */
SADDLE_INLINE double saddle_pack_sum(const saddle_pack v[SADDLE_LANES / SADDLE_PACK])
{
    double lane[SADDLE_LANES];
    memcpy(lane, v, sizeof lane);
    return saddle_add_lanes(lane);
}

#endif
