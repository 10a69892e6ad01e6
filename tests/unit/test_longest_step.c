/*
 * The longest stable step: against Hessians of single samples that are computed here, column by column, from
 * differences of gradients; and what runs do with it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/longest_step.h"
#include "instances.h"
#include "support.h"

/* ---- the slow way --------------------------------------------------------------------------------------- */

typedef struct slow {
    const saddle_instance *e;
    size_t nx, ny;
    double *y; /* the reference point */
    double *scratch;
} slow;

static void gradient(const slow *s, size_t agent, const saddle_batch *batch, const double *x,
                     const double *y, double *gx, double *gy)
{
    saddle_problem_gradient(s->e->problem, agent, batch, x, y, gx, gy, s->scratch);
}

static void slow_open(slow *s, const saddle_instance *e, double alpha)
{
    *s = (slow){.e = e, .nx = e->problem->x_dim, .ny = e->problem->y_dim};
    s->y = test_doubles(s->ny);
    s->scratch = test_doubles(saddle_problem_scratch(e->problem) + saddle_set_scratch(e->y_set));
    double *gx = test_doubles(s->nx);
    double *gy = test_doubles(s->ny);
    memcpy(s->y, e->y0, s->ny * sizeof *s->y);
    for (size_t i = 0; i < e->problem->agents; i++) {
        saddle_batch all = {.count = e->problem->samples[i]};
        gradient(s, i, &all, e->x0, e->y0, gx, gy);
        for (size_t k = 0; k < s->ny; k++)
            s->y[k] += alpha / (double)e->problem->agents * gy[k];
    }
    saddle_set_project(e->y_set, s->y, s->scratch);
    for (size_t k = 0; k < s->ny; k++)
        s->y[k] = (s->y[k] + e->y0[k]) / 2.0;
    free(gy);
    free(gx);
}

static void slow_close(slow *s)
{
    free(s->y);
    free(s->scratch);
}

/* out = the Hessian in x of one sample, times v. */
static void hessian_times(const slow *s, size_t agent, uint32_t sample, const double *v,
                          double *out)
{
    saddle_batch one = {.index = &sample, .count = 1};
    double *moved = test_doubles(s->nx);
    double *g = test_doubles(2 * s->nx + s->ny);
    const double step = 1e-4;
    memset(out, 0, s->nx * sizeof *out);
    for (size_t k = 0; k < s->nx; k++) {
        memcpy(moved, s->e->x0, s->nx * sizeof *moved);
        moved[k] += step;
        gradient(s, agent, &one, moved, s->y, g, g + 2 * s->nx);
        moved[k] -= 2.0 * step;
        gradient(s, agent, &one, moved, s->y, g + s->nx, g + 2 * s->nx);
        for (size_t c = 0; c < s->nx; c++)
            out[c] += (g[c] - g[s->nx + c]) / (2.0 * step) * v[k];
    }
    free(g);
    free(moved);
}

static double norm(size_t count, const double *v)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += v[k] * v[k];
    return sqrt(sum);
}

/* Returns the largest |H_s g_s| / |g_s| / b of samples and |H u| / |u| of agents, with u = sum_s H_s g_s. */
static double slow_curvature(const slow *s, uint64_t batch)
{
    const saddle_problem *problem = s->e->problem;
    double *g = test_doubles(s->nx + s->ny);
    double *h = test_doubles(s->nx);
    double *u = test_doubles(s->nx);
    double *sum = test_doubles(s->nx);
    double largest = 0.0;
    for (size_t i = 0; i < problem->agents; i++) {
        double n = (double)problem->samples[i];
        double b = batch == 0 ? ceil(sqrt(n)) : fmin((double)batch, n);
        memset(u, 0, s->nx * sizeof *u);
        memset(sum, 0, s->nx * sizeof *sum);
        for (uint32_t j = 0; j < problem->samples[i]; j++) {
            saddle_batch one = {.index = &j, .count = 1};
            gradient(s, i, &one, s->e->x0, s->y, g, g + s->nx);
            hessian_times(s, i, j, g, h);
            if (norm(s->nx, g) > 0.0)
                largest = fmax(largest, norm(s->nx, h) / norm(s->nx, g) / b);
            for (size_t k = 0; k < s->nx; k++)
                u[k] += h[k];
        }
        for (uint32_t j = 0; j < problem->samples[i]; j++) {
            hessian_times(s, i, j, u, h);
            for (size_t k = 0; k < s->nx; k++)
                sum[k] += h[k] / n;
        }
        largest = fmax(largest, norm(s->nx, sum) / norm(s->nx, u));
    }
    free(sum);
    free(u);
    free(h);
    free(g);
    return largest;
}

