/*
 * Every algorithm of PRECISION's family follows its description.
 *
 * A slow version of each is written here with plain loops and a dense mixing matrix, only from the
 * published rules, and compared iterate by iterate. Costs are compared with their closed forms, invariants
 * are asserted at every iteration, and each algorithm is run to the known saddle point of the quadratic.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/precision_steps.h"
#include "core/print.h"
#include "instances.h"
#include "support.h"

/* ---- slow versions --------------------------------------------------------------------------- */

enum { PRECISION, PRECISION_PLUS, PROX_GT_SGDA, PROX_DSGDA, ALGORITHMS };
static const char *const names[ALGORITHMS] = {"precision", "precision+", "prox-gt-sgda",
                                              "prox-dsgda"};

typedef struct slow {
    const test_rig *rig;
    const saddle_problem *problem;
    int kind;
    size_t m, x_dim, y_dim;
    double *mixing; /* dense m x m */
    test_state now, next;
    double *x_tilde;        /* of the last step, m x_dim */
    double *sigma2;         /* per agent */
    double *c, *r, *window; /* PRECISION+: consensus on r, last r, sum of c over the window */
    double *exact_window; /* PRECISION+, exact: sum of the paper's term since an agent's refresh */
    size_t *refresh_size; /* of the last refresh, per agent */
    uint64_t *last, *due; /* iterates of the last refresh and of the next one, per agent */
    double *gx, *gy, *scratch;
} slow;

static const saddle_plan *settings_of(const slow *s)
{
    return s->rig->plan;
}

static bool setting_is(const slow *s, const char *name, const char *value)
{
    return strcmp(test_text(settings_of(s), name), value) == 0;
}

static bool tracks(const slow *s)
{
    return s->kind != PROX_DSGDA;
}

static void slow_open(slow *s, const test_rig *rig, int kind)
{
    const saddle_problem *problem = rig->instance.problem;
    const saddle_mixing *mixing = rig->instance.made->mixing;
    size_t m = problem->agents;
    *s = (slow){.rig = rig,
                .problem = problem,
                .kind = kind,
                .m = m,
                .x_dim = problem->x_dim,
                .y_dim = problem->y_dim};
    s->mixing = test_doubles(m * m);
    for (size_t i = 0; i < m; i++) {
        s->mixing[i * m + i] = mixing->self_weight[i];
        for (size_t k = mixing->graph->start[i]; k < mixing->graph->start[i + 1]; k++)
            s->mixing[i * m + mixing->graph->neighbour[k]] = mixing->weight[k];
    }
    test_state_make(&s->now, problem);
    test_state_make(&s->next, problem);
    s->x_tilde = test_doubles(m * s->x_dim);
    s->sigma2 = test_doubles(m);
    s->c = test_doubles(m);
    s->r = test_doubles(m);
    s->window = test_doubles(m);
    s->exact_window = test_doubles(m);
    s->refresh_size = calloc(m + 1, sizeof *s->refresh_size);
    s->last = calloc(m + 1, sizeof *s->last);
    s->due = calloc(m + 1, sizeof *s->due);
    ck_assert_ptr_nonnull(s->refresh_size);
    ck_assert_ptr_nonnull(s->last);
    ck_assert_ptr_nonnull(s->due);
    s->gx = test_doubles(s->x_dim);
    s->gy = test_doubles(s->y_dim);
    s->scratch = test_doubles(saddle_problem_scratch(problem) +
                              saddle_set_scratch(rig->instance.made->y_set) +
                              saddle_prox_scratch(rig->instance.made->x_prox));
}

static void slow_close(slow *s)
{
    test_state_free(&s->now);
    test_state_free(&s->next);
    double *const vector[] = {s->mixing, s->x_tilde,      s->sigma2, s->c,  s->r,
                              s->window, s->exact_window, s->gx,     s->gy, s->scratch};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(vector[k]);
    free(s->refresh_size);
    free(s->last);
    free(s->due);
}

/* Returns the least k with (parts k)^2 >= n. */
static size_t root_part(size_t n, size_t parts)
{
    size_t k = 0;
    while (parts * parts * k * k < n)
        k++;
    return k;
}

/* Returns whether the default steps and batches are the practical ones, not the paper's. */
static bool is_practical(const slow *s)
{
    return settings_of(s)->steps.rule == SADDLE_STEPS_PRACTICAL;
}

