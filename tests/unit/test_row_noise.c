/*
 * Noise on gradients: its accounting against independent computations, what an agent computes with it, and what is
 * refused. SADDLE_PRIVACY_TABLE=1 prints what docs/privacy.md shows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/gaussian_privacy.h"
#include "engines/row_noise.h"
#include "instances.h"
#include "problems/evaluate.h"
#include "support.h"

/* ---- accounting -------------------------------------------------------------------------------------- */

static double normal_cdf(double v)
{
    return 0.5 * erfc(-v / sqrt(2.0));
}

/* The exact delta of a normal mechanism whose sensitivity is mu deviations (Balle and Wang 2018, theorem 8). `count`
 * independent ones are one with sqrt(count) mu. */
static double exact_delta(double mu, double epsilon)
{
    return normal_cdf(0.5 * mu - epsilon / mu) -
           exp(epsilon) * normal_cdf(-0.5 * mu - epsilon / mu);
}

static double exact_epsilon(double mu, double delta)
{
    double low = 0.0;
    double high = 200.0;
    for (int k = 0; k < 200; k++) {
        double middle = 0.5 * (low + high);
        if (exact_delta(mu, middle) > delta)
            low = middle;
        else
            high = middle;
    }
    return high;
}

TEST(full_gradients_are_accounted_for_nearly_exactly)
{
    static const double noise[] = {2.0, 20.0, 200.0, 2000.0};
    static const double count[] = {1.0, 10.0, 1000.0, 100000.0};
    int compared = 0;
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++) {
            /* A row that is replaced moves the sum by at most 2 C, that is 2 / noise deviations. */
            double mu = 2.0 / noise[a] * sqrt(count[b]);
            double exact = exact_epsilon(mu, 1e-6);
            if (exact < 0.01 || exact > 100.0)
                continue;
            double epsilon = saddle_gaussian_epsilon(noise[a], 1.0, count[b], 1e-6);
            ck_assert_msg(epsilon >= exact, "%g < %g", epsilon, exact);
            assert_at_most(epsilon, 1.35 * exact);
            compared++;
        }
    ck_assert_int_ge(compared, 7);
}

/* The Renyi divergence of order a of what is seen of a sum of one number, -1 or 1 in the row that is replaced and 0 in
 * the others, by integration: the replaced row is in the batch with probability q. It is a lower bound. */
static double true_divergence(double noise, double q, double order)
{
    long double sum = 0.0L;
    long double n = noise;
    long double step = n / 400.0L;
    long double from = -40.0L * n - 2.0L;
    size_t steps = (size_t)((40.0L * n + 2.0L * order - from) / step) + 1;
    for (size_t i = 0; i < steps; i++) {
        long double v = from + (long double)i * step;
        long double none = expl(-v * v / (2.0L * n * n));
        long double left = (1.0L - q) * none + q * expl(-(v + 1.0L) * (v + 1.0L) / (2.0L * n * n));
        long double right = (1.0L - q) * none + q * expl(-(v - 1.0L) * (v - 1.0L) / (2.0L * n * n));
        if (left > 0.0L && right > 0.0L)
            sum += right * powl(right / left, (long double)order - 1.0L) * step /
                   (n * sqrtl(2.0L * acosl(-1.0L)));
    }
    return (double)logl(sum) / (order - 1.0);
}

/* Theorem 9 of Wang, Balle and Kasiviswanathan, term by term with factorials. */
static double slow_divergence(double noise, double q, unsigned order)
{
    long double sum = 1.0L;
    for (unsigned j = 2; j <= order; j++) {
        long double e = 2.0L * j / ((long double)noise * noise);
        long double choose =
            expl(lgammal(order + 1.0L) - lgammal(j + 1.0L) - lgammal(order - j + 1.0L));
        long double factor = 2.0L * expl((j - 1.0L) * e);
        if (j == 2)
            factor = fminl(4.0L * expm1l(e), 2.0L * expl(e));
        sum += powl(q, j) * choose * factor;
    }
    return (double)(logl(sum) / (order - 1.0L));
}

