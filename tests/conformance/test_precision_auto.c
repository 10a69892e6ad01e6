/*
 * PRECISION-auto, and PRECISION+ with measured batches, follow their descriptions: a slow version is written here with
 * plain loops, dense matrices and one gradient per sample, only from the comments of precision_auto.c,
 * precision_plus.c, measured_batches.c and mixing_rounds.h, and compared iterate by iterate. The entries of the metric
 * H are taken from the library; test_curvature.c and test_metric.c test them.
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/precision_auto.h"
#include "core/rng.h"
#include "core/vector.h"
#include "instances.h"
#include "sets/set.h"
#include "support.h"

enum { MOST = 128, AGENTS = 32 }; /* the largest dimensions, and numbers of samples and agents */

/* One agent. Vectors are x followed by y. */
typedef struct node {
    double z[2 * MOST], tracker[2 * MOST], estimate[2 * MOST];
    double last[2 * MOST]; /* tracker of the last iteration, after mixing */
    double c[5], r[5];     /* signal, slopes, movement of x, movement of y, monotonicity */
    double tau, least, least_step, most, bound, easing;
    double error[2], sample[2], difference, since, span;
} node;

/* What a comparison must have come across. */
enum {
    DIFFERENCES,
    PARTIAL_REFRESHES,
    FREE_STEPS,  /* (3) with a full H, where x~ lies inside X */
    INNER_STEPS, /* and where it does not */
    DIAGONAL_STEPS,
    NOT_MONOTONE, /* bounds the steps to those of PRECISION */
    SHORTER_STEPS,
    EASED_STEPS,   /* the bound of steps has grown */
    MIXING_ROUNDS, /* beside the last round */
    BACK_IN_SETS,  /* mixing had left them */
    EVENTS
};

typedef struct slow {
    const saddle_instance *instance;
    const saddle_problem *problem;
    bool plus; /* PRECISION+: H = I, a fixed tau, and only the signal is followed */
    saddle_auto_part without;
    bool uniform, full;
    double h[MOST][MOST], inverse[MOST][MOST], diagonal[MOST];
    double longer; /* b: H <= b D */
    double nu, eta, alpha, most_tau, noise, share;
    double most_partial, renewed;
    size_t m, x_dim, both;
    double mixing[AGENTS][AGENTS];
    node now[AGENTS], mixed[AGENTS], next[AGENTS];
    uint64_t ifo[AGENTS];
    bool seen[EVENTS];
    double *scratch;
} slow;

static void mean_gradient(slow *s, size_t i, const uint32_t *index, size_t count, const double *z,
                          double *out)
{
    double g[2 * MOST];
    memset(out, 0, s->both * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        saddle_batch one = {.index = &index[k], .count = 1};
        saddle_problem_gradient(s->problem, i, &one, z, z + s->x_dim, g, g + s->x_dim, s->scratch);
        for (size_t c = 0; c < s->both; c++)
            out[c] += g[c] / (double)count;
    }
}

/* H from its factor or diagonal, H^-1 by elimination (H is positive definite and needs no pivots), and b, the largest
 * sum of a row of D^-1/2 H D^-1/2. */
static void take_metric(slow *s, const saddle_curvature *measured)
{
    size_t n = s->x_dim;
    static double a[MOST][2 * MOST];
    if (measured == NULL) {
        s->uniform = true;
        s->longer = 1.0;
        for (size_t i = 0; i < n; i++)
            s->h[i][i] = s->inverse[i][i] = s->diagonal[i] = 1.0;
        return;
    }
    const saddle_metric *metric = &measured->metric;
    s->uniform = measured->uniform;
    s->full = metric->full;
    memcpy(s->diagonal, metric->diagonal, n * sizeof *s->diagonal);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = i == j && !s->full ? s->diagonal[i] : 0.0;
            for (size_t k = 0; k <= i && k <= j && s->full; k++)
                sum += metric->factor[i * (i + 1) / 2 + k] * metric->factor[j * (j + 1) / 2 + k];
            s->h[i][j] = a[i][j] = sum;
            a[i][n + j] = i == j ? 1.0 : 0.0;
        }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 2 * n; j-- > k && i != k;)
                a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < n; j++) {
            s->inverse[i][j] = a[i][n + j] / a[i][i];
            sum += fabs(s->h[i][j]) / sqrt(s->diagonal[i]) / sqrt(s->diagonal[j]);
        }
        s->longer = fmax(s->longer, sum);
    }
}

