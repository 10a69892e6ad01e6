/*
 * The centralized algorithms, and the pooled problem that they run on.
 *
 * A slow version of each is written here from its paper, with plain loops over single samples of the
 * network's agents, and compared iterate by iterate. IFO counts are compared with closed forms and with a
 * problem that counts its evaluations. Each algorithm is run to the known saddle point of the quadratic at
 * the rate it claims.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/algorithms.h"
#include "core/print.h"
#include "instances.h"
#include "support.h"

enum { MOST_SAMPLES = 512 };

/* ---- the pool, sample by sample -------------------------------------------------------------- */

/* A network's problem as one pool. */
typedef struct pool {
    const saddle_problem *of;
    size_t total;
    size_t x_dim, y_dim;
    double *gx, *gy, *scratch;
} pool;

static void pool_open(pool *p, const saddle_problem *of, const saddle_set *y_set)
{
    *p = (pool){.of = of, .x_dim = of->x_dim, .y_dim = of->y_dim};
    for (size_t i = 0; i < of->agents; i++)
        p->total += of->samples[i];
    ck_assert_uint_le(p->total, MOST_SAMPLES);
    p->gx = test_doubles(of->x_dim);
    p->gy = test_doubles(of->y_dim);
    p->scratch = test_doubles(saddle_problem_scratch(of) + saddle_set_scratch(y_set));
}

static void pool_close(pool *p)
{
    free(p->gx);
    free(p->gy);
    free(p->scratch);
}

/* Computes gx, gy += scale times the mean over the samples of N / (m n_i) grad f_ij at (x, y). Sample g
 * of the pool is the j-th of agent i if those of all agents are concatenated. */
static void pool_add(pool *p, const uint32_t *index, size_t count, double scale, const double *x,
                     const double *y, double *gx, double *gy)
{
    for (size_t k = 0; k < count; k++) {
        size_t i = 0;
        uint32_t j = index[k];
        for (; j >= p->of->samples[i]; i++)
            j -= (uint32_t)p->of->samples[i];
        saddle_batch one = {.index = &j, .count = 1};
        saddle_problem_gradient(p->of, i, &one, x, y, p->gx, p->gy, p->scratch);
        double weight = (double)p->total / (double)(p->of->agents * p->of->samples[i]);
        for (size_t c = 0; c < p->x_dim; c++)
            gx[c] += scale * weight * p->gx[c] / (double)count;
        for (size_t c = 0; c < p->y_dim; c++)
            gy[c] += scale * weight * p->gy[c] / (double)count;
    }
}

static void pool_mean(pool *p, const uint32_t *index, size_t count, const double *x,
                      const double *y, double *gx, double *gy)
{
    memset(gx, 0, p->x_dim * sizeof *gx);
    memset(gy, 0, p->y_dim * sizeof *gy);
    pool_add(p, index, count, 1.0, x, y, gx, gy);
}

static void all_of(const pool *p, uint32_t *index)
{
    for (size_t k = 0; k < p->total; k++)
        index[k] = (uint32_t)k;
}

static void assert_same(const char *what, uint64_t t, size_t count, const double *found,
                        const double *expected)
{
    double off = test_farthest(count, found, expected);
    double size = 1.0 + test_largest(count, expected);
    ck_assert_msg(off <= 1e-12 * size, "%s at t = %llu is off by %.3g of %.3g", what,
                  (unsigned long long)t, off, size);
}

/* ---- the pooled problem ---------------------------------------------------------------------- */

typedef struct bench {
    test_instance instance;
    pool pool;
    saddle_instance *target;
    const saddle_problem *pooled;
    double *x[2], *y[2], *gx[2], *gy[2], *scratch;
    uint32_t index[MOST_SAMPLES];
} bench;

static void bench_open(bench *b, int which)
{
    saddle_error error = {.message = ""};
    test_instance_open(&b->instance, which, NULL);
    saddle_instance *e = b->instance.made;
    assert_ok(saddle_instance_pool(&b->target, e, &error), error);
    b->pooled = b->target->problem;
    pool_open(&b->pool, e->problem, e->y_set);
    saddle_rng rng;
    saddle_rng_init(&rng, 17, SADDLE_RNG_TEST, 0, 0);
    for (int k = 0; k < 2; k++) {
        b->x[k] = test_doubles(b->pool.x_dim);
        b->y[k] = test_doubles(b->pool.y_dim);
        b->gx[k] = test_doubles(b->pool.x_dim);
        b->gy[k] = test_doubles(b->pool.y_dim);
        test_point(&rng, e->x_set, b->x[k]);
        test_point(&rng, e->y_set, b->y[k]);
    }
    b->scratch = test_doubles(saddle_problem_scratch(b->pooled) + saddle_set_scratch(e->y_set));
}

static void bench_close(bench *b)
{
    for (int k = 0; k < 2; k++) {
        free(b->x[k]);
        free(b->y[k]);
        free(b->gx[k]);
        free(b->gy[k]);
    }
    free(b->scratch);
    pool_close(&b->pool);
    saddle_instance_free(b->target);
    test_instance_close(&b->instance);
}

static void assert_gradients(const bench *b, const char *what)
{
    assert_same(what, 0, b->pool.x_dim, b->gx[0], b->gx[1]);
    assert_same(what, 0, b->pool.y_dim, b->gy[0], b->gy[1]);
}

/* The mean over the pool is the network's: the mean over agents of their means. */
TEST_LOOP(the_pool_is_the_network, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    const saddle_problem *of = b.instance.problem;
    double m = (double)of->agents;
    ck_assert_uint_eq(b.pooled->agents, 1);
    ck_assert_uint_eq(b.pooled->samples[0], b.pool.total);
    ck_assert_uint_eq(b.target->copies, of->agents);
    saddle_batch all = {.index = NULL, .count = b.pool.total};
    saddle_problem_gradient(b.pooled, 0, &all, b.x[0], b.y[0], b.gx[0], b.gy[0], b.scratch);
    double value = 0.0;
    for (size_t i = 0; i < of->agents; i++) {
        saddle_batch own = {.index = NULL, .count = of->samples[i]};
        saddle_problem_gradient(of, i, &own, b.x[0], b.y[0], b.pool.gx, b.pool.gy, b.pool.scratch);
        for (size_t k = 0; k < of->x_dim; k++)
            b.gx[1][k] += b.pool.gx[k] / m;
        for (size_t k = 0; k < of->y_dim; k++)
            b.gy[1][k] += b.pool.gy[k] / m;
        value += saddle_problem_value(of, i, b.x[0], b.y[0], b.pool.scratch) / m;
    }
    assert_gradients(&b, "full gradient");
    assert_near(saddle_problem_value(b.pooled, 0, b.x[0], b.y[0], b.scratch), value,
                1e-13 * (1.0 + fabs(value)));
    all_of(&b.pool, b.index);
    pool_mean(&b.pool, b.index, b.pool.total, b.x[0], b.y[0], b.gx[1], b.gy[1]);
    assert_gradients(&b, "mean of all samples");
    bench_close(&b);
}

