/*
 * Whole runs over links that lose and delay messages: slow versions of PRECISION, PRECISION+, Prox-GT-SGDA and GT-GDA,
 * made from their formulas and those of running sums, against the library. Gradients are added sample by sample, and
 * every message that was ever sent is kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/link_rule.h"
#include "instances.h"
#include "problems/evaluate.h"
#include "support.h"

enum { AGENTS = 6, SAMPLES = 20, BATCH = 3, ROUNDS = 300 };

/* ---- links --------------------------------------------------------------------------------------- */

/* Which messages arrive. */
typedef struct network {
    const saddle_instance *e;
    bool failing[AGENTS][AGENTS];
    double least_phi;
} network;

static saddle_rng stream(const network *n, size_t i, size_t j, size_t round)
{
    saddle_rng rng;
    saddle_rng_init(&rng, n->e->seed, SADDLE_RNG_LINK, i * AGENTS + j, round);
    return rng;
}

/* Draw for a round which messages are lost. */
static void draw_losses(network *n, size_t round)
{
    double p = n->e->links->loss;
    double length = n->e->links->burst;
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; j < AGENTS; j++) {
            saddle_rng rng = stream(n, i, j, round);
            double chance = p;
            if (length > 0.0 && round > 0)
                chance = n->failing[i][j] ? 1.0 - 1.0 / length : p / (length * (1.0 - p));
            n->failing[i][j] = saddle_rng_uniform(&rng) < chance;
        }
}

/* By how many rounds the message from j to i is late. */
static size_t lateness(const network *n, size_t i, size_t j, size_t round)
{
    saddle_rng rng = stream(n, i, j, round);
    return saddle_rng_uniform(&rng) < n->e->links->late
               ? 1 + saddle_rng_below(&rng, n->e->links->delay)
               : 0;
}

/* ---- fields ---------------------------------------------------------------------------------------- */

/* Fields that are sent in the same rounds: an iterate, which is averaged, and sums, of which phi is the last. */
typedef struct wire {
    size_t width;                   /* of the iterate */
    size_t sums;                    /* with phi */
    double *w, *z, *s;              /* per agent */
    double *r;                      /* per agent and agent */
    double *sent_w, *sent_s;        /* per round and agent */
    bool was_sent[ROUNDS];          /* in a round */
    long last_used[AGENTS][AGENTS]; /* round of the newest message that was used; -1: none */
} wire;

static void wire_open(wire *out, size_t width, size_t sums)
{
    *out = (wire){.width = width, .sums = sums};
    out->w = test_doubles(AGENTS * width);
    out->z = test_doubles(AGENTS * sums);
    out->s = test_doubles(AGENTS * sums);
    out->r = test_doubles(sums * AGENTS * AGENTS);
    out->sent_w = test_doubles(width * AGENTS * ROUNDS);
    out->sent_s = test_doubles(sums * AGENTS * ROUNDS);
    memset(out->last_used, 0xff, sizeof out->last_used);
    for (size_t i = 0; i < AGENTS; i++)
        out->z[(i + 1) * sums - 1] = 1.0;
}

static void wire_close(wire *a)
{
    free(a->w);
    free(a->z);
    free(a->s);
    free(a->r);
    free(a->sent_w);
    free(a->sent_s);
}

static double phi_of(const wire *a, size_t i)
{
    return a->z[(i + 1) * a->sums - 1];
}

/* The phi up to which agents push nothing. */
static double hold(const network *n)
{
    return n->e->spectrum.lambda <= 0.9 ? 0.9 : 0.5;
}

/* Agent i pushes its sums, unless its phi is small, and sends the iterate and all that it ever pushed. */
static void publish(network *n, wire *a, size_t i, size_t round)
{
    double own = n->e->mixing->self_weight[i];
    bool holds = phi_of(a, i) <= hold(n);
    n->least_phi = fmin(n->least_phi, phi_of(a, i));
    for (size_t k = i * a->sums; k < (i + 1) * a->sums; k++) {
        double pushed = holds ? 0.0 : a->z[k];
        a->s[k] += pushed;
        a->z[k] -= (1.0 - own) * pushed;
        a->sent_s[round * AGENTS * a->sums + k] = a->s[k];
    }
    for (size_t k = i * a->width; k < (i + 1) * a->width; k++)
        a->sent_w[round * AGENTS * a->width + k] = a->w[k];
}

