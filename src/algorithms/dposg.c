/*
 * DPOSG at agent i: decentralized parallel optimistic stochastic gradient (Liu, Zhang, Mroueh, Cui,
 * Ross, Yang, Das, "A Decentralized Parallel Algorithm for Training Generative Adversarial Nets",
 * NeurIPS 2020, Algorithm 1). With w = (x, y) and g = (gx, -gy),
 *
 *   m_k = sum_j (M^r)_ij w_{j,k-1}
 *   z_k = projection of  m_k - eta g(S_{k-1}; z_{k-1})
 *   w_k = projection of  m_k - eta g(S_k; z_k)
 *
 * where g(S; z) is the mean over a mini-batch S at z: one gradient per iteration, used twice. The
 * reported solution is z_k, for which the paper's guarantee holds. Start: z_0 = w_0 = (x_0, y_0),
 * with g(S_0; z_0).
 *
 * The paper has neither sets nor h; both enter through a proximal step that replaces the plain one.
 * The paper has one eta, bounded in terms of L; here x and y have their own, by default nu / tau
 * and eta alpha of PRECISION. The paper requires r of the order of log_{1/lambda}(1 + m^{1/4}),
 * with unknown constants: auto is the smallest r with lambda^r (1 + m^{1/4}) <= 1.
 *
 * Cost of an iteration: r rounds, each with one message of (x, y) per neighbour; |S| IFO calls, and
 * |S| for the start.
 */
#include "algorithms/algorithms.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/step_options.h"
#include "core/elementary.h"

/* Tolerance when r is rounded up: the last bits of lambda depend on the machine, but r must not. */
#define ROUNDING 1e-9

typedef saddle_two_steps parameters;

static const saddle_option *const options[] = {
    &saddle_option_eta_x,    &saddle_option_eta_y,         &saddle_option_batch,
    &saddle_option_sampling, &saddle_option_mixing_rounds, NULL};
static const saddle_automatic automatic[] = {
    SADDLE_DAMPED_STEPS,
    SADDLE_AUTOMATIC(saddle_option_mixing_rounds,
                     "the smallest K with lambda^K (1 + m^(1/4)) <= 1, where m is the number of "
                     "agents and 1 - lambda the spectral gap of the mixing matrix"),
    {.option = NULL}};

/* Returns the smallest r >= 1 with lambda^r (1 + m^{1/4}) <= 1, or NaN if there is none. */
static double enough_rounds(double lambda, double agents)
{
    if (lambda == 0.0)
        return 1.0;
    if (!(lambda > 0.0) || !(lambda < 1.0))
        return NAN;
    double exact = saddle_log(1.0 + sqrt(sqrt(agents))) / -saddle_log(lambda);
    return fmax(1.0, ceil(exact - ROUNDING));
}

static saddle_status init(void *out, saddle_configuration *c, saddle_error *error)
{
    parameters *p = out;
    const saddle_instance *instance = c->instance;
    SADDLE_TRY(saddle_damped_steps_init(p, c, error));
    if (p->rounds > 0)
        return SADDLE_OK;
    double rounds = enough_rounds(instance->spectrum.lambda, (double)instance->problem->agents);
    if (!(rounds <= SADDLE_MOST_MIXING))
        return saddle_refuse(
            error,
            "--mixing-rounds: dposg cannot choose a number of rounds per iteration "
            "for lambda = %g; set one",
            instance->spectrum.lambda);
    p->rounds = (uint64_t)rounds;
    return SADDLE_OK;
}

/* Published: w_k. Kept: z_k | g(S_k; z_k). */
static void layout(const void *parameters_, const saddle_problem *problem, saddle_layout *out)
{
    const parameters *p = parameters_;
    size_t both = problem->x_dim + problem->y_dim;
    out->rounds = (unsigned)p->rounds;
    saddle_plain_fields(problem, out);
    out->kept = 2 * both;
    out->work = both;
}

/* Requests g(S; z), to be stored in the kept state. */
static void request_gradient(saddle_agent *agent, uint64_t iteration)
{
    const parameters *p = agent->parameters;
    double *z = agent->kept;
    double *g = z + agent->problem->x_dim + agent->problem->y_dim;
    saddle_batch batch = saddle_agent_draw(agent, iteration, p->batch, p->replacement);
    saddle_agent_request(agent, batch, z, g);
}

/* out = projection of  m_k - eta g */
static void move(const saddle_agent *agent, double *out)
{
    const double *g = agent->kept + agent->problem->x_dim + agent->problem->y_dim;
    saddle_two_steps_move(agent, 1.0, agent->work, g, out, agent->scratch);
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    saddle_plain_start(agent, x0, y0);
    memcpy(agent->kept, agent->next, (x_dim + y_dim) * sizeof *agent->kept);
    request_gradient(agent, agent->iteration);
    saddle_agent_evaluate(agent);
}

/* Returns whether this is the last round of the iteration, in which z and w move. */
static bool is_last(const saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    return agent->round + 1 == p->rounds;
}

/* Makes one round of mixing; in the last round, computes m_k and z_k and requests g(S_k; z_k). */
static void average(saddle_agent *agent)
{
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    saddle_agent_mix(agent, 0, both, is_last(agent) ? agent->work : agent->next);
    if (!is_last(agent))
        return;
    move(agent, agent->kept);
    request_gradient(agent, agent->iteration + 1);
}

/* Computes w_k in the last round. */
static void advance(saddle_agent *agent)
{
    if (!is_last(agent))
        return;
    move(agent, agent->next);
    saddle_plain_check(agent);
}

static const saddle_phase phases[] = {
    {"average", .before = average}, {"advance", .before = advance}, {.name = NULL}};

static void view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->kept, .y = agent->kept + agent->problem->x_dim};
}

const saddle_algorithm saddle_dposg = {
    .name = "dposg",
    .title = "DPOSG",
    .look = {"#e69f00", "#f7b93e", ""},
    .summary =
        "optimistic gradient method with mini-batches and several rounds of mixing per iteration",
    .citation = "Liu, Zhang, Mroueh, Cui, Ross, Yang, Das, NeurIPS 2020",
    .options = options,
    .automatic = automatic,
    .size = sizeof(parameters),
    .traits = {SADDLE_PROXIMAL, .stochastic = true, .feasible = true,
               .assumes = "M with lambda < 1, and K large enough for the number of agents. The "
                          "paper has neither X, Y nor h: they are additions.",
               .ifo = "|S|", .rounds = "K", .message = "dim x + dim y", .samples = "O(eps^-12)",
               .communication = "O(log(1/eps)) per iteration"},
    .init = init,
    .layout = layout,
    .start = start,
    .phases = phases,
    .view = view,
};
