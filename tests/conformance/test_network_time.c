/*
 * Simulated seconds: the clocks of agents under a link model against a slow computation from the
 * definition, by hand on two agents, for any number of threads, in resumed runs, and as a limit; and
 * what is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/lab.h>

#include "core/print.h"
#include "graph/link_model.h"
#include "instances.h"
#include "support.h"

#define MOST_AGENTS 12
#define ITERATIONS 15

/* ---- an algorithm that only makes IFO calls ----------------------------------------------------- */

/* Returns the IFO calls of an agent in a round. Round 2 of iteration 0 is the start. */
static uint64_t calls_of(size_t agent, uint64_t iteration, unsigned round)
{
    saddle_rng rng;
    saddle_rng_init(&rng, 5, SADDLE_RNG_TEST, agent, 3 * iteration + round);
    return saddle_rng_below(&rng, 40);
}

static saddle_status spend_init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)parameters;
    (void)c;
    (void)error;
    return SADDLE_OK;
}

/* x is sent in round 0, x and y in round 1. */
static void spend_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    (void)parameters;
    out->rounds = 2;
    saddle_layout_add(out, "x", problem->x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "y", problem->y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    out->field[1].first_round = 1;
}

static void spend_start(saddle_agent *agent, const double *x0, const double *y0)
{
    memcpy(agent->next, x0, agent->problem->x_dim * sizeof *x0);
    memcpy(agent->next + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *y0);
    agent->ifo += calls_of(agent->id, 0, 2);
}

static void spend(saddle_agent *agent)
{
    const saddle_problem *p = agent->problem;
    memcpy(agent->next, agent->now, (p->x_dim + p->y_dim) * sizeof *agent->next);
    agent->ifo += calls_of(agent->id, agent->iteration, agent->round);
}

static void spend_view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->now, .y = agent->now + agent->problem->x_dim};
}

static const saddle_option *const no_options[] = {NULL};
static const saddle_phase spend_phases[] = {{"spend", .before = spend}, {.name = NULL}};
static const saddle_algorithm spender = {.name = "spender",
                                         .options = no_options,
                                         .size = 1,
                                         .traits = {.x_set = true, .y_set = true},
                                         .init = spend_init,
                                         .layout = spend_layout,
                                         .start = spend_start,
                                         .phases = spend_phases,
                                         .view = spend_view};

/* Runs it on a quadratic with x in R^3 and y in R^5. */
static saddle_result *run_spender(const char *const *more)
{
    saddle_error error = {.message = ""};
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_plan *base =
        test_plan(NULL, (const char *[]){"problem=quadratic", "x-dim=3", "y-dim=5", "samples=4",
                                         "iterations=15", "trace-every=1", NULL});
    saddle_plan *plan = test_plan(base, more);
    plan->algorithm.own = &spender;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    saddle_instance_free(instance);
    test_plan_free(plan);
    test_plan_free(base);
    return result;
}

/* ---- the definition, computed slowly ------------------------------------------------------------- */

/* A network with costs for every pair of agents; bandwidth 0: they are not linked. */
typedef struct slow_network {
    size_t agents;
    double compute[MOST_AGENTS];
    double latency[MOST_AGENTS][MOST_AGENTS];
    double bandwidth[MOST_AGENTS][MOST_AGENTS];
} slow_network;

/* T_i' = max(T_i + c_i, max over j of (T_j + c_j + latency + bytes / bandwidth)), where c are the
 * seconds of the IFO calls since the last round. The number in a row includes those of its last round. */
static void slow_seconds(const slow_network *n, double out[ITERATIONS + 1])
{
    static const double bytes[2] = {3 * 8.0, (3 + 5) * 8.0};
    double time[MOST_AGENTS] = {0.0};
    double computing[MOST_AGENTS];
    double next[MOST_AGENTS];
    for (size_t i = 0; i < n->agents; i++)
        computing[i] = n->compute[i] * (double)calls_of(i, 0, 2);
    for (uint64_t t = 0; t <= ITERATIONS; t++) {
        out[t] = 0.0;
        for (size_t i = 0; i < n->agents; i++)
            out[t] = fmax(out[t], time[i] + computing[i]);
        for (unsigned round = 0; round < 2; round++) {
            for (size_t i = 0; i < n->agents; i++) {
                next[i] = time[i] + computing[i];
                for (size_t j = 0; j < n->agents; j++)
                    if (n->bandwidth[j][i] > 0.0)
                        next[i] = fmax(next[i], time[j] + computing[j] + n->latency[j][i] +
                                                    bytes[round] / n->bandwidth[j][i]);
            }
            for (size_t i = 0; i < n->agents; i++) {
                time[i] = next[i];
                computing[i] = n->compute[i] * (double)calls_of(i, t, round);
            }
        }
    }
}

