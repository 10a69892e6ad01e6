/* Agents weighted by their samples: sum_i (n_i / N) F_i, recomputed agent by agent from the problem with
 * equal weights. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/print.h"
#include "instances.h"
#include "support.h"

/* The same instance with equal weights and weights by size, a point, and memory for gradients. */
typedef struct pair {
    test_instance equal;
    test_instance weighted;
    size_t x_dim, y_dim, agents;
    double *x, *y, *x0, *y0, *g[4], *scratch;
} pair;

static void draw(saddle_rng *rng, size_t count, double *out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = saddle_rng_uniform(rng) - 0.3;
}

/* Returns whether agents have different numbers of samples, and weights that depend on them. */
static bool pair_open(pair *p, int which)
{
    static const char *const by_size[] = {"agent-weights=by-size", NULL};
    char share[64];
    const char *more[] = {share, NULL};
    saddle_rng rng;
    test_instance_open(&p->weighted, which, by_size);
    /* The share of positives depends on the weights: test_objective.c checks it. */
    bool auc = strcmp(p->weighted.problem->name, "auc") == 0;
    if (auc)
        saddle_snprintf(share, sizeof share, "positive-share=%.17g", *p->weighted.problem->shared);
    test_instance_open(&p->equal, which, auc ? more : NULL);
    const saddle_problem *problem = p->equal.problem;
    p->x_dim = problem->x_dim;
    p->y_dim = problem->y_dim;
    p->agents = problem->agents;
    double **block[] = {&p->x, &p->y, &p->x0, &p->y0, &p->g[0], &p->g[1], &p->g[2], &p->g[3]};
    for (size_t k = 0; k < 8; k++)
        *block[k] = test_doubles(p->x_dim + p->y_dim + problem->response_size);
    p->scratch = test_doubles(saddle_problem_scratch(problem) +
                              saddle_set_scratch(p->equal.made->y_set) + p->y_dim);
    saddle_rng_init(&rng, 5, SADDLE_RNG_TEST, 0, 0);
    draw(&rng, p->x_dim, p->x);
    draw(&rng, p->y_dim, p->y);
    draw(&rng, p->x_dim, p->x0);
    draw(&rng, p->y_dim, p->y0);
    saddle_set_project(p->equal.made->y_set, p->y, p->scratch);
    bool unequal = false;
    for (size_t i = 0; i < p->agents; i++)
        unequal = unequal || problem->samples[i] != problem->samples[0];
    return unequal && !problem->counts_rows;
}

static void pair_close(pair *p)
{
    double *block[] = {p->x, p->y, p->x0, p->y0, p->g[0], p->g[1], p->g[2], p->g[3], p->scratch};
    for (size_t k = 0; k < sizeof block / sizeof *block; k++)
        free(block[k]);
    test_instance_close(&p->equal);
    test_instance_close(&p->weighted);
}

/* n_i / N; 1/m for a problem that counts rows itself */
static double share(const pair *p, size_t agent)
{
    if (p->equal.problem->counts_rows)
        return 1.0 / (double)p->agents;
    const size_t *samples = p->equal.problem->samples;
    double total = 0.0;
    for (size_t i = 0; i < p->agents; i++)
        total += (double)samples[i];
    return (double)samples[agent] / total;
}

static void add(size_t count, double scale, const double *from, double *to)
{
    for (size_t k = 0; k < count; k++)
        to[k] += scale * from[k];
}

static void assert_alike(const char *label, const char *what, size_t count, const double *got,
                         const double *wanted)
{
    double size = 1e-3;
    for (size_t k = 0; k < count; k++)
        size = fmax(size, fabs(wanted[k]));
    for (size_t k = 0; k < count; k++)
        ck_assert_msg(fabs(got[k] - wanted[k]) <= 1e-12 * size, "%s: %s %zu is %.17g, not %.17g",
                      label, what, k, got[k], wanted[k]);
}

/* Computes sum_i weight_i (gradient or difference of agent i) over all its samples into `out`. */
static void sum_gradients(const pair *p, const saddle_problem *of, bool by_size, bool difference,
                          double *out)
{
    double *g = p->g[3];
    memset(out, 0, (p->x_dim + p->y_dim) * sizeof *out);
    for (size_t i = 0; i < p->agents; i++) {
        saddle_batch all = {.count = of->samples[i]};
        if (difference)
            saddle_problem_difference(of, i, &all, p->x, p->y, p->x0, p->y0, g, g + p->x_dim,
                                      p->scratch);
        else
            saddle_problem_gradient(of, i, &all, p->x, p->y, g, g + p->x_dim, p->scratch);
        add(p->x_dim + p->y_dim, by_size ? share(p, i) : 1.0 / (double)p->agents, g, out);
    }
}

