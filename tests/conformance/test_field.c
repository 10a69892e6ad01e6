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
#include "instances.h"
#include "support.h"

enum { DGDA_VR, DM_HSGD, DAMA, DREAM, VRLM, K_GT, D_ADAST, OADSVI, METHODS };
static const char *const names[METHODS] = {"dgda-vr", "dm-hsgd",      "dama",    "dream",
                                           "vrlm",    "k-gt-minimax", "d-adast", "oadsvi"};

enum { MOST_SAMPLES = 256 };

/* ---- slow versions --------------------------------------------------------------------------- */

/* Vectors of all agents, agent after agent; z = (x, y), operators are (grad_x, -grad_y). */
typedef struct slow {
    test_rig *rig;
    saddle_plan *plan; /* with every auto of the algorithm replaced */
    const saddle_problem *problem;
    int method;
    size_t m, x_dim, y_dim, both;
    double *mixing; /* what takes the place of M, m x m */
    double step[2]; /* of x and y */
    double *z, *z_before;
    double *g, *g_before;
    double *p; /* trackers, or what is projected */
    double *n,
        *c; /* K-GT: published points, corrections; VRLM: c is the sum of all iterates; OADSVI: e is c */
    double *mean;    /* K-GT: mean estimates */
    double *squares; /* D-AdaST: a and b of every agent, before mixing */
    uint64_t *ifo;
    double *scratch;
} slow;

static const char *word(const slow *s, const char *name)
{
    return test_text(s->plan, name);
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

static bool has_rounds(const slow *s)
{
    return s->method <= DREAM;
}

static double *rows(const slow *s, const double *v)
{
    double *result = test_doubles(s->m * s->both);
    if (v != NULL)
        memcpy(result, v, s->m * s->both * sizeof *result);
    return result;
}

static double step_of(const slow *s, size_t k)
{
    return s->step[k % s->both < s->x_dim ? 0 : 1];
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

/* Returns Chebyshev's polynomial of degree K, by its numbers c_r, or what exact diffusion makes of it. */
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
    const saddle_instance *e = &s->rig->target;
    size_t m = s->m;
    double *once = test_doubles(m * m);
    for (size_t k = 0; k < m * m; k++)
        once[k] = test_weight(e->mixing, k / m, k % m);
    bool one_vector = s->method == DAMA && !is(s, "strategy", "tracking");
    uint64_t rounds = has_rounds(s) ? (uint64_t)test_number(s->plan, "mixing-rounds") : 1;
    double a = (double)(float)e->spectrum.lambda_m;
    double b = 1.0 - (double)(float)(1.0 - e->spectrum.lambda2);
    double *none = test_doubles(m * m);
    double *result;
    bool halved =
        (s->method == DREAM || (one_vector && rounds == 1)) && e->spectrum.lambda_m < -1e-9;
    for (size_t k = 0; k < m * m && halved; k++)
        once[k] = 0.5 * (once[k] + (k % (m + 1) == 0 ? 1.0 : 0.0));
    if (s->method == DREAM) {
        b = (double)(float)e->spectrum.lambda2;
        result = fast_mix(m, once, halved ? 0.5 * (1.0 + b) : b > 0.0 ? b : 0.0, rounds);
    } else if (rounds > 1 && b > a) {
        result = chebyshev(m, once, a, b, rounds, one_vector);
    } else {
        result = identity(m);
        for (uint64_t r = 0; r < rounds; r++) {
            double *power = combine(m, once, 1.0, 0.0, result, 0.0, none);
            free(result);
            result = power;
        }
    }
    free(none);
    free(once);
    return result;
}

/* Returns (matrix) (v); the caller frees it. */
static double *mixed(const slow *s, const double *v)
{
    double *out = rows(s, NULL);
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->m; j++)
            for (size_t k = 0; k < s->both; k++)
                out[i * s->both + k] += s->mixing[i * s->m + j] * v[j * s->both + k];
    return out;
}

