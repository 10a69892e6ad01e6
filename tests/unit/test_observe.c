/*
 * Measurements of a run, recomputed from copies of the agents' variables with plain loops; the
 * self-checks, each violated on purpose; the generic best response against closed forms.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/algorithms.h"
#include "algorithms/layout.h"
#include "core/clock.h"
#include "engines/agent.h"
#include "instance/instance.h"
#include "instances.h"
#include "observe/observer.h"
#include "observe/response.h"
#include "problems/evaluate.h"
#include "support.h"

/* ---- the metric ------------------------------------------------------------------------------ */

/* Everything that a row is recomputed from. */
typedef struct truth {
    test_rig rig;
    const saddle_problem *problem; /* the network's, also for centralized algorithms */
    size_t agents;                 /* number of agents that run */
    double copies;                 /* number of the network's agents that each stands for */
    const saddle_prox *x_prox;
    const saddle_set *y_set;
    test_state state;
    double *x_mean, *y_mean, *y_star;
    double *gx, *gy, *one_x, *one_y, *scratch;
} truth;

static void truth_open(truth *t, int which, const char *algorithm, const char *const *more)
{
    test_rig_open(&t->rig, which, algorithm, more, 2, NULL, NULL);
    t->problem = t->rig.instance.problem;
    t->agents = t->rig.target.problem->agents;
    t->copies = (double)t->problem->agents / (double)t->agents;
    t->x_prox = t->rig.instance.made->x_prox;
    t->y_set = t->rig.instance.made->y_set;
    test_state_make(&t->state, t->rig.target.problem);
    double **of_x[] = {&t->x_mean, &t->gx, &t->one_x};
    double **of_y[] = {&t->y_mean, &t->y_star, &t->gy, &t->one_y};
    for (size_t k = 0; k < sizeof of_x / sizeof *of_x; k++)
        *of_x[k] = test_doubles(t->problem->x_dim);
    for (size_t k = 0; k < sizeof of_y / sizeof *of_y; k++)
        *of_y[k] = test_doubles(t->problem->y_dim);
    t->scratch = test_doubles(saddle_observer_scratch(t->rig.instance.made));
}

static void truth_close(truth *t)
{
    double *const vector[] = {t->x_mean, t->y_mean, t->y_star, t->gx,
                              t->gy,     t->one_x,  t->one_y,  t->scratch};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(vector[k]);
    test_state_free(&t->state);
    test_rig_close(&t->rig);
}

/* gx, gy = network gradient at (xbar, y). */
static void network_gradient(truth *t, const double *y)
{
    size_t m = t->problem->agents;
    memset(t->gx, 0, t->problem->x_dim * sizeof *t->gx);
    memset(t->gy, 0, t->problem->y_dim * sizeof *t->gy);
    for (size_t i = 0; i < m; i++) {
        saddle_batch all = {.index = NULL, .count = t->problem->samples[i]};
        saddle_problem_gradient(t->problem, i, &all, t->x_mean, y, t->one_x, t->one_y, t->scratch);
        for (size_t k = 0; k < t->problem->x_dim; k++)
            t->gx[k] += t->one_x[k] / (double)m;
        for (size_t k = 0; k < t->problem->y_dim; k++)
            t->gy[k] += t->one_y[k] / (double)m;
    }
}

static double network_value(truth *t, const double *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < t->problem->agents; i++)
        sum += saddle_problem_value(t->problem, i, t->x_mean, y, t->scratch);
    return sum / (double)t->problem->agents;
}