static size_t largest_size(const slow *s)
{
    size_t most = 0;
    for (size_t i = 0; i < s->m; i++)
        most = s->problem->samples[i] > most ? s->problem->samples[i] : most;
    return most;
}

/* |S_i| = min(batch, n_i). By default the batch is ceil(sqrt(n_i)); for PRECISION and PRECISION+ with
 * other steps than the paper's it is ceil(sqrt(n) / 4) and ceil(sqrt(n) / 8), n the largest size, and at
 * least 2. */
static size_t batch_size(const slow *s, size_t i)
{
    size_t n = s->problem->samples[i];
    size_t batch = (size_t)settings_of(s)->steps.batch;
    bool small = is_practical(s) && (s->kind == PRECISION || s->kind == PRECISION_PLUS);
    if (batch == 0 && small) {
        batch = root_part(largest_size(s), s->kind == PRECISION ? 4 : 8);
        batch = batch < 2 ? 2 : batch;
    } else if (batch == 0) {
        batch = root_part(n, 1);
    }
    return batch < n ? batch : n;
}

/* Returns the number of iterations from a refresh of a given size to the next one. */
static uint64_t span_after(const slow *s, size_t size)
{
    uint64_t q = settings_of(s)->steps.q;
    if (q > 0)
        return q;
    /* ceil(2 sqrt(R)) is the least k with k^2 >= 4 R. */
    return s->kind == PRECISION_PLUS && is_practical(s) ? root_part(4 * size, 1)
                                                        : root_part(largest_size(s), 1);
}

/* Draws the random samples of agent i for an iteration, by the rule of core/rng.h. */
static void draw(const slow *s, size_t i, saddle_purpose purpose, uint64_t iteration, size_t count,
                 bool replacement, uint32_t *out)
{
    size_t n = s->problem->samples[i];
    saddle_rng rng;
    saddle_rng_init(&rng, settings_of(s)->start.seed, purpose, i, iteration);
    if (replacement) {
        for (size_t k = 0; k < count; k++)
            out[k] = (uint32_t)saddle_rng_below(&rng, n);
    } else if (count >= n) {
        for (size_t k = 0; k < n; k++)
            out[k] = (uint32_t)k;
    } else {
        uint64_t mark[8] = {0};
        ck_assert_uint_le(saddle_rng_mark_words(n), 8);
        saddle_rng_choose(&rng, n, count, out, mark);
    }
}

enum { MOST_SAMPLES = 256 };

/* gx, gy += scale * mean over the samples of the gradients at (x, y), one sample at a time. */
static void add_mean_gradient(slow *s, size_t i, const uint32_t *index, size_t count, double scale,
                              const double *x, const double *y, double *gx, double *gy)
{
    for (size_t k = 0; k < count; k++) {
        saddle_batch one = {.index = &index[k], .count = 1};
        saddle_problem_gradient(s->problem, i, &one, x, y, s->gx, s->gy, s->scratch);
        for (size_t c = 0; c < s->x_dim; c++)
            gx[c] += scale * s->gx[c] / (double)count;
        for (size_t c = 0; c < s->y_dim; c++)
            gy[c] += scale * s->gy[c] / (double)count;
    }
}

/* Returns the sample variance of the gradients about their mean (gx, gy). */
static double variance_about(slow *s, size_t i, const uint32_t *index, size_t count,
                             const double *x, const double *y, const double *gx, const double *gy)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        saddle_batch one = {.index = &index[k], .count = 1};
        saddle_problem_gradient(s->problem, i, &one, x, y, s->gx, s->gy, s->scratch);
        for (size_t c = 0; c < s->x_dim; c++)
            sum += (s->gx[c] - gx[c]) * (s->gx[c] - gx[c]);
        for (size_t c = 0; c < s->y_dim; c++)
            sum += (s->gy[c] - gy[c]) * (s->gy[c] - gy[c]);
    }
    return count > 1 ? sum / (double)(count - 1) : 0.0;
}

/* x~ = prox of h / tau over X at x - p / tau. */
static void prox_point(slow *s, const double *x, const double *p, double *out)
{
    double tau = s->rig->steps.tau;
    for (size_t k = 0; k < s->x_dim; k++)
        out[k] = x[k] - p[k] / tau;
    saddle_prox_apply(s->rig->instance.made->x_prox, 1.0 / tau, out, s->scratch);
}