/* Any batch, in any order, with repetitions; one-sample batches average to the full gradient. */
TEST_LOOP(batches_of_the_pool, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    saddle_rng rng;
    saddle_rng_init(&rng, 23, SADDLE_RNG_TEST, 1, 0);
    for (size_t count = 1; count <= b.pool.total + 3; count += 2) {
        for (size_t k = 0; k < count; k++)
            b.index[k] = (uint32_t)saddle_rng_below(&rng, b.pool.total);
        size_t used = count < b.pool.total ? count : b.pool.total;
        saddle_batch batch = {.index = b.index, .count = used};
        saddle_problem_gradient(b.pooled, 0, &batch, b.x[0], b.y[0], b.gx[0], b.gy[0], b.scratch);
        pool_mean(&b.pool, b.index, used, b.x[0], b.y[0], b.gx[1], b.gy[1]);
        assert_gradients(&b, "batch");
        saddle_problem_difference(b.pooled, 0, &batch, b.x[1], b.y[1], b.x[0], b.y[0], b.gx[0],
                                  b.gy[0], b.scratch);
        pool_mean(&b.pool, b.index, used, b.x[1], b.y[1], b.gx[1], b.gy[1]);
        pool_add(&b.pool, b.index, used, -1.0, b.x[0], b.y[0], b.gx[1], b.gy[1]);
        assert_gradients(&b, "difference");
    }
    memset(b.gx[1], 0, b.pool.x_dim * sizeof(double));
    memset(b.gy[1], 0, b.pool.y_dim * sizeof(double));
    double *one_x = test_doubles(b.pool.x_dim);
    double *one_y = test_doubles(b.pool.y_dim);
    for (uint32_t g = 0; g < b.pool.total; g++) {
        saddle_batch one = {.index = &g, .count = 1};
        saddle_problem_gradient(b.pooled, 0, &one, b.x[0], b.y[0], one_x, one_y, b.scratch);
        for (size_t k = 0; k < b.pool.x_dim; k++)
            b.gx[1][k] += one_x[k] / (double)b.pool.total;
        for (size_t k = 0; k < b.pool.y_dim; k++)
            b.gy[1][k] += one_y[k] / (double)b.pool.total;
    }
    saddle_batch all = {.index = NULL, .count = b.pool.total};
    saddle_problem_gradient(b.pooled, 0, &all, b.x[0], b.y[0], b.gx[0], b.gy[0], b.scratch);
    assert_gradients(&b, "mean of one-sample batches");
    free(one_y);
    free(one_x);
    bench_close(&b);
}

/* L grows by the heaviest sample's weight, mu does not change; y*(x) and the solution are the network's. */
TEST_LOOP(constants_and_answers_of_the_pool, 0, INSTANCES)
{
    bench b;
    bench_open(&b, _i);
    const saddle_problem *of = b.instance.problem;
    const saddle_instance *e = b.instance.made;
    size_t least = of->samples[0];
    for (size_t i = 1; i < of->agents; i++)
        least = of->samples[i] < least ? of->samples[i] : least;
    /* An estimate is not scaled, because it is not a bound anyway. */
    double heaviest =
        e->constants.estimated ? 1.0 : (double)b.pool.total / (double)(of->agents * least);
    assert_near(b.target->constants.lipschitz, heaviest * e->constants.lipschitz,
                1e-14 * b.target->constants.lipschitz);
    ck_assert(b.target->constants.strong_concavity == e->constants.strong_concavity);
    ck_assert((b.pooled->solution == NULL) == (of->solution == NULL));
    if (of->solution != NULL) {
        ck_assert(of->solution(of, b.x[0], b.y[0]));
        ck_assert(b.pooled->solution(b.pooled, b.x[1], b.y[1]));
        ck_assert_int_eq(memcmp(b.x[0], b.x[1], of->x_dim * sizeof(double)), 0);
        ck_assert_int_eq(memcmp(b.y[0], b.y[1], of->y_dim * sizeof(double)), 0);
    }
    ck_assert((b.pooled->response_solve == NULL) == (of->response_solve == NULL));
    if (of->response_solve != NULL) {
        double *pooled = test_doubles(of->response_size);
        double *mean = test_doubles(of->response_size);
        double *one = test_doubles(of->response_size);
        if (of->response_size > 0)
            saddle_problem_statistic(b.pooled, 0, b.x[0], pooled, b.scratch);
        for (size_t i = 0; of->response_size > 0 && i < of->agents; i++) {
            saddle_problem_statistic(of, i, b.x[0], one, b.scratch);
            for (size_t k = 0; k < of->response_size; k++)
                mean[k] += one[k] / (double)of->agents;
        }
        assert_same("statistic", 0, of->response_size, pooled, mean);
        bool first = of->response_solve(of, b.x[0], mean, e->y_set, b.y[0], b.scratch);
        bool second =
            b.pooled->response_solve(b.pooled, b.x[0], pooled, e->y_set, b.y[1], b.scratch);
        ck_assert_int_eq(first, second);
        if (first)
            assert_same("best response", 0, of->y_dim, b.y[1], b.y[0]);
        free(one);
        free(mean);
        free(pooled);
    }
    bench_close(&b);
}

/* ---- slow versions --------------------------------------------------------------------------- */

enum { GDA, SGDA, SREDA, SREDA_BOOST, FOLLOWED };
static const char *const names[FOLLOWED] = {"gda", "sgda", "sreda", "sreda-boost"};

