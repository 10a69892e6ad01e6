/*
 * The dense part of an iteration, each in one pass over memory: neighbours are read in place, and
 * nothing that a coordinate needs is written down in between.
 */
#ifndef SADDLE_ALGORITHMS_PASS_H
#define SADDLE_ALGORITHMS_PASS_H

#include <saddle/algorithm.h>

/* Where the block of a coordinate of a range ends. */
static inline size_t saddle_block_end(size_t k, const saddle_range *range)
{
    size_t end = ((k + range->shift) / range->block + 1) * range->block - range->shift;
    return end < range->last ? end : range->last;
}

/*
 * A part of the span, w (x or y), with its direction g (p or d, v or u):
 *
 *   w~     = `target`, or, where that is NULL, w - g / rate (`descend`) or w + rate g, clipped to
 *            [lower, upper]
 *   next   = sum_j M_ij w_j + step (w~ - w)
 *
 * and, if `tracker` is not NULL, for a gradient that is linear in w,
 *
 *   track  = sum_j M_ij g_j - curvature (next - w)
 *
 * Sums over neighbours begin with the agent's own term and go by agent number. The coordinates of `range` are
 * done, and its sums get a row for each block.
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

/* Make the pass: sums[0] += sum (next - w)^2, sums[1] += sum (w~ - w)^2 in each row. */
void saddle_pass_move(const saddle_agent *agent, const saddle_pass *pass);

/*
 * A part g of the span with the estimate e that it follows:
 *
 *   track = sum_j M_ij g_j + (e+ - e),   e = e+,   where e+ = news, or e + news (`added`)
 */
typedef struct saddle_track {
    size_t offset; /* of g in the span */
    saddle_range range;
    const double *news;
    bool added;
    double *estimate; /* e, replaced by e+ */
    double *tracker;
} saddle_track;

/* Make the pass: sums[0] += sum |news|, sums[1] += sum (e+)^2 in each row. */
void saddle_pass_track(const saddle_agent *agent, const saddle_track *track);

/* The same for one instruction set each, for the choice among them and for tests. */
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

#endif
