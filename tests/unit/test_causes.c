/* Losses that are not finite although all variables are: the message names the cause. */
#include <string.h>

#include <saddle/saddle.h>

#include "core/print.h"
#include "instances.h"
#include "support.h"

static saddle_error error;

/* Which function of which agent returns what, and for which x. */
typedef struct fault {
    size_t agent;
    double value;    /* returned by value() */
    double gradient; /* in an entry of gradient() */
    double below;    /* where x is below this; NaN: nowhere */
    /* A call that returns NaN, or `passing` if that is not 0, by number from 1; 0: none. The agent of that call. */
    size_t nan_gradient;
    size_t nan_value;
    size_t nan_agent;
    double passing;
    size_t gradient_calls; /* so far */
    size_t value_calls;
} fault;

/* Returns NaN, or `passing`, in one call, which notes its agent, and 0 in all others. */
static double once(fault *f, size_t *calls, size_t which, size_t agent)
{
    if (++*calls != which)
        return 0.0;
    f->nan_agent = agent;
    return f->passing != 0.0 ? f->passing : (double)NAN;
}

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    fault *f = problem->self;
    (void)batch;
    (void)scratch;
    gx[0] = x[0] + y[0];
    gy[0] = x[0] - y[0];
    if (agent == f->agent && x[0] < f->below && f->gradient != 0.0)
        gy[0] = f->gradient;
    gx[0] += once(f, &f->gradient_calls, f->nan_gradient, agent);
    gy[0] += isnan(gx[0]) ? gx[0] : 0.0;
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    fault *f = problem->self;
    (void)scratch;
    if (agent == f->agent && x[0] < f->below && f->value != 0.0)
        return f->value;
    return once(f, &f->value_calls, f->nan_value, agent) + 0.5 * x[0] * x[0] + x[0] * y[0] -
           0.5 * y[0] * y[0];
}

static const size_t samples[3] = {2, 2, 2};

static saddle_status solve(fault *f, const char *name, const char *setting, saddle_result **out)
{
    const saddle_problem problem = {.name = "broken",
                                    .self = f,
                                    .x_dim = 1,
                                    .y_dim = 1,
                                    .agents = 3,
                                    .samples = samples,
                                    .gradient = gradient,
                                    .value = value};
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    plan.limits.iterations = f->nan_gradient + f->nan_value > 0 ? 3 : 200;
    plan.engine.threads = 1;
    plan.network.agents = 3;
    plan.outputs.trace_every = 1;
    /* A search may leave the domain of a problem; see test_gap.c. */
    plan.outputs.gap = f->nan_gradient + f->nan_value > 0 ? SADDLE_GAP_NEVER : SADDLE_GAP_END;
    plan.start.init = "constant:2";
    if (name != NULL)
        assert_ok(saddle_plan_set(&plan, name, setting, &error), error);
    saddle_status status = saddle_solve(&problem, &plan, out, &error);
    saddle_plan_free(&plan);
    return status;
}

TEST(causes_at_the_start_are_named)
{
    saddle_result *result = NULL;
    fault none = {.below = (double)NAN};
    fault loss = {.agent = 2, .value = (double)NAN, .below = 1e9};
    fault overflow = {.agent = 1, .value = (double)INFINITY, .below = 1e9};
    assert_ok(solve(&none, NULL, NULL, &result), error);
    ck_assert_str_eq(result->cause, "");
    saddle_result_free(result);
    assert_refused(solve(&loss, NULL, NULL, &result), error, SADDLE_BAD_INPUT,
                   "value() of problem broken is nan at agent 2");
    assert_refused(solve(&overflow, NULL, NULL, &result), error, SADDLE_BAD_INPUT,
                   "value() of problem broken is inf at agent 1");
    assert_refused(solve(&none, "tau", "1e-308", &result), error, SADDLE_BAD_INPUT,
                   "the proximal point with tau 1e-308");
    assert_refused(solve(&none, "regularizer", "l1:1.7e308", &result), error, SADDLE_BAD_INPUT,
                   "the regularizer l1:1.7e308 is inf");
    ck_assert_ptr_null(strstr(error.message, "variable"));
    /* Here the iterate is the cause. */
    assert_refused(solve(&none, "init", "constant:1e200", &result), error, SADDLE_BAD_INPUT,
                   "variable x[0] is 1e+200");
}

