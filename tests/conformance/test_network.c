/*
 * The decentralized methods that PRECISION is compared with: GT-GDA, DPOSG, DPPSP and C-SP-SG.
 *
 * Each is implemented here a second time, with dense matrices and plain loops, and compared iterate by
 * iterate; costs, feasibility and tracking are asserted at every iteration. Each is then run towards the
 * known saddle point of the quadratic as far as its theory says it converges.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/layout.h"
#include "algorithms/longest_step.h"
#include "dense_agents.h"
#include "support.h"

enum { GT_GDA, DPOSG, DPPSP, CSPSG, METHODS };
static const char *const names[METHODS] = {"gt-gda", "dposg", "dppsp", "cspsg"};

/* ---- slow versions --------------------------------------------------------------------------- */

/* Vectors of all agents. */
typedef struct slow {
    dense_agents a;
    int method;
    double *mixing;   /* what z is mixed with: M, or M^r for DPOSG; m x m */
    double *z;        /* the iterate that is mixed */
    double *report;   /* what view() should give */
    double *gradient; /* GT-GDA: (v, -u); DPOSG: g(S; z) */
    double *tracker;  /* GT-GDA: (p, -d) */
    double *sum;      /* C-SP-SG: of all iterates */
    double *before;   /* DPPSP: z of the iteration before */
    double *element;  /* DPPSP: eta times the element of A_i at z */
    double *s;        /* DPPSP: inner step per agent */
} slow;

static void operate_fully(slow *s, size_t i, const double *z, double *out)
{
    dense_operate(&s->a, i, NULL, s->a.problem->samples[i], z, out);
}

/* |S_i| */
static size_t batch_size(const slow *s, size_t i)
{
    size_t n = s->a.problem->samples[i];
    size_t batch = (size_t)s->a.rig->steps.batch;
    if (batch == 0)
        while (batch * batch < n)
            batch++;
    return batch < n ? batch : n;
}

static void operate_on_batch(slow *s, size_t i, uint64_t iteration, const double *z, double *out)
{
    uint32_t index[DENSE_MOST_SAMPLES];
    bool replacement = s->a.plan->steps.sampling == SADDLE_WITH_REPLACEMENT;
    size_t count =
        dense_draw(&s->a, SADDLE_RNG_BATCH, i, iteration, batch_size(s, i), replacement, index);
    dense_operate(&s->a, i, index, count, z, out);
}

static void slow_open(slow *s, test_rig *rig, int method)
{
    *s = (slow){.method = method};
    dense_open(&s->a, rig);
    double *once = dense_mixing(rig->target.mixing);
    s->mixing = dense_power(
        s->a.m, once, method == DPOSG ? (uint64_t)test_number(s->a.plan, "mixing-rounds") : 1);
    free(once);
    s->z = dense_start(&s->a);
    s->report = dense_rows(&s->a, s->z);
    s->gradient = dense_rows(&s->a, NULL);
    s->tracker = dense_rows(&s->a, NULL);
    s->sum = dense_rows(&s->a, s->z);
    s->before = dense_rows(&s->a, NULL);
    s->element = dense_rows(&s->a, NULL);
    s->s = test_doubles(s->a.m);
    for (size_t i = 0; i < s->a.m; i++) {
        s->s[i] = 0.5;
        if (method == DPOSG)
            operate_on_batch(s, i, 0, s->z + i * s->a.both, s->gradient + i * s->a.both);
    }
}

static void slow_close(slow *s)
{
    double *const vector[] = {s->mixing, s->z,      s->report,  s->gradient, s->tracker,
                              s->sum,    s->before, s->element, s->s};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(vector[k]);
    dense_close(&s->a);
}

/* One round of GT-GDA on entries [low, high) of every agent's z: those of y, or those of x. */
static void slow_tracked_round(slow *s, size_t low, size_t high)
{
    double *z = dense_mixed(&s->a, s->mixing, s->z);
    double *tracker = dense_mixed(&s->a, s->mixing, s->tracker);
    double *g = test_doubles(s->a.both);
    for (size_t i = 0; i < s->a.m; i++) {
        double *own = s->z + i * s->a.both;
        operate_fully(s, i, own, g);
        for (size_t k = low; k < high; k++) {
            size_t at = i * s->a.both + k;
            s->tracker[at] = tracker[at] + g[k] - s->gradient[at];
            s->gradient[at] = g[k];
            own[k] = z[at] - dense_step(&s->a, k) * s->tracker[at];
        }
        if (low == 0)
            saddle_prox_apply(s->a.rig->instance.made->x_prox, s->a.step[0], own, s->a.scratch);
        else
            saddle_set_project(s->a.rig->instance.made->y_set, own + low, s->a.scratch);
    }
    free(z);
    free(tracker);
    free(g);
}

