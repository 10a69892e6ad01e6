/*
 * Estimates with measured errors: step (7) of PRECISION-auto.
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
 * one agent; w = 1/m + 1/q: refreshes are independent, and are mixed until the next one, after q iterations. So
 *
 *   R   = 1 / (limit / (2 s) + 1/n),  s = (nu/tau) s_x + eta alpha s_y,
 *   |S| = sqrt(R D / limit), which makes differences and refreshes equally expensive,
 *
 * and the agent refreshes if N would exceed the limit, or if a refresh costs less than a difference.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "algorithms/precision_auto.h"
#include "algorithms/sampling.h"
#include "core/vector.h"

/* The weights of the newest number in means over iterations: of variances of samples and of differences, and of the
 * number of iterations from one refresh to the next. */
#define LEARN 0.3
#define LEARN_DIFFERENCE 0.1
#define LEARN_SPAN 0.2
/* Batches have at least sqrt(n) / BATCH_DIVISOR samples, refreshes at least sqrt(n), and agents with at most
 * FEW_SAMPLES always compute full gradients. A refresh of more than nearly all samples takes all. */
#define BATCH_DIVISOR 8.0
#define FEW_SAMPLES 4
#define NEARLY_ALL 0.9
/* If x and y move by a few units in the last place, estimates stay as they are: changes of their last digits would
 * add up in v and be lost in p, which is larger. This is checked only once the signal is a small part of the largest
 * one. */
#define STILL (16.0 * DBL_EPSILON)
#define SMALL 1e-20

/* Returns variances of x and y in the units of the steps. */
static double in_steps(const saddle_agent *agent, const saddle_auto_variables *at, double x,
                       double y)
{
    const saddle_steps *s = &((const saddle_auto_parameters *)agent->parameters)->steps;
    return s->nu / at->kept[TAU] * x + s->eta * s->alpha * y;
}

/* Returns a size that is a whole number between `least` and all samples. */
static size_t whole(double size, double least, size_t samples)
{
    double rounded = fmax(2.0, ceil(fmax(size, least)));
    return rounded < (double)samples ? (size_t)rounded : samples;
}

size_t saddle_auto_least_batch(size_t samples)
{
    return whole(0.0, sqrt((double)samples) / BATCH_DIVISOR, samples);
}

/* Returns whether the movement of x and of y is rounding. */
static bool is_still(const saddle_auto_variables *at)
{
    if (!(at->kept[LARGEST] > 0.0) || !(at->number[REACH] <= SMALL * at->kept[LARGEST]))
        return false;
    double x_moved = saddle_metric_distance2(at->metric, at->x_tilde, at->x, at->wg);
    double x_size = saddle_metric_distance2(at->metric, at->x, NULL, at->wg);
    return x_moved <= STILL * STILL * x_size && saddle_distance2(at->y_dim, at->y_tilde, at->y) <=
                                                    STILL * STILL * saddle_norm2(at->y_dim, at->y);
}

/* Decides between a refresh and a difference, and their sizes. */
static void choose_batch(const saddle_agent *agent, const saddle_auto_variables *at)
{
    const saddle_auto_parameters *p = agent->parameters;
    double n = (double)at->samples;
    double signal = saddle_auto_followed(at)[SIGNAL] > 0.0 ? saddle_auto_followed(at)[SIGNAL]
                                                           : at->number[REACH];
    double mixed = fmin(1.0, 1.0 / (double)agent->agents + 1.0 / fmax(1.0, at->kept[SPAN]));
    double limit = p->noise * signal / mixed;
    double of_sample = in_steps(agent, at, at->kept[X_SAMPLE], at->kept[Y_SAMPLE]);
    double of_difference = at->kept[DIFFERENCE] * at->number[REACH];
    size_t refresh = whole(of_sample > 0.0 ? 1.0 / (limit / (2.0 * of_sample) + 1.0 / n) : n,
                           sqrt(n), at->samples);
    if ((double)refresh > NEARLY_ALL * n)
        refresh = at->samples;
    size_t batch = whole(sqrt((double)refresh * of_difference / limit),
                         (double)saddle_auto_least_batch(at->samples), at->samples);
    double error =
        in_steps(agent, at, at->kept[X_ERROR], at->kept[Y_ERROR]) + of_difference / (double)batch;
    bool refreshes = at->samples <= FEW_SAMPLES || 2 * batch >= refresh || !(error <= limit);
    at->number[REFRESHES] = refreshes ? 1.0 : 0.0;
    at->number[BATCH] = (double)(refreshes ? refresh : batch);
}

/* Requests the mean gradient over `count` samples, or its difference to that at the last point. */
static void request(saddle_agent *agent, const saddle_auto_variables *at, const uint32_t *index,
                    size_t count, double *gx, double *gy)
{
    bool refreshes = at->number[REFRESHES] > 0.0;
    if (count > 0)
        agent->request = (saddle_request){.kind = refreshes ? SADDLE_REQUEST_GRADIENT
                                                            : SADDLE_REQUEST_DIFFERENCE,
                                          .batch = {.index = index, .count = count},
                                          .x = at->x1,
                                          .y = at->y1,
                                          .x0 = at->x,
                                          .y0 = at->y,
                                          .gx = gx,
                                          .gy = gy};
}

/* Returns the number of samples that are compared with the batch, or with its other half. */
static size_t compared(const saddle_auto_variables *at)
{
    size_t count = (size_t)at->number[BATCH];
    size_t probe = whole(sqrt((double)at->samples), 0.0, at->samples);
    if (count < at->samples)
        return count - count / 2;
    return probe < at->samples ? probe : 0;
}

