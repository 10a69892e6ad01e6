/*
 * The proximal step in a diagonal metric: intervals coordinate by coordinate against a bisection of the derivative,
 * l2 balls by the conditions that define the nearest point, and both against the plain step where all weights are
 * equal.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "core/rng.h"
#include "instances.h"
#include "sets/set.h"
#include "support.h"

enum { DIMENSION = 8, MOST = 100 };

typedef struct pair {
    saddle_set *set;
    saddle_regularizer *regularizer;
    saddle_prox *prox;
    double *scratch;
} pair;

static void pair_open(pair *out, const char *set, const char *regularizer, size_t n)
{
    saddle_error error;
    assert_ok(saddle_set_create(&out->set, set, n, &error), error);
    assert_ok(saddle_regularizer_create(&out->regularizer, regularizer, n, &error), error);
    assert_ok(saddle_prox_create(&out->prox, out->set, out->regularizer, &error), error);
    out->scratch = calloc(saddle_prox_scratch(out->prox) + 1, sizeof *out->scratch);
    ck_assert_ptr_nonnull(out->scratch);
}

static void pair_close(pair *p)
{
    free(p->scratch);
    saddle_prox_free(p->prox);
    saddle_regularizer_free(p->regularizer);
    saddle_set_free(p->set);
}

/* Products of intervals, with the bounds of each coordinate. */
static const struct {
    const char *text;
    double low[DIMENSION], high[DIMENSION];
} products[] = {
#define INF INFINITY
    {"none",
     {-INF, -INF, -INF, -INF, -INF, -INF, -INF, -INF},
     {INF, INF, INF, INF, INF, INF, INF, INF}},
    {"nonneg", {0}, {INF, INF, INF, INF, INF, INF, INF, INF}},
    {"box:-0.5:1", {-0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5}, {1, 1, 1, 1, 1, 1, 1, 1}},
    {"box:0.25:inf",
     {0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25},
     {INF, INF, INF, INF, INF, INF, INF, INF}},
    {"linf-ball:0.75",
     {-0.75, -0.75, -0.75, -0.75, -0.75, -0.75, -0.75, -0.75},
     {0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75}},
    {"blocks:2*none,3*nonneg,*box:-1:-0.125",
     {-INF, -INF, 0, 0, 0, -1, -1, -1},
     {INF, INF, INF, INF, INF, -0.125, -0.125, -0.125}},
#undef INF
};
enum { PRODUCTS = sizeof products / sizeof *products };

static const struct {
    const char *text;
    double l1, l2;
} sums[] = {{"none", 0.0, 0.0},
            {"l1:0.3", 0.3, 0.0},
            {"elastic-net:0.2:0.7", 0.2, 0.7},
            {"elastic-net:0:2", 0.0, 2.0}};
enum { SUMS = sizeof sums / sizeof *sums };

enum { METRICS = 4, POINTS = 5 };

/* Weights: all 1, around 1, and from 1e-12 to 1e12 in both orders. */
static void draw_metric(saddle_rng *rng, int kind, size_t n, double *metric)
{
    for (size_t k = 0; k < n; k++) {
        double at = n > 1 ? 24.0 * (double)k / (double)(n - 1) - 12.0 : 12.0;
        double value[METRICS] = {1.0, exp(saddle_rng_normal(rng)), pow(10.0, at), pow(10.0, -at)};
        metric[k] = value[kind];
    }
}

static void draw_point(saddle_rng *rng, int kind, size_t n, double *v)
{
    for (size_t k = 0; k < n; k++) {
        double z = saddle_rng_normal(rng);
        double value[POINTS] = {z, 0.0, 1e3 * z, 1e-3 * z, (double)saddle_rng_below(rng, 3) - 1.0};
        v[k] = value[kind];
    }
}

/* argmin over [low, high] of m (u - v)^2 / 2 + step (l1 |u| + l2 u^2 / 2), by bisection of the derivative, which is
 * increasing, apart from its jump at 0. */
static double slow_minimum(double m, double v, double step, double l1, double l2, double low,
                           double high)
{
    long double left = -2.0L * fabsl((long double)v) - 1.0L;
    long double right = -left;
    for (int i = 0; i < 300; i++) {
        long double u = 0.5L * (left + right);
        long double sign = u > 0.0L ? 1.0L : u < 0.0L ? -1.0L : 0.0L;
        if (u == 0.0L && (long double)m * fabsl((long double)v) <= (long double)step * l1)
            left = right = 0.0L;
        else if (m * (u - v) + step * (l1 * sign + l2 * u) > 0.0L)
            right = u;
        else
            left = u;
    }
    return fmin(fmax((double)right, low), high);
}

