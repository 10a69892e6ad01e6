/*
 * Agents that come and go: maps and their laws, who is present, runs that reach the point of those present, invariants
 * in every round, dead directions that are found, and what is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/link_state.h"
#include "graph/churn.h"
#include "instances.h"
#include "problems/evaluate.h"
#include "support.h"

/* ---- maps --------------------------------------------------------------------------------------- */

enum { ENTRIES = 23 };

static void random_map(saddle_rng *rng, unsigned char map[ENTRIES])
{
    for (size_t k = 0; k < ENTRIES; k++)
        map[k] = (unsigned char)saddle_rng_below(rng, 5);
}

TEST(merging_is_commutative_associative_and_idempotent)
{
    saddle_rng rng;
    saddle_rng_init(&rng, 7, SADDLE_RNG_LINK, 0, 0);
    for (int trial = 0; trial < 200; trial++) {
        unsigned char a[ENTRIES];
        unsigned char b[ENTRIES];
        unsigned char c[ENTRIES];
        unsigned char left[ENTRIES];
        unsigned char right[ENTRIES];
        random_map(&rng, a);
        random_map(&rng, b);
        random_map(&rng, c);
        memcpy(left, a, ENTRIES);
        memcpy(right, b, ENTRIES);
        ck_assert(saddle_map_merge(ENTRIES, left, b) == (memcmp(left, a, ENTRIES) != 0));
        saddle_map_merge(ENTRIES, right, a);
        ck_assert_mem_eq(left, right, ENTRIES);
        ck_assert_uint_eq(saddle_map_hash(ENTRIES, left), saddle_map_hash(ENTRIES, right));
        ck_assert(!saddle_map_merge(ENTRIES, left, a) && !saddle_map_merge(ENTRIES, left, left));
        saddle_map_merge(ENTRIES, left, c);
        saddle_map_merge(ENTRIES, c, b);
        saddle_map_merge(ENTRIES, c, a);
        ck_assert_mem_eq(left, c, ENTRIES);
        left[trial % ENTRIES]++;
        ck_assert_uint_ne(saddle_map_hash(ENTRIES, left), saddle_map_hash(ENTRIES, c));
    }
}

TEST(a_new_incarnation_wins)
{
    for (unsigned value = 0; value < 253; value++) {
        unsigned char gone = (unsigned char)value;
        unsigned char back = (unsigned char)value;
        ck_assert(saddle_map_take_off(&gone) == (value % 2 == 0));
        ck_assert(saddle_map_is_off(gone) && !saddle_map_take_off(&gone));
        saddle_map_renew(&back);
        ck_assert(!saddle_map_is_off(back) && back > gone);
    }
    unsigned char last = 255;
    saddle_map_renew(&last);
    ck_assert_uint_eq(last, 255);
}

/* ---- who is present ------------------------------------------------------------------------------- */

TEST(presence_follows_the_events)
{
    saddle_error error = {.message = ""};
    saddle_graph *graph = NULL;
    saddle_churn *churn = NULL;
    saddle_allocator allocator = {0};
    saddle_presence p;
    size_t edge[16];
    /* Rounds, and who is present, in how many parts, and the largest then. */
    static const struct {
        uint64_t round;
        size_t present, components;
        const char *counted;
    } wanted[] = {{0, 7, 1, "11111110"},
                  {4, 6, 2, "11100000"},
                  {5, 6, 3, "00001110"},
                  {9, 7, 2, "11001111"},
                  {10, 8, 1, "11111111"}};
    saddle_test_enter_directory();
    saddle_test_write(
        "churn.txt", "# a ring of eight\n"
                     "4 leave 3\n5 cut 1 2  # 2 is alone\n9 join 7\n\n10\treturn 3\n10 heal 2 1\n");
    assert_ok(saddle_graph_create(&graph, "ring", 8, 1, &error), error);
    assert_ok(saddle_churn_read(&churn, "churn.txt", graph, &error), error);
    ck_assert_uint_eq(churn->count, 5);
    saddle_number_edges(graph, edge);
    saddle_presence_take(&p, churn, graph, edge, &allocator);
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        saddle_presence_advance(&p, wanted[k].round);
        size_t members = 0;
        for (size_t i = 0; i < 8; i++) {
            ck_assert_msg(p.counted[i] == (wanted[k].counted[i] == '1'), "round %llu, agent %zu",
                          (unsigned long long)wanted[k].round, i);
            members += p.counted[i];
        }
        ck_assert_uint_eq(p.present, wanted[k].present);
        ck_assert_uint_eq(p.components, wanted[k].components);
        ck_assert_uint_eq(p.members, members);
    }
    saddle_allocator_free(&allocator);
    saddle_churn_free(churn);
    saddle_graph_free(graph);
}