/* The round of the newest message from j that agent i has in a round and did not use before; -1: there is none. */
static long newest(const network *n, const wire *a, size_t i, size_t j, size_t round)
{
    long found = -1;
    if (n->e->links->kind != SADDLE_LINKS_DELAY)
        return n->failing[i][j] ? -1 : (long)round;
    for (long sent = a->last_used[i][j] + 1; sent <= (long)round; sent++)
        if (a->was_sent[sent] && (size_t)sent + lateness(n, i, j, (size_t)sent) <= round)
            found = sent;
    return found;
}

/* Agent i takes in what arrived from j, or its own iterate in the place of j's. */
static void receive(const network *n, wire *a, size_t i, size_t j, size_t round)
{
    double weight = test_weight(n->e->mixing, i, j);
    long sent = newest(n, a, i, j, round);
    const double *own = a->sent_w + (round * AGENTS + i) * a->width;
    const double *from = sent < 0 ? own : a->sent_w + ((size_t)sent * AGENTS + j) * a->width;
    for (size_t k = 0; k < a->width; k++)
        a->w[i * a->width + k] += weight * (from[k] - own[k]);
    for (size_t k = 0; sent >= 0 && k < a->sums; k++) {
        double *r = &a->r[(i * AGENTS + j) * a->sums + k];
        double now = a->sent_s[((size_t)sent * AGENTS + j) * a->sums + k];
        a->z[i * a->sums + k] += weight * (now - *r);
        *r = now;
    }
    if (sent >= 0)
        a->last_used[i][j] = sent;
}

/* A round: iterates and sums become what they are after mixing. */
static void exchange(network *n, wire *a, size_t round)
{
    draw_losses(n, round);
    a->was_sent[round] = true;
    for (size_t i = 0; i < AGENTS; i++)
        publish(n, a, i, round);
    for (size_t i = 0; i < AGENTS; i++)
        for (size_t j = 0; j < AGENTS; j++)
            if (j != i && test_weight(n->e->mixing, i, j) > 0.0)
                receive(n, a, i, j, round);
}

/* ---- gradients --------------------------------------------------------------------------------------- */

/* Mean of the gradients of samples, and their variance; out: (gx, gy). */
static double mean_gradient(const saddle_instance *e, size_t i, const uint32_t *sample,
                            size_t count, const double *x, const double *y, double *out)
{
    size_t both = e->problem->x_dim + e->problem->y_dim;
    double *each = test_doubles(count * both);
    double *scratch = test_doubles(saddle_problem_scratch(e->problem) + 1);
    double variance = 0.0;
    memset(out, 0, both * sizeof *out);
    for (size_t j = 0; j < count; j++) {
        double *g = each + j * both;
        saddle_request r = {.kind = SADDLE_REQUEST_GRADIENT,
                            .batch = {.index = &sample[j], .count = 1},
                            .x = x,
                            .y = y,
                            .gx = g,
                            .gy = g + e->problem->x_dim};
        saddle_evaluate(e->problem, i, &r, scratch);
        for (size_t k = 0; k < both; k++)
            out[k] += g[k] / (double)count;
    }
    for (size_t j = 0; j < count * both; j++)
        variance += (each[j] - out[j % both]) * (each[j] - out[j % both]) / ((double)count - 1.0);
    free(each);
    free(scratch);
    return variance;
}

/* Draw samples without replacement; returns how many. */
static size_t draw(const saddle_instance *e, saddle_purpose purpose, size_t i, size_t iteration,
                   size_t count, uint32_t sample[SAMPLES])
{
    uint64_t mark[SAMPLES] = {0};
    saddle_rng rng;
    for (uint32_t k = 0; k < SAMPLES; k++)
        sample[k] = k;
    if (count >= SAMPLES)
        return SAMPLES;
    ck_assert_uint_le(saddle_rng_mark_words(SAMPLES), SAMPLES);
    saddle_rng_init(&rng, e->seed, purpose, i, iteration);
    saddle_rng_choose(&rng, SAMPLES, count, sample, mark);
    return count;
}

