/*
 * The engine `mpi` against the engine `threads`, bit by bit, under mpirun with any number of processes.
 * Every process runs the threads engine on all agents, and compares its own.
 *
 * A check that fails in one process only would leave the others waiting, so processes count differences
 * and fail together.
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/layout.h"
#include "core/clock.h"
#include "core/print.h"
#include "engines/agent.h"
#include "instances.h"
#include "job.h"
#include "support.h"
#include "traffic.h"

static size_t processes;

/* Instances with more agents than processes, at least two on some. */
static const struct {
    int which;
    size_t agents;
    const char *more[4];
} place[] = {
    {LOGISTIC_BOX_SPARSE, 7, {"agents=7", "topology=er:0.6"}},
    {LOGISTIC_SIMPLEX_DENSE, 6, {NULL}},
    {QUADRATIC_NONCONVEX, 23, {"agents=23", "topology=small-world:4:0.3"}},
    {QUADRATIC_BALL, 5, {"agents=5"}},
    {AUC_LINEAR_SPARSE_UNEQUAL, 6, {"agents=6", "samples=12,9,5,13,7,4"}},
    {AUC_MLP_DENSE, 5, {"agents=5", "samples=9"}},
    {OWN_PROBLEM, 3, {NULL}},
    {POLICY_SMALL, 6, {"agents=6"}},
    {FAIR_SPARSE, 6, {"agents=6", "samples=9"}},
    {GROUP_DRO_SPARSE_UNEQUAL, 6, {"agents=6", "samples=9"}},
    {REGRESSION_HUBER_DENSE, 6, {"agents=6", "samples=8"}},
    {POISONING_SPARSE, 6, {"agents=6", "samples=9"}},
};
enum { PLACES = sizeof place / sizeof *place };

/* Combines the settings of an instance and more, for an engine. */
static void combine(int k, const char *engine, const char *const *more, const char **out)
{
    size_t count = 0;
    for (const char *const *from = place[k].more; *from != NULL; from++)
        out[count++] = *from;
    for (; more != NULL && *more != NULL; more++)
        out[count++] = *more;
    out[count++] = engine;
    out[count] = NULL;
}

/* The same algorithm on both engines. */
typedef struct pair {
    test_rig threads;
    test_rig mpi;
    const saddle_world *world; /* of the mpi engine */
    size_t wrong;              /* differences found in this process */
} pair;

static void pair_open(pair *p, int k, const char *algorithm, const char *const *more,
                      unsigned threads, const saddle_algorithm *wrapped)
{
    const char *plan[MOST_SETTINGS];
    combine(k, "engine=threads", more, plan);
    test_rig_open(&p->threads, place[k].which, algorithm, plan, 1, wrapped, NULL);
    combine(k, "engine=mpi", more, plan);
    test_rig_open(&p->mpi, place[k].which, algorithm, plan, threads, wrapped, NULL);
    p->world = p->mpi.target.world;
    p->wrong = 0;
}

/* Fails in all processes if anything was wrong in any. */
static void pair_close(pair *p)
{
    int64_t wrong = (int64_t)p->wrong;
    p->world->add_words(p->world, 1, &wrong);
    const char *label = p->mpi.instance.label;
    const char *algorithm = p->mpi.algorithm->name;
    test_rig_close(&p->mpi);
    test_rig_close(&p->threads);
    ck_assert_msg(wrong == 0, "%s on %s: %lld differences between mpi and threads", algorithm,
                  label, (long long)wrong);
}

static size_t differ(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) != 0;
}

/* x and y of an agent, one after the other. */
static void iterate_term(void *context, saddle_agent *agent, double *out)
{
    const test_rig *rig = context;
    saddle_view view;
    saddle_agent_view(rig->algorithm, agent, &view);
    memcpy(out, view.x, agent->problem->x_dim * sizeof *out);
    memcpy(out + agent->problem->x_dim, view.y, agent->problem->y_dim * sizeof *out);
}