/* Returns c_gamma or c_epsilon. */
static double constant_of(const slow *s, const char *name)
{
    double given = test_number(settings_of(s), name);
    return isnan(given) ? 10.0 : given;
}

/* R_i = min{c_gamma sigma^2 / gamma, c_eps sigma^2 / eps, n_i}, at least |S| or --refresh-min. */
static size_t refresh_size(const slow *s, size_t i, double gamma)
{
    const saddle_plan *plan = settings_of(s);
    double size = (double)s->problem->samples[i];
    double by_gamma = constant_of(s, "c-gamma") * s->sigma2[i] / gamma;
    if (gamma > 0.0 && by_gamma < size)
        size = ceil(by_gamma);
    if (!isnan(plan->steps.epsilon)) {
        double by_epsilon = constant_of(s, "c-epsilon") * s->sigma2[i] / plan->steps.epsilon;
        if (by_epsilon < size)
            size = ceil(by_epsilon);
    }
    size_t least = isnan(test_number(plan, "refresh-min"))
                       ? batch_size(s, i)
                       : (size_t)test_number(plan, "refresh-min");
    /* A variance needs two samples. */
    if (isnan(test_number(plan, "sigma2")) && least < 2)
        least = 2;
    size_t result = (size_t)size > least ? (size_t)size : least;
    return result < s->problem->samples[i] ? result : s->problem->samples[i];
}

/* Computes the refresh of agent i at (x, y) into v, u. */
static void refresh(slow *s, size_t i, uint64_t iteration, double gamma, const double *x,
                    const double *y, double *v, double *u)
{
    uint32_t index[MOST_SAMPLES];
    size_t count = s->problem->samples[i];
    if (s->kind == PRECISION_PLUS)
        count = refresh_size(s, i, gamma);
    s->refresh_size[i] = count;
    s->last[i] = iteration;
    s->due[i] = iteration + span_after(s, count);
    draw(s, i, SADDLE_RNG_REFRESH, iteration, count, false, index);
    memset(v, 0, s->x_dim * sizeof *v);
    memset(u, 0, s->y_dim * sizeof *u);
    add_mean_gradient(s, i, index, count, 1.0, x, y, v, u);
    if (s->kind == PRECISION_PLUS && isnan(test_number(settings_of(s), "sigma2")) && count > 1)
        s->sigma2[i] = variance_about(s, i, index, count, x, y, v, u);
}

static void minibatch(slow *s, size_t i, uint64_t iteration, const double *x, const double *y,
                      double *v, double *u)
{
    uint32_t index[MOST_SAMPLES];
    size_t count = batch_size(s, i);
    draw(s, i, SADDLE_RNG_BATCH, iteration, count, setting_is(s, "sampling", "with-replacement"),
         index);
    memset(v, 0, s->x_dim * sizeof *v);
    memset(u, 0, s->y_dim * sizeof *u);
    add_mean_gradient(s, i, index, count, 1.0, x, y, v, u);
}

/* The size of a mini-batch, but at least two samples if there are two: one has no variance. */
static size_t pilot_size(const slow *s, size_t i)
{
    size_t count = batch_size(s, i);
    return count < 2 && s->problem->samples[i] > 1 ? 2 : count;
}

/* PRECISION+'s pilot: computes sigma^2, and gamma for refresh 0. */
static double pilot(slow *s, size_t i, const double *x, const double *y)
{
    uint32_t index[MOST_SAMPLES];
    size_t count = pilot_size(s, i);
    double *gx = test_doubles(s->x_dim);
    double *gy = test_doubles(s->y_dim);
    double *tilde = test_doubles(s->x_dim);
    draw(s, i, SADDLE_RNG_PILOT, 0, count, false, index);
    add_mean_gradient(s, i, index, count, 1.0, x, y, gx, gy);
    s->sigma2[i] = isnan(test_number(settings_of(s), "sigma2"))
                       ? variance_about(s, i, index, count, x, y, gx, gy)
                       : test_number(settings_of(s), "sigma2");
    prox_point(s, x, gx, tilde);
    double gamma = 0.0;
    for (size_t k = 0; k < s->x_dim; k++)
        gamma += (double)s->m * (tilde[k] - x[k]) * (tilde[k] - x[k]);
    free(tilde);
    free(gy);
    free(gx);
    return gamma;
}