/* ---- PRECISION and its relatives ---------------------------------------------------------------------- */

typedef enum method_kind { PRECISION, PLUS, SGDA, GT_GDA, METHODS } method_kind;

static const struct {
    const char *name;
    const char *setting[3];
} methods[METHODS] = {[PRECISION] = {"precision", {"q=7", "batch=3"}},
                      [PLUS] = {"precision+", {"batch=3", "c-gamma=0.01"}},
                      [SGDA] = {"prox-gt-sgda", {"batch=3"}},
                      [GT_GDA] = {"gt-gda", {"eta-x=0.03", "eta-y=0.05", "ascents=3"}}};
#define ETA_X 0.03
#define ETA_Y 0.05
enum { ASCENTS = 3 };

/* What is known of a run. GT-GDA sends (y, d) and (x, p), the others x, y, p, d and PRECISION+'s c at once. */
typedef struct run {
    network net;
    method_kind method;
    const saddle_instance *e;
    saddle_steps steps;
    size_t nx, ny, both;
    wire xy, x, y;
    double *v; /* per agent: (v, u) */
    /* PRECISION+. */
    double variance[AGENTS], followed[AGENTS], window[AGENTS];
    size_t refreshed[AGENTS], span[AGENTS];
    size_t least, most; /* sizes of refreshes */
} run;

/* (x~ - x, y~ - y) of agent i for g = z / phi. */
static void aim(const run *s, size_t i, double *step)
{
    const double *w = s->xy.w + i * s->both;
    const double *z = s->xy.z + i * s->xy.sums;
    double *scratch =
        test_doubles(saddle_prox_scratch(s->e->x_prox) + saddle_set_scratch(s->e->y_set) + 1);
    for (size_t k = 0; k < s->both; k++) {
        double g = z[k] / phi_of(&s->xy, i);
        step[k] = k < s->nx ? w[k] - g / s->steps.tau : w[k] + s->steps.alpha * g;
    }
    saddle_prox_apply(s->e->x_prox, 1.0 / s->steps.tau, step, scratch);
    saddle_set_project(s->e->y_set, step + s->nx, scratch);
    for (size_t k = 0; k < s->both; k++)
        step[k] -= w[k];
    free(scratch);
}

static double square(size_t count, const double *v)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += v[k] * v[k];
    return sum;
}

/* PRECISION+: the mean over R_i samples, R_i = c_gamma sigma^2 / gamma within bounds; the next is 2 sqrt(R_i) later. */
static void refresh(run *s, size_t i, size_t iteration, double gamma, const double *w, double *out)
{
    uint32_t sample[SAMPLES];
    /* A gamma that is not positive, as one that is followed can be, says nothing. */
    double size = gamma > 0.0 ? ceil(s->steps.c_gamma * s->variance[i] / gamma) : SAMPLES;
    size = fmax(BATCH, fmin(SAMPLES, size));
    size_t count = draw(s->e, SADDLE_RNG_REFRESH, i, iteration, (size_t)size, sample);
    s->variance[i] = mean_gradient(s->e, i, sample, count, w, w + s->nx, out);
    s->refreshed[i] = iteration;
    s->span[i] = (size_t)ceil(2.0 * sqrt(size));
    s->window[i] = 0.0;
    s->least = count < s->least ? count : s->least;
    s->most = count > s->most ? count : s->most;
}

