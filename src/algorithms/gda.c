/*
 * GDA: gradient descent ascent with two step sizes (Lin, Jin, Jordan, "On Gradient Descent Ascent
 * for Nonconvex-Concave Minimax Problems", ICML 2020, Algorithm 1). Centralized.
 *
 *   x_{t+1} = prox of (eta_x h) over X at  x_t - eta_x grad_x F(x_t, y_t)
 *   y_{t+1} = projection onto Y of         y_t + eta_y grad_y F(x_t, y_t)
 *
 * Its Theorem 4.4: eta_x = 1 / (16 (kappa + 1)^2 L), eta_y = 1 / L, kappa = L / mu. The paper
 * leaves x unconstrained; a constraint and h enter by the proximal step.
 * Cost of an iteration: N IFO calls, no communication.
 */
#include "algorithms/algorithms.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/family_gda.h"
#include "algorithms/step_options.h"
#include "core/memory.h"

static const saddle_option *const options[] = {&saddle_option_eta_x, &saddle_option_eta_y, NULL};

static saddle_status configure(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    saddle_gda_configure(parameters, c, true);
    return SADDLE_OK;
}

const saddle_algorithm saddle_gda = {
    .name = "gda",
    .title = "GDA",
    .look = {"#44aa99", "#6cd0bf", "3 6"},
    .summary = "gradient descent ascent with full gradients and two step sizes",
    .citation = "Lin, Jin, Jordan, ICML 2020",
    .options = options,
    .parameters = sizeof(saddle_gda_parameters),
    .traits = {.centralized = true,
               .x_set = true,
               .y_set = true,
               .regularizer = true,
               .feasible = true,
               .ifo = "N",
               .rounds = "0",
               .message = "0",
               .samples = "O(kappa^2 N eps^-2)",
               .communication = "-"},
    .configure = configure,
    .layout = saddle_gda_layout,
    .start = saddle_gda_start,
    .phases = saddle_gda_phases,
    .view = saddle_gda_view,
};