TEST(intervals_are_minimized_coordinate_by_coordinate)
{
    static const double steps[] = {0.0, 0.5, 2.0};
    for (size_t s = 0; s < (size_t)PRODUCTS * SUMS; s++)
        for (int metric_kind = 0; metric_kind < METRICS; metric_kind++)
            for (int point = 0; point < POINTS * 3; point++) {
                double metric[DIMENSION];
                double v[DIMENSION];
                double u[DIMENSION];
                double step = steps[point / POINTS];
                saddle_rng rng;
                pair p;
                pair_open(&p, products[s / SUMS].text, sums[s % SUMS].text, DIMENSION);
                ck_assert(saddle_prox_has_metric(p.prox));
                saddle_rng_init(&rng, s, SADDLE_RNG_TEST, (uint64_t)metric_kind, (uint64_t)point);
                draw_metric(&rng, metric_kind, DIMENSION, metric);
                draw_point(&rng, point % POINTS, DIMENSION, v);
                memcpy(u, v, sizeof u);
                saddle_prox_apply_metric(p.prox, step, metric, u, p.scratch);
                for (size_t k = 0; k < DIMENSION; k++)
                    assert_near(u[k],
                                slow_minimum(metric[k], v[k], step, sums[s % SUMS].l1,
                                             sums[s % SUMS].l2, products[s / SUMS].low[k],
                                             products[s / SUMS].high[k]),
                                4.0 * DBL_EPSILON * fabs(v[k]));
                pair_close(&p);
            }
}

TEST(equal_weights_give_the_plain_step)
{
    static const double weights[] = {1.0, 4.0, 0.125};
    for (size_t s = 0; s < (size_t)PRODUCTS * SUMS; s++)
        for (size_t w = 0; w < 3; w++) {
            double metric[DIMENSION];
            double u[DIMENSION];
            double plain[DIMENSION];
            saddle_rng rng;
            pair p;
            pair_open(&p, products[s / SUMS].text, sums[s % SUMS].text, DIMENSION);
            saddle_rng_init(&rng, s, SADDLE_RNG_TEST, 7, w);
            draw_point(&rng, 0, DIMENSION, u);
            memcpy(plain, u, sizeof u);
            for (size_t k = 0; k < DIMENSION; k++)
                metric[k] = weights[w];
            saddle_prox_apply_metric(p.prox, 0.5, metric, u, p.scratch);
            saddle_prox_apply(p.prox, 0.5 / weights[w], plain, p.scratch);
            /* Powers of two change no bit. */
            ck_assert_msg(test_farthest(DIMENSION, u, plain) == 0.0, "%s, %s",
                          products[s / SUMS].text, sums[s % SUMS].text);
            pair_close(&p);
        }
}

/*
 * u is nearest to v in the ball |u| <= R if and only if metric[k] (v_k - u_k) = t u_k for all k and one t >= 0, with
 * t = 0 or |u| = R. t follows best from the coordinate of the smallest weight, on which it has the largest effect.
 */
static void assert_nearest(size_t n, double radius, const double *metric, const double *v,
                           const double *u)
{
    double tolerance = 8.0 * (double)(n + 8) * DBL_EPSILON;
    long double outside = 0.0L;
    long double inside = 0.0L;
    size_t least = n;
    for (size_t k = 0; k < n; k++) {
        outside += (long double)v[k] * v[k];
        inside += (long double)u[k] * u[k];
        if (v[k] != 0.0 && (least == n || metric[k] < metric[least]))
            least = k;
    }
    if (sqrtl(outside) <= radius) {
        ck_assert(memcmp(u, v, n * sizeof *u) == 0);
        return;
    }
    assert_near((double)(sqrtl(inside) / radius), 1.0, tolerance);
    long double t = (long double)metric[least] * ((long double)v[least] - u[least]) / u[least];
    ck_assert_msg(t > 0.0L, "t = %Lg", t);
    for (size_t k = 0; k < n; k++)
        assert_near((double)(u[k] * (1.0L + t / metric[k])), v[k], tolerance * fabs(v[k]));
}

