/*
 * The decentralized methods that were published beside PRECISION: DGDA-VR, DM-HSGD, DAMA, DREAM, VRLM, K-GT-Minimax,
 * D-AdaST and OADSVI.
 *
 * Each is implemented here a second time, with dense matrices, one sample at a time, and in another form where there is
 * one: exact diffusion without its dual variable, EXTRA as a recursion of two iterations, multipliers from the sum of
 * all iterates, K-GT-Minimax by how far local steps went, mixing polynomials by Chebyshev's numbers. Iterates, costs
 * and feasibility are compared at every iteration. With full gradients each is run to the known saddle point of the
 * quadratic and to constrained ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/longest_step.h"
#include "dense_agents.h"
#include "support.h"

enum { DGDA_VR, DM_HSGD, DAMA, DREAM, VRLM, K_GT, D_ADAST, OADSVI, METHODS };
static const char *const names[METHODS] = {"dgda-vr", "dm-hsgd",      "dama",    "dream",
                                           "vrlm",    "k-gt-minimax", "d-adast", "oadsvi"};

/* ---- slow versions --------------------------------------------------------------------------- */

/* Vectors of all agents. */
typedef struct slow {
    dense_agents a;
    int method;
    double *mixing; /* what takes the place of M, m x m */
    double *z, *z_before;
    double *g, *g_before;
    double *p; /* trackers, or what is projected */
    double *n,
        *c; /* K-GT: published points, corrections; VRLM: c is the sum of all iterates; OADSVI: e is c */
    double *mean;          /* K-GT: mean estimates */
    double *squares;       /* D-AdaST: a and b of every agent, before mixing */
    struct errors *errors; /* of every agent */
    double *zero;
} slow;

/* What an agent knows of its errors, by x and y: variances of the estimates, of single samples and of differences of
 * single samples, relative to the movement; iterations since the last refresh and between two; the movement. */
typedef struct errors {
    double error[2], sample[2], difference, since, span, signal;
} errors;

static const char *word(const slow *s, const char *name)
{
    return test_text(s->a.plan, name);
}

static bool is(const slow *s, const char *name, const char *value)
{
    return strcmp(word(s, name), value) == 0;
}

static const char *estimator(const slow *s)
{
    static const char *const fixed[METHODS] = {[DGDA_VR] = "sarah",
                                               [DM_HSGD] = "storm",
                                               [DREAM] = "page",
                                               [D_ADAST] = "sgd",
                                               [OADSVI] = "all"};
    return fixed[s->method] != NULL ? fixed[s->method] : word(s, "estimator");
}

static bool estimates_by(const slow *s, const char *name)
{
    return strcmp(estimator(s), name) == 0;
}

static bool is_measured(const slow *s)
{
    return estimates_by(s, "plus") || estimates_by(s, "kalman");
}

static bool has_rounds(const slow *s)
{
    return s->method < D_ADAST;
}

static double *identity(size_t m)
{
    double *result = test_doubles(m * m);
    for (size_t i = 0; i < m; i++)
        result[i * m + i] = 1.0;
    return result;
}

/* Returns left (b A + c I) + right B for m x m matrices. */
static double *combine(size_t m, const double *a, double b, double c, const double *left,
                       double right, const double *other)
{
    double *result = test_doubles(m * m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double sum = c * left[i * m + j] + right * other[i * m + j];
            for (size_t l = 0; l < m; l++)
                sum += b * a[i * m + l] * left[l * m + j];
            result[i * m + j] = sum;
        }
    return result;
}

/* Returns Chebyshev's polynomial of degree K, by its numbers c_r, or one that is not negative. */
static double *chebyshev(size_t m, const double *once, double a, double b, uint64_t degree,
                         bool nonnegative)
{
    double zeta = (2.0 - a - b) / (b - a);
    double c[3] = {1.0, zeta, zeta};
    double *before = identity(m);
    double *now =
        combine(m, once, 2.0 / (2.0 - a - b), -(a + b) / (2.0 - a - b), before, 0.0, before);
    for (uint64_t r = 1; r < degree; r++) {
        c[2] = 2.0 * zeta * c[1] - c[0];
        double factor = 2.0 * c[1] / c[2] / (b - a);
        double *next = combine(m, once, 2.0 * factor, -(a + b) * factor, now, -c[0] / c[2], before);
        free(before);
        before = now;
        now = next;
        c[0] = c[1];
        c[1] = c[2];
    }
    free(before);
    for (size_t k = 0; k < m * m && nonnegative; k++)
        now[k] = (c[1] * now[k] + (k % (m + 1) == 0 ? 1.0 : 0.0)) / (c[1] + 1.0);
    return now;
}

static double *fast_mix(size_t m, const double *once, double lambda, uint64_t rounds)
{
    double root = sqrt(1.0 - lambda * lambda);
    double eta = (1.0 - root) / (1.0 + root);
    double *before = identity(m);
    double *now = identity(m);
    for (uint64_t r = 0; r < rounds; r++) {
        double *next = combine(m, once, 1.0 + eta, 0.0, now, -eta, before);
        free(before);
        before = now;
        now = next;
    }
    free(before);
    return now;
}

/* Returns what takes the place of M. */
static double *polynomial(const slow *s)
{
    const saddle_instance *e = &s->a.rig->target;
    size_t m = s->a.m;
    double *once = dense_mixing(e->mixing);
    bool one_vector = s->method == DAMA && !is(s, "strategy", "tracking");
    bool nonnegative = one_vector || s->method == DM_HSGD || s->method == K_GT;
    uint64_t rounds = has_rounds(s) ? (uint64_t)test_number(s->a.plan, "mixing-rounds") : 1;
    double a = (double)(float)e->spectrum.lambda_m;
    double b = 1.0 - (double)(float)(1.0 - e->spectrum.lambda2);
    double *result;
    bool halved =
        (s->method == DREAM || (one_vector && rounds == 1)) && e->spectrum.lambda_m < -1e-9;
    for (size_t k = 0; k < m * m && halved; k++)
        once[k] = 0.5 * (once[k] + (k % (m + 1) == 0 ? 1.0 : 0.0));
    if (s->method == DREAM) {
        b = (double)(float)e->spectrum.lambda2;
        result = fast_mix(m, once, halved ? 0.5 * (1.0 + b) : b > 0.0 ? b : 0.0, rounds);
    } else if (rounds > 1 && b > a) {
        result = chebyshev(m, once, a, b, rounds, nonnegative);
    } else {
        result = dense_power(m, once, rounds);
    }
    free(once);
    return result;
}

/* The prox over X of (eta_x h) and the projection onto Y, for every agent. */
static void project(const slow *s, double *v)
{
    for (size_t i = 0; i < s->a.m; i++)
        dense_project(&s->a, 1.0, v + i * s->a.both);
}

