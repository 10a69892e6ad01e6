/*
 * The metric of PRECISION-auto and its bounds: against Hessians that are computed here, column by column, from
 * differences of gradients.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/curvature.h"
#include "core/print.h"
#include "instances.h"
#include "support.h"

#define ALPHA 0.3
enum { KINDS = SADDLE_CURVATURE_NONE + 1 };

/* ---- the slow way --------------------------------------------------------------------------------------- */

/* Mean second derivatives at the reference point. */
typedef struct hessian {
    const saddle_instance *e;
    size_t m, nx, ny;
    double *x, *y;    /* the reference point */
    double *diagonal; /* of every agent's xx, agent after agent */
    double *xx;       /* nx x nx, over all agents */
    double *xy;       /* ny x nx: column k is the change of the y-gradient with x_k */
} hessian;

static void full_gradient(const saddle_instance *e, size_t agent, const double *x, const double *y,
                          double *gx, double *gy)
{
    double *scratch = test_doubles(saddle_problem_scratch(e->problem));
    saddle_batch all = {.count = e->problem->samples[agent]};
    saddle_problem_gradient(e->problem, agent, &all, x, y, gx, gy, scratch);
    free(scratch);
}

/* Of an agent's samples, where few are enough. */
static size_t few_samples(const saddle_instance *e, size_t agent)
{
    size_t samples = e->problem->samples[agent];
    return samples < 64 ? samples : 64;
}

/* The mean gradient in y, over some samples at equal distances. */
static void some_ascent(const saddle_instance *e, size_t agent, size_t count, const double *x,
                        double *gx, double *gy)
{
    double *scratch = test_doubles(saddle_problem_scratch(e->problem));
    double *one = test_doubles(e->problem->y_dim);
    memset(gy, 0, e->problem->y_dim * sizeof *gy);
    for (size_t j = 0; j < count; j++) {
        uint32_t index = (uint32_t)(j * e->problem->samples[agent] / count);
        saddle_batch batch = {.index = &index, .count = 1};
        saddle_problem_gradient(e->problem, agent, &batch, x, e->y0, gx, one, scratch);
        for (size_t k = 0; k < e->problem->y_dim; k++)
            gy[k] += one[k] / (double)count;
    }
    free(one);
    free(scratch);
}

/* The problem's start or 0, and the y halfway between the first one and what a step of ascent from it gives. */
static void slow_reference(hessian *h)
{
    const saddle_instance *e = h->e;
    double *gx = test_doubles(h->nx);
    double *gy = test_doubles(h->ny);
    double *scratch = test_doubles(saddle_set_scratch(e->x_set) + saddle_set_scratch(e->y_set));
    if (e->problem->start != NULL)
        e->problem->start(e->problem, e->seed, h->x, gy);
    saddle_set_project(e->x_set, h->x, scratch);
    memcpy(h->y, e->y0, h->ny * sizeof *h->y);
    for (size_t i = 0; i < h->m; i++) {
        some_ascent(e, i, h->ny < 64 ? few_samples(e, i) : e->problem->samples[i], h->x, gx, gy);
        for (size_t k = 0; k < h->ny; k++)
            h->y[k] += ALPHA / (double)h->m * gy[k];
    }
    saddle_set_project(e->y_set, h->y, scratch);
    for (size_t k = 0; k < h->ny; k++)
        h->y[k] = (h->y[k] + e->y0[k]) / 2.0;
    free(scratch);
    free(gy);
    free(gx);
}

/* Without derivatives. */
static void reference_open(hessian *h, const saddle_instance *e)
{
    *h = (hessian){
        .e = e, .m = e->problem->agents, .nx = e->problem->x_dim, .ny = e->problem->y_dim};
    h->x = test_doubles(h->nx);
    h->y = test_doubles(h->ny);
    slow_reference(h);
}

