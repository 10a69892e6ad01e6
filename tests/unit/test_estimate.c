/* Estimates of L and mu against the constants of problems that know them. */
#include <string.h>

#include "instances.h"
#include "support.h"

TEST(estimates_lie_within_the_constants)
{
    static const char *const more[] = {"x-dim=30", "y-dim=12", "mu=0.5", "lipschitz=20", NULL};
    saddle_error error = {.message = ""};
    test_instance instance;
    test_instance_open(&instance, QUADRATIC_NONCONVEX, more);
    const saddle_instance *e = instance.made;
    saddle_constants found = {.lipschitz = 0.0};
    assert_ok(saddle_problem_estimate_constants(e->problem, e->x_set, e->y_set, e->x0, e->y0, 3,
                                                &found, &error),
              error);
    ck_assert_int_eq(found.estimated, 1);
    /* The instance's largest curvature in y alone is a sixth of L times 1 + a deviation. */
    assert_at_most(found.lipschitz, 20.0 * (1.0 + 1e-6));
    assert_at_most(20.0 / 6.0, found.lipschitz);
    assert_at_most(0.5 * (1.0 - 1e-9), found.strong_concavity);
    assert_at_most(found.strong_concavity, found.lipschitz);

    saddle_constants again = {.lipschitz = 0.0};
    assert_ok(saddle_problem_estimate_constants(e->problem, e->x_set, e->y_set, e->x0, e->y0, 3,
                                                &again, &error),
              error);
    ck_assert_mem_eq(&found, &again, sizeof found);

    /* Known constants are kept. */
    saddle_constants half = {.lipschitz = 7.0};
    assert_ok(saddle_problem_estimate_constants(e->problem, e->x_set, e->y_set, e->x0, e->y0, 3,
                                                &half, &error),
              error);
    assert_near(half.lipschitz, 7.0, 0.0);
    assert_near(half.strong_concavity, found.strong_concavity, 0.0);
    test_instance_close(&instance);
}

/* A Lipschitz constant that comes from one of many coordinates, which power iterations must find. */
static void spiked_gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                            const double *x, const double *y, double *gx, double *gy,
                            double *scratch)
{
    (void)agent;
    (void)batch;
    (void)scratch;
    for (size_t k = 0; k < problem->x_dim; k++)
        gx[k] = k == 17 ? 100.0 * x[k] : 0.0;
    for (size_t k = 0; k < problem->y_dim; k++)
        gy[k] = -2.0 * y[k];
}

static double no_value(const saddle_problem *problem, size_t agent, const double *x,
                       const double *y, double *scratch)
{
    (void)problem;
    (void)agent;
    (void)x;
    (void)y;
    (void)scratch;
    return 0.0;
}

TEST(a_spike_is_found)
{
    static const size_t samples[] = {5, 5};
    static double zero[1000];
    saddle_error error = {.message = ""};
    saddle_problem problem = {.name = "spike",
                              .x_dim = 1000,
                              .y_dim = 1000,
                              .agents = 2,
                              .samples = samples,
                              .gradient = spiked_gradient,
                              .value = no_value};
    saddle_set *whole = NULL;
    assert_ok(saddle_set_create(&whole, "none", 1000, &error), error);
    saddle_constants found = {.lipschitz = 0.0};
    assert_ok(
        saddle_problem_estimate_constants(&problem, whole, whole, zero, zero, 1, &found, &error),
        error);
    assert_near(found.lipschitz, 100.0, 1e-3);
    assert_near(found.strong_concavity, 2.0, 1e-9);
    saddle_set_free(whole);
}
