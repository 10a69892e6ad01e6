/*
 * Links that lose, delay and change: an independent, slow version of each rule against the library, invariants in every
 * round, and what is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/layout.h"
#include "engines/link_state.h"
#include "graph/link_rule.h"
#include "instances.h"
#include "problems/evaluate.h"
#include "support.h"

/* ---- two agents in closed form ------------------------------------------------------------------ */

/* Rows of two agents with one sum each: the span, a cache line, then the running sum and phi. */
typedef struct pair_model {
    saddle_layout layout;
    saddle_running_sums sums;
    double row[2][2][16]; /* agent, parity */
    double z[2][8];
    double received[2][8];
    double mixed[2][8];
} pair_model;

enum { SUM = 8, PHI = 9 };
#define PAIR_WEIGHT 0.25

/* A round in which the algorithm adds nothing; arrives[i]: whether agent i hears the other. */
static void pair_round(pair_model *p, unsigned parity, const bool arrives[2])
{
    static const double weight[] = {PAIR_WEIGHT};
    for (int i = 0; i < 2; i++) {
        const double *row = arrives[i] ? p->row[1 - i][parity] : NULL;
        saddle_running_sums_collect(&p->sums, 0, 1, &row, weight, p->received[i], p->z[i],
                                    p->mixed[i]);
    }
    for (int i = 0; i < 2; i++) {
        saddle_agent agent = {.now = p->row[i][parity],
                              .next = p->row[i][1 - parity],
                              .mixed = p->mixed[i],
                              .self_weight = 1.0 - PAIR_WEIGHT};
        agent.next[0] = p->mixed[i][0];
        saddle_running_sums_publish(&p->sums, &agent, 0, 0, p->z[i]);
    }
}

TEST(two_agents_follow_the_closed_form)
{
    pair_model p = {.layout = {.rounds = 1, .kept = 1}};
    saddle_layout_add(&p.layout, "p", 1, SADDLE_FIELD_SUM, 0);
    saddle_running_sums_plan(&p.sums, &p.layout, NAN);
    ck_assert_uint_eq(p.sums.behind, SUM);
    p.row[0][0][0] = 1.0;
    p.row[1][0][0] = 3.0;
    for (int i = 0; i < 2; i++)
        saddle_running_sums_start(&p.sums, 1.0 - PAIR_WEIGHT, 0, p.row[i][0], p.z[i]);
    pair_round(&p, 0, (const bool[]){false, true});
    /* z = (3/4, 9/4 + 1/4), phi = (3/4, 1) */
    ck_assert(p.row[0][1][0] == 0.75 / 0.75);
    ck_assert(p.row[1][1][0] == 2.5);
    ck_assert(p.row[0][1][SUM] == 1.75 && p.row[0][1][PHI] == 1.75);
    ck_assert(p.row[1][1][SUM] == 5.5 && p.row[1][1][PHI] == 2.0);
    pair_round(&p, 1, (const bool[]){true, true});
    /* Agent 0 gets both messages of agent 1 at once. */
    assert_near(p.row[0][0][0], 1.9375 / 1.0625, 1e-15);
    assert_near(p.row[1][0][0], 2.0625 / 0.9375, 1e-15);
    /* Both converge to the mean. */
    for (unsigned t = 0; t < 200; t++)
        pair_round(&p, t % 2, (const bool[]){t % 3 != 0, t % 5 != 1});
    assert_near(p.row[0][0][0], 2.0, 1e-14);
    assert_near(p.row[1][0][0], 2.0, 1e-14);
}

TEST_LOOP(an_agent_that_hears_nothing_holds_back, 0, 2)
{
    pair_model p = {.layout = {.rounds = 1, .kept = 1}};
    saddle_layout_add(&p.layout, "p", 1, SADDLE_FIELD_SUM, 0);
    saddle_running_sums_plan(&p.sums, &p.layout, _i == 0 ? 0.95 : 0.85);
    p.row[0][0][0] = 1.0;
    p.row[1][0][0] = 3.0;
    for (int i = 0; i < 2; i++)
        saddle_running_sums_start(&p.sums, 1.0 - PAIR_WEIGHT, 0, p.row[i][0], p.z[i]);
    for (unsigned t = 0; t < 1000; t++)
        pair_round(&p, t % 2, (const bool[]){false, true});
    /* (3/4)^3 < 1/2 < (3/4)^2: three pushes, the last of a phi of (3/4)^2; 3/4 < 0.9: one push where networks mix well.
     * */
    double pushes = _i == 0 ? 3.0 : 1.0;
    assert_near(p.row[0][0][PHI], 4.0 * (1.0 - pow(0.75, pushes)), 1e-14);
    assert_near(p.z[0][1], pow(0.75, pushes), 1e-15);
    assert_near(p.row[0][0][0], 1.0, 1e-14);
}

/* ---- a slow version of the rules ----------------------------------------------------------------- */

enum { ROUNDS = 400, MOST_AGENTS = 8 };

typedef struct message {
    double *x, *y, *s; /* s: p, d, phi */
} message;

/* PRECISION with full gradients in every iteration, as printed in its paper, on links of a kind. */
typedef struct slow {
    const saddle_instance *e;
    const saddle_link_rule *rule;
    saddle_steps steps;
    size_t m, nx, ny, n; /* n: with phi */
    double *x, *y, *v, *z, *s, *r;
    message *sent; /* per round and agent */
    bool bad[MOST_AGENTS][MOST_AGENTS];
    long last[MOST_AGENTS][MOST_AGENTS];
    double least_phi;
} slow;

static void slow_gradient(const slow *s, size_t i, double *out)
{
    double *scratch = test_doubles(saddle_problem_scratch(s->e->problem) + 1);
    saddle_request r = {.kind = SADDLE_REQUEST_GRADIENT,
                        .batch = {.count = s->e->problem->samples[i]},
                        .x = s->x + i * s->nx,
                        .y = s->y + i * s->ny,
                        .gx = out,
                        .gy = out + s->nx};
    saddle_evaluate(s->e->problem, i, &r, scratch);
    free(scratch);
}