typedef struct slow {
    const test_rig *rig;
    int kind;
    pool pool;
    double eta_x, eta_y, epsilon, accuracy;
    bool normalized;
    size_t batch, refresh, q, m, epochs; /* S2, S1 and so on */
    double *x, *y, *v, *u;
    uint64_t ifo;
} slow;

static bool is_auto(const slow *s, const char *name)
{
    return isnan(test_number(s->rig->plan, name));
}

static bool setting_is(const slow *s, const char *name, const char *value)
{
    return strcmp(test_text(s->rig->plan, name), value) == 0;
}

static double real_or(const slow *s, const char *name, double other)
{
    return is_auto(s, name) ? other : test_number(s->rig->plan, name);
}

static size_t whole_or(const slow *s, const char *name, double other)
{
    return is_auto(s, name) ? (size_t)other : (size_t)test_number(s->rig->plan, name);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Sets the parameters by the papers' rules, or the documented practical ones. */
static void slow_rules(slow *s)
{
    const saddle_steps *steps = &s->rig->steps;
    double L = s->rig->target.constants.lipschitz;
    double kappa = L / s->rig->target.constants.strong_concavity;
    double N = (double)s->pool.total;
    double root = ceil(sqrt(N));
    bool known = L > 0.0;
    bool theory = setting_is(s, "steps", "theory");
    if (s->kind == GDA || s->kind == SGDA) {
        double share = s->kind == GDA ? 0.3 : 0.1;
        s->eta_x = real_or(
            s, "eta-x", theory ? 1.0 / (16.0 * (kappa + 1) * (kappa + 1) * L) : share / steps->tau);
        s->eta_y = real_or(s, "eta-y", theory ? 1.0 / L : share * steps->alpha);
        s->batch =
            s->kind == GDA ? s->pool.total : least(whole_or(s, "batch", root), s->pool.total);
        return;
    }
    bool boost = s->kind == SREDA_BOOST;
    double paper_x = boost ? 1.0 / (24.0 * (kappa + 1.0) * L) : 1.0 / (10.0 * kappa * L);
    double paper_y = boost ? 2.0 / (13.0 * L) : 1.0 / (8.0 * L);
    double paper_m = boost ? ceil(104.0 * kappa) - 1.0 : ceil(1024.0 * kappa);
    s->eta_x = real_or(s, "eta-x", theory ? paper_x : 0.3 / steps->tau);
    s->eta_y = real_or(s, "eta-y", theory ? paper_y : 0.1 * steps->alpha);
    s->m = whole_or(s, "maximizer-steps", theory ? paper_m : 10.0);
    double period = theory ? ceil(sqrt(N) / kappa) : ceil(root / (double)(s->m + 1));
    s->q = whole_or(s, "q", period < 1.0 ? 1.0 : period);
    s->batch =
        least(whole_or(s, "batch", theory ? ceil(3687.0 / 76.0 * kappa * (double)s->q) : root),
              s->pool.total);
    s->refresh = least(whole_or(s, "refresh-batch", N), s->pool.total);
    s->epsilon = boost ? 0.1 : real_or(s, "epsilon", 0.1);
    s->normalized = !boost && (theory || !is_auto(s, "epsilon"));
    s->epochs = whole_or(s, "initial-epochs", boost ? 0.0 : theory ? 100.0 : 3.0);
    s->accuracy = real_or(s, "initial-accuracy", s->epsilon / (known ? kappa : 1.0));
}

static void slow_open(slow *s, const test_rig *rig, int kind)
{
    const saddle_instance *e = rig->instance.made;
    *s = (slow){.rig = rig, .kind = kind};
    pool_open(&s->pool, e->problem, e->y_set);
    slow_rules(s);
    s->x = test_doubles(s->pool.x_dim);
    s->y = test_doubles(s->pool.y_dim);
    s->v = test_doubles(s->pool.x_dim);
    s->u = test_doubles(s->pool.y_dim);
    memcpy(s->x, e->x0, s->pool.x_dim * sizeof *s->x);
    memcpy(s->y, e->y0, s->pool.y_dim * sizeof *s->y);
}

static void slow_close(slow *s)
{
    free(s->x);
    free(s->y);
    free(s->v);
    free(s->u);
    pool_close(&s->pool);
}

/* Draws samples, by the rule of core/rng.h. */
static void draw(const slow *s, saddle_purpose purpose, uint64_t number, size_t count,
                 bool replacement, uint32_t *out)
{
    size_t n = s->pool.total;
    saddle_rng rng;
    saddle_rng_init(&rng, s->rig->plan->start.seed, purpose, 0, number);
    if (replacement) {
        for (size_t k = 0; k < count; k++)
            out[k] = (uint32_t)saddle_rng_below(&rng, n);
    } else if (count >= n) {
        all_of(&s->pool, out);
    } else {
        uint64_t mark[MOST_SAMPLES / 64 + 8] = {0};
        ck_assert_uint_le(saddle_rng_mark_words(n), sizeof mark / sizeof *mark);
        saddle_rng_choose(&rng, n, count, out, mark);
    }
}

/* to = prox of (step h) over X at x - step g; `to` may be x. */
static void slow_descend(slow *s, double step, const double *g, double *x)
{
    for (size_t k = 0; k < s->pool.x_dim; k++)
        x[k] -= step * g[k];
    saddle_prox_apply(s->rig->instance.made->x_prox, step, x, s->pool.scratch);
}

static void slow_ascend(slow *s, double step, const double *g, double *y)
{
    for (size_t k = 0; k < s->pool.y_dim; k++)
        y[k] += step * g[k];
    saddle_set_project(s->rig->instance.made->y_set, y, s->pool.scratch);
}

static void slow_gda(slow *s, uint64_t t)
{
    uint32_t index[MOST_SAMPLES];
    draw(s, SADDLE_RNG_BATCH, t + 1, s->batch,
         s->kind == SGDA && setting_is(s, "sampling", "with-replacement"), index);
    pool_mean(&s->pool, index, s->batch, s->x, s->y, s->v, s->u);
    slow_descend(s, s->eta_x, s->v, s->x);
    slow_ascend(s, s->eta_y, s->u, s->y);
    memset(s->v, 0, s->pool.x_dim * sizeof *s->v);
    memset(s->u, 0, s->pool.y_dim * sizeof *s->u);
    s->ifo += s->batch;
}

/* Adds to (v, u) the change of the mini-batch's mean gradient from (x0, y0) to (s->x, s->y). */
static void slow_recursion(slow *s, saddle_purpose purpose, uint64_t number, const double *x0,
                           const double *y0)
{
    uint32_t index[MOST_SAMPLES];
    draw(s, purpose, number, s->batch, setting_is(s, "sampling", "with-replacement"), index);
    pool_add(&s->pool, index, s->batch, 1.0, s->x, s->y, s->v, s->u);
    pool_add(&s->pool, index, s->batch, -1.0, x0, y0, s->v, s->u);
    s->ifo += 2 * s->batch;
}

/* Projected SARAH on y: full gradient and m recursive steps, until its gradient mapping is small.
 * Returns whether it was, in which case the full gradient is available. */
static bool slow_initial(slow *s)
{
    bool done = false;
    uint32_t index[MOST_SAMPLES];
    double *before = test_doubles(s->pool.y_dim);
    for (size_t epoch = 0; epoch < s->epochs && !done; epoch++) {
        all_of(&s->pool, index);
        pool_mean(&s->pool, index, s->pool.total, s->x, s->y, s->v, s->u);
        s->ifo += s->pool.total;
        memcpy(before, s->y, s->pool.y_dim * sizeof *before);
        slow_ascend(s, s->eta_y, s->u, before);
        double mapping = 0.0;
        for (size_t k = 0; k < s->pool.y_dim; k++)
            mapping += (before[k] - s->y[k]) * (before[k] - s->y[k]);
        done = sqrt(mapping) / s->eta_y <= s->accuracy;
        for (size_t t = 0; t < s->m && !done; t++) {
            memcpy(before, s->y, s->pool.y_dim * sizeof *before);
            slow_ascend(s, s->eta_y, s->u, s->y);
            slow_recursion(s, SADDLE_RNG_PILOT, epoch * s->m + t, s->x, before);
        }
    }
    free(before);
    return done;
}

/* Returns which inner iterate is kept: uniform in 1 .. m. */
static size_t slow_pick(const slow *s, uint64_t k)
{
    if (setting_is(s, "maximizer-output", "last"))
        return s->m;
    saddle_rng rng;
    saddle_rng_init(&rng, s->rig->plan->start.seed, SADDLE_RNG_PICK, 0, k);
    return 1 + (size_t)saddle_rng_below(&rng, s->m);
}

static void slow_sreda(slow *s, uint64_t k)
{
    uint32_t index[MOST_SAMPLES];
    size_t x_dim = s->pool.x_dim;
    size_t y_dim = s->pool.y_dim;
    double *x0 = test_doubles(x_dim);
    double *y0 = test_doubles(y_dim);
    bool exact = k == 0 && slow_initial(s);
    if (k % s->q == 0 && !exact) {
        draw(s, SADDLE_RNG_REFRESH, k, s->refresh, false, index);
        pool_mean(&s->pool, index, s->refresh, s->x, s->y, s->v, s->u);
        s->ifo += s->refresh;
    }
    double size = 0.0;
    for (size_t c = 0; c < x_dim; c++)
        size += s->v[c] * s->v[c];
    double step = s->eta_x;
    if (s->normalized)
        step *= fmin(1.0, 2.0 * s->epsilon / sqrt(size));
    memcpy(x0, s->x, x_dim * sizeof *x0);
    memcpy(y0, s->y, y_dim * sizeof *y0);
    slow_descend(s, step, s->v, s->x);
    size_t pick = slow_pick(s, k);
    slow_recursion(s, SADDLE_RNG_BATCH, k * (s->m + 1), x0, y0);
    for (size_t t = 1; t <= pick; t++) {
        memcpy(y0, s->y, y_dim * sizeof *y0);
        slow_ascend(s, s->eta_y, s->u, s->y);
        slow_recursion(s, SADDLE_RNG_BATCH, k * (s->m + 1) + t, s->x, y0);
    }
    free(y0);
    free(x0);
}

static void follow(int which, int kind, const char *const *more, uint64_t iterations)
{
    test_rig rig;
    test_rig_open(&rig, which, names[kind], more, 1, NULL, NULL);
    const saddle_instance *e = rig.instance.made;
    slow s;
    slow_open(&s, &rig, kind);
    test_state found;
    test_state_make(&found, rig.target.problem);
    for (uint64_t t = 0;; t++) {
        test_state_copy(&rig, &found);
        assert_same("x", t, s.pool.x_dim, found.x, s.x);
        assert_same("y", t, s.pool.y_dim, found.y, s.y);
        assert_same("v", t, s.pool.x_dim, found.v, s.v);
        assert_same("u", t, s.pool.y_dim, found.u, s.u);
        assert_at_most(saddle_set_distance(e->x_set, found.x, s.pool.scratch), 1e-13);
        assert_at_most(saddle_set_distance(e->y_set, found.y, s.pool.scratch), 1e-13);
        saddle_cost cost;
        rig.engine->kind->cost(rig.engine, &cost);
        ck_assert_uint_eq(cost.ifo, s.ifo);
        ck_assert_uint_eq(cost.rounds + cost.messages + cost.bytes, 0);
        if (t == iterations)
            break;
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        if (kind == GDA || kind == SGDA)
            slow_gda(&s, t);
        else
            slow_sreda(&s, t);
    }
    test_state_free(&found);
    slow_close(&s);
    test_rig_close(&rig);
}

#define STEPS (TEST_SLOWDOWN > 1 ? 4 : 8)

TEST_LOOP(gda_and_sgda_follow_their_rules, 0, INSTANCES)
{
    static const char *const variants[][4] = {
        {NULL},
        {"eta-x=0.01", "eta-y=0.02", "batch=7", NULL},
        {"sampling=with-replacement", "batch=5", "eta-x=0.02", NULL},
        {"batch=100000", "eta-x=0.03", "eta-y=0.05", NULL},
    };
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        follow(_i, GDA, variants[v], STEPS);
        follow(_i, SGDA, variants[v], STEPS);
    }
    static const char *const theory[] = {"steps=theory", NULL};
    if (_i != OWN_PROBLEM) {
        follow(_i, GDA, theory, STEPS);
        follow(_i, SGDA, theory, STEPS);
    }
    static const char *const with_h[] = {"regularizer=l1:0.02", "eta-x=0.05", NULL};
    if (_i <= LOGISTIC_SIMPLEX_DENSE) {
        follow(_i, GDA, with_h, STEPS);
        follow(_i, SGDA, with_h, STEPS);
    }
}