/* |S| of agent i, which uses all if it has fewer samples. */
static size_t batch_size(const slow *s, size_t i)
{
    size_t most = 0;
    size_t batch = 2;
    for (size_t j = 0; j < s->a.m; j++)
        most = s->a.problem->samples[j] > most ? s->a.problem->samples[j] : most;
    while (16 * batch * batch < most)
        batch++;
    if (s->method == D_ADAST)
        for (batch = 1; batch * batch < s->a.problem->samples[i];)
            batch++;
    bool paper = s->a.plan->steps.rule == SADDLE_STEPS_PAPER;
    size_t given = (size_t)(paper ? s->a.rig->steps.batch : s->a.plan->steps.batch);
    return given > 0 ? given : batch;
}

/* Returns an own option that is a number of samples; auto: all. */
static size_t size_of(const slow *s, const char *name)
{
    double size = test_number(s->a.plan, name);
    return isnan(size) || size == 0.0 ? DENSE_MOST_SAMPLES : (size_t)size;
}

static bool tosses(const slow *s)
{
    return estimates_by(s, "page") || estimates_by(s, "grace");
}

static bool refreshes(const slow *s, uint64_t next)
{
    if (estimates_by(s, "all"))
        return true;
    if (estimates_by(s, "sarah"))
        return next % s->a.rig->steps.q == 0;
    if (!tosses(s))
        return false;
    saddle_rng rng;
    saddle_rng_init(&rng, s->a.plan->start.seed, SADDLE_RNG_COIN, 0, next);
    return saddle_rng_uniform(&rng) < test_number(s->a.plan, "refresh-probability");
}

static void learn(double *mean, double number, double weight)
{
    *mean = *mean == 0.0 ? number : (1.0 - weight) * *mean + weight * number;
}

/* Returns a whole number between the least and n. */
static size_t between(double least, double number, size_t n)
{
    double size = ceil(fmax(2.0, fmax(least, number)));
    return size < (double)n ? (size_t)size : n;
}

/* Stores the squared distance of two vectors in x and in y. */
static void distances(const slow *s, const double *a, const double *b, double factor, double out[2])
{
    out[0] = out[1] = 0.0;
    for (size_t k = 0; k < s->a.both; k++)
        out[k < s->a.x_dim ? 0 : 1] += factor * (a[k] - b[k]) * (a[k] - b[k]);
}

/* Draws `count` samples in an order in which the first half is not special. */
static void draw_halves(slow *s, size_t i, saddle_purpose purpose, uint64_t next, size_t count,
                        uint32_t *index)
{
    if (count == s->a.problem->samples[i])
        return;
    dense_draw(&s->a, purpose, i, next, count, false, index);
    for (size_t k = 1; k < count / 2; k += 2) {
        uint32_t kept = index[k];
        index[k] = index[count - 1 - k];
        index[count - 1 - k] = kept;
    }
}

/* Refreshes the estimate of an agent from `count` samples: all, or two halves that are compared. */
static void refresh_measured(slow *s, size_t i, uint64_t next, size_t count, const uint32_t *index,
                             double *g)
{
    errors *e = &s->errors[i];
    size_t n = s->a.problem->samples[i];
    const double *z = s->z + i * s->a.both;
    double *half = test_doubles(s->a.both);
    double *other = test_doubles(s->a.both);
    double variance[2] = {0.0, 0.0};
    uint32_t some[DENSE_MOST_SAMPLES];
    uint64_t before = s->a.ifo[i];
    size_t probe = between(sqrt((double)n), 0.0, n);
    dense_operate(&s->a, i, count < n ? index : NULL, count, z, g);
    if (count == n && probe < n) {
        dense_draw(&s->a, SADDLE_RNG_PILOT, i, next, probe, false, some);
        dense_operate(&s->a, i, some, probe, z, half);
        distances(s, g, half, 1.0 / (1.0 / (double)probe - 1.0 / (double)n), variance);
    } else if (count < n) {
        size_t first = count / 2;
        dense_operate(&s->a, i, index, first, z, half);
        dense_operate(&s->a, i, index + first, count - first, z, other);
        distances(s, half, other, 1.0 / (1.0 / (double)first + 1.0 / (double)(count - first)),
                  variance);
    }
    for (int k = 0; k < 2; k++) {
        learn(&e->sample[k], variance[k], 0.3);
        e->error[k] = e->sample[k] * (1.0 / (double)count - 1.0 / (double)n);
    }
    learn(&e->span, e->since, 0.2);
    e->since = 0.0;
    s->a.ifo[i] = before + count + (count == n && probe < n ? probe : 0);
    free(half);
    free(other);
}

/* The estimate of an agent by a difference over a batch, whose halves are compared; with a gain, mixed with the
 * gradient over the batch. */
static void follow_measured(slow *s, size_t i, size_t count, const uint32_t *index, double reach,
                            const double *old, double *g)
{
    errors *e = &s->errors[i];
    size_t n = s->a.problem->samples[i];
    size_t part[3] = {count, count / 2, count - count / 2};
    const uint32_t *from[3] = {index, index, index + count / 2};
    double *at[3];
    double *change[3];
    uint64_t before = s->a.ifo[i];
    double of_gradient[2];
    double of_difference[2];
    double rest = 1.0 / (double)count - 1.0 / (double)n;
    double factor = 1.0 / (1.0 / (double)part[1] + 1.0 / (double)part[2]);
    for (int p = 0; p < 3; p++) {
        at[p] = test_doubles(s->a.both);
        change[p] = test_doubles(s->a.both);
        dense_operate(&s->a, i, from[p], part[p], s->z + i * s->a.both, at[p]);
        dense_operate(&s->a, i, from[p], part[p], s->z_before + i * s->a.both, change[p]);
        for (size_t k = 0; k < s->a.both; k++)
            change[p][k] = at[p][k] - change[p][k];
    }
    s->a.ifo[i] = before + 2 * count;
    distances(s, at[1], at[2], factor, of_gradient);
    distances(s, change[1], change[2], factor, of_difference);
    double weight[2] = {0.0, 0.0};
    for (int k = 0; k < 2; k++) {
        e->error[k] += rest * of_difference[k];
        if (!estimates_by(s, "kalman"))
            continue;
        learn(&e->sample[k], of_gradient[k], 0.1);
        double variance = rest * e->sample[k];
        weight[k] = variance > 0.0 ? e->error[k] / (e->error[k] + variance) : 1.0;
        ck_assert(weight[k] >= 0.0 && weight[k] <= 1.0);
        e->error[k] -= weight[k] * e->error[k];
    }
    if (reach > 0.0)
        learn(&e->difference,
              (s->a.step[0] * of_difference[0] + s->a.step[1] * of_difference[1]) / reach, 0.1);
    for (size_t k = 0; k < s->a.both; k++) {
        double w = weight[k < s->a.x_dim ? 0 : 1];
        g[k] = w * at[0][k] + (1.0 - w) * (old[k] + change[0][k]);
    }
    for (int p = 0; p < 3; p++) {
        free(at[p]);
        free(change[p]);
    }
}

