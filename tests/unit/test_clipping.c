/*
 * Clipped mixing: against a slow version, what it withstands if one of ten agents lies, what it costs if none does, and
 * what is refused. SADDLE_CLIPPING_TABLE=1 prints what docs/privacy.md shows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/layout.h"
#include "engines/clipper.h"
#include "instances.h"
#include "problems/evaluate.h"
#include "support.h"

enum { LIAR = 3, AGENTS = 10, MOST_PHASES = 8 };

/* ---- what agents read ------------------------------------------------------------------------------ */

enum { NEIGHBOURS = 5, FIRST = 3, SECOND = 2, ROW = FIRST + SECOND };

static saddle_layout two_fields(void)
{
    saddle_layout layout = {.rounds = 1};
    saddle_layout_add(&layout, "x", FIRST, SADDLE_FIELD_ITERATE, 0);
    saddle_layout_add(&layout, "y", SECOND, SADDLE_FIELD_ITERATE, 0);
    return layout;
}

static double length_of(size_t count, const double *v)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += v[k] * v[k];
    return sqrt(sum);
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Asserts what is read of a field, entry by entry. */
static void assert_clipped(const saddle_clip_rule *rule, size_t length, const double *own,
                           const double (*sent)[ROW], const double *const *read, size_t offset)
{
    double distance[NEIGHBOURS];
    double sorted[NEIGHBOURS];
    double change[ROW];
    for (size_t j = 0; j < NEIGHBOURS; j++) {
        for (size_t k = 0; k < length; k++)
            change[k] = sent[j][offset + k] - own[offset + k];
        distance[j] = length_of(length, change);
        sorted[j] = isfinite(distance[j]) ? distance[j] : INFINITY;
    }
    qsort(sorted, NEIGHBOURS, sizeof *sorted, descending);
    double radius = rule->liars > 0 ? sorted[rule->liars] : rule->radius;
    for (size_t j = 0; j < NEIGHBOURS; j++)
        for (size_t k = 0; k < length; k++) {
            double is = own[offset + k];
            double to = sent[j][offset + k];
            double factor = isfinite(distance[j]) ? fmin(1.0, radius / distance[j]) : 0.0;
            double due = factor > 0.0 ? is + factor * (to - is) : is;
            assert_near(read[j][offset + k], due, 1e-14 * (1.0 + fabs(due)));
        }
}

TEST_LOOP(messages_are_clipped_field_by_field, 0, 40)
{
    static const saddle_clip_rule rules[] = {{1, 0}, {2, 0}, {4, 0}, {0, 0.5}, {0, 3}};
    const saddle_clip_rule *rule = &rules[_i % 5];
    saddle_layout layout = two_fields();
    saddle_clipper clipper = {.rule = rule, .layout = &layout};
    saddle_allocator memory = {0};
    saddle_clipper_take(&clipper, NEIGHBOURS + 1, &memory);
    saddle_rng rng;
    saddle_rng_init(&rng, 1, SADDLE_RNG_TEST, 0, (uint64_t)_i);
    double own[ROW];
    double sent[NEIGHBOURS][ROW];
    const double *rows[NEIGHBOURS];
    for (size_t k = 0; k < ROW; k++)
        own[k] = saddle_rng_normal(&rng);
    for (size_t j = 0; j < NEIGHBOURS; j++) {
        rows[j] = sent[j];
        for (size_t k = 0; k < ROW; k++)
            sent[j][k] = own[k] + (double)(j + 1) * saddle_rng_normal(&rng);
    }
    if (_i % 2 == 1)
        sent[2][1] = _i % 3 == 0 ? (double)NAN : _i % 3 == 1 ? (double)-INFINITY : 1e200;
    saddle_agent agent = {.now = own, .degree = NEIGHBOURS};
    saddle_clipper_collect(&clipper, &agent, 1, rows, 0);
    assert_clipped(rule, FIRST, own, (const double(*)[ROW])sent, agent.neighbour, 0);
    assert_clipped(rule, SECOND, own, (const double(*)[ROW])sent, agent.neighbour, FIRST);
    saddle_allocator_free(&memory);
}