static void slow_open(slow *s, const test_rig *rig)
{
    const saddle_instance *e = &rig->target;
    size_t nx = e->problem->x_dim;
    size_t ny = e->problem->y_dim;
    size_t m = e->graph->agents;
    *s = (slow){.e = e,
                .rule = e->links,
                .steps = rig->steps,
                .m = m,
                .nx = nx,
                .ny = ny,
                .n = nx + ny + 1,
                .least_phi = 1.0};
    ck_assert_uint_le(m, MOST_AGENTS);
    s->x = test_doubles(m * nx);
    s->y = test_doubles(m * ny);
    s->v = test_doubles(m * s->n);
    s->z = test_doubles(m * s->n);
    s->s = test_doubles(m * s->n);
    s->r = test_doubles(m * m * s->n);
    s->sent = calloc(ROUNDS * m, sizeof *s->sent);
    memset(s->last, 0xff, sizeof s->last);
    for (size_t i = 0; i < m; i++) {
        memcpy(s->x + i * nx, e->x0, nx * sizeof(double));
        memcpy(s->y + i * ny, e->y0, ny * sizeof(double));
        slow_gradient(s, i, s->v + i * s->n);
        s->v[i * s->n + nx + ny] = 1.0; /* what phi tracks */
        memcpy(s->z + i * s->n, s->v + i * s->n, s->n * sizeof(double));
    }
}

static void slow_close(slow *s)
{
    for (size_t k = 0; k < ROUNDS * s->m; k++)
        free(s->sent[k].x);
    free(s->x);
    free(s->y);
    free(s->v);
    free(s->z);
    free(s->s);
    free(s->r);
    free(s->sent);
}

/* The phi up to which agents push nothing. */
static double slow_hold(const slow *s)
{
    return s->e->spectrum.lambda <= 0.9 ? 0.9 : 0.5;
}

/* Agent i publishes x, y and its running sums; returns what it pushed in place of z in `push`. */
static void slow_publish(slow *s, size_t t, size_t i, double *push)
{
    message *out = &s->sent[t * s->m + i];
    double *z = s->z + i * s->n;
    double *sum = s->s + i * s->n;
    double phi = z[s->n - 1];
    s->least_phi = fmin(s->least_phi, phi);
    for (size_t k = 0; k < s->n; k++) {
        double next = phi <= slow_hold(s) ? sum[k] : sum[k] + z[k];
        push[k] = next - sum[k];
        sum[k] = next;
    }
    out->x = test_doubles(s->nx + s->ny + s->n);
    out->y = out->x + s->nx;
    out->s = out->y + s->ny;
    memcpy(out->x, s->x + i * s->nx, s->nx * sizeof(double));
    memcpy(out->y, s->y + i * s->ny, s->ny * sizeof(double));
    memcpy(out->s, sum, s->n * sizeof(double));
}

static saddle_rng stream(const slow *s, size_t i, size_t j, size_t t)
{
    saddle_rng rng;
    saddle_rng_init(&rng, s->e->seed, SADDLE_RNG_LINK, i * s->m + j, t);
    return rng;
}

/* Whether a link that fails in bursts, or independently, fails in round t. */
static bool slow_fails(slow *s, size_t i, size_t j, size_t t)
{
    saddle_rng rng = stream(s, i, j, t);
    double u = saddle_rng_uniform(&rng);
    double p = s->rule->loss;
    if (s->rule->burst == 0.0)
        return u < p;
    double chance = t == 0         ? p
                    : s->bad[i][j] ? 1 - 1 / s->rule->burst
                                   : p / (s->rule->burst * (1 - p));
    s->bad[i][j] = u < chance;
    return s->bad[i][j];
}

/* The round of the message from j that i uses in round t; -1: none. */
static long slow_used(slow *s, size_t i, size_t j, size_t t)
{
    if (s->rule->kind == SADDLE_LINKS_LOSSY)
        return slow_fails(s, i, j, t) ? -1 : (long)t;
    long newest = -1;
    for (long sent = s->last[i][j] + 1; sent <= (long)t; sent++) {
        saddle_rng rng = stream(s, i, j, (size_t)sent);
        bool late = saddle_rng_uniform(&rng) < s->rule->late;
        size_t by = late ? 1 + saddle_rng_below(&rng, s->rule->delay) : 0;
        if ((size_t)sent + by <= t)
            newest = sent;
    }
    if (newest >= 0)
        s->last[i][j] = newest;
    return newest;
}

/* x~ - x and y~ - y of agent i, for g = z / phi. */
static void slow_targets(const slow *s, size_t i, double *dx, double *dy)
{
    const double *z = s->z + i * s->n;
    const double *x = s->x + i * s->nx;
    const double *y = s->y + i * s->ny;
    double phi = z[s->n - 1];
    double *scratch =
        test_doubles(saddle_prox_scratch(s->e->x_prox) + saddle_set_scratch(s->e->y_set) + 1);
    for (size_t k = 0; k < s->nx; k++)
        dx[k] = x[k] - z[k] / phi / s->steps.tau;
    saddle_prox_apply(s->e->x_prox, 1.0 / s->steps.tau, dx, scratch);
    for (size_t k = 0; k < s->ny; k++)
        dy[k] = y[k] + s->steps.alpha * (z[s->nx + k] / phi);
    saddle_set_project(s->e->y_set, dy, scratch);
    for (size_t k = 0; k < s->nx; k++)
        dx[k] -= x[k];
    for (size_t k = 0; k < s->ny; k++)
        dy[k] -= y[k];
    free(scratch);
}

/* The estimates at the new point, and what that adds to z. */
static void slow_track(slow *s)
{
    double *new = test_doubles(s->n);
    for (size_t i = 0; i < s->m; i++) {
        slow_gradient(s, i, new);
        for (size_t k = 0; k < s->n - 1; k++) {
            s->z[i * s->n + k] += new[k] - s->v[i * s->n + k];
            s->v[i * s->n + k] = new[k];
        }
    }
    free(new);
}