/* Draws a connected random network, as files of edges and of a link model. Every third has no `default`;
 * some agents and edges have no line. */
static void draw_network(saddle_rng *rng, bool with_default, slow_network *n)
{
    FILE *edges = fopen("edges", "w");
    FILE *model = fopen("model", "w");
    ck_assert(edges != NULL && model != NULL);
    memset(n, 0, sizeof *n);
    n->agents = 2 + saddle_rng_below(rng, MOST_AGENTS - 1);
    double latency = with_default ? 0.001 : 0.0;
    double bandwidth = with_default ? 2000.0 : (double)INFINITY;
    double compute = with_default ? 1e-4 : 0.0;
    saddle_fprintf(model, "# a model\n\n");
    for (size_t i = 0; i < n->agents; i++) {
        n->compute[i] = compute;
        if (saddle_rng_below(rng, 3) > 0) {
            n->compute[i] = (double)saddle_rng_below(rng, 1000) / 65536.0;
            saddle_fprintf(model, "agent %zu compute %.17g\n", i, n->compute[i]);
        }
        for (size_t j = 0; j < i; j++) {
            if (j + 1 != i && saddle_rng_below(rng, 3) > 0)
                continue;
            uint64_t kind = saddle_rng_below(rng, 4);
            double own_latency = kind % 2 == 1 ? saddle_rng_uniform(rng) : latency;
            double own_bandwidth =
                kind / 2 == 1 ? 1.0 + 1000.0 * saddle_rng_uniform(rng) : bandwidth;
            saddle_fprintf(edges, "%zu %zu\n", i, j);
            if (kind > 0)
                saddle_fprintf(model, "edge %zu %zu", kind % 2 == 1 ? i : j, kind % 2 == 1 ? j : i);
            if (kind % 2 == 1)
                saddle_fprintf(model, " latency %.17g", own_latency);
            if (kind / 2 == 1)
                saddle_fprintf(model, "\tbandwidth %.17g", own_bandwidth);
            saddle_fprintf(model, "\n");
            n->latency[i][j] = n->latency[j][i] = own_latency;
            n->bandwidth[i][j] = n->bandwidth[j][i] = own_bandwidth;
        }
    }
    if (with_default)
        saddle_fprintf(model, "default bandwidth 2000 latency 0.001 compute 1e-4 # the rest\n");
    ck_assert(fclose(edges) == 0 && fclose(model) == 0);
}

TEST(clocks_are_as_defined_on_random_networks)
{
    static const char *const threads[] = {"threads=1", "threads=2", "threads=5"};
    saddle_rng rng;
    saddle_test_enter_directory();
    saddle_rng_init(&rng, 3, SADDLE_RNG_TEST, 0, 0);
    for (size_t trial = 0; trial < 30; trial++) {
        slow_network n;
        double expected[ITERATIONS + 1];
        draw_network(&rng, trial % 3 > 0, &n);
        slow_seconds(&n, expected);
        saddle_result *result = run_spender(
            (const char *[]){"topology=file:edges", "link-model=model", threads[trial % 3], NULL});
        ck_assert_uint_eq(result->row_count, ITERATIONS + 1);
        for (size_t t = 0; t <= ITERATIONS; t++) {
            ck_assert(saddle_row_has(&result->rows[t], SADDLE_TRACE_COLUMNS - 1));
            assert_near(result->rows[t].cost.network_seconds, expected[t],
                        1e-14 * (double)(t + 1) * expected[t]);
        }
        assert_near(result->cost.network_seconds, result->rows[ITERATIONS].cost.network_seconds,
                    0.0);
        saddle_result_free(result);
    }
}

/* ---- by hand ------------------------------------------------------------------------------------ */