/* ---- lying members ------------------------------------------------------------------------------------ */

typedef enum lie { HONEST, FLIPPED, SCALED, RANDOM, DRIFTING, FAR, LIES } lie;
static const char *const lie_names[LIES] = {"none",   "sign flipped", "scaled",
                                            "random", "drifting",     "far"};
static lie told;

/* Replaces what the liar publishes: it knows what its neighbours have sent. */
static void tell(saddle_agent *agent)
{
    if (agent->id != LIAR || told == HONEST)
        return;
    saddle_rng rng;
    saddle_rng_init(&rng, 7, SADDLE_RNG_TEST, agent->id, agent->iteration);
    for (size_t f = 0; f < agent->layout->fields; f++) {
        const saddle_field *field = &agent->layout->field[f];
        for (size_t k = field->offset; k < field->offset + field->length; k++) {
            double mean = 0.0;
            for (size_t j = 0; j < agent->degree; j++)
                mean += agent->neighbour[j][k] / (double)agent->degree;
            agent->next[k] = told == FLIPPED    ? -mean
                             : told == SCALED   ? 10.0 * mean
                             : told == RANDOM   ? 10.0 * saddle_rng_normal(&rng)
                             : told == DRIFTING ? mean + 0.05
                                                : 40.0;
        }
    }
}

/* An algorithm whose last phase is tell(). */
typedef struct lying {
    saddle_algorithm algorithm;
    saddle_phase phase[MOST_PHASES];
} lying;

static void make_lying(lying *out, const char *name)
{
    saddle_error error = {.message = ""};
    const saddle_algorithm *found;
    assert_ok(saddle_algorithm_find(&found, name, &error), error);
    size_t count = 0;
    memset(out, 0, sizeof *out);
    while (found->phases[count].name != NULL) {
        out->phase[count] = found->phases[count];
        count++;
    }
    ck_assert_uint_lt(count + 1, MOST_PHASES);
    out->phase[count] = (saddle_phase){.name = "tell", .before = tell};
    out->algorithm = *found;
    out->algorithm.phases = out->phase;
}

/* The mean gradient over all rows of the honest agents. */
static void honest_gradient(const saddle_instance *e, const double *x, const double *y, double *g)
{
    const saddle_problem *p = e->problem;
    size_t both = p->x_dim + p->y_dim;
    double *each = test_doubles(both);
    double *scratch = test_doubles(saddle_problem_scratch(p) + 1);
    memset(g, 0, both * sizeof *g);
    for (size_t i = 0; i < p->agents; i++) {
        saddle_request r = {.kind = SADDLE_REQUEST_GRADIENT,
                            .batch = {.count = p->samples[i]},
                            .x = x,
                            .y = y,
                            .gx = each,
                            .gy = each + p->x_dim};
        if (i == LIAR && told != HONEST)
            continue;
        saddle_evaluate(p, i, &r, scratch);
        for (size_t k = 0; k < both; k++)
            g[k] += each[k] / (double)(told != HONEST ? p->agents - 1 : p->agents);
    }
    free(each);
    free(scratch);
}

/* The saddle point of the honest agents' mean, by gradient descent and ascent. */
static void solve_honest(const saddle_instance *e, double *x, double *y)
{
    size_t n = e->problem->x_dim;
    size_t m = e->problem->y_dim;
    double *g = test_doubles(n + m);
    for (int t = 0; t < 20000; t++) {
        honest_gradient(e, x, y, g);
        for (size_t k = 0; k < n; k++)
            x[k] -= 0.02 * g[k];
        for (size_t k = 0; k < m; k++)
            y[k] += 0.02 * g[n + k];
        if (length_of(n + m, g) < 1e-13)
            break;
    }
    assert_at_most(length_of(n + m, g), 1e-12);
    free(g);
}

