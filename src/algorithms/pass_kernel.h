/*
 * The implementation of the passes. One file per instruction set includes it, after defining
 * SADDLE_PASS(name) to name its versions. All versions do the same operations in the same order, so
 * that they give the same bits.
 *
 * It has no include guard, because each of these files includes it exactly once.
 */
#include "algorithms/pass.h"
#include "core/pack.h"

#define FOR_PACKS for (size_t i = 0; i < SADDLE_PACKS; i++)

/* The sums of a pass in each lane: sums[0] and sums[1] of pass.h. */
typedef struct pass_sums {
    saddle_line first;
    saddle_line second;
} pass_sums;

/* Properties of a saddle_pass that are compile-time constants in move_line(). */
typedef struct pass_shape {
    bool given;   /* there is a target */
    bool descend; /* see saddle_pass */
    bool tracked; /* there is a tracker */
} pass_shape;

/*
 * w = M_ii w + sum_j M_ij w_j in lanes [first, last), where w_j is at offset `at` of neighbour j's
 * span; if `both`, the same for g, which is at offset `beside`.
 */
SADDLE_INLINE void mix(const saddle_agent *agent, size_t at, size_t beside, bool both, size_t first,
                       size_t last, saddle_line *w, saddle_line *g)
{
    const double *const *neighbour = agent->neighbour;
    const double *weight = agent->weight;
    size_t degree = agent->degree;
    FOR_PACKS w->pack[i] = agent->self_weight * w->pack[i];
    if (both)
        FOR_PACKS g->pack[i] = agent->self_weight * g->pack[i];
    for (size_t j = 0; j < degree; j++) {
        saddle_line other;
        saddle_line_load(&other, neighbour[j] + at, first, last);
        FOR_PACKS w->pack[i] += weight[j] * other.pack[i];
        if (both) {
            saddle_line_load(&other, neighbour[j] + beside, first, last);
            FOR_PACKS g->pack[i] += weight[j] * other.pack[i];
        }
    }
}

/* saddle_pass_move() for the coordinates from k on, in lanes [first, last) of their line. */
SADDLE_INLINE void move_line(const saddle_agent *agent, const saddle_pass *pass, pass_shape shape,
                             size_t k, size_t first, size_t last, pass_sums *sums)
{
    saddle_line own;
    saddle_line slope;
    saddle_line far;
    saddle_line square;
    saddle_line_load(&own, agent->now + pass->offset + k, first, last);
    if (!shape.given || shape.tracked)
        saddle_line_load(&slope, pass->g + k, first, last);
    if (shape.given) {
        saddle_line_load(&far, pass->target + k, first, last);
    } else {
        FOR_PACKS
        {
            if (shape.descend)
                far.pack[i] = own.pack[i] - slope.pack[i] / pass->rate;
            else
                far.pack[i] = own.pack[i] + pass->rate * slope.pack[i];
            saddle_pack_clip(&far.pack[i], pass->lower, pass->upper);
        }
    }
    FOR_PACKS far.pack[i] -= own.pack[i];
    FOR_PACKS square.pack[i] = far.pack[i] * far.pack[i];
    saddle_line_add(&sums->second, &square, first, last);

    saddle_line next = own;
    mix(agent, pass->offset + k, pass->direction + k, shape.tracked, first, last, &next, &slope);
    FOR_PACKS next.pack[i] += pass->step * far.pack[i];
    saddle_line_store(pass->next + k, &next, first, last);
    saddle_line move;
    FOR_PACKS move.pack[i] = next.pack[i] - own.pack[i];
    FOR_PACKS square.pack[i] = move.pack[i] * move.pack[i];
    saddle_line_add(&sums->first, &square, first, last);

    if (shape.tracked) {
        FOR_PACKS slope.pack[i] -= pass->curvature * move.pack[i];
        saddle_line_store(pass->tracker + k, &slope, first, last);
    }
}

