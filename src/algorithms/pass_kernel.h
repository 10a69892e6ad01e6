/*
 * The passes themselves. Included by one file per instruction set, which says by SADDLE_PASS(name) what
 * its versions are called. All of them do the same operations in the same order: same bits.
 *
 * There is no guard: it is meant to be included where its functions are wanted, once.
 */
#include "algorithms/pass.h"
#include "core/pack.h"

enum { PACKS = SADDLE_LANES / SADDLE_PACK };

/* The sums of a pass, lane by lane. */
typedef struct pass_sums {
    saddle_pack moved[PACKS];
    saddle_pack reach[PACKS];
    saddle_pack change[PACKS];
    saddle_pack size[PACKS];
} pass_sums;

/* sum = M_ii own + sum_j M_ij (what neighbour j has at `offset`), entries [low, high). */
SADDLE_INLINE void mix(const saddle_agent *agent, size_t offset, const saddle_pack *own, size_t low,
                       size_t high, saddle_pack *sum)
{
    const double *const *neighbour = agent->neighbour;
    const double *weight = agent->weight;
    size_t degree = agent->degree;
    saddle_pack total = agent->self_weight * *own;
    for (size_t j = 0; j < degree; j++) {
        saddle_pack other;
        saddle_pack_load(&other, neighbour[j] + offset, low, high);
        total += weight[j] * other;
    }
    *sum = total;
}

/* e = e+, tracker = sum_j M_ij g_j + (e+ - e). */
SADDLE_INLINE void follow(const saddle_agent *agent, size_t offset, const saddle_pack *own,
                          const saddle_pack *old, const saddle_pack *new, double *estimate,
                          double *tracker, size_t low, size_t high, saddle_pack *size)
{
    saddle_pack mixed;
    mix(agent, offset, own, low, high, &mixed);
    mixed += *new - *old;
    saddle_pack_store(estimate, new, low, high);
    saddle_pack_store(tracker, &mixed, low, high);
    saddle_pack square = *new **new;
    saddle_pack_add(size, &square, low, high);
}

/* saddle_pass_move() for the coordinates from k on, in entries [low, high) of a pack. */
SADDLE_INLINE void move_pack(const saddle_agent *agent, const saddle_pass *pass, size_t k,
                             size_t low, size_t high, size_t piece, pass_sums *sums)
{
    saddle_pack own;
    saddle_pack slope = {0.0};
    saddle_pack goal;
    saddle_pack next;
    saddle_pack_load(&own, agent->now + pass->offset + k, low, high);
    if (pass->target == NULL || pass->tracker != NULL)
        saddle_pack_load(&slope, pass->g + k, low, high);
    if (pass->target != NULL) {
        saddle_pack_load(&goal, pass->target + k, low, high);
    } else {
        if (pass->descend)
            goal = own - slope / pass->rate;
        else
            goal = own + pass->rate * slope;
        saddle_pack_clip(&goal, pass->lower, pass->upper);
    }
    mix(agent, pass->offset + k, &own, low, high, &next);
    saddle_pack far = goal - own;
    next += pass->step * far;
    saddle_pack_store(pass->next + k, &next, low, high);
    saddle_pack move = next - own;
    saddle_pack square = move * move;
    saddle_pack_add(&sums->moved[piece], &square, low, high);
    square = far * far;
    saddle_pack_add(&sums->reach[piece], &square, low, high);
    if (pass->tracker != NULL) {
        saddle_pack old;
        saddle_pack change = -pass->curvature * move;
        saddle_pack_load(&old, pass->estimate + k, low, high);
        saddle_pack new = old + change;
        follow(agent, pass->direction + k, &slope, &old, &new, pass->estimate + k,
               pass->tracker + k, low, high, &sums->size[piece]);
        saddle_pack_abs(&change);
        saddle_pack_add(&sums->change[piece], &change, low, high);
    }
}

