/*
 * The dense passes: against the formulas coordinate by coordinate, and every instruction set against
 * every other, bit for bit, for parts that begin and end anywhere in a cache line.
 */
#include <math.h>
#include <string.h>

#include "algorithms/pass.h"
#include "core/rng.h"
#include "core/vector.h"
#include "support.h"

enum { BLOCK = SADDLE_LEAST_BLOCK };
enum { LARGEST = 2 * BLOCK + 75, MARGIN = 11, SPAN = 2 * (LARGEST + MARGIN), MOST_NEIGHBOURS = 4 };
/* The most blocks that the coordinates of a part span. */
enum { MOST_BLOCKS = 4 };

/* An agent with neighbours, and everything that a pass reads or writes. */
typedef struct target {
    saddle_agent agent;
    const double *neighbour[MOST_NEIGHBOURS];
    double weight[MOST_NEIGHBOURS];
    double now[1 + MOST_NEIGHBOURS][SPAN];
    double target[SPAN];
    double update[SPAN];
    double estimate[SPAN];
    double next[SPAN];
    double tracker[SPAN];
} target;

static void scene_make(target *s, size_t neighbours, uint64_t seed)
{
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_TEST, neighbours, 0);
    double *const vector[] = {s->now[0], s->now[1], s->now[2],   s->now[3], s->now[4],
                              s->target, s->update, s->estimate, s->next,   s->tracker};
    for (size_t v = 0; v < sizeof vector / sizeof *vector; v++)
        for (size_t k = 0; k < SPAN; k++)
            vector[v][k] = saddle_rng_normal(&rng);
    for (size_t j = 0; j < MOST_NEIGHBOURS; j++) {
        s->neighbour[j] = s->now[j + 1];
        s->weight[j] = saddle_rng_uniform(&rng);
    }
    s->agent = (saddle_agent){.now = s->now[0],
                              .degree = neighbours,
                              .neighbour = s->neighbour,
                              .weight = s->weight,
                              .self_weight = 0.3};
}

static void scene_copy(target *to, const target *from)
{
    *to = *from;
    for (size_t j = 0; j < MOST_NEIGHBOURS; j++)
        to->neighbour[j] = to->now[j + 1];
    to->agent.now = to->now[0];
    to->agent.neighbour = to->neighbour;
    to->agent.weight = to->weight;
}

/* What to do with a target. */
typedef struct job {
    size_t offset;
    size_t count;
    bool target; /* given, not computed */
    bool descend;
    bool tracked;
    bool added;
} job;

static saddle_pass move_of(target *s, const job *what)
{
    return (saddle_pass){
        .offset = what->offset,
        .range = {.last = what->count, .block = BLOCK, .shift = what->offset % SADDLE_LANES},
        .g = s->now[0] + SPAN / 2 + what->offset / 2,
        .direction = SPAN / 2 + what->offset / 2,
        .target = what->target ? s->target : NULL,
        .descend = what->descend,
        .rate = 1.7,
        .lower = -0.4,
        .upper = 0.9,
        .step = 0.1,
        .next = s->next + what->offset,
        .curvature = 0.8,
        .tracker = what->tracked ? s->tracker : NULL};
}

static saddle_track track_of(target *s, const job *what)
{
    return (saddle_track){
        .offset = what->offset,
        .range = {.last = what->count, .block = BLOCK, .shift = what->offset % SADDLE_LANES},
        .update = s->update,
        .added = what->added,
        .estimate = s->estimate + what->offset,
        .tracker = s->tracker};
}

/* The two sums of a block: moved and reach, or change and size. */
typedef struct totals {
    double first;
    double second;
} totals;

static double mixed(const target *s, size_t at)
{
    double sum = s->agent.self_weight * s->now[0][at];
    for (size_t j = 0; j < s->agent.degree; j++)
        sum += s->weight[j] * s->now[j + 1][at];
    return sum;
}

static void move_slowly(target *s, const job *what, totals *sums)
{
    saddle_pass pass = move_of(s, what);
    for (size_t k = 0; k < pass.range.last; k++) {
        totals *row = &sums[(k + pass.range.shift) / BLOCK];
        double own = s->now[0][pass.offset + k];
        double goal;
        if (what->target)
            goal = s->target[k];
        else {
            goal = what->descend ? own - pass.g[k] / pass.rate : own + pass.rate * pass.g[k];
            goal = goal < pass.lower ? pass.lower : goal > pass.upper ? pass.upper : goal;
        }
        double next = mixed(s, pass.offset + k) + pass.step * (goal - own);
        pass.next[k] = next;
        row->first += (next - own) * (next - own);
        row->second += (goal - own) * (goal - own);
        if (what->tracked)
            pass.tracker[k] = mixed(s, pass.direction + k) - pass.curvature * (next - own);
    }
}

static void track_slowly(target *s, const job *what, totals *sums)
{
    saddle_track track = track_of(s, what);
    for (size_t k = 0; k < track.range.last; k++) {
        totals *row = &sums[(k + track.range.shift) / BLOCK];
        double update = track.update[k];
        double new = what->added ? track.estimate[k] + update : update;
        track.tracker[k] = mixed(s, track.offset + k) + (new - track.estimate[k]);
        track.estimate[k] = new;
        row->first += fabs(update);
        row->second += new *new;
    }
}