/* An estimate with measured errors, which are kept below half of the movement. */
static void estimate_measured(slow *s, size_t i, uint64_t next, const double *old, double *g)
{
    uint32_t index[DENSE_MOST_SAMPLES];
    errors *e = &s->errors[i];
    size_t n = s->a.problem->samples[i];
    double all = (double)n;
    double moved[2];
    distances(s, s->z + i * s->a.both, s->z_before + i * s->a.both, 1.0, moved);
    double reach = moved[0] / s->a.step[0] + moved[1] / s->a.step[1];
    distances(s, s->z_before + i * s->a.both, s->zero, 1.0, moved);
    if (reach <=
        256.0 * DBL_EPSILON * DBL_EPSILON * (moved[0] / s->a.step[0] + moved[1] / s->a.step[1]))
        reach = 0.0;
    learn(&e->signal, reach, 0.2);
    e->since += 1.0;
    double left = fmin(2.0, 1.0 / (double)s->a.m + 2.0 / fmax(1.0, e->span));
    double limit = 0.5 * (e->signal > 0.0 ? e->signal : reach) / left;
    double noise = s->a.step[0] * e->sample[0] + s->a.step[1] * e->sample[1];
    double drift = e->difference * reach;
    double wanted = noise > 0.0 ? 1.0 / (limit / (2.0 * noise) + 1.0 / all) : all;
    size_t fresh = between(sqrt(all), wanted, n);
    fresh = (double)fresh > all / 3.0 ? n : fresh;
    size_t batch = between(sqrt(all) / 8.0, sqrt((double)fresh * drift / limit), n);
    double error = s->a.step[0] * e->error[0] + s->a.step[1] * e->error[1] + drift / (double)batch;
    double variance = noise * (1.0 / (double)batch - 1.0 / all);
    if (estimates_by(s, "kalman"))
        error = variance > 0.0 ? error * variance / (error + variance) : 0.0;
    bool refreshes = n <= 4 || 2 * batch >= fresh || !(error <= limit);
    size_t count = refreshes ? fresh : batch;
    draw_halves(s, i, refreshes ? SADDLE_RNG_REFRESH : SADDLE_RNG_BATCH, next, count, index);
    if (refreshes)
        refresh_measured(s, i, next, count, index, g);
    else
        follow_measured(s, i, count, index, reach, old, g);
}

/* Replaces the estimates g, at z_before, by those of iterate `next` at z. */
static void estimate(slow *s, uint64_t next)
{
    uint32_t index[DENSE_MOST_SAMPLES];
    double *h = test_doubles(s->a.both);
    bool sgd = estimates_by(s, "sgd");
    bool recursive = estimates_by(s, "sarah") || estimates_by(s, "page");
    bool replacement = s->a.plan->steps.sampling == SADDLE_WITH_REPLACEMENT;
    memcpy(s->g_before, s->g, s->a.m * s->a.both * sizeof *s->g);
    for (size_t i = 0; i < s->a.m; i++) {
        double *g = s->g + i * s->a.both;
        const double *z = s->z + i * s->a.both;
        const double *old = s->g_before + i * s->a.both;
        if (is_measured(s)) {
            estimate_measured(s, i, next, old, g);
            continue;
        }
        if (refreshes(s, next)) {
            size_t count = dense_draw(&s->a, SADDLE_RNG_REFRESH, i, next,
                                      size_of(s, "refresh-size"), false, index);
            dense_operate(&s->a, i, index, count, z, g);
            continue;
        }
        size_t count =
            dense_draw(&s->a, SADDLE_RNG_BATCH, i, next, batch_size(s, i), replacement, index);
        dense_operate(&s->a, i, index, count, z, g);
        if (sgd)
            continue;
        dense_operate(&s->a, i, index, count, s->z_before + i * s->a.both, h);
        for (size_t k = 0; k < s->a.both; k++) {
            double beta =
                recursive ? 0.0 : test_number(s->a.plan, k < s->a.x_dim ? "beta-x" : "beta-y");
            g[k] += (1.0 - beta) * (old[k] - h[k]);
        }
    }
    free(h);
}

static void slow_open(slow *s, test_rig *rig, int method)
{
    uint32_t index[DENSE_MOST_SAMPLES];
    *s = (slow){.method = method};
    dense_open(&s->a, rig);
    s->mixing = polynomial(s);
    s->z = dense_start(&s->a);
    s->g = dense_rows(&s->a, NULL);
    for (size_t i = 0; i < s->a.m; i++) {
        size_t count = s->method == D_ADAST ? dense_draw(&s->a, SADDLE_RNG_BATCH, i, 0,
                                                         batch_size(s, i), false, index)
                                            : dense_draw(&s->a, SADDLE_RNG_REFRESH, i, 0,
                                                         size_of(s, "first-batch"), false, index);
        dense_operate(&s->a, i, index, count, s->z + i * s->a.both, s->g + i * s->a.both);
    }
    s->z_before = dense_rows(&s->a, s->z);
    s->g_before = dense_rows(&s->a, NULL);
    s->c = dense_rows(&s->a, NULL);
    s->zero = test_doubles(s->a.both);
    ck_assert_uint_gt(s->a.m, 0);
    s->errors = calloc(s->a.m, sizeof *s->errors);
    ck_assert_ptr_nonnull(s->errors);
    for (size_t i = 0; i < s->a.m && is_measured(s); i++) {
        s->errors[i].since = 1.0;
        s->a.ifo[i] = 0;
        size_t n = s->a.problem->samples[i];
        size_t count = n <= 4 ? n : between(sqrt((double)n), 0.0, n);
        draw_halves(s, i, SADDLE_RNG_REFRESH, 0, count, index);
        refresh_measured(s, i, 0, count, index, s->g + i * s->a.both);
        s->errors[i].span = ceil(sqrt((double)s->a.problem->samples[i]));
        double size[2]; /* of the gradient; a variance may be its rounding */
        distances(s, s->g + i * s->a.both, s->zero, 1.0, size);
        for (int k = 0; k < 2; k++)
            if (s->errors[i].sample[k] <= 1e-24 * size[k])
                s->errors[i].sample[k] = 0.0;
    }
    s->p = dense_rows(&s->a, method == K_GT ? s->g : NULL);
    s->n = dense_rows(&s->a, s->z);
    s->mean = dense_rows(&s->a, s->g);
    s->squares = test_doubles(2 * s->a.m);
}

static void slow_close(slow *s)
{
    double *const vector[] = {s->mixing, s->z, s->z_before, s->g,    s->g_before,
                              s->p,      s->n, s->c,        s->mean, s->squares};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(vector[k]);
    free(s->errors);
    free(s->zero);
    dense_close(&s->a);
}

/* Sets z to a projected point, which it frees. */
static void take(slow *s, double *point)
{
    memcpy(s->z_before, s->z, s->a.m * s->a.both * sizeof *s->z);
    memcpy(s->z, point, s->a.m * s->a.both * sizeof *s->z);
    project(s, s->z);
    free(point);
}