static double sum_values(const pair *p, const saddle_problem *of, bool by_size, const double *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->agents; i++)
        sum += (by_size ? share(p, i) : 1.0 / (double)p->agents) *
               saddle_problem_value(of, i, p->x, y, p->scratch);
    return sum;
}

/* Checks gradients, differences and values of the network, and of the pooled problem of centralized algorithms. */
static void check_objective(pair *p)
{
    const char *label = p->equal.label;
    const saddle_problem *weighted = p->weighted.problem;
    for (int difference = 0; difference < 2; difference++) {
        sum_gradients(p, p->equal.problem, true, difference, p->g[0]);
        sum_gradients(p, weighted, false, difference, p->g[1]);
        assert_alike(label, "gradient", p->x_dim + p->y_dim, p->g[1], p->g[0]);
    }
    double wanted = sum_values(p, p->equal.problem, true, p->y);
    double got = sum_values(p, weighted, false, p->y);
    assert_alike(label, "value", 1, &got, &wanted);
    saddle_instance *pool = NULL;
    saddle_error error = {0};
    assert_ok(saddle_instance_pool(&pool, p->weighted.made, &error), error);
    double *scratch = test_doubles(saddle_problem_scratch(pool->problem));
    saddle_batch all = {.count = pool->problem->samples[0]};
    saddle_problem_gradient(pool->problem, 0, &all, p->x, p->y, p->g[1], p->g[1] + p->x_dim,
                            scratch);
    sum_gradients(p, p->equal.problem, true, false, p->g[0]);
    assert_alike(label, "pooled gradient", p->x_dim + p->y_dim, p->g[1], p->g[0]);
    free(scratch);
    saddle_instance_free(pool);
}

/* Checks that the variance of a sample's gradient is that of w_i times it. */
static void check_variance(pair *p)
{
    for (size_t i = 0; i < p->agents; i++) {
        const saddle_problem *of = p->equal.problem;
        saddle_batch all = {.count = of->samples[i]};
        double weight = (double)p->agents * share(p, i);
        double wanted = weight * weight *
                        saddle_problem_gradient_variance(of, i, &all, p->x, p->y, p->g[0],
                                                         p->g[0] + p->x_dim, p->scratch);
        double got = saddle_problem_gradient_variance(p->weighted.problem, i, &all, p->x, p->y,
                                                      p->g[0], p->g[0] + p->x_dim, p->scratch);
        ck_assert_msg(fabs(got - wanted) <= 1e-9 * fmax(1e-3, wanted), "%s: variance %g, not %g",
                      p->equal.label, got, wanted);
    }
}

/* Checks the best response: a projected step from it does not move. */
static void check_response(pair *p)
{
    const saddle_problem *of = p->weighted.problem;
    const saddle_set *y_set = p->weighted.made->y_set;
    double *statistic = p->g[0];
    memset(statistic, 0, of->response_size * sizeof *statistic);
    for (size_t i = 0; i < p->agents && of->response_size > 0; i++) {
        saddle_problem_statistic(of, i, p->x, p->g[1], p->scratch);
        add(of->response_size, 1.0 / (double)p->agents, p->g[1], statistic);
    }
    double *y = p->y;
    if (of->response_solve == NULL ||
        !of->response_solve(of, p->x, statistic, y_set, y, p->scratch))
        return;
    if (of->response_value != NULL) {
        double wanted = sum_values(p, p->equal.problem, true, y);
        double got = of->response_value(of, p->x, statistic, y, p->scratch);
        assert_alike(p->equal.label, "value of the response", 1, &got, &wanted);
    }
    sum_gradients(p, p->equal.problem, true, false, p->g[0]);
    double *moved = p->g[1];
    for (size_t k = 0; k < p->y_dim; k++)
        moved[k] = y[k] + 1e-2 * p->g[0][p->x_dim + k];
    saddle_set_project(y_set, moved, p->scratch);
    for (size_t k = 0; k < p->y_dim; k++)
        ck_assert_msg(fabs(moved[k] - y[k]) <= 1e-9, "%s: response %zu moves by %g", p->equal.label,
                      k, moved[k] - y[k]);
}

TEST(agents_count_by_their_samples)
{
    size_t unequal = 0;
    for (int which = 0; which < INSTANCES; which++) {
        pair p;
        bool differs = pair_open(&p, which);
        unequal += differs;
        /* Equal sizes are not weighted: the same bits. */
        ck_assert_int_eq(p.weighted.made->parts->weighted != NULL, differs);
        check_objective(&p);
        check_variance(&p);
        check_response(&p);
        if (differs) {
            ck_assert(!p.weighted.made->constants.has_primal_bound);
            ck_assert(p.weighted.problem->solution == NULL);
        }
        pair_close(&p);
    }
    ck_assert_uint_ge(unequal, 5);
}
