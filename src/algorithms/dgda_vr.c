/*
 * DGDA-VR at agent i: gradient tracking of recursive estimates (Zhang, Mancino-Ball, Aybat, Xu, "Jointly Improving the
 * Sample and Communication Complexities in Decentralized Stochastic Minimax Optimization", AAAI 2024, arXiv
 * 2307.09421).
 *
 *   p = sum_j M_ij s_j,   d likewise
 *   x_{t+1} = prox of (eta_x h) over X at  sum_j M_ij x_{j,t} - eta_x p
 *   y_{t+1} = projection onto Y of         sum_j M_ij y_{j,t} + eta_y d
 *   (v, u)_{t+1} = gradient over --refresh-size samples every q iterations, otherwise (v, u)_t + mean over a mini-batch
 *                  S of grad f_ij at (x, y)_{t+1} - grad f_ij at (x, y)_t
 *   s_{t+1} = p + v_{t+1} - v_t
 *
 * It is the row "tracking x sarah" of family.h. Start: s = v, from all samples. The paper has neither sets nor h: the
 * prox and the projection are additions that its theorem does not cover. It assumes a loss that is strongly concave in
 * y. --steps paper has the values of the authors' program: eta_x = 0.01, eta_y = 0.1, |S| = q = 32.
 *
 * Cost of an iteration: K rounds (--mixing-rounds), each with one message of (x, y, s) per neighbour; 2 |S| IFO calls,
 * or those of a refresh.
 */
#include "algorithms/algorithms.h"

#include "algorithms/family.h"
#include "algorithms/step_options.h"

static const saddle_option *const options[] = {SADDLE_FAMILY_OPTIONS, &saddle_option_q,
                                               &saddle_option_refresh_size, NULL};
static const saddle_automatic automatic[] = {
    SADDLE_FAMILY_RULES("0.01", "0.1", "32"),
    SADDLE_AUTOMATIC(saddle_option_q, "as above; with --steps paper 32"),
    SADDLE_AUTOMATIC(saddle_option_mixing_rounds, "1"),
    {.option = NULL}};

static saddle_status init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    static const saddle_preset paper = {
        .steps = {0.01, 0.1}, .estimator = {.kind = SADDLE_ESTIMATE_SARAH, .batch = 32, .q = 32}};
    saddle_family *p = parameters;
    p->strategy = SADDLE_TRACKING;
    return saddle_family_init(p, &paper, c, error);
}

const saddle_algorithm saddle_dgda_vr = {
    SADDLE_FAMILY,
    .name = "dgda-vr",
    .title = "DGDA-VR",
    .look = {"#117733", "#5fbf7f", "8 5"},
    .summary = "gradient tracking of recursive estimates, from averaged trackers",
    .citation = "Zhang, Mancino-Ball, Aybat, Xu, AAAI 2024",
    .options = options,
    .automatic = automatic,
    .traits =
        {SADDLE_FAMILY_TRAITS, .settles = true,
         .assumes =
             "F strongly concave in y, with Lipschitz gradients; M with lambda < 1 and the same "
             "steps at all agents. The paper has neither X, Y nor h: they are additions.",
         .ifo = "2 |S|; R_i at a refresh", .rounds = "K", .message = "2 (dim x + dim y)",
         .samples = "O(eps^-3)", .communication = "O(eps^-2)"},
    .init = init,
};
