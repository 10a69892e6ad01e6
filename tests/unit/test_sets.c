/*
 * Sets, regularizers and joint prox steps: against slow reference versions, optimality conditions,
 * invariants (feasible, idempotent, nonexpansive) and, for bad texts, the messages.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/set.h>

#include "core/print.h"
#include "core/rng.h"
#include "support.h"

enum { MAX_N = 1000, MAX_PARTS = 3, TEXT = 256 };

/* ---- sets as the test knows them ---- */

typedef enum kind { INTERVAL, SIMPLEX, L2_BALL, L1_BALL } kind;

/* A part of the vector in a plain set: [low, high]^count, or a set of size `high`. */
typedef struct part {
    kind kind;
    double low;
    double high;
    size_t offset;
    size_t count;
} part;

typedef struct known_set {
    char text[TEXT];
    size_t n;
    size_t parts;
    part part[MAX_PARTS];
} known_set;

static const struct {
    const char *text;
    kind kind;
    double low;
    double high;
} plain[] = {
    {"none", INTERVAL, -INFINITY, INFINITY},
    {"box:-0.5:1", INTERVAL, -0.5, 1.0},
    {"box:-inf:0.25", INTERVAL, -INFINITY, 0.25},
    {"box:2:2", INTERVAL, 2.0, 2.0},
    {"nonneg", INTERVAL, 0.0, INFINITY},
    {"linf-ball:0.75", INTERVAL, -0.75, 0.75},
    {"simplex", SIMPLEX, 0.0, 1.0},
    {"simplex:3.5", SIMPLEX, 0.0, 3.5},
    {"simplex:1e-200", SIMPLEX, 0.0, 1e-200},
    {"l2-ball:1.5", L2_BALL, 0.0, 1.5},
    {"l1-ball:2", L1_BALL, 0.0, 2.0},
};
enum { PLAIN = sizeof plain / sizeof *plain, SETS = PLAIN + 2 };

static void add_part(known_set *known, size_t row, size_t count, bool last)
{
    part *p = &known->part[known->parts];
    p->kind = plain[row].kind;
    p->low = plain[row].low;
    p->high = plain[row].high;
    p->offset = known->parts == 0 ? 0 : p[-1].offset + p[-1].count;
    p->count = count;
    size_t used = strlen(known->text);
    if (last)
        saddle_snprintf(known->text + used, TEXT - used, "*%s", plain[row].text);
    else
        saddle_snprintf(known->text + used, TEXT - used, "%zu*%s,", count, plain[row].text);
    known->parts++;
}

/* Set number `index` in R^n; the last two are blocks. */
static void describe(known_set *known, size_t index, size_t n)
{
    memset(known, 0, sizeof *known);
    known->n = n;
    if (index < PLAIN) {
        add_part(known, index, n, true);
        saddle_snprintf(known->text, TEXT, "%s", plain[index].text);
        return;
    }
    static const size_t rows[2][MAX_PARTS] = {{7, 10, 9}, {1, 4, 5}};
    const size_t *row = rows[index - PLAIN];
    saddle_snprintf(known->text, TEXT, "blocks:");
    size_t third = n / 3;
    for (size_t i = 0; third > 0 && i < 2; i++)
        add_part(known, row[i], third, false);
    add_part(known, row[2], n - 2 * third, true);
}

static saddle_set *make_set(const char *text, size_t n)
{
    saddle_error error;
    saddle_set *set;
    assert_ok(saddle_set_create(&set, text, n, &error), error);
    return set;
}

/* Returns exactly as much scratch as requested, so that a memory checker notices a write beyond it. */
static double *make_scratch(size_t count)
{
    double *scratch = malloc((count == 0 ? 1 : count) * sizeof *scratch);
    ck_assert_ptr_nonnull(scratch);
    return scratch;
}

static bool same_bits(size_t n, const double *a, const double *b)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* ---- slow, obvious versions ---- */

