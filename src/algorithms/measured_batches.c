/*
 * Estimates with measured errors: step (7) of PRECISION-auto and, by default, of PRECISION+.
 *
 * E_x and E_y are the variances of the errors of v (in the metric H^-1) and u, and s_x, s_y those of single
 * samples' gradients. After a refresh, E = s (1/R - 1/n); a difference adds its variance over samples, D, divided by
 * |S|. Both are measured: two halves of a batch differ by their errors, and a refresh from all samples is compared with
 * one of sqrt(n). In the units of the steps, the error is N = (nu/tau) E_x + eta alpha E_y and the signal, followed
 * over the network,
 *
 *   G = mean over agents of  nu tau |x~ - x|_H^2 + (eta/alpha) |y~ - y|^2.
 *
 * An agent keeps N below limit = theta G / w. The error of a tracker, which averages over agents, is w times that of
 * one agent; w = 1/m + e/q, at most e: refreshes are independent, and the e errors that each leaves in a tracker are
 * mixed until the next one, after q iterations in which messages arrived. e = 2 counts the error of the new estimate
 * and that of the old one, which is subtracted after a part of it has gone to neighbours; e = 1 only the first. So
 *
 *   R   = 1 / (limit / (2 s) + 1/n),  s = (nu/tau) s_x + eta alpha s_y,
 *   |S| = sqrt(R D / limit), which makes differences and refreshes equally expensive,
 *
 * and the agent refreshes if N would exceed the limit, or if a refresh costs less than a difference. R is n if it would
 * be more than a part of n that the algorithm sets: a few refreshes of nearly all samples, each of which has to be
 * followed by a larger one as the movement becomes smaller, cost more than one of all.
 *
 * With a gain (--estimator kalman), the estimate after a difference is no sum of differences. With E' = E + D (1/|S| -
 * 1/n), for x and y apart,
 *
 *   v+ = v + D_S + k (g_S - v - D_S),   k = E' / (E' + s (1/|S| - 1/n)),   E+ = (1 - k) E',
 *
 * where D_S is the difference and g_S the gradient over the batch at the new point: of all weights k, this has the
 * smallest variance if both errors are independent (Kalman's gain).
 */
#include "algorithms/measured_batches.h"
#include "algorithms/noise.h"
#include "algorithms/sampling.h"
#include "core/vector.h"

/* The weights of the newest number in means over iterations: of variances of samples and of differences, and of the
 * number of iterations from one refresh to the next. */
#define LEARN 0.3
#define LEARN_DIFFERENCE 0.1
#define LEARN_SPAN 0.2
/* Batches have at least sqrt(n) / BATCH_DIVISOR samples, refreshes at least sqrt(n), and agents with at most
 * FEW_SAMPLES always refresh. */
#define BATCH_DIVISOR 8.0
#define FEW_SAMPLES 4
#define ROUNDING 1e-12

/* Returns variances of x and y in the units of the steps. */
static double in_steps(const saddle_measured *at, double x, double y)
{
    return at->x_step * x + at->y_step * y;
}

/* Returns a size that is a whole number between `least` and all samples. */
static size_t whole(double size, double least, size_t samples)
{
    double rounded = fmax(2.0, ceil(fmax(size, least)));
    return rounded < (double)samples ? (size_t)rounded : samples;
}

size_t saddle_measured_least_batch(size_t samples)
{
    return whole(0.0, sqrt((double)samples) / BATCH_DIVISOR, samples);
}

/* Returns the size of the smallest refreshes of an agent. */
static size_t least_refresh(size_t samples)
{
    return whole(0.0, sqrt((double)samples), samples);
}

/* Returns the weight of a new number with this variance beside one with `error`. */
static double gain(double error, double variance)
{
    return variance > 0.0 ? error / (error + variance) : 1.0;
}