static void slow_start(slow *s)
{
    const saddle_instance *e = s->rig->instance.made;
    test_state *now = &s->now;
    for (size_t i = 0; i < s->m; i++) {
        double *x = now->x + i * s->x_dim;
        double *y = now->y + i * s->y_dim;
        double *v = now->v + i * s->x_dim;
        double *u = now->u + i * s->y_dim;
        memcpy(x, e->x0, s->x_dim * sizeof *x);
        memcpy(y, e->y0, s->y_dim * sizeof *y);
        if (s->kind == PRECISION)
            refresh(s, i, 0, 0.0, x, y, v, u);
        else if (s->kind == PRECISION_PLUS)
            refresh(s, i, 0, pilot(s, i, x, y), x, y, v, u);
        else
            minibatch(s, i, 0, x, y, v, u);
        if (tracks(s)) {
            memcpy(now->p + i * s->x_dim, v, s->x_dim * sizeof *v);
            memcpy(now->d + i * s->y_dim, u, s->y_dim * sizeof *u);
        }
    }
}

/* sum_j M_ij z_j */
static void mix(const slow *s, size_t i, size_t dim, const double *z, double *out)
{
    for (size_t k = 0; k < dim; k++) {
        out[k] = 0.0;
        for (size_t j = 0; j < s->m; j++)
            out[k] += s->mixing[i * s->m + j] * z[j * dim + k];
    }
}

/* Steps 1 and 2 at agent i. */
static void move(slow *s, size_t i)
{
    const saddle_steps *steps = &s->rig->steps;
    const test_state *now = &s->now;
    const double *x = now->x + i * s->x_dim;
    const double *y = now->y + i * s->y_dim;
    const double *p = (tracks(s) ? now->p : now->v) + i * s->x_dim;
    const double *d = (tracks(s) ? now->d : now->u) + i * s->y_dim;
    double *x_tilde = s->x_tilde + i * s->x_dim;
    double *x1 = s->next.x + i * s->x_dim;
    double *y1 = s->next.y + i * s->y_dim;
    double *y_tilde = s->gy;
    prox_point(s, x, p, x_tilde);
    for (size_t k = 0; k < s->y_dim; k++)
        y_tilde[k] = y[k] + steps->alpha * d[k];
    saddle_set_project(s->rig->instance.made->y_set, y_tilde, s->scratch);
    mix(s, i, s->x_dim, now->x, x1);
    mix(s, i, s->y_dim, now->y, y1);
    for (size_t k = 0; k < s->x_dim; k++)
        x1[k] += steps->nu * (x_tilde[k] - x[k]);
    for (size_t k = 0; k < s->y_dim; k++)
        y1[k] += steps->eta * (y_tilde[k] - y[k]);
}

/* Computes PRECISION+'s gamma for each agent after the move at iteration t: by consensus on r, or exactly. */
static void follow_gamma(slow *s)
{
    double *mixed = test_doubles(s->m);
    mix(s, 0, 1, s->c, mixed);
    for (size_t i = 0; i < s->m; i++)
        mix(s, i, 1, s->c, mixed + i);
    for (size_t i = 0; i < s->m; i++) {
        double r = 0.0;
        for (size_t k = 0; k < s->x_dim; k++) {
            double off = s->x_tilde[i * s->x_dim + k] - s->now.x[i * s->x_dim + k];
            r += off * off;
        }
        s->c[i] = mixed[i] + r - s->r[i];
        s->r[i] = r;
        s->window[i] += s->c[i];
    }
    free(mixed);
    for (size_t k = 0; k < s->x_dim; k++) {
        double mean = 0.0;
        for (size_t i = 0; i < s->m; i++)
            mean += s->now.x[i * s->x_dim + k] / (double)s->m;
        for (size_t i = 0; i < s->m; i++) {
            double off = s->x_tilde[i * s->x_dim + k] - mean;
            for (size_t j = 0; j < s->m; j++)
                s->exact_window[j] += off * off;
        }
    }
}

static double gamma_at(const slow *s, size_t i)
{
    double q = (double)(s->due[i] - s->last[i]);
    return setting_is(s, "gamma", "exact") ? s->exact_window[i] / q
                                           : (double)s->m * s->window[i] / q;
}