static int compare_down(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Held, Wolfe, Crowder: sort, then find the last entry above its own threshold. */
static void slow_simplex(size_t n, double total, double *v)
{
    static double sorted[MAX_N];
    memcpy(sorted, v, n * sizeof *v);
    qsort(sorted, n, sizeof *sorted, compare_down);
    double top = sorted[0];
    long double sum = 0.0L;
    long double theta = 0.0L;
    for (size_t k = 0; k < n; k++) {
        sum += (long double)sorted[k] - top;
        long double next = (sum - total) / (long double)(k + 1);
        if ((long double)sorted[k] - top <= next)
            break;
        theta = next;
    }
    for (size_t k = 0; k < n; k++) {
        long double p = ((long double)v[k] - top) - theta;
        v[k] = p > 0.0L ? (double)p : 0.0;
    }
}

static void slow_l1_ball(size_t n, double radius, double *v)
{
    static double magnitude[MAX_N];
    long double sum = 0.0L;
    for (size_t k = 0; k < n; k++) {
        magnitude[k] = fabs(v[k]);
        sum += magnitude[k];
    }
    if (sum <= radius)
        return;
    slow_simplex(n, radius, magnitude);
    for (size_t k = 0; k < n; k++)
        v[k] = copysign(magnitude[k], v[k]);
}

/* Squares do not overflow in long double. */
static long double slow_norm(size_t n, const double *v)
{
    long double sum = 0.0L;
    for (size_t k = 0; k < n; k++)
        sum += (long double)v[k] * v[k];
    return sqrtl(sum);
}

static void slow_l2_ball(size_t n, double radius, double *v)
{
    long double norm = slow_norm(n, v);
    if (norm > radius)
        for (size_t k = 0; k < n; k++)
            v[k] = (double)(v[k] / norm * radius);
}

static void slow_project(const known_set *known, double *v)
{
    for (size_t i = 0; i < known->parts; i++) {
        const part *p = &known->part[i];
        double *w = v + p->offset;
        if (p->kind == SIMPLEX)
            slow_simplex(p->count, p->high, w);
        else if (p->kind == L1_BALL)
            slow_l1_ball(p->count, p->high, w);
        else if (p->kind == L2_BALL)
            slow_l2_ball(p->count, p->high, w);
        else
            for (size_t k = 0; k < p->count; k++)
                w[k] = fmin(fmax(w[k], p->low), p->high);
    }
}

/* ---- Points ---- */

enum { PATTERNS = 10 };

static void draw_vector(saddle_rng *rng, int pattern, size_t n, double *v)
{
    double common = saddle_rng_normal(rng);
    for (size_t k = 0; k < n; k++) {
        double z = saddle_rng_normal(rng);
        double few = (double)saddle_rng_below(rng, 3) - 1.0;
        double value[PATTERNS] = {z,         few,          0.0,      common,   1e8 + few,
                                  1e300 * z, 1e-300 * few, 1e-3 * z, 50.0 * z, -fabs(z)};
        v[k] = value[pattern];
    }
    if (pattern == 8) /* one entry is much larger than the others */
        v[n / 2] = 1e6;
}

/* Draws a random point of a part: inside or, half of the time, an extreme point. */
static void draw_in_part(saddle_rng *rng, const part *p, double *v)
{
    double shrink = p->kind == SIMPLEX ? 1.0 : saddle_rng_uniform(rng);
    double sum = 0.0;
    double square = 0.0;
    for (size_t k = 0; k < p->count; k++) {
        v[k] = p->kind == L2_BALL ? saddle_rng_normal(rng) : saddle_rng_gamma(rng, 0.5);
        sum += v[k];
        square += v[k] * v[k];
    }
    if (p->kind == INTERVAL) {
        double low = fmax(p->low, fmin(p->high, 0.0) - 5.0);
        double high = fmin(p->high, fmax(p->low, 0.0) + 5.0);
        for (size_t k = 0; k < p->count; k++)
            v[k] = fmin(low + (high - low) * saddle_rng_uniform(rng), high);
    } else if (p->kind == L2_BALL) {
        for (size_t k = 0; k < p->count; k++)
            v[k] *= shrink * p->high / sqrt(square);
    } else {
        bool vertex = saddle_rng_below(rng, 2) == 0;
        size_t corner = saddle_rng_below(rng, p->count);
        for (size_t k = 0; k < p->count; k++) {
            double sign = p->kind == L1_BALL && saddle_rng_below(rng, 2) == 0 ? -1.0 : 1.0;
            v[k] = sign * shrink * (vertex ? (k == corner ? p->high : 0.0) : v[k] / sum * p->high);
        }
    }
}

static void draw_feasible(saddle_rng *rng, const known_set *known, double *v)
{
    for (size_t i = 0; i < known->parts; i++)
        draw_in_part(rng, &known->part[i], v + known->part[i].offset);
}

/* Returns how much rounding can add up to in a part: relative to its size and to the vector's. */
static double rounding(const known_set *known, double size)
{
    return 8.0 * (double)(known->n + 8) * DBL_EPSILON * size;
}

static double largest(size_t n, const double *v)
{
    double most = 0.0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs(v[k]));
    return most;
}

static void assert_feasible(const known_set *known, const double *v)
{
    for (size_t i = 0; i < known->parts; i++) {
        const part *p = &known->part[i];
        const double *w = v + p->offset;
        long double sum = 0.0L;
        long double magnitude = 0.0L;
        for (size_t k = 0; k < p->count; k++) {
            sum += w[k];
            magnitude += fabs(w[k]);
            if (p->kind == INTERVAL || p->kind == SIMPLEX)
                ck_assert(w[k] >= p->low && w[k] <= p->high * (1.0 + 4.0 * DBL_EPSILON));
        }
        double slack = rounding(known, p->high);
        if (p->kind == SIMPLEX)
            assert_near((double)(sum - p->high), 0.0, slack);
        if (p->kind == L1_BALL)
            assert_at_most((double)(magnitude - p->high), slack);
        if (p->kind == L2_BALL)
            assert_at_most((double)(slow_norm(p->count, w) - p->high), slack);
    }
}

