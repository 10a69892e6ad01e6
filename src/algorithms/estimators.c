#include "algorithms/estimators.h"

#include "algorithms/measured_batches.h"
#include "algorithms/sampling.h"
#include "core/sizes.h"
#include "core/vector.h"

/* The smallest mini-batch that is chosen automatically, and the part of sqrt(n) that it is, as for PRECISION. */
#define LEAST_BATCH 2.0
#define BATCH_DIVISOR 4.0
/* beta, if it is not given. */
#define BETA 0.1
/* Of measured batches (measured_batches.c), as for PRECISION+: theta, the largest part of the samples that a refresh
 * takes, unless it takes all, and the errors that it leaves in a tracker. */
#define NOISE_SHARE 0.5
#define MOST_PARTIAL (1.0 / 3.0)
#define RENEWED 2.0
/* A movement by a few units in the last place is none. */
#define STILL (16.0 * DBL_EPSILON)

/* What plus and kalman keep, after the numbers of measured_batches.h. */
enum { SIGNAL = MEASURED_KEPT, NUMBERS, ESTIMATOR_KEPT = NUMBERS + MEASURED_GAINS };

bool saddle_estimator_is_recursive(const saddle_estimator *e)
{
    return e->kind == SADDLE_ESTIMATE_SARAH || e->kind == SADDLE_ESTIMATE_PAGE;
}

bool saddle_estimator_has_noise(const saddle_estimator *e)
{
    return saddle_estimator_is_recursive(e) || e->kind == SADDLE_ESTIMATE_SGD ||
           (e->kind == SADDLE_ESTIMATE_STORM && e->beta_x > 0.0 && e->beta_y > 0.0);
}

static bool tosses(const saddle_estimator *e)
{
    return e->kind == SADDLE_ESTIMATE_PAGE || e->kind == SADDLE_ESTIMATE_GRACE;
}

static double choose(double given, double rule, double general)
{
    return !isnan(given) ? given : rule > 0.0 ? rule : general;
}

void saddle_estimator_configure(saddle_estimator *e, const saddle_estimator *rule,
                                const saddle_configuration *c)
{
    const saddle_problem *problem = c->instance->problem;
    size_t most = saddle_sizes_largest(problem->agents, problem->samples);
    double small = fmax(LEAST_BATCH, ceil(sqrt((double)most) / BATCH_DIVISOR));
    uint64_t batch = rule->batch > 0 ? rule->batch : (uint64_t)small;
    e->batch = c->given->batch > 0 ? c->given->batch : batch;
    e->q = c->given->q > 0 ? c->given->q : rule->q > 0 ? rule->q : c->steps.q;
    e->refresh = e->refresh > 0 ? e->refresh : rule->refresh;
    e->first = e->first > 0 ? e->first : rule->first;
    e->replacement = c->steps.sampling == SADDLE_WITH_REPLACEMENT;
    double of_batch = (double)saddle_batch_size(most, e->batch);
    double of_refresh = e->refresh > 0 ? (double)saddle_batch_size(most, e->refresh) : (double)most;
    e->probability = choose(e->probability, rule->probability, of_batch / (of_batch + of_refresh));
    e->beta_x = choose(e->beta_x, rule->beta_x, BETA);
    e->beta_y = choose(e->beta_y, rule->beta_y, BETA);
}

/* Returns whether an estimate is a refresh. */
static bool refreshes(const saddle_estimator *e, const saddle_agent *agent, uint64_t next)
{
    if (e->kind == SADDLE_ESTIMATE_SARAH)
        return next % e->q == 0;
    if (!tosses(e))
        return false;
    saddle_rng rng;
    saddle_rng_init(&rng, agent->seed, SADDLE_RNG_COIN, 0, next);
    return saddle_rng_uniform(&rng) < e->probability;
}

bool saddle_estimator_compares(const saddle_estimator *e, const saddle_agent *agent, uint64_t next)
{
    return saddle_estimator_is_recursive(e) && refreshes(e, agent, next);
}

/* Draws this many of the agent's samples; 0: all of them. */
static saddle_batch draw_refresh(saddle_agent *agent, uint64_t iteration, uint64_t count)
{
    size_t samples = agent->problem->samples[agent->id];
    size_t size = count > 0 && count < samples ? (size_t)count : samples;
    return saddle_draw(agent, SADDLE_RNG_REFRESH, iteration, size, false);
}

static bool is_measured(const saddle_estimator *e)
{
    return e->kind == SADDLE_ESTIMATE_PLUS || e->kind == SADDLE_ESTIMATE_KALMAN;
}

size_t saddle_estimator_kept(const saddle_estimator *e)
{
    return is_measured(e) ? ESTIMATOR_KEPT : 0;
}

size_t saddle_estimator_vectors(const saddle_estimator *e)
{
    return e->kind == SADDLE_ESTIMATE_KALMAN ? 2 : 0;
}

static saddle_measured measured(const saddle_estimator *e, const saddle_agent *agent,
                                const saddle_estimation *at)
{
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    return (saddle_measured){.x_dim = x_dim,
                             .y_dim = y_dim,
                             .samples = agent->problem->samples[agent->id],
                             .x = at->point,
                             .y = at->point + x_dim,
                             .x1 = at->new_point,
                             .y1 = at->new_point + x_dim,
                             .gx = at->g,
                             .gy = at->g + x_dim,
                             .hx = at->h,
                             .hy = at->h + x_dim,
                             .old =
                                 e->kind == SADDLE_ESTIMATE_KALMAN ? at->h + x_dim + y_dim : NULL,
                             .next = at->next,
                             .wg = at->g,
                             .wh = at->h,
                             .x_step = e->x_step,
                             .y_step = e->y_step,
                             .noise = NOISE_SHARE,
                             .most_partial = MOST_PARTIAL,
                             .renewed = RENEWED,
                             .signal = at->kept[SIGNAL],
                             .kept = at->kept,
                             .noise_numbers = at->noise,
                             .number = at->kept + NUMBERS};
}