/* Step 3 at agent i, for iteration t + 1. */
static void estimate(slow *s, size_t i, uint64_t t)
{
    const double *x0 = s->now.x + i * s->x_dim;
    const double *y0 = s->now.y + i * s->y_dim;
    const double *x1 = s->next.x + i * s->x_dim;
    const double *y1 = s->next.y + i * s->y_dim;
    double *v = s->next.v + i * s->x_dim;
    double *u = s->next.u + i * s->y_dim;
    if (s->kind == PROX_GT_SGDA || s->kind == PROX_DSGDA) {
        minibatch(s, i, t + 1, x1, y1, v, u);
    } else if (t + 1 == s->due[i]) {
        refresh(s, i, t + 1, gamma_at(s, i), x1, y1, v, u);
        s->window[i] = 0.0;
        s->exact_window[i] = 0.0;
    } else {
        uint32_t index[MOST_SAMPLES];
        size_t count = batch_size(s, i);
        draw(s, i, SADDLE_RNG_BATCH, t + 1, count, setting_is(s, "sampling", "with-replacement"),
             index);
        memcpy(v, s->now.v + i * s->x_dim, s->x_dim * sizeof *v);
        memcpy(u, s->now.u + i * s->y_dim, s->y_dim * sizeof *u);
        add_mean_gradient(s, i, index, count, 1.0, x1, y1, v, u);
        add_mean_gradient(s, i, index, count, -1.0, x0, y0, v, u);
    }
}

/* Step 4. */
static void track(slow *s)
{
    for (size_t i = 0; i < s->m; i++) {
        mix(s, i, s->x_dim, s->now.p, s->next.p + i * s->x_dim);
        mix(s, i, s->y_dim, s->now.d, s->next.d + i * s->y_dim);
    }
    for (size_t k = 0; k < s->m * s->x_dim; k++)
        s->next.p[k] += s->next.v[k] - s->now.v[k];
    for (size_t k = 0; k < s->m * s->y_dim; k++)
        s->next.d[k] += s->next.u[k] - s->now.u[k];
}

static void slow_step(slow *s, uint64_t t)
{
    for (size_t i = 0; i < s->m; i++)
        move(s, i);
    follow_gamma(s);
    for (size_t i = 0; i < s->m; i++)
        estimate(s, i, t);
    if (tracks(s))
        track(s);
    test_state kept = s->now;
    s->now = s->next;
    s->next = kept;
}

/* ---- assertions at every iteration ------------------------------------------------------------ */

static void assert_same(const char *what, uint64_t t, size_t count, const double *found,
                        const double *expected)
{
    double off = test_farthest(count, found, expected);
    double size = 1.0 + test_largest(count, expected);
    ck_assert_msg(off <= 1e-12 * size, "%s at t = %llu is off by %.3g of %.3g", what,
                  (unsigned long long)t, off, size);
}

static void assert_follows(const slow *s, const test_state *found, uint64_t t)
{
    assert_same("x", t, s->m * s->x_dim, found->x, s->now.x);
    assert_same("y", t, s->m * s->y_dim, found->y, s->now.y);
    assert_same("v", t, s->m * s->x_dim, found->v, s->now.v);
    assert_same("u", t, s->m * s->y_dim, found->u, s->now.u);
    assert_same("p", t, s->m * s->x_dim, found->p, s->now.p);
    assert_same("d", t, s->m * s->y_dim, found->d, s->now.d);
}

static void assert_feasible(const slow *s, const test_state *found)
{
    const saddle_set *x_set = s->rig->instance.made->x_set;
    const saddle_set *y_set = s->rig->instance.made->y_set;
    for (size_t i = 0; i < s->m; i++) {
        assert_at_most(saddle_set_distance(x_set, found->x + i * s->x_dim, s->scratch), 1e-13);
        assert_at_most(saddle_set_distance(y_set, found->y + i * s->y_dim, s->scratch), 1e-13);
    }
}

static void assert_equal_means(size_t m, size_t dim, const double *a, const double *b)
{
    double size = 1.0 + test_largest(m * dim, a) + test_largest(m * dim, b);
    for (size_t k = 0; k < dim; k++) {
        double off = 0.0;
        for (size_t i = 0; i < m; i++)
            off += (a[i * dim + k] - b[i * dim + k]) / (double)m;
        assert_at_most(fabs(off), 1e-13 * size);
    }
}