/* Returns a'Qb for a matrix of x. */
static double product(const slow *s, double (*q)[MOST], const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->x_dim; i++)
        for (size_t j = 0; j < s->x_dim; j++)
            sum += a[i] * q[i][j] * b[j];
    return sum;
}

/* Returns |a - b|^2 in a matrix of x, and in y. */
static double x_part2(const slow *s, double (*q)[MOST], const double *a, const double *b)
{
    double difference[MOST];
    for (size_t k = 0; k < s->x_dim; k++)
        difference[k] = a[k] - b[k];
    return product(s, q, difference, difference);
}

static double y_part2(const slow *s, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = s->x_dim; k < s->both; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

static void mix(const slow *s, size_t i, size_t offset, size_t count, double *out)
{
    for (size_t k = 0; k < count; k++) {
        out[k] = 0.0;
        for (size_t j = 0; j < s->m; j++)
            out[k] += s->mixing[i][j] * ((const double *)&s->mixed[j])[offset + k];
    }
}

/* Applies T(rho(M)) / T(rho(1)) to some numbers of all agents, where T is Chebyshev's polynomial of a degree, and rho
 * maps [a, b], the eigenvalues of M other than 1, to [-1, 1]. */
static void mix_by_polynomial(slow *s, int degree, size_t offset, size_t count)
{
    double a = (double)(float)s->instance->spectrum.lambda_m;
    double b = 1.0 - (double)(float)(1.0 - s->instance->spectrum.lambda2);
    double size = cosh(degree * acosh((2.0 - a - b) / (b - a)));
    for (size_t k = 0; k < count && degree > 0; k++) {
        double t[3][AGENTS] = {{0.0}};
        double reference =
            ((const double *)&s->now[0])[offset + k]; /* equal numbers stay as they are */
        for (size_t i = 0; i < s->m; i++)
            t[1][i] = ((const double *)&s->now[i])[offset + k] - reference;
        for (int r = 1; r <= degree; r++) {
            for (size_t i = 0; i < s->m; i++) {
                double rho = -(a + b) / (b - a) * t[1][i];
                for (size_t j = 0; j < s->m; j++)
                    rho += 2.0 / (b - a) * s->mixing[i][j] * t[1][j];
                t[2][i] = r == 1 ? rho : 2.0 * rho - t[0][i];
            }
            memcpy(t[0], t[1], sizeof t[0]);
            memcpy(t[1], t[2], sizeof t[1]);
        }
        for (size_t i = 0; i < s->m; i++)
            ((double *)&s->mixed[i])[offset + k] = reference + t[1][i] / size;
    }
}

/* The fewest rounds by which a polynomial of this degree reduces differences to 0.3, at most 100. */
static int rounds_of(const slow *s)
{
    double a = (double)(float)s->instance->spectrum.lambda_m;
    double b = 1.0 - (double)(float)(1.0 - s->instance->spectrum.lambda2);
    int count = 1;
    while (b > a && b < 1.0 && count < 100 && s->without != WITHOUT_MIXING &&
           cosh(count * acosh((2.0 - a - b) / (b - a))) < 1.0 / 0.3)
        count++;
    return count;
}

/* The numbers whose network means are followed, or the agent's own where these are not positive or may be rounding. */
static const double *followed(const slow *s, const node *n)
{
    if (s->plus)
        return n->c[0] > 1e-13 * n->most ? n->c : n->r;
    return n->c[0] > 1e-14 * n->most && n->c[1] > 0.0 && n->c[2] > 0.0 ? n->c : n->r;
}

static void follow_mean(double *mean, double number, double weight)
{
    *mean = *mean == 0.0 ? number : (1.0 - weight) * *mean + weight * number;
}

/* The step s is the largest with s^2 A <= share^2 C + share s B / (eta alpha), by bisection; at most 1.1 times the
 * last. */
static double curvature_step(const slow *s, const node *n, const double *f)
{
    double most = 1.1 * s->nu / n->tau;
    double low = 0.0;
    double high = most;
    double b = fmax(f[3], 0.0) / (s->eta * s->alpha);
#define FITS(step) (f[1] * ((step) * (step)) <= s->share * (s->share * f[2] + b * (step)))
    if (FITS(most))
        return most;
    for (int k = 0; k < 200; k++) {
        double middle = 0.5 * (low + high);
        if (FITS(middle))
            low = middle;
        else
            high = middle;
    }
#undef FITS
    return low;
}

/* When the signal has grown a hundredfold, and by more than steps have, steps are at most an eighth of what they were;
 * this bound then grows by 0.025 in an iteration, and by a sixteenth of that each time. Where H = I and F is not
 * monotone along the path, steps are at most those of PRECISION. */
static double next_tau(slow *s, node *n)
{
    const double *f = followed(s, n);
    if (s->plus) {
        n->most = fmax(n->most, f[0]);
        return n->tau;
    }
    if (!(f[1] > 0.0) || !(f[2] > 0.0))
        return n->tau;
    double last = s->nu / n->tau;
    double step = curvature_step(s, n, f);
    double now = fmin(step, last);
    n->most = fmax(n->most, f[0]);
    bool shorter = false;
    if (n->least == 0.0 || f[0] < n->least) {
        n->least = fmax(f[0], 1e-16 * n->most);
        n->least_step = now;
    }
    if (s->without != WITHOUT_BOUND && f[0] > 100.0 * n->least &&
        f[0] / now > 100.0 * n->least / n->least_step) {
        n->least = f[0];
        n->least_step = n->bound = now / 8.0;
        n->easing = n->easing == 0.0 ? 0.025 : n->easing / 16.0;
        s->seen[SHORTER_STEPS] = shorter = true;
    }
    if (!shorter && isfinite(n->bound)) {
        n->bound *= 1.0 + n->easing;
        s->seen[EASED_STEPS] = s->seen[EASED_STEPS] || n->easing > 0.0;
    }
    if (s->uniform && f[4] < 0.0) {
        n->bound = fmin(n->bound, s->nu / s->most_tau);
        s->seen[NOT_MONOTONE] = s->seen[NOT_MONOTONE] || step > n->bound;
    }
    return s->nu / fmin(step, n->bound);
}

/* Draws a batch in two halves: the samples at odd places of the first half are exchanged with those at the same
 * distance from the end. */
static void draw(const slow *s, size_t i, saddle_purpose purpose, uint64_t t, size_t count,
                 uint32_t *out)
{
    size_t n = s->problem->samples[i];
    for (size_t k = 0; k < n; k++)
        out[k] = (uint32_t)k;
    if (count == n)
        return;
    saddle_rng rng;
    uint64_t mark[8] = {0};
    saddle_rng_init(&rng, s->instance->seed, purpose, i, t);
    saddle_rng_choose(&rng, n, count, out, mark);
    for (size_t k = 1; k < count / 2; k += 2) {
        uint32_t kept = out[k];
        out[k] = out[count - 1 - k];
        out[count - 1 - k] = kept;
    }
}

/* The variance of one sample from the means over two halves: E |a - b|^2 = s (1/h + 1/(count - h)). */
static void variances(slow *s, const double *a, const double *b, double count, double out[2])
{
    double half = floor(count / 2.0);
    out[0] = x_part2(s, s->inverse, a, b) / (1.0 / half + 1.0 / (count - half));
    out[1] = y_part2(s, a, b) / (1.0 / half + 1.0 / (count - half));
}

/* The same from the mean over ceil(sqrt(n)) samples, at least two, and that over all: E |a - b|^2 = s (1/count - 1/n).
 * Returns the number of samples. */
static uint64_t full_variances(slow *s, size_t i, uint64_t t, const double *z, double out[2])
{
    size_t n = s->problem->samples[i];
    size_t count = (size_t)fmax(2.0, ceil(sqrt((double)n)));
    uint32_t index[MOST];
    double some[2 * MOST];
    double all[2 * MOST];
    out[0] = out[1] = 0.0;
    if (count >= n)
        return 0;
    draw(s, i, SADDLE_RNG_REFRESH, 0, n, index);
    mean_gradient(s, i, index, n, z, all);
    saddle_rng rng;
    uint64_t mark[8] = {0};
    saddle_rng_init(&rng, s->instance->seed, SADDLE_RNG_PILOT, i, t);
    saddle_rng_choose(&rng, n, count, index, mark);
    mean_gradient(s, i, index, count, z, some);
    double rest = 1.0 / (double)count - 1.0 / (double)n;
    out[0] = x_part2(s, s->inverse, some, all) / rest;
    out[1] = y_part2(s, some, all) / rest;
    return count;
}

/* Between z0, where the last estimates were made, and next->z. */
static void estimate(slow *s, size_t i, uint64_t t, double reach, const double *tilde)
{
    const node *now = &s->mixed[i];
    const double *z0 = s->now[i].z;
    node *next = &s->next[i];
    double n = (double)s->problem->samples[i];
    next->since = now->since + (s->m > 1 ? 1.0 : 0.0);
    double ax = s->nu / next->tau;
    double ay = s->eta * s->alpha;
    double signal = followed(s, next)[0] > 0.0 ? followed(s, next)[0] : reach;
    double mixed = 1.0 / (double)s->m + s->renewed / fmax(1.0, now->span);
    double limit = s->noise * signal / fmin(s->renewed, mixed);
    double of_sample = ax * now->sample[0] + ay * now->sample[1];
    double of_difference = now->difference * reach;
    double refresh = of_sample > 0.0 ? 1.0 / (limit / (2.0 * of_sample) + 1.0 / n) : n;
    refresh = fmin(n, fmax(2.0, ceil(fmax(refresh, sqrt(n)))));
    if (refresh > s->most_partial * n)
        refresh = n;
    double batch = sqrt(refresh * of_difference / limit);
    batch = fmin(n, fmax(2.0, ceil(isnan(batch) ? sqrt(n) / 8.0 : fmax(batch, sqrt(n) / 8.0))));
    double error = ax * now->error[0] + ay * now->error[1] + of_difference / batch;
    bool refreshes = n <= 4.0 || 2.0 * batch >= refresh || !(error <= limit);
    double count = refreshes ? refresh : batch;
    size_t half = count > 1.0 ? (size_t)count / 2 : 1;
    uint32_t index[MOST];
    double g[2][2 * MOST] = {{0.0}};
    double before[2 * MOST];
    draw(s, i, refreshes ? SADDLE_RNG_REFRESH : SADDLE_RNG_BATCH, t + 1, (size_t)count, index);
    mean_gradient(s, i, index, half, next->z, g[0]);
    if (count > 1.0)
        mean_gradient(s, i, index + half, (size_t)count - half, next->z, g[1]);
    s->ifo[i] += (uint64_t)count * (refreshes ? 1 : 2);
    if (!refreshes) {
        mean_gradient(s, i, index, half, z0, before);
        for (size_t k = 0; k < s->both; k++)
            g[0][k] -= before[k];
        mean_gradient(s, i, index + half, (size_t)count - half, z0, before);
        for (size_t k = 0; k < s->both; k++)
            g[1][k] -= before[k];
    }
    double of[2] = {0.0, 0.0};
    if (count < n)
        variances(s, g[0], g[1], count, of);
    else
        s->ifo[i] += full_variances(s, i, t + 1, next->z, of);
    const double zero[2 * MOST] = {0.0};
    const double still2 = 256.0 * DBL_EPSILON * DBL_EPSILON;
    if (!s->plus && next->most > 0.0 && reach <= 1e-20 * next->most &&
        x_part2(s, s->h, tilde, now->z) <= still2 * x_part2(s, s->h, now->z, zero) &&
        y_part2(s, tilde, now->z) <= still2 * y_part2(s, now->z, zero)) {
        follow_mean(&next->r[0], reach, 0.2);
        return;
    }
    double slopes = product(s, s->inverse, g[0], g[1]);
    double monotone = 0.0;
    for (size_t k = 0; k < s->both; k++) {
        double mean = ((double)half * g[0][k] + (count - (double)half) * g[1][k]) / count;
        next->estimate[k] = refreshes ? mean : now->estimate[k] + mean;
        double change = (refreshes ? mean - now->estimate[k] : mean) * (next->z[k] - z0[k]);
        monotone += k < s->x_dim ? change : -change;
    }
    double rest = 1.0 / count - 1.0 / n;
    bool told = !refreshes || (rest == 0.0 && now->error[0] == 0.0 && now->error[1] == 0.0);
    if (refreshes) {
        slopes = x_part2(s, s->inverse, next->estimate, now->estimate);
        for (int y = 0; y < 2; y++) {
            follow_mean(&next->sample[y], of[y], 0.3);
            next->error[y] = rest * next->sample[y];
        }
        follow_mean(&next->span, next->since, 0.2);
        next->since = 0.0;
        s->seen[PARTIAL_REFRESHES] = s->seen[PARTIAL_REFRESHES] || count < n;
    } else {
        for (int y = 0; y < 2; y++)
            next->error[y] += rest * of[y];
        if (reach > 0.0)
            follow_mean(&next->difference, (ax * of[0] + ay * of[1]) / reach, 0.1);
        s->seen[DIFFERENCES] = true;
    }
    follow_mean(&next->r[0], reach, 0.2);
    if (told && !s->plus) {
        follow_mean(&next->r[1], slopes, 0.2);
        follow_mean(&next->r[2], x_part2(s, s->h, next->z, z0), 0.2);
        follow_mean(&next->r[3], y_part2(s, next->z, z0), 0.2);
        follow_mean(&next->r[4], monotone, 0.2);
    }
    double factor = fmin(1.0, 0.8 + 0.2 * x_part2(s, s->h, next->z, z0) / next->r[2]);
    for (int k = 1; k < 5 && !told && now->r[2] > 0.0; k++)
        next->r[k] *= factor;
}

/* (3): free where that stays in X, else ten proximal gradient steps in the metric b D; in a diagonal metric one. */
static void step_in_x(slow *s, const node *now, double tau, double *out)
{
    const saddle_prox *prox = s->instance->x_prox;
    double copy[MOST];
    bool outside = true;
    if (s->full) {
        for (size_t i = 0; i < s->x_dim; i++) {
            out[i] = now->z[i];
            for (size_t j = 0; j < s->x_dim; j++)
                out[i] -= s->inverse[i][j] * now->tracker[j] / tau;
        }
        memcpy(copy, out, s->x_dim * sizeof *copy);
        saddle_set_project(s->instance->x_set, copy, s->scratch);
        outside = memcmp(copy, out, s->x_dim * sizeof *copy) != 0;
        s->seen[outside ? INNER_STEPS : FREE_STEPS] = true;
    }
    if (outside)
        memcpy(out, now->z, s->x_dim * sizeof *out);
    for (int k = 0; k < (s->full ? 10 : 1) && outside; k++) {
        memcpy(copy, out, s->x_dim * sizeof *copy);
        for (size_t i = 0; i < s->x_dim; i++) {
            double slope = now->tracker[i];
            for (size_t j = 0; j < s->x_dim; j++)
                slope += tau * s->h[i][j] * (copy[j] - now->z[j]);
            out[i] -= slope / (tau * s->longer * s->diagonal[i]);
        }
        if (s->uniform)
            saddle_prox_apply(prox, 1.0 / tau, out, s->scratch);
        else
            saddle_prox_apply_metric(prox, 1.0 / (tau * s->longer), s->diagonal, out, s->scratch);
    }
    s->seen[DIAGONAL_STEPS] = s->seen[DIAGONAL_STEPS] || (!s->full && !s->uniform);
}

#define OFFSET(field) (offsetof(node, field) / sizeof(double))

static void step(slow *s, uint64_t t)
{
    int rounds = s->plus ? 1 : rounds_of(s);
    memcpy(s->mixed, s->now, sizeof s->mixed);
    mix_by_polynomial(s, rounds - 1, OFFSET(z), s->both);
    mix_by_polynomial(s, rounds - 1, OFFSET(tracker), s->both);
    for (int r = 1; r < rounds; r++) {
        double c[AGENTS][5];
        for (size_t i = 0; i < s->m; i++)
            mix(s, i, OFFSET(c), 5, c[i]);
        for (size_t i = 0; i < s->m; i++)
            memcpy(s->mixed[i].c, c[i], sizeof c[i]);
    }
    for (size_t i = 0; i < s->m && rounds > 1; i++) {
        double before[2 * MOST];
        memcpy(before, s->mixed[i].z, s->both * sizeof *before);
        saddle_set_project(s->instance->x_set, s->mixed[i].z, s->scratch);
        saddle_set_project(s->instance->y_set, s->mixed[i].z + s->x_dim, s->scratch);
        s->seen[MIXING_ROUNDS] = true;
        if (test_farthest(s->both, before, s->mixed[i].z) > 1e-6)
            s->seen[BACK_IN_SETS] = true;
    }
    for (size_t i = 0; i < s->m; i++) {
        const node *now = &s->mixed[i];
        node *next = &s->next[i];
        double tilde[2 * MOST];
        *next = *now;
        next->tau = next_tau(s, next);
        memcpy(next->last, now->tracker, sizeof next->last);
        step_in_x(s, now, next->tau, tilde);
        bool plain = s->plus || s->without == WITHOUT_EXTRAPOLATION;
        const double *last = plain ? now->tracker : now->last;
        for (size_t k = s->x_dim; k < s->both; k++)
            tilde[k] = now->z[k] + s->alpha * (2.0 * now->tracker[k] - last[k]);
        saddle_set_project(s->instance->y_set, tilde + s->x_dim, s->scratch);
        mix(s, i, OFFSET(z), s->both, next->z);
        for (size_t k = 0; k < s->both; k++)
            next->z[k] += (k < s->x_dim ? s->nu : s->eta) * (tilde[k] - now->z[k]);
        double reach = s->nu * next->tau * x_part2(s, s->h, tilde, now->z) +
                       s->eta / s->alpha * y_part2(s, tilde, now->z);
        estimate(s, i, t, reach, tilde);
        mix(s, i, OFFSET(tracker), s->both, next->tracker);
        for (size_t k = 0; k < s->both; k++)
            next->tracker[k] += next->estimate[k] - now->estimate[k];
        mix(s, i, OFFSET(c), 5, next->c);
        for (int k = 0; k < 5; k++)
            next->c[k] += next->r[k] - s->now[i].r[k];
    }
    memcpy(s->now, s->next, sizeof s->now);
}

/* The first refresh of PRECISION+ has ceil(sqrt(n)) samples, in two halves. */
static void begin_plus(slow *s, size_t i)
{
    node *n = &s->now[i];
    double all = (double)s->problem->samples[i];
    double count = all <= 4.0 ? all : fmin(all, fmax(2.0, ceil(sqrt(all))));
    size_t half = (size_t)count / 2;
    uint32_t index[MOST];
    double g[2][2 * MOST];
    s->ifo[i] = (uint64_t)count;
    draw(s, i, SADDLE_RNG_REFRESH, 0, (size_t)count, index);
    mean_gradient(s, i, index, (size_t)count, n->z, n->estimate);
    if (count == all) {
        s->ifo[i] += full_variances(s, i, 0, n->z, n->sample);
        return;
    }
    mean_gradient(s, i, index, half, n->z, g[0]);
    mean_gradient(s, i, index + half, (size_t)count - half, n->z, g[1]);
    variances(s, g[0], g[1], count, n->sample);
    for (int y = 0; y < 2; y++)
        n->error[y] = n->sample[y] * (1.0 / count - 1.0 / all);
}

static void begin(slow *s, const test_rig *rig, bool plus)
{
    const saddle_auto_parameters *p = rig->parameters; /* of PRECISION-auto */
    const saddle_mixing *mixing = rig->instance.made->mixing;
    memset(s, 0, sizeof *s);
    s->instance = rig->instance.made;
    s->problem = rig->instance.problem;
    s->plus = plus;
    s->without = plus ? WITHOUT_NONE : p->without;
    s->nu = rig->steps.nu;
    s->most_tau = rig->steps.tau;
    s->eta = rig->steps.eta;
    s->alpha = rig->steps.alpha;
    s->noise = plus ? 0.5 : test_number(rig->plan, "noise-share");
    s->share = test_number(rig->plan, "step-share");
    s->most_partial = plus ? 1.0 / 3.0 : 0.9;
    s->renewed = plus ? 2.0 : 1.0;
    s->m = s->problem->agents;
    s->x_dim = s->problem->x_dim;
    s->both = s->x_dim + s->problem->y_dim;
    s->scratch =
        test_doubles(saddle_problem_scratch(s->problem) + saddle_set_scratch(s->instance->y_set) +
                     saddle_prox_scratch(s->instance->x_prox));
    ck_assert_uint_le(s->m, AGENTS);
    ck_assert_uint_le(s->x_dim, MOST);
    ck_assert_uint_le(s->both, (size_t)2 * MOST);
    take_metric(s, plus ? NULL : &p->measured);
    for (size_t i = 0; i < s->m; i++) {
        node *n = &s->now[i];
        size_t samples = s->problem->samples[i];
        uint32_t index[MOST];
        ck_assert_uint_le(samples, MOST);
        s->mixing[i][i] = mixing->self_weight[i];
        for (size_t k = mixing->graph->start[i]; k < mixing->graph->start[i + 1]; k++)
            s->mixing[i][mixing->graph->neighbour[k]] = mixing->weight[k];
        draw(s, i, SADDLE_RNG_REFRESH, 0, samples, index);
        memcpy(n->z, s->instance->x0, s->x_dim * sizeof *n->z);
        memcpy(n->z + s->x_dim, s->instance->y0, (s->both - s->x_dim) * sizeof *n->z);
        n->span = ceil(sqrt((double)samples));
        n->tau = plus ? rig->steps.tau : p->first;
        n->bound = INFINITY;
        if (plus) {
            begin_plus(s, i);
        } else {
            mean_gradient(s, i, index, samples, n->z, n->estimate);
            s->ifo[i] = samples + full_variances(s, i, 0, n->z, n->sample) +
                        saddle_curvature_cost(s->problem, i, &p->measured);
        }
        /* A variance that is rounding is none. */
        double *u = n->estimate + s->x_dim;
        if (n->sample[0] <= 1e-24 * saddle_dot(s->x_dim, n->estimate, n->estimate))
            n->sample[0] = 0.0;
        if (n->sample[1] <= 1e-24 * saddle_dot(s->both - s->x_dim, u, u))
            n->sample[1] = 0.0;
        memcpy(n->tracker, n->estimate, sizeof n->tracker);
        memcpy(n->last, n->estimate, sizeof n->last);
    }
}

static void assert_same(const char *what, uint64_t t, size_t count, const double *found,
                        const double *expected)
{
    double off = test_farthest(count, found, expected);
    double size = test_largest(count, expected);
    ck_assert_msg(off <= 1e-8 * (1.0 + size), "%s at t = %llu is off by %.3g of %.3g", what,
                  (unsigned long long)t, off, size);
}

/* Runs both and compares them; adds what there was. */
static void follow(int which, bool plus, const char *const *more, uint64_t iterations,
                   bool seen[EVENTS])
{
    test_rig rig;
    test_rig_open(&rig, which, plus ? "precision+" : "precision-auto", more, 1, NULL, NULL);
    slow *s = malloc(sizeof *s);
    ck_assert_ptr_nonnull(s);
    begin(s, &rig, plus);
    test_state found;
    test_state_make(&found, s->problem);
    for (uint64_t t = 0;; t++) {
        test_state_copy(&rig, &found);
        for (size_t i = 0; i < s->m; i++) {
            const node *n = &s->now[i];
            size_t y_dim = s->both - s->x_dim;
            assert_same("x", t, s->x_dim, found.x + i * s->x_dim, n->z);
            assert_same("y", t, y_dim, found.y + i * y_dim, n->z + s->x_dim);
            assert_same("v", t, s->x_dim, found.v + i * s->x_dim, n->estimate);
            assert_same("u", t, y_dim, found.u + i * y_dim, n->estimate + s->x_dim);
            ck_assert_uint_eq(found.ifo[i], s->ifo[i]);
        }
        if (t == iterations)
            break;
        ck_assert_int_eq(test_rig_advance(&rig, 1).kind, SADDLE_FAULT_NONE);
        step(s, t);
    }
    for (int k = 0; k < EVENTS; k++)
        seen[k] = seen[k] || s->seen[k];
    test_state_free(&found);
    free(s->scratch);
    free(s);
    test_rig_close(&rig);
}

static const char *const variants[][3] = {
    {NULL},
    {"noise-share=20", NULL},
    {"noise-share=1000", "step-share=0.02", NULL},
    {"noise-share=1e-300", NULL},
    {"nu=0.05", "eta=0.02", NULL},
    {"hessian=full", NULL},
    {"hessian=diagonal", NULL},
    {"hessian=none", NULL},
    {"x-set=none", "regularizer=none", NULL},
    {"x-set=l2-ball:0.3", "regularizer=none", NULL},
    {"x-set=l2-ball:0.3", "hessian=diagonal", NULL},
    {"step-share=1", NULL},
    {"topology=path", "mixing=metropolis", NULL},
    {"without=extrapolation", NULL},
    {"topology=path", "without=mixing", NULL},
    {"without=bound", "step-share=1", NULL},
};

TEST_LOOP(it_follows_its_rules, 0, INSTANCES)
{
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        bool seen[EVENTS] = {false};
        follow(_i, false, variants[v], TEST_SLOWDOWN > 1 ? 12 : 40, seen);
    }
}