static void slow_gt_gda(slow *s)
{
    uint64_t ascents = (uint64_t)test_number(s->a.plan, "ascents");
    for (uint64_t k = 0; k < ascents; k++)
        slow_tracked_round(s, s->a.x_dim, s->a.both);
    slow_tracked_round(s, 0, s->a.x_dim);
    memcpy(s->report, s->z, s->a.m * s->a.both * sizeof *s->z);
}

static void slow_dposg(slow *s, uint64_t t)
{
    double *z = dense_mixed(&s->a, s->mixing, s->z);
    for (size_t i = 0; i < s->a.m; i++) {
        size_t base = i * s->a.both;
        for (size_t k = 0; k < s->a.both; k++)
            s->report[base + k] = z[base + k] - dense_step(&s->a, k) * s->gradient[base + k];
        dense_project(&s->a, 1.0, s->report + base);
        operate_on_batch(s, i, t + 1, s->report + base, s->gradient + base);
        for (size_t k = 0; k < s->a.both; k++)
            s->z[base + k] = z[base + k] - dense_step(&s->a, k) * s->gradient[base + k];
        dense_project(&s->a, 1.0, s->z + base);
    }
    free(z);
}

static void slow_cspsg(slow *s, uint64_t t)
{
    double *z = dense_mixed(&s->a, s->mixing, s->z);
    double *g = test_doubles(s->a.both);
    double count = (double)(t + 1);
    if (strcmp(test_text(s->a.plan, "decay"), "doubling") == 0) {
        double whole = 1.0;
        while (2.0 * whole <= count)
            whole *= 2.0;
        count = whole;
    }
    for (size_t i = 0; i < s->a.m; i++) {
        size_t base = i * s->a.both;
        operate_on_batch(s, i, t + 1, s->z + base, g);
        for (size_t k = 0; k < s->a.both; k++)
            s->z[base + k] = z[base + k] - dense_step(&s->a, k) / sqrt(count) * g[k];
        dense_project(&s->a, 1.0 / sqrt(count), s->z + base);
        for (size_t k = 0; k < s->a.both; k++) {
            s->sum[base + k] += s->z[base + k];
            s->report[base + k] = s->sum[base + k] / (double)(t + 2);
        }
    }
    free(z);
    free(g);
}

/* (|x|^2 / eta_x + |y|^2 / eta_y)^{1/2} of a - b; b = NULL: of a. */
static double scaled_distance(const slow *s, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->a.both; k++) {
        double difference = a[k] - (b != NULL ? b[k] : 0.0);
        sum += difference * difference / dense_step(&s->a, k);
    }
    return sqrt(sum);
}

/* Computes out = z - w + eta A(z), without normals. */
static void shifted(slow *s, size_t i, const double *z, const double *w, double *out)
{
    operate_fully(s, i, z, out);
    for (size_t k = 0; k < s->a.both; k++)
        out[k] = z[k] - w[k] + dense_step(&s->a, k) * out[k];
}

/* The inner loop of DPPSP: z becomes agent i's resolvent at w, as accurately as the options say. */
static void slow_resolvent(slow *s, size_t i, const double *w, double *z)
{
    double tolerance = test_number(s->a.plan, "resolvent-tolerance");
    uint64_t most = (uint64_t)test_number(s->a.plan, "resolvent-steps");
    double *from = test_doubles(4 * s->a.both);
    double *trial = from + s->a.both;
    double *g = trial + s->a.both;
    double *h = g + s->a.both;
    double *e = test_doubles(s->a.both);
    memcpy(from, z, s->a.both * sizeof *from);
    double floor = 32.0 * 0x1p-52 * (scaled_distance(s, from, NULL) + scaled_distance(s, w, NULL));
    shifted(s, i, z, w, g);
    for (uint64_t k = 1; k <= most; k++) {
        for (size_t c = 0; c < s->a.both; c++)
            trial[c] = z[c] - s->s[i] * g[c];
        dense_project(&s->a, s->s[i], trial);
        shifted(s, i, trial, w, h);
        for (size_t c = 0; c < s->a.both; c++)
            e[c] = (z[c] - trial[c]) / s->s[i] - g[c] + h[c];
        bool good =
            scaled_distance(s, e, NULL) <= tolerance * scaled_distance(s, trial, from) + floor;
        if (good)
            break;
        double bend = s->s[i] * scaled_distance(s, g, h);
        double room = 0.9 * scaled_distance(s, z, trial);
        if (bend > room) {
            s->s[i] /= 2.0;
            /* No better point than z was found in time. */
            if (k == most)
                memcpy(trial, z, s->a.both * sizeof *z);
            continue;
        }
        if (k == most)
            break;
        for (size_t c = 0; c < s->a.both; c++)
            z[c] -= s->s[i] * h[c];
        dense_project(&s->a, s->s[i], z);
        shifted(s, i, z, w, g);
        if (2.0 * bend <= room)
            s->s[i] *= 2.0;
    }
    memcpy(z, trial, s->a.both * sizeof *z);
    free(from);
    free(e);
}