/* Two agents; all numbers are powers of two, so that nothing is rounded. Messages have 3 and 8 doubles. */
TEST(two_agents_by_hand)
{
    saddle_test_enter_directory();
    uint64_t a = calls_of(0, 0, 2);
    uint64_t b = calls_of(1, 0, 2);
    /* Agent 0 is 4 times as fast: 1/8 and 1/2 seconds per call. */
    saddle_test_write("model", "agent 0 compute 0.125\nagent 1 compute 0.5\n"
                               "edge 1 0 latency 0.25 bandwidth 64\n");
    saddle_result *result =
        run_spender((const char *[]){"agents=2", "topology=complete", "link-model=model", NULL});
    double clock[2] = {0.125 * (double)a, 0.5 * (double)b};
    assert_near(result->rows[0].cost.network_seconds, fmax(clock[0], clock[1]), 0.0);
    for (uint64_t t = 0; t < ITERATIONS; t++) {
        for (unsigned round = 0; round < 2; round++) {
            double way = round == 0 ? 0.25 + 0.375 : 0.25 + 1.0;
            double begin[2] = {fmax(clock[0], clock[1] + way), fmax(clock[1], clock[0] + way)};
            clock[0] = begin[0] + 0.125 * (double)calls_of(0, t, round);
            clock[1] = begin[1] + 0.5 * (double)calls_of(1, t, round);
        }
        assert_near(result->rows[t + 1].cost.network_seconds, fmax(clock[0], clock[1]), 0.0);
    }
    saddle_result_free(result);
}

/* The costs of a text hold for all agents and links. */
TEST(each_cost_by_itself)
{
    static const char *const two[] = {"agents=2", "topology=complete", NULL};
    for (int k = 0; k < 4; k++) {
        static const char *const text[] = {"link-model=latency:0.5", "link-model=bandwidth:64",
                                           "link-model=compute:0.25",
                                           "link-model=compute:0,latency:0.5,bandwidth:64"};
        saddle_result *result = run_spender((const char *[]){two[0], two[1], text[k], NULL});
        double seconds = result->cost.network_seconds;
        if (k == 2) {
            /* The slower agent of each round, because both wait for each other without any delay. */
            double expected =
                0.25 * (double)(calls_of(0, 0, 2) > calls_of(1, 0, 2) ? calls_of(0, 0, 2)
                                                                      : calls_of(1, 0, 2));
            for (uint64_t t = 0; t < ITERATIONS; t++)
                for (unsigned round = 0; round < 2; round++)
                    expected +=
                        0.25 * fmax((double)calls_of(0, t, round), (double)calls_of(1, t, round));
            assert_near(seconds, expected, 0.0);
        } else {
            double rounds = 2.0 * 0.5 * (k != 1) + (0.375 + 1.0) * (k != 0);
            assert_near(seconds, ITERATIONS * rounds, 0.0);
        }
        saddle_result_free(result);
    }
}

/* Messages that are lost or late are waited for like others; agents that are gone are not. */
TEST(lost_messages_take_their_time)
{
    static const char *const links[] = {"links=reliable", "links=lossy:0.5", "links=burst:0.3:5",
                                        "links=delay:5", "links=lossy:0.99"};
    saddle_test_enter_directory();
    saddle_test_write("model", "default latency 0.25\nedge 0 1 latency 2\n");
    saddle_test_write("churn.txt", "20 leave 0\n");
    for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
        const char *setting[] = {"problem=quadratic",
                                 "agents=4",
                                 "topology=complete",
                                 "samples=5",
                                 "iterations=40",
                                 links[k],
                                 "trace-every=20",
                                 "link-model=model",
                                 NULL,
                                 NULL};
        saddle_result *result = test_solve(NULL, setting);
        assert_near(result->cost.network_seconds, 40 * 2.0, 0.0);
        saddle_result_free(result);
        setting[8] = "churn=churn.txt";
        result = test_solve(NULL, setting);
        /* Agent 1's clock is at 40; the others have waited for it one round ago. */
        assert_near(result->rows[1].cost.network_seconds, 20 * 2.0, 0.0);
        assert_near(result->cost.network_seconds, 20 * 2.0 + 20 * 0.25, 0.0);
        saddle_result_free(result);
    }
}