static const size_t sizes[] = {1, 2, 3, 7, 100, 1000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The inputs of a check on one set and one vector. */
typedef struct trial {
    known_set known;
    const saddle_set *set;
    double *scratch;
    saddle_rng *rng;
    double v[MAX_N]; /* the vector */
    double p[MAX_N]; /* its projection by the library */
} trial;

/* Runs a check for all sets, sizes and patterns. */
static void for_all(void (*check)(trial *t))
{
    static trial t;
    for (size_t s = 0; s < SETS; s++)
        for (size_t i = 0; i < SIZES; i++) {
            size_t n = sizes[i];
            describe(&t.known, s, n);
            saddle_set *set = make_set(t.known.text, n);
            t.set = set;
            t.scratch = make_scratch(saddle_set_scratch(set));
            for (int pattern = 0; pattern < PATTERNS; pattern++) {
                saddle_rng rng;
                saddle_rng_init(&rng, s, SADDLE_RNG_TEST, n, (uint64_t)pattern);
                t.rng = &rng;
                draw_vector(&rng, pattern, n, t.v);
                memcpy(t.p, t.v, n * sizeof *t.v);
                saddle_set_project(set, t.p, t.scratch);
                check(&t);
            }
            free(t.scratch);
            saddle_set_free(set);
        }
}

/* ---- Projections ---- */

static void check_reference(trial *t)
{
    static double slow[MAX_N];
    memcpy(slow, t->v, t->known.n * sizeof *slow);
    slow_project(&t->known, slow);
    for (size_t i = 0; i < t->known.parts; i++) {
        const part *p = &t->known.part[i];
        for (size_t k = p->offset; k < p->offset + p->count; k++)
            assert_near(t->p[k], slow[k], p->kind == INTERVAL ? 0.0 : rounding(&t->known, p->high));
    }
    assert_feasible(&t->known, t->p);
}

TEST(projection_matches_the_slow_version)
{
    for_all(check_reference);
}

/* p is the projection if and only if <v - p, z - p> <= 0 for every z of the set. */
static void check_variational_inequality(trial *t)
{
    static double z[MAX_N];
    size_t n = t->known.n;
    for (int draw = 0; draw < 20; draw++) {
        draw_feasible(t->rng, &t->known, z);
        long double product = 0.0L;
        long double size = 0.0L;
        for (size_t k = 0; k < n; k++) {
            long double term = ((long double)t->v[k] - t->p[k]) * ((long double)z[k] - t->p[k]);
            product += term;
            size += (fabsl((long double)t->v[k]) + fabs(t->p[k])) *
                    (fabsl((long double)z[k]) + fabs(t->p[k]));
        }
        ck_assert_msg(product <= (long double)rounding(&t->known, 1.0) * size,
                      "%s in R^%zu: %Lg of %Lg", t->known.text, n, product, size);
    }
}

TEST(projection_satisfies_the_variational_inequality)
{
    for_all(check_variational_inequality);
}

/* There is one theta with |p_k| = max(|v_k| - theta, 0); for a simplex, the same without absolute values. */
static void check_common_threshold(trial *t)
{
    for (size_t i = 0; i < t->known.parts; i++) {
        const part *q = &t->known.part[i];
        const double *v = t->v + q->offset;
        const double *p = t->p + q->offset;
        bool unchanged = same_bits(q->count, v, p);
        if ((q->kind != SIMPLEX && q->kind != L1_BALL) || unchanged)
            continue;
        double tolerance = rounding(&t->known, largest(q->count, v) + q->high);
        double theta = NAN;
        for (size_t k = 0; k < q->count; k++) {
            if (q->kind == L1_BALL)
                ck_assert(p[k] == 0.0 || (p[k] > 0.0) == (v[k] > 0.0));
            double from = q->kind == L1_BALL ? fabs(v[k]) : v[k];
            if (p[k] != 0.0 && isnan(theta))
                theta = from - fabs(p[k]);
            if (p[k] != 0.0)
                assert_near(from - fabs(p[k]), theta, tolerance);
        }
        for (size_t k = 0; k < q->count; k++)
            if (p[k] == 0.0)
                assert_at_most(q->kind == L1_BALL ? fabs(v[k]) : v[k], theta + tolerance);
        if (q->kind == L1_BALL)
            assert_at_most(0.0, theta);
    }
}

TEST(simplex_and_l1_ball_share_one_threshold)
{
    for_all(check_common_threshold);
}

static void check_invariants(trial *t)
{
    static double w[MAX_N];
    static double q[MAX_N];
    size_t n = t->known.n;
    /* Projecting twice changes no bit, and the distance is then zero. */
    memcpy(q, t->p, n * sizeof *q);
    saddle_set_project(t->set, q, t->scratch);
    ck_assert_msg(same_bits(n, q, t->p), "%s in R^%zu", t->known.text, n);
    ck_assert(saddle_set_distance(t->set, q, t->scratch) == 0.0);
    /* |Pv - Pw| <= |v - w| */
    for (int draw = 0; draw < 3; draw++) {
        draw_vector(t->rng, (int)saddle_rng_below(t->rng, PATTERNS), n, w);
        long double before = 0.0L;
        long double after = 0.0L;
        memcpy(q, w, n * sizeof *q);
        saddle_set_project(t->set, q, t->scratch);
        for (size_t k = 0; k < n; k++) {
            before += ((long double)t->v[k] - w[k]) * ((long double)t->v[k] - w[k]);
            after += ((long double)t->p[k] - q[k]) * ((long double)t->p[k] - q[k]);
        }
        double size = fmin(largest(n, t->p) + largest(n, q), 1e8);
        assert_at_most((double)(sqrtl(after) - sqrtl(before) * (1.0L + 4.0L * DBL_EPSILON)),
                       rounding(&t->known, size));
    }
    /* A point inside stays the same, bit by bit. */
    draw_feasible(t->rng, &t->known, w);
    memcpy(q, w, n * sizeof *q);
    saddle_set_project(t->set, q, t->scratch);
    ck_assert_msg(same_bits(n, q, w), "%s in R^%zu", t->known.text, n);
}

TEST(projection_is_idempotent_nonexpansive_and_keeps_the_inside)
{
    for_all(check_invariants);
}

static void check_distance(trial *t)
{
    static double slow[MAX_N];
    static double before[MAX_N];
    size_t n = t->known.n;
    memcpy(slow, t->v, n * sizeof *slow);
    memcpy(before, t->v, n * sizeof *slow);
    slow_project(&t->known, slow);
    long double square = 0.0L;
    for (size_t k = 0; k < n; k++)
        square += ((long double)slow[k] - t->v[k]) * ((long double)slow[k] - t->v[k]);
    double expected = (double)sqrtl(square);
    double size = expected + largest(n, slow);
    double distance = saddle_set_distance(t->set, t->v, t->scratch);
    assert_near(distance, expected, rounding(&t->known, size));
    ck_assert(same_bits(n, before, t->v));
}

TEST(distance_is_to_the_projection)
{
    for_all(check_distance);
}

/* Every bad value at every index: never a hang, NaN always detected, a finite result feasible. */
static void check_nonfinite(trial *t)
{
    static double w[MAX_N];
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    size_t n = t->known.n;
    size_t places[] = {0, n / 2, n - 1};
    for (size_t b = 0; b < 3; b++)
        for (size_t i = 0; i < 4; i++) {
            memcpy(w, t->v, n * sizeof *w);
            for (size_t k = 0; k < n; k++)
                w[k] = i == 3 || k == places[i % 3] ? bad[b] : w[k];
            ck_assert(b != 0 || isnan(saddle_set_distance(t->set, w, t->scratch)));
            saddle_set_project(t->set, w, t->scratch);
            bool finite = true;
            bool any_nan = false;
            for (size_t k = 0; k < n; k++) {
                finite = finite && isfinite(w[k]);
                any_nan = any_nan || isnan(w[k]);
            }
            ck_assert_msg(b != 0 || any_nan, "%s in R^%zu hides a NaN", t->known.text, n);
            if (finite)
                assert_feasible(&t->known, w);
        }
}

TEST(nonfinite_input_is_not_hidden)
{
    for_all(check_nonfinite);
}

/*
 * Inputs of which Newton's passes drop few entries each, that tie at the threshold, or whose entries add
 * up to far more than the simplex does (so that rounding errors of that sum show).
 */
TEST(simplex_withstands_hard_inputs)
{
    enum { HARD = 5 };
    static double v[MAX_N];
    static double slow[MAX_N];
    known_set known;
    size_t n = MAX_N;
    describe(&known, 6, n);
    saddle_set *set = make_set(known.text, n);
    double *scratch = make_scratch(saddle_set_scratch(set));
    for (int hard = 0; hard < HARD; hard++) {
        double factorial = DBL_EPSILON;
        for (size_t k = 0; k < n; k++) {
            double at = (double)k;
            double value[HARD] = {-ldexp(1.0, -(int)k), -factorial,
                                  1.0 / (double)n + DBL_EPSILON * (at - 500.0), sqrt(at),
                                  k == 0 ? 0.0 : -0.99};
            v[k] = slow[k] = value[hard];
            factorial = factorial < 1.0 ? factorial * (at + 2.0) : 0.99;
        }
        saddle_set_project(set, v, scratch);
        slow_simplex(n, 1.0, slow);
        for (size_t k = 0; k < n; k++)
            assert_near(v[k], slow[k], 2 * DBL_EPSILON);
        assert_feasible(&known, v);
    }
    free(scratch);
    saddle_set_free(set);
}

TEST(extreme_sizes_work)
{
    static const char *const texts[] = {"simplex:1e308",  "simplex:1e-320", "l1-ball:1e308",
                                        "l1-ball:1e-310", "l2-ball:1e308",  "l2-ball:1e-300"};
    static const double radii[] = {1e308, 1e-320, 1e308, 1e-310, 1e308, 1e-300};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double v[3] = {1.5e308, -1.2e308, 1.5e308};
        saddle_set *set = make_set(texts[i], 3);
        double *scratch = make_scratch(saddle_set_scratch(set));
        saddle_set_project(set, v, scratch);
        /* By symmetry the first and the last are equal; the sum or norm is the radius. */
        ck_assert(v[0] == v[2] && v[0] > 0.0);
        long double size = strncmp(texts[i], "l2", 2) == 0 ? slow_norm(3, v)
                                                           : (long double)v[0] + fabs(v[1]) + v[2];
        assert_near((double)(size / radii[i]), 1.0,
                    radii[i] > 1e-300 ? 1e-14 : 2.0 * 5e-324 / radii[i]);
        free(scratch);
        saddle_set_free(set);
    }
}

