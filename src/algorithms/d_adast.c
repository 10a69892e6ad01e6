/*
 * D-AdaST at agent i: decentralized adaptive minimax optimization with stepsize tracking (Huang, Li, Shen, He, Xu,
 * "Achieving Near-Optimal Convergence for Distributed Minimax Optimization with Adaptive Stepsizes", NeurIPS 2024,
 * arXiv 2406.02939).
 *
 *   (v, u) = mean gradient over a mini-batch S at (x_t, y_t);   a_t += |v|^2,   b_t += |u|^2
 *   x_{t+1} = prox of (h) over X at  sum_j M_ij (x_j - eta_x max(a_j, b_j)^-alpha v_j)
 *   y_{t+1} = projection onto Y of   sum_j M_ij (y_j + eta_y b_j^-beta u_j)
 *   (a, b)_{t+1} = sum_j M_ij (a, b)_j
 *
 * with alpha = 0.6 and beta = 0.4 as in the paper; 0 < beta < alpha < 1 makes x slower than y. The prox has the agent's
 * step. Agents share a and b because steps that differ would let them agree on a wrong point. Start: a = b = 0.
 *
 * The steps that are chosen automatically have lengths 1/tau and sqrt(eta) alpha, or what is stable, where a and b are
 * the mean squares of the agents' gradients at the start, over all samples: they become smaller during the run. The
 * paper's theorem needs bounded gradients and a loss that is strongly concave in y. It has neither X nor h: the prox in
 * x is an addition. Without a tracker, lost messages cannot be made up for; such links are refused.
 * --steps paper is refused: the values of the paper's experiments were not at hand.
 * Agents differ by what a step moves them and mixing leaves, more with compressed messages, which mix less.
 *
 * Cost of an iteration: one round, one message of dim x + dim y + 2 doubles per neighbour; |S| IFO calls.
 */
#include "algorithms/algorithms.h"

#include "algorithms/family.h"
#include "algorithms/step_options.h"
#include "core/elementary.h"
#include "core/vector.h"

#define ALPHA 0.6
#define BETA 0.4

static const saddle_option *const options[] = {&saddle_option_steps,    &saddle_option_eta_x,
                                               &saddle_option_eta_y,    &saddle_option_batch,
                                               &saddle_option_sampling, NULL};
static const saddle_automatic automatic[] = {
    SADDLE_AUTOMATIC(saddle_option_eta_x, "first steps of 1/tau, or less if that is not stable"),
    SADDLE_AUTOMATIC(saddle_option_eta_y, "first steps of sqrt(eta) alpha"),
    {.option = NULL}};

/* v^power; 0 for 0. */
static double power(double v, double exponent)
{
    return v > 0.0 ? saddle_exp(exponent * saddle_log(v)) : 0.0;
}

/* The squares of an agent's gradients at the start. */
typedef struct squares {
    const saddle_instance *instance;
    double *g, *scratch;
} squares;

static void add_squares(void *context, size_t agent, double *out)
{
    const squares *s = context;
    const saddle_problem *problem = s->instance->problem;
    saddle_batch all = {.count = problem->samples[agent]};
    saddle_problem_gradient(problem, agent, &all, s->instance->x0, s->instance->y0, s->g,
                            s->g + problem->x_dim, s->scratch);
    out[0] = saddle_norm2(problem->x_dim, s->g);
    out[1] = saddle_norm2(problem->y_dim, s->g + problem->x_dim);
}

/* Stores the means of a and b at the start; 1 if they are not positive numbers. */
static saddle_status measure_squares(const saddle_instance *instance, double *a, double *b,
                                     saddle_error *error)
{
    const saddle_problem *problem = instance->problem;
    size_t both = problem->x_dim + problem->y_dim;
    squares s = {.instance = instance};
    double sum[2] = {0.0, 0.0};
    s.g = saddle_alloc_doubles(both + saddle_problem_scratch(problem));
    saddle_status status = saddle_check_memory(s.g, "the first gradients", error);
    status = saddle_world_agree(instance->world, status, error);
    s.scratch = s.g + both;
    if (status == SADDLE_OK)
        status = saddle_world_sum(instance->world, 2, add_squares, &s, sum, error);
    saddle_free(s.g);
    double most = fmax(sum[0], sum[1]) / (double)problem->agents;
    *a = most > 0.0 && isfinite(most) ? most : 1.0;
    *b = sum[1] > 0.0 && isfinite(sum[1]) ? sum[1] / (double)problem->agents : *a;
    return status;
}