/* Section by section: what agent i mixes of round t. */
static void slow_mix(slow *s, size_t t, size_t i, const double *push, double *x1, double *y1,
                     double *z1)
{
    double own = s->e->mixing->self_weight[i];
    const double *x = s->x + i * s->nx;
    const double *y = s->y + i * s->ny;
    for (size_t k = 0; k < s->nx; k++)
        x1[k] += own * x[k];
    for (size_t k = 0; k < s->ny; k++)
        y1[k] += own * y[k];
    for (size_t k = 0; k < s->n; k++)
        z1[k] = s->z[i * s->n + k] - (1.0 - own) * push[k];
    for (size_t j = 0; j < s->m; j++) {
        double w = test_weight(s->e->mixing, i, j);
        if (j == i || w == 0.0)
            continue;
        long used = slow_used(s, i, j, t);
        const message *got = used >= 0 ? &s->sent[(size_t)used * s->m + j] : NULL;
        for (size_t k = 0; k < s->nx; k++)
            x1[k] += w * (got != NULL ? got->x[k] : x[k]);
        for (size_t k = 0; k < s->ny; k++)
            y1[k] += w * (got != NULL ? got->y[k] : y[k]);
        double *r = s->r + (i * s->m + j) * s->n;
        for (size_t k = 0; got != NULL && k < s->n; k++) {
            z1[k] += w * (got->s[k] - r[k]);
            r[k] = got->s[k];
        }
    }
}

static void slow_round(slow *s, size_t t)
{
    size_t m = s->m;
    double *push = test_doubles(m * s->n);
    double *x1 = test_doubles(m * s->nx);
    double *y1 = test_doubles(m * s->ny);
    double *z1 = test_doubles(m * s->n);
    double *dx = test_doubles(s->nx);
    double *dy = test_doubles(s->ny);
    for (size_t i = 0; i < m; i++) {
        slow_targets(s, i, dx, dy);
        for (size_t k = 0; k < s->nx; k++)
            x1[i * s->nx + k] = s->steps.nu * dx[k];
        for (size_t k = 0; k < s->ny; k++)
            y1[i * s->ny + k] = s->steps.eta * dy[k];
    }
    for (size_t i = 0; i < m; i++)
        slow_publish(s, t, i, push + i * s->n);
    for (size_t i = 0; i < m; i++)
        slow_mix(s, t, i, push + i * s->n, x1 + i * s->nx, y1 + i * s->ny, z1 + i * s->n);
    memcpy(s->x, x1, m * s->nx * sizeof *x1);
    memcpy(s->y, y1, m * s->ny * sizeof *y1);
    memcpy(s->z, z1, m * s->n * sizeof *z1);
    slow_track(s);
    free(push);
    free(x1);
    free(y1);
    free(z1);
    free(dx);
    free(dy);
}

/* The invariant of the slow version itself, all entries and phi. */
static double slow_defect(const slow *s)
{
    double worst = 0.0;
    for (size_t i = 0; i < s->m; i++)
        for (size_t k = 0; k < s->n; k++) {
            double total =
                s->z[i * s->n + k] + (1.0 - s->e->mixing->self_weight[i]) * s->s[i * s->n + k];
            for (size_t j = 0; j < s->m; j++)
                if (j != i)
                    total -= test_weight(s->e->mixing, i, j) * s->r[(i * s->m + j) * s->n + k];
            double off = fabs(total - s->v[i * s->n + k]);
            worst = test_larger(worst, off);
        }
    return worst;
}

/* ---- the library against it ----------------------------------------------------------------------- */

/* Links, topology, and whether a phi must have become so small that agents hold back. */
static const struct {
    const char *links, *topology;
    bool holds;
} one_sided[] = {
    {"links=lossy:0", "topology=ring", false},     {"links=lossy:0.2", "topology=er:0.6", false},
    {"links=lossy:0.5", "topology=ring", true},    {"links=burst:0.2:20", "topology=er:0.6", true},
    {"links=burst:0.4:3", "topology=path", false}, {"links=delay:5", "topology=ring", false},
    {"links=delay:3:0.5", "topology=star", false}, {"links=lossy:0.5", "topology=path", true}};
enum { ONE_SIDED = sizeof one_sided / sizeof *one_sided };

TEST_LOOP(a_slow_version_agrees_with_the_library_in_every_round, 0, ONE_SIDED)
{
    const char *const more[] = {one_sided[_i].links,   one_sided[_i].topology, "agents=6", "q=1",
                                "regularizer=l1:0.05", "x-set=box:-1:1",       NULL};
    test_rig rig;
    test_state state;
    slow s;
    test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", more, 1, NULL, NULL);
    test_state_make(&state, rig.target.problem);
    slow_open(&s, &rig);
    for (size_t t = 0; t < ROUNDS; t++) {
        slow_round(&s, t);
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        test_state_copy(&rig, &state);
        assert_at_most(test_farthest(s.m * s.nx, s.x, state.x), 1e-12);
        assert_at_most(test_farthest(s.m * s.ny, s.y, state.y), 1e-12);
        assert_at_most(slow_defect(&s), 1e-12);
        assert_at_most(test_rig_defect(&rig), 1e-12);
    }
    if (one_sided[_i].holds)
        assert_at_most(s.least_phi, slow_hold(&s));
    slow_close(&s);
    test_state_free(&state);
    test_rig_close(&rig);
}

/* ---- links whose two ends agree -------------------------------------------------------------------- */

