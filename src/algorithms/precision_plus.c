/*
 * PRECISION+ at agent i (Liu, Zhang, Lu, Liu 2023, Algorithm 1 with the batch rule of section 3.2).
 *
 * The same as PRECISION, except that a refresh averages over R_i samples drawn without replacement,
 *
 *   R_i   = min{ c_gamma sigma^2 / gamma, c_epsilon sigma^2 / epsilon, n_i },          (12)
 *           at least |S| unless the user sets another minimum,
 *   gamma = (1/q) sum over the last q iterations of  sum_i |x~_i - xbar|^2.
 *
 * The paper sets |S| = q = ceil(sqrt(n)). A larger refresh stays useful for longer. Therefore q
 * depends on its size here: by default each agent refreshes again after 2 sqrt(R_i) iterations, and
 * |S| = ceil(sqrt(n) / 8). `--steps paper`, `--steps theory` and `--q` fix q.
 *
 * No agent knows xbar, so the rule as printed cannot run on a network. By default (`--gamma local`)
 * agent i measures r_t = |x~_i - x_i|^2, and dynamic average consensus, with one more double per
 * message, tracks the network average of this number:
 *
 *   c_{t+1} = sum_j M_ij c_{j,t} + r_t - r_{t-1},   c_0 = r_{-1} = 0.
 *
 * The mean of c_{t+1} over agents equals the mean of r_t; gamma is m times the mean of c over the
 * last q iterations. `--gamma exact` takes the paper's sum from the simulation.
 *
 * sigma^2 is the sample variance of the gradients of the previous refresh. Before the first
 * refresh, sigma^2 and gamma = m |x~_i - x_i|^2 come from a pilot mini-batch, which counts as IFO
 * calls.
 */
#include "algorithms/algorithms.h"

#include <math.h>
#include <string.h>

#include "algorithms/family.h"
#include "algorithms/sampling.h"
#include "algorithms/step_options.h"
#include "core/vector.h"

#define GROUP "PRECISION+"

typedef struct parameters {
    saddle_family family; /* first, because the shared steps read it */
    double sigma2;        /* NaN: measured */
    uint64_t refresh_min; /* 0: the size of a mini-batch */
    int gamma;            /* LOCAL or EXACT */
} parameters;

/* The choices of --gamma. */
enum { LOCAL, EXACT };

static const saddle_option gamma_rule = SADDLE_CHOICE(
    SADDLE_OWN(parameters, gamma, RUN), "gamma", GROUP, "local", "local|exact", "RULE",
    "How PRECISION+ computes gamma in its refresh size (see --c-gamma).\n"
    "local: each agent measures the distance from its own x, and the network averages these "
    "numbers; this adds one number to each message.\n"
    "exact: by the PRECISION paper's formula. It needs xbar, which no agent knows, and is "
    "therefore only possible in a simulation.");

static const saddle_option sigma2 = SADDLE_REAL_ABOVE(
    SADDLE_OWN(parameters, sigma2, RUN), "sigma2", GROUP, "auto", 0.0, SADDLE_UNBOUNDED, "V",
    "Variance of one sample's gradient, for the refresh size. auto: measured at every refresh.");

static const saddle_option refresh_min = SADDLE_INTEGER(
    SADDLE_OWN(parameters, refresh_min, RUN), "refresh-min", GROUP, "auto", 1.0, 0x1p32, "N",
    "Minimum number of samples in a refresh. auto: the size of a mini-batch, because a smaller "
    "refresh would be less accurate than the mini-batches after it.");

static const saddle_option *const options[] = {&saddle_option_steps,
                                               &saddle_option_nu,
                                               &saddle_option_eta,
                                               &saddle_option_tau,
                                               &saddle_option_alpha,
                                               &saddle_option_q,
                                               &saddle_option_batch,
                                               &saddle_option_sampling,
                                               &saddle_option_c_gamma,
                                               &saddle_option_c_epsilon,
                                               &saddle_option_epsilon,
                                               &gamma_rule,
                                               &sigma2,
                                               &refresh_min,
                                               NULL};

/* Indices of the extra kept state, after those of the family. */
enum { SIGMA2 = SADDLE_FAMILY_KEPT, WINDOW, KEPT_EXTRA };

/* By default a mini-batch has ceil(sqrt(n) / BATCH_PARTS) samples, and a refresh of R samples is
 * followed by the next after ceil(SPAN_ROOTS sqrt(R)) iterations. */