static void assert_same_state(const target *a, const target *b)
{
    ck_assert_mem_eq(a->next, b->next, sizeof a->next);
    ck_assert_mem_eq(a->estimate, b->estimate, sizeof a->estimate);
    ck_assert_mem_eq(a->tracker, b->tracker, sizeof a->tracker);
}

/* The versions that this processor can run. */
typedef struct version {
    saddle_pass_mover *move;
    saddle_pass_tracker *track;
} version;

static size_t versions(version out[4])
{
    size_t count = 0;
    out[count++] = (version){saddle_pass_move_plain, saddle_pass_track_plain};
    out[count++] = (version){saddle_pass_move, saddle_pass_track};
#ifdef SADDLE_X86_VECTORS
    if (__builtin_cpu_supports("avx2"))
        out[count++] = (version){saddle_pass_move_avx2, saddle_pass_track_avx2};
    if (__builtin_cpu_supports("avx512f"))
        out[count++] = (version){saddle_pass_move_avx512, saddle_pass_track_avx512};
#endif
    return count;
}

/* Do a job, or step 4 alone (`track`), slowly or by a version; in one go, or block by block from
 * the last. */
static void perform(target *s, const job *what, bool track, const version *by, bool divided,
                    totals *out)
{
    double row[MOST_BLOCKS][SADDLE_BLOCK_SUMS] = {{0.0}};
    saddle_pass pass = move_of(s, what);
    saddle_track part = track_of(s, what);
    memset(out, 0, MOST_BLOCKS * sizeof *out);
    if (by == NULL && track)
        track_slowly(s, what, out);
    else if (by == NULL)
        move_slowly(s, what, out);
    for (size_t b = MOST_BLOCKS; by != NULL && b-- > 0;) {
        size_t shift = what->offset % SADDLE_LANES;
        size_t first = b > 0 && divided ? b * BLOCK - shift : 0;
        size_t last = divided ? (b + 1) * BLOCK - shift : what->count;
        last = last < what->count ? last : what->count;
        if (first >= last || (!divided && b > 0))
            continue;
        saddle_range range = {
            .first = first, .last = last, .block = BLOCK, .shift = shift, .sums = row[b]};
        part.range = pass.range = range;
        if (track)
            by->track(&s->agent, &part);
        else
            by->move(&s->agent, &pass);
    }
    for (size_t b = 0; by != NULL && b < MOST_BLOCKS; b++)
        out[b] = (totals){row[b][0], row[b][1]};
}

/* Does one job on one target with every version. */
static void try_job(const target *start, const job *what, bool track)
{
    static target slow;
    static target fast;
    totals first[MOST_BLOCKS] = {{0}};
    totals wanted[MOST_BLOCKS];
    version each[4];
    size_t count = versions(each);
    scene_copy(&slow, start);
    perform(&slow, what, track, NULL, false, wanted);
    for (size_t v = 0; v < 2 * count; v++) {
        totals found[MOST_BLOCKS];
        scene_copy(&fast, start);
        perform(&fast, what, track, &each[v / 2], v % 2 == 1, found);
        assert_same_state(&slow, &fast);
        for (size_t b = 0; b < MOST_BLOCKS; b++) {
            assert_near(found[b].first, wanted[b].first, 1e-12 * (1.0 + wanted[b].first));
            assert_near(found[b].second, wanted[b].second, 1e-12 * (1.0 + wanted[b].second));
        }
        if (v == 0)
            memcpy(first, found, sizeof first);
        ck_assert_mem_eq(found, first, sizeof first);
    }
}

TEST_LOOP(every_version_follows_the_formulas, 0, MOST_NEIGHBOURS + 1)
{
    static target start;
    static const size_t count[] = {1, 2, 7, 8, 9, 16, 31, BLOCK - 3, LARGEST};
    size_t neighbours = (size_t)_i;
    scene_make(&start, neighbours, 7);
    for (size_t offset = 0; offset < MARGIN; offset++)
        for (size_t c = 0; c < sizeof count / sizeof *count; c++)
            for (unsigned bits = 0; bits < 8; bits++) {
                job what = {.offset = offset,
                            .count = count[c],
                            .target = (bits & 1) != 0,
                            .descend = (bits & 2) != 0,
                            .tracked = (bits & 4) != 0,
                            .added = (bits & 1) != 0};
                try_job(&start, &what, false);
                try_job(&start, &what, true);
            }
}

TEST(a_nan_stays_one_and_stays_alone)
{
    static target start;
    scene_make(&start, 2, 8);
    start.now[0][5] = NAN;
    job what = {.count = 20};
    version each[4];
    size_t count = versions(each);
    for (size_t v = 0; v < count; v++) {
        static target fast;
        double sums[SADDLE_BLOCK_SUMS] = {0.0};
        scene_copy(&fast, &start);
        saddle_pass pass = move_of(&fast, &what);
        pass.range.sums = sums;
        each[v].move(&fast.agent, &pass);
        for (size_t k = 0; k < what.count; k++)
            ck_assert_int_eq(isnan(fast.next[k]) != 0, k == 5);
        ck_assert(isnan(sums[0]));
    }
}