static double distance2(size_t count, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Computes y*(xbar) by plain projected ascent. */
static void slow_response(truth *t)
{
    size_t y_dim = t->problem->y_dim;
    double *before = test_doubles(y_dim);
    double *slope = test_doubles(y_dim);
    saddle_rng rng;
    saddle_rng_init(&rng, 3, SADDLE_RNG_TEST, 0, 0);
    /* The step from the steepest change of the gradient seen. */
    double steepest = 0.0;
    for (int round = 0; round < 20; round++) {
        test_point(&rng, t->y_set, before);
        test_point(&rng, t->y_set, t->y_star);
        network_gradient(t, before);
        memcpy(slope, t->gy, y_dim * sizeof *slope);
        network_gradient(t, t->y_star);
        double moved = distance2(y_dim, before, t->y_star);
        if (moved > 0.0)
            steepest = fmax(steepest, sqrt(distance2(y_dim, slope, t->gy) / moved));
    }
    for (int round = 0; round < 3000; round++) {
        network_gradient(t, t->y_star);
        /* If the curvature is not constant, it may be larger on the way than what was seen. */
        double moved = distance2(y_dim, before, t->y_star);
        if (round > 0 && moved > 1e-16)
            steepest = fmax(steepest, sqrt(distance2(y_dim, slope, t->gy) / moved));
        /* Further steps would be as short as rounding. */
        if (round > 0 && moved <= 1e-32)
            break;
        memcpy(before, t->y_star, y_dim * sizeof *before);
        memcpy(slope, t->gy, y_dim * sizeof *slope);
        for (size_t k = 0; k < y_dim; k++)
            t->y_star[k] += t->gy[k] / steepest;
        saddle_set_project(t->y_set, t->y_star, t->scratch);
    }
    free(slope);
    free(before);
}

static void means(truth *t)
{
    size_t m = t->agents;
    for (size_t k = 0; k < t->problem->x_dim; k++) {
        t->x_mean[k] = 0.0;
        for (size_t i = 0; i < m; i++)
            t->x_mean[k] += t->state.x[i * t->problem->x_dim + k] / (double)m;
    }
    for (size_t k = 0; k < t->problem->y_dim; k++) {
        t->y_mean[k] = 0.0;
        for (size_t i = 0; i < m; i++)
            t->y_mean[k] += t->state.y[i * t->problem->y_dim + k] / (double)m;
    }
}

/* Computes sum_i |x~_i - xbar|^2 with x~ from the network's gradient at the means; for `own`, from each
 * agent's tracker, or from its estimate without tracking, if the algorithm moves towards such a point. */
static double slow_x_stationarity(truth *t, saddle_metric_direction direction)
{
    size_t x_dim = t->problem->x_dim;
    double tau = t->rig.steps.tau;
    double sum = 0.0;
    bool tracks = strcmp(t->rig.algorithm->name, "prox-dsgda") != 0;
    network_gradient(t, t->y_mean);
    for (size_t i = 0; i < t->agents; i++) {
        const double *p = (tracks ? t->state.p : t->state.v) + i * x_dim;
        const double *x = t->state.x + i * x_dim;
        if (direction == SADDLE_DIRECTION_EXACT || t->rig.algorithm->prox_point == NULL) {
            p = t->gx;
            x = t->x_mean;
        }
        for (size_t k = 0; k < x_dim; k++)
            t->one_x[k] = x[k] - p[k] / tau;
        saddle_prox_apply(t->x_prox, 1.0 / tau, t->one_x, t->scratch);
        sum += distance2(x_dim, t->one_x, t->x_mean);
    }
    return t->copies * sum;
}

/* Theorem 1's potential is meaningful only for algorithms with its nu and eta. */
static saddle_constants constants_of(const test_rig *rig)
{
    return rig->algorithm->prox_point != NULL ? rig->target.constants : (saddle_constants){0};
}

static void slow_row(truth *t, saddle_metric_direction direction, saddle_row *row)
{
    size_t m = t->problem->agents;
    test_state_copy(&t->rig, &t->state);
    means(t);
    slow_response(t);
    row->x_stationarity = slow_x_stationarity(t, direction);
    row->x_consensus = row->y_consensus = 0.0;
    for (size_t i = 0; i < t->agents; i++) {
        row->x_consensus +=
            t->copies * distance2(t->problem->x_dim, t->state.x + i * t->problem->x_dim, t->x_mean);
        row->y_consensus +=
            t->copies * distance2(t->problem->y_dim, t->state.y + i * t->problem->y_dim, t->y_mean);
    }
    row->y_gap = distance2(t->problem->y_dim, t->y_star, t->y_mean);
    row->metric = row->x_stationarity + row->x_consensus + row->y_consensus + row->y_gap;
    double h = saddle_regularizer_value(saddle_prox_regularizer(t->x_prox), t->x_mean);
    row->loss = network_value(t, t->y_mean) + h;
    row->primal = network_value(t, t->y_star) + h;
    network_gradient(t, t->y_mean);
    row->stationarity = (row->x_consensus + row->y_consensus) / (double)m + row->y_gap;
    for (size_t k = 0; k < t->problem->x_dim; k++)
        row->stationarity += t->gx[k] * t->gx[k];
    saddle_constants constants = constants_of(&t->rig);
    double L = constants.lipschitz;
    double mu = constants.strong_concavity;
    double beta = t->rig.steps.tau / 12.0 < 1.0 / 3.0 ? t->rig.steps.tau / 12.0 : 1.0 / 3.0;
    row->potential = L > 0.0 && mu > 0.0
                         ? row->primal +
                               4.0 * t->rig.steps.nu * L * L /
                                   (beta * mu * t->rig.steps.eta * t->rig.steps.eta) * row->y_gap +
                               (row->x_consensus + row->y_consensus) / (double)m
                         : NAN;
}

/* The instance and layout of an observer last until the next one is created. */
static saddle_observer *observer_along(test_rig *rig, const saddle_algorithm *algorithm,
                                       const saddle_problem *problem, const saddle_mixing *mixing,
                                       saddle_metric_direction direction)
{
    static saddle_instance seen;
    saddle_error error = {.message = ""};
    saddle_observer *observer = NULL;
    static saddle_layout layout;
    saddle_algorithm_layout(algorithm, rig->parameters, problem, &layout);
    seen = rig->target;
    seen.problem = problem;
    if (mixing != NULL)
        seen.mixing = mixing;
    saddle_observer_inputs inputs = {.engine = rig->engine,
                                     .instance = &seen,
                                     .algorithm = algorithm,
                                     .layout = &layout,
                                     .steps = rig->steps,
                                     .metric_tau = rig->steps.tau,
                                     .metric_direction = direction,
                                     .potential = rig->algorithm->traits.potential,
                                     .feasible = true};
    assert_ok(saddle_observer_create(&observer, &inputs, &error), error);
    return observer;
}

static saddle_observer *observer_of(test_rig *rig, const saddle_algorithm *algorithm,
                                    const saddle_problem *problem, const saddle_mixing *mixing)
{
    return observer_along(rig, algorithm, problem, mixing, SADDLE_DIRECTION_EXACT);
}

static void assert_number(const char *what, double found, double expected, double size)
{
    ck_assert_msg(isnan(expected) ? isnan(found) : fabs(found - expected) <= 1e-10 * size,
                  "%s = %.17g, expected %.17g", what, found, expected);
}

TEST_LOOP(rows_hold_what_they_say, 0, INSTANCES)
{
    size_t algorithms;
    const saddle_algorithm *const *list = saddle_algorithm_list(&algorithms);
    static const char *const plain[] = {"q=3", "tau=2", NULL};
    /* Losses with unbounded slopes need shorter steps. */
    static const char *const steep[] = {"q=3", "tau=2000", "eta-x=1e-4", NULL};
    static const char *const with_h[] = {"q=3", "tau=5", "regularizer=l1:0.01", NULL};
    for (size_t a = 0; a < algorithms; a++)
        for (int k = 0; test_chosen((size_t)_i, a) && k < (_i <= LOGISTIC_SIMPLEX_DENSE ? 4 : 2);
             k++) {
            int h = k / 2;
            saddle_metric_direction direction = (saddle_metric_direction)(k % 2);
            truth t;
            saddle_error error = {.message = ""};
            truth_open(&t, _i, list[a]->name,
                       h == 1                                   ? with_h
                       : _i == REGRESSION_SQUARE_SPARSE_UNEQUAL ? steep
                                                                : plain);
            saddle_observer *observer =
                observer_along(&t.rig, list[a], t.rig.target.problem, NULL, direction);
            for (int point = 0; point < 3; point++) {
                saddle_row found = {.iteration = 0};
                saddle_row expected;
                assert_ok(saddle_observe(observer, &found, &error), error);
                slow_row(&t, direction, &expected);
                ck_assert_uint_eq(found.iteration, 7 * (uint64_t)point);
                double size = expected.metric + 1e-6;
                assert_number("x_stationarity", found.x_stationarity, expected.x_stationarity,
                              size);
                assert_number("x_consensus", found.x_consensus, expected.x_consensus, size);
                assert_number("y_consensus", found.y_consensus, expected.y_consensus, size);
                assert_number("y_gap", found.y_gap, expected.y_gap, size);
                assert_number("metric", found.metric, expected.metric, size);
                assert_number("loss", found.loss, expected.loss, 1.0 + fabs(expected.loss));
                assert_number("primal", found.primal, expected.primal, 1.0 + fabs(expected.primal));
                assert_number("stationarity", found.stationarity, expected.stationarity,
                              1.0 + expected.stationarity);
                assert_number("potential", found.potential, expected.potential,
                              1.0 + fabs(expected.potential));
                assert_at_most(
                    test_farthest(t.problem->x_dim, saddle_observer_x_mean(observer), t.x_mean),
                    1e-14 * (1.0 + test_largest(t.problem->x_dim, t.x_mean)));
                assert_ok(saddle_observer_check(observer, &error), error);
                test_rig_advance(&t.rig, 7);
            }
            saddle_observer_free(observer);
            truth_close(&t);
        }
}

/* Measuring is not part of the run: it changes no bits and is not counted as cost. */
TEST_LOOP(measuring_leaves_the_run_alone, 0, INSTANCES)
{
    static const char *const more[] = {"q=4", NULL};
    test_state state[2];
    saddle_cost cost[2];
    for (int measured = 0; measured < 2; measured++) {
        test_rig rig;
        saddle_error error = {.message = ""};
        test_rig_open(&rig, _i, "precision+", more, 2, NULL, NULL);
        saddle_observer *observer = observer_of(&rig, rig.algorithm, rig.instance.problem, NULL);
        for (int t = 0; t < 20; t++) {
            saddle_row row;
            if (measured == 1) {
                assert_ok(saddle_observe(observer, &row, &error), error);
                assert_ok(saddle_observer_check(observer, &error), error);
            }
            test_rig_advance(&rig, 1);
        }
        test_state_make(&state[measured], rig.instance.problem);
        test_state_copy(&rig, &state[measured]);
        rig.engine->kind->cost(rig.engine, &cost[measured]);
        saddle_observer_free(observer);
        test_rig_close(&rig);
    }
    ck_assert(test_same_cost(&cost[0], &cost[1]));
    ck_assert_int_eq(
        memcmp(state[0].x, state[1].x, state[0].agents * state[0].x_dim * sizeof(double)), 0);
    ck_assert_int_eq(
        memcmp(state[0].d, state[1].d, state[0].agents * state[0].y_dim * sizeof(double)), 0);
    test_state_free(&state[0]);
    test_state_free(&state[1]);
}

/* ---- self-checks, violated on purpose ---------------------------------------------------------- */

/* PRECISION in which agent 1 loses a little of its tracker in iteration 5. */
static void leaky_step(saddle_agent *agent)
{
    saddle_agent_round(&saddle_precision, agent, agent->round);
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    if (agent->id == 1 && agent->iteration == 4)
        agent->next[both] += 1e-4;
}

/* PRECISION in which agent 2 leaves the set in iteration 5. */
static void straying_step(saddle_agent *agent)
{
    saddle_agent_round(&saddle_precision, agent, agent->round);
    if (agent->id == 2 && agent->iteration == 4)
        agent->next[agent->problem->x_dim] -= 20.0;
}

/* PRECISION in which an entry of y that does not affect the mean of the trackers becomes NaN. */
static void vanishing_step(saddle_agent *agent)
{
    saddle_agent_round(&saddle_precision, agent, agent->round);
    if (agent->id == 2 && agent->iteration == 4)
        agent->next[agent->problem->x_dim] = NAN;
}

/* Runs a broken PRECISION for six iterations and checks it. */
static void check_broken(void (*step)(saddle_agent *), const char *part)
{
    test_rig rig;
    saddle_error error = {.message = ""};
    saddle_algorithm broken = saddle_precision;
    const saddle_phase phases[] = {{"broken", .before = step}, {.name = NULL}};
    broken.phases = phases;
    test_rig_open(&rig, LOGISTIC_BOX_SPARSE, "precision", NULL, 2, &broken, NULL);
    saddle_observer *observer = observer_of(&rig, &broken, rig.instance.problem, NULL);
    test_rig_advance(&rig, 4);
    assert_ok(saddle_observer_check(observer, &error), error);
    test_rig_advance(&rig, 1);
    assert_refused(saddle_observer_check(observer, &error), error, SADDLE_CHECK_FAILED, part);
    ck_assert_ptr_nonnull(strstr(error.message, "iteration 5"));
    saddle_observer_free(observer);
    test_rig_close(&rig);
}

TEST(a_leaking_tracker_is_caught)
{
    check_broken(leaky_step, "mean of the trackers");
}

TEST(an_infeasible_iterate_is_caught)
{
    check_broken(straying_step, "agent 2");
    check_broken(vanishing_step, "agent 2");
}

TEST(a_bad_mixing_matrix_is_caught)
{
    test_rig rig;
    saddle_error error = {.message = ""};
    test_rig_open(&rig, LOGISTIC_BOX_SPARSE, "precision", NULL, 1, NULL, NULL);
    saddle_mixing mixing = *rig.instance.made->mixing;
    double *weight = test_doubles(2 * mixing.graph->edges);
    double *self_weight = test_doubles(mixing.graph->agents);
    for (int broken = 0; broken < 4; broken++) {
        memcpy(weight, mixing.weight, 2 * mixing.graph->edges * sizeof *weight);
        memcpy(self_weight, mixing.self_weight, mixing.graph->agents * sizeof *self_weight);
        if (broken == 1)
            self_weight[3] += 1e-9; /* a row whose sum is not one */
        if (broken == 2) {
            weight[0] += 1e-9; /* rows sum to one, but it is not symmetric */
            weight[1] -= 1e-9;
        }
        if (broken == 3)
            weight[2] = NAN;
        saddle_mixing copy = mixing;
        copy.weight = weight;
        copy.self_weight = self_weight;
        saddle_observer *observer = observer_of(&rig, rig.algorithm, rig.instance.problem, &copy);
        if (broken == 0)
            assert_ok(saddle_observer_check(observer, &error), error);
        else
            assert_refused(saddle_observer_check(observer, &error), error, SADDLE_CHECK_FAILED,
                           "row");
        saddle_observer_free(observer);
    }
    free(self_weight);
    free(weight);
    test_rig_close(&rig);
}

/* Runs a user-defined problem to its end and expects its self-check to fail. */
static void run_refused(const saddle_problem *problem, const char *algorithm, const char *part)
{
    const char *const more[] = {"iterations=500", "q=100", "topology=path", "x-set=box:-2:2", NULL};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, more);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_plan_set(plan, "algorithm", algorithm, &error), error);
    plan->problem.own = problem;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_refused(saddle_run(instance, NULL, NULL, &result, &error), error, SADDLE_CHECK_FAILED,
                   part);
    ck_assert_ptr_null(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}