static void hessian_open(hessian *h, const saddle_instance *e)
{
    reference_open(h, e);
    h->diagonal = test_doubles(h->m * h->nx);
    h->xx = test_doubles(h->nx * h->nx);
    h->xy = test_doubles(h->ny * h->nx);
    double *moved = test_doubles(h->nx);
    double *g[4] = {test_doubles(h->nx), test_doubles(h->ny), test_doubles(h->nx),
                    test_doubles(h->ny)};
    const double step = 1e-4;
    for (size_t i = 0; i < h->m; i++)
        for (size_t k = 0; k < h->nx; k++) {
            memcpy(moved, h->x, h->nx * sizeof *moved);
            moved[k] = h->x[k] + step;
            full_gradient(e, i, moved, h->y, g[0], g[1]);
            moved[k] = h->x[k] - step;
            full_gradient(e, i, moved, h->y, g[2], g[3]);
            for (size_t c = 0; c < h->nx; c++)
                h->xx[c * h->nx + k] += (g[0][c] - g[2][c]) / (2.0 * step) / (double)h->m;
            for (size_t c = 0; c < h->ny; c++)
                h->xy[c * h->nx + k] += (g[1][c] - g[3][c]) / (2.0 * step) / (double)h->m;
            h->diagonal[i * h->nx + k] = (g[0][k] - g[2][k]) / (2.0 * step);
        }
    for (int k = 0; k < 4; k++)
        free(g[k]);
    free(moved);
}

static void sample_gradient(const hessian *h, size_t agent, size_t sample, const double *x,
                            const double *y, double *out)
{
    double *gy = test_doubles(h->ny);
    double *scratch = test_doubles(saddle_problem_scratch(h->e->problem));
    uint32_t index = (uint32_t)sample;
    saddle_batch one = {.index = &index, .count = 1};
    saddle_problem_gradient(h->e->problem, agent, &one, x, y, out, gy, scratch);
    free(scratch);
    free(gy);
}

/* out = the Hessian in x of a sample times a vector, by central differences */
static void sample_product(const hessian *h, size_t agent, size_t sample, const double *v,
                           const double *y, double *out)
{
    double *moved = test_doubles(h->nx);
    double *other = test_doubles(h->nx);
    double step = 1e-4 / test_largest(h->nx, v);
    for (size_t k = 0; k < h->nx; k++)
        moved[k] = h->x[k] + step * v[k];
    sample_gradient(h, agent, sample, moved, y, out);
    for (size_t k = 0; k < h->nx; k++)
        moved[k] = h->x[k] - step * v[k];
    sample_gradient(h, agent, sample, moved, y, other);
    for (size_t k = 0; k < h->nx; k++)
        out[k] = (out[k] - other[k]) / (2.0 * step);
    free(other);
    free(moved);
}

/* (mean of h^2 / (mean of h)^2 / 1000)^2, h being the entries (k, k) of the Hessians of an agent's samples. */
static double slow_rarity(const hessian *h, size_t agent, size_t k)
{
    double *unit = test_doubles(h->nx);
    double *g = test_doubles(h->nx);
    double sums[2] = {0.0, 0.0};
    size_t samples = h->e->problem->samples[agent];
    unit[k] = 1.0;
    for (size_t j = 0; j < samples; j++) {
        sample_product(h, agent, j, unit, h->y, g);
        sums[0] += g[k] / (double)samples;
        sums[1] += g[k] * g[k] / (double)samples;
    }
    free(g);
    free(unit);
    return sums[0] > 0.0 ? pow(sums[1] / (sums[0] * sums[0]) / 1000.0, 2.0) : 0.0;
}

static void hessian_close(hessian *h)
{
    free(h->x);
    free(h->y);
    free(h->diagonal);
    free(h->xx);
    free(h->xy);
}

/* Returns the largest singular value of A D^-1/2 or, with `left`, of D^-1/2 A D^-1/2, by the power method. A is
 * rows x nx. */
static double slow_largest(size_t rows, size_t nx, const double *a, const double *metric, bool left)
{
    double *z = test_doubles(nx);
    double *w = test_doubles(rows);
    double value = 0.0;
    for (size_t k = 0; k < nx; k++)
        z[k] = cos(1.0 + 3.0 * (double)k);
    for (int step = 0; step < 200; step++) {
        double size = 0.0;
        for (size_t k = 0; k < nx; k++)
            size += z[k] * z[k];
        value = sqrt(sqrt(size));
        for (size_t c = 0; c < rows; c++) {
            w[c] = 0.0;
            for (size_t k = 0; k < nx; k++)
                w[c] += a[c * nx + k] * z[k] / sqrt(metric[k] * size);
            w[c] /= left ? metric[c] : 1.0; /* twice D^-1/2 */
        }
        for (size_t k = 0; k < nx; k++) {
            z[k] = 0.0;
            for (size_t c = 0; c < rows; c++)
                z[k] += a[c * nx + k] * w[c] / sqrt(metric[k]);
        }
    }
    free(w);
    free(z);
    return value;
}