/* Whether or not the algorithm keeps gradient estimates, in which the fault shows first. */
TEST(gradients_are_named_with_every_algorithm)
{
    size_t count;
    const saddle_algorithm *const *all = saddle_algorithm_list(&count);
    for (size_t k = 0; k < count; k++) {
        saddle_result *result = NULL;
        fault slope = {.agent = 1, .gradient = (double)NAN, .below = 1e9};
        saddle_status status = solve(&slope, "algorithm", all[k]->name, &result);
        ck_assert_msg(status != SADDLE_OK, "%s", all[k]->name);
        if (status != SADDLE_UNSUPPORTED)
            ck_assert_msg(strstr(error.message, "an entry of gradient() of problem broken is nan"),
                          "%s: %s", all[k]->name, error.message);
    }
}

TEST(gradients_are_named_later)
{
    static const char *const name[] = {"precision",  "precision+",   "precision-auto",
                                       "prox-dsgda", "prox-gt-sgda", "gda"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        saddle_result *result = NULL;
        fault slope = {.agent = 1, .gradient = (double)INFINITY, .below = 0.7};
        assert_ok(solve(&slope, "algorithm", name[k], &result), error);
        ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
        ck_assert_msg(strstr(result->cause, "gradient() of problem broken is inf"), "%s: '%s'",
                      name[k], result->cause);
        ck_assert_str_eq(result->fault.variable, "gradient()");
        /* gda runs at one agent with all samples. */
        ck_assert_uint_eq(result->fault.agent, strcmp(name[k], "gda") == 0 ? 0 : 1);
        saddle_result_free(result);
    }
}

/* Runs with a NaN in one call. Returns false if there was no such call. */
static bool solve_with_nan(fault *f, const char *algorithm, const char *function)
{
    saddle_result *result = NULL;
    char named[80];
    saddle_status status = solve(f, "algorithm", algorithm, &result);
    bool called =
        f->nan_gradient > 0 ? f->gradient_calls >= f->nan_gradient : f->value_calls >= f->nan_value;
    const char *text = status == SADDLE_OK ? result->cause : error.message;
    if (status == SADDLE_OK && !called) {
        ck_assert_int_ne(result->stop, SADDLE_STOP_DIVERGED);
    } else {
        saddle_snprintf(named, sizeof named, "agent %zu", f->nan_agent);
        ck_assert_msg(status == SADDLE_BAD_INPUT ||
                          (status == SADDLE_OK && result->stop == SADDLE_STOP_DIVERGED),
                      "%s, call %zu of %s: %s", algorithm, f->nan_gradient + f->nan_value, function,
                      text);
        /* Where the NaN has reached the iterate, that is named. */
        bool iterate = status == SADDLE_OK && *text == '\0';
        ck_assert_msg(iterate || (strstr(text, function) != NULL && strstr(text, named) != NULL),
                      "%s, call %zu of %s at %s: %s", algorithm, f->nan_gradient + f->nan_value,
                      function, named, text);
        ck_assert(!iterate || (isnan(result->fault.value) && result->fault.iteration > 0));
    }
    saddle_result_free(result);
    return called;
}

/* One NaN, in whatever call: while constants are estimated, at the start, in an iteration, at a trace point. */
TEST_LOOP(no_single_nan_goes_unnoticed, 0, 5)
{
    static const char *const name[] = {"precision", "precision+", "prox-dsgda", "prox-gt-sgda",
                                       "precision-auto"};
    size_t calls = 0;
    for (bool called = true; called; calls++) {
        fault slope = {.below = (double)NAN, .nan_gradient = calls + 1};
        called = solve_with_nan(&slope, name[_i], "gradient()");
    }
    ck_assert_uint_gt(calls, 100);
    calls = 0;
    for (bool called = true; called; calls++) {
        fault loss = {.below = (double)NAN, .nan_value = calls + 1};
        called = solve_with_nan(&loss, name[_i], "value()");
    }
    ck_assert_uint_gt(calls, 10);
}

