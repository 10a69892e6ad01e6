/*
 * What PRECISION-auto promises, and PRECISION+ and --estimator kalman with measured batches: the errors that they
 * measure are those of their estimates, runs do not stop at their noise; units of columns do not matter to the
 * first, and exact gradients give the exact solution.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/family.h"
#include "algorithms/measured_batches.h"
#include "algorithms/precision_auto.h"
#include "algorithms/precision_steps.h"
#include "core/print.h"
#include "core/rng.h"
#include "core/vector.h"
#include "instances.h"
#include "support.h"

/* ---- measured errors ------------------------------------------------------------------------------------- */

enum { FEATURES = 5, ROWS = 400 };

/* Writes rows whose column k is multiplied by 2^exponent[k]; the 100 rows of an agent are sorted by label or not. */
static void write_rows(const char *path, const int *exponent, bool sorted)
{
    saddle_rng rng;
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    saddle_rng_init(&rng, 3, SADDLE_RNG_TEST, 0, 0);
    for (int row = 0; row < ROWS; row++) {
        bool positive = sorted ? row % 100 < 33 : row % 3 == 0;
        for (int k = 0; k < FEATURES; k++)
            saddle_fprintf(
                file, "%.17g,",
                ldexp(saddle_rng_normal(&rng) + (positive && k < 2 ? 1.0 : 0.0), exponent[k]));
        saddle_fprintf(file, "%d\n", positive ? 1 : -1);
    }
    ck_assert_int_eq(fclose(file), 0);
}

/* Of x and of y. */
typedef struct errors {
    double estimated[2], actual[2];
} errors;

/* Returns |a - b|^2 in the metric H^-1: the length of z, where R z = a - b. */
static double slow_length2(const saddle_metric *metric, const double *a, const double *b)
{
    double sum = 0.0;
    double *z = test_doubles(metric->dimension);
    for (size_t i = 0; i < metric->dimension; i++) {
        const double *row = metric->full ? metric->factor + i * (i + 1) / 2 : NULL;
        z[i] = a[i] - b[i];
        for (size_t j = 0; j < i && row != NULL; j++)
            z[i] -= row[j] * z[j];
        z[i] /= row != NULL ? row[i] : sqrt(metric->diagonal[i]);
        sum += z[i] * z[i];
    }
    free(z);
    return sum;
}

/* Adds an agent's measured errors, and those of its estimates. */
static void add_errors(void *context, saddle_agent *agent)
{
    errors *sum = context;
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    double *g = test_doubles(at.x_dim + at.y_dim);
    saddle_batch all = {.count = at.samples};
    saddle_problem_gradient(agent->problem, agent->id, &all, at.x, at.y, g, g + at.x_dim,
                            agent->scratch);
    sum->actual[0] += slow_length2(at.metric, at.v, g);
    for (size_t k = 0; k < at.y_dim; k++)
        sum->actual[1] += (at.u[k] - g[at.x_dim + k]) * (at.u[k] - g[at.x_dim + k]);
    sum->estimated[0] += at.measured[X_ERROR];
    sum->estimated[1] += at.measured[Y_ERROR];
    free(g);
}

/* Opens four agents with the rows of rows.csv, a seed and at most three more options; NULL ends them. */
static void open_rig(test_rig *rig, int which, const char *algorithm, int seed,
                     const char *const more[3])
{
    char text[32];
    saddle_snprintf(text, sizeof text, "seed=%d", seed);
    const char *const all[] = {"data=rows.csv", "agents=4", "samples=100",
                               "topology=ring", text,       more[0],
                               more[1],         more[2],    NULL};
    test_rig_open(rig, which, algorithm, all, 1, NULL, NULL);
}

/* The means over seeds, agents and iterations. Errors are unbiased but for the choice of when to refresh and for the
 * mean of variances over refreshes; these change them by less than a fifth. */
