/*
 * Compressed messages: packing against slow versions, closed forms on two agents, a slow PRECISION against the library
 * in every round, conserved sums and feasible iterates, how much is saved, and what is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/layout.h"
#include "core/print.h"
#include "core/text.h"
#include "engines/compressor.h"
#include "engines/replicas.h"
#include "graph/compression.h"
#include "instances.h"
#include "problems/evaluate.h"
#include "support.h"

/* ---- packing -------------------------------------------------------------------------------------- */

enum { LONGEST = 1000 };

static saddle_rng stream_of(uint64_t number)
{
    saddle_rng rng;
    saddle_rng_init(&rng, 1, SADDLE_RNG_TEST, 0, number);
    return rng;
}

static saddle_compression rule_of(const char *text)
{
    saddle_error error = {.message = ""};
    saddle_compression rule;
    assert_ok(saddle_compression_read(&rule, text, (double)NAN, &error), error);
    return rule;
}

/* What arrives of a field; a byte behind the message must stay as it is. */
static void pass_on(const saddle_compression *rule, uint64_t number, size_t length,
                    const double *field, double *out)
{
    unsigned char packed[8 * LONGEST + 1];
    size_t bytes = saddle_compressed_bytes(rule, length);
    ck_assert_uint_le(bytes, 8 * length);
    memset(packed, 0xab, sizeof packed);
    saddle_rng draw = stream_of(number);
    saddle_compress(rule, &draw, length, field, packed);
    ck_assert_uint_eq(packed[bytes], 0xab);
    memset(out, 0, length * sizeof *out);
    draw = stream_of(number);
    saddle_compressed_add(rule, &draw, length, packed, out);
}

static void fill(saddle_rng *rng, size_t length, double *field)
{
    for (size_t k = 0; k < length; k++)
        field[k] = saddle_rng_normal(rng);
}

TEST_LOOP(entries_go_to_the_nearest_level, 0, 8)
{
    double field[LONGEST];
    double got[LONGEST];
    char text[32];
    saddle_rng rng = stream_of(0);
    unsigned bits = 2 + (unsigned)_i;
    snprintf(text, sizeof text, "quantize:%u", bits);
    saddle_compression rule = rule_of(text);
    for (size_t length = 2; length < LONGEST; length += 1 + length / 3) {
        double largest = 0.0;
        int levels = (1 << (bits - 1)) - 1;
        fill(&rng, length, field);
        field[length / 2] = 0.0;
        for (size_t k = 0; k < length; k++)
            largest = fmax(largest, fabs(field[k]));
        pass_on(&rule, 0, length, field, got);
        size_t packed = 8 + (length * bits + 7) / 8;
        bool whole = packed >= 8 * length;
        ck_assert_uint_eq(saddle_compressed_bytes(&rule, length), whole ? 8 * length : packed);
        for (size_t k = 0; k < length && !whole; k++) {
            /* The nearest of all levels, found by trying them. gcc 12 for arm64 does not compile this with fmin(). */
            double nearest = (double)INFINITY;
            for (int l = -levels; l <= levels; l++) {
                double distance = fabs(field[k] - largest * l / levels);
                nearest = distance < nearest ? distance : nearest;
            }
            assert_near(fabs(got[k] - field[k]), nearest, 1e-14 * largest);
        }
        ck_assert(got[length / 2] == 0.0);
    }
}

TEST(levels_have_a_closed_form)
{
    /* Three levels on either side of 0, the largest magnitude 6: units of 2. */
    const double field[] = {6.0, -6.0, 3.1, 2.9, -0.9, 1.1, 0.0, -3.1};
    const double expected[] = {6.0, -6.0, 4.0, 2.0, 0.0, 2.0, 0.0, -4.0};
    double got[8];
    saddle_compression rule = rule_of("quantize:3");
    pass_on(&rule, 0, 8, field, got);
    for (size_t k = 0; k < 8; k++)
        ck_assert(got[k] == expected[k]);
}

static const char *const rules[] = {"quantize:2",  "quantize:3", "quantize:4", "quantize:8",
                                    "quantize:16", "top:0.1",    "top:0.01",   "random:0.1",
                                    "random:0.01", "top:1",      "random:0.5"};
enum { RULES = sizeof rules / sizeof *rules };

TEST_LOOP(what_is_zero_tiny_or_not_finite_is_no_trouble, 0, RULES)
{
    static const double odd[] = {0.0,   5e-324,           1e-300, (double)NAN, (double)INFINITY,
                                 1e308, -(double)INFINITY};
    saddle_compression rule = rule_of(rules[_i]);
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        double field[100] = {0.0};
        double got[100];
        size_t bad = 0;
        size_t wanted = 0;
        /* All of them, because random may leave out a single one. */
        for (size_t j = 0; j < 100; j++)
            field[j] = odd[k];
        pass_on(&rule, 7, 100, field, got);
        for (size_t j = 0; j < 100; j++) {
            bad += isfinite(got[j]) ? 0 : 1;
            wanted += isfinite(odd[k]) && fabs(got[j]) <= fabs(odd[k]) * (1.0 + 1e-15);
        }
        ck_assert_int_eq(bad > 0, !isfinite(odd[k]));
        ck_assert_uint_eq(wanted, isfinite(odd[k]) ? 100 : 0);
    }
}