TEST_LOOP(sreda_follows_its_rules, 0, INSTANCES)
{
    static const char *const variants[][6] = {
        {NULL},
        {"q=2", "batch=3", "maximizer-steps=4", "initial-epochs=3", NULL},
        {"maximizer-output=last", "epsilon=1e-3", "eta-x=0.02", "q=3", "initial-epochs=2", NULL},
        {"refresh-batch=9", "sampling=with-replacement", "batch=5", "maximizer-steps=3",
         "initial-accuracy=0.5", NULL},
        {"initial-accuracy=1e9", "initial-epochs=2", NULL},
        {"initial-epochs=0", "epsilon=100", "eta-x=0.01", "eta-y=0.02", NULL},
    };
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        follow(_i, SREDA, variants[v], STEPS);
        follow(_i, SREDA_BOOST, variants[v], STEPS);
    }
    /* The papers' rules, with fewer inner steps than they prescribe. */
    static const char *const theory[] = {"steps=theory", "maximizer-steps=5", "initial-epochs=2",
                                         NULL};
    if (_i != OWN_PROBLEM) {
        follow(_i, SREDA, theory, STEPS);
        follow(_i, SREDA_BOOST, theory, STEPS);
    }
}

/* The papers' numbers of inner steps, where kappa keeps them affordable. */
TEST(sreda_takes_its_papers_inner_steps)
{
    static const char *const theory[] = {
        "steps=theory", "mu=1",    "lipschitz=3",      "agents=2", "samples=4",
        "x-dim=2",      "y-dim=2", "initial-epochs=1", NULL};
    follow(QUADRATIC_NONCONVEX, SREDA, theory, 2);
    follow(QUADRATIC_NONCONVEX, SREDA_BOOST, theory, 3);
}