/* With q = 1 the estimates are the exact local gradients. If u + c y is stored, with c the y_curvature,
 * u is known up to the rounding of that sum and its difference. */
static void assert_exact_estimates(slow *s, const test_state *found)
{
    double *gx = test_doubles(s->x_dim);
    double *gy = test_doubles(s->y_dim);
    for (size_t i = 0; i < s->m; i++) {
        saddle_batch all = {.index = NULL, .count = s->problem->samples[i]};
        saddle_problem_gradient(s->problem, i, &all, found->x + i * s->x_dim,
                                found->y + i * s->y_dim, gx, gy, s->scratch);
        ck_assert(memcmp(gx, found->v + i * s->x_dim, s->x_dim * sizeof *gx) == 0);
        for (size_t k = 0; k < s->y_dim; k++) {
            double shift = fabs(s->problem->y_curvature * found->y[i * s->y_dim + k]);
            double rounding = shift > 0.0 ? 2.0 * DBL_EPSILON * (fabs(gy[k]) + shift) : 0.0;
            assert_near(found->u[i * s->y_dim + k], gy[k], rounding);
        }
    }
    free(gy);
    free(gx);
}

/* Returns the IFO calls of iteration t at agent i, from the description of costs; refresh sizes of
 * PRECISION+ are the slow version's. */
static uint64_t ifo_of(const slow *s, size_t i, uint64_t t)
{
    size_t n = s->problem->samples[i];
    size_t batch = batch_size(s, i);
    bool refreshes = t == s->last[i];
    switch (s->kind) {
    case PRECISION:
        return refreshes ? n : 2 * batch;
    case PRECISION_PLUS:
        return (t == 0 ? pilot_size(s, i) : 0) + (refreshes ? s->refresh_size[i] : 2 * batch);
    default:
        return batch;
    }
}

static void assert_costs(const slow *s, const uint64_t *ifo, const test_state *found, uint64_t t)
{
    const saddle_graph *graph = s->rig->instance.made->mixing->graph;
    saddle_cost cost;
    s->rig->engine->kind->cost(s->rig->engine, &cost);
    uint64_t total = 0;
    for (size_t i = 0; i < s->m; i++) {
        ck_assert_uint_eq(found->ifo[i], ifo[i]);
        total += ifo[i];
    }
    uint64_t doubles = (s->kind == PROX_DSGDA ? 1 : 2) * (s->x_dim + s->y_dim);
    if (s->kind == PRECISION_PLUS && !setting_is(s, "gamma", "exact"))
        doubles++;
    ck_assert_uint_eq(cost.ifo, total);
    ck_assert_uint_eq(cost.rounds, t);
    ck_assert_uint_eq(cost.messages, t * 2 * graph->edges);
    ck_assert_uint_eq(cost.bytes, t * 2 * graph->edges * doubles * 8);
}

/* PRECISION+, local: the mean over agents of the published number is the mean of r. */
typedef struct number_context {
    double *published;
} number_context;

static void copy_number(void *context, saddle_agent *agent)
{
    const saddle_variables at = saddle_precision_variables(agent);
    ((number_context *)context)->published[agent->id] = at.extra[0];
}

static void assert_gamma_tracks(slow *s)
{
    number_context context = {.published = test_doubles(s->m)};
    s->rig->engine->kind->for_each(s->rig->engine, copy_number, &context);
    double off = 0.0;
    for (size_t i = 0; i < s->m; i++) {
        assert_near(context.published[i], s->c[i], 1e-12 * (1.0 + fabs(s->c[i])));
        off += (context.published[i] - s->r[i]) / (double)s->m;
    }
    assert_at_most(fabs(off), 1e-13 * (1.0 + test_largest(s->m, s->r)));
    free(context.published);
}

