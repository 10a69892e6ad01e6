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
#include "instances.h"
#include "observe/observer.h"
#include "support.h"

enum { GT_GDA, DPOSG, DPPSP, CSPSG, METHODS };
static const char *const names[METHODS] = {"gt-gda", "dposg", "dppsp", "cspsg"};

/* ---- an engine on an instance ---------------------------------------------------------------- */

typedef struct rig {
    test_instance instance;
    saddle_instance target;
    saddle_instance *pooled;
    saddle_plan *plan; /* with every auto of the algorithm replaced */
    const saddle_algorithm *algorithm;
    void *parameters;
    saddle_engine *engine;
} rig;

/* Does everything except init(). */
static void rig_ready(rig *r, const char *name, saddle_configuration *configuration)
{
    saddle_error error = {.message = ""};
    const saddle_instance *e = r->instance.made;
    assert_ok(saddle_algorithm_find(&r->algorithm, name, &error), error);
    test_target(e, r->algorithm, &r->pooled, &r->target);
    *configuration =
        (saddle_configuration){.instance = &r->target, .given = &r->instance.plan->steps};
    assert_ok(saddle_instance_steps(e, r->instance.plan, &configuration->steps, &error), error);
    r->parameters = test_parameters(r->algorithm, r->instance.plan);
}

static void rig_open(rig *r, int which, const char *name, const char *const *more, unsigned threads)
{
    saddle_error error = {.message = ""};
    *r = (rig){.engine = NULL};
    test_instance_open(&r->instance, which, more);
    saddle_configuration configuration;
    rig_ready(r, name, &configuration);
    assert_ok(r->algorithm->init(r->parameters, &configuration, &error), error);
    r->plan = test_plan(r->instance.plan, NULL);
    r->plan->steps = configuration.steps;
    assert_ok(saddle_plan_record_own(r->plan, r->algorithm->options, r->parameters, &error), error);
    saddle_engine_inputs inputs = {
        .instance = &r->target,
        .algorithm = r->algorithm,
        .parameters = r->parameters,
        .threads = threads,
        .scratch = saddle_observer_scratch(&r->target),
    };
    const saddle_engine_class *kind = NULL;
    assert_ok(saddle_engine_find(&kind, "threads", &error), error);
    assert_ok(kind->create(&r->engine, &inputs, &error), error);
}

static void rig_close(rig *r)
{
    r->engine->kind->destroy(r->engine);
    test_release(r->algorithm, r->parameters);
    saddle_instance_free(r->pooled);
    test_plan_free(r->plan);
    test_instance_close(&r->instance);
}

static saddle_fault rig_advance(rig *r, uint64_t iterations)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    saddle_limits limits = {.iterations = iterations};
    r->engine->kind->advance(r->engine, &limits, &fault);
    return fault;
}

typedef struct copy_context {
    const saddle_algorithm *algorithm;
    test_state *out;
} copy_context;

static void copy_agent(void *context, saddle_agent *agent)
{
    const copy_context *copy = context;
    test_copy_agent(copy->algorithm, agent, copy->out);
}

static void rig_copy(rig *r, test_state *out)
{
    copy_context context = {.algorithm = r->algorithm, .out = out};
    r->engine->kind->for_each(r->engine, copy_agent, &context);
}

/* ---- slow versions --------------------------------------------------------------------------- */

enum { MOST_SAMPLES = 256 };

/* Vectors of all agents, agent after agent; z = (x, y), operators are (grad_x, -grad_y). */
typedef struct slow {
    const rig *rig;
    const saddle_problem *problem;
    int method;
    size_t m, x_dim, y_dim, both;
    double *mixing;   /* what z is mixed with: M, or M^r for DPOSG; m x m */
    double eta[2];    /* eta_x, eta_y */
    double *z;        /* the iterate that is mixed */
    double *report;   /* what view() should give */
    double *gradient; /* GT-GDA: (v, -u); DPOSG: g(S; z) */
    double *tracker;  /* GT-GDA: (p, -d) */
    double *sum;      /* C-SP-SG: of all iterates */
    double *before;   /* DPPSP: z of the iteration before */
    double *element;  /* DPPSP: eta times the element of A_i at z */
    double *s;        /* DPPSP: inner step per agent */
    uint64_t *ifo;
    double *scratch;
} slow;

static double *copy_of(const slow *s, const double *v)
{
    double *result = test_doubles(s->m * s->both);
    if (v != NULL)
        memcpy(result, v, s->m * s->both * sizeof *result);
    return result;
}