/* Returns the largest squared distance of an honest agent from the honest solution, relative to that of the start. */
static double honest_distance(test_rig *rig, const double *x, const double *y)
{
    test_state state;
    const saddle_problem *p = rig->target.problem;
    test_state_make(&state, p);
    test_state_copy(rig, &state);
    double worst = 0.0;
    double start = 0.0;
    for (size_t i = 0; i < p->agents; i++) {
        double distance = 0.0;
        for (size_t k = 0; k < p->x_dim; k++)
            distance += pow(state.x[i * p->x_dim + k] - x[k], 2);
        for (size_t k = 0; k < p->y_dim; k++)
            distance += pow(state.y[i * p->y_dim + k] - y[k], 2);
        if ((i != LIAR || told == HONEST) && !(distance <= worst))
            worst = isnan(distance) ? (double)INFINITY : distance;
    }
    for (size_t k = 0; k < p->x_dim; k++)
        start += pow(rig->target.x0[k] - x[k], 2);
    for (size_t k = 0; k < p->y_dim; k++)
        start += pow(rig->target.y0[k] - y[k], 2);
    test_state_free(&state);
    return worst / start;
}

/* Returns honest_distance() after a run, the larger of two seeds. */
static double measure(const char *algorithm, const char *topology, const char *clip, lie which,
                      uint64_t iterations)
{
    static const char *const seeds[] = {"seed=21", "seed=22"};
    double worst = 0.0;
    told = which;
    for (size_t s = 0; s < 2; s++) {
        lying liar;
        test_rig rig;
        const char *more[] = {
            "agents=10", topology,     clip,         seeds[s],     "samples=20",       "x-dim=6",
            "y-dim=3",   "x-set=none", "y-set=none", "batch=auto", "regularizer=none", NULL};
        make_lying(&liar, algorithm);
        test_rig_open(&rig, QUADRATIC_CONVEX_ODD, algorithm, more, 1, &liar.algorithm, NULL);
        double *x = test_doubles(rig.target.problem->x_dim);
        double *y = test_doubles(rig.target.problem->y_dim);
        solve_honest(&rig.target, x, y);
        test_rig_advance(&rig, iterations);
        worst = test_larger(worst, honest_distance(&rig, x, y));
        free(x);
        free(y);
        test_rig_close(&rig);
    }
    return worst;
}

static const char *const methods[] = {"prox-dsgda", "cspsg", "precision", "gt-gda",
                                      "dgda-vr",    "dream", "vrlm"};
enum { METHODS = sizeof methods / sizeof *methods };

TEST_LOOP(a_liar_moves_clipped_agents_little, 0, METHODS)
{
    static const lie far[] = {FLIPPED, SCALED, RANDOM, FAR};
    const char *method = methods[_i];
    /* 1: as far from the solution as the start. */
    for (size_t k = 0; k < sizeof far / sizeof *far; k++)
        ck_assert(!(measure(method, "topology=regular:5", "clip-mixing=none", far[k], 500) <= 0.4));
    for (int l = FLIPPED; l < LIES; l++)
        assert_at_most(measure(method, "topology=regular:5", "clip-mixing=liars:1", (lie)l, 2000),
                       0.1);
    assert_at_most(measure(method, "topology=regular:5", "clip-mixing=liars:1", HONEST, 2000),
                   0.01);
    /* A radius above all distances of honest agents changes nothing, except that clipped messages
     * are not mixed fast. */
    ck_assert(strcmp(method, "dream") == 0 ||
              measure(method, "topology=regular:5", "clip-mixing=radius:1e6", HONEST, 200) ==
                  measure(method, "topology=regular:5", "clip-mixing=none", HONEST, 200));
}