static size_t share_of(double fraction, size_t length)
{
    size_t count = 0;
    while ((double)count < fraction * (double)length)
        count++;
    return count;
}

TEST(top_sends_the_largest_entries)
{
    double field[LONGEST];
    double got[LONGEST];
    saddle_rng rng = stream_of(1);
    static const double fraction[] = {0.01, 0.1, 0.5};
    for (size_t length = 2; length < LONGEST; length += 1 + length / 4)
        for (size_t f = 0; f < 3; f++) {
            char text[32];
            saddle_snprintf(text, sizeof text, "top:%g", fraction[f]);
            saddle_compression rule = rule_of(text);
            fill(&rng, length, field);
            /* Ties. */
            for (size_t k = 0; k < length; k++)
                if (k % 3 == 0)
                    field[k] = k % 2 == 0 ? 0.75 : -0.75;
            pass_on(&rule, 0, length, field, got);
            size_t sent = 0;
            for (size_t k = 0; k < length; k++) {
                size_t before = 0;
                for (size_t j = 0; j < length; j++)
                    before += fabs(field[j]) > fabs(field[k]) ||
                              (j < k && fabs(field[j]) == fabs(field[k]));
                bool whole = saddle_compressed_bytes(&rule, length) == 8 * length;
                bool chosen = whole || before < share_of(fraction[f], length);
                sent += chosen;
                ck_assert(got[k] == (chosen ? field[k] : 0.0));
            }
            ck_assert_uint_ge(sent, share_of(fraction[f], length));
        }
}

TEST(random_entries_are_distinct_and_equally_likely)
{
    enum { DRAWS = 20000, LENGTH = 30 };
    double field[LENGTH];
    double got[LENGTH];
    size_t times[LENGTH] = {0};
    saddle_compression rule = rule_of("random:0.1");
    for (size_t k = 0; k < LENGTH; k++)
        field[k] = 1.0 + (double)k;
    for (uint64_t t = 0; t < DRAWS; t++) {
        size_t sent = 0;
        pass_on(&rule, t, LENGTH, field, got);
        for (size_t k = 0; k < LENGTH; k++) {
            ck_assert(got[k] == 0.0 || got[k] == field[k]);
            sent += got[k] != 0.0;
            times[k] += got[k] != 0.0;
        }
        ck_assert_uint_eq(sent, 3);
    }
    ck_assert_uint_eq(saddle_compressed_bytes(&rule, LENGTH), 24);
    for (size_t k = 0; k < LENGTH; k++)
        assert_near((double)times[k] / DRAWS, 0.1, 5.0 * sqrt(0.09 / DRAWS));
}

/* ---- two agents in closed form ------------------------------------------------------------------ */

/* Two agents with one field of one entry, which is never packed: differences shrink by 1 - 2 gamma w. */
TEST_LOOP(two_agents_follow_the_closed_form, 0, 2)
{
    enum { T = 20 };
    const char *const more[] = {
        "agents=2", "samples=5", "topology=path", "compress=quantize:4", "mixing-rate=0.75", NULL};
    test_instance instance;
    test_instance_open(&instance, QUADRATIC_CONVEX_ODD, more);
    saddle_layout layout = {.rounds = 1, .kept = 1};
    saddle_layout_add(&layout, "p", 1, _i == 0 ? SADDLE_FIELD_SUM : SADDLE_FIELD_ITERATE, 0);
    saddle_replicas r = {.rule = NULL};
    saddle_allocator allocator = {0};
    const size_t start[] = {0, 1, 2};
    size_t stride = saddle_replicas_measure(&r, instance.made, &layout);
    saddle_link_table table = {.allocator = &allocator, .agents = 2, .messages = 2, .sources = 2};
    saddle_replicas_take(&r, &table);
    ck_assert(!allocator.failed);
    r.start = start;
    /* The level, a byte, and eight for the entry. */
    ck_assert_uint_eq(saddle_replicas_length(&r, 0), 2);
    double *row[2][2];
    saddle_agent agent[2];
    const saddle_mixing *mixing = instance.made->mixing;
    for (size_t i = 0; i < 2; i++) {
        row[i][0] = test_doubles(stride);
        row[i][1] = test_doubles(stride);
        row[i][0][0] = i == 0 ? 1.0 : 5.0;
        agent[i] = (saddle_agent){.id = i,
                                  .agents = 2,
                                  .layout = &layout,
                                  .degree = 1,
                                  .weight = mixing->weight + i,
                                  .self_weight = mixing->self_weight[i],
                                  .now = row[i][1],
                                  .next = row[i][0]};
        saddle_replicas_begin(&r, row[i][1]);
        saddle_replicas_start(&r, &agent[i], i);
    }
    double w = 0.75 * mixing->weight[0];
    for (size_t t = 0; t < T; t++) {
        size_t parity = t % 2;
        for (size_t i = 0; i < 2; i++) {
            const double *other = row[1 - i][parity];
            agent[i].iteration = t;
            agent[i].now = row[i][parity];
            agent[i].next = row[i][1 - parity];
            assert_near(row[i][parity][0],
                        3.0 + (i == 0 ? -2.0 : 2.0) * pow(1.0 - 2.0 * w, (double)t), 1e-14);
            saddle_replicas_collect(&r, &agent[i], i, &other, 0);
            saddle_agent_mix(&agent[i], 0, 1, agent[i].next);
        }
        for (size_t i = 0; i < 2; i++)
            saddle_replicas_publish(&r, &agent[i], i, 0);
        ck_assert_uint_eq(agent[0].degree, 1);
        ck_assert(agent[0].self_weight == mixing->self_weight[0]);
    }
    for (size_t i = 0; i < 2; i++) {
        free(row[i][0]);
        free(row[i][1]);
    }
    saddle_allocator_free(&allocator);
    test_instance_close(&instance);
}

