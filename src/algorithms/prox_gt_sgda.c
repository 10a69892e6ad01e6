/*
 * Prox-GT-SGDA at agent i: PRECISION without variance reduction (the first baseline in section 4 of
 * Liu, Zhang, Lu, Liu 2023).
 *
 *   x~, y~, x_{t+1}, y_{t+1} as in PRECISION
 *   (v, u)_{t+1} = mean over a fresh mini-batch S of grad f_ij at (x, y)_{t+1}
 *   p_{t+1} = sum_j M_ij p_{j,t} + v_{t+1} - v_t,   d_{t+1} = sum_j M_ij d_{j,t} + u_{t+1} - u_t
 *
 * Cost of an iteration: one round, one message of (x, y, p, d) per neighbour, |S| IFO calls.
 */
#include "algorithms/algorithms.h"

#include "algorithms/family.h"
#include "algorithms/step_options.h"
#include "core/memory.h"

static const saddle_option *const options[] = {
    &saddle_option_steps, &saddle_option_nu,    &saddle_option_eta,      &saddle_option_tau,
    &saddle_option_alpha, &saddle_option_batch, &saddle_option_sampling, NULL};

static saddle_status configure(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    saddle_family_configure(parameters, SADDLE_FAMILY_TRACKING, c);
    return SADDLE_OK;
}

const saddle_algorithm saddle_prox_gt_sgda = {
    .name = "prox-gt-sgda",
    .title = "Prox-GT-SGDA",
    .look = {"#009e73", "#2ecc9f", ""},
    .summary = "PRECISION without variance reduction: mini-batch gradients, tracked",
    .citation = "Liu, Zhang, Lu, Liu 2023, section 4",
    .options = options,
    .parameters = sizeof(saddle_family),
    .traits = {.x_set = true,
               .y_set = true,
               .regularizer = true,
               .stochastic = true,
               .ifo = "|S|",
               .rounds = "1",
               .message = "2 (dim x + dim y)",
               .samples = "-",
               .communication = "-"},
    .tracks = true,
    .configure = configure,
    .layout = saddle_family_layout,
    .start = saddle_sgda_start,
    .phases = saddle_sgda_phases,
    .view = saddle_family_view,
    .prox_point = saddle_family_prox_point,
};