TEST(churn_is_refused_by_its_fault)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"x leave 1\n", "churn.txt:1:1: 'x' is not a round"},
        {"3 leave 1\n2 leave 2\n", "put the lines in the order of their rounds"},
        {"3 go 1\n", "'go' is not leave, return, join, cut or heal"},
        {"3 leave\n", "the line ends before an agent"},
        {"3\n", "the line ends before what happens"},
        {"3 leave 5\n", "'5' is not an agent; it must be a whole number from 0 to 4"},
        {"3 leave 1 2\n", "'2' is left over"},
        {"3 leave 1\n4 leave 1\n", "agent 1 is gone already"},
        {"3 return 1\n", "agent 1 is present; it can return only after a `leave`"},
        {"3 leave 1\n4 join 1\n",
         "agent 1 already has an event; use `return` for an agent that comes back"},
        {"3 cut 0 2\n", "agents 0 and 2 are not linked"},
        {"3 heal 0 1\n", "the edge of agents 0 and 1 is not cut"},
        {"3 cut 0 1\n3 cut 1 0\n", "the edge of agents 1 and 0 is cut already"},
        {"1 leave 0\n1 leave 1\n1 leave 2\n1 leave 3\n2 leave 4\n",
         "in round 2 the last agent leaves"},
        {"1 join 0\n1 join 1\n1 join 2\n1 join 3\n2 join 4\n", "keep at least one from the start"},
    };
    saddle_test_enter_directory();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *const setting[] = {"problem=quadratic", "agents=5", "topology=ring",
                                       "churn=churn.txt", NULL};
        saddle_test_write("churn.txt", bad[k].text);
        saddle_plan *plan = test_plan(NULL, setting);
        assert_plan_refused(plan, bad[k].part);
    }
}

/* ---- runs ------------------------------------------------------------------------------------------ */

static const char *const tracking[] = {"algorithm=precision", "algorithm=precision+",
                                       "algorithm=precision-auto", "algorithm=prox-gt-sgda",
                                       "algorithm=gt-gda"};
static const char *const any_links[] = {"links=reliable", "links=lossy:0.3", "links=burst:0.2:10",
                                        "links=delay:4:0.7"};
enum { TRACKING = sizeof tracking / sizeof *tracking, ANY_LINKS = 4 };

#define EVENTS                                           \
    "20 leave 1\n25 leave 4\n40 cut 0 5\n60 return 1\n"  \
    "70 join 3\n90 heal 0 5\n100 leave 2\n100 leave 5\n" \
    "130 return 2\n"

TEST_LOOP(sums_are_conserved_in_every_round, 0, ANY_LINKS *TRACKING)
{
    static const char *const topology[] = {"topology=ring", "topology=complete", "topology=er:0.7"};
    /* On the nonconvex one, numbers of PRECISION-auto, and so their rounding errors, grow for a while. */
    bool convex = strcmp(tracking[_i % TRACKING], "algorithm=precision-auto") == 0;
    const char *more[] = {any_links[_i / TRACKING],           NULL, "agents=6", "churn=churn.txt",
                          convex ? "curvature=convex" : NULL, NULL};
    saddle_test_enter_directory();
    /* One topology per case: every kind of links and every algorithm still has all three. */
    for (size_t t = 0; t < 3; t++) {
        if (!test_long() && t != (size_t)_i % 3)
            continue;
        test_rig rig;
        more[1] = topology[t];
        /* Only edges that are there can be cut. */
        saddle_test_write("churn.txt", t < 2 ? EVENTS : "20 leave 1\n50 return 1\n60 leave 2\n");
        test_rig_open(&rig, QUADRATIC_NONCONVEX, strchr(tracking[_i % TRACKING], '=') + 1, more, 2,
                      NULL, NULL);
        for (int round = 0; round < 300; round++) {
            ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
            assert_at_most(test_rig_defect(&rig), 1e-9);
        }
        test_rig_close(&rig);
    }
}