static void compare_states(pair *p)
{
    const saddle_world *world = p->world;
    size_t x_dim = p->mpi.instance.problem->x_dim;
    size_t y_dim = p->mpi.instance.problem->y_dim;
    test_state expected;
    test_state found;
    test_state_make(&expected, p->threads.instance.problem);
    test_state_make(&found, p->threads.instance.problem);
    test_state_copy(&p->threads, &expected);
    test_state_copy(&p->mpi, &found);
    const double *of_x[][2] = {{expected.x, found.x}, {expected.p, found.p}, {expected.v, found.v}};
    const double *of_y[][2] = {{expected.y, found.y}, {expected.d, found.d}, {expected.u, found.u}};
    for (size_t i = 0; i < world->agents; i++) {
        bool here = saddle_world_has(world, i);
        for (size_t k = 0; here && k < 3; k++) {
            p->wrong += differ(of_x[k][0] + i * x_dim, of_x[k][1] + i * x_dim, x_dim * 8);
            p->wrong += differ(of_y[k][0] + i * y_dim, of_y[k][1] + i * y_dim, y_dim * 8);
        }
        /* An agent of another process is not visited. */
        p->wrong += found.ifo[i] != (here ? expected.ifo[i] : 0);
    }
    test_state_free(&expected);
    test_state_free(&found);
}

static void compare_totals(pair *p)
{
    size_t size = p->mpi.instance.problem->x_dim + p->mpi.instance.problem->y_dim;
    saddle_cost cost[2];
    double *mean[2];
    test_rig *rig[2] = {&p->threads, &p->mpi};
    for (int k = 0; k < 2; k++) {
        saddle_engine *engine = rig[k]->engine;
        mean[k] = test_doubles(size);
        engine->kind->mean(engine, size, iterate_term, rig[k], mean[k]);
        engine->kind->cost(engine, &cost[k]);
    }
    p->wrong += rig[0]->engine->kind->iteration(rig[0]->engine) !=
                rig[1]->engine->kind->iteration(rig[1]->engine);
    p->wrong += differ(&cost[0], &cost[1], sizeof cost[0]);
    p->wrong += differ(mean[0], mean[1], size * sizeof(double));
    for (int k = 0; k < 2; k++)
        free(mean[k]);
}

static void advance_both(pair *p, const saddle_limits *limits)
{
    saddle_fault fault[2] = {{.kind = SADDLE_FAULT_NONE}, {.kind = SADDLE_FAULT_NONE}};
    p->threads.engine->kind->advance(p->threads.engine, limits, &fault[0]);
    p->mpi.engine->kind->advance(p->mpi.engine, limits, &fault[1]);
    p->wrong += fault[0].kind != fault[1].kind || fault[0].agent != fault[1].agent ||
                fault[0].iteration != fault[1].iteration || fault[0].index != fault[1].index ||
                strcmp(fault[0].variable, fault[1].variable) != 0;
    p->wrong += differ(&fault[0].value, &fault[1].value, sizeof(double));
}

/* ---- the same bits --------------------------------------------------------------------------- */

/* Starts MPI; the processes share the directory of process 0. */
static void start(void)
{
    size_t rank = test_mpi_start();
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    processes = (size_t)size;
    char directory[4096] = "";
    if (rank == 0)
        saddle_snprintf(directory, sizeof directory, "%s", saddle_test_directory());
    MPI_Bcast(directory, sizeof directory, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank > 0)
        saddle_test_use_directory(directory);
}
TEST_FIXTURE(false, start, NULL)

TEST_LOOP(every_algorithm_has_the_same_bits, 0, PLACES)
{
    size_t algorithms;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    if (place[_i].agents < processes)
        return;
    /* The effect of threads does not depend on the problem. */
    unsigned most_threads = _i < 3 ? 2 : 1;
    for (size_t a = 0; a < algorithms; a++)
        for (unsigned threads = 1; threads <= most_threads && !list[a]->traits.centralized;
             threads++) {
            static const uint64_t piece[] = {1, 0, 6, 13};
            pair p;
            pair_open(&p, _i, list[a]->name, NULL, threads, NULL);
            compare_states(&p);
            for (size_t k = 0; k < sizeof piece / sizeof *piece; k++) {
                advance_both(&p, &(saddle_limits){.iterations = piece[k]});
                compare_totals(&p);
            }
            compare_states(&p);
            pair_close(&p);
        }
}