/* A gradient that is infinite once: where this shows is named, and the algorithm is not blamed. */
TEST(a_passing_infinity_is_named)
{
    size_t named = 0;
    size_t calls = 0;
    for (bool called = true; called; calls++) {
        fault slope = {.below = (double)NAN, .nan_gradient = calls + 1, .passing = INFINITY};
        saddle_result *result = NULL;
        saddle_status status = solve(&slope, "algorithm", "precision", &result);
        const char *text = status == SADDLE_OK ? result->cause : error.message;
        called = slope.gradient_calls > calls;
        ck_assert_msg(status != SADDLE_CHECK_FAILED && strstr(text, "algorithm") == NULL, "%s",
                      text);
        named += strstr(text, "v (x-gradient)[0] of agent") != NULL &&
                 strstr(text, "although gradient() of problem broken is finite now") != NULL;
        saddle_result_free(result);
    }
    ck_assert_uint_gt(named, 5);
}

TEST(causes_of_a_divergence_are_named)
{
    saddle_result *result = NULL;
    fault loss = {.agent = 2, .value = (double)NAN, .below = 0.7};
    assert_ok(solve(&loss, NULL, NULL, &result), error);
    ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
    ck_assert_uint_gt(result->fault.iteration, 0);
    ck_assert_msg(strstr(result->cause, "value() of problem broken is nan at agent 2") != NULL,
                  "'%s'", result->cause);
    ck_assert_str_eq(result->fault.variable, "value()");
    ck_assert_uint_eq(result->fault.agent, 2);
    ck_assert(isnan(result->fault.value));
    saddle_result_free(result);
}

/* Asserts that solving a quadratic problem with a setting fails with a message that contains `part` and
 * not `absent`. */
static void refuse_quadratic(const char *setting, const char *part, const char *absent)
{
    saddle_result *result = NULL;
    saddle_plan *plan = test_plan(
        NULL, (const char *[]){"problem=quadratic", "agents=4", "iterations=3", setting, NULL});
    saddle_status status = saddle_solve(NULL, plan, &result, &error);
    assert_refused(status, error, SADDLE_BAD_INPUT, part);
    ck_assert_msg(strstr(error.message, absent) == NULL, "%s: %s", setting, error.message);
    test_plan_free(plan);
}

TEST(options_and_sets_are_blamed_for_what_they_do)
{
    refuse_quadratic("lipschitz=1e300", "choose its options closer to 1", "data");
    refuse_quadratic("mu=1e-300", "choose its options closer to 1", "data");
    refuse_quadratic("x-set=box:1e308:1e308", "--x-set: every point of 'box:1e308:1e308'", "init:");
    refuse_quadratic("y-set=box:1e308:1e308", "--y-set: every point of 'box:1e308:1e308'", "init:");
    refuse_quadratic("x-set=simplex:1e308", "--x-set: every point of 'simplex:1e308'", "init:");
    refuse_quadratic("init-y=constant:1e200", "--init-y: the losses", "x[");
    refuse_quadratic("init=constant:1e200", "--init: the losses", "agent");
}

static void start_nowhere(const saddle_problem *problem, uint64_t seed, double *x, double *y)
{
    (void)problem;
    (void)seed;
    x[0] = (double)NAN;
    y[0] = 0.0;
}

TEST(starts_of_the_caller_are_named)
{
    saddle_problem problem = *test_own_problem();
    const double far[2] = {0.0, 1e200};
    saddle_result *result = NULL;
    saddle_plan *plan = test_plan(NULL, (const char *[]){"iterations=3", NULL});
    plan->start.x = far;
    plan->start.x_length = 2;
    assert_refused(saddle_solve(&problem, plan, &result, &error), error, SADDLE_BAD_INPUT,
                   "start.x: the losses at the starting point are not finite: variable x[1]");
    plan->start.x = NULL;
    problem.start = start_nowhere;
    assert_refused(saddle_solve(&problem, plan, &result, &error), error, SADDLE_BAD_INPUT,
                   "start() of problem own sets x[0] = nan");
    problem.start = NULL;
    problem.tau = -1.0;
    assert_refused(saddle_solve(&problem, plan, &result, &error), error, SADDLE_BAD_INPUT,
                   "has tau -1");
    ck_assert_ptr_null(strstr(error.message, "data"));
    test_plan_free(plan);
}