/* saddle_pass_track() for the coordinates from k on, in entries [low, high) of a pack. */
SADDLE_INLINE void track_pack(const saddle_agent *agent, const saddle_track *track, size_t k,
                              size_t low, size_t high, size_t piece, pass_sums *sums)
{
    saddle_pack own;
    saddle_pack old;
    saddle_pack given;
    saddle_pack_load(&own, agent->now + track->offset + k, low, high);
    saddle_pack_load(&old, track->estimate + k, low, high);
    saddle_pack_load(&given, track->news + k, low, high);
    saddle_pack new = given;
    if (track->added)
        new += old;
    follow(agent, track->offset + k, &own, &old, &new, track->estimate + k, track->tracker + k, low,
           high, &sums->size[piece]);
    saddle_pack_abs(&given);
    saddle_pack_add(&sums->change[piece], &given, low, high);
}

/* Entries [low, high) of a line's pack number `piece` when the line's lanes [first, last) are wanted; and
 * how far its first coordinate is from the line's. False when there are none. */
SADDLE_INLINE bool cut(size_t first, size_t last, size_t piece, size_t *low, size_t *high,
                       size_t *skip)
{
    size_t lane = piece * SADDLE_PACK;
    *low = first > lane ? first - lane : 0;
    *high = last < lane + SADDLE_PACK ? last : lane + SADDLE_PACK;
    if (lane + *low >= *high)
        return false;
    *high -= lane;
    *skip = lane + *low - first;
    return true;
}

/* The coordinates from k on, in lanes [first, last) of their line. */
SADDLE_INLINE void move_line(const saddle_agent *agent, const saddle_pass *pass, size_t k,
                             size_t first, size_t last, pass_sums *sums)
{
    size_t low;
    size_t high;
    size_t skip;
    for (size_t piece = 0; piece < PACKS; piece++)
        if (cut(first, last, piece, &low, &high, &skip))
            move_pack(agent, pass, k + skip, low, high, piece, sums);
}

/* Likewise. */
SADDLE_INLINE void track_line(const saddle_agent *agent, const saddle_track *track, size_t k,
                              size_t first, size_t last, pass_sums *sums)
{
    size_t low;
    size_t high;
    size_t skip;
    for (size_t piece = 0; piece < PACKS; piece++)
        if (cut(first, last, piece, &low, &high, &skip))
            track_pack(agent, track, k + skip, low, high, piece, sums);
}

/*
 * Do `line(k, first, last)` for all lines of a part that begins at `offset` of its span. Spans begin on
 * cache lines, and a load that straddles two costs twice; so lines are taken whole, but for the first
 * and the last.
 */
#define FOR_LINES(offset, count, line)                                           \
    do {                                                                         \
        size_t first = (offset) % SADDLE_LANES;                                  \
        size_t k = 0;                                                            \
        if (first > 0) {                                                         \
            k = (count) < SADDLE_LANES - first ? (count) : SADDLE_LANES - first; \
            line(0, first, first + k);                                           \
        }                                                                        \
        for (; k + SADDLE_LANES <= (count); k += SADDLE_LANES)                   \
            line(k, 0, SADDLE_LANES);                                            \
        if (k < (count))                                                         \
            line(k, 0, (count)-k);                                               \
    } while (0)

static void add_up(const pass_sums *sums, saddle_pass_sums *out)
{
    out->moved = saddle_pack_sum(sums->moved);
    out->reach = saddle_pack_sum(sums->reach);
    out->change = saddle_pack_sum(sums->change);
    out->size = saddle_pack_sum(sums->size);
}

void SADDLE_PASS(saddle_pass_move)(const saddle_agent *agent, const saddle_pass *pass,
                                   saddle_pass_sums *out)
{
    const saddle_agent here = *agent;
    const saddle_pass what = *pass;
    pass_sums sums;
    memset(&sums, 0, sizeof sums);
#define LINE(k, first, last) move_line(&here, &what, k, first, last, &sums)
    FOR_LINES(what.offset, what.count, LINE);
#undef LINE
    add_up(&sums, out);
}

void SADDLE_PASS(saddle_pass_track)(const saddle_agent *agent, const saddle_track *track,
                                    saddle_pass_sums *out)
{
    const saddle_agent here = *agent;
    const saddle_track what = *track;
    pass_sums sums;
    memset(&sums, 0, sizeof sums);
#define LINE(k, first, last) track_line(&here, &what, k, first, last, &sums)
    FOR_LINES(what.offset, what.count, LINE);
#undef LINE
    add_up(&sums, out);
}