/* p_t = W (p_{t-1} + g_t - g_{t-1}); z+ = P(W z - step p_t) or P(W (z - step p_t)). */
static void slow_tracking(slow *s, bool twice)
{
    for (size_t k = 0; k < s->a.m * s->a.both; k++)
        s->p[k] += s->g[k] - s->g_before[k];
    double *p = dense_mixed(&s->a, s->mixing, s->p);
    memcpy(s->p, p, s->a.m * s->a.both * sizeof *p);
    double *from = dense_rows(&s->a, s->z);
    for (size_t k = 0; k < s->a.m * s->a.both && twice; k++)
        from[k] -= dense_step(&s->a, k) * p[k];
    double *point = dense_mixed(&s->a, s->mixing, from);
    for (size_t k = 0; k < s->a.m * s->a.both && !twice; k++)
        point[k] -= dense_step(&s->a, k) * p[k];
    free(from);
    free(p);
    take(s, point);
}

/* p+ = W (p + psi - psi_before), psi = z - step g; z+ = P(p+); at first p+ = W psi. */
static void slow_exact_diffusion(slow *s, uint64_t t)
{
    for (size_t k = 0; k < s->a.m * s->a.both; k++) {
        double psi = s->z[k] - dense_step(&s->a, k) * s->g[k];
        double before = s->z_before[k] - dense_step(&s->a, k) * s->g_before[k];
        s->p[k] = t == 0 ? psi : s->p[k] + psi - before;
    }
    double *p = dense_mixed(&s->a, s->mixing, s->p);
    memcpy(s->p, p, s->a.m * s->a.both * sizeof *p);
    take(s, p);
}

/* p+ = p + (2 W - I) z - W z_before - step (g - g_before); z+ = P(p+); at first p+ = W z - step g. */
static void slow_extra(slow *s, uint64_t t)
{
    double *z = dense_mixed(&s->a, s->mixing, s->z);
    double *before = dense_mixed(&s->a, s->mixing, s->z_before);
    for (size_t k = 0; k < s->a.m * s->a.both; k++)
        s->p[k] = t == 0 ? z[k] - dense_step(&s->a, k) * s->g[k]
                         : s->p[k] + 2.0 * z[k] - s->z[k] - before[k] -
                               dense_step(&s->a, k) * (s->g[k] - s->g_before[k]);
    free(z);
    free(before);
    take(s, dense_rows(&s->a, s->p));
}

/* x as by tracking; y+ = P(W y + step (u - (W - I) E)), E = (rho / step) (W - I) (sum of all y before). */
static void slow_multipliers(slow *s)
{
    size_t count = s->a.m * s->a.both;
    double rho = test_number(s->a.plan, "multiplier-step");
    for (size_t k = 0; k < count; k++)
        s->p[k] += s->g[k] - s->g_before[k];
    double *p = dense_mixed(&s->a, s->mixing, s->p);
    memcpy(s->p, p, count * sizeof *p);
    double *dual = dense_mixed(&s->a, s->mixing, s->c);
    for (size_t k = 0; k < count; k++)
        dual[k] = rho / s->a.step[1] * (dual[k] - s->c[k]);
    double *mixed_dual = dense_mixed(&s->a, s->mixing, dual);
    double *point = dense_mixed(&s->a, s->mixing, s->z);
    for (size_t k = 0; k < count; k++)
        point[k] -= k % s->a.both < s->a.x_dim ? s->a.step[0] * p[k]
                                               : s->a.step[1] * (s->g[k] + mixed_dual[k] - dual[k]);
    for (size_t k = 0; k < count; k++)
        s->c[k] += s->z[k];
    free(p);
    free(dual);
    free(mixed_dual);
    take(s, point);
}

/* The paper's c+ = c - z + W z, with z the mean step where no projection cuts one. */
static void slow_local_steps(slow *s, uint64_t t)
{
    size_t count = s->a.m * s->a.both;
    uint64_t local = (uint64_t)test_number(s->a.plan, "local-steps");
    double *w = dense_mixed(&s->a, s->mixing, s->n);
    double *z = dense_mixed(&s->a, s->mixing, s->p);
    bool cut = false;
    const saddle_instance *e = s->a.rig->instance.made;
    for (size_t i = 0; i < s->a.m; i++) {
        saddle_set_project(e->x_set, w + i * s->a.both, s->a.scratch);
        saddle_set_project(e->y_set, w + i * s->a.both + s->a.x_dim, s->a.scratch);
    }
    for (size_t k = 0; k < count; k++)
        s->c[k] += z[k] - s->p[k];
    memcpy(s->n, w, count * sizeof *w);
    memset(s->mean, 0, count * sizeof *w);
    for (uint64_t step = 1; step <= local; step++) {
        memcpy(s->z, s->n, count * sizeof *w);
        estimate(s, t * local + step);
        memcpy(s->z_before, s->z, count * sizeof *w);
        for (size_t k = 0; k < count; k++) {
            s->mean[k] += s->g[k] / (double)local;
            s->n[k] -= dense_step(&s->a, k) * (s->g[k] + s->c[k]);
        }
        memcpy(z, s->n, count * sizeof *z);
        project(s, s->n);
        cut = cut || memcmp(z, s->n, count * sizeof *z) != 0;
    }
    for (size_t k = 0; k < count; k++)
        s->p[k] =
            cut ? s->c[k] + s->mean[k] : (w[k] - s->n[k]) / ((double)local * dense_step(&s->a, k));
    memcpy(s->z, w, count * sizeof *w);
    free(w);
    free(z);
}

static void slow_adaptive(slow *s, uint64_t t)
{
    const saddle_instance *e = s->a.rig->instance.made;
    size_t count = s->a.m * s->a.both;
    double *step = test_doubles(2 * s->a.m);
    double *squares = test_doubles(2 * s->a.m);
    for (size_t k = 0; k < count; k++)
        s->squares[k / s->a.both * 2 + (k % s->a.both < s->a.x_dim ? 0 : 1)] += s->g[k] * s->g[k];
    memcpy(s->n, s->z, count * sizeof *s->n);
    for (size_t i = 0; i < s->a.m; i++) {
        const double *ab = s->squares + 2 * i;
        double most = ab[0] > ab[1] ? ab[0] : ab[1];
        step[2 * i] = most > 0.0 ? s->a.step[0] / pow(most, 0.6) : 0.0;
        step[2 * i + 1] = ab[1] > 0.0 ? s->a.step[1] / pow(ab[1], 0.4) : 0.0;
        for (size_t k = i * s->a.both; k < (i + 1) * s->a.both; k++)
            s->n[k] -= step[2 * i + (k % s->a.both < s->a.x_dim ? 0 : 1)] * s->g[k];
    }
    double *z = dense_mixed(&s->a, s->mixing, s->n);
    memcpy(s->z_before, s->z, count * sizeof *z);
    memcpy(s->z, z, count * sizeof *z);
    for (size_t i = 0; i < s->a.m; i++) {
        saddle_prox_apply(e->x_prox, step[2 * i], s->z + i * s->a.both, s->a.scratch);
        saddle_set_project(e->y_set, s->z + i * s->a.both + s->a.x_dim, s->a.scratch);
        for (size_t j = 0; j < s->a.m; j++)
            for (size_t k = 0; k < 2; k++)
                squares[2 * i + k] += s->mixing[i * s->a.m + j] * s->squares[2 * j + k];
    }
    memcpy(s->squares, squares, 2 * s->a.m * sizeof *squares);
    free(z);
    free(step);
    free(squares);
    estimate(s, t + 1);
}