/*
 * P-EXTRA by elements: z+ + q+ = z + M z - (I + M)/2 z_before + q, where q is eta times the element
 * of A_i at z; the first step is z+ + q+ = M z.
 */
static void slow_dppsp(slow *s, uint64_t t)
{
    double *z = dense_mixed(&s->a, s->mixing, s->z);
    double *past = dense_mixed(&s->a, s->mixing, s->before);
    for (size_t i = 0; i < s->a.m; i++) {
        double *w = test_doubles(s->a.both);
        for (size_t k = 0; k < s->a.both; k++) {
            size_t at = i * s->a.both + k;
            w[k] = t == 0 ? z[at]
                          : s->z[at] + z[at] - 0.5 * (s->before[at] + past[at]) + s->element[at];
            s->before[at] = s->z[at];
        }
        slow_resolvent(s, i, w, s->z + i * s->a.both);
        for (size_t k = 0; k < s->a.both; k++)
            s->element[i * s->a.both + k] = w[k] - s->z[i * s->a.both + k];
        free(w);
    }
    memcpy(s->report, s->z, s->a.m * s->a.both * sizeof *s->z);
    free(z);
    free(past);
}

static void slow_step(slow *s, uint64_t t)
{
    if (s->method == GT_GDA)
        slow_gt_gda(s);
    else if (s->method == DPOSG)
        slow_dposg(s, t);
    else if (s->method == CSPSG)
        slow_cspsg(s, t);
    else
        slow_dppsp(s, t);
}

/* ---- comparing iterates ----------------------------------------------------------------------- */

/* Asserts that the mean over agents of a - b is only rounding. */
static void assert_equal_means(size_t m, size_t dim, const double *a, const double *b)
{
    double scale = 1.0 + test_largest(m * dim, a) + test_largest(m * dim, b);
    for (size_t k = 0; k < dim; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < m; i++)
            sum += a[i * dim + k] - b[i * dim + k];
        assert_at_most(fabs(sum), 1e-12 * (double)m * scale);
    }
}

/* Returns the IFO calls of agent i after t iterations; DPPSP's depend on its inner loop. */
static uint64_t ifo_of(const slow *s, size_t i, uint64_t t)
{
    uint64_t n = s->a.problem->samples[i];
    if (s->method == GT_GDA)
        return t * n * ((uint64_t)test_number(s->a.plan, "ascents") + 1);
    if (s->method == DPOSG)
        return (t + 1) * batch_size(s, i);
    if (s->method == CSPSG)
        return t * batch_size(s, i);
    if ((uint64_t)test_number(s->a.plan, "resolvent-steps") == 1)
        return t * 2 * n;
    ck_assert_uint_eq(s->a.ifo[i] % n, 0);
    return s->a.ifo[i];
}

static void assert_costs(const slow *s, const test_state *found, uint64_t t)
{
    for (size_t i = 0; i < s->a.m; i++)
        ck_assert_uint_eq(found->ifo[i], ifo_of(s, i, t));
    uint64_t rounds = 1;
    uint64_t doubles = s->a.both; /* of all messages of an iteration over one link */
    if (s->method == DPOSG) {
        rounds = (uint64_t)test_number(s->a.plan, "mixing-rounds");
        doubles *= rounds;
    } else if (s->method == GT_GDA) {
        uint64_t ascents = (uint64_t)test_number(s->a.plan, "ascents");
        rounds = ascents + 1;
        doubles = 2 * (ascents * s->a.y_dim + s->a.x_dim);
    }
    assert_dense_costs(&s->a, found, t * rounds, t * doubles);
}

static void follow(int which, int method, const char *const *more, uint64_t iterations)
{
    test_rig r;
    slow s;
    test_state found;
    test_rig_open(&r, which, names[method], more, 2, NULL, NULL);
    slow_open(&s, &r, method);
    test_state_make(&found, s.a.problem);
    ck_assert(r.algorithm->traits.feasible);
    for (uint64_t t = 0; t <= iterations; t++) {
        test_state_copy(&r, &found);
        assert_dense_same(&s.a, 2e-12, "iterate", t, found.x, found.y, s.report, 1.0);
        assert_dense_feasible(&s.a, &found);
        assert_costs(&s, &found, t);
        if (method == GT_GDA) {
            assert_dense_same(&s.a, 2e-12, "tracker", t, found.p, found.d, s.tracker, -1.0);
            assert_dense_same(&s.a, 2e-12, "gradient", t, found.v, found.u, s.gradient, -1.0);
            assert_equal_means(s.a.m, s.a.x_dim, found.p, found.v);
            assert_equal_means(s.a.m, s.a.y_dim, found.d, found.u);
        }
        ck_assert_int_eq(test_rig_advance(&r, 1).kind, SADDLE_FAULT_NONE);
        slow_step(&s, t);
    }
    test_state_free(&found);
    slow_close(&s);
    test_rig_close(&r);
}

