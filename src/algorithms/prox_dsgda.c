/*
 * Prox-DSGDA at agent i: PRECISION without variance reduction and without gradient tracking (the
 * second baseline in section 4 of Liu, Zhang, Lu, Liu 2023).
 *
 *   x~, y~, x_{t+1}, y_{t+1} as in PRECISION, with p = v and d = u
 *   (v, u)_{t+1} = mean over a fresh mini-batch S of grad f_ij at (x, y)_{t+1}
 *
 * Cost of an iteration: one round, one message of (x, y) per neighbour, |S| IFO calls.
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
    saddle_family_configure(parameters, SADDLE_FAMILY_PLAIN, c);
    return SADDLE_OK;
}

const saddle_algorithm saddle_prox_dsgda = {
    .name = "prox-dsgda",
    .title = "Prox-DSGDA",
    .look = {"#cc79a7", "#e8a3c8", "3 6"},
    .summary = "PRECISION without variance reduction and tracking: local mini-batch gradients",
    .citation = "Liu, Zhang, Lu, Liu 2023, section 4",
    .options = options,
    .parameters = sizeof(saddle_family),
    .traits = {.x_set = true,
               .y_set = true,
               .regularizer = true,
               .stochastic = true,
               .ifo = "|S|",
               .rounds = "1",
               .message = "dim x + dim y",
               .samples = "-",
               .communication = "-"},
    .configure = configure,
    .layout = saddle_family_layout,
    .start = saddle_sgda_start,
    .phases = saddle_sgda_phases,
    .view = saddle_family_view,
    .prox_point = saddle_family_prox_point,
};