/* A centralized algorithm runs at one agent, which computes at the `default` speed and never waits. */
TEST(centralized_algorithms_only_compute)
{
    saddle_error error = {.message = ""};
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_test_enter_directory();
    saddle_test_write("model", "agent 0 compute 7\ndefault compute 0.25 latency 3\n");
    saddle_plan *plan = test_plan(
        NULL, (const char *[]){"problem=quadratic", "samples=4", "agents=3", "iterations=10",
                               "algorithm=gda", "link-model=model", NULL});
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    for (size_t r = 0; r < result->row_count; r++)
        assert_near(result->rows[r].cost.network_seconds, 0.25 * (double)result->rows[r].cost.ifo,
                    0.0);
    ck_assert(result->cost.ifo > 0);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}

/* ---- runs of all algorithms ---------------------------------------------------------------------- */

#define MODEL "link-model=latency:0.01,bandwidth:12345,compute:1e-3"

static saddle_result *run_all(const saddle_algorithm *algorithm, const char *const *more)
{
    char name[64];
    const char *settings[MOST_SETTINGS] = {name, "q=6", "c-gamma=0.3", MODEL, "trace-every=3"};
    const char *relaxed[MOST_SETTINGS];
    saddle_error error = {.message = ""};
    test_instance instance;
    saddle_result *result = NULL;
    saddle_snprintf(name, sizeof name, "algorithm=%s", algorithm->name);
    for (size_t k = 0; more[k] != NULL; k++)
        settings[5 + k] = more[k];
    test_relax(algorithm, settings, relaxed);
    test_instance_open(&instance, LOGISTIC_BOX_DENSE_UNEQUAL, relaxed);
    assert_ok(saddle_run(instance.made, NULL, NULL, &result, &error), error);
    test_instance_close(&instance);
    return result;
}

static void assert_same_seconds(const saddle_result *a, const saddle_result *b)
{
    ck_assert_int_eq(a->stop, b->stop);
    ck_assert_uint_eq(a->row_count, b->row_count);
    for (size_t r = 0; r < a->row_count; r++) {
        ck_assert_uint_eq(a->rows[r].iteration, b->rows[r].iteration);
        assert_near(a->rows[r].metric, b->rows[r].metric, 0.0);
        assert_near(a->rows[r].cost.network_seconds, b->rows[r].cost.network_seconds, 0.0);
        ck_assert(r == 0 || a->rows[r].cost.network_seconds > a->rows[r - 1].cost.network_seconds);
    }
}

/* Threads, a stop in the middle, and a limit. */
TEST(runs_keep_time)
{
    size_t algorithms;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    saddle_test_enter_directory();
    for (size_t a = 0; a < algorithms; a++) {
        char budget[64];
        saddle_error error = {.message = ""};
        saddle_instance *instance = NULL;
        saddle_result *resumed = NULL;
        saddle_result *alone =
            run_all(list[a], (const char *[]){"iterations=21", "threads=1", NULL});
        saddle_result *pool =
            run_all(list[a], (const char *[]){"iterations=21", "threads=4", NULL});
        assert_same_seconds(alone, pool);
        saddle_result_free(run_all(
            list[a], (const char *[]){"iterations=8", "checkpoint=kept", "threads=2", NULL}));
        saddle_plan *plan =
            test_plan(NULL, (const char *[]){"resume=kept", "iterations=21", "threads=3", NULL});
        assert_ok(saddle_plan_resume(plan, NULL, &error), error);
        assert_ok(saddle_instance_create(&instance, plan, &error), error);
        assert_ok(saddle_run(instance, plan, NULL, &resumed, &error), error);
        assert_same_seconds(alone, resumed);
        /* The limit ends the run with the first iteration that reaches it. */
        double end = alone->rows[3].cost.network_seconds;
        saddle_snprintf(budget, sizeof budget, "max-network-seconds=%.17g", end);
        saddle_result *short_run =
            run_all(list[a], (const char *[]){"iterations=21", budget, "threads=2", NULL});
        ck_assert_int_eq(short_run->stop, SADDLE_STOP_NETWORK_SECONDS);
        ck_assert_uint_eq(short_run->rows[short_run->row_count - 1].iteration,
                          alone->rows[3].iteration);
        assert_near(short_run->cost.network_seconds, end, 0.0);
        saddle_result_free(short_run);
        saddle_instance_free(instance);
        test_plan_free(plan);
        saddle_result_free(alone);
        saddle_result_free(pool);
        saddle_result_free(resumed);
        ck_assert_int_eq(system("rm -r kept"), 0);
    }
}

