/*
 * PRECISION+ at agent i (Liu, Zhang, Lu, Liu 2023, Algorithm 1 with partial refreshes): the same steps as PRECISION,
 * except that (7) does with fewer samples. There are two rules for how many.
 *
 * Measured batches, the default. An agent measures the errors of v and u and keeps them below a part of the movement,
 * by the sizes of its mini-batches and by refreshes of as many samples as that takes: measured_batches.c, in the
 * Euclidean metric and with the fixed steps nu / tau and eta alpha. One more double per message, c, follows the network
 * average of the movement r, a mean over about five iterations:
 *
 *   c_{t+1} = sum_j M_ij c_{j,t} + r_t - r_{t-1},   c_0 = r_{-1} = 0.
 *
 * The paper's rule (section 3.2), with `--steps paper` or `--steps theory`, or if an option of it is given: a refresh
 * averages over R_i samples drawn without replacement,
 *
 *   R_i   = min{ c_gamma sigma^2 / gamma, c_epsilon sigma^2 / epsilon, n_i },          (12)
 *           at least |S| unless the user sets another minimum,
 *   gamma = (1/q) sum over the last q iterations of  sum_i |x~_i - xbar|^2.
 *
 * The paper sets |S| = q = ceil(sqrt(n)). A larger refresh stays useful for longer. Therefore, with other steps than
 * `paper` and `theory` and without `--q`, an agent refreshes again after 2 sqrt(R_i) iterations, and
 * |S| = ceil(sqrt(n) / 8).
 *
 * No agent knows xbar, so the rule as printed cannot run on a network. By default (`--gamma local`) agent i measures
 * r_t = |x~_i - x_i|^2, c follows its network average, and gamma is m times the mean of c over the last q iterations.
 * `--gamma exact` takes the paper's sum from the simulation.
 *
 * sigma^2 is the sample variance of the gradients of the previous refresh. Before the first
 * refresh, sigma^2 and gamma = m |x~_i - x_i|^2 come from a pilot mini-batch, which counts as IFO
 * calls.
 */
#include "algorithms/algorithms.h"

#include "algorithms/device_steps.h"
#include "algorithms/measured_batches.h"
#include "algorithms/precision_steps.h"
#include "algorithms/refresh_size.h"
#include "algorithms/sampling.h"
#include "algorithms/step_options.h"
#include "core/vector.h"

#define GROUP "PRECISION+"

typedef struct parameters {
    saddle_precision_steps shared; /* first, because the shared steps read it */
    double sigma2;                 /* NaN: measured */
    uint64_t refresh_min;          /* 0: the size of a mini-batch */
    int gamma;                     /* LOCAL, EXACT, or AUTO where batches are measured */
} parameters;

/* The choices of --gamma. */
enum { AUTO, LOCAL, EXACT };

