/*
 * SREDA-Boost (Xu, Wang, Liang, Poor, "Enhanced First and Zeroth Order Variance Reduced Algorithms
 * for Min-Max Optimization", 2020). Centralized; x is unconstrained, y in Y.
 *
 * SREDA (sreda.c, family_sreda.h) with a constant step in x that does not depend on the accuracy,
 *
 *   x_{k+1} = x_k - eta_x v,
 *
 * and without the initial maximization over y. Its rules: eta_x = 1 / (24 (kappa + 1) L),
 * eta_y = 2 / (13 L), m = ceil(104 kappa) - 1; q and S2 are SREDA's for finite sums. They hold with
 * `--steps theory`; otherwise the practical ones of SREDA do.
 *
 * Cost of an iteration: 2 S2 (s + 1) IFO calls with s <= m, and N more in every q-th; no
 * communication.
 */
#include "algorithms/algorithms.h"

#include <math.h>

#include "algorithms/family_sreda.h"
#include "core/memory.h"

static saddle_status configure(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    double L = c->instance->constants.lipschitz;
    double kappa = L / c->instance->constants.strong_concavity;
    saddle_sreda_rules paper = {.eta_x = 1.0 / (24.0 * (kappa + 1.0) * L),
                                .eta_y = 2.0 / (13.0 * L),
                                .steps = ceil(104.0 * kappa) - 1.0,
                                .normalized = false,
                                .initial = 0};
    saddle_sreda_configure(parameters, c, &paper);
    return SADDLE_OK;
}

const saddle_algorithm saddle_sreda_boost = {
    .name = "sreda-boost",
    .title = "SREDA-Boost",
    .look = {"#8c510a", "#d09a57", "9 4 3 4"},
    .summary = "SREDA with constant, longer steps in x and no initial maximization",
    .citation = "Xu, Wang, Liang, Poor, 2020",
    .options = saddle_sreda_options,
    .parameters = sizeof(saddle_sreda_parameters),
    .traits = {.centralized = true,
               .y_set = true,
               .stochastic = true,
               .feasible = true,
               .ifo = "N/q + 2|S|(s+1), s <= M",
               .rounds = "0",
               .message = "0",
               .samples = "O(N + kappa^2 sqrt(N) eps^-2)",
               .communication = "-"},
    .heeds_limit = true,
    .configure = configure,
    .most_ifo = saddle_sreda_most_ifo,
    .layout = saddle_sreda_layout,
    .start = saddle_sreda_start,
    .phases = saddle_sreda_phases,
    .view = saddle_sreda_view,
};
