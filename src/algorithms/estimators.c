#include "algorithms/estimators.h"

#include "algorithms/sampling.h"
#include "core/sizes.h"
#include "core/vector.h"

/* The smallest mini-batch that is chosen automatically, and the part of sqrt(n) that it is, as for PRECISION. */
#define LEAST_BATCH 2.0
#define BATCH_DIVISOR 4.0
/* beta, if it is not given. */
#define BETA 0.1

static bool is_recursive(const saddle_estimator *e)
{
    return e->kind == SADDLE_ESTIMATE_SARAH || e->kind == SADDLE_ESTIMATE_PAGE;
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
    return is_recursive(e) && refreshes(e, agent, next);
}

/* Draws this many of the agent's samples; 0: all of them. */
static saddle_batch draw_refresh(saddle_agent *agent, uint64_t iteration, uint64_t count)
{
    size_t samples = agent->problem->samples[agent->id];
    size_t size = count > 0 && count < samples ? (size_t)count : samples;
    return saddle_draw(agent, SADDLE_RNG_REFRESH, iteration, size, false);
}

void saddle_estimator_start(const saddle_estimator *e, saddle_agent *agent, const double *point,
                            double *estimate)
{
    saddle_batch batch = draw_refresh(agent, agent->iteration, e->first);
    saddle_agent_request(agent, batch, point, estimate);
    saddle_agent_evaluate(agent);
}

void saddle_estimator_begin(const saddle_estimator *e, saddle_agent *agent, uint64_t next,
                            const double *old_point, const double *new_point, double *g)
{
    if (refreshes(e, agent, next)) {
        saddle_agent_request(agent, draw_refresh(agent, next, e->refresh), new_point, g);
        return;
    }
    saddle_batch batch = saddle_agent_draw(agent, next, e->batch, e->replacement);
    saddle_agent_request(agent, batch, new_point, g);
    if (is_recursive(e)) {
        agent->request.kind = SADDLE_REQUEST_DIFFERENCE;
        agent->request.x0 = old_point;
        agent->request.y0 = old_point + agent->problem->x_dim;
    }
}

/* Returns whether the estimate needs the gradient at the last point by itself. */
static bool looks_back(const saddle_estimator *e, const saddle_agent *agent, uint64_t next)
{
    return !is_recursive(e) && e->kind != SADDLE_ESTIMATE_SGD && !refreshes(e, agent, next);
}

void saddle_estimator_continue(const saddle_estimator *e, saddle_agent *agent, uint64_t next,
                               const double *old_point, double *h)
{
    if (looks_back(e, agent, next))
        saddle_agent_request(agent, agent->request.batch, old_point, h);
}

/* g += keep (estimate - h) */
SADDLE_KERNEL static void blend(size_t count, double keep, const double *restrict estimate,
                                const double *restrict h, double *restrict g)
{
    for (size_t k = 0; k < count; k++)
        g[k] += keep * (estimate[k] - h[k]);
}

void saddle_estimator_finish(const saddle_estimator *e, const saddle_agent *agent, uint64_t next,
                             const double *estimate, const double *h, double *g)
{
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    if (looks_back(e, agent, next)) {
        blend(x_dim, 1.0 - e->beta_x, estimate, h, g);
        blend(y_dim, 1.0 - e->beta_y, estimate + x_dim, h + x_dim, g + x_dim);
    } else if (is_recursive(e) && !refreshes(e, agent, next)) {
        saddle_axpy(x_dim + y_dim, 1.0, estimate, g);
    }
}