/* ---- a slow version of PRECISION ------------------------------------------------------------------- */

enum { FIELDS = 4 };

/* x, y, d, p of each agent, their replicas, what these follow, and the gradients, each agent after agent. */
typedef struct slow {
    const saddle_instance *e;
    saddle_steps steps;
    saddle_compression rule;
    bool convex;
    size_t m;
    size_t length[FIELDS];
    double *z[FIELDS], *replica[FIELDS], *mean[FIELDS], *gradient[2];
} slow;

enum { X, Y, D, P };

static void slow_gradients(const slow *s, size_t i, double *gx, double *gy)
{
    double *scratch = test_doubles(saddle_problem_scratch(s->e->problem) + 1);
    saddle_request r = {.kind = SADDLE_REQUEST_GRADIENT,
                        .batch = {.count = s->e->problem->samples[i]},
                        .x = s->z[X] + i * s->length[X],
                        .y = s->z[Y] + i * s->length[Y],
                        .gx = gx,
                        .gy = gy};
    saddle_evaluate(s->e->problem, i, &r, scratch);
    free(scratch);
}

/* The rate that is chosen where none is given, for the share of the entries that is sent of the field that has least.
 * */
static double slow_rate(const slow *s)
{
    double share = 1.0;
    for (size_t f = 0; f < FIELDS; f++) {
        double n = (double)s->length[f];
        share = fmin(share, fmin(n, ceil(s->rule.fraction * n)) / n);
    }
    switch (s->rule.kind) {
    case SADDLE_COMPRESS_QUANTIZE:
        return s->rule.bits == 2 ? 0.7 : s->rule.bits == 3 ? 0.9 : 1.0;
    case SADDLE_COMPRESS_TOP:
        return share < 0.04 ? 5.0 * share : sqrt(share);
    default:
        return share < 0.5 ? 2.0 * share : 1.0;
    }
}

static void slow_open(slow *s, const test_rig *rig, bool convex)
{
    const saddle_instance *e = &rig->target;
    size_t nx = e->problem->x_dim;
    size_t ny = e->problem->y_dim;
    *s = (slow){.e = e,
                .steps = rig->steps,
                .rule = *e->compression,
                .convex = convex,
                .m = e->graph->agents,
                .length = {nx, ny, ny, nx}};
    if (isnan(s->rule.rate))
        s->rule.rate = slow_rate(s);
    for (size_t f = 0; f < FIELDS; f++) {
        s->z[f] = test_doubles(s->m * s->length[f]);
        s->replica[f] = test_doubles(s->m * s->length[f]);
    }
    s->gradient[0] = test_doubles(s->m * nx);
    s->gradient[1] = test_doubles(s->m * ny);
    for (size_t i = 0; i < s->m; i++) {
        memcpy(s->z[X] + i * nx, e->x0, nx * sizeof(double));
        memcpy(s->z[Y] + i * ny, e->y0, ny * sizeof(double));
        slow_gradients(s, i, s->gradient[0] + i * nx, s->gradient[1] + i * ny);
    }
    memcpy(s->z[P], s->gradient[0], s->m * nx * sizeof(double));
    memcpy(s->z[D], s->gradient[1], s->m * ny * sizeof(double));
    memcpy(s->replica[X], s->z[X], s->m * nx * sizeof(double));
    memcpy(s->replica[Y], s->z[Y], s->m * ny * sizeof(double));
    for (size_t f = 0; f < FIELDS; f++) {
        s->mean[f] = test_doubles(s->m * s->length[f]);
        memcpy(s->mean[f], s->z[f], s->m * s->length[f] * sizeof(double));
    }
}

static void slow_close(slow *s)
{
    for (size_t f = 0; f < FIELDS; f++) {
        free(s->z[f]);
        free(s->replica[f]);
        free(s->mean[f]);
    }
    free(s->gradient[0]);
    free(s->gradient[1]);
}