/* Before the first refresh: variance and gamma from a mini-batch. */
static void pilot(run *s, size_t i, const double *w, double *out)
{
    uint32_t sample[SAMPLES];
    double *scratch = test_doubles(saddle_prox_scratch(s->e->x_prox) + 1);
    size_t count = draw(s->e, SADDLE_RNG_PILOT, i, 0, BATCH, sample);
    s->variance[i] = mean_gradient(s->e, i, sample, count, w, w + s->nx, out);
    for (size_t k = 0; k < s->nx; k++)
        out[k] = w[k] - out[k] / s->steps.tau;
    saddle_prox_apply(s->e->x_prox, 1.0 / s->steps.tau, out, scratch);
    for (size_t k = 0; k < s->nx; k++)
        out[k] -= w[k];
    refresh(s, i, 0, AGENTS * square(s->nx, out), w, out);
    free(scratch);
}

/* The estimate of agent i at w in an iteration; w0 is where it was before. */
static void estimate(run *s, size_t i, size_t iteration, const double *w0, const double *w,
                     double *out)
{
    uint32_t sample[SAMPLES];
    double *before = test_doubles(s->both);
    size_t since = iteration - (s->method == PLUS ? s->refreshed[i] : 0);
    size_t count = draw(s->e, SADDLE_RNG_BATCH, i, iteration, BATCH, sample);
    bool fresh = s->method == PRECISION && since % s->steps.q == 0;
    if (iteration == 0 && s->method == PLUS) {
        pilot(s, i, w, out);
    } else if (s->method == PLUS && since % s->span[i] == 0) {
        refresh(s, i, iteration, AGENTS * s->window[i] / (double)s->span[i], w, out);
    } else {
        if (fresh)
            count = draw(s->e, SADDLE_RNG_BATCH, i, iteration, SAMPLES, sample);
        mean_gradient(s->e, i, sample, count, w, w + s->nx, out);
        if (s->method != SGDA && !fresh) {
            mean_gradient(s->e, i, sample, count, w0, w0 + s->nx, before);
            for (size_t k = 0; k < s->both; k++)
                out[k] = s->v[i * s->both + k] + (out[k] - before[k]);
        }
    }
    free(before);
}

/* Follow the mean of |x~ - x|^2, of which `reach` is the agent's. */
static void follow(run *s, size_t i, double reach)
{
    double *c = &s->xy.z[i * s->xy.sums + s->both];
    double change = reach - s->followed[i];
    s->window[i] += *c / phi_of(&s->xy, i) + change;
    *c += change;
    s->followed[i] = reach;
}

static void track(run *s, size_t i, const double *estimate)
{
    for (size_t k = 0; k < s->both; k++) {
        s->xy.z[i * s->xy.sums + k] += estimate[k] - s->v[i * s->both + k];
        s->v[i * s->both + k] = estimate[k];
    }
}

static void iterate(run *s, size_t t)
{
    double *step = test_doubles(AGENTS * s->both);
    double *before = test_doubles(AGENTS * s->both);
    double *new = test_doubles(s->both);
    memcpy(before, s->xy.w, AGENTS * s->both * sizeof *before);
    for (size_t i = 0; i < AGENTS; i++)
        aim(s, i, step + i * s->both);
    exchange(&s->net, &s->xy, t);
    for (size_t i = 0; i < AGENTS; i++) {
        double *w = s->xy.w + i * s->both;
        const double *far = step + i * s->both;
        for (size_t k = 0; k < s->both; k++)
            w[k] += (k < s->nx ? s->steps.nu : s->steps.eta) * far[k];
        if (s->method == PLUS)
            follow(s, i, square(s->nx, far));
        estimate(s, i, t + 1, before + i * s->both, w, new);
        track(s, i, new);
    }
    free(step);
    free(before);
    free(new);
}

/* ---- GT-GDA --------------------------------------------------------------------------------------------- */