static double *dense_mixing(const saddle_mixing *mixing)
{
    size_t m = mixing->graph->agents;
    double *dense = test_doubles(m * m);
    for (size_t i = 0; i < m; i++) {
        dense[i * m + i] = mixing->self_weight[i];
        for (size_t k = mixing->graph->start[i]; k < mixing->graph->start[i + 1]; k++)
            dense[i * m + mixing->graph->neighbour[k]] = mixing->weight[k];
    }
    return dense;
}

/* The matrix to the power r. */
static double *power(size_t m, const double *base, uint64_t r)
{
    double *result = test_doubles(m * m);
    for (size_t i = 0; i < m; i++)
        result[i * m + i] = 1.0;
    for (uint64_t k = 0; k < r; k++) {
        double *product = test_doubles(m * m);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++)
                for (size_t l = 0; l < m; l++)
                    product[i * m + j] += result[i * m + l] * base[l * m + j];
        free(result);
        result = product;
    }
    return result;
}

/* Returns the rows of (matrix) (v); the caller frees them. */
static double *mixed(const slow *s, const double *matrix, const double *v)
{
    double *out = test_doubles(s->m * s->both);
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->m; j++)
            for (size_t k = 0; k < s->both; k++)
                out[i * s->both + k] += matrix[i * s->m + j] * v[j * s->both + k];
    return out;
}

static double eta_of(const slow *s, size_t k)
{
    return s->eta[k < s->x_dim ? 0 : 1];
}

/* v = prox over X of (step eta_x h) and projection onto Y of v. */
static void project(const slow *s, double step, double *v)
{
    const saddle_instance *e = s->rig->instance.made;
    saddle_prox_apply(e->x_prox, step * s->eta[0], v, s->scratch);
    saddle_set_project(e->y_set, v + s->x_dim, s->scratch);
}

/* out = operator of agent i at z, over the samples; one sample at a time. */
static void operate(slow *s, size_t i, const uint32_t *index, size_t count, const double *z,
                    double *out)
{
    double *g = test_doubles(s->both);
    memset(out, 0, s->both * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        uint32_t sample = index != NULL ? index[k] : (uint32_t)k;
        saddle_batch one = {.index = &sample, .count = 1};
        saddle_problem_gradient(s->problem, i, &one, z, z + s->x_dim, g, g + s->x_dim, s->scratch);
        for (size_t c = 0; c < s->both; c++)
            out[c] += (c < s->x_dim ? g[c] : -g[c]) / (double)count;
    }
    s->ifo[i] += count;
    free(g);
}

static void operate_fully(slow *s, size_t i, const double *z, double *out)
{
    operate(s, i, NULL, s->problem->samples[i], z, out);
}

/* |S_i| */
static size_t batch_size(const slow *s, size_t i)
{
    size_t n = s->problem->samples[i];
    size_t batch = (size_t)s->rig->plan->steps.batch;
    if (batch == 0)
        while (batch * batch < n)
            batch++;
    return batch < n ? batch : n;
}

static void operate_on_batch(slow *s, size_t i, uint64_t iteration, const double *z, double *out)
{
    uint32_t index[MOST_SAMPLES];
    uint64_t mark[8] = {0};
    size_t n = s->problem->samples[i];
    size_t count = batch_size(s, i);
    bool replacement = s->rig->plan->steps.sampling == SADDLE_WITH_REPLACEMENT;
    ck_assert_uint_le(n, MOST_SAMPLES);
    ck_assert_uint_le(saddle_rng_mark_words(n), 8);
    saddle_rng rng;
    saddle_rng_init(&rng, s->rig->plan->start.seed, SADDLE_RNG_BATCH, i, iteration);
    if (replacement)
        for (size_t k = 0; k < count; k++)
            index[k] = (uint32_t)saddle_rng_below(&rng, n);
    else if (count < n)
        saddle_rng_choose(&rng, n, count, index, mark);
    operate(s, i, replacement || count < n ? index : NULL, count, z, out);
}