/* The user-defined problem with differences that add nothing. */
static void no_difference(const saddle_problem *problem, size_t agent, const saddle_part *part,
                          double *scratch)
{
    (void)problem;
    double weight = part->scale * (double)part->batch.count;
    if (part->x0 == NULL)
        saddle_add_undivided(test_own_problem(), agent, part, weight, scratch);
}

TEST(a_stalled_recursion_is_caught)
{
    saddle_problem problem = *test_own_problem();
    problem.add_samples = no_difference;
    problem.scratch = saddle_problem_scratch(test_own_problem());
    run_refused(&problem, "precision", "exactly zero");
    run_refused(&problem, "precision+", "exactly zero");
}

/* F_i = b x, linear: its differences are exactly zero, and that is right. */
static void linear_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                           double *scratch)
{
    (void)agent;
    (void)scratch;
    double sum = part->scale * (double)part->batch.count;
    for (size_t k = 0; part->gx != NULL && part->x0 == NULL && k < problem->x_dim; k++)
        part->gx[k] += 0.25 * sum;
    for (size_t k = 0; part->value != NULL && k < problem->x_dim; k++)
        *part->value += 0.25 * sum * part->x[k];
}

TEST(linear_losses_do_not_stall)
{
    const char *const algorithms[] = {"precision", "precision+"};
    for (size_t k = 0; k < 2; k++) {
        const char *const more[] = {"iterations=500", "q=100", "topology=path", "x-set=box:-2:2",
                                    NULL};
        saddle_error error = {.message = ""};
        saddle_plan *plan = test_plan(NULL, more);
        saddle_result *result = NULL;
        saddle_problem problem = *test_own_problem();
        problem.add_samples = linear_samples;
        problem.scratch = saddle_problem_scratch(test_own_problem());
        assert_ok(saddle_plan_set(plan, "algorithm", algorithms[k], &error), error);
        assert_ok(saddle_solve(&problem, plan, &result, &error), error);
        ck_assert_int_eq(result->stop, SADDLE_STOP_ITERATIONS);
        saddle_result_free(result);
        test_plan_free(plan);
    }
}