/* Decides between a refresh and a difference, and their sizes. */
static void choose_batch(const saddle_agent *agent, const saddle_measured *at)
{
    double n = (double)at->samples;
    double signal = at->signal > 0.0 ? at->signal : at->number[REACH];
    double mixed =
        fmin(at->renewed, 1.0 / (double)agent->agents + at->renewed / fmax(1.0, at->kept[SPAN]));
    double limit = at->noise * signal / mixed;
    double of_sample = in_steps(at, at->kept[X_SAMPLE], at->kept[Y_SAMPLE]);
    double of_difference = at->kept[DIFFERENCE] * at->number[REACH];
    size_t refresh = whole(of_sample > 0.0 ? 1.0 / (limit / (2.0 * of_sample) + 1.0 / n) : n,
                           (double)least_refresh(at->samples), at->samples);
    if ((double)refresh > at->most_partial * n)
        refresh = at->samples;
    size_t batch = whole(sqrt((double)refresh * of_difference / limit),
                         (double)saddle_measured_least_batch(at->samples), at->samples);
    double error =
        in_steps(at, at->kept[X_ERROR], at->kept[Y_ERROR]) + of_difference / (double)batch;
    if (at->old != NULL)
        error *= 1.0 - gain(error, of_sample * (1.0 / (double)batch - 1.0 / n));
    bool refreshes = at->samples <= FEW_SAMPLES || 2 * batch >= refresh || !(error <= limit);
    at->number[REFRESHES] = refreshes ? 1.0 : 0.0;
    at->number[BATCH] = (double)(refreshes ? refresh : batch);
}

/* Requests the mean gradient over `count` samples, or its difference to that at the last point. */
static void request(saddle_agent *agent, const saddle_measured *at, const uint32_t *index,
                    size_t count, double *gx, double *gy)
{
    saddle_request_kind kind = at->number[REFRESHES] > 0.0 ? SADDLE_REQUEST_GRADIENT
                               : at->old != NULL           ? SADDLE_REQUEST_GRADIENT
                               : at->curvature > 0.0       ? SADDLE_REQUEST_BATCH_DIFFERENCE
                                                           : SADDLE_REQUEST_DIFFERENCE;
    if (count > 0)
        agent->request = (saddle_request){.kind = kind,
                                          .batch = {.index = index, .count = count},
                                          .x = at->x1,
                                          .y = at->y1,
                                          .x0 = at->x,
                                          .y0 = at->y,
                                          .gx = gx,
                                          .gy = gy};
}

/* Returns the number of samples that are compared with the batch, or with its other half. */
static size_t compared(const saddle_measured *at)
{
    size_t count = (size_t)at->number[BATCH];
    size_t probe = least_refresh(at->samples);
    if (count < at->samples)
        return count - count / 2;
    return probe < at->samples ? probe : 0;
}

/* Draws a batch into agent->index, so that its first half is not special: the order in which samples are drawn is not
 * quite random. Beside all samples, draws those that are compared with them. */
static void draw(saddle_agent *agent, const saddle_measured *at, uint64_t iteration)
{
    size_t count = (size_t)at->number[BATCH];
    bool all = count == at->samples;
    saddle_purpose purpose = all                           ? SADDLE_RNG_PILOT
                             : at->number[REFRESHES] > 0.0 ? SADDLE_RNG_REFRESH
                                                           : SADDLE_RNG_BATCH;
    saddle_draw(agent, purpose, iteration, all ? compared(at) : count, false);
    for (size_t k = 1; k < count / 2 && !all; k += 2) {
        uint32_t kept = agent->index[k];
        agent->index[k] = agent->index[count - 1 - k];
        agent->index[count - 1 - k] = kept;
    }
}

static void request_first(saddle_agent *agent, const saddle_measured *at)
{
    size_t count = (size_t)at->number[BATCH];
    bool all = count == at->samples;
    request(agent, at, all ? NULL : agent->index, all ? count : count / 2, at->gx, at->gy);
}

static void request_second(saddle_agent *agent, const saddle_measured *at)
{
    size_t count = (size_t)at->number[BATCH];
    request(agent, at, agent->index + (count == at->samples ? 0 : count / 2), compared(at), at->hx,
            at->hy);
}

/* Whether the gradients at the last point are needed by themselves. */
static bool looks_back(const saddle_measured *at)
{
    return at->old != NULL && !(at->number[REFRESHES] > 0.0);
}