/* The order of the paper: z+ = P(z - eta delta), then e+ = e - (theta / eta) (I - W) (z+ - beta eta (F(z+) - e)). */
static void slow_optimal(slow *s, uint64_t t)
{
    const saddle_instance *e = s->a.rig->instance.made;
    size_t count = s->a.m * s->a.both;
    double L = e->constants.lipschitz;
    double kappa = L / e->constants.strong_concavity;
    kappa = kappa > 0.0 && isfinite(kappa) ? kappa < 1.0 ? 1.0 : kappa : 100.0;
    double width = 1.0 - (double)(float)e->spectrum.lambda_m;
    double chi = width / (double)(float)(1.0 - e->spectrum.lambda2);
    double beta = 3.0 * sqrt(chi) / kappa;
    double theta = 1.0 / (2.0 * beta) < 1.0 / 9.0 ? 1.0 / (2.0 * beta) : 1.0 / 9.0;
    double first = 1.0 / (1.0 + 3.0 * kappa * sqrt(chi));
    double second = 1.0 / (2.0 * chi);
    double a = 1.0 - (first < second ? first : second);
    double *point = dense_rows(&s->a, s->z);
    for (size_t k = 0; k < count; k++)
        point[k] -=
            dense_step(&s->a, k) * (s->g[k] + a * (t == 0 ? 0.0 : s->g[k] - s->g_before[k]) -
                                    s->c[k] - a * (s->c[k] - s->p[k]));
    take(s, point);
    estimate(s, t + 1);
    for (size_t k = 0; k < count; k++)
        s->n[k] = s->z[k] - beta * dense_step(&s->a, k) * (s->g[k] - s->c[k]);
    double *n = dense_mixed(&s->a, s->mixing, s->n);
    memcpy(s->p, s->c, count * sizeof *n);
    for (size_t k = 0; k < count; k++)
        s->c[k] -= theta / width / dense_step(&s->a, k) * (s->n[k] - n[k]);
    free(n);
}

static void slow_step(slow *s, uint64_t t)
{
    if (s->method == K_GT) {
        slow_local_steps(s, t);
        return;
    }
    if (s->method == D_ADAST) {
        slow_adaptive(s, t);
        return;
    }
    if (s->method == OADSVI) {
        slow_optimal(s, t);
        return;
    }
    if (s->method == VRLM)
        slow_multipliers(s);
    else if (s->method == DAMA && is(s, "strategy", "exact-diffusion"))
        slow_exact_diffusion(s, t);
    else if (s->method == DAMA && is(s, "strategy", "extra"))
        slow_extra(s, t);
    else
        slow_tracking(s, s->method == DM_HSGD || s->method == DREAM);
    estimate(s, t + 1);
}

/* ---- comparing iterates ----------------------------------------------------------------------- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the IFO calls of agent i after t iterations. */
static uint64_t ifo_of(const slow *s, size_t i, uint64_t t)
{
    size_t n = s->a.problem->samples[i];
    uint64_t points = estimates_by(s, "sgd") ? 1 : 2;
    uint64_t local = s->method == K_GT ? (uint64_t)test_number(s->a.plan, "local-steps") : 1;
    uint64_t total =
        smaller(s->method == D_ADAST ? batch_size(s, i) : size_of(s, "first-batch"), n);
    for (uint64_t next = 1; next <= t * local; next++)
        total += refreshes(s, next) ? smaller(size_of(s, "refresh-size"), n)
                                    : points * smaller(batch_size(s, i), n);
    return total;
}

static void assert_costs(const slow *s, const test_state *found, uint64_t t)
{
    for (size_t i = 0; i < s->a.m; i++)
        ck_assert(is_measured(s) || found->ifo[i] == ifo_of(s, i, t));
    bool twice = s->method == DM_HSGD || s->method == DREAM;
    bool half = twice || s->method == D_ADAST || s->method == OADSVI ||
                (s->method == DAMA && !is(s, "strategy", "tracking"));
    size_t doubles = (half ? 1 : 2) * s->a.both + (s->method == D_ADAST ? 2 : 0);
    uint64_t rounds =
        has_rounds(s) ? (twice ? 2 : 1) * (uint64_t)test_number(s->a.plan, "mixing-rounds") : 1;
    assert_dense_costs(&s->a, found, t * rounds, t * rounds * doubles);
}

static void follow(int which, int method, const char *const *more, uint64_t iterations)
{
    test_rig r;
    slow s;
    test_state found;
    test_rig_open(&r, which, names[method], more, 1, NULL, NULL);
    slow_open(&s, &r, method);
    test_state_make(&found, s.a.problem);
    for (uint64_t t = 0; t <= iterations; t++) {
        test_state_copy(&r, &found);
        assert_dense_same(&s.a, 1e-11, "iterate", t, found.x, found.y, s.z, 1.0);
        if (method != D_ADAST)
            assert_dense_same(&s.a, 1e-11, "estimate", t, found.v, found.u,
                              method == K_GT ? s.mean : s.g, -1.0);
        assert_dense_feasible(&s.a, &found);
        assert_costs(&s, &found, t);
        ck_assert_int_eq(test_rig_advance(&r, 1).kind, SADDLE_FAULT_NONE);
        slow_step(&s, t);
    }
    test_state_free(&found);
    slow_close(&s);
    test_rig_close(&r);
}

TEST_LOOP(methods_follow_their_rules, 0, INSTANCES *METHODS)
{
    follow(_i / METHODS, _i % METHODS, NULL, 24);
}

