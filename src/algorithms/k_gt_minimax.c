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
 * paper's global step is 1. Start: n = w, s = G = g, from all samples. The papers have neither sets nor h: the prox and
 * the projections are additions that their theorems do not cover. They assume a loss that is strongly concave in y (the
 * second one the Polyak-Lojasiewicz condition in y).
 *
 * Cost of an iteration: one round, one message of (n, s) per neighbour; L |S| IFO calls with --estimator sgd, otherwise
 * 2 L |S| or those of refreshes.
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
static const saddle_option *const options[] = {&saddle_option_steps,
                                               &saddle_option_eta_x,
                                               &saddle_option_eta_y,
                                               &saddle_option_batch,
                                               &saddle_option_sampling,
                                               &saddle_option_first_batch,
                                               &local,
                                               SADDLE_ESTIMATOR_OPTIONS,
                                               NULL};
static const saddle_automatic automatic[] = {
    SADDLE_FAMILY_PRACTICAL,
    SADDLE_AUTOMATIC(saddle_option_estimator, "sgd"),
    SADDLE_AUTOMATIC(saddle_option_q, "as above; counted in local steps"),
    SADDLE_AUTOMATIC(saddle_option_probability, "as above; in a local step"),
    {.option = NULL}};

static saddle_status init(void *parameters_, saddle_configuration *c, saddle_error *error)
{
    static const saddle_preset sgd = {.estimator = {.kind = SADDLE_ESTIMATE_SGD}};
    parameters *p = parameters_;
    return saddle_family_init(&p->family, &sgd, c, error);
}

static uint64_t most_ifo(const void *parameters_, const saddle_problem *problem)
{
    const parameters *p = parameters_;
    return 2 * p->local * saddle_sizes_sum(problem->agents, problem->samples);
}

/* An agent's vectors; each has x_dim + y_dim doubles. */
typedef struct variables {
    size_t x_dim, both;
    double *mean, *w, *g, *last; /* kept: G, w, g and the point of g */
    double *next, *next_p;       /* published: n, s */
    double *fresh, *h, *c;       /* work; h is followed by more of the estimator */
    double *estimated;           /* kept: of the estimator */
} variables;

static variables variables_of(const saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    return (variables){.x_dim = agent->problem->x_dim,
                       .both = both,
                       .mean = agent->kept,
                       .w = agent->kept + both,
                       .g = agent->kept + 2 * both,
                       .last = agent->kept + 3 * both,
                       .next = agent->next,
                       .next_p = agent->next + both,
                       .fresh = agent->work,
                       .h = agent->work + both,
                       .c = agent->work +
                            (2 + saddle_estimator_vectors(&p->family.estimator)) * both,
                       .estimated = agent->kept + 4 * both};
}

/* Returns estimate number `next`, at n. */
static saddle_estimation estimation_of(const variables *at, uint64_t next)
{
    return (saddle_estimation){.point = at->last,
                               .new_point = at->next,
                               .estimate = at->g,
                               .kept = at->estimated,
                               .g = at->fresh,
                               .h = at->h,
                               .next = next};
}

static void layout(const void *parameters_, const saddle_problem *problem, saddle_layout *out)
{
    const parameters *p = parameters_;
    size_t both = problem->x_dim + problem->y_dim;
    out->rounds = 1;
    saddle_plain_fields(problem, out);
    saddle_layout_add(out, "p", problem->x_dim, SADDLE_FIELD_SUM, 0);
    saddle_layout_add(out, "d", problem->y_dim, SADDLE_FIELD_SUM, problem->x_dim);
    out->kept = 4 * both + saddle_estimator_kept(&p->family.estimator);
    out->work = (3 + saddle_estimator_vectors(&p->family.estimator)) * both;
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    const parameters *p = agent->parameters;
    const variables at = variables_of(agent);
    saddle_family_begin(agent, x0, y0, at.next);
    memcpy(at.w, at.next, at.both * sizeof *at.w);
    memcpy(at.last, at.next, at.both * sizeof *at.w);
    const saddle_estimation first = estimation_of(&at, agent->iteration);
    saddle_estimator_start(&p->family.estimator, agent, &first);
    memcpy(at.mean, at.g, at.both * sizeof *at.g);
    memcpy(at.next_p, at.g, at.both * sizeof *at.g);
}

/* Replaces g by estimate number `next`, at n. */
static void estimate(saddle_agent *agent, uint64_t next)
{
    const parameters *p = agent->parameters;
    const saddle_estimator *e = &p->family.estimator;
    const variables at = variables_of(agent);
    const saddle_estimation new = estimation_of(&at, next);
    saddle_estimator_begin(e, agent, &new);
    saddle_agent_evaluate(agent);
    saddle_estimator_continue(e, agent, &new);
    saddle_agent_evaluate(agent);
    saddle_estimator_finish(e, agent, &new);
    memcpy(at.g, at.fresh, at.both * sizeof *at.g);
    memcpy(at.last, at.next, at.both * sizeof *at.last);
}

static void make_round(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    const variables at = variables_of(agent);
    saddle_agent_mix(agent, 0, at.both, at.w);
    saddle_project_sets(agent, at.w);
    saddle_agent_mix(agent, at.both, at.both, at.next_p);
    saddle_axpy(at.both, -1.0, at.mean, at.next_p);
    memcpy(at.c, at.next_p, at.both * sizeof *at.c);
    memcpy(at.next, at.w, at.both * sizeof *at.next);
    memset(at.mean, 0, at.both * sizeof *at.mean);
    for (uint64_t k = 1; k <= p->local; k++) {
        estimate(agent, agent->iteration * p->local + k);
        saddle_axpy(at.both, 1.0 / (double)p->local, at.g, at.mean);
        memcpy(at.h, at.c, at.both * sizeof *at.h);
        saddle_axpy(at.both, 1.0, at.g, at.h);
        saddle_family_step(agent, at.next, at.h, NULL, at.next);
        saddle_family_project(agent, at.next);
    }
    saddle_axpy(at.both, 1.0, at.mean, at.next_p);
    saddle_plain_check(agent);
}

static const saddle_phase phases[] = {{"make a round", .before = make_round}, {.name = NULL}};

static void view(const saddle_agent *agent, saddle_view *out)
{
    const variables at = variables_of(agent);
    *out = (saddle_view){.x = at.w, .y = at.w + at.x_dim, .v = at.mean, .u = at.mean + at.x_dim};
}

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
               .ifo = "L |S| (sgd) or 2 L |S|", .rounds = "1", .message = "2 (dim x + dim y)",
               .samples = "-", .communication = "O(kappa^3 eps^-2)"},
    .init = init,
    .most_ifo = most_ifo,
    .layout = layout,
    .start = start,
    .phases = phases,
    .view = view,
};
