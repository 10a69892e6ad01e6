/*
 * C-SP-SG at agent i: consensus-based saddle-point subgradient method (Mateos-Nunez, Cortes,
 * "Distributed subgradient methods for saddle-point problems", CDC 2015).
 *
 *   x_{t+1} = prox of (a_t h) over X at  sum_j M_ij x_{j,t} - a_t gx,      a_t = eta_x c_t
 *   y_{t+1} = projection onto Y of       sum_j M_ij y_{j,t} + b_t gy,      b_t = eta_y c_t
 *   (gx, gy) = mean over a fresh mini-batch S of grad f_ij at (x, y)_t
 *
 * Steps decrease by the paper's doubling trick, c_t = 1 / sqrt(2^k) for 2^k <= t + 1 < 2^{k+1}, or
 * by c_t = 1 / sqrt(t + 1). The reported solution is the average of all iterates so far, including
 * the start: the paper's guarantee, O(1 / sqrt(t)) for convex-concave F, holds for this average.
 *
 * The paper sets eta_x = eta_y = 1 for problems of any scale; auto is 1 / tau, or less if that is not stable, and
 * sqrt(eta) alpha: with alpha, y follows single mini-batches, and with eta alpha it is too slow for x. The paper uses
 * subgradients of all of F_i; here h, the only nonsmooth term, enters through its proximal step together with the
 * projection.
 *
 * Cost of an iteration: one round, one message of (x, y) per neighbour, |S| IFO calls.
 */
#include "algorithms/algorithms.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/step_options.h"
#include "core/vector.h"

typedef struct parameters {
    saddle_two_steps steps;
    int decay; /* DOUBLING or SQRT */
} parameters;

/* The choices of --decay. */
enum { DOUBLING, SQRT };

static const saddle_option decay = SADDLE_CHOICE(
    SADDLE_OWN(parameters, decay, RUN), "decay", "C-SP-SG (cspsg)", "doubling", "doubling|sqrt",
    "RULE",
    "How the steps decrease from --eta-x and --eta-y.\n"
    "doubling: they are divided by sqrt(2) whenever the number of iterations doubles.\n"
    "sqrt: they are divided by sqrt(t + 1) in iteration t.");

static const saddle_option *const options[] = {&saddle_option_eta_x,
                                               &saddle_option_eta_y,
                                               &saddle_option_batch,
                                               &saddle_option_sampling,
                                               &decay,
                                               NULL};

/* Published: x | y. Kept: their averages, and the iteration of the start, where t is 0. */
static void layout(const void *parameters_, const saddle_problem *problem, saddle_layout *out)
{
    (void)parameters_;
    size_t both = problem->x_dim + problem->y_dim;
    out->rounds = 1;
    saddle_plain_fields(problem, out);
    out->kept = both + 1;
    out->work = both;
    out->scratch = both;
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    saddle_plain_start(agent, x0, y0);
    memcpy(agent->kept, agent->next, (x_dim + y_dim) * sizeof *agent->kept);
    agent->kept[x_dim + y_dim] = (double)agent->iteration;
}

/* c_t */
static double decrease(const parameters *p, uint64_t t)
{
    uint64_t count = t + 1;
    if (p->decay == DOUBLING)
        while ((count & (count - 1)) != 0)
            count &= count - 1;
    return 1.0 / sqrt((double)count);
}

/* average += (new - average) / count */
SADDLE_KERNEL static void include(size_t dim, double count, const double *restrict new,
                                  double *restrict average)
{
    for (size_t k = 0; k < dim; k++)
        average[k] += (new[k] - average[k]) / count;
}

static void estimate(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    saddle_batch batch =
        saddle_agent_draw(agent, agent->iteration + 1, p->steps.batch, p->steps.replacement);
    saddle_agent_request(agent, batch, agent->now, agent->work);
}

static void move(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    double *mixed = agent->scratch;
    uint64_t t = agent->iteration - (uint64_t)agent->kept[both];
    saddle_agent_mix(agent, 0, both, mixed);
    saddle_two_steps_move(agent, decrease(p, t), mixed, agent->work, agent->next, mixed + both);
    include(both, (double)(t + 2), agent->next, agent->kept);
    saddle_plain_check(agent);
}

static const saddle_phase phases[] = {
    {"estimate", .before = estimate}, {"move", .before = move}, {.name = NULL}};

static void view(const saddle_agent *agent, saddle_view *out)
{
    *out = (saddle_view){.x = agent->kept, .y = agent->kept + agent->problem->x_dim};
}

const saddle_algorithm saddle_cspsg = {
    .name = "cspsg",
    .title = "C-SP-SG",
    .look = {"#767676", "#b0b0b0", ""},
    .summary = "consensus and projected mini-batch subgradients with decreasing steps; the result "
               "is the average of the iterates",
    .citation = "C-SP-SG of Mateos-Nunez, Cortes, CDC 2015",
    .options = options,
    .automatic = saddle_full_batch_steps,
    .size = sizeof(parameters),
    .traits = {SADDLE_PROXIMAL, .stochastic = true, .feasible = true,
               .assumes = "F convex-concave; M with lambda < 1 and the same steps at all agents. "
                          "The solution is the mean of the iterates. The paper has X and Y; h has "
                          "subgradients there and a prox here.",
               .ifo = "|S|", .rounds = "1", .message = "dim x + dim y", .samples = "O(eps^-4)",
               .communication = "O(eps^-4)"},
    .init = saddle_full_batch_init,
    .layout = layout,
    .start = start,
    .phases = phases,
    .view = view,
};