#define BATCH_PARTS 8.0
#define SPAN_ROOTS 2.0

static saddle_status init(void *out, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    parameters *p = out;
    saddle_family_small_batches(c, BATCH_PARTS);
    if (c->given->q == 0 && c->given->rule == SADDLE_STEPS_PRACTICAL)
        c->steps.q = 0; /* depends on the size of the last refresh */
    saddle_family_configure(&p->family, SADDLE_FAMILY_RECURSIVE, c);
    p->family.published_extra = p->gamma == EXACT ? 0 : 1;
    p->family.kept_extra = KEPT_EXTRA;
    p->family.scheduled = true;
    return SADDLE_OK;
}

/* Returns R_i. A gamma that is not positive imposes no bound, like an epsilon that is not given. */
static size_t refresh_size(const parameters *p, const saddle_agent *agent, double variance,
                           double gamma)
{
    size_t samples = agent->problem->samples[agent->id];
    size_t floor_size =
        p->refresh_min > 0 ? (size_t)p->refresh_min : saddle_family_batch_size(agent);
    /* The variance of a single sample is not defined, so a refresh needs two to measure it. */
    if (!(p->sigma2 > 0.0) && floor_size < 2)
        floor_size = 2;
    double size = (double)samples;
    if (gamma > 0.0)
        size = fmin(size, ceil(p->family.steps.c_gamma * variance / gamma));
    if (p->family.steps.epsilon > 0.0)
        size = fmin(size, ceil(p->family.steps.c_epsilon * variance / p->family.steps.epsilon));
    size = fmax(size, (double)floor_size);
    return size < (double)samples ? (size_t)size : samples;
}

/* Returns the number of iterations after which a refresh of this size is followed by the next. */
static double span_of(const parameters *p, size_t size)
{
    return p->family.steps.q > 0 ? (double)p->family.steps.q
                                 : ceil(SPAN_ROOTS * sqrt((double)size));
}

/* Requests the mean gradient over R_i samples and, unless it is given, the variance for the size
 * of the next refresh; schedules that refresh. */
static void refresh(saddle_agent *agent, const parameters *p, saddle_parts *parts,
                    uint64_t iteration, double gamma, const double *x, const double *y)
{
    size_t size = refresh_size(p, agent, parts->kept[SIGMA2], gamma);
    saddle_batch batch = saddle_draw(agent, SADDLE_RNG_REFRESH, iteration, size, false);
    parts->kept[SADDLE_FAMILY_REFRESHED] = (double)iteration;
    parts->kept[SADDLE_FAMILY_SPAN] = span_of(p, size);
    bool fixed = p->sigma2 > 0.0 || batch.count < 2;
    agent->request =
        (saddle_request){.kind = fixed ? SADDLE_REQUEST_GRADIENT : SADDLE_REQUEST_VARIANCE,
                         .batch = batch,
                         .x = x,
                         .y = y,
                         .gx = parts->gx,
                         .gy = parts->gy,
                         .variance = parts->kept[SIGMA2]};
}

/* Stores the variance of a refresh after its evaluation. */
static void keep_variance(const saddle_agent *agent, const saddle_parts *parts)
{
    parts->kept[SIGMA2] = agent->request.variance;
}

/* Estimates sigma^2 (unless given) and returns gamma before the first refresh, from one
 * mini-batch. */
static double pilot(saddle_agent *agent, const parameters *p, saddle_parts *parts, const double *x0,
                    const double *y0)
{
    size_t size = saddle_family_batch_size(agent);
    saddle_batch batch =
        saddle_draw(agent, SADDLE_RNG_PILOT, agent->iteration, size > 1 ? size : 2, false);
    agent->request = (saddle_request){.kind = SADDLE_REQUEST_VARIANCE,
                                      .batch = batch,
                                      .x = x0,
                                      .y = y0,
                                      .gx = parts->gx,
                                      .gy = parts->gy};
    saddle_agent_evaluate(agent);
    parts->kept[SIGMA2] = p->sigma2 > 0.0 ? p->sigma2 : agent->request.variance;
    for (size_t k = 0; k < parts->x_dim; k++)
        parts->x_tilde[k] = x0[k] - parts->gx[k] / p->family.steps.tau;
    saddle_prox_apply(agent->x_prox, 1.0 / p->family.steps.tau, parts->x_tilde, parts->rest);
    return (double)agent->agents * saddle_distance2(parts->x_dim, parts->x_tilde, x0);
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    const parameters *p = agent->parameters;
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    double gamma = pilot(agent, p, &parts, x0, y0);
    refresh(agent, p, &parts, agent->iteration, gamma, x0, y0);
    saddle_agent_evaluate(agent);
    keep_variance(agent, &parts);
    saddle_family_start(&parts, x0, y0);
    parts.kept[SADDLE_FAMILY_FOLLOWED] = 0.0;
    parts.kept[WINDOW] = 0.0;
    if (p->gamma == LOCAL)
        parts.extra1[0] = 0.0;
}

