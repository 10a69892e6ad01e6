/*
 * Every engine gives the same bits however it is run (any number of threads, in pieces or at once),
 * respects its limits, and reports which agent failed, how and when.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/print.h"
#include "engines/local_agents.h"
#include "instances.h"
#include "support.h"

/* Sanitizers are slow and need not see every number of threads. */
#if TEST_SLOWDOWN > 1
static const unsigned thread_counts[] = {1, 3, 16};
#else
static const unsigned thread_counts[] = {1, 2, 3, 7, 16};
#endif
#define COUNTS (sizeof thread_counts / sizeof *thread_counts)

static void assert_same_bits(const test_state *a, const test_state *b)
{
    size_t xs = a->agents * a->x_dim * sizeof(double);
    size_t ys = a->agents * a->y_dim * sizeof(double);
    ck_assert_int_eq(memcmp(a->x, b->x, xs), 0);
    ck_assert_int_eq(memcmp(a->p, b->p, xs), 0);
    ck_assert_int_eq(memcmp(a->v, b->v, xs), 0);
    ck_assert_int_eq(memcmp(a->y, b->y, ys), 0);
    ck_assert_int_eq(memcmp(a->d, b->d, ys), 0);
    ck_assert_int_eq(memcmp(a->u, b->u, ys), 0);
    ck_assert_int_eq(memcmp(a->ifo, b->ifo, a->agents * sizeof *a->ifo), 0);
}

/* ---- any number of threads ------------------------------------------------------------------- */

/* Runs an instance, with four further settings, to its end; returns the result. */
static saddle_result *run_with(int which, const saddle_algorithm *algorithm, unsigned threads,
                               const char *gap, const char *const size[3])
{
    char text[2][64];
    const char *relaxed[MOST_SETTINGS];
    saddle_snprintf(text[0], sizeof text[0], "threads=%u", threads);
    saddle_snprintf(text[1], sizeof text[1], "algorithm=%s", algorithm->name);
    const char *more[] = {text[0], text[1], "q=6",   "c-gamma=0.3", gap,
                          size[0], size[1], size[2], NULL};
    saddle_error error = {.message = ""};
    test_instance instance;
    saddle_result *result = NULL;
    test_relax(algorithm, more, relaxed);
    test_instance_open(&instance, which, relaxed);
    assert_ok(saddle_run(instance.made, NULL, NULL, &result, &error), error);
    test_instance_close(&instance);
    return result;
}

/* Compares everything except the seconds, bit for bit: NaN equals NaN. */
static void assert_same_row(const saddle_row *a, const saddle_row *b)
{
    ck_assert_uint_eq(a->iteration, b->iteration);
    ck_assert_uint_eq(a->cost.ifo, b->cost.ifo);
    ck_assert_uint_eq(a->cost.rounds, b->cost.rounds);
    ck_assert_uint_eq(a->cost.messages, b->cost.messages);
    ck_assert_uint_eq(a->cost.bytes, b->cost.bytes);
    const double first[] = {
        a->loss,           a->primal, a->metric,       a->x_consensus, a->y_consensus,
        a->x_stationarity, a->y_gap,  a->stationarity, a->potential,   a->gap};
    const double second[] = {
        b->loss,           b->primal, b->metric,       b->x_consensus, b->y_consensus,
        b->x_stationarity, b->y_gap,  b->stationarity, b->potential,   b->gap};
    const void *left = first;
    const void *right = second;
    ck_assert_int_eq(memcmp(left, right, sizeof first), 0);
}

