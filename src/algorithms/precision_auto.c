/*
 * PRECISION-auto at agent i: PRECISION's steps (Liu, Zhang, Lu, Liu 2023, Algorithm 1), with a tau, mini-batches and
 * refreshes that are measured during the run, in a metric H in which the units of coordinates do not matter
 * (curvature.h). With the paper's equation numbers:
 *
 *   x~ = argmin over X of  <p, x - x_t> + tau/2 |x - x_t|_H^2 + h(x)          (3)
 *   y~ = projection onto Y of  y_t + alpha (2 d - d_)                         (4)
 *   x_{t+1} = sum_j M_ij x_j + nu  (x~ - x_t)                                 (5)
 *   y_{t+1} = sum_j M_ij y_j + eta (y~ - y_t)                                 (6)
 *   (v, u)_{t+1} by a refresh from R samples, or by differences over |S|      (7)
 *   p+ = sum_j M_ij p_j + v+ - v,   d+ = sum_j M_ij d_j + u+ - u              (8)
 *
 * d_ is d of the last iteration: (4) extrapolates, as Chambolle and Pock do (JMIV 2011); PRECISION has y_t + alpha d.
 * With curvatures h and mu in x and y, a mixed derivative l and steps s and a = eta alpha, x and y rotate about the
 * solution. In an iteration their squared distance changes by a part of s a l^2 - s h - a mu with PRECISION's steps,
 * which oscillate if that is positive; here of (s a l^2)^2 - s h - a mu, up to smaller terms.
 *
 * In an iteration of K rounds (mixing_rounds.h), (x, y, p, d) and the numbers below are mixed K - 1 times before these
 * steps, and x and y are projected onto X and Y. v and u are still those at the point (x_0, y_0) of the last iteration,
 * from which differences are computed. Without this, steps would be too long for a slow network: with a gap of g
 * between the two largest eigenvalues of M and steps of s times the curvature, differences between agents decrease by a
 * part of about g^2 / s in an iteration, if all Hessians are equal and g is smaller than s.
 *
 * This is PRECISION in the coordinates H^1/2 x. H is a diagonal D or a full matrix. In the second case there is no h,
 * and (3) is exact where x~ lies inside X; elsewhere x~ is what a few proximal gradient steps give in the metric b D,
 * with a bound b such that H <= b D. They make (3) smaller, and are 0 where (3) is.
 *
 * tau. A = |difference of x-gradients over the same samples|^2, B = |y+ - y_0|^2 and C = |x+ - x_0|_H^2 are followed
 * over iterations and agents. The step s = nu / tau is the largest with s^2 A <= share^2 C + share s B / a, but grows
 * by at most a tenth per iteration: along the path s h and s a l^2 are at most the share. (For one variable this is the
 * rule of Malitsky and Mishchenko, ICML 2020.) Where F is not convex in x, that is not enough: x must be slow enough
 * for y to follow. Then <difference of x-gradients, x+ - x_0> - <difference of y-gradients, y+ - y_0> becomes negative;
 * from then on, where H = I, steps are at most those of PRECISION, with the problem's tau. And if the signal (below)
 * grows to 100 times its least value, and by more than steps have grown, steps are bounded by an eighth of what they
 * were. This bound grows slowly, and more slowly each time. An agent that cannot measure the difference in an
 * iteration, because it refreshes from some samples, keeps its last curvature: its numbers decrease by the same factor
 * as its C.
 *
 * measured_batches.c has the rule for batches. Each message has five more numbers, with which dynamic average consensus
 * follows means over agents of numbers r, here (G, A, C, B) and the monotonicity, averaged over about five iterations:
 *
 *   c+ = sum_j M_ij c_j + r+ - r.
 */
#include "algorithms/algorithms.h"

#include "algorithms/precision_auto.h"
#include "core/sizes.h"
#include "core/vector.h"
#include "sets/set.h"

/* How much a step may grow in an iteration; how much the signal per step may grow before steps become shorter, and how
 * much shorter. */