/* ---- the generic best response --------------------------------------------------------------- */

/* -1/2 (y - c)' D (y - c), D diagonal: with D a multiple of 1 the maximum is a projection of c. */
typedef struct hill {
    size_t dim;
    const double *centre;
    const double *curvature;
    size_t calls;
} hill;

static void hill_gradient(void *context, const double *y, double *gradient)
{
    hill *h = context;
    h->calls++;
    for (size_t k = 0; k < h->dim; k++)
        gradient[k] = -h->curvature[k] * (y[k] - h->centre[k]);
}

enum { DIM = 12 };

/* Finds the maximum over a set, from the origin, with a first guess of the step. */
static void climb(hill *h, const char *text, double *step, double *y)
{
    saddle_error error = {.message = ""};
    saddle_set *set = NULL;
    assert_ok(saddle_set_create(&set, text, h->dim, &error), error);
    double *scratch = test_doubles(saddle_maximize_scratch(h->dim) + saddle_set_scratch(set));
    double last = saddle_maximize(set, hill_gradient, h, 1e-12, step, y, scratch);
    assert_at_most(last, 1e-12);
    free(scratch);
    saddle_set_free(set);
}

/* While `ticks` is not 0, every reading of a clock is a second after the last one. */
static long ticks;

int __real_clock_gettime(clockid_t clock, struct timespec *out); /* NOLINT */
int __wrap_clock_gettime(clockid_t clock, struct timespec *out); /* NOLINT */