TEST_LOOP(errors_are_measured, 0, 12)
{
    static const int plain[FEATURES] = {0};
    static const char *const more_noise[] = {"noise-share=0.5", "noise-share=10"};
    static const char *const hessians[] = {"hessian=full", "hessian=diagonal", "hessian=none"};
    enum { SEEDS = 30 };
    errors sum = {{0.0, 0.0}, {0.0, 0.0}};
    saddle_test_enter_directory();
    write_rows("rows.csv", plain, _i % 2 == 1);
    for (int seed = 0; seed < SEEDS; seed++) {
        test_rig rig;
        open_rig(
            &rig, REGRESSION_SQUARE_SPARSE_UNEQUAL, "precision-auto", seed,
            (const char *[]){more_noise[_i / 2 % 2], "partition=contiguous", hessians[_i / 4]});
        test_rig_advance(&rig, 5);
        for (int part = 0; part < 8; part++) {
            ck_assert_int_eq(test_rig_advance(&rig, 4).kind, SADDLE_FAULT_NONE);
            rig.engine->kind->for_each(rig.engine, add_errors, &sum);
        }
        test_rig_close(&rig);
    }
    for (int of_y = 0; of_y < 2; of_y++)
        assert_near(sum.estimated[of_y] / sum.actual[of_y], 1.0, 0.2);
}

/* Errors of estimates with a gain, and the corrections of exact diffusion. */
typedef struct corrections {
    errors of;
    double sum[2 * FEATURES + ROWS], size;
} corrections;

static void add_corrections(void *context, saddle_agent *agent)
{
    corrections *c = context;
    const saddle_vectors at = saddle_vectors_of(agent);
    double *g = test_doubles(at.both);
    saddle_batch all = {.count = agent->problem->samples[agent->id]};
    saddle_problem_gradient(agent->problem, agent->id, &all, at.point, at.point + at.x_dim, g,
                            g + at.x_dim, agent->scratch);
    c->of.actual[0] += saddle_distance2(at.x_dim, at.estimate, g);
    c->of.actual[1] += saddle_distance2(at.both - at.x_dim, at.estimate + at.x_dim, g + at.x_dim);
    c->of.estimated[0] += at.estimated[X_ERROR];
    c->of.estimated[1] += at.estimated[Y_ERROR];
    ck_assert_uint_le(at.both, sizeof c->sum / sizeof *c->sum);
    for (size_t k = 0; k < at.both; k++) {
        c->sum[k] += at.dual[k];
        c->size = fmax(c->size, fabs(at.dual[k]));
    }
    free(g);
}

/* The gain takes both errors of a batch for independent. In x on robust-logistic they are not, and what is measured is
 * too large (docs/theory.md). */
TEST_LOOP(errors_are_measured_with_a_gain, 0, 2)
{
    static const int plain[FEATURES] = {0};
    static const int which[] = {REGRESSION_SQUARE_SPARSE_UNEQUAL, LOGISTIC_BOX_SPARSE};
    enum { SEEDS = 30 };
    corrections c = {.size = 0.0};
    saddle_test_enter_directory();
    write_rows("rows.csv", plain, true);
    for (int seed = 0; seed < SEEDS; seed++) {
        test_rig rig;
        open_rig(&rig, which[_i], "dama", seed,
                 (const char *[]){"partition=contiguous", "estimator=kalman", NULL});
        test_rig_advance(&rig, 5);
        for (int part = 0; part < 8; part++) {
            ck_assert_int_eq(test_rig_advance(&rig, 4).kind, SADDLE_FAULT_NONE);
            memset(c.sum, 0, sizeof c.sum);
            rig.engine->kind->for_each(rig.engine, add_corrections, &c);
            ck_assert_double_gt(c.size, 0.0);
            assert_at_most(test_largest(sizeof c.sum / sizeof *c.sum, c.sum), 1e-13 * c.size);
        }
        test_rig_close(&rig);
    }
    if (getenv("SADDLE_TEST_VERBOSE") != NULL)
        saddle_fprintf(stdout, "measured %g and %g of the actual errors\n",
                       c.of.estimated[0] / c.of.actual[0], c.of.estimated[1] / c.of.actual[1]);
    assert_near(c.of.estimated[1] / c.of.actual[1], 1.0, 0.2);
    assert_near(c.of.estimated[0] / c.of.actual[0], _i == 0 ? 1.0 : 3.4, _i == 0 ? 0.2 : 0.7);
}