#define GROWTH 1.1
#define UNSTABLE 100.0
#define SHORTER 8.0
/* By which part their bound then grows in an iteration, and how much slower each time. */
#define FIRST_EASING 0.025
#define LESS_EASING 16.0
/* A signal that is a smaller part of the largest one may be rounding, and its growth means nothing; that of the network
 * may be rounding earlier, because mixing adds up what was rounded. */
#define ROUNDING 1e-16
#define RESOLVED 1e-14
/* If x and y move by a few units in the last place, estimates stay as they are: changes of their last digits would
 * add up in v and be lost in p, which is larger. This is checked only once the signal is a small part of the largest
 * one. */
#define STILL (16.0 * DBL_EPSILON)
#define SMALL 1e-20

/* The largest part of the samples that a partial refresh takes, and the errors that it leaves in a tracker. */
#define MOST_PARTIAL 0.9
#define RENEWED 1.0
#define FIRST 256 /* samples of the first estimates */
#define STEPS 10  /* proximal gradient steps for (3) */

/* ---- state ------------------------------------------------------------------------------------ */

static void layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    const saddle_auto_parameters *p = parameters;
    size_t x_dim = problem->x_dim;
    size_t y_dim = problem->y_dim;
    size_t both = x_dim + y_dim;
    out->rounds = p->mixing.count;
    saddle_layout_add(out, "x", x_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "y", y_dim, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "p", x_dim, SADDLE_FIELD_SUM, 0);
    saddle_layout_add(out, "d", y_dim, SADDLE_FIELD_SUM, x_dim);
    saddle_layout_add(out, "c", FOLLOWED, SADDLE_FIELD_SUM, both);
    out->kept =
        both + FOLLOWED + OWN_KEPT + MEASURED_KEPT + y_dim + (p->mixing.count > 1 ? 3 * both : 0);
    out->work = NUMBERS + 3 * both + 2 * x_dim;
}

static void view(const saddle_agent *agent, saddle_view *out)
{
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    *out = (saddle_view){.x = at.x, .y = at.y, .v = at.v, .u = at.u, .noise = at.kept + NOISE};
}

static saddle_status init(void *out, saddle_configuration *c, saddle_error *error)
{
    saddle_auto_parameters *p = out;
    SADDLE_TRY(
        saddle_curvature_measure(c->instance, p->hessian, c->steps.alpha, &p->measured, error));
    const saddle_curvature *m = &p->measured;
    p->hessian = m->uniform       ? SADDLE_CURVATURE_NONE
                 : m->metric.full ? SADDLE_CURVATURE_FULL
                                  : SADDLE_CURVATURE_DIAGONAL;
    size_t samples =
        saddle_sizes_smallest(c->instance->problem->agents, c->instance->problem->samples);
    c->steps.batch = saddle_measured_least_batch(samples);
    p->steps = c->steps;
    p->x_set = c->instance->x_set;
    saddle_mixing_rounds_choose(&p->mixing, c->instance);
    if (p->without == WITHOUT_MIXING)
        p->mixing.count = 1;
    p->first = m->uniform ? c->steps.tau
                          : c->steps.nu / p->share * (m->xx + m->xy * m->xy * c->steps.alpha);
    return SADDLE_OK;
}

static void release(void *parameters_)
{
    saddle_metric_close(&((saddle_auto_parameters *)parameters_)->measured.metric);
}

static uint64_t most_ifo(const void *p, const saddle_problem *problem)
{
    (void)p;
    uint64_t sum = 0;
    for (size_t i = 0; i < problem->agents; i++)
        sum += 2 * problem->samples[i] + saddle_curvature_cost(problem, i, NULL);
    return sum;
}

/* ---- (3) to (6) ------------------------------------------------------------------------------- */

/* Returns |a - b|_H^2. */
static double distance2(const saddle_auto_variables *at, const double *a, const double *b)
{
    return saddle_metric_distance2(at->metric, a, b, at->wg);
}

/* Returns what the network follows, or, while that is not positive everywhere, what this agent does. */
static const double *followed(const saddle_auto_variables *at)
{
    bool positive =
        at->c[SIGNAL] > RESOLVED * at->kept[LARGEST] && at->c[SLOPES] > 0.0 && at->c[X_MOVED] > 0.0;
    return positive ? at->c : at->r;
}