TEST_LOOP(bits_do_not_depend_on_threads, 0, ANY_LINKS *TRACKING)
{
    /* Long vectors: rounds are divided between workers. */
    const char *setting[] = {any_links[_i / TRACKING],
                             tracking[_i % TRACKING],
                             "threads=1",
                             "problem=quadratic",
                             "agents=6",
                             "topology=ring",
                             "samples=8",
                             "x-dim=520",
                             "y-dim=700",
                             "iterations=60",
                             "trace-every=60",
                             "churn=churn.txt",
                             NULL};
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", "2 leave 1\n4 cut 3 4\n9 return 1\n12 join 0\n13 heal 3 4\n");
    saddle_result *first = test_solve(NULL, setting);
    setting[2] = "threads=3";
    saddle_result *other = test_solve(NULL, setting);
    test_assert_same_result(first, other, setting[0]);
    saddle_result_free(first);
    saddle_result_free(other);
}

TEST_LOOP(a_run_resumes_while_agents_begin_anew, 0, ANY_LINKS *TRACKING)
{
    /* Before, inside and between the rounds of mixing and settling. */
    static const char *const moment[] = {"15", "24", "33", "61", "75", "140"};
    char every[64];
    char shorter[64];
    const char *setting[] = {any_links[_i / TRACKING],
                             tracking[_i % TRACKING],
                             "problem=quadratic",
                             "agents=6",
                             "topology=ring",
                             "samples=20",
                             "churn=churn.txt",
                             "trace-every=10",
                             "iterations=180",
                             NULL,
                             NULL,
                             NULL};
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", EVENTS);
    saddle_result *expected = test_solve(NULL, setting);
    for (size_t k = 0; k < sizeof moment / sizeof *moment; k++) {
        snprintf(every, sizeof every, "checkpoint-every=%s", moment[k]);
        snprintf(shorter, sizeof shorter, "iterations=%s", moment[k]);
        setting[8] = shorter;
        setting[9] = "checkpoint=points";
        setting[10] = every;
        saddle_result_free(test_solve(NULL, setting));
        setting[8] = "iterations=180";
        setting[10] = "resume=points";
        saddle_result *resumed = test_solve(NULL, setting);
        test_assert_same_result(resumed, expected, setting[0]);
        saddle_result_free(resumed);
        setting[9] = setting[10] = NULL;
        ck_assert_int_eq(system("rm -r points"), 0);
    }
    saddle_result_free(expected);
    /* Other events are another run, whatever the name of the file. */
    saddle_error error = {.message = ""};
    saddle_result *other = NULL;
    setting[8] = "iterations=50";
    setting[9] = "checkpoint=points";
    saddle_result_free(test_solve(NULL, setting));
    saddle_test_write("churn.txt", "20 leave 1\n");
    setting[8] = "iterations=180";
    setting[10] = "resume=points";
    saddle_plan *plan = test_plan(NULL, setting);
    assert_refused(saddle_solve(NULL, plan, &other, &error), error, SADDLE_BAD_INPUT,
                   "--churn: 'churn.txt' has changed since the run of the checkpoint '");
    test_plan_free(plan);
}

/* ---- the point of those present ---------------------------------------------------------------------- */

#define CONVEX "problem=quadratic", "curvature=convex", "agents=10", "samples=100"