/* One round of GT-GDA: an ascent in y or the descent in x. `estimate`: where the gradient's entries are among all. */
static void gt_round(run *s, wire *a, size_t round, size_t at, double step, bool ascent)
{
    size_t dim = a->width;
    uint32_t sample[SAMPLES];
    double *g = test_doubles(AGENTS * s->both);
    double *scratch =
        test_doubles(saddle_prox_scratch(s->e->x_prox) + saddle_set_scratch(s->e->y_set) + 1);
    for (size_t i = 0; i < AGENTS; i++) {
        size_t count = draw(s->e, SADDLE_RNG_BATCH, i, 0, SAMPLES, sample);
        mean_gradient(s->e, i, sample, count, s->x.w + i * s->nx, s->y.w + i * s->ny,
                      g + i * s->both);
    }
    exchange(&s->net, a, round);
    for (size_t i = 0; i < AGENTS; i++) {
        double *w = a->w + i * dim;
        for (size_t k = 0; k < dim; k++) {
            double *old = &s->v[i * s->both + at + k];
            double change = g[i * s->both + at + k] - *old;
            w[k] += step * (a->z[i * a->sums + k] / phi_of(a, i) + change);
            a->z[i * a->sums + k] += change;
            *old += change;
        }
        if (ascent)
            saddle_set_project(s->e->y_set, w, scratch);
        else
            saddle_prox_apply(s->e->x_prox, -step, w, scratch);
    }
    free(g);
    free(scratch);
}

static void gt_iterate(run *s, size_t t)
{
    size_t first = t * (ASCENTS + 1);
    for (size_t k = 0; k < ASCENTS; k++)
        gt_round(s, &s->y, first + k, s->nx, ETA_Y, true);
    gt_round(s, &s->x, first + ASCENTS, 0, -ETA_X, false);
}

/* ---- runs ------------------------------------------------------------------------------------------------ */

static void run_open(run *s, method_kind method, const test_rig *rig)
{
    const saddle_instance *e = &rig->target;
    size_t nx = e->problem->x_dim;
    size_t ny = e->problem->y_dim;
    *s = (run){.net = {.e = e, .least_phi = 1.0},
               .method = method,
               .e = e,
               .steps = rig->steps,
               .nx = nx,
               .ny = ny,
               .both = nx + ny,
               .least = SAMPLES};
    ck_assert_uint_eq(e->graph->agents, AGENTS);
    ck_assert_uint_eq(e->problem->samples[0], SAMPLES);
    wire_open(&s->xy, nx + ny, nx + ny + (method == PLUS) + 1);
    wire_open(&s->x, nx, nx + 1);
    wire_open(&s->y, ny, ny + 1);
    s->v = test_doubles(AGENTS * (nx + ny));
    for (size_t i = 0; i < AGENTS; i++) {
        double *w = s->xy.w + i * s->both;
        memcpy(w, e->x0, nx * sizeof *w);
        memcpy(w + nx, e->y0, ny * sizeof *w);
        memcpy(s->x.w + i * nx, e->x0, nx * sizeof *w);
        memcpy(s->y.w + i * ny, e->y0, ny * sizeof *w);
        if (method == GT_GDA)
            continue;
        double *first = test_doubles(s->both);
        /* The first estimate, at one point, is no difference. */
        if (method == PRECISION) {
            uint32_t all[SAMPLES];
            draw(e, SADDLE_RNG_BATCH, i, 0, SAMPLES, all);
            mean_gradient(e, i, all, SAMPLES, w, w + nx, first);
        } else {
            estimate(s, i, 0, w, w, first);
        }
        track(s, i, first);
        free(first);
    }
}

static void run_close(run *s)
{
    wire_close(&s->xy);
    wire_close(&s->x);
    wire_close(&s->y);
    free(s->v);
}

/* Assert that the library's agent i is where the slow version's is: x or y with its tracker. */
static void assert_side(const wire *a, size_t i, size_t at, size_t dim, const double *iterate,
                        const double *tracker)
{
    for (size_t k = 0; k < dim; k++) {
        assert_near(iterate[i * dim + k], a->w[i * a->width + at + k], 1e-11);
        assert_near(tracker[i * dim + k], a->z[i * a->sums + at + k] / phi_of(a, i), 1e-11);
    }
}