static void assert_same_results(const saddle_result *a, const saddle_result *b)
{
    ck_assert_int_eq(a->stop, b->stop);
    ck_assert_uint_eq(a->row_count, b->row_count);
    /* Steps that are too long for a problem end its run early, with any number of threads. */
    ck_assert(a->row_count > 6 || (a->stop == SADDLE_STOP_DIVERGED && a->row_count > 1));
    for (size_t k = 0; k < a->row_count; k++)
        assert_same_row(&a->rows[k], &b->rows[k]);
    ck_assert_int_eq(memcmp(a->x_mean, b->x_mean, a->x_dim * sizeof(double)), 0);
    ck_assert_int_eq(memcmp(a->y_mean, b->y_mean, a->y_dim * sizeof(double)), 0);
    ck_assert_int_eq(memcmp(a->x, b->x, a->agents * a->x_dim * sizeof(double)), 0);
    ck_assert_int_eq(memcmp(a->y, b->y, a->agents * a->y_dim * sizeof(double)), 0);
}

/* Compares one thread with another number, which is another one from algorithm to algorithm and from instance to
 * instance; in long tests with every number. The gap does not depend on the algorithm: the first measures it. */
static void compare_threads(int which, const char *const size[3])
{
    size_t algorithms;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    for (size_t a = 0; a < algorithms; a++) {
        if (!test_chosen((size_t)which, a))
            continue;
        const char *gap = a < 3 ? "gap=end" : "gap=never";
        saddle_result *alone = run_with(which, list[a], 1, gap, size);
        for (size_t c = 1; c < COUNTS; c++) {
            if (!test_long() && c != 1 + ((size_t)which + a) % (COUNTS - 1))
                continue;
            saddle_result *pool = run_with(which, list[a], thread_counts[c], gap, size);
            assert_same_results(alone, pool);
            saddle_result_free(pool);
        }
        saddle_result_free(alone);
    }
}

TEST_LOOP(threads_do_not_change_a_bit, 0, INSTANCES)
{
    static const char *const size[3] = {"iterations=40", "trace-every=7", "seed=1"};
    compare_threads(_i, size);
}

/* Several blocks of x or y, and batches of several parts, so that workers share agents. */
typedef struct large {
    int which;
    const char *size[3];
} large;

static const large large_instances[] = {
    {LOGISTIC_BOX_SPARSE, {"data=synthetic:3000:40", "samples=600", "iterations=12"}},
    {LOGISTIC_SIMPLEX_DENSE, {"data=synthetic:3600:9", "samples=600", "iterations=12"}},
    {QUADRATIC_NONCONVEX, {"x-dim=600", "y-dim=530", "iterations=12"}},
    {AUC_MLP_DENSE, {"data=synthetic:1500:40", "score=mlp:20", "iterations=12"}},
    {FAIR_SPARSE, {"data=synthetic:3000:600", "samples=600", "iterations=12"}},
    {GROUP_DRO_SPARSE_UNEQUAL, {"data=synthetic:3000:600", "samples=600", "iterations=12"}},
    {REGRESSION_SQUARE_SPARSE_UNEQUAL, {"data=synthetic:3000:40", "samples=600", "iterations=12"}},
    {POISONING_SPARSE, {"data=synthetic:3000:300", "samples=600", "iterations=12"}},
    {OWN_PROBLEM, {"iterations=12", "trace-every=1", "seed=1"}}};

TEST_LOOP(workers_share_large_agents, 0, sizeof large_instances / sizeof *large_instances)
{
    compare_threads(large_instances[_i].which, large_instances[_i].size);
}

/* The number that worker 0 computes for all, with any number of threads: for more agents than the
 * engine's mean handles at once, and for large agents, which workers share. */
TEST_LOOP(the_oracle_serves_any_number_of_threads, 0, 2)
{
    static const int which[] = {QUADRATIC_NONCONVEX, LOGISTIC_BOX_SPARSE};
    static const char *const settings[][6] = {
        {"agents=37", "samples=6", "topology=er:0.3", "gamma=exact", "q=5", NULL},
        {"data=synthetic:10000:40", "samples=2500", "gamma=exact", "q=5", NULL}};
    const char *const *more = settings[_i];
    test_state expected;
    test_state found;
    for (size_t c = 0; c < COUNTS; c++) {
        test_rig rig;
        test_rig_open(&rig, which[_i], "precision+", more, thread_counts[c], NULL, NULL);
        if (c == 0) {
            test_state_make(&expected, rig.instance.problem);
            test_state_make(&found, rig.instance.problem);
        }
        ck_assert_int_eq(test_rig_advance(&rig, 60).kind, SADDLE_FAULT_NONE);
        test_state_copy(&rig, c == 0 ? &expected : &found);
        if (c > 0)
            assert_same_bits(&expected, &found);
        test_rig_close(&rig);
    }
    test_state_free(&expected);
    test_state_free(&found);
}