TEST(batches_are_accounted_for_by_the_theorem)
{
    static const double noise[] = {3.0, 10.0, 50.0};
    static const double share[] = {0.001, 0.02, 0.3};
    static const unsigned order[] = {2, 3, 8, 32};
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++)
            for (size_t c = 0; c < 4; c++) {
                double found = saddle_gaussian_divergence(noise[a], share[b], order[c]);
                double whole = 2.0 * order[c] / (noise[a] * noise[a]);
                double slow = slow_divergence(noise[a], share[b], order[c]);
                double due = fmin(slow, whole);
                assert_near(found, due, 1e-9 * due + 1e-14);
                double least = true_divergence(noise[a], share[b], order[c]);
                ck_assert_msg(found >= least * (1.0 - 1e-6) - 1e-12, "%g < %g", found, least);
            }
}

TEST(epsilon_is_monotone)
{
    ck_assert(isinf(saddle_gaussian_epsilon(0.0, 1.0, 1.0, 1e-6)));
    double last = INFINITY;
    for (int doubled = 0; doubled < 14; doubled++) {
        double noise = ldexp(1.0, doubled);
        double epsilon = saddle_gaussian_epsilon(noise, 0.1, 500.0, 1e-6);
        ck_assert(epsilon < last);
        ck_assert(saddle_gaussian_epsilon(noise, 0.05, 500.0, 1e-6) <= epsilon);
        ck_assert(saddle_gaussian_epsilon(noise, 0.1, 1000.0, 1e-6) >= epsilon);
        last = epsilon;
    }
}

/* ---- a gradient ------------------------------------------------------------------------------------------ */

TEST(rows_are_clipped_and_noise_is_added)
{
    enum { DRAWS = 4000, BATCH = 4 };
    test_instance t;
    static const uint32_t batch[BATCH] = {1, 3, 4, 7};
    const char *more[] = {"samples=9", NULL};
    test_instance_open(&t, QUADRATIC_NONCONVEX, more);
    const saddle_problem *p = t.problem;
    size_t both = p->x_dim + p->y_dim;
    double *point = test_doubles(both);
    double *g = test_doubles(both);
    double *due = test_doubles(both);
    double *mean = test_doubles(both);
    double *square = test_doubles(both);
    double *scratch = test_doubles(saddle_row_noise_scratch(p));
    for (size_t k = 0; k < both; k++)
        point[k] = 0.3 * (double)(k % 3) - 0.2;
    saddle_row_noise with = {.clip = 1.5, .noise = 0.0, .seed = 5};
    saddle_agent agent = {.id = 2, .problem = p, .row_noise = &with};
    saddle_request r = {.kind = SADDLE_REQUEST_GRADIENT,
                        .batch = {.index = batch, .count = BATCH},
                        .x = point,
                        .y = point + p->x_dim,
                        .gx = g,
                        .gy = g + p->x_dim};
    int shortened = 0;
    for (size_t j = 0; j < BATCH; j++) {
        saddle_request one = r;
        double norm = 0.0;
        one.batch = (saddle_batch){.index = batch + j, .count = 1};
        saddle_evaluate(p, 2, &one, scratch);
        for (size_t k = 0; k < both; k++)
            norm += g[k] * g[k];
        shortened += sqrt(norm) > 1.5;
        for (size_t k = 0; k < both; k++)
            due[k] += g[k] * fmin(1.0, 1.5 / sqrt(norm)) / BATCH;
    }
    ck_assert_int_gt(shortened, 0);
    saddle_noisy_gradient(&agent, &r, scratch);
    for (size_t k = 0; k < both; k++)
        assert_near(g[k], due[k], 1e-14);
    /* The noise: independent of the entries and evaluations, with the deviation 8 * 1.5 / BATCH. */
    with.noise = 8.0;
    double products = 0.0;
    for (int d = 0; d < DRAWS; d++) {
        agent.ifo = (uint64_t)d * BATCH;
        saddle_noisy_gradient(&agent, &r, scratch);
        for (size_t k = 0; k < both; k++) {
            mean[k] += (g[k] - due[k]) / DRAWS;
            square[k] += (g[k] - due[k]) * (g[k] - due[k]) / DRAWS;
        }
        products += (g[0] - due[0]) * (g[p->x_dim] - due[p->x_dim]) / DRAWS;
    }
    for (size_t k = 0; k < both; k++) {
        assert_near(mean[k], 0.0, 5.0 * 3.0 / sqrt(DRAWS));
        assert_near(sqrt(square[k]), 3.0, 5.0 * 3.0 / sqrt(2.0 * DRAWS));
    }
    assert_near(products, 0.0, 5.0 * 9.0 / sqrt(DRAWS));
    double first = g[0];
    with.seed = 6;
    saddle_noisy_gradient(&agent, &r, scratch);
    ck_assert(g[0] != first);
    double *const vectors[] = {point, g, due, mean, square, scratch};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        free(vectors[k]);
    test_instance_close(&t);
}

