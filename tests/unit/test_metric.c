/*
 * Metrics against dense matrices in long double: the mean over agents by its formula, with solutions by Gaussian
 * elimination, and then products, solutions and lengths in the metric that was found.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/metric.h"
#include "core/rng.h"
#include "core/world.h"
#include "instances.h"
#include "support.h"
#include "thread_world.h"

enum { MOST = 20, MOST_AGENTS = 20, ENTRIES = MOST * (MOST + 1) / 2 };
#define RIDGE 1e-6L

static const size_t dimensions[] = {1, 2, 7, 20};
static const size_t agents[] = {1, 3, 20};
enum { SIZES = 4, NETWORKS = 3 };

/* ---- the slow way --------------------------------------------------------------------------------------- */

typedef struct dense {
    size_t n;
    long double at[MOST][MOST];
} dense;

static void from_triangle(size_t n, const double *triangle, dense *out)
{
    out->n = n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            out->at[i][j] = out->at[j][i] = triangle[i * (i + 1) / 2 + j];
}

/* Solves A z = b by elimination, with the largest pivots. */
static void slow_solve(const dense *a, const long double *b, long double *z)
{
    size_t n = a->n;
    long double m[MOST][MOST + 1];
    for (size_t i = 0; i < n; i++) {
        memcpy(m[i], a->at[i], n * sizeof **m);
        m[i][n] = b[i];
    }
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabsl(m[i][k]) > fabsl(m[pivot][k]))
                pivot = i;
        for (size_t j = 0; j <= n; j++) {
            long double kept = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = kept;
        }
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = n + 1; j-- > k;)
                m[i][j] -= m[i][k] / m[k][k] * m[k][j];
    }
    for (size_t k = n; k-- > 0;) {
        z[k] = m[k][n];
        for (size_t j = k + 1; j < n; j++)
            z[k] -= m[k][j] * z[j];
        z[k] /= m[k][k];
    }
}

/* Adds the ridge, in the units of the diagonal; entries of it that are 0 become the largest. */
static void add_ridge(dense *a)
{
    long double most = 0.0L;
    for (size_t k = 0; k < a->n; k++)
        most = fmaxl(most, a->at[k][k]);
    for (size_t k = 0; k < a->n; k++) {
        long double unit = a->at[k][k] > 0.0L ? a->at[k][k] : most;
        a->at[k][k] = unit * (1.0L + RIDGE * (long double)a->n);
    }
}

static void slow_plain_mean(size_t n, size_t m, const double *matrices, dense *out)
{
    memset(out, 0, sizeof *out);
    out->n = n;
    for (size_t agent = 0; agent < m; agent++) {
        dense one;
        from_triangle(n, matrices + agent * n * (n + 1) / 2, &one);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                out->at[i][j] += one.at[i][j] / (long double)m;
    }
}

/* H = (mean of H_i M^-1 H_i + c M) / (2 sqrt(c)), or M for one agent, and a ridge. */
static void slow_mean(size_t n, size_t m, const double *matrices, dense *out)
{
    long double c = sqrtl((long double)m);
    dense mean;
    slow_plain_mean(n, m, matrices, out);
    mean = *out;
    add_ridge(&mean);
    if (m == 1) {
        *out = mean;
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            out->at[i][j] *= c;
    for (size_t agent = 0; agent < m; agent++) {
        dense one;
        from_triangle(n, matrices + agent * n * (n + 1) / 2, &one);
        for (size_t j = 0; j < n; j++) {
            long double z[MOST];
            slow_solve(&mean, one.at[j], z);
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < n; k++)
                    out->at[i][j] += one.at[i][k] * z[k] / (long double)m;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            out->at[i][j] /= 2.0L * sqrtl(c);
    add_ridge(out);
}

/* H = R R', or D. */
static void found_matrix(const saddle_metric *metric, dense *out)
{
    size_t n = metric->dimension;
    memset(out, 0, sizeof *out);
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        if (!metric->full) {
            out->at[i][i] = metric->diagonal[i];
            continue;
        }
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k <= i && k <= j; k++)
                out->at[i][j] += (long double)metric->factor[i * (i + 1) / 2 + k] *
                                 metric->factor[j * (j + 1) / 2 + k];
    }
}

/* Asserts that A - B is positive definite, by elimination in the units of A's diagonal. */
static void assert_above(const dense *a, const dense *b, long double factor)
{
    size_t n = a->n;
    long double m[MOST][MOST];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            m[i][j] =
                (a->at[i][j] - factor * b->at[i][j]) / sqrtl(a->at[i][i]) / sqrtl(a->at[j][j]);
    for (size_t k = 0; k < n; k++) {
        ck_assert_msg(m[k][k] > 0.0L, "pivot %zu of %zu is %Lg", k, n, m[k][k]);
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = n; j-- > k;)
                m[i][j] -= m[i][k] / m[k][k] * m[k][j];
    }
}