TEST(measured_estimates_have_the_same_bits)
{
    static const char *const more[][4] = {
        {"estimator=kalman", NULL},
        {"estimator=plus", "strategy=tracking", "links=lossy:0.3", NULL}};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        pair p;
        if (place[0].agents < processes)
            return;
        pair_open(&p, 0, "dama", more[k], 2, NULL);
        advance_both(&p, &(saddle_limits){.iterations = 30});
        compare_totals(&p);
        compare_states(&p);
        pair_close(&p);
    }
}

TEST(links_that_lose_and_change_have_the_same_bits)
{
    static const char *const links[] = {
        "links=agreed:0.3",         "links=agreed-burst:0.2:5", "links=gossip",
        "links=sequence:ring,star", "links=lossy:0.3",          "links=burst:0.2:5",
        "links=delay:4:0.7",        "links=lossy:0.3:0-1",      "compress=quantize:4",
        "compress=top:0.1",         "compress=random:0.1"};
    static const char *const algorithm[] = {"precision", "precision+", "precision-auto",
                                            "prox-gt-sgda", "gt-gda"};
    enum { WHERE = 2, ALGORITHMS = sizeof algorithm / sizeof *algorithm };
    if (place[WHERE].agents < processes)
        return;
    for (size_t k = 0; k < sizeof links / sizeof *links * ALGORITHMS; k++) {
        if (!test_chosen(k / ALGORITHMS, k % ALGORITHMS))
            continue;
        bool dead = k / ALGORITHMS == 7; /* from 0 to 1, which are neighbours on a ring */
        const char *const more[] = {links[k / ALGORITHMS], dead ? "topology=ring" : NULL, NULL};
        /* More than the rounds after which a dead direction is removed. */
        uint64_t second = dead ? 210 : 20;
        pair p;
        pair_open(&p, WHERE, algorithm[k % ALGORITHMS], more, 1 + k % 2, NULL);
        advance_both(&p, &(saddle_limits){.iterations = 3});
        advance_both(&p, &(saddle_limits){.iterations = second});
        compare_totals(&p);
        compare_states(&p);
        pair_close(&p);
    }
}

/* Returns whether an algorithm has sums, which lossy links need. */
static bool tracks(const saddle_algorithm *algorithm)
{
    static const char *const name[] = {"precision", "precision+", "precision-auto", "prox-gt-sgda",
                                       "gt-gda"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++)
        if (strcmp(name[k], algorithm->name) == 0)
            return true;
    return false;
}

TEST(agents_that_come_and_go_have_the_same_bits)
{
    static const char *const links[] = {"links=reliable", "links=lossy:0.3", "links=burst:0.2:5",
                                        "links=delay:4:0.7"};
    size_t algorithms;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    enum { WHERE = 2, LINKS = sizeof links / sizeof *links };
    if (place[WHERE].agents < processes)
        return;
    saddle_test_enter_directory();
    /* All processes share the directory. */
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        saddle_test_write("churn.txt",
                          "3 leave 1\n5 cut 3 4\n40 return 1\n41 join 0\n60 heal 3 4\n");
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t k = 0; k < LINKS * algorithms; k++) {
        const saddle_algorithm *algorithm = list[k / LINKS];
        const char *const more[] = {links[k % LINKS], "topology=ring", "churn=churn.txt", NULL};
        bool plain = k % LINKS == 0;
        if (algorithm->traits.centralized || (!plain && !tracks(algorithm)))
            continue;
        pair p;
        pair_open(&p, WHERE, algorithm->name, more, 1 + k % 2, NULL);
        for (int piece = 0; piece < 6; piece++) {
            advance_both(&p, &(saddle_limits){.iterations = 31});
            compare_totals(&p);
        }
        compare_states(&p);
        pair_close(&p);
    }
}

/* The algorithm that the tests below wrap. */
static const saddle_algorithm *original;

/* ---- limits ---------------------------------------------------------------------------------- */

TEST(budgets_end_at_the_same_iteration)
{
    /* precision's calls vary between iterations; dppsp divides a limit in each. */
    static const char *const name[] = {"precision", "dppsp", "gt-gda"};
    for (size_t a = 0; a < sizeof name / sizeof *name; a++)
        for (uint64_t budget = 300; budget < 12000; budget = budget * 2 + 17) {
            pair p;
            pair_open(&p, 0, name[a], NULL, 1, NULL);
            saddle_limits limits = {
                .iterations = 200, .max_ifo = budget, .ifo_budget = budget + budget / 3};
            advance_both(&p, &limits);
            compare_totals(&p);
            limits.max_ifo = 0;
            limits.iterations = 3;
            advance_both(&p, &limits);
            compare_totals(&p);
            compare_states(&p);
            pair_close(&p);
        }
}

