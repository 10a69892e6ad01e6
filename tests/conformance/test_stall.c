/* Runs that stall at the noise of their gradient estimates, or oscillate, say so, and with the options that they name
 * the next run does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/algorithms.h"
#include "algorithms/noise.h"
#include "algorithms/precision_steps.h"
#include "core/print.h"
#include "instances.h"
#include "support.h"

/* ---- the numbers ----------------------------------------------------------------------------- */

/* Means over refreshes, by their definition: the weights of the numbers are 0.3 times powers of 0.7, and the first one
 * has what remains. */
static double weighted(const double *number, size_t count)
{
    double sum = pow(0.7, (double)(count - 1)) * number[0];
    for (size_t k = 1; k < count; k++)
        sum += 0.3 * pow(0.7, (double)(count - 1 - k)) * number[k];
    return sum;
}

TEST(numbers_are_means_over_refreshes)
{
    enum { REFRESHES_MADE = 40, SPAN_OF_ONE = 8, AGENTS = 5 };
    double numbers[SADDLE_NOISE_NUMBERS] = {0.0};
    double error[REFRESHES_MADE];
    double movement[REFRESHES_MADE];
    double share = 1.0 / AGENTS + 2.0 / SPAN_OF_ONE;
    saddle_noise_point at = {.agents = AGENTS};
    for (size_t k = 0; k < REFRESHES_MADE; k++) {
        movement[k] = 0.0;
        for (size_t t = 0; t < SPAN_OF_ONE; t++) {
            double moved = 1.0 / (1.0 + (double)(k * SPAN_OF_ONE + t));
            movement[k] += moved / SPAN_OF_ONE;
            saddle_noise_move(numbers, moved);
        }
        numbers[NOISE_STEP] = 0.25;
        at.iteration = SPAN_OF_ONE * (k + 1);
        error[k] = share * 0.5 * (double)k;
        saddle_noise_compare(numbers, 0.25 + (double)k, &at);
        assert_near(numbers[NOISE_MOVEMENT], weighted(movement, k + 1), 1e-14);
        size_t first = 0; /* a mean of 0 is none yet */
        while (first < k && error[first] == 0.0)
            first++;
        assert_near(numbers[NOISE_ERROR], weighted(error + first, k + 1 - first), 1e-12);
        /* The movement is taken after 4, 8, 16 and 32 refreshes. */
        size_t taken = 4;
        while (2 * taken <= k + 1)
            taken *= 2;
        assert_near(numbers[NOISE_BEFORE], k + 1 < 8 ? 0.0 : weighted(movement, taken / 2), 1e-14);
    }
    /* Without differences between refreshes, a change is none of errors. */
    saddle_noise_move(numbers, 1.0);
    double before = numbers[NOISE_ERROR];
    at.iteration = 1000;
    saddle_noise_compare(numbers, 1e9, &at);
    assert_near(numbers[NOISE_ERROR], 0.7 * before, 1e-12);
}

/* Squared distances from earlier points are those of the projections, in the units of the steps, and paths add up. */
TEST(distances_are_projected)
{
    enum { X_LENGTH = 300, Y_LENGTH = 100, STEPS_MADE = 64 };
    const double x_step = 0.25;
    const double y_step = 4.0;
    double start[X_LENGTH + Y_LENGTH];
    double v[X_LENGTH + Y_LENGTH] = {0.0};
    saddle_noise_point at = {.agents = 1,
                             .x_dim = X_LENGTH,
                             .y_dim = Y_LENGTH,
                             .x = v,
                             .y = v + X_LENGTH,
                             .x_step = x_step,
                             .y_step = y_step};
    double net = 0.0;
    double path = 0.0;
    for (at.agent = 0; at.agent < 50; at.agent++) {
        double numbers[SADDLE_NOISE_NUMBERS] = {0.0};
        for (at.iteration = 1; at.iteration <= STEPS_MADE; at.iteration++) {
            for (size_t k = 0; k < X_LENGTH + Y_LENGTH; k++)
                v[k] += k % 3 == 0 ? 0.01 : -0.02;
            /* The point before the last one that is taken: those of 4, 8, 16, 32 and 64 are. */
            if (at.iteration == STEPS_MADE / 2)
                memcpy(start, v, sizeof v);
            saddle_noise_move(numbers, 2.0);
            saddle_noise_sample(numbers, 1.0, 3.0, &at);
        }
        net += numbers[NOISE_NET] / 50.0;
        path = numbers[NOISE_PATH];
    }
    double expected = saddle_distance2(X_LENGTH, v, start) / x_step +
                      saddle_distance2(Y_LENGTH, v + X_LENGTH, start + X_LENGTH) / y_step;
    assert_near(net, expected, 0.3 * expected); /* three standard errors of 200 projections */
    assert_near(path, (double)STEPS_MADE * (2.0 * 3.0 - 1.0), 1e-12);
}

typedef struct errors {
    const saddle_steps *steps;
    double expected, followed;
    double *last;    /* v and u of all agents */
    double *changed; /* of each agent, in the last call */
} errors;