/* NULL is the default of a text, as everywhere in a plan. */
TEST(null_data_are_not_given)
{
    saddle_result *result = NULL;
    saddle_plan *plan =
        test_plan(NULL, (const char *[]){"problem=quadratic", "iterations=1", NULL});
    plan->problem.data = NULL;
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    assert_refused(saddle_result_save(result, "", &error), error, SADDLE_BAD_INPUT,
                   "the path is empty");
    saddle_result_free(result);
    test_plan_free(plan);
}

/* One agent reports a failure, although nothing is wrong. */
static void complain(saddle_agent *agent)
{
    size_t size = agent->problem->x_dim + agent->problem->y_dim;
    memcpy(agent->next, agent->now, size * sizeof *agent->now);
    if (agent->id == 1)
        agent->fault = (saddle_fault){
            .kind = (saddle_fault_kind)77, .variable = "z", .agent = 1, .index = 3, .value = 2.5};
}

static saddle_status init_nothing(void *parameters, saddle_configuration *configuration,
                                  saddle_error *why)
{
    (void)parameters;
    (void)configuration;
    (void)why;
    return SADDLE_OK;
}

static void lay_out(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    (void)parameters;
    out->published = problem->x_dim + problem->y_dim;
    out->rounds = 1;
}

static void start_agent(saddle_agent *agent, const double *x0, const double *y0)
{
    memcpy(agent->next, x0, agent->problem->x_dim * sizeof *x0);
    memcpy(agent->next + agent->problem->x_dim, y0, agent->problem->y_dim * sizeof *y0);
}

static void view(const saddle_agent *agent, saddle_view *out)
{
    out->x = agent->now;
    out->y = agent->now + agent->problem->x_dim;
}

TEST(faults_that_an_algorithm_reports_are_its_own)
{
    static const saddle_phase phases[] = {{.name = "complain", .before = complain}, {.name = NULL}};
    const saddle_algorithm mine = {.name = "mine",
                                   .size = 1,
                                   .init = init_nothing,
                                   .layout = lay_out,
                                   .start = start_agent,
                                   .phases = phases,
                                   .view = view};
    saddle_result *result = NULL;
    saddle_plan *plan =
        test_plan(NULL, (const char *[]){"problem=quadratic", "iterations=3", NULL});
    plan->algorithm.own = &mine;
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    ck_assert_int_eq(result->stop, SADDLE_STOP_DIVERGED);
    ck_assert_msg(strstr(result->cause, "algorithm mine reports a fault of agent 1: variable "
                                        "z[3] is 2.5") != NULL,
                  "'%s'", result->cause);
    saddle_result_free(result);
    test_plan_free(plan);
}

/* If a scale computed from the data overflows, the message names the data, not an option. */
TEST(overflowing_data_are_named)
{
    double rows[8][2];
    double label[8];
    for (size_t k = 0; k < 8; k++) {
        rows[k][0] = 1e300 * (double)(k + 1);
        rows[k][1] = 1.0;
        label[k] = k % 2 == 0 ? 1.0 : -1.0;
    }
    saddle_dataset *data = NULL;
    saddle_instance *instance = NULL;
    saddle_plan *plan =
        test_plan(NULL, (const char *[]){"problem=auc", "agents=2", "scale=none", NULL});
    assert_ok(saddle_dataset_from_dense(&data, 8, 2, rows[0], label, SADDLE_COPY, &error), error);
    plan->problem.rows = data;
    assert_refused(saddle_instance_create(&instance, plan, &error), error, SADDLE_BAD_INPUT,
                   "scale the data");
    ck_assert_ptr_null(strstr(error.message, "metric-tau"));
    test_plan_free(plan);
    /* Theory that does not apply to this problem. */
    plan = test_plan(NULL, (const char *[]){"agents=2", "steps=theory", "scale=none", NULL});
    plan->problem.rows = data;
    saddle_result *result = NULL;
    ck_assert_int_ne(saddle_solve(NULL, plan, &result, &error), SADDLE_OK);
    ck_assert_msg(strstr(error.message, "scale the data") != NULL, "%s", error.message);
    test_plan_free(plan);
    saddle_dataset_free(data);
}