/* ---- counted evaluations are those made -------------------------------------------------------- */

static const saddle_problem *counted;
static uint64_t calls;

static void counting_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                             double *scratch)
{
    (void)problem;
    ck_assert_ptr_nonnull(part->gx);
    calls += (part->x0 != NULL ? 2 : 1) * part->batch.count;
    counted->add_samples(counted, agent, part, scratch);
}

TEST(every_gradient_is_counted)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    for (size_t a = 0; a < count; a++) {
        if (!list[a]->traits.centralized)
            continue;
        saddle_error error = {.message = ""};
        saddle_instance *target;
        test_instance instance;
        test_rig rig;
        saddle_cost cost;
        test_instance_open(&instance, QUADRATIC_NONCONVEX, NULL);
        assert_ok(saddle_instance_pool(&target, instance.made, &error), error);
        counted = target->problem;
        calls = 0;
        saddle_problem problem = *target->problem;
        problem.add_samples = counting_samples;
        test_rig_open(&rig, QUADRATIC_NONCONVEX, list[a]->name, NULL, 1, NULL, &problem);
        for (int t = 0; t < 12; t++) {
            rig.engine->kind->cost(rig.engine, &cost);
            ck_assert_uint_eq(cost.ifo, calls);
            test_rig_advance(&rig, 1);
        }
        ck_assert_uint_gt(calls, 0);
        test_rig_close(&rig);
        saddle_instance_free(target);
        test_instance_close(&instance);
    }
}

/* ---- Minimax-PPA ----------------------------------------------------------------------------- */

/* |z - projection of (z - step g)| / step for x with the prox, for y with the projection. */
static double x_mapping(slow *s, double step, const double *x, const double *g)
{
    double *image = test_doubles(s->pool.x_dim);
    double sum = 0.0;
    memcpy(image, x, s->pool.x_dim * sizeof *image);
    slow_descend(s, step, g, image);
    for (size_t k = 0; k < s->pool.x_dim; k++)
        sum += (image[k] - x[k]) * (image[k] - x[k]);
    free(image);
    return sqrt(sum) / step;
}

static double y_mapping(slow *s, double step, const double *y, const double *g)
{
    double *image = test_doubles(s->pool.y_dim);
    double sum = 0.0;
    memcpy(image, y, s->pool.y_dim * sizeof *image);
    slow_ascend(s, step, g, image);
    for (size_t k = 0; k < s->pool.y_dim; k++)
        sum += (image[k] - y[k]) * (image[k] - y[k]);
    free(image);
    return sqrt(sum) / step;
}

/*
 * An iteration solves min max F(x, y) + h(x) + L |x - x_k|^2 to a fraction of the gradient mapping R_k
 * of F that it started from, in the variables sqrt(L) x and sqrt(L_y) y, if L and L_y are both at least
 * the problem's L. For L = L_y = 1, the remaining x-gradient is 6L |x - anchor| <= r R plus AGD's: the
 * image of a point whose gradient mapping is g has stationarity at most 2 g, here 2 r^3 R. In y it is 2
 * r^2 R for the same reason, plus what x moved after y did: at most L times 2 r^3 R / (6 L), twice, plus
 * L r^2 R / (6 * 27 L).
 */
