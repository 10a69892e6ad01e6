/*
 * K-GT-Minimax at agent i: L local steps in a round, corrected by gradient tracking (Li, "Fast Decentralized Gradient
 * Tracking for Federated Minimax Optimization with Local Updates", arXiv 2405.04566); with --estimator storm as by Cai,
 * Alghunaim, Sayed, "Communication-Efficient Decentralized Stochastic Minimax Optimization", arXiv 2507.21901.
 * With w = (x, y), g = (v, -u) and P the prox of (eta_x h) over X and the projection onto Y:
 *
 *   w = projection onto X and Y of sum_j M_ij n_j,   c = sum_j M_ij s_j - G
 *   L times, from w^0 = w:   g = g_S(w^k), with --estimator storm g_S(w^k) + (1 - beta) (g - g_S(last point))
 *                            w^{k+1} = P(w^k - eta (g + c))
 *   n = w^L;   G = mean of the L estimates g;   s = c + G
 *
 * S is fresh in every local step. The correction c is the paper's: c+ = c - z + M z with z = (w^0 - w^L) / (L eta),
 * which is c + G if no projection cuts a step. In this form s tracks G, so that lost messages can be made up for. The
 * paper's global step is 1. Start: n = w, s = G = g, from all samples, so that c is M g - g, where the paper has the
 * mean of g over all agents for M g. The papers have neither sets nor h: the prox and the projections are additions
 * that their theorems do not cover. They assume a loss that is strongly concave in y (the second one the
 * Polyak-Lojasiewicz condition in y).
 *
 * --steps paper is refused: the values of the papers' experiments were not at hand.
 *
 * Cost of an iteration: K rounds (--mixing-rounds), each with one message of (n, s) per neighbour; L |S| IFO calls with
 * --estimator sgd, otherwise 2 L |S| or those of refreshes.
 */
#include "algorithms/algorithms.h"

#include "algorithms/family.h"
#include "algorithms/step_options.h"
#include "core/sizes.h"
#include "core/vector.h"

typedef struct parameters {
    saddle_family family; /* its estimator and steps */
    uint64_t local;       /* L */
} parameters;

static const saddle_option local =
    SADDLE_INTEGER(SADDLE_OWN(parameters, local, RUN), "local-steps", "K-GT-Minimax", "5", 1.0, 1e6,
                   "L", "Local steps of an agent between two messages.");
static const saddle_option *const options[] = {SADDLE_FAMILY_OPTIONS, &local,
                                               SADDLE_ESTIMATOR_OPTIONS, NULL};
static const saddle_automatic automatic[] = {
    SADDLE_FAMILY_PRACTICAL,
    SADDLE_AUTOMATIC(saddle_option_estimator, "sgd"),
    SADDLE_AUTOMATIC(saddle_option_q, "as above; counted in local steps"),
    SADDLE_AUTOMATIC(saddle_option_probability, "as above; in a local step"),
    SADDLE_AUTOMATIC(saddle_option_mixing_rounds, "1"),
    {.option = NULL}};

static saddle_status init(void *parameters_, saddle_configuration *c, saddle_error *error)
{
    static const saddle_preset sgd = {.estimator = {.kind = SADDLE_ESTIMATE_SGD}};
    parameters *p = parameters_;
    p->family.strategy = SADDLE_LOCAL_STEPS;
    return saddle_family_init(&p->family, &sgd, c, error);
}

static uint64_t most_ifo(const void *parameters_, const saddle_problem *problem)
{
    const parameters *p = parameters_;
    return 2 * p->local * saddle_sizes_sum(problem->agents, problem->samples);
}

