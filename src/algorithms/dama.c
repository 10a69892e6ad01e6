/*
 * DAMA at agent i: a decentralized accelerated minimax approach (Cai, Alghunaim, Sayed, arXiv 2512.13920): one of three
 * strategies that remove the bias of agents with different data, with estimates that join STORM and PAGE (GRACE). With
 * w = (x, y), g = (v, -u), M for sum_j M_ij, and P the prox of (eta_x h) over X and the projection onto Y,
 *
 *   --strategy exact-diffusion   z = M n;  e+ = e + (n - z) / eta;  w+ = P(z);  n+ = w+ - eta (g+ + e+)
 *              extra             z = M w;  e+ = e + (w - z) / eta;  w+ = P(z - eta (g + e+))
 *              tracking          p = M s;  w+ = P(M w - eta p);     s+ = p + g+ - g
 *
 *   --estimator storm            g+ = g_S(w+) + (1 - beta) (g - g_S(w))
 *               sarah, page      g+ = g + g_S(w+) - g_S(w), or every q iterations, with probability rho, g_R(w+)
 *               grace            the first line, or with probability rho g_R(w+)
 *               sgd              g+ = g_S(w+)
 *
 * S is a fresh mini-batch and R the samples of a refresh. family.h says more about all of these. The paper writes the
 * strategies with square roots of matrices; these forms are equal to them. Without e, exact diffusion would be a
 * projected gradient step from the mixed iterate. The paper has neither sets nor h: the prox and the projection, which
 * turn exact-diffusion into Prox-ED and extra into PG-EXTRA, are additions that its theorem does not cover. It assumes
 * a loss that satisfies the Polyak-Lojasiewicz condition in y.
 *
 * --steps paper is refused: the values of the paper's experiments were not at hand.
 *
 * Cost of an iteration: K rounds (--mixing-rounds), each with one message of (x, y), with tracking (x, y, s), per
 * neighbour; 2 |S| IFO calls (sgd |S|), or those of a refresh. All agents need the same steps. exact-diffusion and
 * extra do not send e, so that they cannot make up for messages that are lost in one direction; such links are refused.
 */
#include "algorithms/algorithms.h"

#include "algorithms/family.h"
#include "algorithms/step_options.h"

static const saddle_option strategy =
    SADDLE_CHOICE(SADDLE_OWN(saddle_family, strategy, RUN), "strategy", "DAMA", "exact-diffusion",
                  "exact-diffusion|extra|tracking", "NAME",
                  "How agents with different data agree: exact diffusion, EXTRA (both send one "
                  "vector for x and one for y) or gradient tracking (two).");
static const saddle_option *const options[] = {SADDLE_FAMILY_OPTIONS, &strategy,
                                               SADDLE_ESTIMATOR_OPTIONS, NULL};
static const saddle_automatic automatic[] = {SADDLE_FAMILY_PRACTICAL,
                                             SADDLE_AUTOMATIC(saddle_option_estimator, "storm"),
                                             SADDLE_AUTOMATIC(saddle_option_mixing_rounds, "1"),
                                             {.option = NULL}};

static saddle_status init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    static const saddle_preset storm = {.estimator = {.kind = SADDLE_ESTIMATE_STORM}};
    if (c->instance->clipping != NULL)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--clip-mixing: dama adds up the corrections of all rounds, and clipped "
                           "ones drift; use precision, gt-gda or prox-dsgda");
    return saddle_family_init(parameters, &storm, c, error);
}

const saddle_algorithm saddle_dama = {
    SADDLE_FAMILY,
    .name = "dama",
    .title = "DAMA",
    .look = {"#332288", "#9c8fe0", ""},
    .summary = "exact diffusion, EXTRA or gradient tracking of STORM or PAGE estimates",
    .citation = "Cai, Alghunaim, Sayed, arXiv 2512.13920",
    .options = options,
    .automatic = automatic,
    .traits =
        {SADDLE_FAMILY_TRAITS,
         .assumes =
             "the Polyak-Lojasiewicz condition in y; exact-diffusion and extra need the same M in "
             "all rounds, and take (I + M) / 2 if M may have a negative eigenvalue; the same steps "
             "at all agents. The paper has neither X, Y nor h: they are additions.",
         .ifo = "2 |S|; R_i at a refresh", .rounds = "K",
         .message = "dim x + dim y (tracking: twice)", .samples = "-", .communication = "-"},
    .init = init,
};