TEST_LOOP(precision_plus_follows_its_rules, 0, INSTANCES)
{
    static const char *const more[][4] = {
        {NULL}, {"nu=0.05", "eta=0.02", "tau=3", NULL}, {"regularizer=none", NULL}};
    for (size_t v = 0; v < sizeof more / sizeof *more; v++) {
        bool seen[EVENTS] = {false};
        follow(_i, true, more[v], TEST_SLOWDOWN > 1 ? 12 : 40, seen);
    }
}

/* 64 samples of an agent for delta and as many for a y with fewer entries, 11 evaluations of 8 for the test of one
 * score; two of 2048 for the metric; 256 for the first estimates. */
TEST(the_start_takes_few_samples)
{
    static const struct {
        int which;
        const char *more[4];
        uint64_t ifo;
    } starts[] = {{QUADRATIC_NONCONVEX, {"samples=1000", "agents=2"}, 64 + 88 + 256},
                  {QUADRATIC_NONCONVEX, {"samples=50", "agents=2"}, 50 + 88 + 50 + 8},
                  {QUADRATIC_NONCONVEX, {"samples=1000", "hessian=none"}, 256},
                  {AUC_LINEAR_SPARSE_UNEQUAL,
                   {"data=synthetic:5000:5", "agents=1", "samples=5000"},
                   64 + 88 + 64 + 4096 + 256},
                  {REGRESSION_SQUARE_SPARSE_UNEQUAL,
                   {"data=synthetic:2500:5", "agents=1", "samples=2500"},
                   64 + 88 + 2500 + 4096 + 256}};
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        test_rig rig;
        test_state found;
        test_rig_open(&rig, starts[k].which, "precision-auto", starts[k].more, 1, NULL, NULL);
        test_state_make(&found, rig.instance.made->problem);
        test_state_copy(&rig, &found);
        ck_assert_uint_eq(found.ifo[0], starts[k].ifo);
        test_state_free(&found);
        test_rig_close(&rig);
    }
}

