#include "dense_agents.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

/* ---- opening and closing ---------------------------------------------------------------------- */

void dense_open(dense_agents *out, test_rig *rig)
{
    const saddle_instance *e = rig->instance.made;
    const saddle_problem *problem = rig->target.problem;
    saddle_error error = {.message = ""};
    *out = (dense_agents){.rig = rig,
                          .plan = test_plan(rig->plan, NULL),
                          .problem = problem,
                          .m = problem->agents,
                          .x_dim = problem->x_dim,
                          .y_dim = problem->y_dim,
                          .both = problem->x_dim + problem->y_dim,
                          .step = {rig->steps.eta_x, rig->steps.eta_y}};
    assert_ok(saddle_plan_record_own(out->plan, rig->algorithm->options, rig->parameters, &error),
              error);
    out->scratch = test_doubles(saddle_problem_scratch(problem) + saddle_prox_scratch(e->x_prox) +
                                saddle_set_scratch(e->y_set));
    out->ifo = calloc(out->m, sizeof *out->ifo);
    ck_assert_ptr_nonnull(out->ifo);
}

void dense_close(dense_agents *s)
{
    free(s->scratch);
    free(s->ifo);
    test_plan_free(s->plan);
}

void dense_open_on_ring(test_rig *out, const char *algorithm, const char *const *first,
                        const char *const *more)
{
    const char *all[MOST_SETTINGS] = {"agents=6", "samples=12", "topology=ring", "x-dim=5",
                                      "y-dim=4",  "mu=1",       "lipschitz=8"};
    const char *const *const given[] = {first, more};
    size_t count = 7;
    for (size_t k = 0; k < 2; k++)
        for (const char *const *a = given[k]; a != NULL && *a != NULL; a++) {
            ck_assert_uint_lt(count + 1, MOST_SETTINGS);
            all[count++] = *a;
        }
    test_rig_open(out, QUADRATIC_CONVEX_ODD, algorithm, all, 1, NULL, NULL);
}

/* ---- vectors and matrices --------------------------------------------------------------------- */

double *dense_rows(const dense_agents *s, const double *v)
{
    double *result = test_doubles(s->m * s->both);
    if (v != NULL)
        memcpy(result, v, s->m * s->both * sizeof *result);
    return result;
}

double *dense_start(const dense_agents *s)
{
    const saddle_instance *e = s->rig->instance.made;
    double *z = dense_rows(s, NULL);
    for (size_t i = 0; i < s->m; i++) {
        memcpy(z + i * s->both, e->x0, s->x_dim * sizeof *z);
        memcpy(z + i * s->both + s->x_dim, e->y0, s->y_dim * sizeof *z);
    }
    return z;
}

double dense_step(const dense_agents *s, size_t k)
{
    return s->step[k % s->both < s->x_dim ? 0 : 1];
}

double *dense_mixing(const saddle_mixing *mixing)
{
    size_t m = mixing->graph->agents;
    double *matrix = test_doubles(m * m);
    for (size_t k = 0; k < m * m; k++)
        matrix[k] = test_weight(mixing, k / m, k % m);
    return matrix;
}

double *dense_power(size_t m, const double *base, uint64_t r)
{
    double *result = test_doubles(m * m);
    for (size_t i = 0; i < m; i++)
        result[i * m + i] = 1.0;
    for (uint64_t k = 0; k < r; k++) {
        double *product = test_doubles(m * m);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++)
                for (size_t l = 0; l < m; l++)
                    product[i * m + j] += result[i * m + l] * base[l * m + j];
        free(result);
        result = product;
    }
    return result;
}

double *dense_mixed(const dense_agents *s, const double *matrix, const double *v)
{
    double *out = dense_rows(s, NULL);
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->m; j++)
            for (size_t k = 0; k < s->both; k++)
                out[i * s->both + k] += matrix[i * s->m + j] * v[j * s->both + k];
    return out;
}

/* ---- operators -------------------------------------------------------------------------------- */

void dense_project(const dense_agents *s, double factor, double *v)
{
    const saddle_instance *e = s->rig->instance.made;
    saddle_prox_apply(e->x_prox, factor * s->step[0], v, s->scratch);
    saddle_set_project(e->y_set, v + s->x_dim, s->scratch);
}