TEST_LOOP(methods_follow_their_rules, 0, INSTANCES *METHODS)
{
    follow(_i / METHODS, _i % METHODS, NULL, 24);
}

TEST(options_do_what_they_say)
{
    static const struct {
        int method;
        const char *assignment[5];
    } variant[] = {
        {GT_GDA, {"ascents=1", NULL}},
        {GT_GDA, {"ascents=2", "eta-x=0.003", "eta-y=0.02", NULL}},
        {DPOSG, {"mixing-rounds=1", "sampling=with-replacement", NULL}},
        {DPOSG, {"mixing-rounds=4", "batch=2", "eta-x=0.003", "eta-y=0.02", NULL}},
        {DPPSP, {"resolvent-steps=1", NULL}},
        {DPPSP, {"resolvent-steps=7", "resolvent-tolerance=0", NULL}},
        {DPPSP, {"resolvent-tolerance=1e-6", "eta-x=0.3", "eta-y=0.2", NULL}},
        {CSPSG, {"decay=sqrt", "sampling=with-replacement", NULL}},
        {CSPSG, {"decay=doubling", "batch=1000", "eta-x=0.003", "eta-y=0.02", NULL}},
    };
    static const int where[] = {QUADRATIC_CONVEX_ODD, QUADRATIC_BALL, LOGISTIC_BOX_DENSE_UNEQUAL};
    for (size_t v = 0; v < sizeof variant / sizeof *variant; v++)
        for (size_t k = 0; k < sizeof where / sizeof *where; k++)
            follow(where[k], variant[v].method, variant[v].assignment, 20);
}

TEST(methods_follow_their_rules_with_a_regularizer)
{
    static const char *const more[] = {"regularizer=l1:0.02", NULL};
    for (int method = 0; method < METHODS; method++) {
        follow(LOGISTIC_BOX_SPARSE, method, more, 12);
        follow(QUADRATIC_CONVEX_ODD, method, more, 24);
    }
}

/* ---- convergence ----------------------------------------------------------------------------- */

/* Returns the largest distance of an entry of any agent's iterate from the saddle point. */
static double saddle_error_of(test_rig *r)
{
    const saddle_problem *problem = r->target.problem;
    double *x = test_doubles(problem->x_dim);
    double *y = test_doubles(problem->y_dim);
    ck_assert(problem->solution(problem, x, y));
    test_state found;
    test_state_make(&found, problem);
    test_state_copy(r, &found);
    double most = 0.0;
    for (size_t i = 0; i < problem->agents; i++) {
        double x_off = test_farthest(problem->x_dim, found.x + i * problem->x_dim, x);
        double y_off = test_farthest(problem->y_dim, found.y + i * problem->y_dim, y);
        most = test_larger(most, x_off);
        most = test_larger(most, y_off);
    }
    test_state_free(&found);
    free(x);
    free(y);
    return most;
}

/* Returns the error after some iterations. */
static double error_after(const char *name, const char *const *more, uint64_t iterations)
{
    test_rig r;
    dense_open_on_ring(&r, name, NULL, more);
    ck_assert_int_eq(test_rig_advance(&r, iterations).kind, SADDLE_FAULT_NONE);
    double result = saddle_error_of(&r);
    test_rig_close(&r);
    return result;
}

/* Asserts that every `block` iterations reduce the error at least 10 times, down to 1e-12. */
static void assert_linear(const char *name, const char *const *more, uint64_t block)
{
    test_rig r;
    dense_open_on_ring(&r, name, NULL, more);
    double error = saddle_error_of(&r);
    ck_assert_double_gt(error, 0.1);
    while (error > 1e-11) {
        ck_assert_int_eq(test_rig_advance(&r, block).kind, SADDLE_FAULT_NONE);
        double next = saddle_error_of(&r);
        assert_at_most(next, error / 10.0);
        error = next;
    }
    /* And it stays there. */
    test_rig_advance(&r, 10 * block);
    assert_at_most(saddle_error_of(&r), 1e-11);
    test_rig_close(&r);
}

TEST(full_gradients_converge_linearly_to_the_saddle)
{
    static const char *const exact[] = {"resolvent-tolerance=1e-6", "resolvent-steps=1000", NULL};
    static const char *const alternating[] = {"ascents=1", NULL};
    assert_linear("gt-gda", NULL, 400);
    assert_linear("gt-gda", alternating, 400);
    assert_linear("dppsp", NULL, 60);
    assert_linear("dppsp", exact, 60);
}