/* ---- the condition of the theory ---------------------------------------------------------------------------- */

/* Sums over agents and iterations: measured errors, actual ones, and what bounds them. */
typedef struct condition {
    const saddle_steps *steps;
    double estimated[2], actual[2];
    double error, bound; /* in the units of the steps */
    double movement;     /* of one iteration, mean over agents */
    double followed,
        before; /* its mean over about five iterations, and the same an iteration ago */
} condition;

/* |x~ - x|^2 and |y~ - y|^2 of an agent. */
static void movement_of(const saddle_agent *agent, const saddle_steps *s, double out[2])
{
    const saddle_variables at = saddle_precision_variables(agent);
    double *tilde = test_doubles(at.x_dim + at.y_dim);
    for (size_t k = 0; k < at.x_dim; k++)
        tilde[k] = at.x[k] - at.p[k] / s->tau;
    for (size_t k = 0; k < at.y_dim; k++)
        tilde[at.x_dim + k] = at.y[k] + s->alpha * at.d[k];
    saddle_prox_apply(agent->x_prox, 1.0 / s->tau, tilde, agent->scratch);
    saddle_set_project(agent->y_set, tilde + at.x_dim, agent->scratch);
    out[0] = saddle_distance2(at.x_dim, tilde, at.x);
    out[1] = saddle_distance2(at.y_dim, tilde + at.x_dim, at.y);
    free(tilde);
}

static void add_movement(void *context, saddle_agent *agent)
{
    condition *c = context;
    double moved[2];
    movement_of(agent, c->steps, moved);
    c->movement +=
        (c->steps->nu * c->steps->tau * moved[0] + c->steps->eta / c->steps->alpha * moved[1]) /
        (double)agent->agents;
}

/* The bound is theta G / w, w = 1/m + 2/q. */
static void add_condition(void *context, saddle_agent *agent)
{
    condition *c = context;
    const saddle_steps *s = c->steps;
    const saddle_variables at = saddle_precision_variables(agent);
    const double *kept = at.kept + SADDLE_PRECISION_KEPT + 1; /* after the largest signal */
    double *g = test_doubles(at.x_dim + at.y_dim);
    saddle_batch all = {.count = agent->problem->samples[agent->id]};
    saddle_problem_gradient(agent->problem, agent->id, &all, at.x, at.y, g, g + at.x_dim,
                            agent->scratch);
    double x = saddle_distance2(at.x_dim, at.v, g);
    double y = 0.0;
    for (size_t k = 0; k < at.y_dim; k++) { /* u + c y may be stored */
        double off =
            at.u[k] - saddle_precision_shared(agent)->curvature * at.y[k] - g[at.x_dim + k];
        y += off * off;
    }
    c->actual[0] += x;
    c->actual[1] += y;
    c->estimated[0] += kept[X_ERROR];
    c->estimated[1] += kept[Y_ERROR];
    c->error += s->nu / s->tau * x + s->eta * s->alpha * y;
    c->bound += 0.5 * c->before / (1.0 / (double)agent->agents + 2.0 / kept[SPAN]);
    free(g);
}

/* (nu/tau) A_x + eta alpha A_y <= (theta/w) (nu tau W + (eta/alpha) V), the condition of docs/theory.md, in the mean
 * over seeds and iterations, and with actual errors. Batches are not larger than that needs: errors are a large part of
 * the bound. */