/* Returns the bound of the step. If `lowers`, it is lowered whenever the signal has grown too much, apart from the
 * growth that longer steps bring. */
static double bound_of_step(const saddle_auto_variables *at, double signal, double step,
                            bool lowers)
{
    double *kept = at->kept;
    kept[LARGEST] = fmax(kept[LARGEST], signal);
    if (kept[LEAST] == 0.0 || signal < kept[LEAST]) {
        kept[LEAST] = fmax(signal, ROUNDING * kept[LARGEST]);
        kept[LEAST_STEP] = step;
    }
    if (lowers && signal > UNSTABLE * kept[LEAST] * fmax(1.0, step / kept[LEAST_STEP])) {
        kept[LEAST] = signal;
        kept[LEAST_STEP] = kept[BOUND] = step / SHORTER;
        kept[EASING] = kept[EASING] > 0.0 ? kept[EASING] / LESS_EASING : FIRST_EASING;
    } else {
        kept[BOUND] *= 1.0 + kept[EASING];
    }
    return kept[BOUND] > 0.0 ? kept[BOUND] : INFINITY;
}

static void update_tau(const saddle_agent *agent, const saddle_auto_variables *at)
{
    const saddle_auto_parameters *p = agent->parameters;
    const saddle_steps *s = &p->steps;
    const double *now = followed(at);
    if (!(now[SLOPES] > 0.0) || !(now[X_MOVED] > 0.0))
        return;
    double share2 = p->share * p->share;
    double half_b = 0.5 * p->share * fmax(now[Y_MOVED], 0.0) / (s->eta * s->alpha);
    double root = sqrt(half_b * half_b + now[SLOPES] * share2 * now[X_MOVED]);
    double step = fmin(GROWTH * s->nu / at->kept[TAU], (half_b + root) / now[SLOPES]);
    double bound = bound_of_step(at, now[SIGNAL], fmin(step, s->nu / at->kept[TAU]),
                                 p->without != WITHOUT_BOUND);
    if (p->measured.uniform && now[MONOTONE] < 0.0)
        at->kept[BOUND] = bound = fmin(bound, s->nu / s->tau);
    step = fmin(step, bound);
    if (step > 0.0 && isfinite(s->nu / step))
        at->kept[TAU] = s->nu / step;
}

/* next = sum_j M_ij (field)_j + step (target - now) */
static void mix_and_move(const saddle_agent *agent, size_t offset, size_t count, double step,
                         const double *target, double *next)
{
    const double *now = agent->now + offset;
    saddle_agent_mix(agent, offset, count, next);
    for (size_t k = 0; k < count; k++)
        next[k] += step * (target[k] - now[k]);
}

/* Returns whether v lies in X, where h = 0. `copy` has space for it. */
static bool inside(const saddle_agent *agent, const double *v, double *copy)
{
    size_t x_dim = agent->problem->x_dim;
    memcpy(copy, v, x_dim * sizeof *v);
    saddle_prox_apply(agent->x_prox, 1.0, copy, agent->scratch);
    return saddle_distance2(x_dim, copy, v) == 0.0;
}

/* (3) without regard to X. Returns whether x~ lies in it. */
static bool step_freely(const saddle_agent *agent, const saddle_auto_variables *at, double tau)
{
    saddle_metric_whiten(at->metric, at->p, at->wg);
    saddle_metric_finish_solve(at->metric, at->wg, at->x_tilde);
    for (size_t k = 0; k < at->x_dim; k++)
        at->x_tilde[k] = at->x[k] - at->x_tilde[k] / tau;
    return inside(agent, at->x_tilde, at->wg);
}