TEST(ranges_and_bounds_are_right)
{
    static const size_t dims[] = {1, 2, 7};
    for (size_t s = 0; s < SETS; s++)
        for (size_t i = 0; i < 3; i++) {
            known_set known;
            describe(&known, s, dims[i]);
            saddle_set *set = make_set(known.text, dims[i]);
            ck_assert_str_eq(saddle_set_text(set), known.text);
            ck_assert_uint_eq(saddle_set_dimension(set), dims[i]);
            double low = INFINITY;
            double high = -INFINITY;
            long double longest2 = 0.0L; /* the largest |v|^2 */
            bool uniform = true;
            for (size_t k = 0; k < known.parts; k++) {
                const part *p = &known.part[k];
                bool ball = p->kind == L1_BALL || p->kind == L2_BALL;
                bool point = p->kind == SIMPLEX && p->count == 1;
                low = fmin(low, ball ? -p->high : point ? p->high : p->low);
                high = fmax(high, p->high);
                long double most = fmaxl(fabsl(p->low), fabsl(p->high));
                longest2 += p->kind == INTERVAL ? (long double)p->count * most * most
                                                : (long double)p->high * p->high;
                uniform = uniform && p->kind == INTERVAL && p->low == known.part[0].low &&
                          p->high == known.part[0].high;
            }
            double got[2];
            saddle_set_range(set, &got[0], &got[1]);
            ck_assert(got[0] == low && got[1] == high);
            double bound = saddle_set_norm_bound(set);
            ck_assert(bound >= sqrtl(longest2) * (1.0L - 1e-15L));
            ck_assert(s >= PLAIN || bound <= sqrtl(longest2) * (1.0L + 1e-15L));
            ck_assert(saddle_set_uniform_bounds(set, &got[0], &got[1]) == uniform);
            ck_assert(!uniform || (got[0] == low && got[1] == high));
            ck_assert(saddle_set_is_whole_space(set) == (strcmp(known.text, "none") == 0));
            saddle_set_free(set);
        }
    static const char *const whole[] = {"none", "box:-inf:inf", "blocks:2*none,*box:-inf:inf"};
    for (size_t i = 0; i < 3; i++) {
        saddle_set *set = make_set(whole[i], 5);
        ck_assert(saddle_set_is_whole_space(set));
        saddle_set_free(set);
    }
}