/* Evaluates half `k` of the batch at the last point. */
static void look_back(saddle_agent *agent, const saddle_measured *at, size_t k)
{
    saddle_measured back = *at;
    back.x1 = at->x;
    back.y1 = at->y;
    back.gx = back.hx = at->old + k * (at->x_dim + at->y_dim);
    back.gy = back.hy = back.gx + at->x_dim;
    saddle_agent_evaluate(agent);
    if (k == 0)
        request_first(agent, &back);
    else
        request_second(agent, &back);
    saddle_agent_evaluate(agent);
}

void saddle_measured_begin(saddle_agent *agent, const saddle_measured *at)
{
    if (at->noise_numbers != NULL)
        saddle_noise_move(at->noise_numbers, at->number[REACH]);
    choose_batch(agent, at);
    draw(agent, at, at->next);
    request_first(agent, at);
    if (looks_back(at))
        look_back(agent, at, 0);
}

void saddle_measured_continue(saddle_agent *agent, const saddle_measured *at)
{
    request_second(agent, at);
    if (looks_back(at))
        look_back(agent, at, 1);
}

/* Replaces changes of u + c y by their mean over both halves. They are 0 except in the entries of the samples. Returns
 * the squared distance of the halves. */
static double join_entries(const uint32_t *index, size_t count, size_t half, double share,
                           const double *second, double *first)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        double *entry = &first[index[k]];
        double change = k < half ? *entry : second[index[k]];
        sum += change * change;
        *entry = (k < half ? 1.0 - share : share) * change;
    }
    return sum;
}

/* Replaces (gx, gy) by the mean over both halves of the batch; wg and wh are known. Stores the variances of one sample,
 * which follow from how much the halves differ, or how much the mean over some samples differs from that over all. */
static void join_halves(const saddle_agent *agent, const saddle_measured *at, double *x_variance,
                        double *y_variance)
{
    double count = at->number[BATCH];
    double second = (double)compared(at);
    bool all = count == (double)at->samples;
    bool entries = at->curvature > 0.0 && !(at->number[REFRESHES] > 0.0);
    double first = all ? -count : count - second; /* all: E |g - h|^2 = s (1/second - 1/n) */
    double share = all ? 0.0 : second / count;
    *x_variance = *y_variance = 0.0;
    if (second == 0.0)
        return;
    double factor = 1.0 / (1.0 / first + 1.0 / second);
    *x_variance = factor * saddle_distance2(at->x_dim, at->wg, at->wh);
    *y_variance = factor * (entries ? join_entries(agent->index, (size_t)count, (size_t)first,
                                                   share, at->hy, at->gy)
                                    : saddle_distance2(at->y_dim, at->gy, at->hy));
    for (size_t k = 0; k < at->x_dim + (entries ? 0 : at->y_dim) && !all; k++)
        at->gx[k] += share * (at->hx[k] - at->gx[k]);
}

/* With a gain: joins halves at both points, updates errors and stores the gains. */
static void join_with_gain(const saddle_agent *agent, const saddle_measured *at)
{
    size_t both = at->x_dim + at->y_dim;
    double *const old[] = {at->old, at->old + both};
    double *kept = at->kept;
    double rest = 1.0 / at->number[BATCH] - 1.0 / (double)at->samples;
    double of_gradient[2];
    double of_difference[2];
    saddle_measured difference = *at;
    for (size_t k = 0; k < both; k++) {
        old[0][k] = at->gx[k] - old[0][k];
        old[1][k] = at->hx[k] - old[1][k];
    }
    difference.gx = difference.wg = old[0];
    difference.gy = old[0] + at->x_dim;
    difference.hx = difference.wh = old[1];
    difference.hy = old[1] + at->x_dim;
    join_halves(agent, &difference, &of_difference[0], &of_difference[1]);
    join_halves(agent, at, &of_gradient[0], &of_gradient[1]);
    saddle_learn(&kept[X_SAMPLE], of_gradient[0], LEARN_DIFFERENCE);
    saddle_learn(&kept[Y_SAMPLE], of_gradient[1], LEARN_DIFFERENCE);
    for (int k = 0; k < 2; k++) {
        double before = kept[X_ERROR + k] + rest * of_difference[k];
        at->number[X_GAIN + k] = gain(before, rest * kept[X_SAMPLE + k]);
        kept[X_ERROR + k] = (1.0 - at->number[X_GAIN + k]) * before;
    }
    double of_sample = in_steps(at, of_difference[0], of_difference[1]);
    if (at->number[REACH] > 0.0)
        saddle_learn(&kept[DIFFERENCE], of_sample / at->number[REACH], LEARN_DIFFERENCE);
}