/* What arrives of a difference. Fields of these lengths are all packed. */
static void slow_compress(const slow *s, size_t i, size_t f, size_t t, double *change)
{
    size_t n = s->length[f];
    bool keep[LONGEST] = {false};
    double largest = 0.0;
    for (size_t k = 0; k < n; k++)
        largest = fmax(largest, fabs(change[k]));
    if (s->rule.kind == SADDLE_COMPRESS_QUANTIZE) {
        double levels = pow(2.0, s->rule.bits - 1) - 1.0;
        for (size_t k = 0; k < n && largest > 0.0; k++)
            change[k] = round(change[k] / largest * levels) / levels * largest;
        return;
    }
    size_t count = share_of(s->rule.fraction, n);
    if (s->rule.kind == SADDLE_COMPRESS_RANDOM) {
        saddle_rng rng;
        saddle_rng_init(&rng, s->e->seed, SADDLE_RNG_COMPRESS, i * SADDLE_MOST_FIELDS + f, t);
        size_t first = (size_t)saddle_rng_below(&rng, n);
        size_t step;
        bool coprime;
        do {
            step = (size_t)saddle_rng_below(&rng, n);
            coprime = step > 0;
            for (size_t a = 2; a <= step; a++)
                coprime = coprime && (step % a != 0 || n % a != 0);
        } while (!coprime);
        for (size_t k = 0; k < count; k++)
            keep[(first + k * step) % n] = true;
    }
    for (size_t k = 0; k < n; k++) {
        size_t before = 0;
        for (size_t j = 0; j < n; j++)
            before +=
                fabs(change[j]) > fabs(change[k]) || (j < k && fabs(change[j]) == fabs(change[k]));
        if (s->rule.kind == SADDLE_COMPRESS_TOP)
            keep[k] = before < count;
    }
    for (size_t k = 0; k < n; k++)
        change[k] = keep[k] ? change[k] : 0.0;
}

/* The weight of a round in the mean that a replica follows: sums of which only some entries are sent have one. */
static double slow_smoothing(const slow *s, size_t f)
{
    bool some = s->rule.kind == SADDLE_COMPRESS_TOP || s->rule.kind == SADDLE_COMPRESS_RANDOM;
    double n = (double)s->length[f];
    return some && (f == D || f == P) ? fmin(1.0, 2.0 * ceil(s->rule.fraction * n) / n) : 1.0;
}

static void slow_send(slow *s, size_t t)
{
    double change[LONGEST];
    double *scratch =
        test_doubles(saddle_set_scratch(s->e->x_set) + saddle_set_scratch(s->e->y_set) + 1);
    for (size_t f = 0; f < FIELDS; f++)
        for (size_t i = 0; i < s->m; i++) {
            size_t n = s->length[f];
            double *replica = s->replica[f] + i * n;
            double weight = slow_smoothing(s, f);
            for (size_t k = 0; k < n; k++) {
                double *mean = &s->mean[f][i * n + k];
                *mean = weight < 1.0 ? *mean + weight * (s->z[f][i * n + k] - *mean)
                                     : s->z[f][i * n + k];
                change[k] = *mean - replica[k];
            }
            slow_compress(s, i, f, t, change);
            for (size_t k = 0; k < n; k++)
                replica[k] += change[k];
            if (s->convex && (f == X || f == Y))
                saddle_set_project(f == X ? s->e->x_set : s->e->y_set, replica, scratch);
        }
    free(scratch);
}

/* Field f of all agents after mixing. */
static double *slow_mix(const slow *s, size_t f)
{
    size_t n = s->length[f];
    double *out = test_doubles(s->m * n);
    bool towards = s->convex && (f == X || f == Y);
    for (size_t i = 0; i < s->m; i++)
        for (size_t k = 0; k < n; k++) {
            double own = s->z[f][i * n + k];
            out[i * n + k] = own;
            for (size_t j = 0; j < s->m; j++) {
                if (j == i)
                    continue;
                out[i * n + k] +=
                    s->rule.rate * test_weight(s->e->mixing, i, j) *
                    (s->replica[f][j * n + k] - (towards ? own : s->replica[f][i * n + k]));
            }
        }
    return out;
}