/* ---- tests ---------------------------------------------------------------------------------------------- */

static void measure(const saddle_instance *e, int kind, saddle_curvature *out)
{
    saddle_error error = {.message = ""};
    assert_ok(saddle_curvature_measure(e, (saddle_curvature_kind)kind, ALPHA, out, &error), error);
}

static void assert_is_one(const saddle_curvature *found)
{
    ck_assert(found->uniform && !found->metric.full);
    for (size_t k = 0; k < found->metric.dimension; k++)
        ck_assert(found->metric.diagonal[k] == 1.0 && found->metric.root[k] == 1.0);
}

/* Losses of one score, and how far from linear their gradients are over the measured distance. */
static const struct {
    int which;
    const char *setting;
    double tolerance;
} linear[] = {{GROUP_DRO_SPARSE_UNEQUAL, "x-set=none", 1e-4},
              {GROUP_DRO_SPARSE_UNEQUAL, "x-set=box:-1:1", 1e-4},
              {REGRESSION_SQUARE_SPARSE_UNEQUAL, "x-set=none", 1e-9},
              {REGRESSION_HUBER_DENSE, "huber-delta=3", 1e-9}};
enum { LINEAR = sizeof linear / sizeof *linear };

TEST_LOOP(the_metric_is_the_mean_square_of_diagonals, 0, LINEAR)
{
    const char *const more[] = {linear[_i].setting, "regularizer=none", NULL};
    test_instance instance;
    hessian h;
    saddle_curvature found;
    test_instance_open(&instance, linear[_i].which, more);
    hessian_open(&h, instance.made);
    measure(instance.made, SADDLE_CURVATURE_DIAGONAL, &found);
    ck_assert(!found.uniform && !found.metric.full);
    double largest = test_largest(h.nx, found.metric.diagonal);
    size_t known = 0;
    for (size_t k = 0; k < h.nx; k++) {
        double square = 0.0;
        for (size_t i = 0; i < h.m; i++) {
            double own = h.diagonal[i * h.nx + k] * (1.0 + slow_rarity(&h, i, k));
            square += own * own / (double)h.m;
        }
        /* A feature that no sample has gets the largest weight. */
        if (square > 0.0)
            assert_near(found.metric.diagonal[k] / sqrt(square), 1.0, linear[_i].tolerance);
        else
            ck_assert(found.metric.diagonal[k] == largest);
        known += square > 0.0 ? 1 : 0;
    }
    ck_assert_uint_ge(2 * known, h.nx);
    saddle_metric_close(&found.metric);
    hessian_close(&h);
    test_instance_close(&instance);
}

/* xx and xy depend on random signs. Their mean squares over signs are at least the squares of the largest singular
 * values; the means over SEEDS seeds are within two standard deviations of that: a square has the variance of at most
 * that of chi^2, 2, where one direction dominates. */
TEST_LOOP(the_bounds_hold_in_the_mean, 0, LINEAR)
{
    enum { SEEDS = 50 };
    double slack = 2.0 * sqrt(2.0 / SEEDS);
    double xx = 0.0;
    double xy = 0.0;
    for (int seed = 0; seed < SEEDS; seed++) {
        char text[32];
        saddle_snprintf(text, sizeof text, "seed=%d", seed);
        const char *const more[] = {linear[_i].setting, "regularizer=none", text, NULL};
        test_instance instance;
        hessian h;
        saddle_curvature found;
        test_instance_open(&instance, linear[_i].which, more);
        hessian_open(&h, instance.made);
        measure(instance.made, SADDLE_CURVATURE_DIAGONAL, &found);
        double of_xx = slow_largest(h.nx, h.nx, h.xx, found.metric.diagonal, true);
        double of_xy = slow_largest(h.ny, h.nx, h.xy, found.metric.diagonal, false);
        ck_assert(of_xx > 0.0 && of_xy > 0.0);
        xx += found.xx * found.xx / (of_xx * of_xx) / SEEDS;
        xy += found.xy * found.xy / (of_xy * of_xy) / SEEDS;
        /* In units of the largest value, no matrix of this size has a mean square above its dimension. */
        assert_at_most(found.xx, sqrt((double)h.nx) * of_xx * 4.0);
        assert_at_most(found.xy, sqrt((double)h.nx) * of_xy * 4.0);
        saddle_metric_close(&found.metric);
        hessian_close(&h);
        test_instance_close(&instance);
    }
    assert_at_most(1.0 - slack, xx);
    assert_at_most(1.0 - slack, xy);
}