TEST_LOOP(pieces_equal_the_whole, 0, INSTANCES)
{
    static const char *const more[] = {"q=5", NULL};
    static const uint64_t piece[] = {1, 0, 2, 7, 1, 13, 6};
    test_state at_once;
    test_state in_pieces;
    test_rig rig;
    test_rig_open(&rig, _i, "precision+", more, 2, NULL, NULL);
    test_state_make(&at_once, rig.instance.problem);
    test_state_make(&in_pieces, rig.instance.problem);
    test_rig_advance(&rig, 30);
    test_state_copy(&rig, &at_once);
    test_rig_close(&rig);
    test_rig_open(&rig, _i, "precision+", more, 3, NULL, NULL);
    uint64_t sum = 0;
    for (size_t k = 0; k < sizeof piece / sizeof *piece; k++) {
        test_rig_advance(&rig, piece[k]);
        sum += piece[k];
        ck_assert_uint_eq(rig.engine->kind->iteration(rig.engine), sum);
    }
    ck_assert_uint_eq(sum, 30);
    test_state_copy(&rig, &in_pieces);
    assert_same_bits(&at_once, &in_pieces);
    test_rig_close(&rig);
    test_state_free(&at_once);
    test_state_free(&in_pieces);
}

/* The number of workers changes between advances, and inside them after every few iterations. */
TEST_LOOP(changing_workers_do_not_change_a_bit, 0, 2)
{
    static const char *const more[][4] = {{"q=5", NULL},
                                          {"data=synthetic:3000:40", "samples=600", "q=5", NULL}};
    enum { MOST = 7, PIECE = 14 };
    test_state expected;
    test_state found;
    test_rig rig;
    test_rig_open(&rig, LOGISTIC_BOX_SPARSE, "precision+", more[_i], 1, NULL, NULL);
    test_state_make(&expected, rig.instance.problem);
    test_state_make(&found, rig.instance.problem);
    test_rig_advance(&rig, (uint64_t)MOST * PIECE);
    test_state_copy(&rig, &expected);
    test_rig_close(&rig);
    test_rig_open(&rig, LOGISTIC_BOX_SPARSE, "precision+", more[_i], MOST, NULL, NULL);
    saddle_local *local = (saddle_local *)rig.engine;
    unsigned most = saddle_thread_pool_size(local->pool);
    unsigned changes = 0;
    local->recruits = true;
    for (unsigned k = 0; k < MOST; k++) {
        saddle_crew_make(&local->crew, 1 + 3 * k % most, most);
        local->crew.period = 0.0;
        memset(local->crew.delay, 0, sizeof local->crew.delay);
        test_rig_advance(&rig, PIECE);
        changes += local->crew.size != 1 + 3 * k % most;
    }
    ck_assert_uint_gt(changes, 0);
    test_state_copy(&rig, &found);
    assert_same_bits(&expected, &found);
    test_rig_close(&rig);
    test_state_free(&expected);
    test_state_free(&found);
}

/* ---- limits ---------------------------------------------------------------------------------- */