static void follow(int which, int kind, const char *const *more, uint64_t iterations)
{
    test_rig rig;
    test_rig_open(&rig, which, names[kind], more, 1, NULL, NULL);
    slow s;
    slow_open(&s, &rig, kind);
    test_state found;
    test_state_make(&found, s.problem);
    uint64_t *ifo = calloc(s.m + 1, sizeof *ifo);
    ck_assert_ptr_nonnull(ifo);
    slow_start(&s);
    for (uint64_t t = 0;; t++) {
        for (size_t i = 0; i < s.m; i++)
            ifo[i] += ifo_of(&s, i, t);
        test_state_copy(&rig, &found);
        ck_assert_uint_eq(rig.engine->kind->iteration(rig.engine), t);
        assert_follows(&s, &found, t);
        assert_feasible(&s, &found);
        if (tracks(&s)) {
            assert_equal_means(s.m, s.x_dim, found.p, found.v);
            assert_equal_means(s.m, s.y_dim, found.d, found.u);
        }
        if (kind == PRECISION && rig.steps.q == 1)
            assert_exact_estimates(&s, &found);
        assert_costs(&s, ifo, &found, t);
        if (kind == PRECISION_PLUS && !setting_is(&s, "gamma", "exact"))
            assert_gamma_tracks(&s);
        if (t == iterations)
            break;
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        slow_step(&s, t);
    }
    free(ifo);
    test_state_free(&found);
    slow_close(&s);
    test_rig_close(&rig);
}

/* The number of iterations compared: more than two refreshes even when time is short. */
#define STEPS (TEST_SLOWDOWN > 1 ? 9 : 20)

TEST_LOOP(algorithms_follow_their_rules, 0, INSTANCES)
{
    static const char *const variants[][4] = {
        {NULL},
        {"q=1", NULL},
        {"q=4", "batch=3", NULL},
        {"batch=1000", "q=3", NULL},
        {"sampling=with-replacement", "q=3", "batch=5", NULL},
        {"nu=0.05", "eta=0.02", "tau=3", NULL},
        {"steps=paper", "tau=20", "alpha=0.05", NULL},
    };
    static const char *const plus[][4] = {
        {"gamma=exact", "q=3", "c-gamma=0.5", NULL},
        {"sigma2=0.7", "q=2", "c-gamma=0.3", NULL},
        {"epsilon=0.3", "c-epsilon=0.4", "q=4", NULL},
        {"epsilon=0.3", NULL},
        {"gamma=local", NULL},
        {"refresh-min=1", "c-gamma=1e-9", "q=3", NULL},
        {"c-gamma=1e-3", "q=2", "refresh-min=2", NULL},
        {"c-gamma=1e300", "q=3", NULL},
        {"c-gamma=0.05", NULL},
        {"c-gamma=0.05", "gamma=exact", NULL},
        {"refresh-min=1", "c-gamma=1e-9", "batch=1", NULL},
    };
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        const char *const *more = variants[v];
        for (int kind = 0; kind < ALGORITHMS; kind++)
            if (kind != PRECISION_PLUS)
                follow(_i, kind, more, STEPS);
        /* The default rule of PRECISION+ is compared in test_precision_auto.c. */
        const char *const paper[] = {"c-gamma=10", more[0], more[1], more[2], NULL};
        follow(_i, PRECISION_PLUS, paper, STEPS);
    }
    for (size_t v = 0; v < sizeof plus / sizeof *plus; v++)
        follow(_i, PRECISION_PLUS, plus[v], STEPS);
}

TEST_LOOP(algorithms_follow_their_rules_with_a_regularizer, 0, LOGISTIC_SIMPLEX_DENSE + 1)
{
    static const char *const more[] = {"regularizer=l1:0.02", "q=3", NULL};
    for (int kind = 0; kind < ALGORITHMS; kind++)
        follow(_i, kind, more, STEPS);
}

/* Returns whether an algorithm belongs to PRECISION's family, whose members move by nu towards a
 * proximal point of a given tau. The others are tested in test_precision_auto.c, test_central.c and test_network.c. */
static bool of_the_family(const saddle_algorithm *algorithm)
{
    for (const saddle_option *const *option = algorithm->options; *option != NULL; option++)
        if (strcmp((*option)->name, "tau") == 0)
            return true;
    return false;
}

TEST(the_slow_versions_cover_every_algorithm)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    for (size_t k = 0; k < count; k++) {
        if (!of_the_family(list[k]))
            continue;
        bool known = false;
        for (int kind = 0; kind < ALGORITHMS; kind++)
            known = known || strcmp(names[kind], list[k]->name) == 0;
        ck_assert_msg(known, "%s has no slow version here", list[k]->name);
    }
}