TEST_LOOP(precision_plus_bounds_errors_by_movement, 0, 2)
{
    static const int plain[FEATURES] = {0};
    static const int which[] = {REGRESSION_SQUARE_SPARSE_UNEQUAL, LOGISTIC_BOX_SPARSE};
    enum { SEEDS = 20 };
    condition c = {.steps = NULL};
    saddle_test_enter_directory();
    write_rows("rows.csv", plain, false);
    for (int seed = 0; seed < SEEDS; seed++) {
        test_rig rig;
        open_rig(&rig, which[_i], "precision+", seed, (const char *[]){NULL, NULL, NULL});
        c.steps = &rig.steps;
        c.followed = c.before = 0.0;
        for (int t = 0; t < 45; t++) {
            if (t > 5) /* the estimates of iterate t come from the movement before t - 1 */
                rig.engine->kind->for_each(rig.engine, add_condition, &c);
            c.movement = 0.0;
            rig.engine->kind->for_each(rig.engine, add_movement, &c);
            c.before = c.followed;
            c.followed += (c.followed == 0.0 ? 1.0 : 0.2) * (c.movement - c.followed);
            ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        }
        test_rig_close(&rig);
    }
    if (getenv("SADDLE_TEST_VERBOSE") != NULL)
        saddle_fprintf(stdout, "errors %g of the bound; measured %g and %g of the actual ones\n",
                       c.error / c.bound, c.estimated[0] / c.actual[0],
                       c.estimated[1] / c.actual[1]);
    assert_at_most(c.error, c.bound);
    ck_assert(c.error > 0.1 * c.bound);
    for (int of_y = 0; of_y < 2; of_y++)
        assert_near(c.estimated[of_y] / c.actual[of_y], 1.0, 0.2);
}

/* ---- units ----------------------------------------------------------------------------------------------- */

/* With columns in other units, every number of a run that has no units has the same bits. */
TEST_LOOP(units_of_columns_do_not_matter, 0, 4)
{
    static const int units[][FEATURES] = {{0, 0, 0, 0, 0}, {1, -2, 3, 0, -5}, {20, -20, 0, 9, -30}};
    static const char *const problems[][2] = {{"problem=group-dro", "groups=label"},
                                              {"problem=robust-regression", "loss=square"}};
    static const char *const hessians[] = {"hessian=auto", "hessian=diagonal"};
    const char *const setting[] = {problems[_i % 2][0],
                                   problems[_i % 2][1],
                                   hessians[_i / 2],
                                   "data=rows.csv",
                                   "scale=none",
                                   "agents=5",
                                   "x-set=none",
                                   "regularizer=none",
                                   "iterations=300",
                                   "trace-every=20",
                                   "algorithm=precision-auto",
                                   NULL};
    saddle_result *first = NULL;
    saddle_test_enter_directory();
    for (size_t u = 0; u < 3; u++) {
        write_rows("rows.csv", units[u], false);
        saddle_result *result = test_run(setting, NULL);
        ck_assert_int_eq(result->stop, SADDLE_STOP_ITERATIONS);
        if (u == 0) {
            first = result;
            ck_assert(first->rows[first->row_count - 1].loss != first->rows[0].loss);
            continue;
        }
        ck_assert_uint_eq(result->row_count, first->row_count);
        for (size_t k = 0; k < result->row_count; k++) {
            ck_assert_msg(result->rows[k].loss == first->rows[k].loss,
                          "loss of row %zu is %.17g, not %.17g", k, result->rows[k].loss,
                          first->rows[k].loss);
            ck_assert_uint_eq(result->rows[k].cost.ifo, first->rows[k].cost.ifo);
        }
        for (size_t k = 0; k < result->x_dim; k++)
            ck_assert(ldexp(result->x_mean[k], k < FEATURES ? units[u][k] : 0) == first->x_mean[k]);
        saddle_result_free(result);
    }
    saddle_result_free(first);
}

/* ---- convergence ------------------------------------------------------------------------------------------ */

typedef struct exactness {
    double off, error;
} exactness;