TEST(the_ifo_budget_ends_an_advance)
{
    /* 4 agents, 10 samples: 40 calls at the start, 4 * 2 * 4 = 32 in a recursive iteration. */
    static const char *const more[] = {"q=1000", "batch=4", NULL};
    for (size_t c = 0; c < COUNTS; c++) {
        test_rig rig;
        saddle_cost cost;
        saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
        test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", more, thread_counts[c], NULL, NULL);
        saddle_limits limits = {.iterations = 100, .max_ifo = 40 + 5 * 32};
        rig.engine->kind->advance(rig.engine, &limits, &fault);
        ck_assert_uint_eq(rig.engine->kind->iteration(rig.engine), 5);
        limits.max_ifo = 40 + 7 * 32 + 1;
        rig.engine->kind->advance(rig.engine, &limits, &fault);
        ck_assert_uint_eq(rig.engine->kind->iteration(rig.engine), 8);
        rig.engine->kind->cost(rig.engine, &cost);
        ck_assert_uint_eq(cost.ifo, 40 + 8 * 32);
        test_rig_close(&rig);
    }
}

TEST(an_interrupt_ends_an_advance)
{
    for (size_t c = 0; c < COUNTS; c++) {
        test_rig rig;
        saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
        volatile sig_atomic_t interrupt = 1;
        test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", NULL, thread_counts[c], NULL, NULL);
        saddle_limits limits = {.iterations = 100000000, .interrupt = &interrupt};
        rig.engine->kind->advance(rig.engine, &limits, &fault);
        ck_assert_uint_eq(rig.engine->kind->iteration(rig.engine), 1);
        ck_assert_int_eq(fault.kind, SADDLE_FAULT_NONE);
        test_rig_close(&rig);
    }
}

TEST(a_deadline_ends_an_advance)
{
    for (size_t c = 0; c < COUNTS; c++) {
        test_rig rig;
        saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
        test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", NULL, thread_counts[c], NULL, NULL);
        /* If a deadline had passed before the engine first checked, try a later one. */
        for (double span = 0.05; rig.engine->kind->iteration(rig.engine) == 0; span *= 2.0) {
            saddle_limits limits = {.iterations = UINT64_MAX,
                                    .deadline = saddle_clock_seconds() + span};
            rig.engine->kind->advance(rig.engine, &limits, &fault);
            ck_assert(saddle_clock_seconds() >= limits.deadline);
        }
        test_rig_close(&rig);
    }
}

/* Runs until the given setting stops the run. */
static saddle_result *stop_by(const char *assignment, const saddle_hooks *hooks)
{
    const char *more[] = {"q=1000",   "batch=4", "trace-every=50", "iterations=1000000", "gap=end",
                          assignment, NULL};
    saddle_error error = {.message = ""};
    test_instance instance;
    saddle_result *result = NULL;
    test_instance_open(&instance, QUADRATIC_NONCONVEX, more);
    assert_ok(saddle_run(instance.made, NULL, hooks, &result, &error), error);
    test_instance_close(&instance);
    return result;
}

static void assert_stop(const char *assignment, saddle_stop stop, uint64_t iteration)
{
    saddle_result *result = stop_by(assignment, NULL);
    ck_assert_int_eq(result->stop, stop);
    ck_assert_uint_eq(result->rows[result->row_count - 1].iteration, iteration);
    saddle_result_free(result);
}

static void interrupt_soon(void *context, const saddle_row *row)
{
    if (row->iteration >= 100)
        *(volatile sig_atomic_t *)context = 1;
}