/* ---- convergence ----------------------------------------------------------------------------- */

/* Runs an algorithm on the 5-agent quadratic; returns the last metric, and in *off the largest distance
 * of any agent's copy from the known saddle point. */
static double settle(const char *algorithm, const char *const *more, double *off)
{
    static const char *const base[] = {
        "problem=quadratic", "agents=5", "topology=ring", "samples=40", "x-dim=6",       "y-dim=4",
        "lipschitz=6",       "mu=1",     "tau=4",         "alpha=1",    "init=normal:1", NULL};
    saddle_error error = {.message = ""};
    saddle_plan *first = test_plan(NULL, base);
    saddle_plan *plan = test_plan(first, more);
    assert_ok(saddle_plan_set(plan, "algorithm", algorithm, &error), error);
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    assert_ok(saddle_instance_create(&instance, plan, &error), error);
    assert_ok(saddle_run(instance, plan, NULL, &result, &error), error);
    bool noisy = strncmp(algorithm, "prox-", 5) == 0;
    ck_assert(result->stop == SADDLE_STOP_ITERATIONS ||
              (noisy && result->stop == SADDLE_STOP_STALLED));
    const saddle_problem *problem = instance->problem;
    double *x = test_doubles(problem->x_dim);
    double *y = test_doubles(problem->y_dim);
    ck_assert(problem->solution(problem, x, y));
    *off = 0.0;
    for (size_t i = 0; i < problem->agents; i++) {
        *off = fmax(*off, test_farthest(problem->x_dim, x, result->x + i * problem->x_dim));
        *off = fmax(*off, test_farthest(problem->y_dim, y, result->y + i * problem->y_dim));
    }
    double metric = result->rows[result->row_count - 1].metric;
    if (getenv("SADDLE_TEST_VERBOSE") != NULL)
        saddle_fprintf(stdout, "%s %s: metric %.3g, off %.3g\n", algorithm, more[0], metric, *off);
    free(y);
    free(x);
    saddle_result_free(result);
    saddle_instance_free(instance);
    test_plan_free(plan);
    test_plan_free(first);
    return metric;
}

static const char *const curvatures[] = {"curvature=convex", "curvature=nonconvex"};

TEST_LOOP(deterministic_runs_reach_the_saddle, 0, 2)
{
    double off;
    const char *full[] = {curvatures[_i],  "batch=1000000",   "q=1",
                          "c-gamma=1e300", "iterations=3000", NULL};
    for (int kind = 0; kind < PROX_DSGDA; kind++) {
        assert_at_most(settle(names[kind], full, &off), 1e-24);
        assert_at_most(off, 1e-12);
    }
    /* Without tracking, only the differences between agents keep it away from the saddle point. */
    double metric = settle("prox-dsgda", full, &off);
    ck_assert_msg(metric > 1e-2, "metric %g", metric);
    const char *alike[] = {curvatures[_i], "batch=1000000", "heterogeneity=0", "iterations=3000",
                           NULL};
    assert_at_most(settle("prox-dsgda", alike, &off), 1e-24);
    assert_at_most(off, 1e-12);
}

TEST_LOOP(variance_reduction_reaches_the_saddle_and_the_baselines_do_not, 0, 2)
{
    double off;
    const char *more[] = {curvatures[_i], "iterations=4000", NULL};
    assert_at_most(settle("precision", more, &off), 1e-24);
    assert_at_most(off, 1e-12);
    assert_at_most(settle("precision+", more, &off), 1e-24);
    assert_at_most(off, 1e-12);
    double floor_with = settle("prox-gt-sgda", more, &off);
    ck_assert_msg(floor_with > 1e-2, "metric %g", floor_with);
    ck_assert_msg(off < 1.0, "off %g", off);
    double floor_without = settle("prox-dsgda", more, &off);
    ck_assert_msg(floor_without > 1e-2, "metric %g", floor_without);
    ck_assert_msg(off < 2.0, "off %g", off);
}

TEST_LOOP(one_agent_is_enough, 0, 2)
{
    double off;
    const char *more[] = {curvatures[_i], "agents=1", "topology=complete", "iterations=4000", NULL};
    assert_at_most(settle("precision", more, &off), 1e-24);
    assert_at_most(settle("precision+", more, &off), 1e-24);
}