void saddle_measured_finish(const saddle_agent *agent, const saddle_measured *at)
{
    double *kept = at->kept;
    double x_variance;
    double y_variance;
    /* The variance of a mean over a batch that is drawn without replacement is that of a sample times this. */
    double rest = 1.0 / at->number[BATCH] - 1.0 / (double)at->samples;
    kept[SINCE] += agent->degree > 0 ? 1.0 : 0.0;
    if (looks_back(at)) {
        join_with_gain(agent, at);
        return;
    }
    if (at->metric != NULL) {
        saddle_metric_whiten(at->metric, at->gx, at->wg);
        saddle_metric_whiten(at->metric, at->hx, at->wh);
    }
    join_halves(agent, at, &x_variance, &y_variance);
    if (!(at->number[REFRESHES] > 0.0)) {
        kept[X_ERROR] += rest * x_variance;
        kept[Y_ERROR] += rest * y_variance;
        double of_sample = in_steps(at, x_variance, y_variance);
        if (at->number[REACH] > 0.0)
            saddle_learn(&kept[DIFFERENCE], of_sample / at->number[REACH], LEARN_DIFFERENCE);
        return;
    }
    saddle_learn(&kept[X_SAMPLE], x_variance, LEARN);
    saddle_learn(&kept[Y_SAMPLE], y_variance, LEARN);
    double before = in_steps(at, kept[X_ERROR], kept[Y_ERROR]);
    kept[X_ERROR] = rest * kept[X_SAMPLE];
    kept[Y_ERROR] = rest * kept[Y_SAMPLE];
    double after = in_steps(at, kept[X_ERROR], kept[Y_ERROR]);
    if (at->noise_numbers != NULL)
        saddle_noise_refresh(at->noise_numbers, 0.5 * (before + after),
                             &(saddle_noise_point){.iteration = agent->iteration + 1,
                                                   .agent = agent->id,
                                                   .agents = agent->agents,
                                                   .x_dim = at->x_dim,
                                                   .y_dim = at->y_dim,
                                                   .x = at->metric == NULL ? at->x1 : NULL,
                                                   .y = at->y1,
                                                   .x_step = at->x_step,
                                                   .y_step = at->y_step});
    saddle_learn(&kept[SPAN], kept[SINCE], LEARN_SPAN);
    kept[SINCE] = 0.0;
}

/* Returns a variance, or 0 if it is rounding of numbers of this squared size: means over iterations begin with the
 * first that is not 0. */
static double beyond_rounding(double variance, double size2)
{
    return variance > ROUNDING * ROUNDING * size2 ? variance : 0.0;
}

void saddle_measured_start(saddle_agent *agent, const saddle_measured *at, size_t count)
{
    bool all = at->samples <= FEW_SAMPLES || at->samples < count;
    at->number[BATCH] =
        (double)(all ? at->samples : saddle_larger(count, least_refresh(at->samples)));
    at->number[REFRESHES] = 1.0;
    draw(agent, at, agent->iteration);
    request_first(agent, at);
    saddle_agent_evaluate(agent);
    request_second(agent, at);
    saddle_agent_evaluate(agent);
    saddle_measured first = *at;
    first.noise_numbers = NULL;
    saddle_measured_finish(agent, &first);
    const double *gx = at->metric != NULL ? at->wg : at->gx;
    at->kept[X_SAMPLE] = beyond_rounding(at->kept[X_SAMPLE], saddle_norm2(at->x_dim, gx));
    at->kept[Y_SAMPLE] = beyond_rounding(at->kept[Y_SAMPLE], saddle_norm2(at->y_dim, at->gy));
    at->kept[SPAN] = ceil(sqrt((double)at->samples)); /* the paper's q */
}