TEST(runs_stop_where_they_should)
{
    assert_stop("iterations=77", SADDLE_STOP_ITERATIONS, 77);
    assert_stop("iterations=0", SADDLE_STOP_ITERATIONS, 0);
    assert_stop("max-rounds=123", SADDLE_STOP_ROUNDS, 123);
    assert_stop("max-ifo=1000", SADDLE_STOP_IFO, 30);
    assert_stop("max-ifo=1", SADDLE_STOP_IFO, 0);
    saddle_result *result = stop_by("max-seconds=0.05", NULL);
    ck_assert_int_eq(result->stop, SADDLE_STOP_SECONDS);
    assert_at_most(0.05, result->rows[result->row_count - 1].seconds);
    saddle_result_free(result);
    result = stop_by("tolerance=1e-3", NULL);
    ck_assert_int_eq(result->stop, SADDLE_STOP_TOLERANCE);
    assert_at_most(result->rows[result->row_count - 1].gap, 1e-3);
    saddle_result_free(result);
    result = stop_by("stop-when=metric<=1e-3", NULL);
    ck_assert_int_eq(result->stop, SADDLE_STOP_CONDITION);
    assert_at_most(result->rows[result->row_count - 1].metric, 1e-3);
    ck_assert(result->rows[result->row_count - 2].metric > 1e-3);
    saddle_result_free(result);
    volatile sig_atomic_t interrupt = 0;
    saddle_hooks hooks = {
        .context = (void *)(uintptr_t)&interrupt, .row = interrupt_soon, .interrupt = &interrupt};
    result = stop_by("seed=2", &hooks);
    ck_assert_int_eq(result->stop, SADDLE_STOP_INTERRUPTED);
    ck_assert_uint_eq(result->rows[result->row_count - 1].iteration, 100);
    saddle_result_free(result);
}

/* ---- means ----------------------------------------------------------------------------------- */

static void sevenths(void *context, saddle_agent *agent, double *out)
{
    size_t size = *(const size_t *)context;
    for (size_t k = 0; k < size; k++)
        out[k] = (double)(agent->id * 31 + k) / 7.0;
}

TEST(means_are_in_the_order_of_agents)
{
    static const char *const more[] = {"agents=37", "samples=2", "topology=ring", NULL};
    for (size_t c = 0; c < COUNTS; c++) {
        test_rig rig;
        test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", more, thread_counts[c], NULL, NULL);
        for (size_t size = 1; size <= 9; size++) {
            double mean[9];
            rig.engine->kind->mean(rig.engine, size, sevenths, &size, mean);
            for (size_t k = 0; k < size; k++) {
                double sum = 0.0;
                for (size_t i = 0; i < 37; i++)
                    sum += (double)(i * 31 + k) / 7.0;
                ck_assert(mean[k] == sum * (1.0 / 37.0));
            }
        }
        test_rig_close(&rig);
    }
}

/* ---- several rounds per iteration -------------------------------------------------------------- */

/* Gossip: every round replaces x and y by the weighted mean over neighbours. Its parameters are the
 * number of rounds; agent i starts at x0 + i. */
static void gossip_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    out->rounds = *(const unsigned *)parameters;
    saddle_layout_add(out, "x", problem->x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "y", problem->y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    /* The first round sends only x. */
    out->field[1].first_round = 1;
}

static void gossip_start(saddle_agent *agent, const double *x0, const double *y0)
{
    size_t x_dim = agent->problem->x_dim;
    for (size_t k = 0; k < x_dim; k++)
        agent->next[k] = x0[k] + (double)agent->id;
    memcpy(agent->next + x_dim, y0, agent->problem->y_dim * sizeof *y0);
}

static void gossip_step(saddle_agent *agent)
{
    saddle_agent_mix(agent, 0, agent->problem->x_dim + agent->problem->y_dim, agent->next);
    agent->ifo += agent->round + 1;
}

static void gossip_view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->now, .y = agent->now + agent->problem->x_dim};
}

static const saddle_phase gossip_phases[] = {{"gossip", .before = gossip_step}, {.name = NULL}};

static const saddle_algorithm gossip = {.name = "gossip",
                                        .layout = gossip_layout,
                                        .start = gossip_start,
                                        .phases = gossip_phases,
                                        .view = gossip_view};

static void open_gossip(test_rig *rig, const saddle_algorithm *algorithm, const char *const *more,
                        const unsigned *rounds, unsigned threads)
{
    const saddle_engine_class *kind = NULL;
    saddle_error error = {.message = ""};
    *rig = (test_rig){.algorithm = algorithm};
    test_instance_open(&rig->instance, QUADRATIC_NONCONVEX, more);
    saddle_engine_inputs inputs = {.instance = rig->instance.made,
                                   .algorithm = algorithm,
                                   .parameters = rounds,
                                   .threads = threads};
    assert_ok(saddle_engine_find(&kind, "threads", &error), error);
    assert_ok(kind->create(&rig->engine, &inputs, &error), error);
}