/* Pairs of a random maximal matching: edges in random order. */
static void slow_match(const slow *s, size_t t, size_t partner[MOST_AGENTS])
{
    const saddle_graph *g = s->e->graph;
    size_t a[64];
    size_t b[64];
    size_t order[64];
    size_t edges = 0;
    saddle_rng rng;
    for (size_t i = 0; i < s->m; i++) {
        partner[i] = i;
        for (size_t k = g->start[i]; k < g->start[i + 1]; k++)
            if (i < g->neighbour[k]) {
                a[edges] = i;
                b[edges] = g->neighbour[k];
                order[edges] = edges;
                edges++;
            }
    }
    saddle_rng_init(&rng, s->e->seed, SADDLE_RNG_MATCHING, 0, t);
    saddle_rng_shuffle(&rng, order, edges);
    for (size_t k = 0; k < edges; k++) {
        size_t i = a[order[k]];
        size_t j = b[order[k]];
        if (partner[i] == i && partner[j] == j) {
            partner[i] = j;
            partner[j] = i;
        }
    }
    /* No edge is left whose ends are both free. */
    for (size_t k = 0; k < edges; k++)
        ck_assert(partner[a[k]] != a[k] || partner[b[k]] != b[k]);
}

#define TOPOLOGIES "ring,star,er:0.6"
#define SCHEDULE                    \
    "# the ring in turn\n"          \
    "3 0 1\n3 2 3\n3 4 5\n"         \
    "6 1 2\n6 3 4\n6 5 0  # last\n" \
    "\n9\n"                         \
    "12 0 1\n12 1 2\n12 2 3\n12 3 4\n12 4 5\n"

/* The edges of a schedule in round t. */
static bool is_scheduled(size_t t, size_t i, size_t j)
{
    size_t low = i < j ? i : j;
    size_t high = i < j ? j : i;
    bool even = high == low + 1 && low % 2 == 0;
    bool odd = (high == low + 1 && low % 2 == 1) || (low == 0 && high == 5);
    return t < 3 || (t < 6 ? even : t < 9 ? odd : t < 12 ? false : high == low + 1);
}

/* The matrix of round t. */
static void slow_matrix(slow *s, size_t t, double matrix[MOST_AGENTS][MOST_AGENTS])
{
    saddle_error error = {.message = ""};
    static const char *const names[] = {"ring", "star", "er:0.6"};
    saddle_graph *graph = NULL;
    saddle_mixing *own = NULL;
    size_t partner[MOST_AGENTS];
    if (s->rule->kind == SADDLE_LINKS_GOSSIP)
        slow_match(s, t, partner);
    if (s->rule->kind == SADDLE_LINKS_SEQUENCE) {
        assert_ok(saddle_graph_create(&graph, names[t % 3], s->m, s->e->seed + t % 3, &error),
                  error);
        assert_ok(saddle_mixing_create(&own, graph, "metropolis", &error), error);
    }
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = i + 1; j < s->m; j++) {
            double w = test_weight(s->e->mixing, i, j);
            if (s->rule->kind == SADDLE_LINKS_AGREED && w > 0.0)
                w = slow_fails(s, i, j, t) ? 0.0 : w;
            if (s->rule->kind == SADDLE_LINKS_GOSSIP)
                w = partner[i] == j ? 0.5 : 0.0;
            if (s->rule->kind == SADDLE_LINKS_SEQUENCE)
                w = test_weight(own, i, j);
            if (s->rule->kind == SADDLE_LINKS_SCHEDULE)
                w = is_scheduled(t, i, j) ? w : 0.0;
            matrix[i][j] = matrix[j][i] = w;
        }
    for (size_t i = 0; i < s->m; i++) {
        matrix[i][i] = 1.0;
        for (size_t j = 0; j < s->m; j++)
            matrix[i][i] -= j == i ? 0.0 : matrix[i][j];
    }
    saddle_mixing_free(own);
    saddle_graph_free(graph);
}

/* out += matrix times what all agents have, `width` numbers each. */
static void multiply(size_t m, double matrix[MOST_AGENTS][MOST_AGENTS], size_t width,
                     const double *v, double *out)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            for (size_t k = 0; k < width; k++)
                out[i * width + k] += matrix[i][j] * v[j * width + k];
}

static void slow_agreed_round(slow *s, size_t t)
{
    double matrix[MOST_AGENTS][MOST_AGENTS];
    double *x1 = test_doubles(s->m * s->nx);
    double *y1 = test_doubles(s->m * s->ny);
    double *z1 = test_doubles(s->m * s->n);
    slow_matrix(s, t, matrix);
    for (size_t i = 0; i < s->m; i++) {
        slow_targets(s, i, x1 + i * s->nx, y1 + i * s->ny);
        for (size_t k = 0; k < s->nx; k++)
            x1[i * s->nx + k] *= s->steps.nu;
        for (size_t k = 0; k < s->ny; k++)
            y1[i * s->ny + k] *= s->steps.eta;
    }
    multiply(s->m, matrix, s->nx, s->x, x1);
    multiply(s->m, matrix, s->ny, s->y, y1);
    multiply(s->m, matrix, s->n, s->z, z1);
    memcpy(s->x, x1, s->m * s->nx * sizeof *x1);
    memcpy(s->y, y1, s->m * s->ny * sizeof *y1);
    memcpy(s->z, z1, s->m * s->n * sizeof *z1);
    slow_track(s);
    free(x1);
    free(y1);
    free(z1);
}

static const char *const agreed[] = {"links=agreed:0.3", "links=agreed-burst:0.2:10",
                                     "links=gossip", ("links=sequence:" TOPOLOGIES),
                                     "links=schedule:edges.txt"};
enum { AGREED = sizeof agreed / sizeof *agreed };

/* Settings for one of these rules, on six agents. */
static void agreed_settings(size_t k, const char *more[MOST_SETTINGS])
{
    size_t n = 0;
    more[n++] = agreed[k];
    more[n++] = "agents=6";
    more[n++] = "mixing=metropolis";
    more[n++] = strncmp(agreed[k], "links=schedule", 14) == 0 ? "topology=ring" : "topology=er:0.6";
    more[n] = NULL;
    saddle_test_enter_directory();
    saddle_test_write("edges.txt", SCHEDULE);
}