TEST(dposg_is_linear_without_noise_and_has_a_floor_with_it)
{
    static const char *const alike[] = {"batch=1000", "heterogeneity=0", NULL};
    static const char *const noisy[] = {"eta-x=0.02", "eta-y=0.02", NULL};
    static const char *const shorter[] = {"eta-x=0.002", "eta-y=0.002", NULL};
    assert_linear("dposg", alike, 400);
    double floor = error_after("dposg", noisy, 4000);
    ck_assert_double_gt(floor, 1e-3);
    double lower = error_after("dposg", shorter, 20000);
    ck_assert_double_gt(lower, 1e-5);
    assert_at_most(lower, floor / 2.0);
}

TEST(more_mixing_rounds_bring_agents_together)
{
    static const char *const once[] = {"batch=1000", "mixing-rounds=1", NULL};
    static const char *const often[] = {"batch=1000", "mixing-rounds=16", NULL};
    /* Without noise, only the agents' disagreement is left, at most eta / (1 - lambda^r). */
    double apart = error_after("dposg", once, 3000);
    assert_at_most(error_after("dposg", often, 3000), apart / 2.0);
}

TEST(cspsg_averages_approach_the_saddle_at_their_rate)
{
    static const char *const rules[][3] = {{"decay=doubling", "eta-y=0.125", NULL},
                                           {"decay=sqrt", "eta-y=0.125", NULL}};
    for (size_t k = 0; k < 2; k++) {
        double error = error_after("cspsg", rules[k], 64);
        for (uint64_t t = 256; t <= 65536 / TEST_SLOWDOWN; t *= 4) {
            double next = error_after("cspsg", rules[k], t);
            /* A rate of t^-1/2 halves it; sampling noise may hide some of that. */
            assert_at_most(next, 0.7 * error);
            error = next;
        }
        assert_at_most(error, 0.1);
    }
}

TEST(constrained_saddles_have_no_bias)
{
    static const char *const more[][4] = {
        {"x-set=l2-ball:0.5", "y-set=l1-ball:0.3", NULL},
        {"x-set=box:-0.4:0.3", "y-set=box:-inf:0.1", "regularizer=l1:0.3", NULL},
        {"regularizer=elastic-net:0.5:0.1", NULL}};
    static const char *const tracked[] = {"gt-gda", "dppsp"};
    for (size_t a = 0; a < 2; a++)
        for (size_t k = 0; k < 3; k++) {
            test_rig r;
            dense_open_on_ring(&r, tracked[a], NULL, more[k]);
            ck_assert_double_gt(dense_optimality_gap(&r), 0.01);
            ck_assert_int_eq(test_rig_advance(&r, 2000).kind, SADDLE_FAULT_NONE);
            assert_at_most(dense_optimality_gap(&r), 1e-10);
            test_rig_close(&r);
        }
}

/* ---- DPPSP against exact resolvents ---------------------------------------------------------- */

/* Solves a v = b in place by elimination with pivots; b becomes v. */
static void eliminate(size_t n, double *a, double *b)
{
    for (size_t c = 0; c < n; c++) {
        size_t pivot = c;
        for (size_t i = c; i < n; i++)
            if (fabs(a[i * n + c]) > fabs(a[pivot * n + c]))
                pivot = i;
        for (size_t k = 0; k < n; k++) {
            double held = a[c * n + k];
            a[c * n + k] = a[pivot * n + k];
            a[pivot * n + k] = held;
        }
        double held = b[c];
        b[c] = b[pivot];
        b[pivot] = held;
        for (size_t i = c + 1; i < n; i++) {
            double factor = a[i * n + c] / a[c * n + c];
            for (size_t k = c; k < n; k++)
                a[i * n + k] -= factor * a[c * n + k];
            b[i] -= factor * b[c];
        }
    }
    for (size_t c = n; c-- > 0;) {
        for (size_t k = c + 1; k < n; k++)
            b[c] -= a[c * n + k] * b[k];
        b[c] /= a[c * n + c];
    }
}

/* Computes the resolvent at w of an affine operator, from its values at 0 and at the unit vectors. */
static void exact_resolvent(slow *s, size_t i, const double *w, double *z)
{
    size_t n = s->a.both;
    double *matrix = test_doubles(n * n);
    double *origin = test_doubles(n);
    double *unit = test_doubles(n);
    double *value = test_doubles(n);
    operate_fully(s, i, unit, origin);
    for (size_t c = 0; c < n; c++) {
        unit[c] = 1.0;
        operate_fully(s, i, unit, value);
        unit[c] = 0.0;
        for (size_t k = 0; k < n; k++)
            matrix[k * n + c] =
                (k == c ? 1.0 : 0.0) + dense_step(&s->a, k) * (value[k] - origin[k]);
    }
    for (size_t k = 0; k < n; k++)
        z[k] = w[k] - dense_step(&s->a, k) * origin[k];
    eliminate(n, matrix, z);
    free(matrix);
    free(origin);
    free(unit);
    free(value);
}