static void close_gossip(test_rig *rig)
{
    rig->engine->kind->destroy(rig->engine);
    test_instance_close(&rig->instance);
}

/* x = M^times x, agent after agent. */
static void mix_often(const saddle_mixing *mixing, size_t dim, unsigned times, double *x)
{
    const saddle_graph *graph = mixing->graph;
    double *next = test_doubles(graph->agents * dim);
    for (unsigned round = 0; round < times; round++) {
        for (size_t i = 0; i < graph->agents; i++)
            for (size_t k = 0; k < dim; k++) {
                next[i * dim + k] = mixing->self_weight[i] * x[i * dim + k];
                for (size_t e = graph->start[i]; e < graph->start[i + 1]; e++)
                    next[i * dim + k] += mixing->weight[e] * x[graph->neighbour[e] * dim + k];
            }
        memcpy(x, next, graph->agents * dim * sizeof *x);
    }
    free(next);
}

TEST(an_iteration_may_have_several_rounds_or_none)
{
    const unsigned iterations = 5;
    for (unsigned rounds = 0; rounds <= 3; rounds++)
        for (size_t c = 0; c < COUNTS; c++) {
            test_rig rig;
            open_gossip(&rig, &gossip, NULL, &rounds, thread_counts[c]);
            const saddle_instance *e = rig.instance.made;
            size_t x_dim = e->problem->x_dim;
            ck_assert_uint_eq(x_dim, 3);
            ck_assert_int_eq(test_rig_advance(&rig, 2).kind, SADDLE_FAULT_NONE);
            ck_assert_int_eq(test_rig_advance(&rig, iterations - 2).kind, SADDLE_FAULT_NONE);
            test_state found;
            test_state_make(&found, e->problem);
            test_state_copy(&rig, &found);
            /* Without communication, there is still one step per iteration. */
            unsigned steps = rounds > 0 ? rounds : 1;
            double *expected = test_doubles(e->problem->agents * x_dim);
            for (size_t i = 0; i < e->problem->agents; i++)
                for (size_t k = 0; k < x_dim; k++)
                    expected[i * x_dim + k] = e->x0[k] + (double)i;
            mix_often(e->mixing, x_dim, steps * iterations, expected);
            assert_at_most(test_farthest(e->problem->agents * x_dim, found.x, expected), 1e-13);
            saddle_cost cost;
            rig.engine->kind->cost(rig.engine, &cost);
            uint64_t directed = 2 * (uint64_t)e->mixing->graph->edges;
            uint64_t all_rounds = (uint64_t)iterations * rounds;
            uint64_t doubles = rounds > 0 ? 3 + (rounds - 1) * (x_dim + e->problem->y_dim) : 0;
            ck_assert_uint_eq(cost.rounds, all_rounds);
            ck_assert_uint_eq(cost.messages, all_rounds * directed);
            ck_assert_uint_eq(cost.bytes, iterations * directed * doubles * 8);
            ck_assert_uint_eq(cost.ifo,
                              iterations * e->problem->agents * (size_t)(steps * (steps + 1) / 2));
            free(expected);
            test_state_free(&found);
            close_gossip(&rig);
        }
}

/* ---- the memory of workers ------------------------------------------------------------------- */

static const double *scratch_of[4]; /* by agent */

static void note_scratch(saddle_agent *agent)
{
    scratch_of[agent->id] = agent->scratch;
}

static bool always(const void *parameters)
{
    (void)parameters;
    return true;
}

static double no_number(saddle_agent *agents, size_t count, double *x_mean, double *scratch)
{
    (void)agents, (void)count, (void)x_mean, (void)scratch;
    return 0.0;
}