TEST_LOOP(a_slow_version_agrees_with_the_weights_of_every_round, 0, AGREED)
{
    const char *more[MOST_SETTINGS];
    test_rig rig;
    test_state state;
    slow s;
    size_t n = 0;
    agreed_settings((size_t)_i, more);
    while (more[n] != NULL)
        n++;
    more[n++] = "q=1";
    more[n] = NULL;
    test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", more, 1, NULL, NULL);
    test_state_make(&state, rig.target.problem);
    slow_open(&s, &rig);
    for (size_t t = 0; t < ROUNDS / 4; t++) {
        slow_agreed_round(&s, t);
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        test_state_copy(&rig, &state);
        assert_at_most(test_farthest(s.m * s.nx, s.x, state.x), 1e-12);
        assert_at_most(test_farthest(s.m * s.ny, s.y, state.y), 1e-12);
    }
    slow_close(&s);
    test_state_free(&state);
    test_rig_close(&rig);
}

/* ---- threads, rounds that are divided or gathered --------------------------------------------------- */

static const char *const any_links[] = {"links=agreed:0.3",    "links=agreed-burst:0.2:10",
                                        "links=gossip",        "links=sequence:ring,star",
                                        "links=lossy:0.3",     "links=burst:0.2:10",
                                        "links=delay:4:0.7",   "links=lossy:0",
                                        "compress=quantize:4", "compress=top:0.1",
                                        "compress=random:0.1", "links=replay:log.txt"};
enum { ANY_LINKS = sizeof any_links / sizeof *any_links };
static const char *const tracking[] = {
    "algorithm=precision",    "algorithm=precision+", "algorithm=precision-auto",
    "algorithm=prox-gt-sgda", "algorithm=gt-gda",     "algorithm=dgda-vr",
    "algorithm=dm-hsgd",      "algorithm=dream",      "algorithm=k-gt-minimax"};
enum { TRACKING = sizeof tracking / sizeof *tracking };

/* The log of the last of them. */
static void write_log(void)
{
    saddle_test_enter_directory();
    saddle_test_write("log.txt",
                      "2 late 0 1 2\n3 lost 1 0\n2 skip 2 2\n5 late 1 0 0\n20 gone 0 "
                      "1\n22 back 0 1\n36 lost 0 1\n30 gone 1 0\n45 back 1 0\n36 skip 2 9\n");
}

TEST_LOOP(bits_do_not_depend_on_threads, 0, ANY_LINKS *TRACKING)
{
    static const char *const threads[] = {"threads=1", "threads=2", "threads=3", "threads=7"};
    /* Long vectors: rounds are divided between workers. */
    const char *setting[] = {any_links[_i / TRACKING],
                             tracking[_i % TRACKING],
                             NULL,
                             "problem=quadratic",
                             "agents=5",
                             "samples=8",
                             "x-dim=520",
                             "y-dim=700",
                             "iterations=6",
                             NULL};
    saddle_result *first = NULL;
    if (!test_chosen((size_t)_i / TRACKING, (size_t)_i % TRACKING))
        return;
    write_log();
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        setting[2] = threads[k];
        saddle_result *result = test_solve(NULL, setting);
        if (first != NULL)
            test_assert_same_result(result, first, setting[0]);
        if (first != NULL)
            saddle_result_free(result);
        else
            first = result;
    }
    saddle_result_free(first);
}

/* Mean gradients point by point. */
static void gradients(const saddle_problem *problem, const saddle_gradient_requests *requests)
{
    for (size_t k = 0; k < requests->count; k++) {
        uint32_t index[64];
        size_t count = requests->start[k + 1] - requests->start[k];
        for (size_t j = 0; j < count; j++)
            index[j] = (uint32_t)requests->sample[requests->start[k] + j];
        saddle_batch batch = {.index = index, .count = count};
        problem->gradient(problem, requests->agent[k], &batch, requests->x + k * problem->x_dim,
                          requests->y + k * problem->y_dim, requests->gx + k * problem->x_dim,
                          requests->gy + k * problem->y_dim, NULL);
    }
}

TEST_LOOP(gathered_rounds_have_the_bits_of_others, 0, ANY_LINKS *TRACKING)
{
    const char *setting[] = {any_links[_i / TRACKING], tracking[_i % TRACKING], "threads=1",
                             "iterations=20", NULL};
    if (!test_chosen((size_t)_i / TRACKING, (size_t)_i % TRACKING + 1))
        return;
    saddle_problem one = *test_own_problem();
    saddle_problem all = one;
    all.gradients = gradients;
    write_log();
    saddle_result *expected = test_solve(&one, setting);
    setting[2] = "threads=2";
    saddle_result *result = test_solve(&all, setting);
    test_assert_same_result(result, expected, setting[0]);
    saddle_result_free(expected);
    saddle_result_free(result);
}

/* ---- all algorithms ---------------------------------------------------------------------------------- */

/* Run an algorithm on a small problem that it can do. */
static saddle_status try(const saddle_algorithm *algorithm, const char *links, const char *inexact,
                         saddle_result **out, saddle_error *error)
{
    char name[64];
    const char *const own[] = {name,        links, inexact, "agents=5", "iterations=30",
                               "threads=1", NULL};
    const char *relaxed[MOST_SETTINGS];
    snprintf(name, sizeof name, "algorithm=%s", algorithm->name);
    test_relax(algorithm, own, relaxed);
    saddle_plan *plan = test_instance_plan(QUADRATIC_NONCONVEX, relaxed);
    saddle_status status = saddle_solve(NULL, plan, out, error);
    test_plan_free(plan);
    return status;
}

static bool tracks(const saddle_algorithm *algorithm)
{
    for (size_t k = 0; k < TRACKING; k++)
        if (strcmp(strchr(tracking[k], '=') + 1, algorithm->name) == 0)
            return true;
    return false;
}