static void assert_same(const run *s, const test_state *state)
{
    bool gt = s->method == GT_GDA;
    for (size_t i = 0; i < AGENTS; i++) {
        assert_side(gt ? &s->x : &s->xy, i, 0, s->nx, state->x, state->p);
        assert_side(gt ? &s->y : &s->xy, i, gt ? 0 : s->nx, s->ny, state->y, state->d);
        assert_at_most(test_farthest(s->nx, state->v + i * s->nx, s->v + i * s->both), 1e-11);
        assert_at_most(test_farthest(s->ny, state->u + i * s->ny, s->v + i * s->both + s->nx),
                       1e-11);
    }
}

/* The sum of what agents hold and what is on its way is that of their estimates, for every field; 1 per agent for phi.
 * */
static void assert_conserved(const run *s, const wire *a, size_t at)
{
    for (size_t k = 0; k < a->sums; k++) {
        double off = 0.0;
        for (size_t i = 0; i < AGENTS; i++) {
            off += a->z[i * a->sums + k] - (k + 1 == a->sums ? 1.0
                                            : k < a->width   ? s->v[i * s->both + at + k]
                                                             : s->followed[i]);
            for (size_t j = 0; j < AGENTS; j++)
                if (j != i)
                    off += test_weight(s->e->mixing, i, j) *
                           (a->s[j * a->sums + k] - a->r[(i * AGENTS + j) * a->sums + k]);
        }
        assert_near(off, 0.0, 1e-11);
    }
}

static const char *const links[] = {"links=lossy:0.2", "links=lossy:0.5", "links=burst:0.3:10",
                                    "links=delay:5", "links=delay:3:0.5"};
static const char *const topologies[] = {"topology=er:0.6", "topology=ring", "topology=path"};
static const char *const terms[][2] = {{"regularizer=none", "x-set=none"},
                                       {"regularizer=l1:0.05", "x-set=box:-1:1"}};
enum {
    LINKS = sizeof links / sizeof *links,
    TOPOLOGIES = sizeof topologies / sizeof *topologies,
    TERMS = sizeof terms / sizeof *terms,
    PLAIN_CASES = METHODS * LINKS * TERMS
};

TEST_LOOP(a_slow_run_agrees_with_the_library, 0,
          test_long() ? PLAIN_CASES *TOPOLOGIES : PLAIN_CASES)
{
    method_kind method = (size_t)_i % METHODS;
    size_t link = (size_t)_i / METHODS % LINKS;
    size_t term = (size_t)_i / METHODS / LINKS % TERMS;
    /* A third of the cases has every topology with every method, link and term, but not with all three of them. */
    size_t topology = ((size_t)_i / PLAIN_CASES + method + link + term) % TOPOLOGIES;
    char seed[32];
    const char *more[MOST_SETTINGS] = {
        links[link], topologies[topology], terms[term][0],   terms[term][1],
        "agents=6",  "samples=20",         "y-set=box:-2:2", seed};
    for (size_t k = 0; k < 3; k++)
        more[8 + k] = methods[method].setting[k];
    snprintf(seed, sizeof seed, "seed=%d", _i + 1);
    test_rig rig;
    test_state state;
    run s;
    test_rig_open(&rig, QUADRATIC_NONCONVEX, methods[method].name, more, 1, NULL, NULL);
    test_state_make(&state, rig.target.problem);
    run_open(&s, method, &rig);
    size_t rounds = method == GT_GDA ? ASCENTS + 1 : 1;
    for (size_t t = 0; t < ROUNDS / rounds; t++) {
        if (method == GT_GDA)
            gt_iterate(&s, t);
        else
            iterate(&s, t);
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        test_state_copy(&rig, &state);
        assert_same(&s, &state);
        if (method == GT_GDA) {
            assert_conserved(&s, &s.x, 0);
            assert_conserved(&s, &s.y, s.nx);
        } else {
            assert_conserved(&s, &s.xy, 0);
        }
    }
    /* What the cases are for took place: agents held back, and refreshes had several sizes. */
    if (link == 2)
        assert_at_most(s.net.least_phi, hold(&s.net));
    if (method == PLUS)
        ck_assert_uint_lt(s.least, s.most);
    run_close(&s);
    test_state_free(&state);
    test_rig_close(&rig);
}