TEST_LOOP(minimax_ppa_solves_its_subproblems, 0, OWN_PROBLEM)
{
    char wide[48] = "";
    const char *const variants[][4] = {{"steps=theory", "ppa-accuracy=0.1", NULL},
                                       {"steps=theory", "ppa-accuracy=0.03", NULL},
                                       {"steps=theory", "ppa-accuracy=0.1", wide, NULL},
                                       {"steps=theory", "regularizer=l1:0.01", NULL}};
    uint32_t index[MOST_SAMPLES];
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        test_rig rig;
        slow s;
        test_state before;
        test_state after;
        if (v == 3 && _i > LOGISTIC_SIMPLEX_DENSE)
            break;
        test_rig_open(&rig, _i, "minimax-ppa", variants[v], 1, NULL, NULL);
        slow_open(&s, &rig, GDA);
        test_state_make(&before, rig.target.problem);
        test_state_make(&after, rig.target.problem);
        all_of(&s.pool, index);
        double L_y = rig.target.constants.lipschitz;
        double L = v == 2 ? test_number(rig.plan, "ppa-lipschitz") : L_y;
        double r = test_number(rig.plan, "ppa-accuracy");
        saddle_snprintf(wide, sizeof wide, "ppa-lipschitz=%.17g", 4.0 * L_y);
        for (int t = 0; t < 3; t++) {
            test_state_copy(&rig, &before);
            ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
            test_state_copy(&rig, &after);
            pool_mean(&s.pool, index, s.pool.total, before.x, before.y, s.v, s.u);
            double R = hypot(x_mapping(&s, 1.0 / L, before.x, s.v) / sqrt(L),
                             y_mapping(&s, 1.0 / L_y, before.y, s.u) / sqrt(L_y));
            pool_mean(&s.pool, index, s.pool.total, after.x, after.y, s.v, s.u);
            for (size_t k = 0; k < s.pool.x_dim; k++)
                s.v[k] += 2.0 * L * (after.x[k] - before.x[k]);
            /* Rounding errors in the iterates are multiplied by the curvature. */
            double rounding = 1e-13 * L * (1.0 + test_largest(s.pool.x_dim, after.x));
            assert_at_most(x_mapping(&s, 1.0 / (3.0 * L), after.x, s.v) / sqrt(L),
                           (r + 2.0 * r * r * r) * R + rounding);
            assert_at_most(y_mapping(&s, 1.0 / L_y, after.y, s.u) / sqrt(L_y),
                           (2.0 + 1.0 / 162.0 + 2.0 / 3.0 * r) * r * r * R + rounding);
            assert_at_most(saddle_set_distance(rig.instance.made->x_set, after.x, s.pool.scratch),
                           1e-13);
            assert_at_most(saddle_set_distance(rig.instance.made->y_set, after.y, s.pool.scratch),
                           1e-13);
        }
        test_state_free(&after);
        test_state_free(&before);
        slow_close(&s);
        test_rig_close(&rig);
    }
}

/* The number of steps of each of the three loops, which end only by it. */
typedef struct loops {
    size_t appa, ag2, agd;
} loops;

/* z+ = image + weight (image - before), before = image */
static void overshoot(size_t count, double weight, const double *image, double *before, double *z)
{
    for (size_t k = 0; k < count; k++) {
        z[k] = image[k] + weight * (image[k] - before[k]);
        before[k] = image[k];
    }
}

/* Returns whether a step is lost in rounding, as at a bound of a set; it ends a loop. */
static bool still(size_t count, const double *from, const double *to)
{
    double moved = 0.0;
    double size = 0.0;
    for (size_t k = 0; k < count; k++) {
        moved += (to[k] - from[k]) * (to[k] - from[k]);
        size += to[k] * to[k];
    }
    return sqrt(moved) <= 1e-15 * (1.0 + sqrt(size));
}

/* AGD in s->x for F(., y) + L |. - center|^2 + 3L |. - anchor|^2: smooth 9L, convex 6L. */
static void slow_agd(slow *s, size_t steps, double L, const double *center, const double *anchor,
                     const double *y)
{
    uint32_t index[MOST_SAMPLES];
    double *ahead = test_doubles(s->pool.x_dim);
    double *image = test_doubles(s->pool.x_dim);
    memcpy(ahead, s->x, s->pool.x_dim * sizeof *ahead);
    all_of(&s->pool, index);
    for (size_t t = 0; t < steps; t++) {
        pool_mean(&s->pool, index, s->pool.total, ahead, y, s->v, s->u);
        for (size_t k = 0; k < s->pool.x_dim; k++)
            s->v[k] += 2.0 * L * (ahead[k] - center[k]) + 6.0 * L * (ahead[k] - anchor[k]);
        memcpy(image, ahead, s->pool.x_dim * sizeof *image);
        slow_descend(s, 1.0 / (9.0 * L), s->v, image);
        bool end = still(s->pool.x_dim, ahead, image);
        overshoot(s->pool.x_dim, (sqrt(1.5) - 1.0) / (sqrt(1.5) + 1.0), image, s->x, ahead);
        if (end)
            break;
    }
    free(image);
    free(ahead);
}

/* AG2 in (s->x, s->y): the dual function is 2 (3/2) 9L_y-smooth. */
static void slow_ag2(slow *s, const loops *n, double L, double L_y, double mu, const double *center,
                     const double *anchor)
{
    uint32_t index[MOST_SAMPLES];
    double *ahead = test_doubles(s->pool.y_dim);
    double *before = test_doubles(s->pool.y_dim);
    double root = fmax(1.0, 4.0 * sqrt(1.5 * 9.0 * L_y / mu));
    memcpy(ahead, s->y, s->pool.y_dim * sizeof *ahead);
    memcpy(before, s->y, s->pool.y_dim * sizeof *before);
    all_of(&s->pool, index);
    for (size_t t = 0; t < n->ag2; t++) {
        slow_agd(s, n->agd, L, center, anchor, ahead);
        pool_mean(&s->pool, index, s->pool.total, s->x, ahead, s->v, s->u);
        memcpy(s->y, ahead, s->pool.y_dim * sizeof *ahead);
        slow_ascend(s, 1.0 / (27.0 * L_y), s->u, s->y);
        if (still(s->pool.y_dim, ahead, s->y))
            break;
        overshoot(s->pool.y_dim, (root - 1.0) / (root + 1.0), s->y, before, ahead);
    }
    slow_agd(s, n->agd, L, center, anchor, s->y);
    free(before);
    free(ahead);
}

static void slow_ppa(slow *s, const loops *n)
{
    bool theory = setting_is(s, "steps", "theory");
    const saddle_steps *steps = &s->rig->steps;
    double L = theory ? s->rig->target.constants.lipschitz : 2.0 * steps->tau;
    double L_y = theory ? s->rig->target.constants.lipschitz : 0.2 / steps->alpha;
    double mu = s->rig->target.constants.strong_concavity;
    double root = 2.0 * sqrt(3.0);
    size_t bytes = s->pool.x_dim * sizeof(double);
    double *center = test_doubles(s->pool.x_dim);
    double *anchor = test_doubles(s->pool.x_dim);
    double *before = test_doubles(s->pool.x_dim);
    memcpy(center, s->x, bytes);
    memcpy(anchor, s->x, bytes);
    memcpy(before, s->x, bytes);
    for (size_t t = 0; t < n->appa; t++) {
        slow_ag2(s, n, L, L_y, mu, center, anchor);
        if (still(s->pool.x_dim, anchor, s->x))
            break;
        overshoot(s->pool.x_dim, (root - 1.0) / (root + 1.0), s->x, before, anchor);
    }
    free(before);
    free(anchor);
    free(center);
}