/* The gradient of the mean of F_i over some agents, at a point. */
static void mean_gradient(const saddle_problem *problem, const unsigned char *counted,
                          const double *x, const double *y, double *gx, double *gy)
{
    size_t count = 0;
    double *g = test_doubles(problem->x_dim + problem->y_dim);
    double *scratch = test_doubles(saddle_problem_scratch(problem) + 1);
    memset(gx, 0, problem->x_dim * sizeof *gx);
    memset(gy, 0, problem->y_dim * sizeof *gy);
    for (size_t i = 0; i < problem->agents; i++)
        count += counted[i];
    for (size_t i = 0; i < problem->agents; i++) {
        saddle_batch all = {.count = problem->samples[i]};
        if (!counted[i])
            continue;
        saddle_problem_gradient(problem, i, &all, x, y, g, g + problem->x_dim, scratch);
        for (size_t k = 0; k < problem->x_dim; k++)
            gx[k] += g[k] / (double)count;
        for (size_t k = 0; k < problem->y_dim; k++)
            gy[k] += g[problem->x_dim + k] / (double)count;
    }
    free(g);
    free(scratch);
}

/* Events, and who is counted in the end. */
static const struct {
    const char *text;
    unsigned char counted[10];
    double present, components;
} ways[] = {
    {"300 leave 3\n300 leave 7\n600 return 3\n", {1, 1, 1, 1, 1, 1, 1, 0, 1, 1}, 9, 1},
    {"300 join 2\n400 leave 9\n", {1, 1, 1, 1, 1, 1, 1, 1, 1, 0}, 9, 1},
    {"300 cut 0 1\n300 cut 5 6\n", {1, 0, 0, 0, 0, 0, 1, 1, 1, 1}, 10, 2},
    {"300 cut 0 1\n300 cut 6 7\n", {0, 1, 1, 1, 1, 1, 1, 0, 0, 0}, 10, 2},
    {"300 cut 0 1\n300 cut 5 6\n700 heal 0 1\n800 heal 5 6\n",
     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     10,
     1},
};
enum { WAYS = sizeof ways / sizeof *ways };

TEST_LOOP(runs_reach_the_point_of_those_present, 0, test_long() ? 7 * WAYS : (7 * WAYS + 1) / 2)
{
    static const char *const algorithm[] = {"algorithm=precision", "algorithm=precision+",
                                            "algorithm=gt-gda", "algorithm=dppsp"};
    static const char *const links[] = {"links=reliable", "links=lossy:0.2"};
    /* Every second case has all ways and all algorithms with all links: the number of ways is odd. */
    size_t index = test_long() ? (size_t)_i : 2 * (size_t)_i;
    size_t way = index % WAYS;
    size_t which = index / WAYS;
    const char *const setting[] = {CONVEX,
                                   "topology=ring",
                                   "iterations=6000",
                                   "trace-every=250",
                                   "churn=churn.txt",
                                   algorithm[which % 4],
                                   links[which / 4],
                                   test_long() ? NULL : "stop-when=metric<=1e-17",
                                   NULL};
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", ways[way].text);
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, setting);
    saddle_instance *made = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&made, plan, &error), error);
    assert_ok(saddle_run(made, plan, NULL, &result, &error), error);
    const saddle_row *row = &result->rows[result->row_count - 1];
    ck_assert(row->present == ways[way].present && row->components == ways[way].components);
    assert_at_most(row->metric, 1e-14);
    /* By itself: each agent that counts is where the mean gradient of those that count vanishes. */
    double *gx = test_doubles(result->x_dim);
    double *gy = test_doubles(result->y_dim);
    for (size_t i = 0; i < 10; i++) {
        if (!ways[way].counted[i])
            continue;
        mean_gradient(made->problem, ways[way].counted, result->x + i * result->x_dim,
                      result->y + i * result->y_dim, gx, gy);
        assert_at_most(test_largest(result->x_dim, gx), 1e-6);
        assert_at_most(test_largest(result->y_dim, gy), 1e-6);
    }
    free(gx);
    free(gy);
    saddle_result_free(result);
    saddle_instance_free(made);
    test_plan_free(plan);
}

/* ---- two agents --------------------------------------------------------------------------------------- */

/* One iteration of PRECISION with q = 1 by an agent that is alone: its tracker is its gradient. */
static void step_alone(const saddle_instance *e, const saddle_steps *steps,
                       const unsigned char *counted, double *x, double *y)
{
    size_t nx = e->problem->x_dim;
    size_t ny = e->problem->y_dim;
    double *g = test_doubles(nx + ny);
    mean_gradient(e->problem, counted, x, y, g, g + nx);
    /* No regularizer and no sets: x~ - x = -g / tau and y~ - y = alpha g. */
    for (size_t k = 0; k < nx; k++)
        x[k] -= steps->nu * g[k] / steps->tau;
    for (size_t k = 0; k < ny; k++)
        y[k] += steps->eta * steps->alpha * g[nx + k];
    free(g);
}