/* Returns estimate number `next`, at n. Here `point` is w, `estimate` G, `dual` g, `own` the point of g. */
static saddle_estimation estimation_of(const saddle_vectors *at, uint64_t next)
{
    return (saddle_estimation){.point = at->own,
                               .new_point = at->next,
                               .estimate = at->dual,
                               .kept = at->estimated,
                               .g = at->g,
                               .h = at->h,
                               .next = next};
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    const parameters *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    saddle_family_begin(agent, x0, y0, at.next);
    memcpy(at.point, at.next, at.both * sizeof *at.point);
    memcpy(at.own, at.next, at.both * sizeof *at.point);
    const saddle_estimation first = estimation_of(&at, agent->iteration);
    saddle_estimator_start(&p->family.estimator, agent, &first);
    memcpy(at.estimate, at.dual, at.both * sizeof *at.dual);
    memcpy(at.next_p, at.dual, at.both * sizeof *at.dual);
}

/* Replaces g by estimate number `next`, at n. */
static void estimate(saddle_agent *agent, uint64_t next)
{
    const parameters *p = agent->parameters;
    const saddle_estimator *e = &p->family.estimator;
    const saddle_vectors at = saddle_vectors_of(agent);
    const saddle_estimation new = estimation_of(&at, next);
    saddle_estimator_begin(e, agent, &new);
    saddle_agent_evaluate(agent);
    saddle_estimator_continue(e, agent, &new);
    saddle_agent_evaluate(agent);
    saddle_estimator_finish(e, agent, &new);
    memcpy(at.dual, at.g, at.both * sizeof *at.dual);
    memcpy(at.own, at.next, at.both * sizeof *at.own);
}

static void make_round(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    bool last = agent->round + 1 == p->family.mixing.count;
    saddle_family_mix(agent, agent->round, 0, at.both, last ? at.point : at.next);
    saddle_family_mix(agent, agent->round, at.both, at.both, at.next_p);
    if (!last)
        return;
    saddle_project_sets(agent, at.point);
    saddle_axpy(at.both, -1.0, at.estimate, at.next_p);
    memcpy(at.new_point, at.next_p, at.both * sizeof *at.new_point);
    memcpy(at.next, at.point, at.both * sizeof *at.next);
    memset(at.estimate, 0, at.both * sizeof *at.estimate);
    for (uint64_t k = 1; k <= p->local; k++) {
        estimate(agent, agent->iteration * p->local + k);
        saddle_axpy(at.both, 1.0 / (double)p->local, at.dual, at.estimate);
        memcpy(at.h, at.new_point, at.both * sizeof *at.h);
        saddle_axpy(at.both, 1.0, at.dual, at.h);
        saddle_family_step(agent, at.next, at.h, NULL, at.next);
        saddle_family_project(agent, at.next);
    }
    saddle_axpy(at.both, 1.0, at.estimate, at.next_p);
    saddle_plain_check(agent);
}

static const saddle_phase phases[] = {{"make a round", .before = make_round}, {.name = NULL}};

const saddle_algorithm saddle_k_gt_minimax = {
    .name = "k-gt-minimax",
    .title = "K-GT-Minimax",
    .look = {"#999933", "#cfcf6a", "2 4"},
    .summary = "local steps, corrected by gradient tracking, between messages",
    .citation = "Li, arXiv 2405.04566; Cai, Alghunaim, Sayed, arXiv 2507.21901",
    .options = options,
    .automatic = automatic,
    .size = sizeof(parameters),
    .traits = {SADDLE_FAMILY_TRAITS,
               .assumes =
                   "F strongly concave in y, with Lipschitz gradients, or with --estimator storm "
                   "the Polyak-Lojasiewicz condition in y; M with lambda < 1 and the same steps at "
                   "all agents. The papers have neither X, Y nor h: they are additions.",
               .ifo = "L |S| (sgd) or 2 L |S|", .rounds = "K", .message = "2 (dim x + dim y)",
               .samples = "-", .communication = "O(kappa^3 eps^-2), exact gradients"},
    .init = init,
    .most_ifo = most_ifo,
    .layout = saddle_family_layout,
    .start = start,
    .phases = phases,
    .view = saddle_family_view,
};