int __wrap_clock_gettime(clockid_t clock, struct timespec *out) /* NOLINT */
{
    if (ticks == 0)
        return __real_clock_gettime(clock, out);
    *out = (struct timespec){.tv_sec = ticks++};
    return 0;
}

/* All of a run's time is reported, and the time of its iterations is that of the trace. */
TEST(times_add_up)
{
    const char *const more[] = {"problem=quadratic", "iterations=200", "trace-every=10",
                                "threads=1", NULL};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, more);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    ticks = 1;
    double begin = saddle_clock_seconds();
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    double made = saddle_clock_seconds();
    assert_ok(saddle_run(instance, NULL, NULL, &result, &error), error);
    double end = saddle_clock_seconds();
    ticks = 0;
    const saddle_run_times *times = &result->times;
    const saddle_setup_times *setup = &times->setup;
    double setting_up =
        setup->network + setup->reading + setup->splitting + setup->problem + setup->constants;
    ck_assert(setup->network > 0.0 && setup->problem > 0.0);
    /* The clock is read at the begin and the end of every stage. */
    ck_assert(2.0 * setting_up == made - begin - 1.0);
    ck_assert_double_eq(times->iterating, result->rows[result->row_count - 1].seconds);
    ck_assert(times->iterating >= 20.0 && times->measuring >= 20.0 && times->rest > 0.0);
    /* A run reads the clock first and last. */
    ck_assert(times->iterating + times->measuring + times->rest == end - made - 2.0);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
}