/* The prox over X of (eta_x h) and the projection onto Y, for every agent. */
static void project(const slow *s, double *v)
{
    const saddle_instance *e = s->rig->instance.made;
    for (size_t i = 0; i < s->m; i++) {
        saddle_prox_apply(e->x_prox, s->step[0], v + i * s->both, s->scratch);
        saddle_set_project(e->y_set, v + i * s->both + s->x_dim, s->scratch);
    }
}

/* out = operator of agent i at z, over the samples, one at a time; index NULL: all. */
static void operate(slow *s, size_t i, const uint32_t *index, size_t count, const double *z,
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

/* Draws samples of agent i; returns their number, at most n_i. */
static size_t draw(const slow *s, saddle_purpose purpose, size_t i, uint64_t iteration,
                   size_t count, bool replacement, uint32_t *index)
{
    size_t n = s->problem->samples[i];
    uint64_t mark[8] = {0};
    count = count < n ? count : n;
    ck_assert_uint_le(n, MOST_SAMPLES);
    saddle_rng rng;
    saddle_rng_init(&rng, s->plan->start.seed, purpose, i, iteration);
    for (size_t k = 0; k < count; k++)
        index[k] = replacement ? (uint32_t)saddle_rng_below(&rng, n) : (uint32_t)k;
    if (!replacement && count < n)
        saddle_rng_choose(&rng, n, count, index, mark);
    return count;
}

/* |S| of agent i, which uses all if it has fewer samples. */
static size_t batch_size(const slow *s, size_t i)
{
    size_t most = 0;
    size_t batch = 2;
    for (size_t j = 0; j < s->m; j++)
        most = s->problem->samples[j] > most ? s->problem->samples[j] : most;
    while (16 * batch * batch < most)
        batch++;
    if (s->method == D_ADAST)
        for (batch = 1; batch * batch < s->problem->samples[i];)
            batch++;
    bool paper = s->plan->steps.rule == SADDLE_STEPS_PAPER;
    size_t given = (size_t)(paper ? s->rig->steps.batch : s->plan->steps.batch);
    return given > 0 ? given : batch;
}

/* Returns an own option that is a number of samples; auto: all. */
static size_t size_of(const slow *s, const char *name)
{
    double size = test_number(s->plan, name);
    return isnan(size) || size == 0.0 ? MOST_SAMPLES : (size_t)size;
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
        return next % s->rig->steps.q == 0;
    if (!tosses(s))
        return false;
    saddle_rng rng;
    saddle_rng_init(&rng, s->plan->start.seed, SADDLE_RNG_COIN, 0, next);
    return saddle_rng_uniform(&rng) < test_number(s->plan, "refresh-probability");
}

/* Replaces the estimates g, at z_before, by those of iterate `next` at z. */
static void estimate(slow *s, uint64_t next)
{
    uint32_t index[MOST_SAMPLES];
    double *h = test_doubles(s->both);
    bool sgd = estimates_by(s, "sgd");
    bool recursive = estimates_by(s, "sarah") || estimates_by(s, "page");
    bool replacement = s->plan->steps.sampling == SADDLE_WITH_REPLACEMENT;
    memcpy(s->g_before, s->g, s->m * s->both * sizeof *s->g);
    for (size_t i = 0; i < s->m; i++) {
        double *g = s->g + i * s->both;
        const double *z = s->z + i * s->both;
        const double *old = s->g_before + i * s->both;
        if (refreshes(s, next)) {
            size_t count =
                draw(s, SADDLE_RNG_REFRESH, i, next, size_of(s, "refresh-size"), false, index);
            operate(s, i, index, count, z, g);
            continue;
        }
        size_t count = draw(s, SADDLE_RNG_BATCH, i, next, batch_size(s, i), replacement, index);
        operate(s, i, index, count, z, g);
        if (sgd)
            continue;
        operate(s, i, index, count, s->z_before + i * s->both, h);
        for (size_t k = 0; k < s->both; k++) {
            double beta =
                recursive ? 0.0 : test_number(s->plan, k < s->x_dim ? "beta-x" : "beta-y");
            g[k] += (1.0 - beta) * (old[k] - h[k]);
        }
    }
    free(h);
}

static void slow_open(slow *s, test_rig *rig, int method)
{
    const saddle_instance *e = rig->instance.made;
    const saddle_problem *problem = rig->target.problem;
    saddle_error error = {.message = ""};
    uint32_t index[MOST_SAMPLES];
    *s = (slow){.rig = rig,
                .plan = test_plan(rig->plan, NULL),
                .problem = problem,
                .method = method,
                .m = problem->agents,
                .x_dim = problem->x_dim,
                .y_dim = problem->y_dim,
                .both = problem->x_dim + problem->y_dim,
                .step = {rig->steps.eta_x, rig->steps.eta_y}};
    assert_ok(saddle_plan_record_own(s->plan, rig->algorithm->options, rig->parameters, &error),
              error);
    s->scratch = test_doubles(saddle_problem_scratch(problem) + saddle_prox_scratch(e->x_prox) +
                              saddle_set_scratch(e->y_set));
    s->ifo = calloc(s->m, sizeof *s->ifo);
    ck_assert_ptr_nonnull(s->ifo);
    s->mixing = polynomial(s);
    s->z = rows(s, NULL);
    s->g = rows(s, NULL);
    for (size_t i = 0; i < s->m; i++) {
        memcpy(s->z + i * s->both, e->x0, s->x_dim * sizeof *s->z);
        memcpy(s->z + i * s->both + s->x_dim, e->y0, s->y_dim * sizeof *s->z);
        size_t count =
            s->method == D_ADAST
                ? draw(s, SADDLE_RNG_BATCH, i, 0, batch_size(s, i), false, index)
                : draw(s, SADDLE_RNG_REFRESH, i, 0, size_of(s, "first-batch"), false, index);
        operate(s, i, index, count, s->z + i * s->both, s->g + i * s->both);
    }
    s->z_before = rows(s, s->z);
    s->g_before = rows(s, NULL);
    s->p = rows(s, method == K_GT ? s->g : NULL);
    s->n = rows(s, s->z);
    s->c = rows(s, NULL);
    s->mean = rows(s, s->g);
    s->squares = test_doubles(2 * s->m);
}

static void slow_close(slow *s)
{
    double *const vector[] = {s->mixing, s->z, s->z_before, s->g,       s->g_before, s->p,
                              s->n,      s->c, s->mean,     s->squares, s->scratch};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        free(vector[k]);
    free(s->ifo);
    test_plan_free(s->plan);
}

/* Sets z to a projected point, which it frees. */
static void take(slow *s, double *point)
{
    memcpy(s->z_before, s->z, s->m * s->both * sizeof *s->z);
    memcpy(s->z, point, s->m * s->both * sizeof *s->z);
    project(s, s->z);
    free(point);
}

/* p_t = W (p_{t-1} + g_t - g_{t-1}); z+ = P(W z - step p_t) or P(W (z - step p_t)). */
static void slow_tracking(slow *s, bool twice)
{
    for (size_t k = 0; k < s->m * s->both; k++)
        s->p[k] += s->g[k] - s->g_before[k];
    double *p = mixed(s, s->p);
    memcpy(s->p, p, s->m * s->both * sizeof *p);
    double *from = rows(s, s->z);
    for (size_t k = 0; k < s->m * s->both && twice; k++)
        from[k] -= step_of(s, k) * p[k];
    double *point = mixed(s, from);
    for (size_t k = 0; k < s->m * s->both && !twice; k++)
        point[k] -= step_of(s, k) * p[k];
    free(from);
    free(p);
    take(s, point);
}

/* p+ = W (p + psi - psi_before), psi = z - step g; z+ = P(p+); at first p+ = W psi. */
static void slow_exact_diffusion(slow *s, uint64_t t)
{
    for (size_t k = 0; k < s->m * s->both; k++) {
        double psi = s->z[k] - step_of(s, k) * s->g[k];
        double before = s->z_before[k] - step_of(s, k) * s->g_before[k];
        s->p[k] = t == 0 ? psi : s->p[k] + psi - before;
    }
    double *p = mixed(s, s->p);
    memcpy(s->p, p, s->m * s->both * sizeof *p);
    take(s, p);
}

/* p+ = p + (2 W - I) z - W z_before - step (g - g_before); z+ = P(p+); at first p+ = W z - step g. */
static void slow_extra(slow *s, uint64_t t)
{
    double *z = mixed(s, s->z);
    double *before = mixed(s, s->z_before);
    for (size_t k = 0; k < s->m * s->both; k++)
        s->p[k] = t == 0 ? z[k] - step_of(s, k) * s->g[k]
                         : s->p[k] + 2.0 * z[k] - s->z[k] - before[k] -
                               step_of(s, k) * (s->g[k] - s->g_before[k]);
    free(z);
    free(before);
    take(s, rows(s, s->p));
}

/* x as by tracking; y+ = P(W y + step (u - (W - I) E)), E = (rho / step) (W - I) (sum of all y before). */
static void slow_multipliers(slow *s)
{
    size_t count = s->m * s->both;
    double rho = test_number(s->plan, "multiplier-step");
    for (size_t k = 0; k < count; k++)
        s->p[k] += s->g[k] - s->g_before[k];
    double *p = mixed(s, s->p);
    memcpy(s->p, p, count * sizeof *p);
    double *dual = mixed(s, s->c);
    for (size_t k = 0; k < count; k++)
        dual[k] = rho / s->step[1] * (dual[k] - s->c[k]);
    double *mixed_dual = mixed(s, dual);
    double *point = mixed(s, s->z);
    for (size_t k = 0; k < count; k++)
        point[k] -= k % s->both < s->x_dim ? s->step[0] * p[k]
                                           : s->step[1] * (s->g[k] + mixed_dual[k] - dual[k]);
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
    size_t count = s->m * s->both;
    uint64_t local = (uint64_t)test_number(s->plan, "local-steps");
    double *w = mixed(s, s->n);
    double *z = mixed(s, s->p);
    bool cut = false;
    const saddle_instance *e = s->rig->instance.made;
    for (size_t i = 0; i < s->m; i++) {
        saddle_set_project(e->x_set, w + i * s->both, s->scratch);
        saddle_set_project(e->y_set, w + i * s->both + s->x_dim, s->scratch);
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
            s->n[k] -= step_of(s, k) * (s->g[k] + s->c[k]);
        }
        memcpy(z, s->n, count * sizeof *z);
        project(s, s->n);
        cut = cut || memcmp(z, s->n, count * sizeof *z) != 0;
    }
    for (size_t k = 0; k < count; k++)
        s->p[k] = cut ? s->c[k] + s->mean[k] : (w[k] - s->n[k]) / ((double)local * step_of(s, k));
    memcpy(s->z, w, count * sizeof *w);
    free(w);
    free(z);
}