static void slow_round(slow *s, size_t t)
{
    const saddle_instance *e = s->e;
    size_t nx = s->length[X];
    size_t ny = s->length[Y];
    double *mixed[FIELDS];
    double *scratch =
        test_doubles(saddle_prox_scratch(e->x_prox) + saddle_set_scratch(e->y_set) + 1);
    double far[LONGEST];
    slow_send(s, t);
    for (size_t f = 0; f < FIELDS; f++)
        mixed[f] = slow_mix(s, f);
    for (size_t i = 0; i < s->m; i++) {
        for (size_t k = 0; k < nx; k++)
            far[k] = s->z[X][i * nx + k] - s->z[P][i * nx + k] / s->steps.tau;
        saddle_prox_apply(e->x_prox, 1.0 / s->steps.tau, far, scratch);
        for (size_t k = 0; k < nx; k++)
            mixed[X][i * nx + k] += s->steps.nu * (far[k] - s->z[X][i * nx + k]);
        for (size_t k = 0; k < ny; k++)
            far[k] = s->z[Y][i * ny + k] + s->steps.alpha * s->z[D][i * ny + k];
        saddle_set_project(e->y_set, far, scratch);
        for (size_t k = 0; k < ny; k++)
            mixed[Y][i * ny + k] += s->steps.eta * (far[k] - s->z[Y][i * ny + k]);
    }
    for (size_t f = 0; f < FIELDS; f++) {
        free(s->z[f]);
        s->z[f] = mixed[f];
    }
    for (size_t i = 0; i < s->m; i++) {
        double gx[LONGEST];
        double gy[LONGEST];
        slow_gradients(s, i, gx, gy);
        for (size_t k = 0; k < nx; k++)
            s->z[P][i * nx + k] += gx[k] - s->gradient[0][i * nx + k];
        for (size_t k = 0; k < ny; k++)
            s->z[D][i * ny + k] += gy[k] - s->gradient[1][i * ny + k];
        memcpy(s->gradient[0] + i * nx, gx, nx * sizeof *gx);
        memcpy(s->gradient[1] + i * ny, gy, ny * sizeof *gy);
    }
    free(scratch);
}

/* With two bits a difference in the last bit grows by a tenth in each round, because it also is in the scale. */
static const struct {
    const char *compress, *topology, *rate;
    size_t rounds;
} compared[] = {
    {"compress=quantize:4", "topology=er:0.6", "mixing-rate=auto", 200},
    {"compress=quantize:2", "topology=ring", "mixing-rate=0.5", 50},
    {"compress=quantize:16", "topology=star", "mixing-rate=1", 200},
    {"compress=top:0.1", "topology=er:0.6", "mixing-rate=auto", 200},
    {"compress=random:0.2", "topology=ring", "mixing-rate=auto", 200},
};
enum { COMPARED = sizeof compared / sizeof *compared };

TEST_LOOP(a_slow_version_agrees_with_the_library_in_every_round, 0, 2 * COMPARED)
{
    bool convex = _i % 2 == 1;
    const char *const more[] = {compared[_i / 2].compress,
                                compared[_i / 2].topology,
                                compared[_i / 2].rate,
                                "agents=6",
                                "q=1",
                                "regularizer=l1:0.05",
                                convex ? "x-set=box:-0.3:0.3" : "x-set=none",
                                convex ? "y-set=l2-ball:0.5" : "y-set=none",
                                NULL};
    test_rig rig;
    test_state state;
    slow s;
    double largest[FIELDS] = {0.0};
    test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", more, 1, NULL, NULL);
    test_state_make(&state, rig.target.problem);
    slow_open(&s, &rig, convex);
    for (size_t t = 0; t < compared[_i / 2].rounds; t++) {
        slow_round(&s, t);
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        test_state_copy(&rig, &state);
        const double *got[FIELDS] = {state.x, state.y, state.d, state.p};
        for (size_t f = 0; f < FIELDS; f++) {
            largest[f] = fmax(largest[f], test_largest(s.m * s.length[f], s.z[f]));
            assert_at_most(test_farthest(s.m * s.length[f], s.z[f], got[f]), 1e-11 * largest[f]);
        }
    }
    slow_close(&s);
    test_state_free(&state);
    test_rig_close(&rig);
}

/* ---- invariants ------------------------------------------------------------------------------------- */

/* What sums differ by from their estimates, added over agents, and how far iterates are from X and Y. */
typedef struct ledger {
    test_rig *rig;
    saddle_layout layout;
    double sum[LONGEST];
    double size;
    double outside;
} ledger;

static void add_agent(void *context, saddle_agent *agent)
{
    ledger *b = context;
    const saddle_instance *e = &b->rig->target;
    saddle_view view = {.x = NULL};
    double *point = test_doubles(e->problem->x_dim + e->problem->y_dim);
    for (size_t f = 0; f < b->layout.fields; f++) {
        const saddle_field *field = &b->layout.field[f];
        for (size_t k = 0; field->kind == SADDLE_FIELD_SUM && k < field->length; k++) {
            double value = agent->now[field->offset + k];
            b->sum[field->offset + k] += value - saddle_field_estimate(field, agent, k);
            b->size = fmax(b->size, fabs(value));
        }
    }
    b->rig->algorithm->view(agent, &view);
    memcpy(point, view.x, e->problem->x_dim * sizeof *point);
    saddle_set_project(e->x_set, point, agent->scratch);
    b->outside = fmax(b->outside, test_farthest(e->problem->x_dim, point, view.x));
    memcpy(point, view.y, e->problem->y_dim * sizeof *point);
    saddle_set_project(e->y_set, point, agent->scratch);
    b->outside = fmax(b->outside, test_farthest(e->problem->y_dim, point, view.y));
    free(point);
}

