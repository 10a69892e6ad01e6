/*
 * The dense computations of an iteration, each in one pass over memory: neighbours are read in
 * place, and no intermediate result is stored.
 */
#pragma once

#include <saddle/algorithm.h>

/* Returns the end of the block that contains coordinate k of a range. */
static inline size_t saddle_block_end(size_t k, const saddle_range *range)
{
    size_t end = ((k + range->shift) / range->block + 1) * range->block - range->shift;
    return end < range->last ? end : range->last;
}

/*
 * A move of w, a field of the span (x or y), along its direction g (p or d, v or u):
 *
 *   w~      = `target` or, if that is NULL, w - g / rate (`descend`) or w + rate g, clipped to
 *             [lower, upper]
 *   next    = sum_j M_ij w_j + step (w~ - w)
 *
 * and, if `tracker` is not NULL, for a gradient that is linear in w,
 *
 *   tracker = sum_j M_ij g_j - curvature (next - w)
 *
 * Sums over neighbours begin with the agent's own term and continue in the order of agent numbers.
 * Only the coordinates of `range` are processed; each of its blocks has a row of sums.
 */
typedef struct saddle_pass {
    size_t offset;      /* of w in the span */
    saddle_range range; /* coordinates */
    const double *g;    /* own direction */
    size_t direction;   /* offset of g in the neighbours' spans; read only with a tracker */
    const double *target;
    bool descend;
    double rate;
    double lower;
    double upper;
    double step;
    double *next;
    double curvature;
    double *tracker;
} saddle_pass;

/* Makes the pass; in each row, sums[0] += sum (next - w)^2 and sums[1] += sum (w~ - w)^2. */
void saddle_pass_move(const saddle_agent *agent, const saddle_pass *pass);

/*
 * An update of g, a tracker in the span, by the change of the estimate e that it tracks:
 *
 *   tracker = sum_j M_ij g_j + (e+ - e),   e = e+,   where e+ = update, or e + update (`added`)
 */
typedef struct saddle_track {
    size_t offset; /* of g in the span */
    saddle_range range;
    const double *update;
    bool added;
    double *estimate; /* e, replaced by e+ */
    double *tracker;
} saddle_track;

/* Makes the pass; in each row, sums[0] += sum |update| and sums[1] += sum (e+)^2. */
void saddle_pass_track(const saddle_agent *agent, const saddle_track *track);

/* The versions for each instruction set, for pass.c and for tests. */
typedef void saddle_pass_mover(const saddle_agent *, const saddle_pass *);
typedef void saddle_pass_tracker(const saddle_agent *, const saddle_track *);
saddle_pass_mover saddle_pass_move_plain;
saddle_pass_tracker saddle_pass_track_plain;
#ifdef SADDLE_X86_VECTORS
saddle_pass_mover saddle_pass_move_avx2;
saddle_pass_mover saddle_pass_move_avx512;
saddle_pass_tracker saddle_pass_track_avx2;
saddle_pass_tracker saddle_pass_track_avx512;
#endif