TEST(the_generic_response_finds_projections)
{
    static const char *const sets[] = {"none",      "box:-0.5:0.7", "simplex",       "nonneg",
                                       "l2-ball:1", "l1-ball:1.3",  "linf-ball:0.2", "simplex:4"};
    static const double scales[] = {1e-6, 0.03, 1.0, 50.0, 1e6};
    double centre[DIM];
    double curvature[DIM];
    double y[DIM];
    double expected[DIM];
    saddle_rng rng;
    saddle_rng_init(&rng, 9, SADDLE_RNG_TEST, 0, 0);
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
        for (size_t c = 0; c < sizeof scales / sizeof *scales; c++) {
            saddle_error error = {.message = ""};
            saddle_set *set = NULL;
            for (size_t k = 0; k < DIM; k++) {
                centre[k] = expected[k] = saddle_rng_normal(&rng);
                curvature[k] = scales[c];
                y[k] = 0.0;
            }
            assert_ok(saddle_set_create(&set, sets[s], DIM, &error), error);
            double *scratch = test_doubles(saddle_set_scratch(set));
            saddle_set_project(set, expected, scratch);
            free(scratch);
            saddle_set_free(set);
            hill h = {.dim = DIM, .centre = centre, .curvature = curvature};
            double step = 1.0;
            climb(&h, sets[s], &step, y);
            assert_at_most(test_farthest(DIM, y, expected), 1e-10);
        }
}

