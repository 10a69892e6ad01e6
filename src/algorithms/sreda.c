/*
 * SREDA: stochastic recursive gradient descent ascent (Luo, Ye, Huang, Zhang, "Stochastic Recursive
 * Gradient Descent Ascent for Stochastic Nonconvex-Strongly-Concave Minimax Problems", NeurIPS
 * 2020). Centralized; x is unconstrained, y in Y. sreda_steps.h describes the iteration:
 *
 *   y_0 by projected SARAH;  a refresh of (v, u) every q iterations;
 *   x_{k+1} = x_k - eta_k v,  eta_k = min{ eps / (5 kappa L |v|), 1 / (10 kappa L) };
 *   y_{k+1} by recursive ascent of step lambda, which updates both estimates.
 *
 * Its rules for finite sums: lambda = 1 / (8 L), S1 = N, q = ceil(sqrt(N) / kappa),
 * S2 = ceil(3687/76 kappa q), m = ceil(1024 kappa), gradient mapping of y_0 at most eps / kappa.
 * They are used with `--steps theory`. With these m and S2 every estimate is nearly exact and an
 * iteration costs thousands of passes over the data. Therefore the defaults are eta_x = 0.3 / tau,
 * lambda = 0.1 alpha, m = 10, S2 = ceil(sqrt(N)) and q = ceil(ceil(sqrt(N)) / (m + 1)), where eta_x
 * replaces 1 / (10 kappa L): eta_k = eta_x min{1, 2 eps / |v|}. Without `--epsilon` there is no
 * accuracy to normalize by, and eta_k = eta_x.
 *
 * The last iterate is reported; the paper's guarantee is for an iterate drawn uniformly from all.
 *
 * Cost of an iteration: 2 S2 (s + 1) IFO calls with s <= m, and N more in every q-th; no
 * communication.
 *
 * SREDA-Boost (Xu, Wang, Liang, Poor, "Enhanced First and Zeroth Order Variance Reduced Algorithms
 * for Min-Max Optimization", 2020). Centralized; x is unconstrained, y in Y.
 *
 * SREDA with a constant step in x that does not depend on the accuracy,
 *
 *   x_{k+1} = x_k - eta_x v,
 *
 * and without the initial maximization over y. Its rules: eta_x = 1 / (24 (kappa + 1) L),
 * eta_y = 2 / (13 L), m = ceil(104 kappa) - 1; q and S2 are SREDA's for finite sums. They are used
 * with `--steps theory`; otherwise the practical rules of SREDA are.
 *
 * Cost of an iteration: 2 S2 (s + 1) IFO calls with s <= m, and N more in every q-th; no
 * communication.
 */
#include "algorithms/algorithms.h"

#include "algorithms/sreda_steps.h"
#include "algorithms/step_options.h"
#include "core/base.h"

static const saddle_automatic automatic[] = {
    SADDLE_AUTOMATIC(saddle_option_eta_x, "0.3/tau; with --steps theory 1 / (10 kappa L)"),
    SADDLE_AUTOMATIC(saddle_option_eta_y, "0.1 alpha; with --steps theory 1 / (8 L)"),
    SADDLE_AUTOMATIC(saddle_option_epsilon, "no such limit; with --steps theory 0.1"),
    SADDLE_AUTOMATIC(saddle_option_initial_epochs, "3; with --steps theory 100"),
    SADDLE_SREDA_PERIOD_RULES,
    {.option = NULL}};
static const saddle_automatic boost_automatic[] = {
    SADDLE_AUTOMATIC(saddle_option_eta_x, "0.3/tau; with --steps theory 1 / (24 (kappa + 1) L)"),
    SADDLE_AUTOMATIC(saddle_option_eta_y, "0.1 alpha; with --steps theory 2 / (13 L)"),
    SADDLE_AUTOMATIC(saddle_option_initial_epochs, "0"),
    SADDLE_SREDA_PERIOD_RULES,
    {.option = NULL}};

static saddle_status init_sreda(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    double L = c->instance->constants.lipschitz;
    double kappa = L / c->instance->constants.strong_concavity;
    saddle_sreda_rules paper = {.eta_x = 1.0 / (10.0 * kappa * L),
                                .eta_y = 1.0 / (8.0 * L),
                                .steps = ceil(1024.0 * kappa),
                                .normalized = true,
                                .initial = 100};
    saddle_sreda_configure(parameters, c, &paper);
    return SADDLE_OK;
}

static saddle_status init_boost(void *parameters, saddle_configuration *c, saddle_error *error)
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

/* What both have in common. */
#define COMMON                                                                                     \
    .size = sizeof(saddle_sreda_parameters),                                                       \
    .traits = {.centralized = true,                                                                \
               .y_set = true,                                                                      \
               .stochastic = true,                                                                 \
               .feasible = true,                                                                   \
               .assumes = "F strongly concave in y, with Lipschitz gradients. The papers have Y; " \
                          "X and h are refused.",                                                  \
               .ifo = "N/q + 2|S|(s+1), s <= M",                                                   \
               .rounds = "0",                                                                      \
               .message = "0",                                                                     \
               .samples = "O(N + kappa^2 sqrt(N) eps^-2)",                                         \
               .communication = "-"},                                                              \
    .respects_limit = true, .most_ifo = saddle_sreda_most_ifo, .layout = saddle_sreda_layout,      \
    .start = saddle_plain_start, .phases = saddle_sreda_phases, .view = saddle_sreda_view

const saddle_algorithm saddle_sreda = {
    COMMON,
    .name = "sreda",
    .title = "SREDA",
    .look = {"#aa4499", "#e083d0", "9 4 3 4"},
    .summary =
        "recursive variance reduction, normalized steps in x, an inner loop that maximizes over y",
    .citation = "Luo, Ye, Huang, Zhang, NeurIPS 2020",
    .options = saddle_sreda_options,
    .automatic = automatic,
    .init = init_sreda,
};

const saddle_algorithm saddle_sreda_boost = {
    COMMON,
    .name = "sreda-boost",
    .title = "SREDA-Boost",
    .look = {"#8c510a", "#d09a57", "9 4 3 4"},
    .summary = "SREDA with longer, constant steps in x and no initial maximization over y",
    .citation = "Xu, Wang, Liang, Poor, 2020",
    .options = saddle_sreda_boost_options,
    .automatic = boost_automatic,
    .init = init_boost,
};