TEST(options_do_what_they_say)
{
    static const struct {
        int method;
        const char *assignment[7];
    } variant[] = {
        {DGDA_VR, {"q=3", "batch=2", "refresh-size=3", "first-batch=2", NULL}},
        {DGDA_VR, {"mixing-rounds=3", "sampling=with-replacement", NULL}},
        {DGDA_VR, {"steps=paper", "eta-x=0.003", "eta-y=0.02", NULL}},
        {DM_HSGD, {"beta-x=0.3", "beta-y=0.7", "batch=3", "first-batch=3", NULL}},
        {DM_HSGD, {"mixing-rounds=4", "mixing=metropolis", NULL}},
        {DM_HSGD, {"mixing-rounds=2", "topology=path", NULL}},
        {DAMA, {"strategy=exact-diffusion", "estimator=page", "refresh-probability=0.3", NULL}},
        {DAMA, {"strategy=exact-diffusion", "mixing=metropolis", "estimator=sgd", NULL}},
        {DAMA, {"strategy=exact-diffusion", "mixing=metropolis", "mixing-rounds=3", NULL}},
        {DAMA, {"strategy=extra", "estimator=grace", "refresh-size=4", "beta-x=0.4", NULL}},
        {DAMA, {"strategy=extra", "mixing-rounds=2", "topology=path", NULL}},
        {DAMA, {"strategy=tracking", "estimator=page", "sampling=with-replacement", NULL}},
        {DREAM, {"mixing-rounds=5", "refresh-probability=0.5", "refresh-size=3", NULL}},
        {DREAM, {"mixing=metropolis", "topology=path", "batch=3", NULL}},
        {DAMA, {"strategy=extra", "estimator=sarah", "q=4", NULL}},
        {VRLM, {"multiplier-step=0.6", "mixing=metropolis", "estimator=storm", "beta-y=0.4", NULL}},
        {VRLM, {"topology=path", "q=3", "batch=2", "refresh-size=4", "first-batch=3", NULL}},
        {VRLM, {"mixing-rounds=3", "topology=path", NULL}},
        {VRLM, {"steps=paper", "eta-y=0.02", "q=3", NULL}},
        {VRLM, {"mixing-rounds=2", "mixing=metropolis", "estimator=kalman", NULL}},
        {K_GT, {"local-steps=3", "estimator=storm", "beta-x=0.3", "beta-y=0.6", NULL}},
        {K_GT, {"local-steps=1", "mixing=metropolis", "sampling=with-replacement", NULL}},
        {K_GT, {"estimator=page", "refresh-probability=0.3", "first-batch=2", NULL}},
        {K_GT, {"mixing-rounds=2", "mixing=metropolis", NULL}},
        {K_GT, {"mixing-rounds=4", "topology=path", "local-steps=2", "estimator=storm", NULL}},
        {D_ADAST, {"eta-x=0.4", "eta-y=0.5", "batch=3", "topology=path", NULL}},
        {DAMA, {"estimator=plus", NULL}},
        {DAMA, {"estimator=kalman", "strategy=tracking", "mixing-rounds=2", NULL}},
        {DAMA, {"estimator=kalman", "eta-x=0.002", "eta-y=0.004", NULL}},
        {VRLM, {"estimator=kalman", "mixing=metropolis", NULL}},
        {K_GT, {"estimator=plus", "local-steps=2", NULL}},
        {K_GT, {"estimator=kalman", "local-steps=3", "seed=4", NULL}},
        {OADSVI, {"mixing=metropolis", "topology=path", NULL}},
        {OADSVI, {"eta-x=0.01", "eta-y=0.05", NULL}},
    };
    static const int where[] = {QUADRATIC_CONVEX_ODD, QUADRATIC_BALL, LOGISTIC_BOX_DENSE_UNEQUAL};
    for (size_t v = 0; v < sizeof variant / sizeof *variant; v++)
        for (size_t k = 0; k < sizeof where / sizeof *where; k++)
            follow(where[k], variant[v].method, variant[v].assignment, 20);
}

TEST(methods_follow_their_rules_with_a_regularizer)
{
    static const char *const more[] = {"regularizer=l1:0.02", NULL};
    static const char *const extra[] = {"regularizer=l1:0.02", "strategy=extra", NULL};
    for (int method = 0; method < METHODS; method++) {
        follow(LOGISTIC_BOX_SPARSE, method, more, 12);
        follow(QUADRATIC_CONVEX_ODD, method, more, 24);
    }
    follow(QUADRATIC_CONVEX_ODD, DAMA, extra, 24);
}

/* Estimates with measured errors have the same bits with other threads, where messages are lost, where agents come and
 * go, and after a run was stopped and resumed. */
TEST(measured_estimates_have_the_same_bits)
{
    static const char *const method[][3] = {
        {"algorithm=dama", "strategy=tracking", "estimator=kalman"},
        {"algorithm=dama", "strategy=exact-diffusion", "estimator=plus"},
        {"algorithm=k-gt-minimax", "local-steps=2", "estimator=kalman"},
        {"algorithm=dgda-vr", "q=3", "batch=2"},
        {"algorithm=k-gt-minimax", "mixing-rounds=2", "estimator=storm"}};
    static const char *const links[] = {"links=lossy:0.2", "links=reliable", "churn=events",
                                        "links=delay:2", "links=lossy:0.3"};
    saddle_test_enter_directory();
    saddle_test_write("events", "9 leave 1\n20 return 1\n");
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
#define BITS                                                                                \
    method[k][0], method[k][1], method[k][2], links[k], "data=synthetic:400:6", "agents=5", \
        "gap=never"
        saddle_result *one =
            test_solve(NULL, (const char *[]){BITS, "iterations=60", "threads=1", NULL});
        saddle_result *more =
            test_solve(NULL, (const char *[]){BITS, "iterations=60", "threads=3", NULL});
        test_assert_same_result(one, more, method[k][0]);
        saddle_result_free(more);
        char place[24];
        snprintf(place, sizeof place, "kept-%zu", k);
        char checkpoint[40];
        snprintf(checkpoint, sizeof checkpoint, "checkpoint=%s", place);
        saddle_result_free(test_solve(
            NULL, (const char *[]){BITS, "iterations=23", "threads=2", checkpoint, NULL}));
        saddle_error error = {.message = ""};
        saddle_plan *plan = test_plan(NULL, (const char *[]){BITS, "iterations=60", NULL});
        assert_ok(saddle_plan_set(plan, "resume", place, &error), error);
        assert_ok(saddle_solve(NULL, plan, &more, &error), error);
        ck_assert_int_eq(memcmp(one->x, more->x, one->agents * one->x_dim * sizeof(double)), 0);
        ck_assert_int_eq(memcmp(one->y, more->y, one->agents * one->y_dim * sizeof(double)), 0);
        ck_assert_uint_eq(one->cost.ifo, more->cost.ifo);
        test_plan_free(plan);
        saddle_result_free(more);
        saddle_result_free(one);
    }
}

/* ---- convergence ----------------------------------------------------------------------------- */

/* Methods with full gradients. */
static const struct {
    const char *name;
    const char *full[3];
} exact[] = {
    {"dgda-vr", {"batch=1000", NULL}},
    {"dm-hsgd", {"batch=1000", NULL}},
    {"dama", {"batch=1000", "strategy=exact-diffusion", NULL}},
    {"dama", {"batch=1000", "strategy=extra", NULL}},
    {"dama", {"batch=1000", "strategy=tracking", NULL}},
    {"dream", {"batch=1000", NULL}},
    {"vrlm", {"batch=1000", NULL}},
    {"k-gt-minimax", {"batch=1000", NULL}},
    {"k-gt-minimax", {"batch=1000", "local-steps=2", NULL}},
    {"oadsvi", {NULL}},
    {"dama", {"estimator=kalman", NULL}},
    {"vrlm", {"estimator=plus", NULL}},
};
enum { EXACT = sizeof exact / sizeof *exact };