TEST(dppsp_with_tight_resolvents_is_p_extra)
{
    static const char *const tight[] = {"resolvent-tolerance=1e-12", "resolvent-steps=100000",
                                        NULL};
    test_rig r;
    slow s;
    test_state found;
    dense_open_on_ring(&r, "dppsp", NULL, tight);
    slow_open(&s, &r, DPPSP);
    test_state_make(&found, s.a.problem);
    double *memory = dense_rows(&s.a, NULL); /* w of P-EXTRA */
    double *half = dense_rows(&s.a, NULL);   /* (I + M)/2 z of the iteration before */
    for (uint64_t t = 0; t < 40; t++) {
        double *z = dense_mixed(&s.a, s.mixing, s.z);
        for (size_t k = 0; k < s.a.m * s.a.both; k++) {
            memory[k] += z[k] - half[k];
            half[k] = 0.5 * (s.z[k] + z[k]);
        }
        for (size_t i = 0; i < s.a.m; i++)
            exact_resolvent(&s, i, memory + i * s.a.both, s.z + i * s.a.both);
        free(z);
        ck_assert_int_eq(test_rig_advance(&r, 1).kind, SADDLE_FAULT_NONE);
        test_state_copy(&r, &found);
        for (size_t i = 0; i < s.a.m; i++) {
            assert_at_most(test_farthest(s.a.x_dim, found.x + i * s.a.x_dim, s.z + i * s.a.both),
                           1e-10);
            assert_at_most(
                test_farthest(s.a.y_dim, found.y + i * s.a.y_dim, s.z + i * s.a.both + s.a.x_dim),
                1e-10);
        }
    }
    free(memory);
    free(half);
    test_state_free(&found);
    slow_close(&s);
    test_rig_close(&r);
}

TEST(proximal_points_are_as_near_as_the_tolerance_says)
{
    static const char *const tolerances[] = {"resolvent-tolerance=0.5", "resolvent-tolerance=0.1",
                                             "resolvent-tolerance=0.001"};
    for (size_t k = 0; k < 3; k++) {
        const char *const more[] = {"agents=1", "samples=6", tolerances[k], NULL};
        test_rig r;
        slow s;
        test_state found;
        dense_open_on_ring(&r, "dppsp", NULL, more);
        slow_open(&s, &r, DPPSP);
        test_state_make(&found, s.a.problem);
        double *exact = test_doubles(s.a.both);
        double *point = test_doubles(s.a.both);
        double tolerance = test_number(s.a.plan, "resolvent-tolerance");
        /* With one agent, w is its iterate, and DPPSP is the proximal point method. */
        for (uint64_t t = 0; t < 20; t++) {
            exact_resolvent(&s, 0, s.z, exact);
            test_rig_advance(&r, 1);
            test_state_copy(&r, &found);
            memcpy(point, found.x, s.a.x_dim * sizeof *point);
            memcpy(point + s.a.x_dim, found.y, s.a.y_dim * sizeof *point);
            assert_at_most(scaled_distance(&s, point, exact),
                           tolerance * scaled_distance(&s, point, s.z) + 1e-13);
            memcpy(s.z, point, s.a.both * sizeof *point);
        }
        free(exact);
        free(point);
        test_state_free(&found);
        slow_close(&s);
        test_rig_close(&r);
    }
}

/* ---- one agent ------------------------------------------------------------------------------- */

/* Returns the iterates of a method on one agent after each of 30 iterations. */
static double *history(const char *name, const char *const *more, size_t *length)
{
    test_rig r;
    test_state found;
    dense_open_on_ring(&r, name, NULL, more);
    const saddle_problem *problem = r.target.problem;
    ck_assert_uint_eq(problem->agents, 1);
    test_state_make(&found, problem);
    size_t both = problem->x_dim + problem->y_dim;
    *length = 30 * both;
    double *result = test_doubles(*length);
    for (size_t t = 0; t < 30; t++) {
        ck_assert_int_eq(test_rig_advance(&r, 1).kind, SADDLE_FAULT_NONE);
        test_state_copy(&r, &found);
        memcpy(result + t * both, found.x, problem->x_dim * sizeof *result);
        memcpy(result + t * both + problem->x_dim, found.y, problem->y_dim * sizeof *result);
    }
    test_state_free(&found);
    test_rig_close(&r);
    return result;
}