/* A model does not affect what is computed, and without one there is no column. */
TEST(time_is_only_counted)
{
    saddle_result *with = run_spender((const char *[]){"agents=5", MODEL, NULL});
    saddle_result *without = run_spender((const char *[]){"agents=5", NULL});
    saddle_trace *trace = NULL;
    saddle_error error = {.message = ""};
    for (size_t r = 0; r < with->row_count; r++) {
        assert_near(with->rows[r].metric, without->rows[r].metric, 0.0);
        ck_assert(isnan(without->rows[r].cost.network_seconds));
        for (size_t k = 0; k < SADDLE_TRACE_COLUMNS; k++) {
            const char *name = saddle_trace_column_name(k);
            bool simulated = strcmp(name, "network_seconds") == 0;
            bool other = strcmp(name, "age") == 0 || strcmp(name, "present") == 0 ||
                         strcmp(name, "components") == 0;
            ck_assert(saddle_row_has(&with->rows[r], k) == !other);
            ck_assert(saddle_row_has(&without->rows[r], k) == !(simulated || other));
        }
    }
    assert_ok(saddle_result_trace(with, &trace, &error), error);
    ck_assert_ptr_nonnull(saddle_trace_column(trace, "network_seconds"));
    assert_near(saddle_trace_column(trace, "network_seconds")[3],
                with->rows[3].cost.network_seconds, 0.0);
    saddle_trace_free(trace);
    assert_ok(saddle_result_trace(without, &trace, &error), error);
    ck_assert_ptr_null(saddle_trace_column(trace, "network_seconds"));
    saddle_trace_free(trace);
    saddle_result_free(with);
    saddle_result_free(without);
}

/* ---- errors --------------------------------------------------------------------------------------- */

/* Returns the error message for a link model on a path of three agents; "" if it is accepted. */
static const char *refusal(const char *text)
{
    static saddle_error error;
    saddle_graph *graph = NULL;
    saddle_link_model *model = NULL;
    error.message[0] = '\0';
    assert_ok(saddle_graph_create(&graph, "path", 3, 1, &error), error);
    saddle_status status = saddle_link_model_create(&model, text, graph, &error);
    ck_assert((status == SADDLE_OK) == (model != NULL));
    saddle_link_model_free(model);
    saddle_graph_free(graph);
    return error.message;
}

TEST(models_that_are_refused)
{
    static const struct {
        const char *text;
        const char *message;
    } uniform[] = {
        {"latency:0.5", ""},
        {"compute:0,bandwidth:1e9,latency:0", ""},
        {"latency:-1", "--link-model: latency must be a number of seconds, 0 or more (got '-1')"},
        {"latency:nan", "(got 'nan')"},
        {"latency:", "(got '')"},
        {"bandwidth:0", "--link-model: bandwidth must be a number of bytes per second above 0 (got "
                        "'0'); leave it out for links without a limit"},
        {"compute:fast",
         "compute must be the seconds of a gradient evaluation (IFO call), 0 or more (got 'fast')"},
        {"latency:1,latency:2", "latency is given twice; leave one out"},
        {"latency:1,delay:2", "'delay:2' is not latency:SECONDS, bandwidth:BYTES_PER_SECOND or "
                              "compute:SECONDS_PER_IFO; write it as in latency:0.02"},
        {"latency:1,", "'' is not latency:SECONDS"},
        {"latency:1,bandwidth", "'bandwidth' is not latency:SECONDS"},
        {"latencey:1", "--link-model: "},
        {"no-such-file", "latency:0.02,bandwidth:125000,compute:1e-6"}};
    static const struct {
        const char *text;
        const char *message;
    } files[] = {
        {"# nothing\n", ""},
        {"edge 0 1 latency 1\nedge 1 2 bandwidth 2\n", ""},
        {"agent 3 compute 1\n",
         "model:1:7: '3' is not an agent; it must be a whole number from 0 to 2"},
        {"agent 1 compute 1\nagent 1 compute 2\n",
         "model:2:7: agent 1 already has a line; remove one of the two"},
        {"agent -1 compute 1\n", "'-1' is not an agent; it must be a whole number from 0"},
        {"agent 1\n", "model:1:8: the line ends without compute S"},
        {"agent 1 latency 1\n", "model:1:9: 'latency' is not allowed in this line; give compute S"},
        {"agent 1 compute\n", "the line ends after compute; a number must follow"},
        {"agent 1 compute x\n", "model:1:17: compute must be the seconds"},
        {"agent\n", "the line ends before an agent; a line begins with"},
        {"edge 0 2 latency 1\n", "agents 0 and 2 are not linked in this graph; remove the line"},
        {"edge 1 1 latency 1\n", "agents 1 and 1 are not linked"},
        {"edge 0 1 latency 1\nedge 1 0 latency 2\n", "model:2:6: the edge 1 0 already has a line"},
        {"edge 0 1 compute 1\n",
         "'compute' is not allowed in this line; give latency S or bandwidth B"},
        {"default latency 1\ndefault latency 1\n", "there is already a default"},
        {"default speed 1\n", "'speed' is unknown; give latency S, bandwidth B or compute S"},
        {"link 0 1 latency 1\n", "'link' does not begin a line of a link model; begin lines with "
                                 "default, agent I or edge I J"}};
    saddle_test_enter_directory();
    for (size_t k = 0; k < sizeof uniform / sizeof *uniform; k++) {
        const char *message = refusal(uniform[k].text);
        ck_assert_msg((*message == '\0') == (*uniform[k].message == '\0') &&
                          strstr(message, uniform[k].message) != NULL,
                      "%s: '%s'", uniform[k].text, message);
    }
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        saddle_test_write("model", files[k].text);
        const char *message = refusal("model");
        ck_assert_msg((*message == '\0') == (*files[k].message == '\0') &&
                          strstr(message, files[k].message) != NULL,
                      "%s: '%s'", files[k].text, message);
    }
}