static const char *const tracking[] = {"precision", "precision+", "precision-auto", "prox-gt-sgda",
                                       "gt-gda"};
enum { TRACKING = sizeof tracking / sizeof *tracking };

TEST_LOOP(sums_are_conserved_and_iterates_feasible_in_every_round, 0, RULES *TRACKING)
{
    static const char *const seeds[] = {"seed=1", "seed=2", "seed=3"};
    char compress[32];
    snprintf(compress, sizeof compress, "compress=%s", rules[_i / TRACKING]);
    for (size_t k = 0; k < 3; k++) {
        const char *const more[] = {
            compress,         seeds[k],         "agents=7", "topology=er:0.4",
            "x-set=box:-1:1", "y-set=box:-1:1", NULL};
        test_rig rig;
        test_rig_open(&rig, QUADRATIC_NONCONVEX, tracking[_i % TRACKING], more, 1, NULL, NULL);
        ledger b = {.rig = &rig};
        for (int t = 0; t < 100; t++) {
            ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
            b = (ledger){.rig = &rig, .size = b.size};
            saddle_algorithm_layout(rig.algorithm, rig.parameters, rig.target.problem, &b.layout);
            rig.engine->kind->for_each(rig.engine, add_agent, &b);
            ck_assert_double_gt(b.size, 0.0);
            assert_at_most(test_largest(b.layout.published, b.sum), 1e-13 * b.size);
            assert_at_most(b.outside, 1e-15);
        }
        test_rig_close(&rig);
    }
}

/* ---- runs ------------------------------------------------------------------------------------------- */

/* Exact algorithms go on to the point that they reach without compression. */
TEST_LOOP(compression_leaves_no_error, 0, TEST_SLOWDOWN > 1 ? 6 : 24)
{
    static const char *const exact[][2] = {{"algorithm=precision", "strategy=tracking"},
                                           {"algorithm=precision+", "strategy=tracking"},
                                           {"algorithm=gt-gda", "strategy=tracking"},
                                           {"algorithm=dppsp", "strategy=tracking"},
                                           {"algorithm=dama", "strategy=exact-diffusion"},
                                           {"algorithm=dama", "strategy=extra"}};
    static const char *const compress[] = {"compress=quantize:4", "compress=quantize:2",
                                           "compress=top:0.2", "compress=random:0.2"};
    const char *const setting[] = {"problem=quadratic",
                                   "curvature=convex",
                                   "agents=6",
                                   "topology=er:0.6",
                                   "x-set=box:-1:1",
                                   "regularizer=l1:0.1",
                                   exact[_i % 6][0],
                                   exact[_i % 6][1],
                                   compress[_i / 6],
                                   "estimator=kalman",
                                   "iterations=6000",
                                   "samples=20",
                                   NULL};
    saddle_result *result = test_run(setting, NULL);
    assert_at_most(result->rows[result->row_count - 1].metric, 1e-16 * result->rows[0].metric);
    saddle_result_free(result);
}

/* Rounds and bytes until the metric is 1e-8 of that of the start. */
static saddle_cost until_small(const char *const *setting, const char *compress)
{
    const char *more[MOST_SETTINGS];
    size_t n = 0;
    while (setting[n] != NULL) {
        more[n] = setting[n];
        n++;
    }
    more[n++] = compress;
    more[n] = NULL;
    saddle_result *result = test_run(more, NULL);
    size_t k = 0;
    while (k < result->row_count && !(result->rows[k].metric <= 1e-8 * result->rows[0].metric))
        k++;
    ck_assert_uint_lt(k, result->row_count);
    saddle_cost cost = result->rows[k].cost;
    saddle_result_free(result);
    return cost;
}

TEST_LOOP(four_bits_take_as_many_rounds_and_a_part_of_the_bytes, 0, 2)
{
    char data[4096];
    const char *file = saddle_test_data("a9a");
    if (_i == 1 && file == NULL) {
        saddle_test_skip("there is no a9a");
        return;
    }
    snprintf(data, sizeof data, "data=%s", _i == 1 ? file : "synthetic");
    const char *const a9a[] = {data,   "agents=10",     "samples=200",    "batch=15",
                               "q=15", "trace-every=5", "iterations=600", NULL};
    const char *const quadratic[] = {"problem=quadratic", "algorithm=precision", "agents=10",
                                     "trace-every=20",    "iterations=5000",     NULL};
    const char *const *setting = _i == 1 ? a9a : quadratic;
    saddle_cost whole = until_small(setting, "compress=none");
    saddle_cost small = until_small(setting, "compress=quantize:4");
    assert_at_most((double)small.rounds, 1.3 * (double)whole.rounds);
    if (_i == 1)
        assert_at_most((double)small.bytes, (double)whole.bytes / 11.0);
    else
        assert_at_most((double)small.bytes, (double)whole.bytes / 7.0);
}

static void keep_warning(void *context, const char *message)
{
    snprintf(context, 512, "%s", message);
}