/* What docs/privacy.md shows. */
TEST(table)
{
    static const char *const clips[] = {"clip-mixing=none", "clip-mixing=liars:1",
                                        "clip-mixing=radius:0.1"};
    static const char *const topologies[] = {"topology=regular:5", "topology=complete",
                                             "topology=ring"};
    static const char *const all[] = {"prox-dsgda", "cspsg",        "d-adast", "precision",
                                      "gt-gda",     "prox-gt-sgda", "dm-hsgd", "precision+"};
    if (getenv("SADDLE_CLIPPING_TABLE") == NULL)
        return;
    for (size_t g = 0; g < 3; g++)
        for (size_t a = 0; a < sizeof all / sizeof *all; a++)
            for (size_t c = 0; c < 3; c++) {
                printf("%-18s%-14s%-24s", topologies[g], all[a], clips[c]);
                for (int l = 0; l < LIES; l++)
                    printf(" %s %.2g", lie_names[l],
                           measure(all[a], topologies[g], clips[c], (lie)l, 5000));
                printf("\n");
            }
}

/* ---- what is refused, and threads ------------------------------------------------------------------ */

TEST(refusals_name_the_remedy)
{
    static const struct {
        const char *setting[6];
        const char *part;
    } refused[] = {
        {{"clip-mixing=liars", NULL}, "liars:F"},
        {{"clip-mixing=liars:0", NULL}, "at least 1"},
        {{"clip-mixing=radius:0", NULL}, "above 0"},
        {{"clip-mixing=radius:nan", NULL}, "above 0"},
        {{"clip-mixing=far", NULL}, "radius"},
        {{"clip-mixing=liars:2", "topology=ring", "agents=5", NULL}, "denser --topology"},
        {{"clip-mixing=liars:1", "links=lossy:0.1", NULL}, "reliable links"},
        {{"clip-mixing=liars:1", "compress=quantize:4", NULL}, "--compress"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        assert_plan_refused(test_plan(NULL, refused[k].setting), refused[k].part);
}

TEST(methods_that_drift_are_refused)
{
    static const char *const drifting[][2] = {{"prox-gt-sgda"},
                                              {"dm-hsgd"},
                                              {"precision+"},
                                              {"dama"},
                                              {"k-gt-minimax"},
                                              {"precision-auto"},
                                              {"dgda-vr", "refresh-size=5"},
                                              {"dream", "refresh-size=5"},
                                              {"vrlm", "estimator=storm"}};
    for (size_t k = 0; k < sizeof drifting / sizeof *drifting; k++) {
        char algorithm[64];
        saddle_error error = {.message = ""};
        saddle_result *result = NULL;
        snprintf(algorithm, sizeof algorithm, "algorithm=%s", drifting[k][0]);
        const char *setting[] = {algorithm,      "problem=quadratic", "clip-mixing=liars:1",
                                 "iterations=5", drifting[k][1],      NULL};
        saddle_plan *plan = test_plan(NULL, setting);
        saddle_status status = saddle_solve(NULL, plan, &result, &error);
        ck_assert_msg(status == SADDLE_UNSUPPORTED, "%s: %d %s", drifting[k][0], (int)status,
                      error.message);
        ck_assert_ptr_nonnull(strstr(error.message, "drift"));
        saddle_result_free(result);
        test_plan_free(plan);
    }
}

TEST(methods_that_settle_are_accepted)
{
    static const char *const settling[] = {"algorithm=dgda-vr", "algorithm=dream",
                                           "algorithm=vrlm"};
    for (size_t k = 0; k < sizeof settling / sizeof *settling; k++) {
        const char *setting[] = {settling[k],           "problem=quadratic", "topology=complete",
                                 "clip-mixing=liars:1", "iterations=5",      NULL};
        saddle_result_free(test_solve(NULL, setting));
    }
}

TEST(threads_do_not_change_the_bits)
{
    saddle_result *result[2];
    for (size_t k = 0; k < 2; k++) {
        const char *setting[] = {"problem=quadratic",
                                 "x-dim=700",
                                 "y-dim=300",
                                 "algorithm=precision",
                                 "agents=4",
                                 "topology=complete",
                                 "clip-mixing=liars:1",
                                 "iterations=50",
                                 k == 0 ? "threads=1" : "threads=3",
                                 NULL};
        result[k] = test_solve(NULL, setting);
    }
    test_assert_same_result(result[0], result[1], "clipped, 1 and 3 threads");
    saddle_result_free(result[0]);
    saddle_result_free(result[1]);
}