/* Adds this iteration's term of gamma to the window. */
static void follow_gamma(saddle_agent *agent, const parameters *p, saddle_parts *parts)
{
    if (p->gamma == EXACT) {
        parts->kept[WINDOW] += agent->oracle / (double)agent->agents;
        return;
    }
    double r = *parts->reach;
    saddle_agent_mix(agent, (size_t)(parts->extra - agent->now), 1, parts->extra1);
    parts->extra1[0] += r - parts->kept[SADDLE_FAMILY_FOLLOWED];
    parts->kept[SADDLE_FAMILY_FOLLOWED] = r;
    parts->kept[WINDOW] += parts->extra1[0];
}

/* Updates gamma after steps 1 and 2, equations (3) to (6). */
static void moved(saddle_agent *agent, const double *x_sums, const double *y_sums)
{
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    saddle_family_moved(agent, x_sums, y_sums);
    follow_gamma(agent, agent->parameters, &parts);
}

/* Step 3, equation (7), with (10) and (11) at a refresh. */
static void estimate(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    if (!saddle_family_refreshes(agent)) {
        saddle_recursive_estimate(agent, &parts);
        return;
    }
    double gamma = (double)agent->agents * parts.kept[WINDOW] / parts.kept[SADDLE_FAMILY_SPAN];
    parts.kept[WINDOW] = 0.0;
    refresh(agent, p, &parts, agent->iteration + 1, gamma, parts.x1, parts.y1);
}

/* Step 4, equation (8). */
static void tracked(saddle_agent *agent, const double *x_sums, const double *y_sums)
{
    saddle_parts parts;
    saddle_family_parts(agent, &parts);
    if (saddle_family_refreshes(agent))
        keep_variance(agent, &parts);
    saddle_family_tracked(agent, x_sums, y_sums);
}

static const saddle_phase phases[] = {
    {"move", saddle_family_aim, saddle_family_aims, saddle_family_move, moved},
    {"estimate", .run = estimate},
    {"track", NULL, NULL, saddle_family_track, tracked},
    {.name = NULL}};

static bool wants_oracle(const void *p)
{
    return ((const parameters *)p)->gamma == EXACT;
}

/* sum_i |x~_i - xbar|^2 */
static double oracle(saddle_agent *agents, size_t count, double *x_mean, double *scratch)
{
    size_t x_dim = agents[0].problem->x_dim;
    double tau = ((const parameters *)agents[0].parameters)->family.steps.tau;
    memset(x_mean, 0, x_dim * sizeof *x_mean);
    for (size_t i = 0; i < count; i++)
        saddle_axpy(x_dim, 1.0 / (double)count, agents[i].now, x_mean);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        saddle_family_prox_point(&agents[i], tau, scratch, scratch + x_dim);
        sum += saddle_distance2(x_dim, scratch, x_mean);
    }
    return sum;
}

const saddle_algorithm saddle_precision_plus = {
    .name = "precision+",
    .title = "PRECISION+",
    .look = {"#d55e00", "#ff8c4b", "8 5"},
    .summary = "PRECISION with smaller refreshes: of as many samples as the ratio of gradient "
               "noise to recent progress calls for",
    .citation = "Liu, Zhang, Lu, Liu 2023, Algorithm 1 and Theorem 2",
    .options = options,
    .size = sizeof(parameters),
    .traits = {.x_set = true,
               .y_set = true,
               .regularizer = true,
               .stochastic = true,
               .potential = true,
               .ifo = "2 |S|; R_i at a refresh",
               .rounds = "1",
               .message = "2 (dim x + dim y) + 1",
               .samples = "O(m sqrt(n) eps^-2)",
               .communication = "O(eps^-2)"},
    .init = init,
    .layout = saddle_family_layout,
    .start = start,
    .phases = phases,
    .view = saddle_family_view,
    .prox_point = saddle_family_prox_point,
    .wants_oracle = wants_oracle,
    .oracle = oracle,
};