/* Workers run their agents concurrently, so agents of different workers must not share memory, with or
 * without oracle. */
TEST_LOOP(workers_have_memory_of_their_own, 0, 2)
{
    static const char *const more[] = {"x-dim=600", NULL};
    static const unsigned rounds = 1;
    static const saddle_phase phases[] = {
        {"gossip", .before = gossip_step}, {"note", .before = note_scratch}, {.name = NULL}};
    saddle_algorithm noting = gossip;
    noting.phases = phases;
    noting.wants_oracle = _i == 1 ? always : NULL;
    noting.oracle = no_number;
    test_rig rig;
    open_gossip(&rig, &noting, more, &rounds, 2);
    ck_assert_int_eq(test_rig_advance(&rig, 3).kind, SADDLE_FAULT_NONE);
    ck_assert_uint_eq(rig.instance.problem->agents, 4);
    ck_assert_ptr_eq(scratch_of[0], scratch_of[1]);
    ck_assert_ptr_eq(scratch_of[2], scratch_of[3]);
    ck_assert_ptr_ne(scratch_of[1], scratch_of[2]);
    close_gossip(&rig);
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* A problem that returns NaN at chosen agents from a given number of gradient evaluations on. */
typedef struct faulty {
    const saddle_problem *right;
    unsigned calls[8]; /* per agent, so that no two threads share one */
    unsigned at[8];    /* the call that fails; 0: none */
    bool in_y;
} faulty;

static void faulty_gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                            const double *x, const double *y, double *gx, double *gy,
                            double *scratch)
{
    faulty *self = problem->self;
    saddle_problem_gradient(self->right, agent, batch, x, y, gx, gy, scratch);
    if (++self->calls[agent] == self->at[agent])
        (self->in_y ? gy : gx)[1] = self->in_y ? INFINITY : NAN;
}

static double right_value(const saddle_problem *problem, size_t agent, const double *x,
                          const double *y, double *scratch)
{
    const saddle_problem *right = ((const faulty *)problem->self)->right;
    return saddle_problem_value(right, agent, x, y, scratch);
}

TEST(the_first_fault_is_reported)
{
    static const char *const more[] = {"q=1", "tau=20", NULL};
    for (size_t c = 0; c < COUNTS; c++)
        for (int in_y = 0; in_y < 2; in_y++) {
            test_instance instance;
            test_instance_open(&instance, QUADRATIC_NONCONVEX, more);
            /* Call 1 is the start, call k + 1 makes iteration k. Agents 3 and 2 fail in iteration 9;
             * agent 0 would fail in iteration 10, which must not happen. */
            faulty self = {.right = instance.problem, .at = {11, 0, 10, 10}, .in_y = in_y == 1};
            saddle_problem problem = *instance.problem;
            problem.self = &self;
            problem.add_samples = NULL;
            problem.scratch = saddle_problem_scratch(instance.problem);
            problem.gradient = faulty_gradient;
            problem.value = right_value;
            problem.response_solve = NULL;
            problem.solution = NULL;
            problem.release = NULL;
            test_rig rig;
            test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", more, thread_counts[c], NULL,
                          &problem);
            saddle_fault fault = test_rig_advance(&rig, 100);
            ck_assert_int_eq(fault.kind, SADDLE_FAULT_NONFINITE);
            ck_assert_uint_eq(fault.agent, 2);
            ck_assert_uint_eq(fault.iteration, 9);
            ck_assert_uint_eq(fault.index, 1);
            ck_assert_ptr_nonnull(strstr(fault.variable, in_y == 1 ? "u" : "v"));
            ck_assert_uint_eq(rig.engine->kind->iteration(rig.engine), 9);
            test_rig_close(&rig);
            test_instance_close(&instance);
        }
}