/* saddle_pass_track() for the coordinates from k on, in lanes [first, last) of their line. */
SADDLE_INLINE void track_line(const saddle_agent *agent, const saddle_track *track, bool added,
                              size_t k, size_t first, size_t last, pass_sums *sums)
{
    saddle_line mixed;
    saddle_line old;
    saddle_line given;
    saddle_line_load(&mixed, agent->now + track->offset + k, first, last);
    saddle_line_load(&old, track->estimate + k, first, last);
    saddle_line_load(&given, track->update + k, first, last);
    mix(agent, track->offset + k, 0, false, first, last, &mixed, NULL);
    saddle_line new = given;
    if (added)
        FOR_PACKS new.pack[i] += old.pack[i];
    FOR_PACKS mixed.pack[i] += new.pack[i] - old.pack[i];
    saddle_line_store(track->estimate + k, &new, first, last);
    saddle_line_store(track->tracker + k, &mixed, first, last);
    FOR_PACKS saddle_pack_abs(&given.pack[i]);
    saddle_line_add(&sums->first, &given, first, last);
    FOR_PACKS new.pack[i] *= new.pack[i];
    saddle_line_add(&sums->second, &new, first, last);
}

/*
 * Calls `line(k, first, last)` for each cache line of coordinates [begin, end) of a field at
 * `offset` of its span. Spans begin on cache lines, and a load that straddles two costs twice; so
 * only the first and the last line may be incomplete.
 */
#define FOR_LINES(offset, begin, end, line)                 \
    do {                                                    \
        const size_t stop = (end);                          \
        size_t first = ((offset) + (begin)) % SADDLE_LANES; \
        size_t k = (begin);                                 \
        if (first > 0) {                                    \
            size_t some = SADDLE_LANES - first;             \
            some = some < stop - k ? some : stop - k;       \
            line(k, first, first + some);                   \
            k += some;                                      \
        }                                                   \
        for (; k + SADDLE_LANES <= stop; k += SADDLE_LANES) \
            line(k, 0, SADDLE_LANES);                       \
        if (k < stop)                                       \
            line(k, 0, stop - k);                           \
    } while (0)

/* Calls `lines(begin, end)` for each block of a range, and adds its sums to the block's row. */
#define FOR_BLOCKS(range, lines)                                                     \
    do {                                                                             \
        double *own = (range).sums;                                                  \
        for (size_t begin = (range).first, end; begin < (range).last; begin = end) { \
            end = saddle_block_end(begin, &(range));                                 \
            pass_sums sums;                                                          \
            memset(&sums, 0, sizeof sums);                                           \
            lines(begin, end);                                                       \
            own[0] += saddle_line_sum(&sums.first);                                  \
            own[1] += saddle_line_sum(&sums.second);                                 \
            own += SADDLE_BLOCK_SUMS;                                                \
        }                                                                            \
    } while (0)

/* Moves all lines of a range, with the shape as a compile-time constant. */
SADDLE_INLINE void move_all(const saddle_agent *agent, const saddle_pass *pass, pass_shape shape)
{
    const saddle_agent here = *agent;
    const saddle_pass what = *pass;
#define LINE(k, first, last) move_line(&here, &what, shape, k, first, last, &sums)
#define LINES(begin, end) FOR_LINES(what.offset, begin, end, LINE)
    FOR_BLOCKS(what.range, LINES);
#undef LINES
#undef LINE
}

/* Tracks all lines of a range, with `added` as a compile-time constant. */
SADDLE_INLINE void track_all(const saddle_agent *agent, const saddle_track *track, bool added)
{
    const saddle_agent here = *agent;
    const saddle_track what = *track;
#define LINE(k, first, last) track_line(&here, &what, added, k, first, last, &sums)
#define LINES(begin, end) FOR_LINES(what.offset, begin, end, LINE)
    FOR_BLOCKS(what.range, LINES);
#undef LINES
#undef LINE
}

void SADDLE_PASS(saddle_pass_move)(const saddle_agent *agent, const saddle_pass *pass)
{
    bool tracked = pass->tracker != NULL;
    if (pass->target != NULL && tracked)
        move_all(agent, pass, (pass_shape){.given = true, .tracked = true});
    else if (pass->target != NULL)
        move_all(agent, pass, (pass_shape){.given = true});
    else if (pass->descend && tracked)
        move_all(agent, pass, (pass_shape){.descend = true, .tracked = true});
    else if (pass->descend)
        move_all(agent, pass, (pass_shape){.descend = true});
    else if (tracked)
        move_all(agent, pass, (pass_shape){.tracked = true});
    else
        move_all(agent, pass, (pass_shape){.given = false});
}

void SADDLE_PASS(saddle_pass_track)(const saddle_agent *agent, const saddle_track *track)
{
    if (track->added)
        track_all(agent, track, true);
    else
        track_all(agent, track, false);
}