static void slow_adaptive(slow *s, uint64_t t)
{
    const saddle_instance *e = s->rig->instance.made;
    size_t count = s->m * s->both;
    double *step = test_doubles(2 * s->m);
    double *squares = test_doubles(2 * s->m);
    for (size_t k = 0; k < count; k++)
        s->squares[k / s->both * 2 + (k % s->both < s->x_dim ? 0 : 1)] += s->g[k] * s->g[k];
    memcpy(s->n, s->z, count * sizeof *s->n);
    for (size_t i = 0; i < s->m; i++) {
        const double *ab = s->squares + 2 * i;
        double most = ab[0] > ab[1] ? ab[0] : ab[1];
        step[2 * i] = most > 0.0 ? s->step[0] / pow(most, 0.6) : 0.0;
        step[2 * i + 1] = ab[1] > 0.0 ? s->step[1] / pow(ab[1], 0.4) : 0.0;
        for (size_t k = i * s->both; k < (i + 1) * s->both; k++)
            s->n[k] -= step[2 * i + (k % s->both < s->x_dim ? 0 : 1)] * s->g[k];
    }
    double *z = mixed(s, s->n);
    memcpy(s->z_before, s->z, count * sizeof *z);
    memcpy(s->z, z, count * sizeof *z);
    for (size_t i = 0; i < s->m; i++) {
        saddle_prox_apply(e->x_prox, step[2 * i], s->z + i * s->both, s->scratch);
        saddle_set_project(e->y_set, s->z + i * s->both + s->x_dim, s->scratch);
        for (size_t j = 0; j < s->m; j++)
            for (size_t k = 0; k < 2; k++)
                squares[2 * i + k] += s->mixing[i * s->m + j] * s->squares[2 * j + k];
    }
    memcpy(s->squares, squares, 2 * s->m * sizeof *squares);
    free(z);
    free(step);
    free(squares);
    estimate(s, t + 1);
}