/* From time to time an agent is slow, so that the stretches between two agreements grow and shrink. */
static void slow_step(saddle_agent *agent)
{
    saddle_agent_round(original, agent, agent->round);
    if (agent->id == 0 && (agent->iteration == 36 || agent->iteration == 700))
        usleep(100000);
}

TEST(uneven_stretches_have_the_same_bits)
{
    saddle_error error = {.message = ""};
    assert_ok(saddle_algorithm_find(&original, "prox-dsgda", &error), error);
    saddle_algorithm slow = *original;
    const saddle_phase phases[] = {{"slow", .before = slow_step}, {.name = NULL}};
    slow.phases = phases;
    pair p;
    pair_open(&p, 3, "prox-dsgda", NULL, 1, &slow);
    advance_both(&p, &(saddle_limits){.iterations = 37});
    compare_totals(&p);
    advance_both(&p, &(saddle_limits){.iterations = test_long() ? 30000 : 3000});
    compare_totals(&p);
    compare_states(&p);
    pair_close(&p);
}

/* When one process decides to stop, all stop after the same iteration. */
TEST(an_interrupt_of_one_process_ends_all)
{
    pair p;
    pair_open(&p, 0, "precision", NULL, 1, NULL);
    volatile sig_atomic_t interrupt = p.world->rank + 1 == p.world->ranks;
    saddle_limits limits = {.iterations = 100000000, .interrupt = &interrupt};
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    p.mpi.engine->kind->advance(p.mpi.engine, &limits, &fault);
    /* The longest stretch is the bound. */
    uint64_t done = p.mpi.engine->kind->iteration(p.mpi.engine);
    p.wrong += done < 1 || done > 4096 || fault.kind != SADDLE_FAULT_NONE;
    advance_both(&p, &(saddle_limits){.iterations = 0});
    p.threads.engine->kind->advance(p.threads.engine, &(saddle_limits){.iterations = done}, &fault);
    compare_totals(&p);
    compare_states(&p);
    pair_close(&p);
}