/* (3) by proximal gradient steps in the metric b D, from x: one, if H = D, or STEPS. */
static void step_in_diagonal(const saddle_agent *agent, const saddle_auto_variables *at, double tau)
{
    const saddle_auto_parameters *p = agent->parameters;
    const double *diagonal = at->metric->diagonal;
    double longer = tau * at->metric->bound;
    memcpy(at->x_tilde, at->x, at->x_dim * sizeof *at->x);
    for (int step = 0; step < (at->metric->full ? STEPS : 1); step++) {
        if (step > 0)
            saddle_metric_multiply(at->metric, at->x_tilde, at->x, at->wg, at->gx);
        for (size_t k = 0; k < at->x_dim; k++) {
            double slope = at->p[k] + (step > 0 ? tau * at->gx[k] : 0.0);
            at->x_tilde[k] -= slope / (longer * diagonal[k]);
        }
        if (p->measured.uniform)
            saddle_prox_apply(agent->x_prox, 1.0 / longer, at->x_tilde, agent->scratch);
        else
            saddle_prox_apply_metric(agent->x_prox, 1.0 / longer, diagonal, at->x_tilde,
                                     agent->scratch);
    }
}

static void compute_targets(const saddle_agent *agent, const saddle_auto_variables *at)
{
    const saddle_auto_parameters *p = agent->parameters;
    double tau = at->kept[TAU];
    if (!at->metric->full || !step_freely(agent, at, tau))
        step_in_diagonal(agent, at, tau);
    const double *last = p->without == WITHOUT_EXTRAPOLATION ? at->d : at->last_d;
    for (size_t k = 0; k < at->y_dim; k++) {
        at->y_tilde[k] = at->y[k] + p->steps.alpha * (2.0 * at->d[k] - last[k]);
        at->last_d[k] = at->d[k];
    }
    saddle_set_project(agent->y_set, at->y_tilde, agent->scratch);
}

/* What measured_batches.h needs for (7). */
static saddle_measured estimates_of(const saddle_agent *agent, const saddle_auto_variables *at)
{
    const saddle_auto_parameters *p = agent->parameters;
    return (saddle_measured){.x_dim = at->x_dim,
                             .y_dim = at->y_dim,
                             .samples = at->samples,
                             .x = at->x0,
                             .y = at->y0,
                             .x1 = at->x1,
                             .y1 = at->y1,
                             .gx = at->gx,
                             .gy = at->gy,
                             .hx = at->hx,
                             .hy = at->hy,
                             .next = agent->iteration + 1,
                             .metric = at->metric,
                             .wg = at->wg,
                             .wh = at->wh,
                             .x_step = p->steps.nu / at->kept[TAU],
                             .y_step = p->steps.eta * p->steps.alpha,
                             .noise = p->noise,
                             .most_partial = MOST_PARTIAL,
                             .renewed = RENEWED,
                             .signal = followed(at)[SIGNAL],
                             .kept = at->measured,
                             .noise_numbers = at->kept + NOISE,
                             .number = at->number};
}

/* Returns whether this round is not the last one of its iteration. */
static bool only_mixes(const saddle_agent *agent)
{
    return agent->round + 1 < ((const saddle_auto_parameters *)agent->parameters)->mixing.count;
}

/* Makes a round of mixing. After the last of them, x and y return to their sets. */
static void mix(const saddle_agent *agent, const saddle_auto_variables *at)
{
    const saddle_auto_parameters *p = agent->parameters;
    size_t both = at->x_dim + at->y_dim;
    saddle_mixing_rounds_make(&p->mixing, agent, both, FOLLOWED, at->more + both);
    if (agent->round + 2 < p->mixing.count)
        return;
    saddle_set_project(p->x_set, at->x1, agent->scratch);
    saddle_set_project(agent->y_set, at->y1, agent->scratch);
}

static void move(saddle_agent *agent)
{
    const saddle_steps *s = &((const saddle_auto_parameters *)agent->parameters)->steps;
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    if (only_mixes(agent)) {
        mix(agent, &at);
        return;
    }
    update_tau(agent, &at);
    compute_targets(agent, &at);
    mix_and_move(agent, 0, at.x_dim, s->nu, at.x_tilde, at.x1);
    mix_and_move(agent, at.x_dim, at.y_dim, s->eta, at.y_tilde, at.y1);
    at.number[REACH] = s->nu * at.kept[TAU] * distance2(&at, at.x_tilde, at.x) +
                       s->eta / s->alpha * saddle_distance2(at.y_dim, at.y_tilde, at.y);
    saddle_agent_check_finite(agent, "x", at.x_dim, at.x1);
    saddle_agent_check_finite(agent, "y", at.y_dim, at.y1);
    const saddle_measured estimates = estimates_of(agent, &at);
    saddle_measured_begin(agent, &estimates);
}