TEST_LOOP(full_gradients_converge_linearly_without_a_bias, 0, TEST_SLOWDOWN > 1 ? 1 : EXACT)
{
    static const char *const more[][4] = {
        {NULL},
        {"x-set=l2-ball:0.5", "y-set=l1-ball:0.3", NULL},
        {"x-set=box:-0.4:0.3", "y-set=box:-inf:0.1", "regularizer=l1:0.3", NULL},
        {"mixing=metropolis", "mixing-rounds=6", NULL}};
    bool mixes = strcmp(exact[_i].name, "oadsvi") != 0;
    for (size_t k = 0; k < sizeof more / sizeof *more - (mixes ? 0 : 1); k++) {
        test_rig r;
        dense_open_on_ring(&r, exact[_i].name, exact[_i].full, more[k]);
        ck_assert_double_gt(dense_optimality_gap(&r), 0.01);
        double gap = dense_optimality_gap(&r);
        while (gap > 1e-10) {
            ck_assert_int_eq(test_rig_advance(&r, 600).kind, SADDLE_FAULT_NONE);
            double next = dense_optimality_gap(&r);
            assert_at_most(next, gap / 5.0);
            gap = next;
        }
        /* And it stays there. */
        test_rig_advance(&r, 600);
        assert_at_most(dense_optimality_gap(&r), 1e-10);
        test_rig_close(&r);
    }
}

/* Rounds of mixing do not take away from the steps that are stable, also where Chebyshev's polynomial of a slow network
 * would have eigenvalues close to -1. */
TEST(few_rounds_of_mixing_are_stable_on_a_ring)
{
    static const char *const more[][4] = {{"algorithm=dm-hsgd", "batch=1000", NULL},
                                          {"algorithm=k-gt-minimax", "batch=1000", NULL},
                                          {"algorithm=vrlm", "batch=1000", NULL}};
    for (int k = 0; k < 3; k++)
        for (int rounds = 1; rounds <= 3; rounds++) {
            char mixing[32];
            snprintf(mixing, sizeof mixing, "mixing-rounds=%d", rounds);
            saddle_result *r = test_solve(
                NULL, (const char *[]){"problem=quadratic", "curvature=convex", "agents=20",
                                       "samples=4", "gap=never", "iterations=1500", mixing,
                                       more[k][0], more[k][1], "topology=ring", NULL});
            assert_at_most(r->rows[r->row_count - 1].metric, 1e-2 * r->rows[0].metric);
            saddle_result_free(r);
        }
}

/* ---- defaults and refusals ------------------------------------------------------------------- */

TEST(defaults_are_what_the_files_say)
{
    for (int which = 0; which < INSTANCES; which++)
        for (int method = 0; method < METHODS; method++) {
            test_rig r;
            slow s;
            saddle_steps steps;
            saddle_error error = {.message = ""};
            double longest;
            test_rig_open(&r, which, names[method], NULL, 1, NULL, NULL);
            slow_open(&s, &r, method);
            assert_ok(saddle_instance_steps(r.instance.made, r.instance.plan, &steps, &error),
                      error);
            saddle_configuration c = {.instance = r.instance.made, .steps = steps};
            assert_ok(saddle_longest_step(&c, method == D_ADAST ? 0 : batch_size(&s, 0), &longest,
                                          &error),
                      error);
            double x_step = fmin(steps.nu / steps.tau, longest);
            double y_step = steps.eta * steps.alpha;
            if (method == D_ADAST) {
                double a = 0.0;
                double b = 0.0;
                double *g = test_doubles(s.a.both);
                for (size_t i = 0; i < s.a.m; i++) {
                    dense_operate(&s.a, i, NULL, s.a.problem->samples[i], s.z + i * s.a.both, g);
                    for (size_t k = 0; k < s.a.both; k++)
                        *(k < s.a.x_dim ? &a : &b) += g[k] * g[k] / (double)s.a.m;
                }
                free(g);
                x_step = fmin(1.0 / steps.tau, longest) * pow(a > b ? a : b, 0.6);
                y_step = sqrt(steps.eta) * steps.alpha * pow(b > 0.0 ? b : a, 0.4);
            }
            if (method == OADSVI) {
                const saddle_spectrum *spectrum = &r.instance.made->spectrum;
                double chi = (1.0 - spectrum->lambda_m) / (1.0 - spectrum->lambda2);
                assert_ok(saddle_longest_step(&c, SADDLE_ALL_SAMPLES, &longest, &error), error);
                x_step = fmin(1.0 / steps.tau, longest / 2.0) / sqrt(9.0 * chi);
                y_step = steps.alpha / sqrt(9.0 * chi);
            }
            double rounding = method < D_ADAST ? 1e-15 : 1e-6;
            assert_near(s.a.step[0], x_step, rounding * x_step);
            assert_near(s.a.step[1], y_step, rounding * y_step);
            if (method == DREAM) {
                size_t n = 0;
                for (size_t i = 0; i < s.a.m; i++)
                    n = s.a.problem->samples[i] > n ? s.a.problem->samples[i] : n;
                double batch = (double)smaller(batch_size(&s, 0), n);
                assert_near(test_number(s.a.plan, "refresh-probability"),
                            batch / (batch + (double)n), 1e-15);
            }
            slow_close(&s);
            test_rig_close(&r);
        }
}

/* FastMix of DREAM's own K halves what agents disagree by, and that of a smaller K does not. */
TEST(dream_mixes_as_often_as_the_network_needs)
{
    static const char *const networks[][4] = {
        {"topology=ring", "agents=20", "samples=4", NULL},
        {"topology=path", "agents=7", "samples=4", "mixing=metropolis"},
        {"topology=complete", "agents=5", "samples=4", NULL}};
    for (size_t k = 0; k < 3; k++) {
        const char *more[5] = {networks[k][0], networks[k][1], networks[k][2], networks[k][3],
                               NULL};
        test_rig r;
        slow s;
        test_rig_open(&r, QUADRATIC_CONVEX_ODD, "dream", more, 1, NULL, NULL);
        slow_open(&s, &r, DREAM);
        uint64_t rounds = (uint64_t)test_number(s.a.plan, "mixing-rounds");
        double b = r.target.spectrum.lambda2;
        b = r.target.spectrum.lambda_m < -1e-9 ? 0.5 * (1.0 + b) : b;
        double most[2] = {0.0, 0.0};
        for (int e = 0; e <= 1000; e++) {
            double before = 1.0;
            double now = 1.0;
            double root = sqrt(1.0 - b * b);
            double eta = (1.0 - root) / (1.0 + root);
            for (uint64_t round = 0; round < rounds; round++) {
                double next = (1.0 + eta) * (b * e / 1000.0) * now - eta * before;
                before = now;
                now = next;
            }
            most[0] = fmax(most[0], fabs(before));
            most[1] = fmax(most[1], fabs(now));
        }
        assert_at_most(most[1], 0.501);
        ck_assert(rounds == 1 || most[0] > 0.499);
        slow_close(&s);
        test_rig_close(&r);
    }
}