TEST(the_generic_response_handles_bad_conditioning)
{
    double centre[DIM];
    double curvature[DIM];
    double y[DIM];
    for (size_t k = 0; k < DIM; k++) {
        centre[k] = k % 2 == 0 ? 3.0 : -2.0;
        curvature[k] = pow(10.0, -4.0 * (double)k / (DIM - 1)); /* condition 10^4 */
        y[k] = 0.0;
    }
    hill h = {.dim = DIM, .centre = centre, .curvature = curvature};
    double step = 1.0;
    climb(&h, "box:-10:1", &step, y);
    /* Over a box, a separable function is maximized coordinate by coordinate. */
    for (size_t k = 0; k < DIM; k++)
        assert_near(y[k], fmin(fmax(centre[k], -10.0), 1.0), 1e-7);
}

/* The step is passed from call to call. Whatever a call leaves in it, the next call, with another
 * function, must not mistake a short step for convergence. */
TEST(a_tiny_step_is_not_convergence)
{
    double centre[DIM];
    double curvature[DIM];
    double y[DIM];
    for (size_t k = 0; k < DIM; k++) {
        centre[k] = 1.0 + (double)k;
        curvature[k] = 1.0 + (double)k / DIM;
        y[k] = 0.0;
    }
    hill h = {.dim = DIM, .centre = centre, .curvature = curvature};
    double step = 1e-18;
    climb(&h, "none", &step, y);
    assert_at_most(test_farthest(DIM, y, centre), 1e-10);
    for (int call = 0; call < 50; call++) {
        for (size_t k = 0; k < DIM; k++)
            centre[k] *= 1.0 + 1e-9 * (double)(call + 1);
        climb(&h, "none", &step, y);
        assert_at_most(test_farthest(DIM, y, centre), 1e-10);
    }
    ck_assert_msg(h.calls < 10000, "%zu gradients", h.calls);
    /* Already at the maximum: it takes a few gradients and does not move. */
    double kept[DIM];
    memcpy(kept, y, sizeof y);
    for (int call = 0; call < 50; call++)
        climb(&h, "none", &step, y);
    assert_at_most(test_farthest(DIM, y, kept), 1e-10);
    assert_at_most(test_farthest(DIM, y, centre), 1e-10);
}

/* ---- outcomes over agents --------------------------------------------------------------------- */

/* Every column over agents against the minimum, mean and maximum of each agent's solution on its own
 * rows, and on the held-out rows. */
TEST_LOOP(outcomes_over_agents_are_those_of_their_solutions, 0, 3)
{
    static const char *const problem[] = {"problem=auc", "problem=fair", "problem=poisoning"};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(
        NULL, (const char *[]){problem[_i], "data=synthetic:90:12", "test-data=synthetic:25:12",
                               "sensitive=2", "agents=6", "topology=ring", "iterations=9",
                               "partition=label-skew:0.5", "outcomes-per-agent=yes", NULL});
    saddle_instance *e = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&e, plan, &error), error);
    assert_ok(saddle_run(e, NULL, NULL, &result, &error), error);
    size_t first = result->outcome_count / 4;
    size_t half = first / 2;
    bool some_defined = false;
    const double *row = result->outcomes + (result->row_count - 1) * result->outcome_count;
    for (size_t k = 0; k < first; k++) {
        double least = (double)INFINITY;
        double largest = -(double)INFINITY;
        double sum = 0.0;
        size_t defined = 0;
        for (size_t i = 0; i < result->agents; i++) {
            saddle_outcome found[SADDLE_MOST_OUTCOMES];
            const saddle_dataset *rows = k < half ? e->parts->shard[i] : e->held_out;
            test_outcomes(e->problem, rows, result->x + i * result->x_dim,
                          result->y + i * result->y_dim, found);
            double value = found[k % half].value;
            if (isnan(value))
                continue;
            least = value < least ? value : least;
            largest = value > largest ? value : largest;
            sum += value;
            defined++;
        }
        const double *spread = row + first + 3 * k;
        if (defined == 0) {
            ck_assert(isnan(spread[0]) && isnan(spread[1]) && isnan(spread[2]));
            continue;
        }
        some_defined = true;
        assert_near(spread[0], least, 0.0);
        assert_near(spread[1], sum / (double)defined, 1e-15 * fabs(sum));
        assert_near(spread[2], largest, 0.0);
        const char *name = result->outcome[first + 3 * k].name;
        size_t length = strlen(result->outcome[k].name);
        ck_assert_int_eq(strncmp(name, result->outcome[k].name, length), 0);
        ck_assert_str_eq(name + length, "_agent_min");
    }
    ck_assert(some_defined);
    saddle_result_free(result);
    saddle_instance_free(e);
    test_plan_free(plan);
}