static const saddle_option gamma_rule = SADDLE_CHOICE(
    SADDLE_OWN(parameters, gamma, RUN), "gamma", GROUP, "auto", "auto|local|exact", "RULE",
    "How PRECISION+ computes gamma in the PRECISION paper's refresh size (see --c-gamma). auto: "
    "local.\n"
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

static const saddle_option *const options[] = {SADDLE_PRECISION_OPTIONS,
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

/* Indices of the extra kept state, after those of the shared steps: by the paper's rule; with measured batches, the
 * largest signal so far, and the numbers of measured_batches.h. */
enum { SIGMA2 = SADDLE_SCHEDULE_SIGMA2, WINDOW = SADDLE_SCHEDULE_WINDOW, PAPER_KEPT };
enum { LARGEST = SADDLE_PRECISION_KEPT, MEASURED, ALL_MEASURED = MEASURED + MEASURED_KEPT };

/* By the paper's rule with practical steps, a mini-batch has ceil(sqrt(n) / BATCH_DIVISOR) samples; the paper's has
 * ceil(sqrt(n)). */
#define BATCH_DIVISOR 8.0
/* Of measured batches (measured_batches.c): theta, the largest part of the samples that a refresh takes, unless it
 * takes all, and the errors that it leaves in a tracker. */
#define NOISE_SHARE 0.5
#define MOST_PARTIAL (1.0 / 3.0)
#define RENEWED 2.0
/* A sum over agents that is a smaller part of the largest one may be rounding. */
#define ROUNDING 1e-13
/* If x and y move by a few units in the last place, estimates stay as they are, except in every PERIOD-th iteration:
 * changes of their last digits would add up in p and d. This is checked only once an agent's movement is a small part
 * of the largest signal. */
#define STILL (2.0 * DBL_EPSILON)
#define SMALL 1e-20
#define PERIOD 128

static const saddle_automatic automatic[] = {
    SADDLE_AUTOMATIC(saddle_option_batch,
                     "measured during the run; ceil(sqrt(n) / 8), but at least 2, if another "
                     "option of the PRECISION paper's refresh rule is given"),
    SADDLE_AUTOMATIC(saddle_option_q,
                     "measured during the run; ceil(2 sqrt(R)) after a refresh of R samples, if "
                     "another option of the PRECISION paper's refresh rule is given"),
    {.option = NULL}};

/* Returns whether a value is given that only the paper's rule has. */
static bool follows_paper(const parameters *p, const saddle_steps *given)
{
    return given->rule != SADDLE_STEPS_PRACTICAL || given->q > 0 || given->batch > 0 ||
           given->sampling != SADDLE_WITHOUT_REPLACEMENT || !isnan(given->epsilon) ||
           !isnan(given->c_gamma) || p->gamma != AUTO || !isnan(p->sigma2) || p->refresh_min > 0;
}

static bool is_measured(const saddle_agent *agent)
{
    return saddle_precision_shared(agent)->refreshes == SADDLE_REFRESH_MEASURED;
}

static saddle_status init(void *out, saddle_configuration *c, saddle_error *error)
{
    parameters *p = out;
    bool paper = follows_paper(p, c->given);
    if (c->given->q == 0 && c->given->rule == SADDLE_STEPS_PRACTICAL)
        c->steps.q = 0; /* depends on the size of the last refresh, or on what is measured */
    SADDLE_TRY(saddle_precision_configure_recursive(&p->shared, BATCH_DIVISOR, c, error));
    if (!paper) {
        c->steps.batch = 0;
        c->steps.c_gamma = c->steps.c_epsilon = (double)NAN;
    } else if (p->gamma == AUTO) {
        p->gamma = LOCAL;
    }
    p->shared.published_extra = p->gamma == EXACT ? 0 : 1;
    p->shared.kept_extra = paper ? PAPER_KEPT : ALL_MEASURED;
    p->shared.refreshes = paper ? SADDLE_REFRESH_SCHEDULED : SADDLE_REFRESH_MEASURED;
    return SADDLE_OK;
}

/* ---- measured batches ------------------------------------------------------------------------- */

/* Returns G: what the network follows, unless that may be rounding, or else what this agent does. */
static double signal_of(const saddle_variables *at)
{
    double least = ROUNDING * at->kept[LARGEST];
    return at->extra[0] > least ? at->extra[0] : at->kept[SADDLE_PRECISION_FOLLOWED];
}

/* What measured_batches.h needs for (7). */
static saddle_measured estimates_of(const saddle_agent *agent, const saddle_variables *at)
{
    const saddle_precision_steps *shared = saddle_precision_shared(agent);
    const saddle_steps *s = &shared->steps;
    return (saddle_measured){.x_dim = at->x_dim,
                             .y_dim = at->y_dim,
                             .samples = agent->problem->samples[agent->id],
                             .x = at->x,
                             .y = at->y,
                             .x1 = at->x1,
                             .y1 = at->y1,
                             .gx = at->gx,
                             .gy = at->gy,
                             .hx = at->hx,
                             .hy = at->hy,
                             .next = agent->iteration + 1,
                             .wg = at->gx,
                             .wh = at->hx,
                             .curvature = shared->curvature,
                             .x_step = s->nu / s->tau,
                             .y_step = s->eta * s->alpha,
                             .noise = NOISE_SHARE,
                             .most_partial = MOST_PARTIAL,
                             .renewed = RENEWED,
                             .signal = signal_of(at),
                             .kept = at->kept + MEASURED,
                             .noise_numbers = at->noise,
                             .number = at->measured};
}

static void start_measured(saddle_agent *agent, const double *x0, const double *y0)
{
    const saddle_variables at = saddle_precision_variables(agent);
    at.extra1[0] = 0.0;
    memset(at.kept, 0, ALL_MEASURED * sizeof *at.kept);
    saddle_measured estimates = estimates_of(agent, &at);
    estimates.x1 = x0;
    estimates.y1 = y0;
    saddle_measured_start(agent, &estimates, 0);
    saddle_precision_start(agent, x0, y0);
}

/* Returns whether the movement of x and y is rounding, and estimates can wait. */
static bool is_still(const saddle_agent *agent, const saddle_variables *at)
{
    if (!(at->measured[REACH] <= SMALL * at->kept[LARGEST]) || (agent->iteration + 1) % PERIOD == 0)
        return false;
    double size = saddle_norm2(at->x_dim, at->x) + saddle_norm2(at->y_dim, at->y);
    return *at->moved <= STILL * STILL * size;
}

/* Leaves the estimates as they are. Their errors are then unknown, so that a refresh follows. */
static void rest(const saddle_variables *at)
{
    double *kept = at->kept + MEASURED;
    at->measured[BATCH] = at->measured[REFRESHES] = 0.0;
    kept[X_ERROR] = fmax(kept[X_ERROR], kept[X_SAMPLE]);
    kept[Y_ERROR] = fmax(kept[Y_ERROR], kept[Y_SAMPLE]);
    memset(at->gx, 0, (at->x_dim + at->y_dim) * sizeof *at->gx);
}

/* Begins (7), after steps 1 and 2. c1 = sum_j M_ij c_j + r_t - r_{t-1} */
static void measure(saddle_agent *agent, const saddle_variables *at, const double *x_sums,
                    const double *y_sums)
{
    const saddle_steps *s = &saddle_precision_shared(agent)->steps;
    saddle_measured estimates = estimates_of(agent, at);
    double *r = &at->kept[SADDLE_PRECISION_FOLLOWED];
    double before = *r;
    double reach = s->nu * s->tau * x_sums[1] + s->eta / s->alpha * y_sums[1];
    at->measured[REACH] = reach;
    at->kept[LARGEST] = fmax(at->kept[LARGEST], estimates.signal);
    if (is_still(agent, at))
        rest(at);
    else
        saddle_measured_begin(agent, &estimates);
    saddle_learn(r, reach, SADDLE_FOLLOW);
    saddle_agent_mix(agent, (size_t)(at->extra - agent->now), 1, at->extra1);
    at->extra1[0] += *r - before;
}

/* Ends (7). What follows reads the complete batch. */
static void finish(saddle_agent *agent)
{
    const saddle_variables at = saddle_precision_variables(agent);
    if (!is_measured(agent)) {
        saddle_precision_compare_estimates(agent);
        return;
    }
    const saddle_measured estimates = estimates_of(agent, &at);
    if (at.measured[BATCH] > 0.0)
        saddle_measured_finish(agent, &estimates);
    agent->request.batch =
        (saddle_batch){.index = agent->index, .count = (size_t)at.measured[BATCH]};
    saddle_agent_check_finite(agent, "variance", DIFFERENCE - X_ERROR + 1,
                              &estimates.kept[X_ERROR]);
}

/* ---- the paper's rule -------------------------------------------------------------------------- */

static saddle_refresh_constants refresh_constants(const parameters *p)
{
    return (saddle_refresh_constants){.c_gamma = p->shared.steps.c_gamma,
                                      .c_epsilon = p->shared.steps.c_epsilon,
                                      .epsilon = p->shared.steps.epsilon,
                                      .sigma2 = p->sigma2,
                                      .least = (double)p->refresh_min,
                                      .span = (double)p->shared.steps.q};
}

/* Requests the mean gradient over R_i samples at the point of an iteration and, unless it is given,
 * the variance for the size of the next refresh; schedules that refresh. */
static void refresh(saddle_agent *agent, uint64_t iteration, double gamma, const double *x,
                    const double *y)
{
    const parameters *p = agent->parameters;
    double *kept = saddle_precision_variables(agent).kept;
    const saddle_refresh_constants c = refresh_constants(p);
    double size =
        saddle_refresh_size(&c, (double)agent->problem->samples[agent->id],
                            (double)saddle_precision_batch_size(agent), kept[SIGMA2], gamma);
    kept[SADDLE_PRECISION_REFRESHED] = (double)iteration;
    kept[SADDLE_PRECISION_SPAN] = saddle_refresh_span(&c, size);
    saddle_batch batch = saddle_draw(agent, SADDLE_RNG_REFRESH, iteration, (size_t)size, false);
    agent->request = saddle_precision_gradient(agent, batch, x, y);
    agent->request.variance = kept[SIGMA2];
    if (!(p->sigma2 > 0.0) && batch.count > 1)
        agent->request.kind = SADDLE_REQUEST_VARIANCE;
}

/* Estimates sigma^2 (unless given) and returns gamma before the first refresh, from one
 * mini-batch; NaN if the gradient or its variance has one. */
static double pilot(saddle_agent *agent, const double *x0, const double *y0)
{
    const parameters *p = agent->parameters;
    const saddle_variables at = saddle_precision_variables(agent);
    size_t size = saddle_precision_batch_size(agent);
    saddle_batch batch =
        saddle_draw(agent, SADDLE_RNG_PILOT, agent->iteration, size > 1 ? size : 2, false);
    agent->request = saddle_precision_gradient(agent, batch, x0, y0);
    agent->request.kind = SADDLE_REQUEST_VARIANCE;
    saddle_agent_evaluate(agent);
    at.kept[SIGMA2] = p->sigma2 > 0.0 ? p->sigma2 : agent->request.variance;
    for (size_t k = 0; k < at.x_dim; k++)
        at.x_tilde[k] = x0[k] - at.gx[k] / p->shared.steps.tau;
    double size2 = saddle_norm2(at.x_dim, at.gx) + saddle_norm2(at.y_dim, at.gy);
    if (isnan(size2) || isnan(agent->request.variance))
        return (double)NAN;
    saddle_prox_apply(agent->x_prox, 1.0 / p->shared.steps.tau, at.x_tilde, agent->scratch);
    return (double)agent->agents * saddle_distance2(at.x_dim, at.x_tilde, x0);
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    const parameters *p = agent->parameters;
    const saddle_variables at = saddle_precision_variables(agent);
    if (is_measured(agent)) {
        start_measured(agent, x0, y0);
        return;
    }
    double gamma = pilot(agent, x0, y0);
    refresh(agent, agent->iteration, gamma, x0, y0);
    saddle_precision_start(agent, x0, y0);
    /* The first self-check finds it and names the agent. */
    if (isnan(gamma) || isnan(agent->request.variance))
        at.v[0] = (double)NAN;
    at.kept[SIGMA2] = agent->request.variance;
    at.kept[SADDLE_PRECISION_FOLLOWED] = 0.0;
    at.kept[WINDOW] = 0.0;
    if (p->gamma == LOCAL)
        at.extra1[0] = 0.0;
}

/* After steps 1 and 2: begins (7), or adds this iteration's term of gamma to the window. */
static void after_move(saddle_agent *agent, const double *x_sums, const double *y_sums)
{
    const parameters *p = agent->parameters;
    const saddle_variables at = saddle_precision_variables(agent);
    saddle_precision_after_move(agent, x_sums, y_sums);
    if (is_measured(agent)) {
        measure(agent, &at, x_sums, y_sums);
        return;
    }
    if (p->gamma == EXACT) {
        at.kept[WINDOW] += agent->oracle / (double)agent->agents;
        return;
    }
    /* c1 = sum_j M_ij c_j + r_t - r_{t-1} */
    double r = *at.reach;
    saddle_agent_mix(agent, (size_t)(at.extra - agent->now), 1, at.extra1);
    at.extra1[0] += r - at.kept[SADDLE_PRECISION_FOLLOWED];
    at.kept[SADDLE_PRECISION_FOLLOWED] = r;
    at.kept[WINDOW] += at.extra1[0];
}

/* Step 3, equation (7), with (10) and (11) at a refresh. */
static void estimate(saddle_agent *agent)
{
    const saddle_variables at = saddle_precision_variables(agent);
    if (is_measured(agent)) {
        const saddle_measured estimates = estimates_of(agent, &at);
        if (at.measured[BATCH] > 0.0)
            saddle_measured_continue(agent, &estimates);
        return;
    }
    if (!saddle_precision_refreshes(agent)) {
        agent->request = saddle_precision_difference(agent);
        return;
    }
    double gamma = (double)agent->agents * at.kept[WINDOW] / at.kept[SADDLE_PRECISION_SPAN];
    at.kept[WINDOW] = 0.0;
    refresh(agent, agent->iteration + 1, gamma, at.x1, at.y1);
}

static void after_track(saddle_agent *agent, const double *x_sums, const double *y_sums)
{
    if (!is_measured(agent) && saddle_precision_refreshes(agent)) {
        saddle_precision_variables(agent).kept[SIGMA2] = agent->request.variance;
        saddle_agent_check_finite(agent, "variance", 1, &agent->request.variance);
    }
    saddle_precision_after_track(agent, x_sums, y_sums);
}

static const saddle_phase phases[] = {{.name = "move", /* (3) to (6) */
                                       .before = saddle_precision_compute_targets,
                                       .has_before = saddle_precision_needs_targets,
                                       .blocks = saddle_precision_move,
                                       .after = after_move},
                                      {.name = "estimate", .before = estimate}, /* (7) */
                                      {.name = "track",                         /* (8) */
                                       .before = finish,
                                       .blocks = saddle_precision_track,
                                       .after = after_track},
                                      {.name = NULL}};

static bool device(const void *given, const saddle_instance *instance, saddle_device_steps *out,
                   const char **option)
{
    const parameters *p = given;
    if (p->shared.refreshes == SADDLE_REFRESH_MEASURED)
        *option = "--batch auto of precision+ (--c-gamma 10 takes the PRECISION paper's rule)";
    else if (p->gamma == EXACT)
        *option = "--gamma exact";
    if (*option != NULL || !saddle_precision_device(p, instance, out, option))
        return false;
    out->q = UINT64_MAX;
    out->scheduled = true;
    out->refresh = refresh_constants(p);
    return true;
}

static bool wants_oracle(const void *p)
{
    return ((const parameters *)p)->gamma == EXACT;
}

/* sum_i |x~_i - xbar|^2 */
static double oracle(saddle_agent *agents, size_t count, double *x_mean, double *scratch)
{
    size_t x_dim = agents[0].problem->x_dim;
    double tau = ((const parameters *)agents[0].parameters)->shared.steps.tau;
    memset(x_mean, 0, x_dim * sizeof *x_mean);
    for (size_t i = 0; i < count; i++)
        saddle_axpy(x_dim, 1.0 / (double)count, agents[i].now, x_mean);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        saddle_precision_prox_point(&agents[i], tau, scratch, scratch + x_dim);
        sum += saddle_distance2(x_dim, scratch, x_mean);
    }
    return sum;
}

const saddle_algorithm saddle_precision_plus = {
    .name = "precision+",
    .title = "PRECISION+",
    .look = {"#d55e00", "#ff8c4b", "8 5"},
    .summary = "PRECISION with mini-batches and refreshes of as many samples as the ratio of "
               "gradient noise to movement calls for",
    .citation = "Liu, Zhang, Lu, Liu 2023, Algorithm 1 and Theorem 2",
    .options = options,
    .automatic = automatic,
    .size = sizeof(parameters),
    .traits = {SADDLE_PROXIMAL, .stochastic = true, .potential = true,
               .assumes = "as PRECISION, for the paper's rule with a large enough c_gamma; nothing "
                          "is proved of measured batches. X, Y and h are the paper's.",
               .ifo = "2 |S|; R_i at a refresh", .rounds = "1", .message = "2 (dim x + dim y) + 1",
               .samples = "O(m sqrt(n) eps^-2)", .communication = "O(eps^-2)"},
    .init = init,
    .layout = saddle_precision_layout,
    .start = start,
    .phases = phases,
    .view = saddle_precision_view,
    .prox_point = saddle_precision_prox_point,
    .wants_oracle = wants_oracle,
    .oracle = oracle,
    .device = device,
};
