/*
 * VRLM at agent i: variance-reduced Lagrangian multiplier method (Mancino-Ball, Xu, "Variance-reduced Accelerated
 * Methods for Decentralized Stochastic Double-regularized Nonconvex Strongly-concave Minimax Problems", arXiv
 * 2307.07113). x agrees by gradient tracking, y by a multiplier E of (M - I) y = 0:
 *
 *   p = sum_j M_ij s_j
 *   x_{t+1} = prox of (eta_x h) over X at  sum_j M_ij x_{j,t} - eta_x p
 *   y_{t+1} = projection onto Y of         sum_j M_ij y_{j,t} + eta_y (u_t - sum_j M_ij E_{j,t} + E_t)
 *   E_{t+1} = E_t + (rho / eta_y) (sum_j M_ij y_{j,t} - y_t)
 *   (v, u)_{t+1} = --estimator sarah (SPIDER): gradient over --refresh-size samples every q iterations, else (v, u)_t +
 *                  mean over a mini-batch S of grad f_ij at (x, y)_{t+1} - grad f_ij at (x, y)_t
 *                  --estimator storm: g_S(x_{t+1}, y_{t+1}) + (1 - beta) ((v, u)_t - g_S(x_t, y_t))
 *   s_{t+1} = p + v_{t+1} - v_t
 *
 * It is the row "multipliers x sarah or storm" of family.h; E is the paper's multiplier times its weight l1 = L / (2
 * sqrt(m)), and rho = eta_y l1^2 l2, where l2 is the step of the multipliers. As in the authors' program, and not in
 * the paper, y steps from the mixed y. That program also mixes the multipliers, which the paper does not: its fixed
 * points are wrong where agents have different data, since then (I - M) E goes to (rho / eta_y) (M - I) y. rho = 1/4 is
 * automatic: without a loss, the slowest mode then has two equal roots, 1 - (1 - lambda) / 2. Start: s = v, E = 0.
 * --steps paper has the values of the authors' program for distributionally robust classification: eta_x = eta_y = l1 =
 * l2 = 0.1, so that rho = 0.001 eta_y, |S| = 1, R = 100 also at the start, q = 100, and beta = 0.01.
 *
 * The paper has a prox in x and in y, and assumes a loss that is strongly concave in y. (M - I) E is not 0 at a
 * solution, so M has to stay the same: links that vary are refused. Compressed messages and churn are possible.
 *
 * Cost of an iteration: K rounds (--mixing-rounds), each with one message of (x, y, s, E) per neighbour; 2 |S| IFO
 * calls, or those of a refresh.
 */
#include "algorithms/algorithms.h"

#include "algorithms/family.h"
#include "algorithms/step_options.h"
#include "core/base.h"

#define RHO 0.25
#define RHO_OF_PAPER 0.001 /* times eta_y */

static const saddle_search rho_search = {.name = "multiplier-step", .low = -2, .high = 1};
static const saddle_option multiplier =
    SADDLE_STEP(SADDLE_OWN(saddle_family, multiplier, RUN), "multiplier-step", "VRLM", "auto", 1.0,
                &rho_search, "RHO",
                "Step of the multipliers that make agents agree on y, relative to 1/--eta-y. auto: "
                "0.25; with --steps paper 0.001 times --eta-y.");
static const saddle_option *const options[] = {SADDLE_FAMILY_OPTIONS, &multiplier,
                                               SADDLE_ESTIMATOR_OPTIONS, NULL};
static const saddle_automatic automatic[] = {
    SADDLE_FAMILY_RULES("0.1", "0.1", "1"),
    SADDLE_AUTOMATIC(saddle_option_estimator, "sarah"),
    SADDLE_AUTOMATIC(saddle_option_q, "as above; with --steps paper 100"),
    SADDLE_AUTOMATIC(saddle_option_beta_x, "0.1; with --steps paper 0.01"),
    SADDLE_AUTOMATIC(saddle_option_beta_y, "0.1; with --steps paper 0.01"),
    SADDLE_AUTOMATIC(saddle_option_refresh_size, "all; with --steps paper 100"),
    SADDLE_AUTOMATIC(saddle_option_first_batch, "all; with --steps paper 100"),
    SADDLE_AUTOMATIC(saddle_option_mixing_rounds, "1"),
    {.option = NULL}};

static saddle_status init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    static const saddle_preset paper = {.steps = {0.1, 0.1},
                                        .estimator = {.kind = SADDLE_ESTIMATE_SARAH,
                                                      .beta_x = 0.01,
                                                      .beta_y = 0.01,
                                                      .batch = 1,
                                                      .q = 100,
                                                      .refresh = 100,
                                                      .first = 100}};
    saddle_family *p = parameters;
    const saddle_plan *plan = c->instance->plan;
    if (!saddle_links_are_constant(c->instance) && plan->network.inexact == SADDLE_INEXACT_NO)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--links: the multipliers of vrlm need messages from all neighbours in "
                           "all rounds (got %.200s); use reliable links or another algorithm, such "
                           "as dgda-vr",
                           plan->network.links);
    p->strategy = SADDLE_MULTIPLIERS;
    SADDLE_TRY(saddle_family_init(p, &paper, c, error));
    if (isnan(p->multiplier))
        p->multiplier = c->given->rule == SADDLE_STEPS_PAPER ? RHO_OF_PAPER * p->steps.eta_y : RHO;
    return SADDLE_OK;
}

const saddle_algorithm saddle_vrlm = {
    SADDLE_FAMILY,
    .name = "vrlm",
    .title = "VRLM",
    .look = {"#882255", "#d67ba6", "6 3 2 3 2 3"},
    .summary = "gradient tracking in x and multipliers in y, of SPIDER or STORM estimates",
    .citation = "Mancino-Ball, Xu, arXiv 2307.07113",
    .options = options,
    .automatic = automatic,
    .traits = {SADDLE_FAMILY_TRAITS, .settles = true,
               .assumes = "F strongly concave in y, with Lipschitz gradients; the same M in all "
                          "rounds and the same steps at all agents. X, Y and h are the paper's.",
               .ifo = "2 |S|; R_i at a refresh", .rounds = "K", .message = "2 (dim x + dim y)",
               .samples = "O(n + sqrt(n) kappa^2 eps^-2)", .communication = "O(kappa^2 eps^-2)"},
    .init = init,
};