/* ---- matrices ------------------------------------------------------------------------------------------- */

/* DENSE: more vectors than dimensions; LOW_RANK: each agent has one vector; ALIKE: all agents have the same matrix;
 * OWN_COORDINATES: most coordinates are 0 at most agents; ZERO_ROWS: some are 0 at all; SCALED: the units of
 * coordinates differ by up to 1e16; UNEQUAL: the sizes of agents' matrices do. */
enum { DENSE, LOW_RANK, ALIKE, OWN_COORDINATES, ZERO_ROWS, SCALED, UNEQUAL, KINDS };

/* Makes the matrices of all agents, sums of squares of random vectors. */
static void make_matrices(int kind, size_t n, size_t m, double *out)
{
    saddle_rng rng;
    size_t entries = n * (n + 1) / 2;
    saddle_rng_init(&rng, 7, SADDLE_RNG_TEST, n, m);
    memset(out, 0, m * entries * sizeof *out);
    for (size_t agent = 0; agent < m; agent++)
        for (size_t vector = 0; vector < (kind == LOW_RANK ? 1 : 2 * n); vector++) {
            double v[MOST];
            double weight =
                kind == UNEQUAL ? pow(10.0, 16.0 * (double)agent / (double)m - 8.0) : 1.0;
            for (size_t k = 0; k < n; k++) {
                v[k] = saddle_rng_normal(&rng) + 1.0;
                if (kind == SCALED)
                    v[k] *= pow(10.0, 16.0 * (double)(k * 7 % n) / (double)n - 8.0);
                if ((kind == OWN_COORDINATES && (agent + k) % m > 0 && k % 3 > 0) ||
                    (kind == ZERO_ROWS && n > 1 && k % 3 == 1))
                    v[k] = 0.0;
            }
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j <= i; j++)
                    out[agent * entries + i * (i + 1) / 2 + j] += weight * v[i] * v[j];
        }
    for (size_t agent = 1; agent < m && kind == ALIKE; agent++)
        memcpy(out + agent * entries, out, entries * sizeof *out);
}

typedef struct bench {
    size_t n, m;
    double matrices[MOST_AGENTS * ENTRIES];
    saddle_metric metric;
} bench;

static void open_metric(saddle_metric *out, size_t n, bool may_be_full)
{
    saddle_error error = {.message = ""};
    assert_ok(saddle_metric_open(out, n, may_be_full, &error), error);
}

static void set_mean(saddle_metric *metric, size_t m, double *matrices)
{
    saddle_error error = {.message = ""};
    saddle_world *alone = NULL;
    assert_ok(saddle_world_alone(&alone, m, &error), error);
    assert_ok(saddle_metric_set_mean(metric, alone, matrices, &error), error);
    saddle_world_free(alone);
}

static bench *bench_open(int kind, size_t n, size_t m)
{
    bench *b = malloc(sizeof *b);
    ck_assert_ptr_nonnull(b);
    *b = (bench){.n = n, .m = m};
    make_matrices(kind, n, m, b->matrices);
    open_metric(&b->metric, n, true);
    set_mean(&b->metric, m, b->matrices);
    return b;
}

static void bench_close(bench *b)
{
    saddle_metric_close(&b->metric);
    ck_assert_ptr_null(b->metric.diagonal);
    free(b);
}

/* ---- the mean ------------------------------------------------------------------------------------------- */

/* Tests are over dimensions, numbers of agents and kinds of matrices. */
enum { BENCHES = SIZES * NETWORKS * KINDS };

static bench *bench_of(int which)
{
    return bench_open(which / (SIZES * NETWORKS), dimensions[which % SIZES],
                      agents[which / SIZES % NETWORKS]);
}

TEST_LOOP(the_mean_is_that_of_the_formula, 0, BENCHES)
{
    bench *b = bench_of(_i);
    dense expected;
    dense found;
    slow_mean(b->n, b->m, b->matrices, &expected);
    ck_assert(b->metric.full);
    found_matrix(&b->metric, &found);
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < b->n; j++) {
            long double unit = sqrtl(expected.at[i][i]) * sqrtl(expected.at[j][j]);
            assert_near((double)(found.at[i][j] / unit), (double)(expected.at[i][j] / unit), 1e-12);
        }
    /* D is H's diagonal without the ridge. */
    for (size_t k = 0; k < b->n; k++) {
        long double ridge = 1.0L + RIDGE * (long double)b->n;
        assert_near((double)(b->metric.diagonal[k] * ridge / found.at[k][k]), 1.0, 1e-14);
        assert_near(b->metric.root[k] / sqrt(b->metric.diagonal[k]), 1.0, 1e-15);
    }
    bench_close(b);
}