/* Adds half of what the estimates of an agent have changed since the last call, in the units of the steps, beyond their
 * change before that, and what the agent followed. */
static void add_change(void *context, saddle_agent *agent)
{
    errors *e = context;
    const saddle_variables at = saddle_precision_variables(agent);
    size_t both = at.x_dim + at.y_dim;
    double *last = e->last + agent->id * both;
    double change = 0.0;
    for (size_t k = 0; k < both; k++) {
        double estimate = k < at.x_dim ? at.v[k] : at.u[k - at.x_dim];
        double step = k < at.x_dim ? e->steps->nu / e->steps->tau : e->steps->eta * e->steps->alpha;
        change += step * (estimate - last[k]) * (estimate - last[k]);
        last[k] = estimate;
    }
    e->expected += 0.5 * fmax(0.0, change - e->changed[agent->id]);
    e->changed[agent->id] = change;
    e->followed += at.noise[NOISE_ERROR];
}

TEST(precision_takes_in_the_change_at_a_refresh)
{
    enum { Q = 9 };
    const char *const more[] = {"batch=3", "q=9", "samples=60", NULL};
    test_rig rig;
    test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision", more, 1, NULL, NULL);
    const saddle_problem *problem = rig.target.problem;
    errors e = {.steps = &rig.steps,
                .last = test_doubles(problem->agents * (problem->x_dim + problem->y_dim)),
                .changed = test_doubles(problem->agents)};
    for (int t = 1; t <= Q; t++) {
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        e.expected = e.followed = 0.0;
        rig.engine->kind->for_each(rig.engine, add_change, &e);
        ck_assert(t == Q ? e.followed > 0.0 : e.followed == 0.0);
    }
    double share = fmin(1.0, 1.0 / (double)problem->agents + 2.0 / Q);
    assert_near(e.followed, share * e.expected, 1e-9 * e.followed);
    free(e.changed);
    free(e.last);
    test_rig_close(&rig);
}

/* ---- runs ------------------------------------------------------------------------------------ */

#define FAIR "problem=fair", "sensitive=1", "fairness=0", "data=synthetic:2000:10"
#define TORUS "agents=20", "topology=torus:4x5", "iterations=2000", "trace-every=2000", "gap=end"

#define RING                                                                                \
    "problem=group-dro", "partition=label-skew:0.2", "data=synthetic:2000:20", "agents=20", \
        "topology=ring", "iterations=2000", "trace-every=2000", "gap=end"

typedef struct stall {
    const char *setting[20];
    saddle_stop stop;
    double left; /* the part of the metric that is left if the advice is followed */
} stall;

static const stall stalls[] = {
    {{FAIR, TORUS, "algorithm=precision+", "c-gamma=10", "seed=1", NULL},
     SADDLE_STOP_STALLED,
     0.01},
    {{FAIR, TORUS, "algorithm=precision+", "c-gamma=65", "batch=2", "seed=2", NULL},
     SADDLE_STOP_STALLED,
     0.01},
    {{FAIR, TORUS, "algorithm=precision", "batch=2", "q=45", "tau=0.1", "seed=6", NULL},
     SADDLE_STOP_STALLED,
     0.01},
    {{FAIR, TORUS, "algorithm=precision", "batch=1", "q=45", "seed=1", NULL},
     SADDLE_STOP_STALLED,
     0.01},
    {{FAIR, TORUS, "algorithm=dama", "estimator=sarah", "refresh-size=5", "seed=1", NULL},
     SADDLE_STOP_STALLED,
     0.01},
    {{FAIR, TORUS, "algorithm=prox-gt-sgda", "seed=1", NULL}, SADDLE_STOP_STALLED, 0.5},
    {{FAIR, TORUS, "algorithm=dama", "seed=1", NULL}, SADDLE_STOP_STALLED, 0.5},
    {{FAIR, TORUS, "algorithm=dm-hsgd", "seed=1", NULL}, SADDLE_STOP_STALLED, 0.5},
    {{RING, "algorithm=precision", "q=1", "seed=1", NULL}, SADDLE_STOP_OSCILLATES, 0.2},
    {{RING, "algorithm=precision+", "seed=2", NULL}, SADDLE_STOP_OSCILLATES, 0.2},
    {{"problem=group-dro", "data=synthetic:600:8", "agents=10", "topology=ring", "iterations=3000",
      "trace-every=3000", "gap=end", "algorithm=precision+", "tau=0.02", "seed=1", NULL},
     SADDLE_STOP_STALLED,
     0.01}};

/* Runs a plan. */
static saddle_result *run_plan(saddle_plan *plan)
{
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    return result;
}