static void slow_open(slow *s, const rig *r, int method)
{
    const saddle_problem *problem = r->target.problem;
    const saddle_instance *e = r->instance.made;
    *s = (slow){.rig = r,
                .problem = problem,
                .method = method,
                .m = problem->agents,
                .x_dim = problem->x_dim,
                .y_dim = problem->y_dim,
                .both = problem->x_dim + problem->y_dim};
    s->scratch = test_doubles(saddle_problem_scratch(problem) + saddle_prox_scratch(e->x_prox) +
                              saddle_set_scratch(e->y_set));
    double *once = dense_mixing(r->target.mixing);
    s->mixing =
        power(s->m, once, method == DPOSG ? (uint64_t)test_number(r->plan, "mixing-rounds") : 1);
    free(once);
    s->eta[0] = r->plan->steps.eta_x;
    s->eta[1] = r->plan->steps.eta_y;
    s->ifo = calloc(s->m, sizeof *s->ifo);
    ck_assert_ptr_nonnull(s->ifo);
    s->z = copy_of(s, NULL);
    for (size_t i = 0; i < s->m; i++) {
        memcpy(s->z + i * s->both, e->x0, s->x_dim * sizeof *s->z);
        memcpy(s->z + i * s->both + s->x_dim, e->y0, s->y_dim * sizeof *s->z);
    }
    s->report = copy_of(s, s->z);
    s->gradient = copy_of(s, NULL);
    s->tracker = copy_of(s, NULL);
    s->sum = copy_of(s, s->z);
    s->before = copy_of(s, NULL);
    s->element = copy_of(s, NULL);
    s->s = test_doubles(s->m);
    for (size_t i = 0; i < s->m; i++) {
        s->s[i] = 0.5;
        if (method == DPOSG)
            operate_on_batch(s, i, 0, s->z + i * s->both, s->gradient + i * s->both);
    }
}

static void slow_close(slow *s)
{
    double *const vector[] = {s->mixing, s->z,      s->report,  s->gradient, s->tracker,
                              s->sum,    s->before, s->element, s->s,        s->scratch};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(vector[k]);
    free(s->ifo);
}

/* One round of GT-GDA on entries [low, high) of every agent's z: those of y, or those of x. */
static void slow_tracked_round(slow *s, size_t low, size_t high)
{
    double *z = mixed(s, s->mixing, s->z);
    double *tracker = mixed(s, s->mixing, s->tracker);
    double *g = test_doubles(s->both);
    for (size_t i = 0; i < s->m; i++) {
        double *own = s->z + i * s->both;
        operate_fully(s, i, own, g);
        for (size_t k = low; k < high; k++) {
            size_t at = i * s->both + k;
            s->tracker[at] = tracker[at] + g[k] - s->gradient[at];
            s->gradient[at] = g[k];
            own[k] = z[at] - eta_of(s, k) * s->tracker[at];
        }
        if (low == 0)
            saddle_prox_apply(s->rig->instance.made->x_prox, s->eta[0], own, s->scratch);
        else
            saddle_set_project(s->rig->instance.made->y_set, own + low, s->scratch);
    }
    free(z);
    free(tracker);
    free(g);
}

static void slow_gt_gda(slow *s)
{
    uint64_t ascents = (uint64_t)test_number(s->rig->plan, "ascents");
    for (uint64_t k = 0; k < ascents; k++)
        slow_tracked_round(s, s->x_dim, s->both);
    slow_tracked_round(s, 0, s->x_dim);
    memcpy(s->report, s->z, s->m * s->both * sizeof *s->z);
}

static void slow_dposg(slow *s, uint64_t t)
{
    double *z = mixed(s, s->mixing, s->z);
    for (size_t i = 0; i < s->m; i++) {
        size_t base = i * s->both;
        for (size_t k = 0; k < s->both; k++)
            s->report[base + k] = z[base + k] - eta_of(s, k) * s->gradient[base + k];
        project(s, 1.0, s->report + base);
        operate_on_batch(s, i, t + 1, s->report + base, s->gradient + base);
        for (size_t k = 0; k < s->both; k++)
            s->z[base + k] = z[base + k] - eta_of(s, k) * s->gradient[base + k];
        project(s, 1.0, s->z + base);
    }
    free(z);
}