TEST(paper_steps_are_those_of_the_authors)
{
    static const struct {
        const char *name;
        double x, y;
        uint64_t batch;
    } paper[] = {{"dgda-vr", 0.01, 0.1, 32},
                 {"dm-hsgd", 0.01, 0.1, 10},
                 {"dream", 0.1, 1.0, 1},
                 {"vrlm", 0.1, 0.1, 1}};
    static const char *const more[] = {"steps=paper", NULL};
    for (size_t k = 0; k < sizeof paper / sizeof *paper; k++) {
        test_rig r;
        test_rig_open(&r, QUADRATIC_CONVEX_ODD, paper[k].name, more, 1, NULL, NULL);
        ck_assert(r.steps.eta_x == paper[k].x && r.steps.eta_y == paper[k].y);
        ck_assert_uint_eq(r.steps.batch, paper[k].batch);
        ck_assert(strcmp(paper[k].name, "dgda-vr") != 0 || r.steps.q == 32);
        test_rig_close(&r);
    }
    static const char *const storm[] = {"steps=paper", "estimator=storm", NULL};
    for (int k = 0; k < 2; k++) {
        test_rig r;
        slow s;
        test_rig_open(&r, QUADRATIC_CONVEX_ODD, "vrlm", k == 0 ? more : storm, 1, NULL, NULL);
        slow_open(&s, &r, VRLM);
        ck_assert(test_number(s.a.plan, "first-batch") == 100.0);
        ck_assert(test_number(s.a.plan, "multiplier-step") == 0.001 * 0.1);
        ck_assert(k == 1 || (r.steps.q == 100 && test_number(s.a.plan, "refresh-size") == 100.0));
        ck_assert(k == 0 || (test_number(s.a.plan, "beta-x") == 0.01 &&
                             test_number(s.a.plan, "beta-y") == 0.01));
        slow_close(&s);
        test_rig_close(&r);
    }
}

/* The time of an iteration is proportional to K: here well below a second, and not more than ten minutes. */
TEST(many_rounds_of_mixing_take_no_longer_each)
{
    static const char *const assignment[] = {
        "problem=quadratic", "samples=4",    "algorithm=dgda-vr", "topology=ring",
        "mixing-rounds=1e5", "iterations=1", "gap=never",         NULL};
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_result *result = NULL;
    alarm(600);
    assert_ok(saddle_solve(NULL, plan, &result, &error), error);
    saddle_result_free(result);
    test_plan_free(plan);
}

/* Runs a plan that must be refused, with a message that contains `part`. */
static void refuse(const char *const *assignment, const char *part)
{
    saddle_error error = {.message = ""};
    saddle_plan *plan = test_plan(NULL, assignment);
    saddle_result *result = NULL;
    saddle_status status = saddle_solve(NULL, plan, &result, &error);
    ck_assert_msg(status != SADDLE_OK && strstr(error.message, part) != NULL, "'%s', not '%s'",
                  error.message, part);
    test_plan_free(plan);
}

/* Where a loss is not convex in x, by an eigenvalue below 0, the theorem of OADSVI says nothing. The quadratic has one
 * if its curvature is nonconvex. */
TEST(steps_of_a_theorem_need_a_convex_loss)
{
    for (int seed = 1; seed <= 5; seed++) {
        char seeded[24];
        snprintf(seeded, sizeof seeded, "seed=%d", seed);
        refuse(
            (const char *[]){"problem=quadratic", "algorithm=oadsvi", "steps=theory", seeded, NULL},
            "convex in x");
        refuse((const char *[]){"problem=quadratic", "algorithm=oadsvi", "steps=paper",
                                "x-set=box:-2:2", "x-dim=3", "y-dim=2", seeded, NULL},
               "a curvature of -");
        saddle_result_free(test_solve(
            NULL, (const char *[]){"problem=quadratic", "curvature=convex", "algorithm=oadsvi",
                                   "steps=theory", "iterations=2", "gap=never", seeded, NULL}));
        saddle_result_free(
            test_solve(NULL, (const char *[]){"problem=quadratic", "algorithm=oadsvi",
                                              "iterations=2", "gap=never", seeded, NULL}));
    }
}

/* D-AdaST's agents lie apart by what a step moves them and mixing leaves; steps become shorter. Compressed messages mix
 * less, so that they lie further apart, but no less so in the long run: the sums a and b lose nothing. */
TEST(compressed_steps_of_d_adast_bring_agents_together)
{
    static const char *const rule[] = {"compress=none", "compress=top:0.25", "compress=random:0.5",
                                       "compress=quantize:4"};
    for (size_t k = 0; k < sizeof rule / sizeof *rule; k++) {
        double apart[2];
        for (int t = 0; t < 2; t++) {
            saddle_result *r =
                test_solve(NULL, (const char *[]){"problem=quadratic", "curvature=convex",
                                                  "algorithm=d-adast", "samples=5", "batch=5",
                                                  t == 0 ? "iterations=2000" : "iterations=8000",
                                                  "gap=never", "trace-every=2000", rule[k], NULL});
            const saddle_row *row = &r->rows[r->row_count - 1];
            apart[t] = row->x_consensus + row->y_consensus;
            saddle_result_free(r);
        }
        assert_at_most(apart[1], apart[0] / 3.0);
    }
}

TEST(what_cannot_work_is_refused)
{
#define SMALL "problem=quadratic", "samples=8", "iterations=2"
    refuse((const char *[]){SMALL, "algorithm=dama", "links=lossy:0.1", NULL},
           "cannot make up for lost or late messages");
    refuse((const char *[]){SMALL, "algorithm=dama", "strategy=extra", "links=delay:2", NULL},
           "cannot make up for lost or late messages");
    refuse((const char *[]){SMALL, "algorithm=dama", "steps=paper", NULL}, "--steps");
    refuse((const char *[]){SMALL, "algorithm=k-gt-minimax", "steps=paper", NULL}, "--steps");
    refuse((const char *[]){SMALL, "algorithm=d-adast", "steps=paper", NULL}, "--steps");
    refuse((const char *[]){SMALL, "algorithm=vrlm", "links=agreed:0.1", NULL},
           "--links: the mult");
    refuse((const char *[]){SMALL, "algorithm=vrlm", "links=lossy:0.1", NULL}, "--links: the mult");
    refuse((const char *[]){SMALL, "algorithm=d-adast", "links=lossy:0.1", NULL},
           "cannot make up for lost or late messages");
    refuse((const char *[]){SMALL, "algorithm=oadsvi", "links=delay:2", NULL},
           "cannot make up for lost or late messages");
    for (int method = 0; method <= D_ADAST; method++) {
        char name[32];
        snprintf(name, sizeof name, "algorithm=%s", names[method]);
        bool has_paper = method <= VRLM && method != DAMA;
        refuse((const char *[]){SMALL, name, "steps=theory", NULL},
               has_paper ? "use practical or paper instead" : "use practical instead");
    }
}