enum { FEATURES = 5, ROWS = 60 };

/* Writes rows whose column k is multiplied by 2^exponent[k]. */
static void write_rows(const char *path, const int *exponent)
{
    saddle_rng rng;
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    saddle_rng_init(&rng, 3, SADDLE_RNG_TEST, 0, 0);
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < FEATURES; k++)
            saddle_fprintf(file, "%.17g,", ldexp(saddle_rng_normal(&rng), exponent[k]));
        saddle_fprintf(file, "%d\n", row % 3 == 0 ? 1 : -1);
    }
    ck_assert_int_eq(fclose(file), 0);
}

static const int units[][FEATURES] = {{0, 0, 0, 0, 0},
                                      {1, -2, 3, 0, -5},
                                      {20, -20, 0, 10, -10},
                                      {40, -40, 0, 3, -3},
                                      {-60, -60, -60, -60, -60}};
enum { UNITS = sizeof units / sizeof *units };

TEST_LOOP(other_units_multiply_the_metric, 0, 4)
{
    static const char *const problems[][2] = {{"problem=group-dro", "groups=label"},
                                              {"problem=robust-regression", "loss=square"}};
    const char *const setting[] = {
        problems[_i % 2][0], problems[_i % 2][1], "data=rows.csv",    "scale=none",
        "agents=4",          "x-set=none",        "regularizer=none", NULL};
    saddle_curvature first = {.uniform = true};
    saddle_test_enter_directory();
    for (size_t u = 0; u < UNITS; u++) {
        saddle_error error = {.message = ""};
        saddle_instance *made = NULL;
        saddle_curvature found;
        write_rows("rows.csv", units[u]);
        saddle_plan *plan = test_plan(NULL, setting);
        assert_ok(saddle_instance_create(&made, plan, &error), error);
        size_t x_dim = made->problem->x_dim;
        ck_assert_uint_le(x_dim, FEATURES + 1); /* weights, and an intercept behind them */
        measure(made, _i / 2 == 0 ? SADDLE_CURVATURE_AUTO : SADDLE_CURVATURE_DIAGONAL, &found);
        ck_assert(!found.uniform && found.metric.full == (_i / 2 == 0));
        if (u == 0)
            first = found;
        for (size_t k = 0; k < x_dim; k++)
            ck_assert_msg(found.metric.diagonal[k] ==
                              ldexp(first.metric.diagonal[k], k < FEATURES ? 2 * units[u][k] : 0),
                          "units %zu, feature %zu: %g of %g", u, k, found.metric.diagonal[k],
                          first.metric.diagonal[k]);
        for (size_t k = 0, row = 0; row < x_dim && found.metric.full; row++)
            for (size_t column = 0; column <= row; column++, k++)
                ck_assert(found.metric.factor[k] ==
                          ldexp(first.metric.factor[k], row < FEATURES ? units[u][row] : 0));
        ck_assert(found.xx == first.xx && found.xy == first.xy && found.xx > 0.0);
        if (u > 0)
            saddle_metric_close(&found.metric);
        saddle_instance_free(made);
        test_plan_free(plan);
    }
    saddle_metric_close(&first.metric);
}

TEST(sets_without_a_metric_give_a_uniform_one)
{
    static const char *const settings[][2] = {{"x-set=simplex", "regularizer=none"},
                                              {"x-set=l1-ball:1", "regularizer=none"},
                                              {"x-set=l2-ball:1", "regularizer=l1:0.1"},
                                              {"x-set=none", "regularizer=group-l2:0.1:2"}};
    for (size_t s = 0; s < 4; s++)
        for (int kind = 0; kind < KINDS; kind++) {
            const char *const more[] = {settings[s][0], settings[s][1], NULL};
            test_instance instance;
            saddle_curvature found;
            test_instance_open(&instance, GROUP_DRO_SPARSE_UNEQUAL, more);
            measure(instance.made, kind, &found);
            assert_is_one(&found);
            saddle_metric_close(&found.metric);
            test_instance_close(&instance);
        }
}

