/*
 * DM-HSGD at agent i: decentralized minimax hybrid stochastic gradient descent (Xian, Huang, Zhang, Huang, "A Faster
 * Decentralized Algorithm for Nonconvex Minimax Problems", NeurIPS 2021).
 *
 *   first round    p = sum_j M_ij s_j,   d likewise
 *   second round   x_{t+1} = prox of (eta_x h) over X at  sum_j M_ij (x_j - eta_x p_j)
 *                  y_{t+1} = projection onto Y of         sum_j M_ij (y_j + eta_y d_j)
 *   v_{t+1} = g_S(x_{t+1}, y_{t+1}) + (1 - beta_x) (v_t - g_S(x_t, y_t)),  u likewise with beta_y
 *   s_{t+1} = p + v_{t+1} - v_t
 *
 * where g_S is the mean gradient over a fresh mini-batch. It is the row "tracking-twice x storm" of family.h. Start:
 * s = v, over --first-batch samples. The paper constrains y but not x, and has no h: the prox in x is an addition that
 * its theorem does not cover. It assumes a loss that is strongly concave in y. --steps paper has the values of the
 * authors' program: eta_x = 0.01, eta_y = 0.1, beta_x = 0.01, beta_y = 0.1, |S| = 10 and 2000 samples at the start; its
 * gradients are sums over the mini-batch, here they are means.
 *
 * Trackers and points pass through the same polynomial of M if K > 1 (family.h).
 *
 * Cost of an iteration: 2 K rounds, each with one message of (dim x + dim y) doubles per neighbour; 2 |S| IFO calls.
 */
#include "algorithms/algorithms.h"

#include "algorithms/family.h"
#include "algorithms/step_options.h"

static const saddle_option *const options[] = {SADDLE_FAMILY_OPTIONS, &saddle_option_beta_x,
                                               &saddle_option_beta_y, NULL};
static const saddle_automatic automatic[] = {
    SADDLE_FAMILY_RULES("0.01", "0.1", "10"),
    SADDLE_AUTOMATIC(saddle_option_beta_x, "0.1; with --steps paper 0.01"),
    SADDLE_AUTOMATIC(saddle_option_first_batch, "all; with --steps paper 2000"),
    SADDLE_AUTOMATIC(saddle_option_mixing_rounds, "1"),
    {.option = NULL}};

static saddle_status init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    static const saddle_preset paper = {.steps = {0.01, 0.1},
                                        .estimator = {.kind = SADDLE_ESTIMATE_STORM,
                                                      .beta_x = 0.01,
                                                      .beta_y = 0.1,
                                                      .batch = 10,
                                                      .first = 2000}};
    saddle_family *p = parameters;
    p->strategy = SADDLE_TRACKING_TWICE;
    return saddle_family_init(p, &paper, c, error);
}

const saddle_algorithm saddle_dm_hsgd = {
    SADDLE_FAMILY,
    .name = "dm-hsgd",
    .title = "DM-HSGD",
    .look = {"#cc6677", "#f0a0ac", "9 4 3 4"},
    .summary = "gradient tracking of estimates with hybrid momentum, in two rounds per iteration",
    .citation = "Xian, Huang, Zhang, Huang, NeurIPS 2021",
    .options = options,
    .automatic = automatic,
    .traits = {SADDLE_FAMILY_TRAITS,
               .assumes =
                   "F strongly concave in y, with Lipschitz gradients; M with lambda < 1 and the "
                   "same steps at all agents. The paper has Y; X and h are additions.",
               .ifo = "2 |S|", .rounds = "2 K", .message = "dim x + dim y",
               .samples = "O(kappa^3 eps^-3)", .communication = "-"},
    .init = init,
};