static void start_measured(const saddle_estimator *e, saddle_agent *agent,
                           const saddle_estimation *at)
{
    saddle_estimation first = *at;
    memset(at->kept, 0, ESTIMATOR_KEPT * sizeof *at->kept);
    first.new_point = at->point;
    const saddle_measured m = measured(e, agent, &first);
    saddle_measured_start(agent, &m, 0);
    memcpy(at->estimate, at->g, (m.x_dim + m.y_dim) * sizeof *at->g);
}

static void begin_measured(const saddle_estimator *e, saddle_agent *agent,
                           const saddle_estimation *at)
{
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    double reach = saddle_distance2(x_dim, at->new_point, at->point) / e->x_step +
                   saddle_distance2(y_dim, at->new_point + x_dim, at->point + x_dim) / e->y_step;
    double size = saddle_norm2(x_dim, at->point) / e->x_step +
                  saddle_norm2(y_dim, at->point + x_dim) / e->y_step;
    reach = reach > STILL * STILL * size ? reach : 0.0;
    at->kept[NUMBERS + REACH] = reach;
    saddle_learn(&at->kept[SIGNAL], reach, SADDLE_FOLLOW);
    const saddle_measured m = measured(e, agent, at);
    saddle_measured_begin(agent, &m);
}

/* g = estimate + change + gain (g - estimate - change) */
static void weigh(size_t count, double gain, const double *estimate, const double *change,
                  double *g)
{
    for (size_t k = 0; k < count; k++) {
        double sum = estimate[k] + change[k];
        g[k] = sum + gain * (g[k] - sum);
    }
}

static void finish_measured(const saddle_estimator *e, const saddle_agent *agent,
                            const saddle_estimation *at)
{
    const saddle_measured m = measured(e, agent, at);
    saddle_measured_finish(agent, &m);
    if (m.number[REFRESHES] > 0.0)
        return;
    if (m.old == NULL) {
        saddle_axpy(m.x_dim + m.y_dim, 1.0, at->estimate, at->g);
        return;
    }
    weigh(m.x_dim, m.number[X_GAIN], at->estimate, m.old, at->g);
    weigh(m.y_dim, m.number[Y_GAIN], at->estimate + m.x_dim, m.old + m.x_dim, at->g + m.x_dim);
}

void saddle_estimator_start(const saddle_estimator *e, saddle_agent *agent,
                            const saddle_estimation *at)
{
    if (is_measured(e)) {
        start_measured(e, agent, at);
        return;
    }
    saddle_batch batch = draw_refresh(agent, agent->iteration, e->first);
    saddle_agent_request(agent, batch, at->point, at->estimate);
    saddle_agent_evaluate(agent);
}

void saddle_estimator_begin(const saddle_estimator *e, saddle_agent *agent,
                            const saddle_estimation *at)
{
    if (is_measured(e)) {
        begin_measured(e, agent, at);
        return;
    }
    if (refreshes(e, agent, at->next)) {
        saddle_batch batch = draw_refresh(agent, at->next, e->refresh);
        saddle_agent_request(agent, batch, at->new_point, at->g);
        return;
    }
    saddle_batch batch = saddle_agent_draw(agent, at->next, e->batch, e->replacement);
    saddle_agent_request(agent, batch, at->new_point, at->g);
    if (saddle_estimator_is_recursive(e)) {
        agent->request.kind = SADDLE_REQUEST_DIFFERENCE;
        agent->request.x0 = at->point;
        agent->request.y0 = at->point + agent->problem->x_dim;
    }
}

/* Returns whether the estimate needs the gradient at the last point by itself. */
static bool looks_back(const saddle_estimator *e, const saddle_agent *agent, uint64_t next)
{
    return !saddle_estimator_is_recursive(e) && e->kind != SADDLE_ESTIMATE_SGD &&
           !refreshes(e, agent, next);
}

void saddle_estimator_continue(const saddle_estimator *e, saddle_agent *agent,
                               const saddle_estimation *at)
{
    if (is_measured(e)) {
        const saddle_measured m = measured(e, agent, at);
        saddle_measured_continue(agent, &m);
    } else if (looks_back(e, agent, at->next)) {
        saddle_agent_request(agent, agent->request.batch, at->point, at->h);
    }
}

/* g += keep (estimate - h) */
SADDLE_KERNEL static void blend(size_t count, double keep, const double *restrict estimate,
                                const double *restrict h, double *restrict g)
{
    for (size_t k = 0; k < count; k++)
        g[k] += keep * (estimate[k] - h[k]);
}

void saddle_estimator_finish(const saddle_estimator *e, const saddle_agent *agent,
                             const saddle_estimation *at)
{
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    if (is_measured(e)) {
        finish_measured(e, agent, at);
    } else if (looks_back(e, agent, at->next)) {
        blend(x_dim, 1.0 - e->beta_x, at->estimate, at->h, at->g);
        blend(y_dim, 1.0 - e->beta_y, at->estimate + x_dim, at->h + x_dim, at->g + x_dim);
    } else if (saddle_estimator_is_recursive(e) && !refreshes(e, agent, at->next)) {
        saddle_axpy(x_dim + y_dim, 1.0, at->estimate, at->g);
    }
}