static saddle_status init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    saddle_two_steps *p = parameters;
    double a;
    double b;
    SADDLE_TRY(saddle_family_check_rule(c, false, error));
    SADDLE_TRY(saddle_full_batch_init(p, c, error));
    SADDLE_TRY(measure_squares(c->instance, &a, &b, error));
    if (isnan(c->given->eta_x))
        c->steps.eta_x = p->eta_x *= power(a, ALPHA);
    if (isnan(c->given->eta_y))
        c->steps.eta_y = p->eta_y *= power(b, BETA);
    return SADDLE_OK;
}

/* Published: what x and y move to before mixing, a and b. Kept: x, y. Work: v, u. */
static void layout(const void *p, const saddle_problem *problem, saddle_layout *out)
{
    (void)p;
    size_t both = problem->x_dim + problem->y_dim;
    out->rounds = 1;
    saddle_plain_fields(problem, out);
    saddle_layout_add(out, "a", 1, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    saddle_layout_add(out, "b", 1, SADDLE_FIELD_ITERATE, SADDLE_NO_ESTIMATE);
    out->kept = both;
    out->work = both;
}

static void request(saddle_agent *agent, uint64_t iteration)
{
    const saddle_two_steps *p = agent->parameters;
    saddle_batch batch = saddle_agent_draw(agent, iteration, p->batch, p->replacement);
    saddle_agent_request(agent, batch, agent->kept, agent->work);
}

/* Returns the agent's step in x or y from published a and b. */
static double x_step(const saddle_two_steps *p, const double *ab)
{
    return p->eta_x * power(fmax(ab[0], ab[1]), -ALPHA);
}

static double y_step(const saddle_two_steps *p, const double *ab)
{
    return p->eta_y * power(ab[1], -BETA);
}

/* Adds the squares of (v, u) to a and b, and publishes what (x, y) moves to. */
static void publish(saddle_agent *agent)
{
    const saddle_two_steps *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    const double *v = agent->work;
    double *ab = agent->next + x_dim + y_dim;
    ab[0] += saddle_norm2(x_dim, v);
    ab[1] += saddle_norm2(y_dim, v + x_dim);
    memcpy(agent->next, agent->kept, (x_dim + y_dim) * sizeof *agent->next);
    saddle_axpy(x_dim, -x_step(p, ab), v, agent->next);
    saddle_axpy(y_dim, y_step(p, ab), v + x_dim, agent->next + x_dim);
    saddle_plain_check(agent);
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    saddle_family_begin(agent, x0, y0, agent->kept);
    agent->next[both] = agent->next[both + 1] = 0.0;
    request(agent, agent->iteration);
    saddle_agent_evaluate(agent);
    publish(agent);
}

static void average(saddle_agent *agent)
{
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    saddle_agent_mix(agent, 0, both, agent->kept);
    saddle_agent_mix(agent, both, 2, agent->next + both);
    saddle_prox_apply(agent->x_prox, x_step(agent->parameters, agent->now + both), agent->kept,
                      agent->scratch);
    saddle_set_project(agent->y_set, agent->kept + agent->problem->x_dim, agent->scratch);
    request(agent, agent->iteration + 1);
}

static const saddle_phase phases[] = {
    {"average", .before = average}, {"publish", .before = publish}, {.name = NULL}};

static void view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->kept, .y = agent->kept + agent->problem->x_dim};
}

const saddle_algorithm saddle_d_adast = {
    .name = "d-adast",
    .title = "D-AdaST",
    .look = {"#661100", "#c98a6a", "10 3 2 3"},
    .summary = "mini-batch gradients with adaptive steps that agents share",
    .citation = "Huang, Li, Shen, He, Xu, NeurIPS 2024",
    .options = options,
    .automatic = automatic,
    .size = sizeof(saddle_two_steps),
    .traits = {SADDLE_FAMILY_TRAITS,
               .assumes = "F strongly concave in y, with bounded and Lipschitz gradients; M with "
                          "lambda < 1. The paper has Y; X and h are additions.",
               .ifo = "|S|", .rounds = "1", .message = "dim x + dim y + 2",
               .samples = "O(eps^-(4 + delta))", .communication = "O(eps^-(4 + delta))"},
    .init = init,
    .layout = layout,
    .start = start,
    .phases = phases,
    .view = view,
};