/* Of two agents one leaves: the other rests while it averages with nobody and its sums settle, for as many iterations
 * as follow from lambda, and then runs alone. When the other returns it starts from the same point, and both rest as
 * long. */
TEST_LOOP(of_two_agents_one_leaves_and_returns, 0, 2)
{
    enum { LEAVE = 10, RETURN = 60, AFTER = 20 };
    static const unsigned char first[] = {1, 0};
    const char *more[] = {"agents=2", "topology=complete", "churn=churn.txt", "q=1", NULL, NULL};
    more[4] = _i == 0 ? "links=reliable" : "links=lossy:0.2";
    test_rig rig;
    test_state now;
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", "10 leave 1\n60 return 1\n");
    test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", more, 1, NULL, NULL);
    test_state_make(&now, rig.target.problem);
    const saddle_instance *e = &rig.target;
    size_t nx = now.x_dim;
    size_t ny = now.y_dim;
    double *x = test_doubles(nx);
    double *y = test_doubles(ny);
    double lambda = fmax(e->spectrum.lambda, 1e-3);
    double settling = ceil(log(1e-5) / log(lambda));
    double mixing = ceil(0.25 * log(1e-5) / log(lambda));
    ck_assert(settling >= 1.0 && settling <= 20.0);
    size_t rest = (size_t)(mixing + settling);
    ck_assert_int_eq(test_rig_advance(&rig, LEAVE).kind, SADDLE_FAULT_NONE);
    test_state_copy(&rig, &now);
    memcpy(x, now.x, nx * sizeof *x);
    memcpy(y, now.y, ny * sizeof *y);
    for (size_t t = LEAVE; t < RETURN; t++) {
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        test_state_copy(&rig, &now);
        if (t - LEAVE >= rest)
            step_alone(e, &rig.steps, first, x, y);
        double scale = 1.0 + test_largest(nx, x) + test_largest(ny, y);
        assert_at_most(test_farthest(nx, now.x, x), 1e-12 * scale);
        assert_at_most(test_farthest(ny, now.y, y), 1e-12 * scale);
    }
    /* Agent 1 takes what agent 0 has sent, while that makes one more step before it hears of it. Then both average. */
    double *from = test_doubles(nx);
    double *sum = test_doubles(nx);
    memcpy(from, x, nx * sizeof *x);
    step_alone(e, &rig.steps, first, x, y);
    double apart = test_farthest(nx, from, x);
    for (size_t t = RETURN; t < RETURN + rest; t++) {
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        test_state_copy(&rig, &now);
        for (size_t i = 0; i < 2; i++)
            assert_at_most(test_farthest(nx, now.x + i * nx, t == RETURN && i == 1 ? from : x),
                           t == RETURN ? 1e-12 : apart + 1e-12);
        /* From the second round on both use what the other sends. */
        for (size_t k = 0; k < nx; k++) {
            double twice = now.x[k] + now.x[nx + k];
            if (t > RETURN + 1 && _i == 0)
                assert_near(twice, sum[k], 1e-12);
            sum[k] = twice;
        }
    }
    free(from);
    free(sum);
    ck_assert_int_eq(test_rig_advance(&rig, AFTER).kind, SADDLE_FAULT_NONE);
    test_state_copy(&rig, &now);
    ck_assert(test_farthest(nx, now.x, x) > 1e-6);
    free(x);
    free(y);
    test_state_free(&now);
    test_rig_close(&rig);
}

/* ---- outcomes ------------------------------------------------------------------------------------------ */