static void follow_ppa(int which, const char *const *more, const loops *caps)
{
    test_rig rig;
    slow s;
    test_state found;
    test_rig_open(&rig, which, "minimax-ppa", more, 1, NULL, NULL);
    slow_open(&s, &rig, GDA);
    test_state_make(&found, rig.target.problem);
    for (uint64_t t = 1; t <= 4; t++) {
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        slow_ppa(&s, caps);
        test_state_copy(&rig, &found);
        assert_same("x", t, s.pool.x_dim, found.x, s.x);
        assert_same("y", t, s.pool.y_dim, found.y, s.y);
    }
    test_state_free(&found);
    slow_close(&s);
    test_rig_close(&rig);
}

/* With an accuracy that is never reached, the loops run to their caps. */
TEST_LOOP(minimax_ppa_follows_its_rules, 0, OWN_PROBLEM)
{
    static const char *const practical[] = {"appa-steps=3", "ag2-steps=4", "agd-steps=3",
                                            "ppa-accuracy=1e-300", NULL};
    static const char *const theory[] = {"appa-steps=3",        "ag2-steps=4",  "agd-steps=3",
                                         "ppa-accuracy=1e-300", "steps=theory", NULL};
    static const loops caps = {.appa = 3, .ag2 = 4, .agd = 3};
    follow_ppa(_i, practical, &caps);
    follow_ppa(_i, theory, &caps);
}

/* With one step allowed everywhere, an iteration is: measure, descend, ascend, descend. */
TEST(minimax_ppa_keeps_its_caps)
{
    static const char *const more[] = {"appa-steps=1", "ag2-steps=1", "agd-steps=1",
                                       "ppa-accuracy=1e-3", NULL};
    static const char *const wider[] = {"appa-steps=2", "ag2-steps=3", "agd-steps=5",
                                        "ppa-accuracy=1e-3", NULL};
    test_rig rig;
    saddle_cost cost;
    test_rig_open(&rig, QUADRATIC_NONCONVEX, "minimax-ppa", more, 1, NULL, NULL);
    test_rig_advance(&rig, 3);
    rig.engine->kind->cost(rig.engine, &cost);
    ck_assert_uint_eq(cost.ifo, UINT64_C(3) * 40 * (1 + 1 + 1 + 1));
    test_rig_close(&rig);
    test_rig_open(&rig, QUADRATIC_NONCONVEX, "minimax-ppa", wider, 1, NULL, NULL);
    test_rig_advance(&rig, 2);
    rig.engine->kind->cost(rig.engine, &cost);
    ck_assert_uint_eq(cost.ifo, UINT64_C(2) * 40 * (1 + 2 * (3 * (5 + 1) + 5)));
    test_rig_close(&rig);
}

/* ---- convergence ----------------------------------------------------------------------------- */

static const char *const curvatures[] = {"curvature=convex", "curvature=nonconvex"};

/* Runs on the 5-agent quadratic with unequal local sizes; the caller frees the result. */
static saddle_result *settle(const char *algorithm, const char *const *more, double *off)
{
    static const char *const base[] = {
        "problem=quadratic", "agents=5",    "topology=ring", "samples=40,30,50,40,20", "x-dim=6",
        "y-dim=4",           "lipschitz=6", "mu=1",          "init=normal:1",          NULL};
    saddle_error error = {.message = ""};
    saddle_plan *first = test_plan(NULL, base);
    saddle_plan *plan = test_plan(first, more);
    assert_ok(saddle_plan_set(plan, "algorithm", algorithm, &error), error);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    ck_assert_int_eq(result->stop, SADDLE_STOP_ITERATIONS);
    const saddle_problem *problem = instance->problem;
    double *x = test_doubles(problem->x_dim);
    double *y = test_doubles(problem->y_dim);
    ck_assert(problem->solution(problem, x, y));
    ck_assert_uint_eq(result->agents, 1);
    *off = fmax(test_farthest(problem->x_dim, x, result->x),
                test_farthest(problem->y_dim, y, result->y));
    if (getenv("SADDLE_TEST_VERBOSE") != NULL)
        for (size_t k = 0; k < result->row_count; k++)
            saddle_fprintf(stdout, "%s %s: %llu %.3g\n", algorithm, more[0],
                           (unsigned long long)result->rows[k].iteration, result->rows[k].metric);
    free(y);
    free(x);
    saddle_instance_free(instance);
    test_plan_free(plan);
    test_plan_free(first);
    return result;
}

static double last_metric(const saddle_result *result)
{
    return result->rows[result->row_count - 1].metric;
}

/* Asserts that every trace point has at most `factor` times the metric of the one before, down to rounding. */
static void assert_linear(const saddle_result *result, double factor)
{
    for (size_t k = 1; k < result->row_count; k++)
        if (result->rows[k].metric > 1e-24)
            assert_at_most(result->rows[k].metric, factor * result->rows[k - 1].metric);
    assert_at_most(last_metric(result), 1e-24);
}

TEST_LOOP(full_gradients_converge_linearly, 0, 2)
{
    double off;
    const char *gda[] = {curvatures[_i], "iterations=12000", "trace-every=500",
                         "eta-x=0.01",   "eta-y=0.1",        NULL};
    saddle_result *result = settle("gda", gda, &off);
    assert_linear(result, 0.1);
    assert_at_most(off, 1e-11);
    saddle_result_free(result);
    const char *ppa[] = {curvatures[_i], "iterations=1400",  "trace-every=50",
                         "steps=theory", "ppa-accuracy=0.1", NULL};
    result = settle("minimax-ppa", ppa, &off);
    assert_linear(result, 0.5);
    assert_at_most(off, 1e-11);
    saddle_result_free(result);
}