/* Which metric there is for losses of one score. */
TEST(boxes_and_regularizers_give_a_diagonal_metric)
{
    static const struct {
        const char *set, *h;
        bool full;
    } settings[] = {{"x-set=none", "regularizer=none", true},
                    {"x-set=l2-ball:1", "regularizer=none", true},
                    {"x-set=box:-1:1", "regularizer=none", false},
                    {"x-set=nonneg", "regularizer=none", false},
                    {"x-set=linf-ball:1", "regularizer=none", false},
                    {"x-set=none", "regularizer=l1:0.1", false},
                    {"x-set=none", "regularizer=elastic-net:0.1:0.1", false}};
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++)
        for (int kind = 0; kind < KINDS; kind++) {
            const char *const more[] = {settings[s].set, settings[s].h, NULL};
            test_instance instance;
            saddle_curvature found;
            test_instance_open(&instance, GROUP_DRO_SPARSE_UNEQUAL, more);
            measure(instance.made, kind, &found);
            ck_assert_int_eq(found.uniform, kind == SADDLE_CURVATURE_NONE);
            bool may_be_full = kind == SADDLE_CURVATURE_AUTO || kind == SADDLE_CURVATURE_FULL;
            ck_assert_int_eq(found.metric.full, settings[s].full && may_be_full);
            if (found.uniform)
                assert_is_one(&found);
            saddle_metric_close(&found.metric);
            test_instance_close(&instance);
        }
}

/* ---- the full metric ------------------------------------------------------------------------------------- */

/* A symmetric matrix, as long double. */
typedef struct square {
    size_t n;
    long double *at; /* n x n */
} square;

static square square_open(size_t n)
{
    square q = {.n = n, .at = calloc(n * n, sizeof *q.at)};
    ck_assert_ptr_nonnull(q.at);
    return q;
}

static void add_outer(square *q, long double weight, const double *v)
{
    for (size_t i = 0; i < q->n; i++)
        for (size_t j = 0; j < q->n; j++)
            q->at[i * q->n + j] += weight * v[i] * v[j];
}

/* Replaces B by A^-1 B, by elimination; A is positive definite. */
static void slow_divide(const square *a, square *b)
{
    size_t n = a->n;
    square left = square_open(n);
    memcpy(left.at, a->at, n * n * sizeof *left.at);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            long double factor = left.at[i * n + k] / left.at[k * n + k];
            for (size_t j = 0; j < n && i != k; j++) {
                left.at[i * n + j] -= factor * left.at[k * n + j];
                b->at[i * n + j] -= factor * b->at[k * n + j];
            }
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            b->at[i * n + j] /= left.at[i * n + i];
    free(left.at);
}

/* Adds 1e-6 n to the diagonal, in its own units; entries that are 0 become the largest before. */
static void add_ridge(square *q)
{
    long double most = 0.0L;
    for (size_t k = 0; k < q->n; k++)
        most = fmaxl(most, q->at[k * q->n + k]);
    for (size_t k = 0; k < q->n; k++) {
        long double *entry = &q->at[k * q->n + k];
        *entry = (*entry > 0.0L ? *entry : most) * (1.0L + 1e-6L * (long double)q->n);
    }
}

/* The mean of metric.h, in the matrices of m agents. */
static square slow_mean(size_t m, const square *of)
{
    size_t n = of->n;
    long double c = sqrtl((long double)m);
    square mean = square_open(n);
    square sum = square_open(n);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < n * n; k++)
            mean.at[k] += of[i].at[k] / (long double)m;
    memcpy(sum.at, mean.at, n * n * sizeof *sum.at);
    add_ridge(&mean);
    for (size_t k = 0; k < n * n; k++)
        sum.at[k] *= c / (2.0L * sqrtl(c));
    for (size_t i = 0; i < m; i++) {
        square quotient = square_open(n);
        memcpy(quotient.at, of[i].at, n * n * sizeof *quotient.at);
        slow_divide(&mean, &quotient);
        for (size_t r = 0; r < n; r++)
            for (size_t k = 0; k < n; k++)
                for (size_t j = 0; j < n; j++)
                    sum.at[r * n + j] += of[i].at[r * n + k] * quotient.at[k * n + j] /
                                         (long double)m / (2.0L * sqrtl(c));
        free(quotient.at);
    }
    add_ridge(&sum);
    free(m == 1 ? sum.at : mean.at);
    return m == 1 ? mean : sum;
}