/* The order of the paper: z+ = P(z - eta delta), then e+ = e - (theta / eta) (I - W) (z+ - beta eta (F(z+) - e)). */
static void slow_optimal(slow *s, uint64_t t)
{
    const saddle_instance *e = s->rig->instance.made;
    size_t count = s->m * s->both;
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
    double *point = rows(s, s->z);
    for (size_t k = 0; k < count; k++)
        point[k] -= step_of(s, k) * (s->g[k] + a * (t == 0 ? 0.0 : s->g[k] - s->g_before[k]) -
                                     s->c[k] - a * (s->c[k] - s->p[k]));
    take(s, point);
    estimate(s, t + 1);
    for (size_t k = 0; k < count; k++)
        s->n[k] = s->z[k] - beta * step_of(s, k) * (s->g[k] - s->c[k]);
    double *n = mixed(s, s->n);
    memcpy(s->p, s->c, count * sizeof *n);
    for (size_t k = 0; k < count; k++)
        s->c[k] -= theta / width / step_of(s, k) * (s->n[k] - n[k]);
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

static void assert_same(const slow *s, const char *what, uint64_t t, const double *x,
                        const double *y, const double *expected, double y_sign)
{
    double scale = 1.0 + test_largest(s->m * s->both, expected);
    for (size_t i = 0; i < s->m; i++)
        for (size_t k = 0; k < s->both; k++) {
            double found =
                k < s->x_dim ? x[i * s->x_dim + k] : y_sign * y[i * s->y_dim + k - s->x_dim];
            double off = fabs(found - expected[i * s->both + k]);
            ck_assert_msg(off <= 1e-11 * scale, "%s, %s: %s at t = %llu, agent %zu is off by %g",
                          s->rig->algorithm->name, s->rig->instance.label, what,
                          (unsigned long long)t, i, off);
        }
}

static void assert_feasible(const slow *s, const test_state *found)
{
    const saddle_instance *e = s->rig->instance.made;
    for (size_t i = 0; i < s->m; i++) {
        assert_at_most(saddle_set_distance(e->x_set, found->x + i * s->x_dim, s->scratch), 1e-12);
        assert_at_most(saddle_set_distance(e->y_set, found->y + i * s->y_dim, s->scratch), 1e-12);
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the IFO calls of agent i after t iterations. */
static uint64_t ifo_of(const slow *s, size_t i, uint64_t t)
{
    size_t n = s->problem->samples[i];
    uint64_t points = estimates_by(s, "sgd") ? 1 : 2;
    uint64_t local = s->method == K_GT ? (uint64_t)test_number(s->plan, "local-steps") : 1;
    uint64_t total =
        smaller(s->method == D_ADAST ? batch_size(s, i) : size_of(s, "first-batch"), n);
    for (uint64_t next = 1; next <= t * local; next++)
        total += refreshes(s, next) ? smaller(size_of(s, "refresh-size"), n)
                                    : points * smaller(batch_size(s, i), n);
    return total;
}

static void assert_costs(const slow *s, const test_state *found, uint64_t t)
{
    for (size_t i = 0; i < s->m; i++) {
        ck_assert_uint_eq(found->ifo[i], ifo_of(s, i, t));
        ck_assert_uint_eq(found->ifo[i], s->ifo[i]);
    }
    bool twice = s->method == DM_HSGD || s->method == DREAM;
    bool half = twice || s->method == D_ADAST || s->method == OADSVI ||
                (s->method == DAMA && !is(s, "strategy", "tracking"));
    size_t doubles = (half ? 1 : 2) * s->both + (s->method == D_ADAST ? 2 : 0);
    uint64_t links = 2 * s->rig->target.mixing->graph->edges;
    uint64_t rounds =
        has_rounds(s) ? (twice ? 2 : 1) * (uint64_t)test_number(s->plan, "mixing-rounds") : 1;
    saddle_cost cost;
    s->rig->engine->kind->cost(s->rig->engine, &cost);
    ck_assert_uint_eq(cost.rounds, t * rounds);
    ck_assert_uint_eq(cost.messages, t * rounds * links);
    ck_assert_uint_eq(cost.bytes, t * rounds * links * doubles * 8);
}

static void follow(int which, int method, const char *const *more, uint64_t iterations)
{
    test_rig r;
    slow s;
    test_state found;
    test_rig_open(&r, which, names[method], more, 2, NULL, NULL);
    slow_open(&s, &r, method);
    test_state_make(&found, s.problem);
    for (uint64_t t = 0; t <= iterations; t++) {
        test_state_copy(&r, &found);
        assert_same(&s, "iterate", t, found.x, found.y, s.z, 1.0);
        if (method != D_ADAST)
            assert_same(&s, "estimate", t, found.v, found.u, method == K_GT ? s.mean : s.g, -1.0);
        assert_feasible(&s, &found);
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
        {K_GT, {"local-steps=3", "estimator=storm", "beta-x=0.3", "beta-y=0.6", NULL}},
        {K_GT, {"local-steps=1", "mixing=metropolis", "sampling=with-replacement", NULL}},
        {K_GT, {"estimator=page", "refresh-probability=0.3", "first-batch=2", NULL}},
        {D_ADAST, {"eta-x=0.4", "eta-y=0.5", "batch=3", "topology=path", NULL}},
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

/* ---- convergence ----------------------------------------------------------------------------- */

#define RING "agents=6", "samples=12", "topology=ring", "x-dim=5", "y-dim=4", "mu=1", "lipschitz=8"

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
};
enum { EXACT = sizeof exact / sizeof *exact };

static void open_exact(test_rig *r, size_t which, const char *const *more)
{
    const char *all[16] = {RING};
    size_t count = 7;
    for (const char *const *a = exact[which].full; *a != NULL; a++)
        all[count++] = *a;
    for (const char *const *a = more; a != NULL && *a != NULL; a++)
        all[count++] = *a;
    all[count] = NULL;
    test_rig_open(r, QUADRATIC_CONVEX_ODD, exact[which].name, all, 2, NULL, NULL);
}

/* Returns the largest entry of z - prox(z - (1/m) sum_i A_i(z)) over X and Y at any agent's z. */
static double optimality_gap(test_rig *r)
{
    slow s;
    test_state found;
    slow_open(&s, r, OADSVI);
    test_state_make(&found, s.problem);
    test_state_copy(r, &found);
    double *z = rows(&s, NULL);
    double *g = test_doubles(s.both);
    for (size_t i = 0; i < s.m; i++) {
        memcpy(z + i * s.both, found.x + i * s.x_dim, s.x_dim * sizeof *z);
        memcpy(z + i * s.both + s.x_dim, found.y + i * s.y_dim, s.y_dim * sizeof *z);
    }
    double *point = rows(&s, z);
    for (size_t i = 0; i < s.m; i++)
        for (size_t j = 0; j < s.m; j++) {
            operate(&s, j, NULL, s.problem->samples[j], z + i * s.both, g);
            for (size_t k = 0; k < s.both; k++)
                point[i * s.both + k] -= g[k] / (double)s.m;
        }
    s.step[0] = 1.0;
    project(&s, point);
    double worst = test_farthest(s.m * s.both, z, point);
    free(z);
    free(g);
    free(point);
    test_state_free(&found);
    slow_close(&s);
    return worst;
}

TEST_LOOP(full_gradients_converge_linearly_without_a_bias, 0, TEST_SLOWDOWN > 1 ? 1 : EXACT)
{
    static const char *const more[][4] = {
        {NULL},
        {"x-set=l2-ball:0.5", "y-set=l1-ball:0.3", NULL},
        {"x-set=box:-0.4:0.3", "y-set=box:-inf:0.1", "regularizer=l1:0.3", NULL},
        {"mixing=metropolis", "mixing-rounds=6", NULL}};
    bool mixes = _i < 6;
    for (size_t k = 0; k < sizeof more / sizeof *more - (mixes ? 0 : 1); k++) {
        test_rig r;
        open_exact(&r, (size_t)_i, more[k]);
        ck_assert_double_gt(optimality_gap(&r), 0.01);
        double gap = optimality_gap(&r);
        while (gap > 1e-10) {
            ck_assert_int_eq(test_rig_advance(&r, 600).kind, SADDLE_FAULT_NONE);
            double next = optimality_gap(&r);
            assert_at_most(next, gap / 5.0);
            gap = next;
        }
        /* And it stays there. */
        test_rig_advance(&r, 600);
        assert_at_most(optimality_gap(&r), 1e-10);
        test_rig_close(&r);
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
                double *g = test_doubles(s.both);
                for (size_t i = 0; i < s.m; i++) {
                    operate(&s, i, NULL, s.problem->samples[i], s.z + i * s.both, g);
                    for (size_t k = 0; k < s.both; k++)
                        *(k < s.x_dim ? &a : &b) += g[k] * g[k] / (double)s.m;
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
            assert_near(s.step[0], x_step, rounding * x_step);
            assert_near(s.step[1], y_step, rounding * y_step);
            if (method == DREAM) {
                size_t n = 0;
                for (size_t i = 0; i < s.m; i++)
                    n = s.problem->samples[i] > n ? s.problem->samples[i] : n;
                double batch = (double)smaller(batch_size(&s, 0), n);
                assert_near(test_number(s.plan, "refresh-probability"), batch / (batch + (double)n),
                            1e-15);
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
        uint64_t rounds = (uint64_t)test_number(s.plan, "mixing-rounds");
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
    } paper[] = {{"dgda-vr", 0.01, 0.1, 32}, {"dm-hsgd", 0.01, 0.1, 10}, {"dream", 0.1, 1.0, 1}};
    static const char *const more[] = {"steps=paper", NULL};
    for (size_t k = 0; k < sizeof paper / sizeof *paper; k++) {
        test_rig r;
        test_rig_open(&r, QUADRATIC_CONVEX_ODD, paper[k].name, more, 1, NULL, NULL);
        ck_assert(r.steps.eta_x == paper[k].x && r.steps.eta_y == paper[k].y);
        ck_assert_uint_eq(r.steps.batch, paper[k].batch);
        ck_assert(strcmp(paper[k].name, "dgda-vr") != 0 || r.steps.q == 32);
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

TEST(what_cannot_work_is_refused)
{
#define SMALL "problem=quadratic", "samples=8", "iterations=2"
    refuse((const char *[]){SMALL, "algorithm=dama", "links=lossy:0.1", NULL},
           "cannot make up for lost or late messages");
    refuse((const char *[]){SMALL, "algorithm=dama", "strategy=extra", "links=delay:2", NULL},
           "cannot make up for lost or late messages");
    refuse((const char *[]){SMALL, "algorithm=dama", "steps=paper", NULL}, "--steps");
    refuse((const char *[]){SMALL, "algorithm=vrlm", "steps=paper", NULL}, "--steps");
    refuse((const char *[]){SMALL, "algorithm=k-gt-minimax", "steps=paper", NULL}, "--steps");
    refuse((const char *[]){SMALL, "algorithm=vrlm", "links=agreed:0.1", NULL},
           "--links: the mult");
    refuse((const char *[]){SMALL, "algorithm=vrlm", "links=lossy:0.1", NULL}, "--links: the mult");
    refuse((const char *[]){SMALL, "algorithm=d-adast", "links=lossy:0.1", NULL},
           "cannot make up for lost or late messages");
    refuse((const char *[]){SMALL, "algorithm=oadsvi", "links=delay:2", NULL},
           "cannot make up for lost or late messages");
    for (int method = 0; method < D_ADAST; method++) {
        char name[32];
        snprintf(name, sizeof name, "algorithm=%s", names[method]);
        bool has_paper = method <= DREAM && method != DAMA;
        refuse((const char *[]){SMALL, name, "steps=theory", NULL},
               has_paper ? "use practical or paper instead" : "use practical instead");
    }
}