TEST_LOOP(the_mean_is_above_the_plain_one_and_below_its_bound, 0, BENCHES)
{
    bench *b = bench_of(_i);
    dense found;
    dense plain;
    dense bound = {.n = b->n};
    found_matrix(&b->metric, &found);
    slow_plain_mean(b->n, b->m, b->matrices, &plain);
    for (size_t k = 0; k < b->n; k++)
        bound.at[k][k] = (long double)b->metric.bound * b->metric.diagonal[k];
    assert_above(&found, &plain, 1.0L - 1e-11L);
    assert_above(&bound, &found, 1.0L - 1e-14L);
    /* No bound in these units is below 1 or above the dimension, but for the ridge. */
    ck_assert(b->metric.bound >= 1.0);
    assert_at_most(b->metric.bound, (double)b->n * (1.0 + 2e-6));
    bench_close(b);
}

/* Alike matrices give M to the factor (1 + c) / (2 sqrt(c)); one that a single agent has, (m + c) / (2 sqrt(c)) M. */
TEST(the_factors_are_those_of_the_comment)
{
    for (size_t k = 0; k < NETWORKS; k++) {
        double m = (double)agents[k];
        double c = sqrt(m);
        double matrices[MOST_AGENTS][1];
        saddle_metric metric;
        open_metric(&metric, 1, true);
        for (size_t agent = 0; agent < agents[k]; agent++)
            matrices[agent][0] = 3.0;
        set_mean(&metric, agents[k], *matrices);
        assert_near(metric.diagonal[0], 3.0 * (1.0 + c) / (2.0 * sqrt(c)), 1e-5);
        memset(matrices, 0, sizeof matrices);
        matrices[agents[k] - 1][0] = 3.0 * m;
        set_mean(&metric, agents[k], *matrices);
        assert_near(metric.diagonal[0], 3.0 * (m + c) / (2.0 * sqrt(c)), 2e-5);
        saddle_metric_close(&metric);
    }
}

/* Entries of one coordinate that is measured in units of 2^e are multiplied by 2^e, to the bit. */
TEST_LOOP(other_units_multiply_factors, 0, BENCHES)
{
    bench *first = bench_of(_i);
    size_t entries = first->n * (first->n + 1) / 2;
    bench *other = malloc(sizeof *other);
    saddle_rng rng;
    int e[MOST];
    ck_assert_ptr_nonnull(other);
    saddle_rng_init(&rng, 7, SADDLE_RNG_TEST, 1, 1);
    *other = *first;
    open_metric(&other->metric, first->n, true);
    for (size_t k = 0; k < first->n; k++)
        e[k] = (int)saddle_rng_below(&rng, 61) - 30;
    /* Coordinates without curvature get the largest entry of D, which depends on all units. */
    for (size_t k = 0; k < first->n && _i / (SIZES * NETWORKS) == ZERO_ROWS; k++)
        e[k] = -17;
    for (size_t agent = 0; agent < first->m; agent++)
        for (size_t i = 0; i < first->n; i++)
            for (size_t j = 0; j <= i; j++) {
                double *entry = &other->matrices[agent * entries + i * (i + 1) / 2 + j];
                *entry = ldexp(*entry, e[i] + e[j]);
            }
    set_mean(&other->metric, other->m, other->matrices);
    ck_assert(other->metric.full);
    ck_assert(other->metric.bound == first->metric.bound);
    for (size_t i = 0; i < first->n; i++) {
        ck_assert(other->metric.diagonal[i] == ldexp(first->metric.diagonal[i], 2 * e[i]));
        ck_assert(other->metric.root[i] == ldexp(first->metric.root[i], e[i]));
        for (size_t j = 0; j <= i; j++) {
            size_t k = i * (i + 1) / 2 + j;
            ck_assert(other->metric.factor[k] == ldexp(first->metric.factor[k], e[i]));
            ck_assert(other->metric.inverse[k] == ldexp(first->metric.inverse[k], -e[j]));
        }
    }
    bench_close(other);
    bench_close(first);
}

typedef struct ranks_job {
    const bench *expected;
    bool same[MOST_RANKS];
} ranks_job;