/* Where one agent is left, training outcomes are those on its rows. */
TEST_LOOP(training_outcomes_are_of_those_present, 0, 4)
{
    static const char *const problem[] = {"problem=auc", "problem=fair", "problem=group-dro",
                                          "problem=robust-regression"};
    const char *const setting[] = {problem[_i],       "data=synthetic:90:12",
                                   "sensitive=2",     "groups=2",
                                   "agents=3",        "topology=complete",
                                   "iterations=20",   "outcomes-per-agent=yes",
                                   "churn=churn.txt", NULL};
    saddle_error error = {.message = ""};
    saddle_outcome all[SADDLE_MOST_OUTCOMES];
    saddle_outcome own[SADDLE_MOST_OUTCOMES];
    saddle_instance *e = NULL;
    saddle_result *result = NULL;
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", "3 leave 0\n5 leave 2\n");
    saddle_plan *plan = test_plan(NULL, setting);
    assert_ok(saddle_instance_create(&e, plan, &error), error);
    assert_ok(saddle_run(e, plan, NULL, &result, &error), error);
    const double *x = result->x + result->x_dim;
    const double *y = result->y + result->y_dim;
    size_t count = test_outcomes(e->problem, e->parts->shard[1], x, y, own);
    const double *row = result->outcomes + (result->row_count - 1) * result->outcome_count;
    bool differs = false;
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_eq(test_outcomes(e->problem, NULL, x, y, all), count);
    for (size_t k = 0; k < count; k++) {
        assert_near(row[k], own[k].value, 1e-12);
        assert_near(row[count + 3 * k + 1], own[k].value, 1e-12);
        differs = differs || !(fabs(all[k].value - own[k].value) <= 1e-6);
    }
    ck_assert(differs);
    saddle_result_free(result);
    saddle_instance_free(e);
    test_plan_free(plan);
}

/* A tolerance is about those who are present in the end. */
TEST_LOOP(tolerance_waits_for_the_last_event, 0, 2)
{
    static const char *const events[] = {"# none\n", "1300 leave 1\n"};
    const char *const setting[] = {CONVEX,
                                   "topology=complete",
                                   _i == 0 ? "algorithm=precision" : "algorithm=gt-gda",
                                   "gap=end",
                                   "tolerance=1e-3",
                                   "iterations=5000",
                                   "churn=churn.txt",
                                   "trace-every=10",
                                   NULL};
    saddle_test_enter_directory();
    for (size_t k = 0; k < 2; k++) {
        saddle_test_write("churn.txt", events[k]);
        saddle_result *result = test_solve(NULL, setting);
        const saddle_row *row = &result->rows[result->row_count - 1];
        ck_assert_int_eq(result->stop, SADDLE_STOP_TOLERANCE);
        assert_at_most(row->gap, 1e-3);
        ck_assert(row->present == (k == 0 ? 10.0 : 9.0));
        ck_assert((row->cost.rounds > 1300) == (k == 1));
        saddle_result_free(result);
    }
}

TEST(every_algorithm_runs_with_churn)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", EVENTS);
    for (size_t k = 0; k < count; k++) {
        char name[64];
        /* Centralized algorithms have no events to wait for. */
        const char *events = list[k]->traits.centralized ? "iterations=5" : "iterations=160";
        const char *const own[] = {name,   "churn=churn.txt", "agents=6", "topology=ring",
                                   events, "threads=2",       NULL};
        const char *relaxed[MOST_SETTINGS];
        saddle_error error = {.message = ""};
        saddle_result *result = NULL;
        snprintf(name, sizeof name, "algorithm=%s", list[k]->name);
        test_relax(list[k], own, relaxed);
        saddle_plan *plan = test_instance_plan(QUADRATIC_NONCONVEX, relaxed);
        assert_ok(saddle_solve(NULL, plan, &result, &error), error);
        const saddle_row *row = &result->rows[result->row_count - 1];
        if (list[k]->traits.centralized)
            ck_assert(isnan(row->present));
        else
            ck_assert(row->present == 4.0 && row->components >= 1.0);
        saddle_result_free(result);
        test_plan_free(plan);
    }
}