/* ---- Regularizers ---- */

typedef struct known_regularizer {
    const char *text;
    double l1;
    double l2;
    double group;
    size_t size; /* of a group */
} known_regularizer;

static const known_regularizer regularizers[] = {
    {"none", 0.0, 0.0, 0.0, 1},
    {"l1:0.3", 0.3, 0.0, 0.0, 1},
    {"l1:0", 0.0, 0.0, 0.0, 1},
    {"elastic-net:0.2:0.7", 0.2, 0.7, 0.0, 1},
    {"elastic-net:0:2", 0.0, 2.0, 0.0, 1},
    {"group-l2:0.4:1", 0.0, 0.0, 0.4, 1},
    {"group-l2:0.4:3", 0.0, 0.0, 0.4, 3},
    {"group-l2:0:3", 0.0, 0.0, 0.0, 3},
    {"group-l2:0.8:5000", 0.0, 0.0, 0.8, 5000},
};
enum { REGULARIZERS = sizeof regularizers / sizeof *regularizers };

static saddle_regularizer *make_regularizer(const char *text, size_t n)
{
    saddle_error error;
    saddle_regularizer *regularizer;
    assert_ok(saddle_regularizer_create(&regularizer, text, n, &error), error);
    return regularizer;
}

static long double group_norm(const known_regularizer *h, size_t start, size_t n, const double *v)
{
    return slow_norm(start + h->size < n ? h->size : n - start, v + start);
}

static long double slow_value(const known_regularizer *h, size_t n, const double *v)
{
    long double sum = 0.0L;
    for (size_t k = 0; k < n; k++)
        sum += h->l1 * fabsl((long double)v[k]) + 0.5L * h->l2 * v[k] * v[k];
    for (size_t start = 0; start < n; start += h->size)
        sum += h->group * group_norm(h, start, n, v);
    return sum;
}

/* Computes the derivative of h at u in direction d, from its definition. */
static long double slope(const known_regularizer *h, size_t n, const double *u,
                         const long double *d)
{
    long double sum = 0.0L;
    for (size_t k = 0; k < n; k++) {
        long double sign = u[k] > 0.0 ? d[k] : u[k] < 0.0 ? -d[k] : fabsl(d[k]);
        sum += h->l1 * sign + h->l2 * u[k] * d[k];
    }
    for (size_t start = 0; h->group > 0.0 && start < n; start += h->size) {
        size_t end = start + h->size < n ? start + h->size : n;
        long double norm = group_norm(h, start, n, u);
        long double product = 0.0L;
        long double square = 0.0L;
        for (size_t k = start; k < end; k++) {
            product += u[k] * d[k];
            square += d[k] * d[k];
        }
        sum += h->group * (norm > 0.0L ? product / norm : sqrtl(square));
    }
    return sum;
}

TEST(regularizer_values_are_right)
{
    static double v[MAX_N];
    for (size_t r = 0; r < REGULARIZERS; r++)
        for (size_t i = 0; i < SIZES; i++)
            for (int pattern = 0; pattern < PATTERNS; pattern++) {
                const known_regularizer *h = &regularizers[r];
                size_t n = sizes[i];
                saddle_rng rng;
                saddle_rng_init(&rng, r, SADDLE_RNG_TEST, n, (uint64_t)pattern);
                draw_vector(&rng, pattern, n, v);
                saddle_regularizer *regularizer = make_regularizer(h->text, n);
                ck_assert_str_eq(saddle_regularizer_text(regularizer), h->text);
                double value = saddle_regularizer_value(regularizer, v);
                long double expected = slow_value(h, n, v);
                if (expected <= DBL_MAX)
                    assert_near(value, (double)expected,
                                (double)(n + 8) * DBL_EPSILON * (double)expected);
                else
                    ck_assert(isinf(value));
                ck_assert(saddle_regularizer_is_zero(regularizer) ==
                          (h->l1 == 0.0 && h->l2 == 0.0 && h->group == 0.0));
                saddle_regularizer_free(regularizer);
            }
}

/* ---- Joint prox ---- */

/* The prox of step h over the whole space, by its textbook formula. */
static void slow_shrink(const known_regularizer *h, double step, size_t n, double *v)
{
    for (size_t k = 0; k < n; k++)
        v[k] = copysign(fmax(fabs(v[k]) - step * h->l1, 0.0), v[k]) / (1.0 + step * h->l2);
    for (size_t start = 0; start < n; start += h->size) {
        long double norm = group_norm(h, start, n, v);
        long double keep = norm > 0.0L ? fmaxl(0.0L, 1.0L - step * h->group / norm) : 0.0L;
        for (size_t k = start; k < n && k < start + h->size; k++)
            v[k] = (double)(v[k] * keep);
    }
}

/*
 * The joint prox of any pair as the limit of Dykstra's alternation of the two separate steps (Bauschke
 * and Combettes, Pacific J. Optim. 4, 2008). Returns the distance from a fixed point, where both steps
 * give the same.
 */
static double slow_prox(const known_set *known, const known_regularizer *h, double step, double *v)
{
    enum { ITERATIONS = 20000 };
    static double y[MAX_N];
    static double memory[2][MAX_N];
    size_t n = known->n;
    memset(memory, 0, sizeof memory);
    double gap = INFINITY;
    for (int i = 0; i < ITERATIONS && gap > 1e-15; i++) {
        for (size_t k = 0; k < n; k++)
            y[k] = memory[0][k] += v[k];
        slow_shrink(h, step, n, y);
        for (size_t k = 0; k < n; k++)
            memory[0][k] -= y[k];
        for (size_t k = 0; k < n; k++)
            v[k] = memory[1][k] += y[k];
        slow_project(known, v);
        gap = 0.0;
        for (size_t k = 0; k < n; k++) {
            memory[1][k] -= v[k];
            gap = fmax(gap, fabs(v[k] - y[k]));
        }
    }
    return gap;
}