TEST(a_rate_that_is_too_large_is_named)
{
    char warning[512] = "";
    const saddle_hooks hooks = {.warning = keep_warning, .context = warning};
    const char *bounded[] = {"problem=quadratic", "agents=8",      "x-set=box:-1:1",
                             "compress=top:0.02", "mixing-rate=1", "iterations=3000",
                             "x-dim=60",          "y-dim=40",      NULL};
    saddle_result *result = test_run(bounded, &hooks);
    ck_assert_msg(
        strstr(warning, "--mixing-rate: with 1, messages compressed by top:0.02 cannot keep up") !=
            NULL,
        "'%s'", warning);
    saddle_result_free(result);
    warning[0] = '\0';
    bounded[4] = "mixing-rate=auto";
    saddle_result_free(test_run(bounded, &hooks));
    ck_assert_str_eq(warning, "");
    const char *const unbounded[] = {"problem=quadratic", "compress=random:0.1", "mixing-rate=1",
                                     "iterations=20000", NULL};
    result = test_run(unbounded, &hooks);
    ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
    ck_assert_msg(
        strstr(result->cause,
               "with --compress random:0.1 and --mixing-rate 1; give a smaller --mixing-rate") !=
            NULL,
        "'%s'", result->cause);
    saddle_result_free(result);
}

/* Noise of mini-batches that a replica keeps for many rounds drove the agents apart: the metric rose to 1.2 and 2. */
TEST_LOOP(noise_does_not_drive_agents_apart, 0, 2)
{
    static const char *const cases[][2] = {{"topology=star", "compress=top:0.01"},
                                           {"topology=er:0.5", "compress=random:0.02"}};
    char warning[512] = "";
    const saddle_hooks hooks = {.warning = keep_warning, .context = warning};
    const char *const setting[] = {"problem=auc",     "algorithm=prox-gt-sgda",
                                   "agents=8",        "data=synthetic:16000",
                                   cases[_i][0],      cases[_i][1],
                                   "iterations=4000", "trace-every=1000",
                                   "threads=1",       NULL};
    saddle_result *result = test_run(setting, &hooks);
    assert_at_most(result->rows[result->row_count - 1].metric, result->rows[0].metric);
    ck_assert_msg(strstr(warning, "ends at a metric") == NULL, "'%s'", warning);
    saddle_result_free(result);
}

/* Without trackers, agents that hardly mix stay apart; the run says so, unless it has just begun. */
TEST(a_run_that_ends_worse_says_so)
{
    char warning[512] = "";
    const saddle_hooks hooks = {.warning = keep_warning, .context = warning};
    const char *setting[] = {"problem=auc",     "algorithm=prox-dsgda",
                             "agents=8",        "data=synthetic:16000",
                             "topology=star",   "compress=random:0.02",
                             "iterations=8000", "trace-every=1000",
                             "threads=1",       NULL};
    saddle_result *result = test_run(setting, &hooks);
    ck_assert_double_gt(result->rows[result->row_count - 1].metric, result->rows[0].metric);
    ck_assert_msg(strstr(warning, "--compress: the run ends at a metric of ") != NULL &&
                      strstr(warning, "compress to a larger fraction, or take smaller steps") !=
                          NULL,
                  "'%s'", warning);
    saddle_result_free(result);
    /* Also if the rate is so small that its agents could not have agreed. */
    warning[0] = '\0';
    setting[5] = "compress=random:0.005";
    setting[6] = "iterations=6000";
    result = test_run(setting, &hooks);
    ck_assert_double_gt(result->rows[result->row_count - 1].metric, 2.0 * result->rows[0].metric);
    ck_assert_msg(strstr(warning, "compress: the run ends at a metric of ") != NULL, "'%s'",
                  warning);
    saddle_result_free(result);
    warning[0] = '\0';
    setting[6] = "iterations=20";
    result = test_run(setting, &hooks);
    ck_assert_str_eq(warning, "");
    saddle_result_free(result);
}

/* Checks that each warning of a lowered rate begins where the one before ended. */
static void follow_rates(void *context, const char *message)
{
    double *rate = context;
    const char *found = strstr(message, "lowered from ");
    if (found == NULL)
        return;
    char word[2][40];
    double from;
    double to;
    ck_assert_int_eq(sscanf(found, "lowered from %39[0-9.e-] to %39[0-9.e-]", word[0], word[1]), 2);
    ck_assert(saddle_parse_real(word[0], &from) && saddle_parse_real(word[1], &to));
    ck_assert_msg(fabs(from - *rate) <= 1e-5 * *rate && to < from, "after %g: %s", *rate, message);
    *rate = to;
}

/* The recursion of DPPSP adds up what sparse messages leave out. It swings up to metrics that end a run, or from which
 * it recovers once the agents have lowered their rates. */