TEST_LOOP(every_algorithm_runs_on_the_links_that_are_exact_for_it, 0, ANY_LINKS)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    const char *links = any_links[_i];
    bool one_sided_links = strncmp(links, "links=lossy", 11) == 0 ||
                           strncmp(links, "links=burst", 11) == 0 ||
                           strncmp(links, "links=delay", 11) == 0;
    bool replay = strncmp(links, "links=replay", 12) == 0;
    write_log();
    for (size_t k = 0; k < count; k++) {
        saddle_error error = {.message = ""};
        saddle_result *result = NULL;
        bool exact = !(one_sided_links || replay) || list[k]->traits.centralized || tracks(list[k]);
        bool constant = strcmp(list[k]->name, "vrlm") != 0 || strncmp(links, "compress", 8) == 0;
        if (!constant) {
            assert_refused(try(list[k], links, "inexact=no", &result, &error), error,
                           SADDLE_UNSUPPORTED, "--links: the multipliers of vrlm");
        } else if (exact) {
            assert_ok(try(list[k], links, "inexact=no", &result, &error), error);
            saddle_result_free(result);
        } else {
            assert_refused(try(list[k], links, "inexact=no", &result, &error), error,
                           SADDLE_UNSUPPORTED, "use --links agreed:P");
        }
        static const char *const wrong[] = {"inexact=own", "inexact=stale"};
        for (size_t w = 0; one_sided_links && w < 2; w++) {
            assert_ok(try(list[k], links, wrong[w], &result, &error), error);
            saddle_result_free(result);
        }
    }
}

TEST(links_are_refused_by_their_fault)
{
    static const struct {
        const char *setting, *part;
    } bad[] = {
        {"links=perfect", "--links: there is no kind of links 'perfect'"},
        {"links=lossy", "--links: 'lossy' is not of the form lossy:P"},
        {"links=lossy:1", "from 0 to 0.99 (got '1')"},
        {"links=lossy:nan", "from 0 to 0.99 (got 'nan')"},
        {"links=agreed:-0.1", "from 0 to 0.99 (got '-0.1')"},
        {"links=agreed:0.1:2", "is not of the form agreed:P"},
        {"links=burst:0.2", "is not of the form burst:P:LENGTH"},
        {"links=burst:0.2:0.5", "must be at least 1 and at most 1e6"},
        {"links=burst:0.9:3", "must be at least 9,"},
        {"links=delay:0", "from 1 to 1000 (got '0')"},
        {"links=delay:3:1.5", "from 0 to 1 (got '1.5')"},
        {"links=lossy:0.1:0-2", "agents 0 and 2 are not linked"},
        {"links=lossy:0.1:0-9", "there is no agent 9; give numbers from 0 to "},
        {"links=burst:0.9:1", "with P = 0.9, LENGTH, the mean number of rounds of a burst, must be "
                              "at least 9, that is P / (1 - P), and at most 1e6 (got '1')"},
        {"links=lossy:0.1:3-3", "two different agents"},
        {"links=sequence:", "is not of the form sequence:TOPOLOGY,..."},
        {"links=sequence:ring,wheel", "no topology 'wheel'"},
        {"links=schedule:missing.txt", "missing.txt"},
        {"links=schedule:bad-edge.txt", "bad-edge.txt:2:5: agents 0 and 2 are not linked"},
        {"links=schedule:bad-order.txt", "put the lines in the order of their rounds"},
        {"links=schedule:bad-word.txt", "bad-word.txt:1:3: 'x' is not an agent"},
        {"links=replay:", "is not of the form replay:FILE"},
        {"links=replay:bad-edge.txt", "bad-edge.txt:1:3: a line is `round lost|gone|back I J`"},
        {"links=replay:return.txt", "such a run cannot be replayed yet"},
        {"links=replay:bad-age.txt", "bad-age.txt:1:12: a message of round 3 cannot be late by"},
        {"links=replay:twice.txt", "has two lines about one link or agent in round 3"},
    };
    saddle_test_enter_directory();
    saddle_test_write("bad-edge.txt", "0 0 1\n0 0 2\n");
    saddle_test_write("bad-order.txt", "3 0 1\n2 0 1\n");
    saddle_test_write("bad-word.txt", "0 x 1\n");
    saddle_test_write("return.txt", "3 return 0\n");
    saddle_test_write("bad-age.txt", "3 late 0 1 4\n");
    saddle_test_write("twice.txt", "3 lost 0 1\n3 late 0 1 1\n");
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *const setting[] = {"problem=quadratic", "agents=5", "topology=ring",
                                       bad[k].setting, NULL};
        saddle_plan *plan = test_plan(NULL, setting);
        assert_plan_refused(plan, bad[k].part);
    }
    const char *const setting[] = {"problem=quadratic", "links=agreed:0.2", "inexact=own", NULL};
    saddle_plan *plan = test_plan(NULL, setting);
    assert_plan_refused(plan,
                        "--inexact: applies only to lossy, burst and delay links, but these are");
}

/* ---- what is random, and what is counted ------------------------------------------------------------- */

TEST_LOOP(losses_have_their_share_and_length, 0, 3)
{
    static const struct {
        const char *links;
        double share, length;
    } wanted[] = {{"links=lossy:0.2", 0.2, 1.25},
                  {"links=burst:0.2:20", 0.2, 20.0},
                  {"links=agreed-burst:0.3:5", 0.3, 5.0}};
    const char *const setting[] = {"problem=quadratic", wanted[_i].links, "agents=6", NULL};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, setting);
    saddle_instance *made = NULL;
    assert_ok(saddle_instance_create(&made, plan, &error), error);
    uint64_t failing[1] = {0};
    saddle_link_state state = {.instance = made,
                               .rule = made->links,
                               .failing = made->links->burst > 0.0 ? failing : NULL};
    size_t lost = 0;
    size_t bursts = 0;
    bool last = false;
    enum { DRAWS = 400000 };
    for (uint64_t t = 0; t < DRAWS; t++) {
        bool fails = saddle_link_fails(&state, 0, 2, 1, t);
        lost += fails;
        bursts += fails && !last;
        last = fails;
    }
    /* Five standard errors: about as many independent bursts as were counted. */
    double error_of_share = 5.0 * wanted[_i].share / sqrt((double)bursts);
    assert_near((double)lost / DRAWS, wanted[_i].share, error_of_share);
    assert_near((double)lost / (double)bursts, wanted[_i].length,
                5.0 * wanted[_i].length / sqrt((double)bursts));
    saddle_instance_free(made);
    test_plan_free(plan);
}