static bool pair_is_exact(const known_set *known, const known_regularizer *h)
{
    if (h->group == 0.0)
        return true;
    return strcmp(known->text, "none") == 0 || strcmp(known->text, "nonneg") == 0 ||
           strncmp(known->text, "l2-ball", 7) == 0;
}

/*
 * u minimizes phi(z) = |z - v|^2 / 2 + step h(z) over the set if and only if the derivative of phi at u
 * is not negative in any direction into the set. Because phi is strongly convex, also phi(z) >= phi(u) +
 * |z - u|^2 / 2.
 */
static void assert_minimizes(saddle_rng *rng, const known_set *known, const known_regularizer *h,
                             double step, const double *v, const double *u)
{
    static double z[MAX_N];
    static long double d[MAX_N];
    size_t n = known->n;
    for (int draw = 0; draw < 24; draw++) {
        draw_feasible(rng, known, z);
        /* Towards points of the set, far and near. */
        double share = draw % 3 == 0 ? 1.0 : draw % 3 == 1 ? 1e-2 : 1e-5;
        long double first = 0.0L;
        long double size = 0.0L;
        long double here = step * slow_value(h, n, u);
        long double square = 0.0L;
        for (size_t k = 0; k < n; k++) {
            d[k] = ((long double)z[k] - u[k]) * share;
            first += ((long double)u[k] - v[k]) * d[k];
            size += (fabsl((long double)v[k]) + fabs(u[k]) + step) * (fabsl(d[k]) + fabs(u[k]));
            square += d[k] * d[k];
            z[k] = (double)(u[k] + d[k]);
        }
        long double tolerance = (long double)rounding(known, 1.0) * (size + here);
        first += step * slope(h, n, u, d);
        ck_assert_msg(first >= -tolerance, "%s with %s in R^%zu: slope %Lg, tolerance %Lg", h->text,
                      known->text, n, first, tolerance);
        long double gain = step * slow_value(h, n, z) - here;
        for (size_t k = 0; k < n; k++)
            gain += 0.5L * d[k] * (2.0L * ((long double)u[k] - v[k]) + d[k]);
        ck_assert_msg(gain - 0.5L * square >= -tolerance, "%s with %s in R^%zu: gain %Lg", h->text,
                      known->text, n, gain);
    }
}

static void check_prox(const known_set *known, const known_regularizer *h)
{
    static double v[MAX_N];
    static double u[MAX_N];
    static double slow[MAX_N];
    static const double steps[] = {0.0, 0.5, 2.0};
    saddle_error error;
    size_t n = known->n;
    saddle_set *set = make_set(known->text, n);
    saddle_regularizer *regularizer = make_regularizer(h->text, n);
    saddle_prox *prox;
    assert_ok(saddle_prox_create(&prox, set, regularizer, &error), error);
    ck_assert_ptr_eq(saddle_prox_set(prox), set);
    ck_assert_ptr_eq(saddle_prox_regularizer(prox), regularizer);
    double *scratch = make_scratch(saddle_prox_scratch(prox));
    static const int patterns[] = {0, 1, 2, 7, 8};
    for (size_t i = 0; i < 5; i++)
        for (size_t s = 0; s < 3; s++) {
            saddle_rng rng;
            saddle_rng_init(&rng, i, SADDLE_RNG_TEST, n, s);
            draw_vector(&rng, patterns[i], n, v);
            memcpy(u, v, n * sizeof *u);
            saddle_prox_apply(prox, steps[s], u, scratch);
            assert_feasible(known, u);
            assert_minimizes(&rng, known, h, steps[s], v, u);
            if (n > 7 || i != 0)
                continue;
            memcpy(slow, v, n * sizeof *u);
            assert_at_most(slow_prox(known, h, steps[s], slow), 1e-12);
            for (size_t k = 0; k < n; k++)
                assert_near(u[k], slow[k], 1e-9);
        }
    free(scratch);
    saddle_prox_free(prox);
    saddle_regularizer_free(regularizer);
    saddle_set_free(set);
}

TEST_LOOP(prox_is_the_minimizer, 0, REGULARIZERS)
{
    for (size_t s = 0; s < SETS; s++)
        for (size_t i = 0; sizes[i] < MAX_N; i++) {
            known_set known;
            describe(&known, s, sizes[i]);
            if (pair_is_exact(&known, &regularizers[_i]))
                check_prox(&known, &regularizers[_i]);
        }
}

TEST(prox_without_step_is_the_projection)
{
    saddle_error error;
    for (size_t s = 0; s < SETS; s++)
        for (size_t r = 0; r < REGULARIZERS; r++) {
            known_set known;
            describe(&known, s, 7);
            if (!pair_is_exact(&known, &regularizers[r]))
                continue;
            saddle_set *set = make_set(known.text, 7);
            saddle_regularizer *h = make_regularizer(regularizers[r].text, 7);
            saddle_prox *prox;
            assert_ok(saddle_prox_create(&prox, set, h, &error), error);
            double *scratch = make_scratch(saddle_prox_scratch(prox));
            double u[7] = {3, -1, 0.25, 0, 0.5, -2, 1};
            double p[7];
            memcpy(p, u, sizeof p);
            saddle_set_project(set, p, scratch);
            saddle_prox_apply(prox, 0.0, u, scratch);
            ck_assert_msg(same_bits(7, u, p), "%s, %s", known.text, regularizers[r].text);
            u[3] = NAN;
            saddle_prox_apply(prox, 1.0, u, scratch);
            bool any_nan = false;
            for (size_t k = 0; k < 7; k++)
                any_nan = any_nan || isnan(u[k]);
            ck_assert_msg(any_nan, "%s, %s hide a NaN", known.text, regularizers[r].text);
            free(scratch);
            saddle_prox_free(prox);
            saddle_regularizer_free(h);
            saddle_set_free(set);
        }
}