TEST(other_links_are_refused)
{
    static const struct {
        const char *setting;
        saddle_status status;
        const char *part;
    } bad[] = {{"links=agreed:0.2", SADDLE_BAD_INPUT, "--churn: agents can come and go with links"},
               {"links=gossip", SADDLE_BAD_INPUT, "--churn: agents can come and go with links"},
               {"compress=quantize:8", SADDLE_UNSUPPORTED, "leave --compress or --churn out"},
               {"steps=theory", SADDLE_UNSUPPORTED, "does not cover agents that leave or join"},
               {"gamma=exact", SADDLE_UNSUPPORTED, "set --gamma to local"}};
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", "3 leave 1\n");
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char *const setting[] = {"problem=quadratic",    "churn=churn.txt", "iterations=3",
                                       "algorithm=precision+", bad[k].setting,    NULL};
        saddle_error error = {.message = ""};
        saddle_result *result = NULL;
        saddle_plan *plan = test_plan(NULL, setting);
        assert_refused(saddle_solve(NULL, plan, &result, &error), error, bad[k].status,
                       bad[k].part);
        test_plan_free(plan);
    }
}

/* A gone agent computes and sends nothing; maps are sent while they differ. */
TEST(costs_are_of_those_present)
{
    const char *const setting[] = {"problem=quadratic",
                                   "agents=4",
                                   "topology=complete",
                                   "samples=5",
                                   "x-dim=4",
                                   "y-dim=3",
                                   "q=1",
                                   "churn=churn.txt",
                                   "iterations=10",
                                   "trace-every=1",
                                   NULL};
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", "3 leave 1\n");
    saddle_result *result = test_solve(NULL, setting);
    uint64_t length = 8 * (2 * (UINT64_C(4) + 3) + 2); /* with phi and the hash */
    for (uint64_t t = 0; t <= 10; t++) {
        uint64_t messages = t <= 3 ? 12 * t : 36 + 6 * (t - 3);
        const saddle_row *row = &result->rows[t];
        ck_assert_uint_eq(row->cost.messages, messages);
        /* All neighbours see it at once, so that no maps differ. */
        ck_assert_uint_eq(row->cost.bytes, messages * length);
        ck_assert(row->present == (t <= 3 ? 4.0 : 3.0));
        /* Full gradients at the start and in each iteration; after the event the three that are left average twice,
         * start anew, and then only average their sums. */
        ck_assert_uint_eq(row->cost.ifo, 5 * (t <= 3 ? 4 * (t + 1) : t <= 5 ? 16 : 19));
    }
    saddle_result_free(result);
}

/* ---- dead directions ---------------------------------------------------------------------------------- */

typedef struct warnings {
    int count;
    char text[512];
} warnings;

static void keep_warning(void *context, const char *text)
{
    warnings *w = context;
    w->count++;
    snprintf(w->text, sizeof w->text, "%s", text);
}

/* Warnings of a run. */
static warnings warnings_of(const char *const *setting, double *metric)
{
    warnings w = {.count = 0};
    const saddle_hooks hooks = {.warning = keep_warning, .context = &w};
    saddle_result *result = test_run(setting, &hooks);
    *metric = result->rows[result->row_count - 1].metric;
    saddle_result_free(result);
    return w;
}

TEST_LOOP(a_dead_direction_is_found_on_any_graph, 0, 4)
{
    static const struct {
        const char *links, *topology;
    } where[] = {{"links=lossy:0.2:0-1", "topology=ring"},
                 {"links=lossy:0.5:1-0", "topology=complete"},
                 {"links=burst:0.2:5:0-1", "topology=exponential"},
                 {"links=delay:3:0-1", "topology=exponential"}};
    const char *const setting[] = {CONVEX,
                                   where[_i].links,
                                   where[_i].topology,
                                   "iterations=6000",
                                   "trace-every=500",
                                   test_long() ? NULL : "stop-when=metric<=1e-13",
                                   NULL};
    double metric;
    warnings w = warnings_of(setting, &metric);
    ck_assert_int_eq(w.count, 1);
    ck_assert_msg(strstr(w.text, _i == 1 ? "nothing from agent 1 arrived at agent 0"
                                         : "nothing from agent 0 arrived at agent 1") != NULL,
                  "%s", w.text);
    assert_at_most(metric, 1e-12);
}