/* Sets the options in "try --batch 10 --q 10", or "lower --alpha from 3 to 0.3, or try --algorithm precision-auto". */
static void follow(saddle_plan *plan, const char *remedy)
{
    saddle_error error = {.message = ""};
    char text[sizeof((saddle_result *)0)->remedy];
    saddle_snprintf(text, sizeof text, "%s", remedy);
    text[strcspn(text, ",")] = '\0';
    char *rest = NULL;
    bool tries = strcmp(strtok_r(text, " ", &rest), "try") == 0;
    const char *name;
    while ((name = strtok_r(NULL, " ", &rest)) != NULL) {
        const char *value = strtok_r(NULL, " ", &rest);
        for (int k = 0; k < 3 && !tries; k++)
            value = strtok_r(NULL, " ", &rest); /* from 3 to 0.3 */
        ck_assert(strncmp(name, "--", 2) == 0 && value != NULL);
        assert_ok(saddle_plan_set(plan, name + 2, value, &error), error);
    }
}

TEST_LOOP(the_advice_helps, 0, sizeof stalls / sizeof *stalls)
{
    const stall *s = &stalls[_i];
    saddle_plan *plan = test_plan(NULL, s->setting);
    saddle_result *stalled = run_plan(plan);
    ck_assert_int_eq(stalled->stop, s->stop);
    follow(plan, stalled->remedy);
    saddle_result *mended = run_plan(plan);
    if (getenv("SADDLE_TEST_VERBOSE") != NULL)
        saddle_fprintf(stdout, "%s: %g, then %g\n", stalled->remedy,
                       stalled->rows[stalled->row_count - 1].metric,
                       mended->rows[mended->row_count - 1].metric);
    if (s->left <= 0.01) /* noise that larger mini-batches leave stalls again */
        ck_assert_int_eq(mended->stop, SADDLE_STOP_ITERATIONS);
    assert_at_most(mended->rows[mended->row_count - 1].metric,
                   s->left * stalled->rows[stalled->row_count - 1].metric);
    saddle_result_free(mended);
    saddle_result_free(stalled);
    test_plan_free(plan);
}

/* Fails unless a run ends for this reason, without advice; frees the plan. */
static void check_end(saddle_plan *plan, saddle_stop stop)
{
    saddle_result *result = run_plan(plan);
    ck_assert_int_eq(result->stop, stop);
    ck_assert_str_eq(result->remedy, "");
    saddle_result_free(result);
    test_plan_free(plan);
}

/* A run that would stall is not said to if it ends for another reason. */
TEST(other_ends_come_first)
{
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, stalls[0].setting);
    assert_ok(saddle_plan_set(plan, "stop-when", "iteration>=2000", &error), error);
    check_end(plan, SADDLE_STOP_CONDITION);
}

/* A run that has been solved moves by rounding, of which errors of estimates are most. */
TEST_LOOP(a_solved_run_does_not_stall, 0, 2)
{
    static const char *const solved[][12] = {
        {"problem=auc", "data=synthetic:300:8", "algorithm=precision-auto", NULL},
        {"problem=fair", "data=synthetic:300:8", "algorithm=precision", "sensitive=1", NULL}};
    saddle_plan *plan = test_plan(NULL, solved[_i]);
    saddle_error error = {.message = ""};
    static const char *const more[][2] = {{"agents", "4"},
                                          {"iterations", "20000"},
                                          {"trace-every", "20000"},
                                          {"gap", "never"},
                                          {"seed", "1"}};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        assert_ok(saddle_plan_set(plan, more[k][0], more[k][1], &error), error);
    check_end(plan, SADDLE_STOP_ITERATIONS);
}

/* Default settings of all methods: the runs progress, if slowly, unless noise of their estimates remains. */
TEST_LOOP(progress_is_no_stall, 0, 6)
{
    static const char *const problems[][5] = {
        {"problem=robust-logistic", "data=synthetic:300:40", NULL},
        {"problem=auc", "data=synthetic:300:40", NULL},
        {"problem=group-dro", "data=synthetic:300:40", "partition=label-skew:0.3", NULL},
        {"problem=robust-regression", "data=synthetic:300:40", NULL},
        {"problem=policy-evaluation", "samples=60", NULL},
        {"problem=quadratic", "samples=60", "x-dim=8", "y-dim=6", NULL}};
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    for (size_t a = 0; a < count; a++) {
        if (!test_chosen((size_t)_i, a))
            continue;
        const char *setting[12] = {"agents=6", "iterations=800", "trace-every=400", "gap=end"};
        char name[64];
        saddle_snprintf(name, sizeof name, "algorithm=%s", list[a]->name);
        setting[4] = name;
        for (size_t k = 0; problems[_i][k] != NULL; k++)
            setting[5 + k] = problems[_i][k];
        saddle_plan *plan = test_plan(NULL, setting);
        saddle_error error = {.message = ""};
        saddle_result *result = NULL;
        if (saddle_solve(NULL, plan, &result, &error) == SADDLE_OK)
            ck_assert_msg(
                (result->stop != SADDLE_STOP_STALLED && result->stop != SADDLE_STOP_OSCILLATES) ||
                    (!list[a]->traits.settles &&
                     result->rows[2].metric > 0.3 * result->rows[1].metric),
                "%s", list[a]->name);
        else
            ck_assert_int_eq(error.status, SADDLE_UNSUPPORTED);
        saddle_result_free(result);
        test_plan_free(plan);
    }
}