TEST(prox_dsgda_at_one_agent_is_damped_gda)
{
    /* nu / tau = 0.02, eta alpha = 0.015 */
    static const char *const damped[] = {"agents=1", "batch=1000", "nu=0.2",     "tau=10",
                                         "eta=0.3",  "alpha=0.05", "samples=12", NULL};
    static const char *const plain[] = {"agents=1", "eta-x=0.02", "eta-y=0.015", "samples=12",
                                        NULL};
    size_t length = 0;
    double *a = history("prox-dsgda", damped, &length);
    double *b = history("gda", plain, &length);
    ck_assert_double_gt(test_farthest(length / 2, b, b + length / 2), 1e-3);
    assert_at_most(test_farthest(length, a, b), 1e-12);
    free(a);
    free(b);
}

TEST(gt_gda_at_one_agent_is_alternating_gda)
{
    static const char *const more[] = {"agents=1",   "ascents=1",        "eta-x=0.03",
                                       "eta-y=0.02", "x-set=box:-0.5:1", NULL};
    test_rig r;
    slow s;
    test_state found;
    dense_open_on_ring(&r, "gt-gda", NULL, more);
    slow_open(&s, &r, GT_GDA);
    test_state_make(&found, s.a.problem);
    double *x = s.z;
    double *y = s.z + s.a.x_dim;
    double *g = test_doubles(s.a.both);
    for (uint64_t t = 0; t < 50; t++) {
        operate_fully(&s, 0, s.z, g);
        for (size_t k = 0; k < s.a.y_dim; k++)
            y[k] -= 0.02 * g[s.a.x_dim + k];
        operate_fully(&s, 0, s.z, g);
        for (size_t k = 0; k < s.a.x_dim; k++)
            x[k] = fmin(fmax(x[k] - 0.03 * g[k], -0.5), 1.0);
        test_rig_advance(&r, 1);
        test_state_copy(&r, &found);
        assert_at_most(test_farthest(s.a.x_dim, found.x, x), 1e-12);
        assert_at_most(test_farthest(s.a.y_dim, found.y, y), 1e-12);
    }
    free(g);
    test_state_free(&found);
    slow_close(&s);
    test_rig_close(&r);
}

TEST(cspsg_at_one_agent_begins_as_sgda)
{
    static const char *const more[] = {"agents=1", "eta-x=0.02", "eta-y=0.015", NULL};
    test_rig average;
    test_rig plain;
    test_state a;
    test_state b;
    dense_open_on_ring(&average, "cspsg", NULL, more);
    dense_open_on_ring(&plain, "sgda", NULL, more);
    test_state_make(&a, average.target.problem);
    test_state_make(&b, plain.target.problem);
    test_rig_advance(&average, 1);
    test_rig_advance(&plain, 1);
    test_state_copy(&average, &a);
    test_state_copy(&plain, &b);
    /* The steps decrease from the second iteration on; view() gives the mean, including the start. */
    const saddle_instance *e = average.instance.made;
    for (size_t k = 0; k < a.x_dim; k++)
        assert_near(a.x[k], 0.5 * (e->x0[k] + b.x[k]), 1e-13);
    for (size_t k = 0; k < a.y_dim; k++)
        assert_near(a.y[k], 0.5 * (e->y0[k] + b.y[k]), 1e-13);
    test_state_free(&a);
    test_state_free(&b);
    test_rig_close(&average);
    test_rig_close(&plain);
}

/* ---- defaults, pauses, faults, errors --------------------------------------------------------- */

TEST(defaults_are_what_the_files_say)
{
    for (int which = 0; which < INSTANCES; which++)
        for (int method = 0; method < METHODS; method++) {
            test_rig r;
            saddle_steps steps;
            saddle_error error = {.message = ""};
            test_rig_open(&r, which, names[method], NULL, 1, NULL, NULL);
            assert_ok(saddle_instance_steps(r.instance.made, r.instance.plan, &steps, &error),
                      error);
            double x_share = steps.nu;
            double y_share = steps.eta;
            if (method == DPPSP || method == CSPSG)
                x_share = 1.0;
            if (method == DPPSP)
                y_share = 1.0;
            if (method == CSPSG)
                y_share = sqrt(steps.eta);
            double x_step = x_share / steps.tau;
            double longest = INFINITY;
            saddle_configuration c = {.instance = r.instance.made, .steps = steps};
            if (method != DPPSP)
                assert_ok(saddle_longest_step(&c, method == GT_GDA ? SADDLE_ALL_SAMPLES : 0,
                                              &longest, &error),
                          error);
            x_step = fmin(x_step, longest);
            double y_step = y_share * steps.alpha;
            assert_near(r.steps.eta_x, x_step, 1e-15 * x_step);
            assert_near(r.steps.eta_y, y_step, 1e-15 * y_step);
            test_rig_close(&r);
        }
}