TEST_LOOP(divergence_is_a_result, 0, 2)
{
    /* Steps far too long for the curvature: the iterates grow without bound, which shows in the metric
     * if it is measured, and otherwise in the iterates themselves. */
    const bool measured = _i == 0;
    const char *const more[] = {"tau=1e-3", "alpha=1e3", "iterations=100000",
                                measured ? "trace-every=10" : "trace-every=100000", NULL};
    saddle_error error = {.message = ""};
    saddle_result *first = NULL;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        test_instance instance;
        saddle_result *result = NULL;
        test_instance_open(&instance, QUADRATIC_NONCONVEX, more);
        assert_ok(saddle_plan_set(instance.plan, "threads", threads == 1 ? "1" : "3", &error),
                  error);
        assert_ok(saddle_run(instance.made, instance.plan, NULL, &result, &error), error);
        ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
        ck_assert_int_eq(result->fault.kind,
                         measured ? SADDLE_FAULT_RUNAWAY : SADDLE_FAULT_NONFINITE);
        ck_assert_str_ne(result->fault.variable, "");
        ck_assert_uint_lt(result->fault.agent, 4);
        ck_assert_uint_ge(result->row_count, measured ? 4 : 1);
        const saddle_row *last = &result->rows[result->row_count - 1];
        ck_assert_uint_ge(result->fault.iteration, last->iteration);
        ck_assert(isfinite(last->metric));
        if (first != NULL) {
            ck_assert_uint_eq(first->fault.iteration, result->fault.iteration);
            ck_assert_uint_eq(first->fault.agent, result->fault.agent);
            ck_assert_uint_eq(first->fault.index, result->fault.index);
            ck_assert_str_eq(first->fault.variable, result->fault.variable);
            ck_assert_uint_eq(first->row_count, result->row_count);
        }
        saddle_result_free(first);
        first = result;
        test_instance_close(&instance);
    }
    saddle_result_free(first);
}

/* A gradient that is NaN from the start, at agent 1 only. */
static void broken_gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                            const double *x, const double *y, double *gx, double *gy,
                            double *scratch)
{
    (void)problem;
    const saddle_problem *right = test_own_problem();
    right->gradient(right, agent, batch, x, y, gx, gy, scratch);
    if (agent == 1)
        gy[2] = NAN;
}

static saddle_status known_constants(const saddle_problem *problem, const saddle_set *x_set,
                                     const saddle_set *y_set, saddle_constants *out,
                                     saddle_error *error)
{
    (void)problem;
    (void)x_set;
    (void)y_set;
    (void)error;
    out->lipschitz = 1.0;
    out->strong_concavity = 1.0;
    return SADDLE_OK;
}

/* By the estimate of constants, or by the run if they are known. */
TEST(a_start_that_is_not_finite_is_named)
{
    saddle_error error = {.message = ""};
    saddle_problem problem = *test_own_problem();
    problem.gradient = broken_gradient;
    static const char *const assignment[] = {"topology=path", "algorithm=precision", "tau=1", NULL};
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    plan->problem.own = &problem;
    assert_refused(
        saddle_instance_create(&instance, plan, &error), error, SADDLE_BAD_INPUT,
        "an entry of gradient() of problem own is nan at agent 1, at a point of X and Y");
    problem.constants = known_constants;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_refused(saddle_run(instance, NULL, NULL, &result, &error), error, SADDLE_BAD_INPUT,
                   "an entry of gradient() of problem own is nan at agent 1; check its functions");
    ck_assert_ptr_null(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}

TEST(unknown_engines_and_algorithms_are_refused)
{
    saddle_error error = {.message = ""};
    const saddle_engine_class *engine = NULL;
    const saddle_algorithm *algorithm = NULL;
    assert_refused(saddle_engine_find(&engine, "fibres", &error), error, SADDLE_BAD_INPUT,
                   "fibres");
    ck_assert_ptr_nonnull(strstr(error.message, "threads"));
    assert_refused(saddle_algorithm_find(&algorithm, "precission", &error), error, SADDLE_BAD_INPUT,
                   "precission");
    ck_assert_ptr_nonnull(strstr(error.message, "precision"));
}