/* The number of samples of an agent that are measured. */
static size_t measured_samples(const hessian *h, size_t agent)
{
    size_t samples = h->e->problem->samples[agent];
    size_t most = (size_t)(1e7 / (double)(h->nx + h->ny));
    most = most < 2048 ? most : 2048;
    return samples < most ? samples : most;
}

/* delta, to a factor: random signs, and sizes 1 / sqrt(mean square of some samples' gradients at the first y). */
static void slow_delta(const hessian *h, double *delta)
{
    saddle_rng rng;
    double *g = test_doubles(h->nx);
    double *squares = test_doubles(h->nx);
    for (size_t i = 0; i < h->m; i++) {
        size_t count = few_samples(h->e, i);
        for (size_t j = 0; j < count; j++) {
            sample_gradient(h, i, j * h->e->problem->samples[i] / count, h->x, h->e->y0, g);
            for (size_t k = 0; k < h->nx; k++)
                squares[k] += g[k] * g[k] / (double)count;
        }
    }
    saddle_rng_init(&rng, h->e->seed, SADDLE_RNG_ESTIMATE, 0, 1);
    for (size_t k = 0; k < h->nx; k++) {
        double sign = saddle_rng_below(&rng, 2) == 0 ? 1.0 : -1.0;
        delta[k] = squares[k] > 0.0 ? sign / sqrt(squares[k]) : 0.0;
    }
    free(squares);
    free(g);
}

/* The curvature along delta relative to the squared slope, in the means over at most 8 samples of each agent, at equal
 * distances. */
static double slow_ratio(const hessian *h)
{
    double *delta = test_doubles(h->nx);
    double *g = test_doubles(h->nx);
    double curvature = 0.0;
    double slopes = 0.0;
    slow_delta(h, delta);
    for (size_t i = 0; i < h->m; i++) {
        size_t samples = h->e->problem->samples[i];
        size_t count = samples < 8 ? samples : 8;
        for (size_t j = 0; j < count; j++) {
            double sums[2] = {0.0, 0.0};
            sample_gradient(h, i, j * samples / count, h->x, h->e->y0, g);
            for (size_t k = 0; k < h->nx; k++)
                sums[0] += g[k] * delta[k];
            sample_product(h, i, j * samples / count, delta, h->e->y0, g);
            for (size_t k = 0; k < h->nx; k++)
                sums[1] += g[k] * delta[k];
            slopes += sums[0] * sums[0] / (double)count;
            curvature += sums[1] / (double)count;
        }
    }
    free(g);
    free(delta);
    return curvature / slopes;
}

/* An agent's Hessian, more of it where features are rare, and a tenth of the ratio times the second moments of its
 * samples' gradients. */
static square agent_matrix(const hessian *h, size_t agent, double ratio)
{
    square out = square_open(h->nx);
    size_t samples = h->e->problem->samples[agent];
    double *unit = test_doubles(h->nx);
    double *g = test_doubles(h->nx);
    for (size_t j = 0; j < samples; j++) {
        sample_gradient(h, agent, j, h->x, h->y, g);
        add_outer(&out, 0.1 * ratio / (double)samples, g);
        for (size_t k = 0; k < h->nx; k++) {
            memset(unit, 0, h->nx * sizeof *unit);
            unit[k] = 1.0;
            sample_product(h, agent, j, unit, h->y, g);
            for (size_t c = 0; c < h->nx; c++)
                out.at[c * h->nx + k] += g[c] / (double)samples;
        }
    }
    for (size_t k = 0; k < h->nx; k++)
        out.at[k * h->nx + k] += h->diagonal[agent * h->nx + k] * slow_rarity(h, agent, k);
    free(g);
    free(unit);
    return out;
}

/* The metric that the comments of curvature.c and metric.h describe. */
static square slow_metric(const saddle_instance *e)
{
    hessian h;
    hessian_open(&h, e);
    square *of = calloc(h.m, sizeof *of);
    ck_assert_ptr_nonnull(of);
    double ratio = slow_ratio(&h);
    for (size_t i = 0; i < h.m; i++)
        of[i] = agent_matrix(&h, i, ratio);
    square mean = slow_mean(h.m, of);
    for (size_t i = 0; i < h.m; i++)
        free(of[i].at);
    free(of);
    hessian_close(&h);
    return mean;
}

