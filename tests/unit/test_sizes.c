/* Problems, algorithms and sets whose sizes, or their bytes, overflow are refused. */
#include <stdint.h>
#include <string.h>

#include <saddle/saddle.h>

#include "instances.h"
#include "support.h"

static saddle_error error;

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    (void)problem;
    (void)agent;
    (void)batch;
    (void)scratch;
    gx[0] = x[0] + y[0];
    gy[0] = x[0] - y[0];
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    (void)problem;
    (void)agent;
    (void)scratch;
    return 0.5 * x[0] * x[0] + x[0] * y[0] - 0.5 * y[0] * y[0];
}

static const size_t samples[2] = {1, 1};
static const saddle_problem small = {.name = "small",
                                     .x_dim = 1,
                                     .y_dim = 1,
                                     .agents = 2,
                                     .samples = samples,
                                     .gradient = gradient,
                                     .value = value};

static saddle_status solve(const saddle_problem *problem, const saddle_algorithm *algorithm)
{
    saddle_plan plan;
    saddle_result *result = NULL;
    saddle_plan_defaults(&plan, sizeof plan);
    plan.limits.iterations = 3;
    plan.network.agents = 2;
    plan.algorithm.own = algorithm;
    saddle_status status = saddle_solve(problem, &plan, &result, &error);
    saddle_result_free(result);
    saddle_plan_free(&plan);
    return status;
}

/* Sizes near SIZE_MAX, near where their bytes overflow, and the first that is refused. */
static const size_t huge[] = {SIZE_MAX,     SIZE_MAX - 1,  SIZE_MAX - 3,        SIZE_MAX / 2,
                              SIZE_MAX / 8, SIZE_MAX / 16, (SIZE_MAX >> 24) + 1};
enum { HUGE_SIZES = sizeof huge / sizeof *huge };

TEST(problems_are_refused)
{
    assert_ok(solve(&small, NULL), error);
    for (size_t k = 0; k < HUGE_SIZES; k++)
        for (int which = 0; which < 4; which++) {
            saddle_problem problem = small;
            size_t *size[] = {&problem.scratch, &problem.x_dim, &problem.y_dim,
                              &problem.response_size};
            *size[which] = huge[k];
            assert_refused(solve(&problem, NULL), error, SADDLE_BAD_INPUT, "each can be at most");
        }
}

/* ---- algorithms ---- */

static size_t asked[4];

static saddle_status init(void *parameters, saddle_configuration *configuration, saddle_error *why)
{
    (void)parameters;
    (void)configuration;
    (void)why;
    return SADDLE_OK;
}

static void layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    (void)parameters;
    (void)problem;
    out->published = 2 + asked[0];
    out->kept = asked[1];
    out->work = asked[2];
    out->scratch = asked[3];
    out->rounds = 1;
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    agent->next[0] = x0[0];
    agent->next[1] = y0[0];
}

static void step(saddle_agent *agent)
{
    saddle_agent_mix(agent, 0, 2, agent->next);
}

static void view(const saddle_agent *agent, saddle_view *out)
{
    out->x = agent->now;
    out->y = agent->now + 1;
}

static const saddle_phase phases[] = {{"mix", .before = step}, {.name = NULL}};
static const saddle_algorithm mixing = {.name = "mixing",
                                        .size = 1,
                                        .init = init,
                                        .layout = layout,
                                        .start = start,
                                        .phases = phases,
                                        .view = view};

TEST(algorithms_are_refused)
{
    assert_ok(solve(&small, &mixing), error);
    for (size_t k = 0; k < HUGE_SIZES; k++)
        for (int which = 0; which < 4; which++) {
            memset(asked, 0, sizeof asked);
            asked[which] = huge[k] - (which == 0 ? 2 : 0);
            assert_refused(solve(&small, &mixing), error, SADDLE_BAD_INPUT, "each can be at most");
        }
    memset(asked, 0, sizeof asked);
}

/* ---- sets ---- */

static size_t wanted;

static size_t wanted_scratch(const saddle_set *set)
{
    (void)set;
    return wanted;
}

static void project(const saddle_set *set, double *v, double *scratch)
{
    (void)set;
    (void)v;
    (void)scratch;
}

TEST(sets_are_refused)
{
    const saddle_set_class kind = {.term = {.name = "everything", .size = sizeof(saddle_set)},
                                   .project = project,
                                   .scratch = wanted_scratch};
    saddle_set *set = NULL;
    wanted = 5;
    assert_ok(saddle_set_from_class(&set, &kind, NULL, NULL, 3, &error), error);
    ck_assert_uint_eq(saddle_set_scratch(set), 8);
    saddle_set_free(set);
    for (size_t k = 0; k < HUGE_SIZES; k++) {
        wanted = huge[k];
        assert_refused(saddle_set_from_class(&set, &kind, NULL, NULL, 3, &error), error,
                       SADDLE_BAD_INPUT, "doubles of scratch");
        ck_assert_ptr_null(set);
        wanted = 0;
        assert_refused(saddle_set_from_class(&set, &kind, NULL, NULL, huge[k], &error), error,
                       SADDLE_BAD_INPUT, "at most");
        assert_refused(saddle_set_create(&set, "simplex:1", huge[k], &error), error,
                       SADDLE_BAD_INPUT, "at most");
    }
}