/* Runs a small quadratic, or resumes it. */
static saddle_status run_small(const char *const *more, saddle_error *error)
{
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_plan *base =
        test_plan(NULL, (const char *[]){"problem=quadratic", "samples=4", "iterations=4", NULL});
    saddle_plan *plan = test_plan(base, more);
    saddle_status status = saddle_instance_create(&instance, plan, error);
    if (status == SADDLE_OK)
        status = saddle_run(instance, plan, NULL, &result, error);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
    test_plan_free(base);
    return status;
}

TEST(runs_that_are_refused)
{
    saddle_error error = {.message = ""};
    saddle_test_enter_directory();
    assert_refused(run_small((const char *[]){"max-network-seconds=3", NULL}, &error), error,
                   SADDLE_BAD_INPUT,
                   "--max-network-seconds: there are no simulated seconds without");
    assert_refused(run_small((const char *[]){"stop-when=network_seconds>=3", NULL}, &error), error,
                   SADDLE_BAD_INPUT, "--stop-when: there is no column network_seconds without");
    assert_ok(run_small((const char *[]){"stop-when=network_seconds>=3", MODEL, NULL}, &error),
              error);
    /* Resuming with another model: the message names both. */
    assert_ok(run_small((const char *[]){"checkpoint=a", "link-model=latency:1", NULL}, &error),
              error);
    assert_refused(
        run_small((const char *[]){"resume=a", "link-model=latency:2", "iterations=9", NULL},
                  &error),
        error, SADDLE_BAD_INPUT, "cannot change --link-model: it is 'latency:1' in the checkpoint");
    assert_refused(run_small((const char *[]){"resume=a", "iterations=9", NULL}, &error), error,
                   SADDLE_BAD_INPUT, "and not given here; give the same value");
    /* For a file, its contents count, not its name. */
    saddle_test_write("one", "default latency 1\n");
    saddle_test_write("same", "default latency 1\n");
    assert_ok(run_small((const char *[]){"checkpoint=b", "link-model=one", NULL}, &error), error);
    assert_ok(run_small((const char *[]){"resume=b", "checkpoint=c", "link-model=same",
                                         "iterations=9", NULL},
                        &error),
              error);
    saddle_test_write("one", "default latency 2\n");
    assert_refused(
        run_small((const char *[]){"resume=b", "link-model=one", "iterations=9", NULL}, &error),
        error, SADDLE_BAD_INPUT,
        "--link-model: 'one' has changed since the run of the checkpoint 'b/");
}