/* ---- runs -------------------------------------------------------------------------------------------------- */

TEST(threads_do_not_change_the_bits)
{
    const char *one[] = {"problem=quadratic", "x-dim=700",  "y-dim=300",   "algorithm=prox-gt-sgda",
                         "agents=4",          "row-clip=3", "row-noise=5", "iterations=40",
                         "threads=1",         NULL};
    const char *three[] = {
        "problem=quadratic", "x-dim=700",  "y-dim=300",   "algorithm=prox-gt-sgda",
        "agents=4",          "row-clip=3", "row-noise=5", "iterations=40",
        "threads=3",         NULL};
    saddle_result *a = test_solve(NULL, one);
    saddle_result *b = test_solve(NULL, three);
    test_assert_same_result(a, b, "noise, 1 and 3 threads");
    saddle_result_free(a);
    saddle_result_free(b);
}

static void assert_run_refused(const char *const *setting, const char *part)
{
    saddle_error error = {.message = ""};
    saddle_result *result = NULL;
    saddle_plan *plan = test_plan(NULL, setting);
    ck_assert_int_ne(saddle_solve(NULL, plan, &result, &error), SADDLE_OK);
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    saddle_result_free(result);
    test_plan_free(plan);
}

TEST(false_accounting_is_refused)
{
    static const struct {
        const char *setting[8];
        const char *part;
    } refused[] = {
        {{"problem=quadratic", "algorithm=prox-dsgda", "row-noise=3", NULL}, "both --row-clip"},
        {{"problem=quadratic", "algorithm=prox-dsgda", "row-clip=3", NULL}, "both --row-clip"},
        {{"problem=quadratic", "row-noise=3", "row-clip=1", NULL}, "use prox-dsgda"},
        {{"problem=quadratic", "algorithm=precision", "row-noise=3", "row-clip=1", NULL},
         "use prox-dsgda"},
        {{"problem=quadratic", "algorithm=prox-dsgda", "row-noise=3", "row-clip=1",
          "sampling=with-replacement", NULL},
         "twice in a batch"},
        {{"problem=robust-logistic", "data=synthetic:100", "algorithm=prox-dsgda", "row-noise=3",
          "row-clip=1", NULL},
         "entry for each row"},
        {{"problem=auc", "data=synthetic:100", "algorithm=prox-dsgda", "row-noise=3", "row-clip=1",
          "scale=standard", NULL},
         "--scale none"},
        {{"problem=quadratic", "algorithm=prox-dsgda", "row-noise=3", "row-clip=1", "max-ifo=100",
          NULL},
         "give --iterations"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
        assert_run_refused(refused[k].setting, refused[k].part);
}

/* What docs/privacy.md shows. */
TEST(table)
{
    static const char *const noises[] = {"0", "10", "20", "50", "100", "200"};
    if (getenv("SADDLE_PRIVACY_TABLE") == NULL)
        return;
    for (size_t n = 0; n < sizeof noises / sizeof *noises; n++) {
        double auc[3];
        double epsilon = 0.0;
        for (int seed = 0; seed < 3; seed++) {
            char text[4][64];
            snprintf(text[0], sizeof text[0], "row-noise=%s", noises[n]);
            snprintf(text[1], sizeof text[1], "seed=%d", 31 + seed);
            snprintf(text[2], sizeof text[2], "row-clip=%s", n == 0 ? "0" : "1");
            const char *setting[] = {"problem=auc",    "data=a9a",   "agents=5",
                                     "batch=2000",     "scale=none", "algorithm=prox-gt-sgda",
                                     "iterations=300", text[0],      text[1],
                                     text[2],          NULL};
            saddle_result *r = test_solve(NULL, setting);
            auc[seed] = r->outcomes[(r->row_count - 1) * r->outcome_count];
            epsilon =
                saddle_gaussian_epsilon(strtod(noises[n], NULL), 2000.0 / 6512.0, 301.0, 1e-6);
            saddle_result_free(r);
        }
        printf("noise %s epsilon %.3g auc %.4f %.4f %.4f\n", noises[n], epsilon, auc[0], auc[1],
               auc[2]);
    }
}