static void add_exactness(void *context, saddle_agent *agent)
{
    exactness *e = context;
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    double *g = test_doubles(at.x_dim + at.y_dim);
    saddle_batch all = {.count = at.samples};
    saddle_problem_gradient(agent->problem, agent->id, &all, at.x, at.y, g, g + at.x_dim,
                            agent->scratch);
    e->off = test_larger(e->off, test_farthest(at.x_dim + at.y_dim, at.v, g) /
                                     (1.0 + test_largest(at.x_dim + at.y_dim, g)));
    e->error = test_larger(e->error, at.measured[X_ERROR] + at.measured[Y_ERROR]);
    free(g);
}

/* With no noise allowed, all estimates are full gradients. In the first iteration the variance of differences is not
 * known, and one mini-batch is tried. */
TEST(no_noise_means_full_gradients)
{
    const char *const more[] = {"noise-share=1e-300", "curvature=convex", "samples=60", NULL};
    test_rig rig;
    test_state state;
    test_rig_open(&rig, QUADRATIC_NONCONVEX, "precision-auto", more, 1, NULL, NULL);
    test_state_make(&state, rig.target.problem);
    ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
    for (int t = 1; t < 200; t++) {
        exactness e = {0.0, 0.0};
        test_state_copy(&rig, &state);
        uint64_t before = state.ifo[0];
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        test_state_copy(&rig, &state);
        rig.engine->kind->for_each(rig.engine, add_exactness, &e);
        assert_at_most(e.off, 1e-14);
        ck_assert(e.error == 0.0);
        ck_assert_uint_eq(state.ifo[0] - before, 60 + 8); /* compared with ceil(sqrt(60)) samples */
    }
    test_state_free(&state);
    test_rig_close(&rig);
}

/* The largest distance of any agent's copy from the closed form. */
TEST_LOOP(it_reaches_the_saddle_of_the_quadratic, 0, 4)
{
    static const char *const curvatures[] = {"curvature=convex", "curvature=nonconvex"};
    static const char *const noises[] = {"noise-share=0.5", "noise-share=1e-300"};
    const char *const setting[] = {"problem=quadratic",
                                   curvatures[_i / 2],
                                   noises[_i % 2],
                                   "agents=5",
                                   "topology=ring",
                                   "samples=60",
                                   "x-dim=8",
                                   "y-dim=6",
                                   _i / 2 == 0 ? "iterations=6000" : "iterations=8000",
                                   "algorithm=precision-auto",
                                   NULL};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, setting);
    saddle_instance *made = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&made, plan, &error), error);
    assert_ok(saddle_run(made, plan, NULL, &result, &error), error);
    ck_assert_int_eq(result->stop, SADDLE_STOP_ITERATIONS);
    double *x = test_doubles(result->x_dim);
    double *y = test_doubles(result->y_dim);
    ck_assert(made->problem->solution(made->problem, x, y));
    for (size_t i = 0; i < result->agents; i++) {
        assert_at_most(sqrt(saddle_distance2(result->x_dim, result->x + i * result->x_dim, x)),
                       1e-8);
        assert_at_most(sqrt(saddle_distance2(result->y_dim, result->y + i * result->y_dim, y)),
                       1e-8);
    }
    free(y);
    free(x);
    saddle_result_free(result);
    saddle_instance_free(made);
    test_plan_free(plan);
}

/* Returns the gap at the end of a run. */
static double last_gap(const char *const *problem, const char *algorithm, const char *c_gamma,
                       int seed)
{
    char name[64];
    char text[32];
    saddle_snprintf(name, sizeof name, "algorithm=%s", algorithm);
    saddle_snprintf(text, sizeof text, "seed=%d", seed);
    const char *setting[MOST_SETTINGS] = {
        name, text, "max-ifo=400000", "gap=end", "iterations=100000", "trace-every=100000"};
    setting[6] = c_gamma;
    for (size_t k = 0; problem[k] != NULL; k++)
        setting[7 + k] = problem[k];
    saddle_result *result = test_run(setting, NULL);
    ck_assert(result->stop == SADDLE_STOP_IFO || result->stop == SADDLE_STOP_STALLED);
    double gap = result->rows[result->row_count - 1].gap;
    saddle_result_free(result);
    return gap;
}

