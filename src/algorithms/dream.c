/*
 * DREAM at agent i: decentralized recursive gradient ascent method (Chen, Ye, Luo, "An Efficient Stochastic Algorithm
 * for Decentralized Nonconvex-Strongly-Concave Minimax Optimization", AISTATS 2024, arXiv 2212.02387).
 *
 *   K rounds   p = FastMix of s,   d likewise
 *   K rounds   x_{t+1} = prox of (eta_x h) over X at  FastMix of (x - eta_x p)
 *              y_{t+1} = projection onto Y of         FastMix of (y + eta_y d)
 *   (v, u)_{t+1} = with probability rho, by a coin that all agents share, the mean gradient over R samples, otherwise
 *                  (v, u)_t + mean over a mini-batch S of grad f_ij at (x, y)_{t+1} - grad f_ij at (x, y)_t
 *   s_{t+1} = p + v_{t+1} - v_t
 *
 * FastMix is a polynomial of M (mixing_rounds.h). It is the row "tracking-twice x page" of family.h. Start: s = v.
 * rho = |S| / (|S| + R), as in the paper. All agents take part in every iteration; the paper also lets a random few of
 * them do so. K is the smallest number with which FastMix at least halves differences between agents, because smaller
 * ones can enlarge them; where mixing is not the same in all rounds (lossy links, compression, churn) FastMix is M^K.
 * The paper constrains y but not x and has no h: the prox in x is an addition that its theorem does not cover. It
 * assumes a loss that is strongly concave in y. --steps paper has the steps and |S| of the authors' program for a9a:
 * eta_x = 0.1, eta_y = 1, |S| = 1; K = 2 of that program does not bring agents together on slow networks.
 *
 * Cost of an iteration: 2 K rounds, each with one message of (dim x + dim y) doubles per neighbour; 2 |S| IFO calls, or
 * R at a refresh.
 */
#include "algorithms/algorithms.h"

#include "algorithms/family.h"
#include "algorithms/step_options.h"

static const saddle_option *const options[] = {SADDLE_FAMILY_OPTIONS, &saddle_option_probability,
                                               &saddle_option_refresh_size, NULL};
static const saddle_automatic automatic[] = {
    SADDLE_FAMILY_RULES("0.1", "1", "1"),
    SADDLE_AUTOMATIC(saddle_option_mixing_rounds,
                     "the smallest K with which FastMix halves differences between agents"),
    {.option = NULL}};

static saddle_status init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    static const saddle_preset paper = {.steps = {0.1, 1.0},
                                        .estimator = {.kind = SADDLE_ESTIMATE_PAGE, .batch = 1}};
    saddle_family *p = parameters;
    p->strategy = SADDLE_TRACKING_TWICE;
    saddle_mixing_rounds_set_fast(&p->mixing, c->instance, p->steps.rounds);
    p->steps.rounds = p->mixing.count;
    return saddle_family_init(p, &paper, c, error);
}

const saddle_algorithm saddle_dream = {
    SADDLE_FAMILY,
    .name = "dream",
    .title = "DREAM",
    .look = {"#aa4499", "#d98ccb", "14 4"},
    .summary = "gradient tracking of recursive estimates with several rounds of fast mixing",
    .citation = "Chen, Ye, Luo, AISTATS 2024",
    .options = options,
    .automatic = automatic,
    .traits = {SADDLE_FAMILY_TRAITS, .settles = true,
               .assumes =
                   "F strongly concave in y, with Lipschitz gradients; FastMix needs the same M in "
                   "all rounds and takes (I + M) / 2 if M may have a negative eigenvalue; the same "
                   "steps at all agents. The paper has Y; X and h are additions.",
               .ifo = "2 |S|; R_i at a refresh", .rounds = "2 K", .message = "dim x + dim y",
               .samples = "O(m n + sqrt(m n) kappa^2 eps^-2)",
               .communication = "O(kappa^2 eps^-2)"},
    .init = init,
};