/* Losses of one score, and how far from linear their gradients are over the measured distance. */
static const struct {
    int which;
    const char *more[3];
    double tolerance;
} whole[] = {{GROUP_DRO_SPARSE_UNEQUAL, {"x-set=none"}, 1e-4},
             {GROUP_DRO_SPARSE_UNEQUAL, {"x-set=l2-ball:1"}, 1e-4},
             {GROUP_DRO_SPARSE_UNEQUAL, {"agents=1", "samples=54"}, 1e-4},
             {GROUP_DRO_SPARSE_UNEQUAL, {"agents=20", "samples=1"}, 1e-4},
             {AUC_LINEAR_SPARSE_UNEQUAL, {"x-set=none"}, 1e-10},
             {FAIR_DENSE_UNEQUAL, {"x-set=none"}, 1e-4},
             {LOGISTIC_BOX_DENSE_UNEQUAL, {"x-set=none", "lambda2=0"}, 1e-4},
             {REGRESSION_SQUARE_SPARSE_UNEQUAL, {"x-set=none"}, 1e-10},
             {REGRESSION_SQUARE_SPARSE_UNEQUAL, {"agents=1", "samples=46"}, 1e-10},
             {REGRESSION_SQUARE_SPARSE_UNEQUAL, {"agents=20", "samples=1"}, 1e-10},
             {REGRESSION_HUBER_DENSE, {"huber-delta=3"}, 1e-10}};
enum { WHOLE = sizeof whole / sizeof *whole };

/* H = R R', in the units of H's diagonal. */
TEST_LOOP(the_full_metric_is_the_mean_of_hessians, 0, WHOLE)
{
    test_instance instance;
    saddle_curvature found;
    test_instance_open(&instance, whole[_i].which, whole[_i].more);
    measure(instance.made, SADDLE_CURVATURE_AUTO, &found);
    ck_assert(!found.uniform && found.metric.full);
    square expected = slow_metric(instance.made);
    double off = 0.0;
    for (size_t i = 0; i < expected.n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *rows[2] = {found.metric.factor + i * (i + 1) / 2,
                                     found.metric.factor + j * (j + 1) / 2};
            long double sum = 0.0L;
            for (size_t k = 0; k <= j; k++)
                sum += (long double)rows[0][k] * rows[1][k];
            sum -= expected.at[i * expected.n + j];
            off = test_larger(off,
                              (double)(fabsl(sum) / found.metric.root[i] / found.metric.root[j]));
        }
    assert_at_most(off, whole[_i].tolerance);
    free(expected.at);
    saddle_metric_close(&found.metric);
    test_instance_close(&instance);
}

/* Automatic metrics are full up to 1024 columns and 1e7 entries of all agents' matrices. */
TEST(large_metrics_are_full_only_on_request)
{
    static const struct {
        const char *data, *agents;
        bool full;
    } sizes[] = {{"data=synthetic:160:1023", "agents=2", true},  /* and an intercept */
                 {"data=synthetic:160:1024", "agents=2", false}, /* 1025 columns */
                 {"data=synthetic:160:720", "agents=40", false}};
    for (size_t k = 0; k < 3; k++) {
        const char *const more[] = {sizes[k].data, sizes[k].agents, "samples=4", NULL};
        test_instance instance;
        saddle_curvature found;
        test_instance_open(&instance, REGRESSION_SQUARE_SPARSE_UNEQUAL, more);
        measure(instance.made, SADDLE_CURVATURE_AUTO, &found);
        ck_assert_msg(!found.uniform && found.metric.full == sizes[k].full, "%zu columns",
                      found.metric.dimension);
        saddle_metric_close(&found.metric);
        test_instance_close(&instance);
    }
}