static const int measured[] = {LOGISTIC_SIMPLEX_DENSE,
                               QUADRATIC_CONVEX_ODD,
                               QUADRATIC_NONCONVEX,
                               AUC_LINEAR_SPARSE_UNEQUAL,
                               REGRESSION_SQUARE_SPARSE_UNEQUAL,
                               FAIR_DENSE_UNEQUAL,
                               GROUP_DRO_SPARSE_UNEQUAL};
enum { MEASURED = sizeof measured / sizeof *measured };

TEST_LOOP(it_is_two_over_the_largest_curvature, 0, MEASURED)
{
    static const uint64_t batch[] = {1, 3, 0, SADDLE_ALL_SAMPLES};
    test_instance instance;
    static const char *const everywhere[] = {"x-set=none", NULL};
    test_instance_open(&instance, measured[_i], everywhere);
    saddle_configuration c = {.instance = instance.made};
    saddle_error error;
    slow s;
    assert_ok(saddle_instance_steps(instance.made, instance.plan, &c.steps, &error), error);
    slow_open(&s, instance.made, c.steps.alpha);
    for (size_t k = 0; k < sizeof batch / sizeof *batch; k++) {
        double longest = NAN;
        assert_ok(saddle_longest_step(&c, batch[k], &longest, &error), error);
        double expected = 2.0 / slow_curvature(&s, batch[k]);
        /* Displacements of relative size 1e-3 are not infinitely small. */
        ck_assert_msg(fabs(longest / expected - 1.0) < 5e-3, "%s, batch %zu: %g instead of %g",
                      instance.label, k, longest, expected);
    }
    slow_close(&s);
    test_instance_close(&instance);
}

static const saddle_problem *asked;

static void without_y(const saddle_problem *problem, size_t agent, const saddle_part *part,
                      double *scratch)
{
    (void)problem;
    ck_assert(part->gy == NULL || part->batch.index == NULL);
    asked->add_samples(asked, agent, part, scratch);
}

/* Entries in y of a sample's gradient are as many as all samples of an agent where each has its own weight. */
TEST(samples_are_not_asked_for_gradients_in_y)
{
    test_instance instance;
    saddle_error error;
    double longest = NAN;
    test_instance_open(&instance, LOGISTIC_BOX_SPARSE, NULL);
    asked = instance.made->problem;
    saddle_problem problem = *asked;
    saddle_instance watched = *instance.made;
    saddle_configuration c = {.instance = &watched};
    problem.add_samples = without_y;
    watched.problem = &problem;
    assert_ok(saddle_instance_steps(instance.made, instance.plan, &c.steps, &error), error);
    assert_ok(saddle_longest_step(&c, 1, &longest, &error), error);
    ck_assert(longest > 0.0);
    test_instance_close(&instance);
}

enum { ALGORITHMS = 6 };

/* ---- runs ----------------------------------------------------------------------------------------------- */

/* Rows of very different lengths: at one agent, a mini-batch can be 1000 times as steep as the mean. Or a single row,
 * wherever it is. */
TEST_LOOP(steep_samples_shorten_steps, 0, 2 * ALGORITHMS)
{
    static const char *const algorithm[] = {"algorithm=precision",    "algorithm=precision+",
                                            "algorithm=prox-gt-sgda", "algorithm=prox-dsgda",
                                            "algorithm=dposg",        "algorithm=cspsg"};
    enum { ROWS = 400, FEATURES = 3 };
    static double a[ROWS * FEATURES];
    static double b[ROWS];
    saddle_rng rng;
    saddle_rng_init(&rng, 3, SADDLE_RNG_TEST, 0, 0);
    for (size_t j = 0; j < ROWS; j++) {
        bool heavy = _i < ALGORITHMS ? j % 100 == 7 : j == 102;
        double size = heavy ? 300.0 : 1.0;
        b[j] = saddle_rng_normal(&rng);
        for (size_t k = 0; k < FEATURES; k++) {
            a[j * FEATURES + k] = size * saddle_rng_normal(&rng);
            b[j] += a[j * FEATURES + k];
        }
    }
    const char *const setting[] = {"problem=robust-regression",
                                   "divergence=1e9",
                                   "agents=4",
                                   "topology=ring",
                                   "scale=none",
                                   "iterations=300",
                                   algorithm[_i % ALGORITHMS],
                                   "partition=contiguous",
                                   NULL};
    saddle_plan *plan = test_plan(NULL, setting);
    saddle_result *result = NULL;
    saddle_error error;
    saddle_dataset *rows = NULL;
    assert_ok(saddle_dataset_from_dense(&rows, ROWS, FEATURES, a, b, SADDLE_BORROW, &error), error);
    plan->problem.rows = rows;
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    ck_assert_int_ne(result->stop, SADDLE_STOP_DIVERGED);
    ck_assert_double_lt(result->rows[result->row_count - 1].primal, result->rows[0].primal);
    saddle_result_free(result);
    saddle_dataset_free(rows);
    test_plan_free(plan);
}