static void slow_cspsg(slow *s, uint64_t t)
{
    double *z = mixed(s, s->mixing, s->z);
    double *g = test_doubles(s->both);
    double count = (double)(t + 1);
    if (strcmp(test_text(s->rig->plan, "decay"), "doubling") == 0) {
        double whole = 1.0;
        while (2.0 * whole <= count)
            whole *= 2.0;
        count = whole;
    }
    for (size_t i = 0; i < s->m; i++) {
        size_t base = i * s->both;
        operate_on_batch(s, i, t + 1, s->z + base, g);
        for (size_t k = 0; k < s->both; k++)
            s->z[base + k] = z[base + k] - eta_of(s, k) / sqrt(count) * g[k];
        project(s, 1.0 / sqrt(count), s->z + base);
        for (size_t k = 0; k < s->both; k++) {
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
    for (size_t k = 0; k < s->both; k++) {
        double difference = a[k] - (b != NULL ? b[k] : 0.0);
        sum += difference * difference / eta_of(s, k);
    }
    return sqrt(sum);
}

/* Computes out = z - w + eta A(z), without normals. */
static void shifted(slow *s, size_t i, const double *z, const double *w, double *out)
{
    operate_fully(s, i, z, out);
    for (size_t k = 0; k < s->both; k++)
        out[k] = z[k] - w[k] + eta_of(s, k) * out[k];
}

/* The inner loop of DPPSP: z becomes agent i's resolvent at w, as accurately as the options say. */
static void slow_resolvent(slow *s, size_t i, const double *w, double *z)
{
    double tolerance = test_number(s->rig->plan, "resolvent-tolerance");
    uint64_t most = (uint64_t)test_number(s->rig->plan, "resolvent-steps");
    double *from = test_doubles(4 * s->both);
    double *trial = from + s->both;
    double *g = trial + s->both;
    double *h = g + s->both;
    double *e = test_doubles(s->both);
    memcpy(from, z, s->both * sizeof *from);
    double floor = 32.0 * 0x1p-52 * (scaled_distance(s, from, NULL) + scaled_distance(s, w, NULL));
    shifted(s, i, z, w, g);
    for (uint64_t k = 1; k <= most; k++) {
        for (size_t c = 0; c < s->both; c++)
            trial[c] = z[c] - s->s[i] * g[c];
        project(s, s->s[i], trial);
        shifted(s, i, trial, w, h);
        for (size_t c = 0; c < s->both; c++)
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
                memcpy(trial, z, s->both * sizeof *z);
            continue;
        }
        if (k == most)
            break;
        for (size_t c = 0; c < s->both; c++)
            z[c] -= s->s[i] * h[c];
        project(s, s->s[i], z);
        shifted(s, i, z, w, g);
        if (2.0 * bend <= room)
            s->s[i] *= 2.0;
    }
    memcpy(z, trial, s->both * sizeof *z);
    free(from);
    free(e);
}

/*
 * P-EXTRA by elements: z+ + q+ = z + M z - (I + M)/2 z_before + q, where q is eta times the element
 * of A_i at z; the first step is z+ + q+ = M z.
 */
static void slow_dppsp(slow *s, uint64_t t)
{
    double *z = mixed(s, s->mixing, s->z);
    double *past = mixed(s, s->mixing, s->before);
    for (size_t i = 0; i < s->m; i++) {
        double *w = test_doubles(s->both);
        for (size_t k = 0; k < s->both; k++) {
            size_t at = i * s->both + k;
            w[k] = t == 0 ? z[at]
                          : s->z[at] + z[at] - 0.5 * (s->before[at] + past[at]) + s->element[at];
            s->before[at] = s->z[at];
        }
        slow_resolvent(s, i, w, s->z + i * s->both);
        for (size_t k = 0; k < s->both; k++)
            s->element[i * s->both + k] = w[k] - s->z[i * s->both + k];
        free(w);
    }
    memcpy(s->report, s->z, s->m * s->both * sizeof *s->z);
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

/* Asserts that x and y of a state are `expected` (z by agent), y with the given sign. */
static void assert_same(const slow *s, const char *what, uint64_t t, const double *x,
                        const double *y, const double *expected, double y_sign)
{
    double scale = 1.0 + test_largest(s->m * s->both, expected);
    for (size_t i = 0; i < s->m; i++)
        for (size_t k = 0; k < s->both; k++) {
            double found =
                k < s->x_dim ? x[i * s->x_dim + k] : y_sign * y[i * s->y_dim + k - s->x_dim];
            double off = fabs(found - expected[i * s->both + k]);
            ck_assert_msg(off <= 2e-12 * scale, "%s, %s: %s at t = %llu, agent %zu is off by %g",
                          s->rig->algorithm->name, s->rig->instance.label, what,
                          (unsigned long long)t, i, off);
        }
}

static void assert_feasible(const slow *s, const test_state *found)
{
    const saddle_instance *e = s->rig->instance.made;
    for (size_t i = 0; i < s->m; i++) {
        assert_at_most(saddle_set_distance(e->x_set, found->x + i * s->x_dim, s->scratch), 1e-12);
        assert_at_most(saddle_set_distance(e->y_set, found->y + i * s->y_dim, s->scratch), 1e-12);
    }
}

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
    const saddle_plan *plan = s->rig->plan;
    uint64_t n = s->problem->samples[i];
    if (s->method == GT_GDA)
        return t * n * ((uint64_t)test_number(plan, "ascents") + 1);
    if (s->method == DPOSG)
        return (t + 1) * batch_size(s, i);
    if (s->method == CSPSG)
        return t * batch_size(s, i);
    if ((uint64_t)test_number(plan, "resolvent-steps") == 1)
        return t * 2 * n;
    ck_assert_uint_eq(s->ifo[i] % n, 0);
    return s->ifo[i];
}

static void assert_costs(const slow *s, const test_state *found, uint64_t t)
{
    const saddle_plan *plan = s->rig->plan;
    uint64_t total = 0;
    for (size_t i = 0; i < s->m; i++) {
        ck_assert_uint_eq(found->ifo[i], ifo_of(s, i, t));
        ck_assert_uint_eq(found->ifo[i], s->ifo[i]);
        total += s->ifo[i];
    }
    uint64_t links = 2 * s->rig->target.mixing->graph->edges;
    uint64_t rounds = 1;
    uint64_t doubles = s->both; /* of all messages of an iteration over one link */
    if (s->method == DPOSG) {
        rounds = (uint64_t)test_number(plan, "mixing-rounds");
        doubles *= rounds;
    } else if (s->method == GT_GDA) {
        uint64_t ascents = (uint64_t)test_number(plan, "ascents");
        rounds = ascents + 1;
        doubles = 2 * (ascents * s->y_dim + s->x_dim);
    }
    saddle_cost cost;
    s->rig->engine->kind->cost(s->rig->engine, &cost);
    ck_assert_uint_eq(cost.ifo, total);
    ck_assert_uint_eq(cost.rounds, t * rounds);
    ck_assert_uint_eq(cost.messages, t * rounds * links);
    ck_assert_uint_eq(cost.bytes, t * links * doubles * 8);
}

static void follow(int which, int method, const char *const *more, uint64_t iterations)
{
    rig r;
    slow s;
    test_state found;
    rig_open(&r, which, names[method], more, 2);
    slow_open(&s, &r, method);
    test_state_make(&found, s.problem);
    ck_assert(r.algorithm->traits.feasible);
    for (uint64_t t = 0; t <= iterations; t++) {
        rig_copy(&r, &found);
        assert_same(&s, "iterate", t, found.x, found.y, s.report, 1.0);
        assert_feasible(&s, &found);
        assert_costs(&s, &found, t);
        if (method == GT_GDA) {
            assert_same(&s, "tracker", t, found.p, found.d, s.tracker, -1.0);
            assert_same(&s, "gradient", t, found.v, found.u, s.gradient, -1.0);
            assert_equal_means(s.m, s.x_dim, found.p, found.v);
            assert_equal_means(s.m, s.y_dim, found.d, found.u);
        }
        ck_assert_int_eq(rig_advance(&r, 1).kind, SADDLE_FAULT_NONE);
        slow_step(&s, t);
    }
    test_state_free(&found);
    slow_close(&s);
    rig_close(&r);
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

/* A convex instance on a ring, where agents and samples differ. */
static const char *const ring[] = {"agents=6", "samples=12", "topology=ring", "x-dim=5",
                                   "y-dim=4",  "mu=1",       "lipschitz=8",   NULL};

static void open_on_ring(rig *r, const char *name, const char *const *more)
{
    const char *all[16];
    size_t count = 0;
    for (const char *const *a = ring; *a != NULL; a++)
        all[count++] = *a;
    for (const char *const *a = more; a != NULL && *a != NULL; a++) {
        ck_assert_uint_lt(count + 1, sizeof all / sizeof *all);
        all[count++] = *a;
    }
    all[count] = NULL;
    rig_open(r, QUADRATIC_CONVEX_ODD, name, all, 2);
}

/* Returns the largest distance of an entry of any agent's iterate from the saddle point. */
static double saddle_error_of(rig *r)
{
    const saddle_problem *problem = r->target.problem;
    double *x = test_doubles(problem->x_dim);
    double *y = test_doubles(problem->y_dim);
    ck_assert(problem->solution(problem, x, y));
    test_state found;
    test_state_make(&found, problem);
    rig_copy(r, &found);
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
    rig r;
    open_on_ring(&r, name, more);
    ck_assert_int_eq(rig_advance(&r, iterations).kind, SADDLE_FAULT_NONE);
    double result = saddle_error_of(&r);
    rig_close(&r);
    return result;
}

/* Asserts that every `block` iterations reduce the error at least 10 times, down to 1e-12. */
static void assert_linear(const char *name, const char *const *more, uint64_t block)
{
    rig r;
    open_on_ring(&r, name, more);
    double error = saddle_error_of(&r);
    ck_assert_double_gt(error, 0.1);
    while (error > 1e-11) {
        ck_assert_int_eq(rig_advance(&r, block).kind, SADDLE_FAULT_NONE);
        double next = saddle_error_of(&r);
        assert_at_most(next, error / 10.0);
        error = next;
    }
    /* And it stays there. */
    rig_advance(&r, 10 * block);
    assert_at_most(saddle_error_of(&r), 1e-11);
    rig_close(&r);
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

/* Returns the largest entry of z - prox(z - (1/m) sum_i A_i(z)) over X and Y, where all agents agree. */
static double optimality_gap(rig *r)
{
    slow s;
    test_state found;
    slow_open(&s, r, DPPSP);
    test_state_make(&found, s.problem);
    rig_copy(r, &found);
    double *z = test_doubles(s.both);
    double *g = test_doubles(s.both);
    double *point = test_doubles(s.both);
    double worst = 0.0;
    for (size_t i = 0; i < s.m; i++) {
        memcpy(z, found.x + i * s.x_dim, s.x_dim * sizeof *z);
        memcpy(z + s.x_dim, found.y + i * s.y_dim, s.y_dim * sizeof *z);
        memcpy(point, z, s.both * sizeof *z);
        for (size_t j = 0; j < s.m; j++) {
            operate_fully(&s, j, z, g);
            for (size_t k = 0; k < s.both; k++)
                point[k] -= g[k] / (double)s.m;
        }
        s.eta[0] = 1.0;
        project(&s, 1.0, point);
        double off = test_farthest(s.both, z, point);
        worst = test_larger(worst, off);
    }
    free(z);
    free(g);
    free(point);
    test_state_free(&found);
    slow_close(&s);
    return worst;
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
            rig r;
            open_on_ring(&r, tracked[a], more[k]);
            ck_assert_double_gt(optimality_gap(&r), 0.01);
            ck_assert_int_eq(rig_advance(&r, 2000).kind, SADDLE_FAULT_NONE);
            assert_at_most(optimality_gap(&r), 1e-10);
            rig_close(&r);
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
    size_t n = s->both;
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
            matrix[k * n + c] = (k == c ? 1.0 : 0.0) + eta_of(s, k) * (value[k] - origin[k]);
    }
    for (size_t k = 0; k < n; k++)
        z[k] = w[k] - eta_of(s, k) * origin[k];
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
    rig r;
    slow s;
    test_state found;
    open_on_ring(&r, "dppsp", tight);
    slow_open(&s, &r, DPPSP);
    test_state_make(&found, s.problem);
    double *memory = copy_of(&s, NULL); /* w of P-EXTRA */
    double *half = copy_of(&s, NULL);   /* (I + M)/2 z of the iteration before */
    for (uint64_t t = 0; t < 40; t++) {
        double *z = mixed(&s, s.mixing, s.z);
        for (size_t k = 0; k < s.m * s.both; k++) {
            memory[k] += z[k] - half[k];
            half[k] = 0.5 * (s.z[k] + z[k]);
        }
        for (size_t i = 0; i < s.m; i++)
            exact_resolvent(&s, i, memory + i * s.both, s.z + i * s.both);
        free(z);
        ck_assert_int_eq(rig_advance(&r, 1).kind, SADDLE_FAULT_NONE);
        rig_copy(&r, &found);
        for (size_t i = 0; i < s.m; i++) {
            assert_at_most(test_farthest(s.x_dim, found.x + i * s.x_dim, s.z + i * s.both), 1e-10);
            assert_at_most(
                test_farthest(s.y_dim, found.y + i * s.y_dim, s.z + i * s.both + s.x_dim), 1e-10);
        }
    }
    free(memory);
    free(half);
    test_state_free(&found);
    slow_close(&s);
    rig_close(&r);
}

TEST(proximal_points_are_as_near_as_the_tolerance_says)
{
    static const char *const tolerances[] = {"resolvent-tolerance=0.5", "resolvent-tolerance=0.1",
                                             "resolvent-tolerance=0.001"};
    for (size_t k = 0; k < 3; k++) {
        const char *const more[] = {"agents=1", "samples=6", tolerances[k], NULL};
        rig r;
        slow s;
        test_state found;
        open_on_ring(&r, "dppsp", more);
        slow_open(&s, &r, DPPSP);
        test_state_make(&found, s.problem);
        double *exact = test_doubles(s.both);
        double *point = test_doubles(s.both);
        double tolerance = test_number(r.plan, "resolvent-tolerance");
        /* With one agent, w is its iterate, and DPPSP is the proximal point method. */
        for (uint64_t t = 0; t < 20; t++) {
            exact_resolvent(&s, 0, s.z, exact);
            rig_advance(&r, 1);
            rig_copy(&r, &found);
            memcpy(point, found.x, s.x_dim * sizeof *point);
            memcpy(point + s.x_dim, found.y, s.y_dim * sizeof *point);
            assert_at_most(scaled_distance(&s, point, exact),
                           tolerance * scaled_distance(&s, point, s.z) + 1e-13);
            memcpy(s.z, point, s.both * sizeof *point);
        }
        free(exact);
        free(point);
        test_state_free(&found);
        slow_close(&s);
        rig_close(&r);
    }
}

/* ---- one agent ------------------------------------------------------------------------------- */

/* Returns the iterates of a method on one agent after each of 30 iterations. */
static double *history(const char *name, const char *const *more, size_t *length)
{
    rig r;
    test_state found;
    open_on_ring(&r, name, more);
    const saddle_problem *problem = r.target.problem;
    ck_assert_uint_eq(problem->agents, 1);
    test_state_make(&found, problem);
    size_t both = problem->x_dim + problem->y_dim;
    *length = 30 * both;
    double *result = test_doubles(*length);
    for (size_t t = 0; t < 30; t++) {
        ck_assert_int_eq(rig_advance(&r, 1).kind, SADDLE_FAULT_NONE);
        rig_copy(&r, &found);
        memcpy(result + t * both, found.x, problem->x_dim * sizeof *result);
        memcpy(result + t * both + problem->x_dim, found.y, problem->y_dim * sizeof *result);
    }
    test_state_free(&found);
    rig_close(&r);
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
    rig r;
    slow s;
    test_state found;
    open_on_ring(&r, "gt-gda", more);
    slow_open(&s, &r, GT_GDA);
    test_state_make(&found, s.problem);
    double *x = s.z;
    double *y = s.z + s.x_dim;
    double *g = test_doubles(s.both);
    for (uint64_t t = 0; t < 50; t++) {
        operate_fully(&s, 0, s.z, g);
        for (size_t k = 0; k < s.y_dim; k++)
            y[k] -= 0.02 * g[s.x_dim + k];
        operate_fully(&s, 0, s.z, g);
        for (size_t k = 0; k < s.x_dim; k++)
            x[k] = fmin(fmax(x[k] - 0.03 * g[k], -0.5), 1.0);
        rig_advance(&r, 1);
        rig_copy(&r, &found);
        assert_at_most(test_farthest(s.x_dim, found.x, x), 1e-12);
        assert_at_most(test_farthest(s.y_dim, found.y, y), 1e-12);
    }
    free(g);
    test_state_free(&found);
    slow_close(&s);
    rig_close(&r);
}

TEST(cspsg_at_one_agent_begins_as_sgda)
{
    static const char *const more[] = {"agents=1", "eta-x=0.02", "eta-y=0.015", NULL};
    rig average;
    rig plain;
    test_state a;
    test_state b;
    open_on_ring(&average, "cspsg", more);
    open_on_ring(&plain, "sgda", more);
    test_state_make(&a, average.target.problem);
    test_state_make(&b, plain.target.problem);
    rig_advance(&average, 1);
    rig_advance(&plain, 1);
    rig_copy(&average, &a);
    rig_copy(&plain, &b);
    /* The steps decrease from the second iteration on; view() gives the mean, including the start. */
    const saddle_instance *e = average.instance.made;
    for (size_t k = 0; k < a.x_dim; k++)
        assert_near(a.x[k], 0.5 * (e->x0[k] + b.x[k]), 1e-13);
    for (size_t k = 0; k < a.y_dim; k++)
        assert_near(a.y[k], 0.5 * (e->y0[k] + b.y[k]), 1e-13);
    test_state_free(&a);
    test_state_free(&b);
    rig_close(&average);
    rig_close(&plain);
}

/* ---- defaults, threads, faults, errors --------------------------------------------------------- */

TEST(defaults_are_what_the_files_say)
{
    for (int which = 0; which < INSTANCES; which++)
        for (int method = 0; method < METHODS; method++) {
            rig r;
            saddle_steps steps;
            saddle_error error = {.message = ""};
            rig_open(&r, which, names[method], NULL, 1);
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
            assert_near(r.plan->steps.eta_x, x_step, 1e-15 * x_step);
            assert_near(r.plan->steps.eta_y, y_step, 1e-15 * y_step);
            rig_close(&r);
        }
}

TEST(dposg_mixes_as_often_as_the_network_needs)
{
    static const char *const networks[][4] = {{"agents=1", "samples=4", NULL},
                                              {"topology=complete", NULL},
                                              {"topology=path", NULL},
                                              {"agents=24", "topology=ring", NULL}};
    for (size_t k = 0; k < 4; k++) {
        rig r;
        open_on_ring(&r, "dposg", networks[k]);
        double lambda = r.target.spectrum.lambda;
        double m = (double)r.target.problem->agents;
        uint64_t rounds = (uint64_t)test_number(r.plan, "mixing-rounds");
        saddle_layout layout;
        saddle_algorithm_layout(r.algorithm, r.parameters, r.target.problem, &layout);
        ck_assert_uint_eq(layout.rounds, rounds);
        ck_assert_uint_ge(rounds, 1);
        double left = 1.0 + pow(m, 0.25);
        for (uint64_t j = 0; j + 1 < rounds; j++)
            left *= lambda;
        ck_assert(rounds == 1 || left > 1.0 - 1e-9);
        assert_at_most(left * lambda, 1.0 + 1e-9);
        rig_close(&r);
    }
}

TEST(threads_do_not_change_a_bit)
{
    for (int method = 0; method < METHODS; method++) {
        test_state found[3];
        for (unsigned threads = 1; threads <= 3; threads++) {
            rig r;
            rig_open(&r, LOGISTIC_BOX_DENSE_UNEQUAL, names[method], NULL, threads);
            test_state *state = &found[threads - 1];
            test_state_make(state, r.target.problem);
            rig_advance(&r, 17);
            rig_copy(&r, state);
            size_t m = state->agents;
            ck_assert_mem_eq(state->x, found[0].x, m * state->x_dim * sizeof(double));
            ck_assert_mem_eq(state->y, found[0].y, m * state->y_dim * sizeof(double));
            ck_assert_mem_eq(state->ifo, found[0].ifo, m * sizeof(uint64_t));
            rig_close(&r);
        }
        for (int k = 0; k < 3; k++)
            test_state_free(&found[k]);
    }
}

TEST(pausing_changes_nothing)
{
    for (int method = 0; method < METHODS; method++) {
        rig whole;
        rig pieces;
        test_state a;
        test_state b;
        rig_open(&whole, QUADRATIC_BALL, names[method], NULL, 2);
        rig_open(&pieces, QUADRATIC_BALL, names[method], NULL, 2);
        test_state_make(&a, whole.target.problem);
        test_state_make(&b, whole.target.problem);
        rig_advance(&whole, 11);
        rig_advance(&pieces, 4);
        rig_copy(&pieces, &b);
        rig_advance(&pieces, 7);
        rig_copy(&whole, &a);
        rig_copy(&pieces, &b);
        ck_assert_mem_eq(a.x, b.x, a.agents * a.x_dim * sizeof(double));
        ck_assert_mem_eq(a.y, b.y, a.agents * a.y_dim * sizeof(double));
        test_state_free(&a);
        test_state_free(&b);
        rig_close(&whole);
        rig_close(&pieces);
    }
}

TEST(overflow_is_named)
{
    static const char *const wild[] = {"eta-x=1e300", "eta-y=1e300", "resolvent-steps=3", NULL};
    for (int method = 0; method < METHODS; method++) {
        rig r;
        open_on_ring(&r, names[method], wild);
        saddle_fault fault = rig_advance(&r, 50);
        ck_assert_int_eq(fault.kind, SADDLE_FAULT_NONFINITE);
        ck_assert(strcmp(fault.variable, "x") == 0 || strcmp(fault.variable, "y") == 0);
        ck_assert_uint_lt(fault.iteration, 50);
        ck_assert_uint_ge(fault.iteration, 1);
        ck_assert(!isfinite(fault.value));
        rig_close(&r);
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
    rig r = {.engine = NULL};
    test_instance_open(&r.instance, QUADRATIC_CONVEX_ODD, NULL);
    saddle_configuration configuration;
    rig_ready(&r, "dposg", &configuration);
    saddle_error none = {.message = ""};
    assert_ok(r.algorithm->init(r.parameters, &configuration, &none), none);
    test_release(r.algorithm, r.parameters);
    const double unusable[] = {NAN, 1.0, 1.0 - 1e-9};
    for (size_t k = 0; k < 3; k++) {
        saddle_error error = {.message = ""};
        r.target.spectrum.lambda = unusable[k];
        r.parameters = test_parameters(r.algorithm, r.instance.plan);
        assert_refused(r.algorithm->init(r.parameters, &configuration, &error), error,
                       SADDLE_BAD_INPUT, "mixing-rounds");
        test_release(r.algorithm, r.parameters);
    }
    test_instance_close(&r.instance);
}