/* Returns the mean metric over the second half of a run of sgda. */
static double noise_floor(const char *const *more)
{
    double off;
    double sum = 0.0;
    saddle_result *result = settle("sgda", more, &off);
    size_t first = result->row_count / 2;
    for (size_t k = first; k < result->row_count; k++)
        sum += result->rows[k].metric;
    sum /= (double)(result->row_count - first);
    ck_assert_msg(off < 1.0, "off %g", off);
    saddle_result_free(result);
    return sum;
}

/* Mini-batches stall at a floor that shrinks with the steps; variance reduction has no floor. */
TEST_LOOP(recursive_gradients_reach_the_saddle_and_plain_ones_do_not, 0, 2)
{
    double off;
    const char *coarse[] = {curvatures[_i], "iterations=20000", "eta-x=0.01", "eta-y=0.1", NULL};
    const char *fine[] = {curvatures[_i], "iterations=40000", "eta-x=0.001", "eta-y=0.01", NULL};
    double floor_coarse = noise_floor(coarse);
    ck_assert_msg(floor_coarse > 1e-6, "metric %g", floor_coarse);
    assert_at_most(noise_floor(fine), 0.5 * floor_coarse);
    const char *recursive[] = {curvatures[_i], "iterations=12000", "epsilon=1", NULL};
    for (int kind = SREDA; kind <= SREDA_BOOST; kind++) {
        saddle_result *result = settle(names[kind], recursive, &off);
        assert_at_most(last_metric(result), 1e-24);
        assert_at_most(off, 1e-11);
        saddle_result_free(result);
    }
}

/* ---- equivalent algorithms --------------------------------------------------------------------- */

static saddle_result *run_as(int which, const char *const *more)
{
    saddle_error error = {.message = ""};
    test_instance instance;
    saddle_result *result = NULL;
    test_instance_open(&instance, which, more);
    assert_ok(saddle_run(instance.made, NULL, NULL, &result, &error), error);
    test_instance_close(&instance);
    return result;
}

static void assert_same_runs(int which, const char *const *first, const char *const *second)
{
    saddle_result *a = run_as(which, first);
    saddle_result *b = run_as(which, second);
    assert_same("x", 30, a->x_dim, a->x_mean, b->x_mean);
    assert_same("y", 30, a->y_dim, a->y_mean, b->y_mean);
    saddle_result_free(a);
    saddle_result_free(b);
}

/* On one agent with all samples and full steps, prox-dsgda is gda with eta_x = 1 / tau and eta_y =
 * alpha; sgda with all samples is gda anywhere. */
TEST(equivalent_algorithms_coincide)
{
    static const char *const gda[] = {"algorithm=gda", "agents=1",   "topology=complete", "tau=8",
                                      "eta-x=0.125",   "eta-y=0.25", "iterations=30",     NULL};
    static const char *const damped[] = {
        "algorithm=prox-dsgda", "agents=1",     "topology=complete", "tau=8", "nu=1", "eta=1",
        "alpha=0.25",           "batch=100000", "iterations=30",     NULL};
    assert_same_runs(QUADRATIC_NONCONVEX, gda, damped);
    assert_same_runs(LOGISTIC_BOX_SPARSE, gda, damped);
    static const char *const full[] = {"algorithm=gda", "eta-x=0.02", "eta-y=0.05", "iterations=30",
                                       NULL};
    static const char *const batches[] = {"algorithm=sgda", "eta-x=0.02",    "eta-y=0.05",
                                          "batch=100000",   "iterations=30", NULL};
    for (int which = 0; which < OWN_PROBLEM; which++)
        assert_same_runs(which, full, batches);
}

/* ---- errors ------------------------------------------------------------------------------------ */

static void refuse(const char *assignment, const char *algorithm, const char *part)
{
    const char *more[] = {assignment, NULL};
    saddle_error error = {.message = ""};
    test_instance instance;
    saddle_result *result = NULL;
    test_instance_open(&instance, QUADRATIC_NONCONVEX, more);
    assert_ok(saddle_plan_set(instance.plan, "algorithm", algorithm, &error), error);
    assert_refused(saddle_run(instance.made, instance.plan, NULL, &result, &error), error,
                   SADDLE_UNSUPPORTED, part);
    ck_assert_ptr_nonnull(strstr(error.message, algorithm));
    ck_assert_ptr_null(result);
    test_instance_close(&instance);
}

TEST(what_sreda_cannot_do_is_refused)
{
    for (int kind = SREDA; kind <= SREDA_BOOST; kind++) {
        refuse("x-set=box:0:1", names[kind], "box:0:1; set --x-set to none or choose");
        refuse("regularizer=l1:0.5", names[kind], "l1:0.5; give none or choose");
    }
}

/* The header of a trace has the values that auto was resolved to. */
TEST(auto_is_resolved)
{
    static const char *const sreda[] = {"algorithm=sreda", "iterations=1", NULL};
    saddle_result *result = run_as(QUADRATIC_NONCONVEX, sreda);
    /* 40 samples: |S| = 7, q = ceil(7 / 11) = 1; L = 8, mu = 0.5. */
    ck_assert_uint_eq(result->plan.steps.batch, 7);
    ck_assert_uint_eq(result->plan.steps.q, 1);
    ck_assert_uint_eq((uint64_t)test_number(&result->plan, "maximizer-steps"), 10);
    ck_assert_uint_eq((uint64_t)test_number(&result->plan, "refresh-batch"), 40);
    assert_near(test_number(&result->plan, "initial-accuracy"), 0.1 / 16.0, 1e-15);
    saddle_result_free(result);
    static const char *const sgda[] = {"algorithm=sgda", "iterations=1", NULL};
    result = run_as(QUADRATIC_NONCONVEX, sgda);
    ck_assert_uint_eq(result->plan.steps.batch, 7);
    saddle_result_free(result);
    static const char *const ppa[] = {"algorithm=minimax-ppa", "iterations=1", NULL};
    result = run_as(QUADRATIC_NONCONVEX, ppa);
    assert_near(test_number(&result->plan, "ppa-lipschitz"), 128.0, 0.0);
    assert_near(test_number(&result->plan, "ppa-lipschitz-y"), 1.6, 1e-15);
    assert_near(test_number(&result->plan, "ppa-mu"), 0.5, 0.0);
    saddle_result_free(result);
}