void dense_operate(dense_agents *s, size_t i, const uint32_t *index, size_t count, const double *z,
                   double *out)
{
    double *g = test_doubles(s->both);
    memset(out, 0, s->both * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        uint32_t sample = index != NULL ? index[k] : (uint32_t)k;
        saddle_batch one = {.index = &sample, .count = 1};
        saddle_problem_gradient(s->problem, i, &one, z, z + s->x_dim, g, g + s->x_dim, s->scratch);
        for (size_t c = 0; c < s->both; c++)
            out[c] += (c < s->x_dim ? g[c] : -g[c]) / (double)count;
    }
    s->ifo[i] += count;
    free(g);
}

size_t dense_draw(const dense_agents *s, saddle_purpose purpose, size_t i, uint64_t iteration,
                  size_t count, bool replacement, uint32_t *index)
{
    size_t n = s->problem->samples[i];
    uint64_t mark[8] = {0};
    count = count < n ? count : n;
    ck_assert_uint_le(n, DENSE_MOST_SAMPLES);
    ck_assert_uint_le(saddle_rng_mark_words(n), 8);
    saddle_rng rng;
    saddle_rng_init(&rng, s->plan->start.seed, purpose, i, iteration);
    for (size_t k = 0; k < count; k++)
        index[k] = replacement ? (uint32_t)saddle_rng_below(&rng, n) : (uint32_t)k;
    if (!replacement && count < n)
        saddle_rng_choose(&rng, n, count, index, mark);
    return count;
}

/* ---- comparing -------------------------------------------------------------------------------- */

void assert_dense_same(const dense_agents *s, double tolerance, const char *what, uint64_t t,
                       const double *x, const double *y, const double *expected, double y_sign)
{
    double scale = 1.0 + test_largest(s->m * s->both, expected);
    for (size_t i = 0; i < s->m; i++)
        for (size_t k = 0; k < s->both; k++) {
            double found =
                k < s->x_dim ? x[i * s->x_dim + k] : y_sign * y[i * s->y_dim + k - s->x_dim];
            double off = fabs(found - expected[i * s->both + k]);
            ck_assert_msg(off <= tolerance * scale,
                          "%s, %s: %s at t = %llu, agent %zu is off by %g", s->rig->algorithm->name,
                          s->rig->instance.label, what, (unsigned long long)t, i, off);
        }
}

void assert_dense_feasible(const dense_agents *s, const test_state *found)
{
    const saddle_instance *e = s->rig->instance.made;
    for (size_t i = 0; i < s->m; i++) {
        assert_at_most(saddle_set_distance(e->x_set, found->x + i * s->x_dim, s->scratch), 1e-12);
        assert_at_most(saddle_set_distance(e->y_set, found->y + i * s->y_dim, s->scratch), 1e-12);
    }
}

void assert_dense_costs(const dense_agents *s, const test_state *found, uint64_t rounds,
                        uint64_t doubles)
{
    uint64_t total = 0;
    for (size_t i = 0; i < s->m; i++) {
        ck_assert_uint_eq(found->ifo[i], s->ifo[i]);
        total += s->ifo[i];
    }
    uint64_t links = 2 * s->rig->target.mixing->graph->edges;
    saddle_cost cost;
    s->rig->engine->kind->cost(s->rig->engine, &cost);
    ck_assert_uint_eq(cost.ifo, total);
    ck_assert_uint_eq(cost.rounds, rounds);
    ck_assert_uint_eq(cost.messages, rounds * links);
    ck_assert_uint_eq(cost.bytes, links * doubles * 8);
}

double dense_optimality_gap(test_rig *rig)
{
    dense_agents s;
    test_state found;
    dense_open(&s, rig);
    s.step[0] = 1.0;
    test_state_make(&found, s.problem);
    test_state_copy(rig, &found);
    double *z = test_doubles(s.both);
    double *g = test_doubles(s.both);
    double *point = test_doubles(s.both);
    double worst = 0.0;
    for (size_t i = 0; i < s.m; i++) {
        memcpy(z, found.x + i * s.x_dim, s.x_dim * sizeof *z);
        memcpy(z + s.x_dim, found.y + i * s.y_dim, s.y_dim * sizeof *z);
        memcpy(point, z, s.both * sizeof *z);
        for (size_t j = 0; j < s.m; j++) {
            dense_operate(&s, j, NULL, s.problem->samples[j], z, g);
            for (size_t k = 0; k < s.both; k++)
                point[k] -= g[k] / (double)s.m;
        }
        dense_project(&s, 1.0, point);
        worst = test_larger(worst, test_farthest(s.both, z, point));
    }
    free(z);
    free(g);
    free(point);
    test_state_free(&found);
    dense_close(&s);
    return worst;
}
