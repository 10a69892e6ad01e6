/*
 * SGDA: stochastic gradient descent ascent with two step sizes (Lin, Jin, Jordan, ICML 2020,
 * Algorithm 2). Centralized.
 *
 *   (gx, gy) = mean over a fresh mini-batch S of grad f at (x_t, y_t)
 *   x_{t+1}  = prox of (eta_x h) over X at  x_t - eta_x gx
 *   y_{t+1}  = projection onto Y of         y_t + eta_y gy
 *
 * Its Theorem 4.5: steps as GDA's. It asks for |S| = max{1, 26 kappa sigma^2 eps^-2}, which needs
 * the unknown sigma^2; |S| is an option here, ceil(sqrt(N)) by default as for the other methods.
 * Cost of an iteration: |S| IFO calls, no communication.
 */
#include "algorithms/algorithms.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/family_gda.h"
#include "algorithms/step_options.h"
#include "core/memory.h"

static const saddle_option *const options[] = {&saddle_option_eta_x, &saddle_option_eta_y,
                                               &saddle_option_batch, &saddle_option_sampling, NULL};

static saddle_status configure(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    saddle_gda_configure(parameters, c, false);
    return SADDLE_OK;
}

const saddle_algorithm saddle_sgda = {
    .name = "sgda",
    .title = "SGDA",
    .look = {"#8a8a2c", "#c9c95e", "3 6"},
    .summary = "gradient descent ascent with mini-batches and two step sizes",
    .citation = "Lin, Jin, Jordan, ICML 2020",
    .options = options,
    .parameters = sizeof(saddle_gda_parameters),
    .traits = {.centralized = true,
               .x_set = true,
               .y_set = true,
               .regularizer = true,
               .stochastic = true,
               .feasible = true,
               .ifo = "|S|",
               .rounds = "0",
               .message = "0",
               .samples = "O(kappa^3 eps^-4)",
               .communication = "-"},
    .configure = configure,
    .layout = saddle_gda_layout,
    .start = saddle_gda_start,
    .phases = saddle_gda_phases,
    .view = saddle_gda_view,
};