/* ---- (7) and (8) ------------------------------------------------------------------------------- */

static void estimate(saddle_agent *agent)
{
    if (only_mixes(agent))
        return;
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    const saddle_measured estimates = estimates_of(agent, &at);
    saddle_measured_continue(agent, &estimates);
}

/* Returns whether the movement of x and of y is rounding. */
static bool is_still(const saddle_auto_variables *at)
{
    if (!(at->kept[LARGEST] > 0.0) || !(at->number[REACH] <= SMALL * at->kept[LARGEST]))
        return false;
    double y_moved = saddle_distance2(at->y_dim, at->y_tilde, at->y);
    return distance2(at, at->x_tilde, at->x) <= STILL * STILL * distance2(at, at->x, NULL) &&
           y_moved <= STILL * STILL * saddle_norm2(at->y_dim, at->y);
}

/* Returns <dgx, x+ - x_0> - <dgy, y+ - y_0> for the change of the estimates to (gx, gy). */
static double monotonicity(const saddle_auto_variables *at)
{
    double sum = 0.0;
    for (size_t k = 0; k < at->x_dim + at->y_dim; k++) {
        double change = at->gx[k] - (at->number[REFRESHES] > 0.0 ? at->v[k] : 0.0);
        sum += (k < at->x_dim ? change : -change) * (at->x1[k] - at->x0[k]);
    }
    return sum;
}

/* Completes (7) in (gx, gy). Returns A and stores the monotonicity, or returns NaN if the batch cannot
 * tell, and stores NaN if x and y do not move. */
static double finish_estimates(const saddle_agent *agent, const saddle_auto_variables *at,
                               double *monotone)
{
    const saddle_measured estimates = estimates_of(agent, at);
    bool exact = at->measured[X_ERROR] == 0.0 && at->measured[Y_ERROR] == 0.0;
    size_t both = at->x_dim + at->y_dim;
    double slopes = (double)NAN;
    if (is_still(at)) {
        memcpy(at->gx, at->v, both * sizeof *at->v);
        return *monotone = slopes;
    }
    saddle_measured_finish(agent, &estimates);
    bool refreshed = at->number[REFRESHES] > 0.0;
    if (!refreshed || (exact && at->number[BATCH] == (double)at->samples)) {
        *monotone = monotonicity(at);
        if (refreshed)
            saddle_metric_whiten(at->metric, at->v, at->wh); /* wg is that of all samples */
        slopes = refreshed ? saddle_distance2(at->x_dim, at->wg, at->wh)
                           : saddle_dot(at->x_dim, at->wg, at->wh);
    }
    if (!refreshed)
        saddle_axpy(both, 1.0, at->v, at->gx);
    return slopes;
}

/* c+ = sum_j M_ij c_j + r+ - r */
static void follow(const saddle_agent *agent, const saddle_auto_variables *at, double slopes,
                   double monotone)
{
    double before[FOLLOWED];
    memcpy(before, at->r, sizeof before);
    saddle_learn(&at->r[SIGNAL], at->number[REACH], SADDLE_FOLLOW);
    if (!isnan(slopes)) {
        saddle_learn(&at->r[SLOPES], slopes, SADDLE_FOLLOW);
        saddle_learn(&at->r[X_MOVED], distance2(at, at->x1, at->x0), SADDLE_FOLLOW);
        saddle_learn(&at->r[Y_MOVED], saddle_distance2(at->y_dim, at->y1, at->y0), SADDLE_FOLLOW);
        saddle_learn(&at->r[MONOTONE], monotone, SADDLE_FOLLOW);
    } else if (at->r[X_MOVED] > 0.0 && !isnan(monotone)) {
        double moved = at->r[X_MOVED];
        saddle_learn(&moved, distance2(at, at->x1, at->x0), SADDLE_FOLLOW);
        saddle_scale(FOLLOWED - SLOPES, fmin(1.0, moved / at->r[X_MOVED]), &at->r[SLOPES]);
    }
    saddle_agent_mix(agent, (size_t)(at->c - agent->now), FOLLOWED, at->c1);
    for (int k = 0; k < FOLLOWED; k++)
        at->c1[k] += at->r[k] - before[k];
}