TEST(dposg_mixes_as_often_as_the_network_needs)
{
    static const char *const networks[][4] = {{"agents=1", "samples=4", NULL},
                                              {"topology=complete", NULL},
                                              {"topology=path", NULL},
                                              {"agents=24", "topology=ring", NULL}};
    for (size_t k = 0; k < 4; k++) {
        test_rig r;
        dense_open_on_ring(&r, "dposg", NULL, networks[k]);
        double lambda = r.target.spectrum.lambda;
        double m = (double)r.target.problem->agents;
        dense_agents s;
        dense_open(&s, &r);
        uint64_t rounds = (uint64_t)test_number(s.plan, "mixing-rounds");
        saddle_layout layout;
        saddle_algorithm_layout(r.algorithm, r.parameters, r.target.problem, &layout);
        ck_assert_uint_eq(layout.rounds, rounds);
        ck_assert_uint_ge(rounds, 1);
        double left = 1.0 + pow(m, 0.25);
        for (uint64_t j = 0; j + 1 < rounds; j++)
            left *= lambda;
        ck_assert(rounds == 1 || left > 1.0 - 1e-9);
        assert_at_most(left * lambda, 1.0 + 1e-9);
        dense_close(&s);
        test_rig_close(&r);
    }
}

TEST(pausing_changes_nothing)
{
    for (int method = 0; method < METHODS; method++) {
        test_rig whole;
        test_rig pieces;
        test_state a;
        test_state b;
        test_rig_open(&whole, QUADRATIC_BALL, names[method], NULL, 2, NULL, NULL);
        test_rig_open(&pieces, QUADRATIC_BALL, names[method], NULL, 2, NULL, NULL);
        test_state_make(&a, whole.target.problem);
        test_state_make(&b, whole.target.problem);
        test_rig_advance(&whole, 11);
        test_rig_advance(&pieces, 4);
        test_state_copy(&pieces, &b);
        test_rig_advance(&pieces, 7);
        test_state_copy(&whole, &a);
        test_state_copy(&pieces, &b);
        ck_assert_mem_eq(a.x, b.x, a.agents * a.x_dim * sizeof(double));
        ck_assert_mem_eq(a.y, b.y, a.agents * a.y_dim * sizeof(double));
        test_state_free(&a);
        test_state_free(&b);
        test_rig_close(&whole);
        test_rig_close(&pieces);
    }
}

TEST(overflow_is_named)
{
    static const char *const wild[] = {"eta-x=1e300", "eta-y=1e300", "resolvent-steps=3", NULL};
    for (int method = 0; method < METHODS; method++) {
        test_rig r;
        dense_open_on_ring(&r, names[method], NULL, wild);
        saddle_fault fault = test_rig_advance(&r, 50);
        ck_assert_int_eq(fault.kind, SADDLE_FAULT_NONFINITE);
        ck_assert(strcmp(fault.variable, "x") == 0 || strcmp(fault.variable, "y") == 0);
        ck_assert_uint_lt(fault.iteration, 50);
        ck_assert_uint_ge(fault.iteration, 1);
        ck_assert(!isfinite(fault.value));
        test_rig_close(&r);
    }
}

TEST(bad_options_are_refused)
{
    static const struct {
        const char *name, *value, *part;
    } bad[] = {
        {"ascents", "0", "ascents"},
        {"ascents", "2.5", "ascents"},
        {"mixing-rounds", "0", "mixing-rounds"},
        {"decay", "linear", "doubling"},
        {"resolvent-tolerance", "-0.1", "resolvent-tolerance"},
        {"resolvent-tolerance", "nan", "resolvent-tolerance"},
        {"resolvent-steps", "0", "resolvent-steps"},
        {"eta-x", "0", "eta-x"},
    };
    saddle_plan *plan = test_plan(NULL, NULL);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_error error = {.message = ""};
        assert_refused(saddle_plan_set(plan, bad[k].name, bad[k].value, &error), error,
                       SADDLE_BAD_INPUT, bad[k].part);
    }
    test_plan_free(plan);
}

TEST(dposg_asks_for_rounds_where_lambda_is_not_known)
{
    const double unusable[] = {NAN, 1.0, 1.0 - 1e-9};
    test_rig r;
    test_rig_open(&r, QUADRATIC_CONVEX_ODD, "dposg", NULL, 1, NULL, NULL);
    for (size_t k = 0; k < 3; k++) {
        saddle_error error = {.message = ""};
        saddle_instance target = r.target;
        saddle_configuration configuration = {
            .instance = &target, .given = &r.instance.plan->steps, .steps = r.steps};
        target.spectrum.lambda = unusable[k];
        void *parameters = test_parameters(r.algorithm, r.instance.plan);
        assert_refused(r.algorithm->init(parameters, &configuration, &error), error,
                       SADDLE_BAD_INPUT, "mixing-rounds");
        test_release(r.algorithm, parameters);
    }
    test_rig_close(&r);
}