/* Where the paper's rule of PRECISION+ stays at its noise. */
TEST_LOOP(it_is_not_caught_by_its_noise, 0, 2)
{
    static const struct {
        const char *setting[7];
        double bound;
    } traps[] = {{{"problem=fair", "sensitive=3", "fairness=0", "data=synthetic:4000:30",
                   "agents=10", "topology=ring"},
                  1e-3},
                 {{"problem=group-dro", "groups=label", "partition=label-skew:0.3",
                   "data=synthetic:4000:30", "agents=12", "topology=star"},
                  2.4e-2}};
    for (int seed = 1; seed <= (TEST_SLOWDOWN > 1 ? 1 : test_long() ? 5 : 3); seed++) {
        assert_at_most(last_gap(traps[_i].setting, "precision-auto", "noise-share=0.5", seed),
                       traps[_i].bound);
        assert_at_most(last_gap(traps[_i].setting, "precision+", "c-gamma=auto", seed),
                       traps[_i].bound);
    }
    double gap = last_gap(traps[_i].setting, "precision+", "c-gamma=10", 3);
    ck_assert_msg(gap > 2.0 * traps[_i].bound, "the paper's rule ends at %g", gap);
}

/* Networks on which agents drift apart with one round in an iteration: a long path, and links that fail. */
TEST_LOOP(slow_networks_do_not_stop_it, 0, 6)
{
    static const char *const networks[][3] = {{"agents=30", "topology=path", "links=reliable"},
                                              {"agents=12", "topology=star", "links=gossip"},
                                              {"agents=12", "topology=path", "links=burst:0.3:10"}};
    static const char *const problems[][3] = {
        {"problem=group-dro", "groups=label", "data=synthetic:2000:20"},
        {"problem=auc", "score=linear", "data=synthetic:2000:20"}};
    const char *const setting[] = {networks[_i / 2][0],
                                   networks[_i / 2][1],
                                   networks[_i / 2][2],
                                   problems[_i % 2][0],
                                   problems[_i % 2][1],
                                   problems[_i % 2][2],
                                   "partition=label-skew:0.3",
                                   "algorithm=precision-auto",
                                   "gap=end",
                                   "iterations=5000",
                                   "max-rounds=5000",
                                   "max-ifo=400000",
                                   NULL};
    saddle_result *result = test_run(setting, NULL);
    assert_at_most(result->rows[result->row_count - 1].gap, 3e-4);
    saddle_result_free(result);
}

/* With PRECISION's step in y, x and y rotate about this solution and end at a gap of 8e-3. */
TEST(x_and_y_do_not_chase_each_other)
{
    const char *const setting[] = {"problem=group-dro",
                                   "groups=1,label",
                                   "data=synthetic:600:10",
                                   "seed=1",
                                   "agents=4",
                                   "topology=path",
                                   "algorithm=precision-auto",
                                   "gap=end",
                                   "iterations=2000",
                                   "trace-every=2000",
                                   NULL};
    saddle_result *result = test_run(setting, NULL);
    assert_at_most(result->rows[result->row_count - 1].gap, 1e-7);
    saddle_result_free(result);
}

/* A full metric that were measured with fewer samples than columns would allow steps in the other directions that are
 * a million times too long. */
TEST(many_columns_do_not_make_it_diverge)
{
    static const char *const setting[] = {
        "problem=auc",   "data=synthetic:1500:800",  "agents=2", "topology=path",
        "iterations=40", "algorithm=precision-auto", NULL};
    saddle_result *result = test_run(setting, NULL);
    assert_at_most(result->rows[result->row_count - 1].primal, -0.1);
    saddle_result_free(result);
}