TEST_LOOP(messages_count_what_was_sent, 0, 5)
{
    static const struct {
        const char *links;
        uint64_t messages; /* of 30 rounds on a ring of 6 */
    } wanted[] = {{"links=reliable", 30UL * 12UL},
                  {"links=agreed:0.5", 30UL * 12UL},
                  {"links=lossy:0.5", 30UL * 12UL},
                  {"links=sequence:ring,star", 15UL * 12UL + 15UL * 10UL},
                  {"links=schedule:edges.txt", 3UL * 12UL + 6UL * 6UL + 18UL * 10UL}};
    const char *const setting[] = {"problem=quadratic", "algorithm=precision", wanted[_i].links,
                                   "agents=6",          "topology=ring",       "x-dim=4",
                                   "y-dim=3",           "iterations=30",       NULL};
    saddle_test_enter_directory();
    saddle_test_write("edges.txt", SCHEDULE);
    saddle_result *result = test_solve(NULL, setting);
    /* x, y, p and d; lossy links send phi and the hash of a map, too. */
    uint64_t length = 2 * (4 + 3) + (strncmp(wanted[_i].links, "links=lossy", 11) == 0 ? 2 : 0);
    double age = result->rows[result->row_count - 1].cost.age;
    if (strcmp(wanted[_i].links, "links=reliable") == 0)
        ck_assert(isnan(age));
    else if (strncmp(wanted[_i].links, "links=s", 7) == 0)
        /* Edge 0-5 of the schedule works for the last time in round 8, before round 9 of 30; each topology in turn. */
        ck_assert(age == (_i == 4 ? 30.0 - 9.0 : 1.0));
    else
        ck_assert(age >= 1.0 && age <= 30.0);
    ck_assert_uint_eq(result->cost.messages, wanted[_i].messages);
    ck_assert_uint_eq(result->cost.bytes, wanted[_i].messages * length * 8);
    saddle_result_free(result);
}

/* ---- checkpoints --------------------------------------------------------------------------------------- */

TEST_LOOP(a_run_resumes_inside_bursts_and_delays, 0, ANY_LINKS *TRACKING)
{
    const char *setting[] = {any_links[_i / TRACKING],
                             tracking[_i % TRACKING],
                             "problem=quadratic",
                             "agents=6",
                             "samples=20",
                             "iterations=60",
                             "trace-every=10",
                             NULL,
                             NULL,
                             NULL,
                             NULL};
    write_log();
    saddle_result *expected = test_solve(NULL, setting);
    setting[5] = "iterations=37";
    setting[7] = "checkpoint=points";
    setting[8] = "checkpoint-every=37";
    saddle_result_free(test_solve(NULL, setting));
    setting[5] = "iterations=60";
    setting[8] = "resume=points";
    setting[9] = "threads=3";
    saddle_result *resumed = test_solve(NULL, setting);
    test_assert_same_result(resumed, expected, setting[0]);
    assert_near(resumed->rows[resumed->row_count - 1].metric,
                expected->rows[expected->row_count - 1].metric, 0.0);
    saddle_result_free(resumed);
    saddle_result_free(expected);
    /* Other links are another run. */
    saddle_error error = {.message = ""};
    saddle_result *other = NULL;
    setting[0] = "links=agreed:0.123";
    saddle_plan *plan = test_plan(NULL, setting);
    assert_refused(saddle_solve(NULL, plan, &other, &error), error, SADDLE_BAD_INPUT,
                   "a resumed run cannot change ");
    test_plan_free(plan);
}

/* ---- how far runs come ----------------------------------------------------------------------------------- */

TEST_LOOP(losses_leave_no_error, 0, 7)
{
    static const char *const links[] = {
        "links=lossy:0.2",  "links=lossy:0.5", "links=burst:0.2:20", "links=delay:5",
        "links=agreed:0.2", "links=gossip",    "links=lossy:0.2:0-1"};
    const char *const setting[] = {"problem=quadratic",
                                   "algorithm=precision",
                                   "curvature=convex",
                                   "agents=10",
                                   "samples=100",
                                   "topology=er:0.6",
                                   "regularizer=l1:0.01",
                                   "iterations=8000",
                                   "trace-every=250",
                                   links[_i],
                                   test_long() ? NULL : "stop-when=metric<=1e-17",
                                   NULL};
    saddle_result *result = test_solve(NULL, setting);
    const saddle_row *row = &result->rows[result->row_count - 1];
    assert_at_most(row->y_gap, 1e-16);
    assert_at_most(row->metric, 1e-16);
    saddle_result_free(result);
}

static void keep_warning(void *context, const char *text)
{
    snprintf(context, 512, "%s", text);
}

TEST_LOOP(losses_leave_no_error_on_a9a, 0, 3)
{
    static const char *const links[] = {"links=lossy:0.2", "links=lossy:0.5", "links=agreed:0.2"};
    const char *const setting[] = {"data=a9a", "agents=10",       "samples=200", "q=15",
                                   "batch=15", "iterations=1000", links[_i],     NULL};
    if (saddle_test_data("a9a") == NULL) {
        saddle_test_skip("no a9a in SADDLE_DATA");
        return;
    }
    saddle_result *result = test_solve(NULL, setting);
    assert_at_most(result->rows[result->row_count - 1].y_gap, 1e-16);
    assert_at_most(result->rows[result->row_count - 1].metric, 1e-16);
    saddle_result_free(result);
}