TEST_LOOP(a_dead_direction_is_found_on_random_graphs, 1, test_long() ? 6 : 3)
{
    saddle_error error = {.message = ""};
    saddle_graph *graph = NULL;
    char seed[32];
    char links[64];
    char said[96];
    size_t i = 0;
    snprintf(seed, sizeof seed, "seed=%d", _i);
    assert_ok(saddle_graph_create(&graph, "er:0.5", 10, (uint64_t)_i, &error), error);
    while (graph->start[i + 1] - graph->start[i] < 5)
        i++;
    size_t j = graph->neighbour[graph->start[i] + (size_t)_i % 5];
    snprintf(links, sizeof links, "links=lossy:0.3:%zu-%zu", i, j);
    snprintf(said, sizeof said, "nothing from agent %zu arrived at agent %zu", i, j);
    const char *const setting[] = {CONVEX,
                                   seed,
                                   links,
                                   "topology=er:0.5",
                                   "iterations=6000",
                                   "trace-every=500",
                                   test_long() ? NULL : "stop-when=metric<=1e-13",
                                   NULL};
    double metric;
    warnings w = warnings_of(setting, &metric);
    ck_assert_int_eq(w.count, 1);
    ck_assert_msg(strstr(w.text, said) != NULL, "%s, not %s", w.text, said);
    assert_at_most(metric, 1e-12);
    saddle_graph_free(graph);
}

/* However many rounds an iteration has, and although agents whose maps differ use nothing of each other. */
TEST_LOOP(directions_are_not_called_dead_for_a_change_of_maps, 0, 2)
{
    const char *const setting[] = {CONVEX,
                                   "topology=ring",
                                   "algorithm=gt-gda",
                                   _i == 0 ? "ascents=250" : "ascents=50",
                                   _i == 0 ? "links=reliable" : "links=lossy:0.5",
                                   "churn=churn.txt",
                                   "iterations=60",
                                   "trace-every=30",
                                   NULL};
    double metric;
    saddle_test_enter_directory();
    saddle_test_write("churn.txt", "300 leave 1\n");
    warnings w = warnings_of(setting, &metric);
    ck_assert_msg(w.count == 0, "%s", w.text);
}

TEST_LOOP(directions_that_work_are_not_called_dead, 0, 4)
{
    static const char *const links[] = {"links=lossy:0.5", "links=lossy:0.9", "links=burst:0.3:10",
                                        "links=delay:20"};
    const char *const setting[] = {"problem=quadratic",
                                   "algorithm=precision",
                                   "agents=10",
                                   "samples=10",
                                   "topology=complete",
                                   "x-dim=3",
                                   "y-dim=3",
                                   test_long() ? "iterations=20000" : "iterations=6000",
                                   links[_i],
                                   "trace-every=6000",
                                   "nu=1e-3",
                                   "eta=1e-3",
                                   NULL};
    double metric;
    warnings w = warnings_of(setting, &metric);
    ck_assert_msg(w.count == 0, "%s", w.text);
}

/* Whatever happened to it before: its end that hears the other must not call it up again. In the log, agent 1 learns at
 * once that agent 0 has called their link up, and by whom. */
TEST(a_link_that_fails_in_one_direction_stays_down)
{
    static const char *const fails[] = {"300 lost 0 1\n300 gone 0 1\n",
                                        "300 lost 0 1\n300 lost 1 0\n300 gone 0 1\n300 gone 1 0\n"};
    saddle_result *result[2];
    saddle_test_enter_directory();
    for (size_t k = 0; k < 2; k++) {
        const char *const setting[] = {
            "problem=quadratic",    "agents=3",         "topology=path",     "algorithm=precision",
            "links=replay:log.txt", "iterations=10000", "trace-every=10000", NULL};
        char log[400];
        snprintf(log, sizeof log,
                 "100 lost 0 1\n100 lost 1 0\n100 gone 0 1\n100 gone 1 0\n200 back 0 1\n"
                 "200 late 0 1 0\n210 back 1 0\n210 late 1 0 0\n%s",
                 fails[k]);
        saddle_test_write("log.txt", log);
        result[k] = test_solve(NULL, setting);
    }
    for (size_t n = result[0]->x_dim; n < 3 * result[0]->x_dim; n++)
        assert_near(result[0]->x[n], result[1]->x[n], 1e-6);
    saddle_result_free(result[0]);
    saddle_result_free(result[1]);
}