TEST(a_deadline_of_one_process_ends_all)
{
    pair p;
    pair_open(&p, 0, "precision", NULL, 1, NULL);
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    double begin = saddle_clock_seconds();
    saddle_limits limits = {.iterations = UINT64_MAX,
                            .deadline = begin + (p.world->rank == 0 ? 0.3 : 1e6)};
    p.mpi.engine->kind->advance(p.mpi.engine, &limits, &fault);
    /* The deadline is process 0's: others may start later. */
    double waited = saddle_clock_seconds() - begin;
    p.wrong += p.world->rank == 0 && !(waited >= 0.3);
    p.threads.engine->kind->advance(
        p.threads.engine,
        &(saddle_limits){.iterations = p.mpi.engine->kind->iteration(p.mpi.engine)}, &fault);
    compare_totals(&p);
    compare_states(&p);
    pair_close(&p);
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* Agents 4 and 2 fail in iteration 9, agent 0 in iteration 10. */
static void faulty_step(saddle_agent *agent)
{
    saddle_agent_round(original, agent, agent->round);
    uint64_t when = agent->id == 4 || agent->id == 2 ? 8 : agent->id == 0 ? 9 : UINT64_MAX;
    if (agent->iteration < when || agent->fault.kind != SADDLE_FAULT_NONE)
        return;
    agent->fault = (saddle_fault){.kind = SADDLE_FAULT_NONFINITE,
                                  .variable = "test",
                                  .agent = agent->id,
                                  .index = 3,
                                  .iteration = agent->iteration + 1,
                                  .value = (double)agent->id};
}

TEST(the_first_fault_is_reported_in_all_processes)
{
    saddle_error error = {.message = ""};
    assert_ok(saddle_algorithm_find(&original, "precision", &error), error);
    saddle_algorithm faulty = *original;
    const saddle_phase phases[] = {{"faulty", .before = faulty_step}, {.name = NULL}};
    faulty.phases = phases;
    for (unsigned threads = 1; threads <= 2; threads++) {
        pair p;
        pair_open(&p, 0, "precision", NULL, threads, &faulty);
        advance_both(&p, &(saddle_limits){.iterations = 4});
        saddle_cost cost[2];
        saddle_fault fault[2] = {{.kind = SADDLE_FAULT_NONE}, {.kind = SADDLE_FAULT_NONE}};
        test_rig *rig[2] = {&p.threads, &p.mpi};
        for (int k = 0; k < 2; k++) {
            saddle_engine *engine = rig[k]->engine;
            engine->kind->advance(engine, &(saddle_limits){.iterations = 5000}, &fault[k]);
            engine->kind->cost(engine, &cost[k]);
            p.wrong += engine->kind->iteration(engine) != 9;
            p.wrong += fault[k].agent != 2 || fault[k].iteration != 9 || fault[k].index != 3 ||
                       fault[k].value != 2.0 || strcmp(fault[k].variable, "test") != 0;
        }
        p.wrong += differ(&cost[0], &cost[1], sizeof cost[0]);
        pair_close(&p);
    }
}

TEST(what_needs_all_agents_is_refused)
{
    static const char *const more[] = {"engine=mpi", "agents=7", "gamma=exact",
                                       "algorithm=precision+", NULL};
    test_instance instance;
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    test_instance_open(&instance, LOGISTIC_BOX_SPARSE, more);
    saddle_status status = saddle_run(instance.made, NULL, NULL, &result, &error);
    saddle_result_free(result);
    test_instance_close(&instance);
    ck_assert_int_eq(status, processes == 1 ? SADDLE_OK : SADDLE_UNSUPPORTED);
    if (processes > 1)
        ck_assert_ptr_nonnull(strstr(error.message, "gamma exact"));
}

TEST(too_many_processes_are_refused)
{
    static const char *const more[] = {"engine=mpi", "agents=2", "topology=path", NULL};
    saddle_plan *plan = test_plan(NULL, more);
    saddle_instance *instance = NULL;
    saddle_error error = {.message = ""};
    saddle_status status = saddle_instance_create(&instance, plan, &error);
    saddle_instance_free(instance);
    test_plan_free(plan);
    ck_assert_int_eq(status, processes <= 2 ? SADDLE_OK : SADDLE_BAD_INPUT);
    if (processes > 2)
        ck_assert_ptr_nonnull(strstr(error.message, "processes were started for 2 agents"));
}

/* ---- traffic ----------------------------------------------------------------------------------- */

/* Returns the number of pairs (agent, other process) such that the process has a neighbour of the agent. */
static uint64_t crossings(const saddle_graph *graph, const saddle_world *world)
{
    uint64_t count = 0;
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t r = 0; r < world->ranks; r++) {
            bool reads = false;
            for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
                reads = reads || world->home[graph->neighbour[k]] == r;
            count += reads && r != world->home[i];
        }
    return count;
}

/* Returns the number of ordered pairs of processes with an edge between them. */
static uint64_t neighbouring(const saddle_graph *graph, const saddle_world *world)
{
    uint64_t count = 0;
    for (size_t r = 0; r < world->ranks; r++)
        for (size_t s = 0; s < world->ranks; s++) {
            bool adjacent = false;
            for (size_t i = 0; i < graph->agents; i++)
                for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
                    adjacent =
                        adjacent || (world->home[i] == r && world->home[graph->neighbour[k]] == s);
            count += adjacent && r != s;
        }
    return count;
}