/* A schedule that leaves agents disconnected in half of the run or more, up to its end. */
TEST_LOOP(a_schedule_that_parts_the_agents_is_named, 0, 7)
{
    static const struct {
        const char *schedule, *iterations, *part; /* NULL: no warning */
    } wanted[] = {
        {"0 0 1\n0 2 3\n", "100",
         "from round 0 to the end of the run, the edges of schedule "
         "'s.txt' never connect all agents: 2 components: {0,1} {2,3}"},
        {"0 0 1\n0 2 3\n5 1 2\n9 0 1\n9 1 2\n", "100",
         "from round 5 to the end of the run, the edges of schedule 's.txt' never connect all "
         "agents: 2 components: {0,1,2} {3}"},
        {"50 0 1\n60 1 2\n", "100",
         "from round 50 to the end of the run, the edges of schedule "
         "'s.txt' never connect all agents: 2 components: {0,1,2} {3}"},
        {"50 0 1\n60 1 2\n", "99", NULL},
        {"4\n", "100", "4 components: {0} {1} {2} {3}"},
        {"0 0 1\n3 1 2\n6 2 3\n40 0 1\n70 1 2\n99 2 3\n", "100", NULL},
        {"0 0 1\n0 2 3\n5 1 2\n9\n12 0 1\n12 1 2\n12 2 3\n", "100", NULL}};
    char warning[512] = "";
    char iterations[32];
    const saddle_hooks hooks = {.warning = keep_warning, .context = warning};
    snprintf(iterations, sizeof iterations, "iterations=%s", wanted[_i].iterations);
    const char *const setting[] = {"problem=quadratic",   "agents=4", "topology=path",
                                   "samples=5",           iterations, "links=schedule:s.txt",
                                   "algorithm=precision", NULL}; /* with one round per iteration */
    saddle_test_enter_directory();
    saddle_test_write("s.txt", wanted[_i].schedule);
    saddle_result_free(test_run(setting, &hooks));
    if (wanted[_i].part == NULL)
        ck_assert_str_eq(warning, "");
    else
        ck_assert_msg(strstr(warning, wanted[_i].part) != NULL, "'%s'", warning);
}

TEST(a_dead_direction_is_named_once)
{
    const char *const setting[] = {"problem=quadratic",
                                   "agents=6",
                                   "topology=complete",
                                   "links=lossy:0.1:3-5",
                                   "iterations=300",
                                   "trace-every=50",
                                   NULL};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, setting);
    saddle_instance *made = NULL;
    saddle_result *result = NULL;
    char warning[512] = "";
    const saddle_hooks hooks = {.warning = keep_warning, .context = warning};
    assert_ok(saddle_instance_create(&made, plan, &error), error);
    assert_ok(saddle_run(made, plan, &hooks, &result, &error), error);
    ck_assert_msg(strstr(warning, "nothing from agent 3 arrived at agent 5 for 200 rounds") != NULL,
                  "%s", warning);
    saddle_result_free(result);
    warning[0] = '\0';
    plan->limits.iterations = 200;
    assert_ok(saddle_run(made, plan, &hooks, &result, &error), error);
    ck_assert_str_eq(warning, "");
    saddle_result_free(result);
    saddle_instance_free(made);
    test_plan_free(plan);
}

TEST_LOOP(wrong_rules_leave_one, 0, 2)
{
    static const char *const wrong[] = {"inexact=stale", "inexact=own"};
    const char *const setting[] = {"problem=quadratic", "curvature=convex", "agents=10",
                                   "samples=100",       "links=lossy:0.2",  wrong[_i],
                                   "topology=er:0.6",   "iterations=4000",  NULL};
    saddle_result *result = test_solve(NULL, setting);
    const saddle_row *row = &result->rows[result->row_count - 1];
    /* The agents agree, on something else. */
    assert_at_most(row->x_consensus + row->y_consensus, 1e-20);
    ck_assert_double_gt(row->y_gap, 1e-4);
    saddle_result_free(result);
}

/* A late message counts only for a round that sends the same part of the span. */
TEST_LOOP(late_messages_are_of_the_kind_of_the_round, 0, 2)
{
    enum { PERIOD = 5, WINDOW = 24, ROW = 3 };
    /* The first and the last round in which each of three fields is sent: messages with the same beginning and other
     * ends, and a round, 2, in which no field begins or ends. */
    static const unsigned rounds[][3][2] = {{{0, 4}, {0, 0}, {3, 3}}, {{0, 1}, {0, 4}, {3, 4}}};
    saddle_layout layout = {.rounds = PERIOD};
    static const char *const name[3] = {"a", "b", "c"};
    for (size_t f = 0; f < 3; f++) {
        saddle_layout_add(&layout, name[f], 1, SADDLE_FIELD_ITERATE, 0);
        layout.field[f].first_round = rounds[_i][f][0];
        layout.field[f].last_round = rounds[_i][f][1];
    }
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    plan.network.inexact = SADDLE_INEXACT_STALE;
    saddle_link_rule rule = {.kind = SADDLE_LINKS_DELAY, .delay = WINDOW - PERIOD + 1, .late = 0.9};
    const saddle_graph graph = {.agents = 2};
    saddle_instance instance = {.plan = &plan, .graph = &graph, .links = &rule, .seed = 3};
    saddle_link_state s = {.instance = NULL};
    saddle_link_state_measure(&s, &instance, &layout);
    ck_assert_uint_eq(s.window, WINDOW);
    ck_assert_uint_eq(s.kinds, 3);
    size_t kind[PERIOD];
    for (unsigned round = 0; round < PERIOD; round++) {
        saddle_row_block part;
        saddle_layout_message(&layout, round, &part.offset, &part.length);
        for (kind[round] = 0; s.kind[kind[round]].offset != part.offset ||
                              s.kind[kind[round]].length != part.length;)
            ck_assert_uint_lt(++kind[round], s.kinds);
    }
    uint64_t used[3] = {0, 0, 0};
    uint64_t sent_round = 0;
    const size_t source = 0;
    static double past[(WINDOW + 1) * ROW];
    s.used = used;
    s.sent_round = &sent_round;
    s.source = &source;
    s.past = past;
    size_t late = 0;
    for (s.number = 0; s.number < 400; s.number++) {
        size_t wanted = kind[s.number % PERIOD];
        if (saddle_link_state_arrived(&s, 0, 0, 1, past, wanted) == NULL)
            continue;
        ck_assert_uint_eq(kind[(sent_round - 1) % PERIOD], wanted);
        late += sent_round - 1 < s.number;
    }
    ck_assert_uint_gt(late, 50);
    saddle_plan_free(&plan);
}