/* ---- errors ---- */

typedef struct refusal {
    const char *text;
    const char *part[3]; /* what else the message must mention */
} refusal;

static void assert_mentions(const char *message, const refusal *row)
{
    if (row->text != NULL) {
        /* The message shows an unknown name without what follows it. */
        bool unknown = strncmp(message, "there is no ", 12) == 0;
        char *shown = strndup(row->text, strcspn(row->text, unknown ? ":" : ""));
        ck_assert_msg(strstr(message, shown) != NULL, "'%s' lacks '%s'", message, shown);
        free(shown);
    }
    for (size_t i = 0; i < 3 && row->part[i] != NULL; i++)
        ck_assert_msg(strstr(message, row->part[i]) != NULL, "'%s' lacks '%s'", message,
                      row->part[i]);
    ck_assert_ptr_null(strchr(message, '\n'));
}

TEST(wrong_sets_are_refused)
{
    static const refusal rows[] = {
        {NULL, {"NULL"}},
        {"", {"there is no set", "simplex", "blocks"}},
        {"bxo:0:1", {"there is no set", "did you mean 'box'"}},
        {"simplx", {"did you mean 'simplex'"}},
        {"l2ball:1", {"did you mean 'l2-ball'"}},
        {"l1:1", {"there is no set"}},
        {"something-else-entirely", {"there is no set", "there are: none, box", "linf-ball"}},
        {"none:1", {"number of fields", "write none"}},
        {"none:", {"number of fields"}},
        {"nonneg:0", {"number of fields", "write nonneg"}},
        {"box", {"number of fields", "box:LO:HI"}},
        {"box:1", {"number of fields", "box:LO:HI"}},
        {"box:1:2:3", {"number of fields", "box:LO:HI"}},
        {"box:1:2:3:4:5:6:7:8:9", {"number of fields", "box:LO:HI"}},
        {"box:2:1", {"LO is above HI", "box:LO:HI"}},
        {"box:a:1", {"'a' is not a number", "box:LO:HI"}},
        {"box:0:", {"'' is not a number", "box:LO:HI"}},
        {"box:nan:1", {"'nan' is not a number"}},
        {"box:0:infinity", {"'infinity' is not a number"}},
        {"box:inf:inf", {"no finite number"}},
        {"box:-inf:-inf", {"no finite number"}},
        {"box:inf:-inf", {"LO is above HI"}},
        {"simplex:", {"'' is not a finite number", "simplex[:S]"}},
        {"simplex:0", {"S must be above 0", "simplex[:S]"}},
        {"simplex:-1", {"S must be above 0"}},
        {"simplex:inf", {"'inf' is not a finite number"}},
        {"simplex:1:2", {"number of fields"}},
        {"l2-ball", {"number of fields", "l2-ball:R"}},
        {"l2-ball:0", {"R must be above 0", "l2-ball:R"}},
        {"l2-ball:1e999", {"'1e999' is not a finite number"}},
        {"l1-ball:x", {"'x' is not a finite number", "l1-ball:R"}},
        {"l1-ball:-2", {"R must be above 0", "l1-ball:R"}},
        {"linf-ball:1:1", {"number of fields", "linf-ball:R"}},
        {"linf-ball:0", {"R must be above 0", "linf-ball:R"}},
        {"blocks", {"names no blocks", "COUNT*SET"}},
        {"blocks:", {"not of the form COUNT*SET"}},
        {"blocks:simplex", {"'simplex'", "not of the form COUNT*SET"}},
        {"blocks:3*simplex,6*nonneg", {"add up to 9", "dimension is 10"}},
        {"blocks:8*simplex,3*nonneg", {"add up to 11", "dimension is 10"}},
        {"blocks:18446744073709551615*none,5*none", {"dimension is 10"}},
        {"blocks:10*simplex,*nonneg", {"add up to 10", "dimension is 10", "nothing is left"}},
        {"blocks:*simplex,5*nonneg", {"no COUNT", "only the last"}},
        {"blocks:0*simplex,*nonneg", {"COUNT '0'", "at least 1"}},
        {"blocks:-1*simplex,*nonneg", {"COUNT '-1'"}},
        {"blocks:2.5*simplex,*nonneg", {"COUNT '2.5'"}},
        {"blocks:x*simplex,*nonneg", {"COUNT 'x'"}},
        {"blocks:5*simplex,", {"not of the form COUNT*SET"}},
        {"blocks:2*blocks:1*none,*none", {"blocks cannot be nested"}},
        {"blocks:2*none,*blocks", {"blocks cannot be nested"}},
        {"blocks:2*none,*box:1:0", {"'box:1:0'", "LO is above HI"}},
        {"blocks:2*none,*simplez", {"'simplez'", "did you mean 'simplex'"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        saddle_error error;
        saddle_set *set = (saddle_set *)&error;
        assert_refused(saddle_set_create(&set, rows[i].text, 10, &error), error, SADDLE_BAD_INPUT,
                       rows[i].part[0]);
        assert_mentions(error.message, &rows[i]);
        ck_assert_ptr_null(set);
    }
    saddle_error error;
    saddle_set *set;
    assert_refused(saddle_set_create(&set, "simplex", 0, &error), error, SADDLE_BAD_INPUT,
                   "dimension 0");
    ck_assert_int_eq(saddle_set_create(&set, "bxo", 3, NULL), SADDLE_BAD_INPUT);
    saddle_set_free(NULL);
}

TEST(long_texts_leave_room_for_the_remedy)
{
    char text[4000];
    saddle_error error;
    saddle_set *set;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_refused(saddle_set_create(&set, text, 3, &error), error, SADDLE_BAD_INPUT,
                   "there are: none, box");
    memcpy(text, "box:", 4);
    assert_refused(saddle_set_create(&set, text, 3, &error), error, SADDLE_BAD_INPUT, "box:LO:HI");
    memcpy(text, "blocks:1*box:", 13);
    assert_refused(saddle_set_create(&set, text, 1, &error), error, SADDLE_BAD_INPUT, "box:LO:HI");
    /* A long list of parts is valid. */
    size_t used = (size_t)saddle_snprintf(text, sizeof text, "blocks:");
    for (int i = 0; i < 300; i++)
        used += (size_t)saddle_snprintf(text + used, sizeof text - used, "1*box:0:1,");
    saddle_snprintf(text + used, sizeof text - used, "*none");
    set = make_set(text, 301);
    double low;
    double high;
    ck_assert(!saddle_set_uniform_bounds(set, &low, &high));
    saddle_set_free(set);
}

TEST(wrong_regularizers_are_refused)
{
    static const refusal rows[] = {
        {NULL, {"NULL"}},
        {"simplex", {"there is no regularizer", "elastic-net"}},
        {"l3:1", {"there is no regularizer", "did you mean 'l1'"}},
        {"elasticnet:1:1", {"did you mean 'elastic-net'"}},
        {"none:0", {"number of fields", "write none"}},
        {"l1", {"number of fields", "l1:W"}},
        {"l1:1:2", {"number of fields", "l1:W"}},
        {"l1:-1", {"W must be at least 0", "l1:W"}},
        {"l1:inf", {"'inf' is not a finite number", "l1:W"}},
        {"elastic-net:1", {"number of fields", "elastic-net:W1:W2"}},
        {"elastic-net:-1:1", {"W1 must be at least 0", "elastic-net:W1:W2"}},
        {"elastic-net:1:-1", {"W2 must be at least 0", "elastic-net:W1:W2"}},
        {"elastic-net:1:b", {"'b' is not a finite number"}},
        {"group-l2:1", {"number of fields", "group-l2:W:SIZE"}},
        {"group-l2:-1:2", {"W must be at least 0", "group-l2:W:SIZE"}},
        {"group-l2:1:0", {"SIZE must be a whole number of at least 1", "group-l2:W:SIZE"}},
        {"group-l2:1:1.5", {"SIZE must be a whole number", "group-l2:W:SIZE"}},
    };
    saddle_error error;
    saddle_regularizer *h;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        h = (saddle_regularizer *)&error;
        assert_refused(saddle_regularizer_create(&h, rows[i].text, 10, &error), error,
                       SADDLE_BAD_INPUT, rows[i].part[0]);
        assert_mentions(error.message, &rows[i]);
        ck_assert_ptr_null(h);
    }
    assert_refused(saddle_regularizer_create(&h, "l1:1", 0, &error), error, SADDLE_BAD_INPUT,
                   "dimension 0");
    saddle_regularizer_free(NULL);
}

TEST(pairs_without_an_exact_prox_are_refused)
{
    saddle_error error;
    for (size_t s = 0; s < SETS; s++)
        for (size_t r = 0; r < REGULARIZERS; r++) {
            known_set known;
            describe(&known, s, 7);
            if (pair_is_exact(&known, &regularizers[r]))
                continue;
            saddle_set *set = make_set(known.text, 7);
            saddle_regularizer *h = make_regularizer(regularizers[r].text, 7);
            saddle_prox *prox = (saddle_prox *)&error;
            refusal row = {known.text, {regularizers[r].text, "none or nonneg or l2-ball"}};
            assert_refused(saddle_prox_create(&prox, set, h, &error), error, SADDLE_UNSUPPORTED,
                           "no exact joint prox");
            assert_mentions(error.message, &row);
            ck_assert_ptr_null(prox);
            saddle_regularizer_free(h);
            saddle_set_free(set);
        }
    saddle_set *set = make_set("nonneg", 4);
    saddle_regularizer *h = make_regularizer("l1:1", 5);
    saddle_prox *prox;
    assert_refused(saddle_prox_create(&prox, set, h, &error), error, SADDLE_BAD_INPUT,
                   "has dimension 4");
    ck_assert_ptr_nonnull(strstr(error.message, "has 5"));
    ck_assert_ptr_null(prox);
    saddle_prox_free(NULL);
    saddle_regularizer_free(h);
    saddle_set_free(set);
}

TEST(lists_are_complete)
{
    size_t count;
    const saddle_set_class *const *set = saddle_set_list(&count);
    static const char *const sets[] = {"none",    "box",     "nonneg",    "simplex",
                                       "l2-ball", "l1-ball", "linf-ball", "blocks"};
    ck_assert_uint_eq(count, sizeof sets / sizeof *sets);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(set[i]->term.name, sets[i]);
        ck_assert(strncmp(set[i]->term.synopsis, sets[i], strlen(sets[i])) == 0);
        ck_assert_uint_gt(strlen(set[i]->term.summary), 0);
    }
    const saddle_regularizer_class *const *h = saddle_regularizer_list(&count);
    static const char *const kinds[] = {"none", "l1:W", "elastic-net:W1:W2", "group-l2:W:SIZE"};
    ck_assert_uint_eq(count, sizeof kinds / sizeof *kinds);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(h[i]->term.synopsis, kinds[i]);
        ck_assert(strncmp(kinds[i], h[i]->term.name, strlen(h[i]->term.name)) == 0);
        ck_assert_uint_gt(strlen(h[i]->term.summary), 0);
    }
}