/* A process sees only its own agents' matrices. */
static void compute_mean(void *context, size_t rank)
{
    ranks_job *job = context;
    const bench *e = job->expected;
    size_t entries = e->n * (e->n + 1) / 2;
    saddle_error error = {.message = ""};
    saddle_graph graph = {.agents = e->m};
    saddle_world *world = NULL;
    saddle_metric found;
    double *matrices = test_doubles(e->m * entries);
    assert_ok(test_thread_world_engine.connect(&test_thread_world_engine, &world, &graph, &error),
              error);
    for (size_t agent = 0; agent < e->m; agent++)
        for (size_t k = 0; k < entries; k++)
            matrices[agent * entries + k] =
                saddle_world_has(world, agent) ? e->matrices[agent * entries + k] : (double)NAN;
    open_metric(&found, e->n, true);
    assert_ok(saddle_metric_set_mean(&found, world, matrices, &error), error);
    job->same[rank] = found.full && found.bound == e->metric.bound &&
                      memcmp(found.diagonal, e->metric.diagonal, e->n * sizeof(double)) == 0 &&
                      memcmp(found.factor, e->metric.factor, entries * sizeof(double)) == 0 &&
                      memcmp(found.inverse, e->metric.inverse, entries * sizeof(double)) == 0;
    saddle_metric_close(&found);
    saddle_world_free(world);
    free(matrices);
}

TEST_LOOP(the_bits_do_not_depend_on_processes, 0, KINDS)
{
    static const size_t ranks[] = {1, 2, 3, 5};
    bench *b = bench_open(_i, 7, 20);
    for (size_t k = 0; k < 4; k++) {
        ranks_job job = {.expected = b};
        test_thread_world_run(ranks[k], compute_mean, &job);
        for (size_t rank = 0; rank < ranks[k]; rank++)
            ck_assert_msg(job.same[rank], "process %zu of %zu", rank, ranks[k]);
    }
    bench_close(b);
}

/* ---- lengths -------------------------------------------------------------------------------------------- */

/* All functions of a metric against its matrix. Errors are in the units of D, where H has no eigenvalue below 1e-6. */
static void assert_lengths(const saddle_metric *metric)
{
    size_t n = metric->dimension;
    dense h;
    saddle_rng rng;
    saddle_rng_init(&rng, 8, SADDLE_RNG_TEST, n, 0);
    found_matrix(metric, &h);
    for (int repeat = 0; repeat < 5; repeat++) {
        double a[MOST], b[MOST], g[MOST], work[2 * MOST], whitened[MOST], out[MOST];
        long double difference[MOST], wide[MOST], solution[MOST];
        long double length2 = 0.0L, slope2 = 0.0L, of_whitened = 0.0L;
        for (size_t k = 0; k < n; k++) {
            a[k] = saddle_rng_normal(&rng) / metric->root[k];
            b[k] = saddle_rng_normal(&rng) / metric->root[k];
            g[k] = saddle_rng_normal(&rng) * metric->root[k];
            difference[k] = (long double)a[k] - b[k];
            wide[k] = g[k];
        }
        /* H (a - b) and |a - b|_H^2 */
        saddle_metric_multiply(metric, a, b, work, out);
        for (size_t i = 0; i < n; i++) {
            long double product = 0.0L;
            for (size_t j = 0; j < n; j++)
                product += h.at[i][j] * difference[j];
            length2 += difference[i] * product;
            assert_near((double)((out[i] - product) / metric->root[i]), 0.0, 1e-14 * (double)n);
        }
        assert_near((double)(saddle_metric_distance2(metric, a, b, work) / length2), 1.0, 1e-13);
        ck_assert(saddle_metric_distance2(metric, a, a, work) == 0.0);
        /* R^-1 g and H^-1 g */
        saddle_metric_whiten(metric, g, whitened);
        saddle_metric_finish_solve(metric, whitened, out);
        slow_solve(&h, wide, solution);
        for (size_t i = 0; i < n; i++) {
            of_whitened += (long double)whitened[i] * whitened[i];
            slope2 += wide[i] * solution[i];
        }
        assert_near((double)(of_whitened / slope2), 1.0, 1e-11);
        for (size_t i = 0; i < n; i++) {
            long double product = 0.0L; /* R times the result gives g back */
            for (size_t j = 0; j <= i; j++)
                product += whitened[j] * (metric->full ? metric->factor[i * (i + 1) / 2 + j]
                                          : i == j     ? metric->root[i]
                                                       : 0.0L);
            assert_near((double)((product - wide[i]) / metric->root[i]), 0.0, 1e-12);
            assert_near((double)((out[i] - solution[i]) * metric->root[i]), 0.0,
                        1e-9 * test_largest(n, whitened));
        }
    }
}