TEST(a_run_that_swings_away_diverges)
{
    const char *setting[] = {"problem=auc",        "algorithm=dppsp", "agents=8",
                             "data=synthetic:480", "topology=star",   "compress=top:0.01",
                             "iterations=3000",    "threads=1",       NULL};
    saddle_result *result = test_run(setting, NULL);
    ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
    ck_assert_int_eq(result->fault.kind, SADDLE_FAULT_RUNAWAY);
    ck_assert_uint_lt(result->fault.iteration, 3000);
    ck_assert_ptr_nonnull(strstr(result->cause, "with --compress top:0.01 and --mixing-rate"));
    saddle_result_free(result);
    const char *ring[] = {"problem=quadratic", "algorithm=dppsp", "agents=12", "topology=ring",
                          "compress=top:0.05", "iterations=2000", "threads=1", NULL};
    result = test_run(ring, NULL);
    ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
    ck_assert_uint_eq(result->fault.iteration, 2000);
    saddle_result_free(result);
    ring[5] = "iterations=20000";
    result = test_run(ring, NULL);
    ck_assert_int_eq(result->stop, SADDLE_STOP_ITERATIONS);
    assert_at_most(result->rows[result->row_count - 1].metric, 1e-3 * result->rows[0].metric);
    saddle_result_free(result);
}

/* With a rate that is too large but may be lowered, agents lower it and the run converges. */
TEST(agents_back_off)
{
    const char *const setting[] = {"problem=quadratic", "agents=8",   "compress=random:0.1",
                                   "iterations=12000",  "samples=20", NULL};
    saddle_error error = {.message = ""};
    double rate = 1.0;
    const saddle_hooks hooks = {.warning = follow_rates, .context = &rate};
    saddle_plan *plan = test_plan(NULL, setting);
    saddle_instance *made = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&made, plan, &error), error);
    made->parts->compression.rate = 1.0;
    assert_ok(saddle_run(made, plan, &hooks, &result, &error), error);
    assert_at_most(result->rows[result->row_count - 1].metric, 1e-6 * result->rows[0].metric);
    ck_assert_double_lt(rate, 0.5);
    saddle_result_free(result);
    saddle_instance_free(made);
    test_plan_free(plan);
}

TEST(compression_is_refused_by_its_fault)
{
    static const struct {
        const char *setting[3], *part;
        saddle_status status;
    } bad[] = {
        {{"compress=zip"}, "--compress: there is no compression 'zip'", SADDLE_BAD_INPUT},
        {{"compress=quantize"}, "'quantize' is not of the form quantize:BITS", SADDLE_BAD_INPUT},
        {{"compress=none:3"}, "there is no compression 'none:3'", SADDLE_BAD_INPUT},
        {{"compress=quantize:1"}, "from 2 to 16 (got '1')", SADDLE_BAD_INPUT},
        {{"compress=quantize:17"}, "from 2 to 16 (got '17')", SADDLE_BAD_INPUT},
        {{"compress=quantize:4.5"}, "from 2 to 16 (got '4.5')", SADDLE_BAD_INPUT},
        {{"compress=top:0"}, "above 0 and at most 1 (got '0')", SADDLE_BAD_INPUT},
        {{"compress=random:1.5"}, "above 0 and at most 1 (got '1.5')", SADDLE_BAD_INPUT},
        {{"compress=random:nan"}, "above 0 and at most 1 (got 'nan')", SADDLE_BAD_INPUT},
        {{"compress=quantize:4", "links=lossy:0.1"},
         "use reliable links (these are lossy:0.1)",
         SADDLE_UNSUPPORTED},
        {{"compress=quantize:4", "links=agreed:0.1"},
         "would have a wrong copy of its neighbour's state from then on",
         SADDLE_UNSUPPORTED},
        {{"compress=quantize:4", "steps=theory"},
         "the theory, and so --steps theory, does not cover compressed messages",
         SADDLE_UNSUPPORTED},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        saddle_error error = {.message = ""};
        saddle_result *result = NULL;
        const char *const setting[] = {"problem=quadratic", bad[k].setting[0], bad[k].setting[1],
                                       NULL};
        saddle_plan *plan = test_plan(NULL, setting);
        assert_refused(saddle_solve(NULL, plan, &result, &error), error, bad[k].status,
                       bad[k].part);
        test_plan_free(plan);
    }
}

/* PRECISION without a table of fields. */
static void bare_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    const saddle_algorithm *precision = NULL;
    if (saddle_algorithm_find(&precision, "precision", NULL) == SADDLE_OK)
        precision->layout(parameters, problem, out);
    out->fields = 0;
}

TEST(an_algorithm_without_fields_is_refused)
{
    const char *const setting[] = {"problem=quadratic", "compress=quantize:4", NULL};
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    const saddle_algorithm *precision = NULL;
    assert_ok(saddle_algorithm_find(&precision, "precision", &error), error);
    saddle_algorithm bare = *precision;
    bare.layout = bare_layout;
    saddle_plan *plan = test_plan(NULL, setting);
    plan->algorithm.own = &bare;
    assert_refused(saddle_solve(NULL, plan, &result, &error), error, SADDLE_UNSUPPORTED,
                   "does not say which fields its messages have");
    test_plan_free(plan);
}