TEST(only_published_state_is_sent)
{
    static const char *const name[] = {"precision", "gt-gda", "dposg"};
    static const char *const compress[] = {"compress=none", "compress=quantize:3",
                                           "compress=top:0.1"};
    for (size_t a = 0; a < 9; a++) {
        const uint64_t iterations = 40;
        pair p;
        saddle_cost cost;
        pair_open(&p, 0, name[a % 3], (const char *const[]){compress[a / 3], NULL}, 1, NULL);
        const saddle_graph *graph = p.mpi.target.mixing->graph;
        test_traffic_take();
        advance_both(&p, &(saddle_limits){.iterations = iterations});
        test_traffic traffic = test_traffic_take();
        p.mpi.engine->kind->cost(p.mpi.engine, &cost);
        /* The trace counts a message per edge and direction. What several agents of a process read is
         * sent to it once, and what neighbours in the same process read is not sent. */
        int64_t sum[2] = {(int64_t)traffic.messages, (int64_t)traffic.message_bytes};
        p.world->add_words(p.world, 2, sum);
        uint64_t per_edge = cost.bytes / (2 * graph->edges);
        p.wrong += (uint64_t)sum[1] != per_edge * crossings(graph, p.world);
        p.wrong += (uint64_t)sum[0] != cost.rounds * neighbouring(graph, p.world);
        p.wrong += p.world->ranks > 1 && traffic.rounds != cost.rounds;
        /* Nothing else, except an occasional agreement of a few words. */
        p.wrong += traffic.sends != 0;
        p.wrong += traffic.collectives > iterations;
        p.wrong += traffic.collective_bytes > 64 * traffic.collectives;
        pair_close(&p);
    }
}

/* With one agent in each process, bytes sent are the trace's. */
TEST(bytes_are_those_of_the_trace)
{
    char agents[32];
    if (processes == 1)
        return;
    saddle_snprintf(agents, sizeof agents, "agents=%zu", processes);
    const char *more[] = {"engine=mpi", agents, "topology=complete", "samples=8", NULL};
    test_rig rig;
    saddle_cost cost;
    test_rig_open(&rig, LOGISTIC_BOX_SPARSE, "precision", more, 1, NULL, NULL);
    const saddle_world *world = rig.target.world;
    test_traffic_take();
    saddle_fault fault = test_rig_advance(&rig, 25);
    test_traffic traffic = test_traffic_take();
    rig.engine->kind->cost(rig.engine, &cost);
    int64_t sum[2] = {(int64_t)traffic.messages, (int64_t)traffic.message_bytes};
    world->add_words(world, 2, sum);
    test_rig_close(&rig);
    ck_assert_int_eq(fault.kind, SADDLE_FAULT_NONE);
    ck_assert_uint_eq(cost.messages, 25 * processes * (processes - 1));
    ck_assert_uint_eq((uint64_t)sum[0], cost.messages);
    ck_assert_uint_eq((uint64_t)sum[1], cost.bytes);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t bytes_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* No process has a vector of every agent: an engine allocates what its agents and their neighbours in
 * other processes need, and a constant. */
TEST(memory_is_that_of_the_agents_here)
{
    static const char *const more[] = {"engine=mpi", "agents=240", "topology=ring",     "samples=2",
                                       "x-dim=700",  "y-dim=300",  "problem=quadratic", NULL};
    if (TEST_SLOWDOWN > 1)
        return;
    test_rig rig;
    test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", more, 1, NULL, NULL);
    const saddle_world *world = rig.target.world;
    const saddle_engine_class *kind = rig.engine->kind;
    saddle_layout layout;
    saddle_algorithm_layout(rig.algorithm, rig.parameters, rig.target.problem, &layout);
    saddle_engine_inputs inputs = {.instance = &rig.target,
                                   .algorithm = rig.algorithm,
                                   .parameters = rig.parameters,
                                   .threads = 1};
    saddle_engine *second = NULL;
    saddle_error error = {.message = ""};
    size_t before = bytes_in_use();
    saddle_status status = kind->create(&second, &inputs, &error);
    size_t taken = bytes_in_use() - before;
    if (second != NULL)
        kind->destroy(second);
    /* A ring in contiguous ranges: two neighbours in other processes. Per agent, two spans, the private
     * state, and the engine's records, which are smaller than a tenth of a span here. */
    size_t span = layout.published * sizeof(double);
    size_t agent = 2 * span + layout.kept * sizeof(double) + span / 10;
    size_t constant = (size_t)1 << 20;
    int64_t wrong = status != SADDLE_OK || taken > world->local * agent + 2 * span + constant ||
                    taken < world->local * 2 * span;
    world->add_words(world, 1, &wrong);
    size_t whole = world->agents * span;
    size_t ranks = world->ranks;
    test_rig_close(&rig);
    ck_assert_int_eq(wrong, 0);
    /* The bound is meaningful: with several processes it is below one vector of every agent. */
    if (ranks >= 5)
        ck_assert_uint_lt(240 / ranks * agent + 2 * span + constant, whole);
}