TEST(balls_have_the_nearest_point)
{
    static const struct {
        const char *text;
        double radius;
    } balls[] = {{"l2-ball:1.5", 1.5},     {"l2-ball:1000", 1000.0},   {"l2-ball:1e-3", 1e-3},
                 {"l2-ball:1e-12", 1e-12}, {"l2-ball:1e-100", 1e-100}, {"l2-ball:1e-200", 1e-200},
                 {"l2-ball:1e200", 1e200}};
    static const size_t sizes[] = {1, 2, 3, 8, MOST};
    static const double factors[] = {1.0, 1e-8, 1e8, 1e200, 1e-170};
    for (size_t b = 0; b < sizeof balls / sizeof *balls; b++)
        for (size_t s = 0; s < 5; s++)
            for (int point = 0; point < METRICS * POINTS * 5; point++) {
                static double metric[MOST];
                static double v[MOST];
                static double u[MOST];
                size_t n = sizes[s];
                saddle_rng rng;
                pair p;
                pair_open(&p, balls[b].text, "none", n);
                ck_assert(saddle_prox_has_metric(p.prox));
                saddle_rng_init(&rng, b, SADDLE_RNG_TEST, n, (uint64_t)point);
                draw_metric(&rng, point % METRICS, n, metric);
                draw_point(&rng, point / METRICS % POINTS, n, v);
                double factor = factors[point / METRICS / POINTS];
                for (size_t k = 0; k < n; k++)
                    v[k] *= factor;
                memcpy(u, v, n * sizeof *u);
                saddle_prox_apply_metric(p.prox, 0.5, metric, u, p.scratch);
                /* Else t and small entries are beyond the range of numbers. */
                if (factor / balls[b].radius < 1e250)
                    assert_nearest(n, balls[b].radius, metric, v, u);
                pair_close(&p);
            }
}

/* One coordinate of another size than the others at every scale of the weights: a long way for Newton's method. */
TEST(balls_have_the_nearest_point_at_every_scale)
{
    enum { SCALES = 25 };
    for (int falling = 0; falling < 2; falling++)
        for (int exponent = -24; exponent <= 2; exponent++) {
            double metric[SCALES];
            double v[SCALES];
            double u[SCALES];
            char text[64];
            pair p;
            for (int k = 0; k < SCALES; k++) {
                metric[k] = pow(10.0, k - 12);
                v[k] = pow(10.0, falling ? -k : -k / 2);
                u[k] = v[k];
            }
            saddle_snprintf(text, sizeof text, "l2-ball:1e%d", exponent);
            pair_open(&p, text, "none", SCALES);
            saddle_prox_apply_metric(p.prox, 1.0, metric, u, p.scratch);
            assert_nearest(SCALES, strtod(text + 8, NULL), metric, v, u);
            pair_close(&p);
        }
}

TEST(nan_is_not_hidden)
{
    static const char *const texts[] = {"none", "box:-1:1", "l2-ball:1"};
    for (size_t s = 0; s < 3; s++)
        for (size_t k = 0; k < 3; k++) {
            const double metric[] = {1e-3, 1.0, 1e3};
            double v[] = {2.0, -3.0, 0.5};
            pair p;
            v[k] = NAN;
            pair_open(&p, texts[s], "none", 3);
            saddle_prox_apply_metric(p.prox, 1.0, metric, v, p.scratch);
            ck_assert_msg(isnan(v[0]) || isnan(v[1]) || isnan(v[2]), "%s", texts[s]);
            pair_close(&p);
        }
}

TEST(other_pairs_have_no_metric)
{
    static const struct {
        const char *set, *regularizer;
    } pairs[] = {{"simplex", "none"},
                 {"simplex:2", "l1:0.1"},
                 {"l1-ball:1", "none"},
                 {"l1-ball:1", "elastic-net:0.1:0.1"},
                 {"l2-ball:1", "l1:0.1"},
                 {"l2-ball:1", "elastic-net:0:0.1"},
                 {"l2-ball:1", "group-l2:0.1:2"},
                 {"none", "group-l2:0.1:2"},
                 {"nonneg", "group-l2:0.1:2"},
                 {"blocks:2*none,*simplex", "none"},
                 {"blocks:2*nonneg,*l1-ball:1", "none"},
                 {"blocks:2*box:0:1,*l2-ball:1", "none"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        pair p;
        pair_open(&p, pairs[k].set, pairs[k].regularizer, 6);
        ck_assert_msg(!saddle_prox_has_metric(p.prox), "%s, %s", pairs[k].set,
                      pairs[k].regularizer);
        pair_close(&p);
    }
}