TEST(everything_is_compared)
{
    static const char *const name[EVENTS] = {
        "difference",     "refresh from a part of the samples",
        "free step in H", "step in H that leaves X",
        "step in D",      "step that is bounded for want of monotonicity",
        "shortened step", "step whose bound has grown",
        "mixing round",   "iterate that mixing moved out of its set"};
    static const struct {
        int which;
        const char *more[3];
    } rich[] = {{FAIR_DENSE_UNEQUAL, {NULL}}, /* differences, refreshes, free and inner steps */
                {FAIR_DENSE_UNEQUAL, {"hessian=diagonal"}},
                {FAIR_MLP_DENSE, {NULL}}, /* not monotone */
                /* shortened, with a bound that grows */
                {AUC_LINEAR_SPARSE_UNEQUAL, {"step-share=1", "noise-share=50"}},
                {QUADRATIC_BALL, {"x-set=box:-0.1:0.1", "topology=star"}}}; /* out of X and back */
    bool seen[EVENTS] = {false};
    for (size_t k = 0; k < sizeof rich / sizeof *rich; k++)
        follow(rich[k].which, false, rich[k].more, k == 3 ? 100 : 40, seen);
    for (int k = 0; k < EVENTS; k++)
        ck_assert_msg(seen[k], "there is no %s", name[k]);
    bool plus[EVENTS] = {false};
    follow(LOGISTIC_BOX_SPARSE, true, (const char *const[]){NULL}, 40, plus);
    ck_assert(plus[DIFFERENCES] && plus[PARTIAL_REFRESHES]);
}