/* Keeps x_0 and y_0, the point of the estimates, which mixing moves. */
static void keep_point(const saddle_agent *agent, const saddle_auto_variables *at)
{
    if (((const saddle_auto_parameters *)agent->parameters)->mixing.count > 1)
        memcpy(at->more, at->x1, (at->x_dim + at->y_dim) * sizeof *at->more);
}

static void track(saddle_agent *agent)
{
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    size_t both = at.x_dim + at.y_dim;
    double monotone = 0.0;
    if (only_mixes(agent))
        return;
    double slopes = finish_estimates(agent, &at, &monotone);
    follow(agent, &at, slopes, monotone);
    saddle_agent_track(agent, both, both, at.gx, at.v, at.p1);
    keep_point(agent, &at);
    saddle_agent_check_finite(agent, "variance", DIFFERENCE - X_ERROR + 1, &at.measured[X_ERROR]);
    saddle_agent_check_finite(agent, "v (x-gradient)", at.x_dim, at.v);
    saddle_agent_check_finite(agent, "u (y-gradient)", at.y_dim, at.u);
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    const saddle_auto_parameters *p = agent->parameters;
    const saddle_auto_variables at = saddle_auto_variables_of(agent);
    memcpy(at.x1, x0, at.x_dim * sizeof *x0);
    memcpy(at.y1, y0, at.y_dim * sizeof *y0);
    memset(at.c1, 0, FOLLOWED * sizeof *at.c1);
    memset(at.r, 0, (FOLLOWED + OWN_KEPT + MEASURED_KEPT) * sizeof *at.r);
    at.kept[TAU] = p->first;
    keep_point(agent, &at);
    const saddle_measured estimates = estimates_of(agent, &at);
    saddle_measured_start(agent, &estimates, FIRST);
    memcpy(at.v, at.gx, (at.x_dim + at.y_dim) * sizeof *at.v);
    memcpy(at.p1, at.gx, (at.x_dim + at.y_dim) * sizeof *at.p1);
    memcpy(at.last_d, at.gy, at.y_dim * sizeof *at.gy);
    if (agent->iteration == 0)
        agent->ifo += saddle_curvature_cost(agent->problem, agent->id, &p->measured);
}

static const saddle_phase phases[] = {
    {.name = "move", .before = move}, /* (3) to (6), first half of (7) */
    {.name = "estimate", .before = estimate},
    {.name = "track", .before = track}, /* (8) */
    {.name = NULL}};

const saddle_algorithm saddle_precision_auto = {
    .name = "precision-auto",
    .title = "PRECISION-auto",
    .look = {"#000000", "#ffffff", "12 4"},
    .summary = "PRECISION with step sizes, batches and refreshes that are measured during the run",
    .citation = "Liu, Zhang, Lu, Liu 2023, Algorithm 1; the rules are Saddle's",
    .options = saddle_auto_options,
    .size = sizeof(saddle_auto_parameters),
    .traits = {SADDLE_PROXIMAL, .stochastic = true,
               .assumes = "nothing is proved of its rules. It needs M with lambda < 1; agents "
                          "measure their own steps in x.",
               .ifo = "2 |S|; R_i at a refresh", .rounds = "K", .message = "2 (dim x + dim y) + 5",
               .samples = "-", .communication = "-"},
    .init = init,
    .release = release,
    .layout = layout,
    .most_ifo = most_ifo,
    .start = start,
    .phases = phases,
    .view = view,
};