/* Of many samples, those at equal distances are measured, and what the others may add is a part of the diagonal. */
TEST(large_metrics_are_measured_from_some_samples)
{
    static const char *const more[] = {"data=synthetic:5000:5", "agents=1", "samples=5000", NULL};
    test_instance instance;
    hessian h;
    saddle_curvature found;
    test_instance_open(&instance, REGRESSION_SQUARE_SPARSE_UNEQUAL, more);
    measure(instance.made, SADDLE_CURVATURE_FULL, &found);
    ck_assert(!found.uniform && found.metric.full);
    reference_open(&h, instance.made);
    size_t some = measured_samples(&h, 0);
    ck_assert_uint_eq(some, 1997);
    double part = (double)h.nx * (1.0 / (double)some - 1.0 / 5000.0);
    double ratio = slow_ratio(&h);
    double *delta = test_doubles(h.nx);
    double *g = test_doubles(h.nx);
    double *sums[3] = {test_doubles(h.nx), test_doubles(h.nx), test_doubles(h.nx)};
    slow_delta(&h, delta);
    for (size_t j = 0; j < some; j++) {
        double along = 0.0;
        sample_gradient(&h, 0, j * 5000 / some, h.x, h.y, g);
        for (size_t k = 0; k < h.nx; k++)
            sums[0][k] += 0.1 * ratio * g[k] * g[k] / (double)some;
        sample_product(&h, 0, j * 5000 / some, delta, h.y, g);
        for (size_t k = 0; k < h.nx; k++)
            along += g[k] * delta[k];
        for (size_t k = 0; k < h.nx; k++) { /* of a matrix of rank one */
            double term = g[k] * g[k] / along;
            sums[1][k] += term / (double)some;
            sums[2][k] += term * term / (double)some;
        }
    }
    for (size_t k = 0; k < h.nx; k++) {
        double rarity = pow(sums[2][k] / (sums[1][k] * sums[1][k]) / 1000.0, 2.0);
        double expected = sums[0][k] + sums[1][k] * (1.0 + rarity) * (1.0 + part);
        assert_near(found.metric.diagonal[k] / expected, 1.0, 1e-8);
    }
    for (int k = 0; k < 3; k++)
        free(sums[k]);
    free(g);
    free(delta);
    hessian_close(&h);
    saddle_metric_close(&found.metric);
    test_instance_close(&instance);
}

/* ---- losses of more than one score ----------------------------------------------------------------------- */

TEST(other_losses_give_a_uniform_metric)
{
    static const int other[] = {
        QUADRATIC_CONVEX_ODD, QUADRATIC_NONCONVEX,     QUADRATIC_BALL, AUC_MLP_DENSE,
        GROUP_DRO_MLP_DENSE,  FAIR_MLP_DENSE,          POLICY_SMALL,   POLICY_UNEQUAL,
        POISONING_SPARSE,     POISONING_DENSE_UNEQUAL, OWN_PROBLEM};
    static const char *const more[] = {"x-set=none", "regularizer=none", NULL};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        for (int kind = 0; kind < KINDS; kind++) {
            test_instance instance;
            saddle_curvature found;
            test_instance_open(&instance, other[k], more);
            measure(instance.made, kind, &found);
            ck_assert_msg(found.uniform, "%s: full %d", instance.label, found.metric.full);
            assert_is_one(&found);
            saddle_metric_close(&found.metric);
            test_instance_close(&instance);
        }
}

/* The regularizer of robust-logistic is no function of the same score, however rare a feature is. */
TEST_LOOP(rare_features_do_not_decide_alone, 0, 12)
{
    char seed[32];
    saddle_snprintf(seed, sizeof seed, "seed=%d", _i);
    const char *const more[] = {"data=synthetic:3000:123", "agents=5", "topology=complete", seed,
                                NULL};
    test_instance instance;
    saddle_curvature found;
    test_instance_open(&instance, LOGISTIC_BOX_SPARSE, more);
    measure(instance.made, SADDLE_CURVATURE_AUTO, &found);
    ck_assert(found.uniform);
    saddle_metric_close(&found.metric);
    test_instance_close(&instance);
}

/* A quadratic of several dimensions is no function of one score, whatever the signs of delta are. */
TEST_LOOP(quadratics_give_a_uniform_metric, 0, 5)
{
    static const char *const dimension[] = {"x-dim=2", "x-dim=3", "x-dim=4", "x-dim=7", "x-dim=20"};
    for (int seed = 0; seed < 40; seed++) {
        char text[32];
        saddle_snprintf(text, sizeof text, "seed=%d", seed);
        const char *const more[] = {dimension[_i], "curvature=convex", text, NULL};
        test_instance instance;
        saddle_curvature found;
        test_instance_open(&instance, QUADRATIC_NONCONVEX, more);
        measure(instance.made, SADDLE_CURVATURE_AUTO, &found);
        ck_assert_msg(found.uniform, "seed %d, %s", seed, dimension[_i]);
        saddle_metric_close(&found.metric);
        test_instance_close(&instance);
    }
}