TEST_LOOP(lengths_are_those_of_the_matrix, 0, BENCHES)
{
    bench *b = bench_of(_i);
    assert_lengths(&b->metric);
    saddle_metric_reset(&b->metric);
    ck_assert(!b->metric.full && b->metric.bound == 1.0);
    for (size_t k = 0; k < b->n; k++)
        ck_assert(b->metric.diagonal[k] == 1.0 && b->metric.root[k] == 1.0);
    assert_lengths(&b->metric);
    bench_close(b);
}

TEST(lengths_are_those_of_a_diagonal)
{
    for (size_t s = 0; s < SIZES; s++) {
        size_t n = dimensions[s];
        double d[MOST];
        saddle_metric metric;
        open_metric(&metric, n, s % 2 == 0);
        ck_assert(!metric.full && metric.bound == 1.0);
        assert_lengths(&metric); /* I */
        for (size_t k = 0; k < n; k++)
            d[k] = pow(10.0, (double)(k * 7 % 17) - 8.0);
        ck_assert(saddle_metric_set_diagonal(&metric, d));
        ck_assert(!metric.full && metric.bound == 1.0);
        ck_assert_mem_eq(metric.diagonal, d, n * sizeof *d);
        assert_lengths(&metric);
        saddle_metric_close(&metric);
    }
}

/* ---- what cannot be a metric ---------------------------------------------------------------------------- */

static void assert_is_one(const saddle_metric *metric)
{
    ck_assert(!metric->full && metric->bound == 1.0);
    for (size_t k = 0; k < metric->dimension; k++)
        ck_assert(metric->diagonal[k] == 1.0 && metric->root[k] == 1.0);
}

TEST(diagonals_are_completed_or_refused)
{
    static const double mixed[] = {4.0, 0.0, -3.0, 0.25, -0.0};
    static const double completed[] = {4.0, 4.0, 4.0, 0.25, 4.0};
    static const double refused[][5] = {
        {0.0, 0.0, 0.0, -0.0, 0.0},     {-1.0, 0.0, -2.0, 0.0, 0.0},
        {1.0, NAN, 1.0, 1.0, 1.0},      {NAN, NAN, NAN, NAN, NAN},
        {1.0, INFINITY, 1.0, 1.0, 1.0}, {1.0, -INFINITY, 1.0, 1.0, 1.0}};
    saddle_metric metric;
    open_metric(&metric, 5, false);
    for (size_t r = 0; r < sizeof refused / sizeof *refused; r++) {
        ck_assert(saddle_metric_set_diagonal(&metric, mixed));
        for (size_t k = 0; k < 5; k++)
            ck_assert(metric.diagonal[k] == completed[k] && metric.root[k] == sqrt(completed[k]));
        ck_assert(!saddle_metric_set_diagonal(&metric, refused[r]));
        assert_is_one(&metric);
    }
    saddle_metric_close(&metric);
}

/* One entry of one agent's matrix is not finite, or the mean is: H stays as it is. */
TEST(matrices_that_are_not_finite_change_nothing)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY, 1.7e308};
    static const double d[] = {1.0, 4.0, 1e-8, 9.0, 1e8, 2.0, 3.0};
    enum { N = 7, M = 3, SIZE = N * (N + 1) / 2 };
    double matrices[M * SIZE];
    for (int entry = 0; entry < M * SIZE; entry++)
        for (int w = 0; w < 4; w++) {
            saddle_metric metric;
            open_metric(&metric, N, true);
            make_matrices(DENSE, N, M, matrices);
            ck_assert(saddle_metric_set_diagonal(&metric, d));
            matrices[entry] = wrong[w];
            set_mean(&metric, M, matrices);
            ck_assert_msg(!metric.full && metric.bound == 1.0, "entry %d is %g", entry, wrong[w]);
            ck_assert_mem_eq(metric.diagonal, d, sizeof d);
            assert_lengths(&metric);
            saddle_metric_close(&metric);
        }
}

TEST(matrices_of_zeros_change_nothing)
{
    double matrices[3 * 3] = {0.0};
    static const double d[] = {1.0, 4.0};
    saddle_metric metric;
    open_metric(&metric, 2, true);
    ck_assert(saddle_metric_set_diagonal(&metric, d));
    set_mean(&metric, 3, matrices);
    ck_assert(!metric.full);
    ck_assert_mem_eq(metric.diagonal, d, sizeof d);
    saddle_metric_close(&metric);
}