/* Draws a batch into agent->index, so that its first half is not special: the order in which samples are drawn is not
 * quite random. Beside all samples, draws those that are compared with them. */
static void draw(saddle_agent *agent, const saddle_auto_variables *at, uint64_t iteration)
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

static void request_first(saddle_agent *agent, const saddle_auto_variables *at)
{
    size_t count = (size_t)at->number[BATCH];
    bool all = count == at->samples;
    request(agent, at, all ? NULL : agent->index, all ? count : count / 2, at->gx, at->gy);
}

static void request_second(saddle_agent *agent, const saddle_auto_variables *at)
{
    size_t count = (size_t)at->number[BATCH];
    request(agent, at, agent->index + (count == at->samples ? 0 : count / 2), compared(at), at->hx,
            at->hy);
}

void saddle_auto_begin_estimates(saddle_agent *agent)
{
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    choose_batch(agent, &at);
    draw(agent, &at, agent->iteration + 1);
    request_first(agent, &at);
}

void saddle_auto_continue_estimates(saddle_agent *agent)
{
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    request_second(agent, &at);
}

/* Replaces (gx, gy) by the mean over both halves of the batch; wg and wh are known. Stores the variances of one sample,
 * which follow from how much the halves differ, or how much the mean over some samples differs from that over all. */
static void join_halves(const saddle_auto_variables *at, double *x_variance, double *y_variance)
{
    double count = at->number[BATCH];
    double second = (double)compared(at);
    bool all = count == (double)at->samples;
    double first = all ? -count : count - second; /* all: E |g - h|^2 = s (1/second - 1/n) */
    *x_variance = *y_variance = 0.0;
    if (second == 0.0)
        return;
    double factor = 1.0 / (1.0 / first + 1.0 / second);
    *x_variance = factor * saddle_distance2(at->x_dim, at->wg, at->wh);
    *y_variance = factor * saddle_distance2(at->y_dim, at->gy, at->hy);
    for (size_t k = 0; k < at->x_dim + at->y_dim && !all; k++)
        at->gx[k] += second / count * (at->hx[k] - at->gx[k]);
}

/* Returns <dgx, x+ - x> - <dgy, y+ - y> for the difference of gradients (gx, gy) - before. NULL: it is (gx, gy). */
static double monotonicity(const saddle_auto_variables *at, const double *before)
{
    double sum = 0.0;
    for (size_t k = 0; k < at->x_dim + at->y_dim; k++) {
        double change = (at->gx[k] - (before != NULL ? before[k] : 0.0)) * (at->x1[k] - at->x[k]);
        sum += k < at->x_dim ? change : -change;
    }
    return sum;
}

double saddle_auto_finish_estimates(const saddle_agent *agent, double *monotone)
{
    const saddle_auto_variables all = saddle_auto_variables_of(agent);
    const saddle_auto_variables *at = &all;
    double *kept = at->kept;
    double x_variance;
    double y_variance;
    /* The variance of a mean over a batch that is drawn without replacement is that of a sample times this. */
    double rest = 1.0 / at->number[BATCH] - 1.0 / (double)at->samples;
    kept[SINCE] += 1.0;
    if (is_still(at)) {
        memcpy(at->gx, at->v, (at->x_dim + at->y_dim) * sizeof *at->v);
        return (double)NAN;
    }
    saddle_metric_whiten(at->metric, at->gx, at->wg);
    saddle_metric_whiten(at->metric, at->hx, at->wh);
    if (!(at->number[REFRESHES] > 0.0)) {
        double slopes = saddle_dot(at->x_dim, at->wg, at->wh);
        join_halves(at, &x_variance, &y_variance);
        *monotone = monotonicity(at, NULL);
        kept[X_ERROR] += rest * x_variance;
        kept[Y_ERROR] += rest * y_variance;
        double of_sample = in_steps(agent, at, x_variance, y_variance);
        if (at->number[REACH] > 0.0)
            saddle_auto_learn(&kept[DIFFERENCE], of_sample / at->number[REACH], LEARN_DIFFERENCE);
        saddle_axpy(at->x_dim, 1.0, at->v, at->gx);
        saddle_axpy(at->y_dim, 1.0, at->u, at->gy);
        return slopes;
    }
    bool exact = kept[X_ERROR] == 0.0 && kept[Y_ERROR] == 0.0;
    join_halves(at, &x_variance, &y_variance);
    saddle_auto_learn(&kept[X_SAMPLE], x_variance, LEARN);
    saddle_auto_learn(&kept[Y_SAMPLE], y_variance, LEARN);
    kept[X_ERROR] = rest * kept[X_SAMPLE];
    kept[Y_ERROR] = rest * kept[Y_SAMPLE];
    saddle_auto_learn(&kept[SPAN], kept[SINCE], LEARN_SPAN);
    kept[SINCE] = 0.0;
    if (!exact || rest > 0.0)
        return (double)NAN;
    *monotone = monotonicity(at, at->v);
    saddle_metric_whiten(at->metric, at->v, at->wh); /* wg is that of all samples */
    return saddle_distance2(at->x_dim, at->wg, at->wh);
}

void saddle_auto_first_estimates(saddle_agent *agent)
{
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    at.number[BATCH] = (double)at.samples;
    at.number[REFRESHES] = 1.0;
    draw(agent, &at, agent->iteration);
    request_first(agent, &at);
    saddle_agent_evaluate(agent);
    request_second(agent, &at);
    saddle_agent_evaluate(agent);
    saddle_auto_finish_estimates(agent, &(double){0.0});
    at.kept[SPAN] = ceil(sqrt((double)at.samples)); /* the paper's q */
}
