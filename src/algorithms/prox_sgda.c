/*
 * The two baselines of section 4 of Liu, Zhang, Lu, Liu 2023, at agent i: PRECISION without
 * variance reduction,
 *
 *   x~, y~, x_{t+1}, y_{t+1} as in PRECISION
 *   (v, u)_{t+1} = mean over a fresh mini-batch S of grad f_ij at (x, y)_{t+1}
 *
 * Prox-GT-SGDA tracks these estimates,
 *
 *   p_{t+1} = sum_j M_ij p_{j,t} + v_{t+1} - v_t,   d_{t+1} = sum_j M_ij d_{j,t} + u_{t+1} - u_t,
 *
 * and Prox-DSGDA uses them directly: p = v and d = u.
 *
 * Cost of an iteration: one round, one message of (x, y, p, d) or (x, y) per neighbour, |S| IFO
 * calls.
 */
#include "algorithms/algorithms.h"

#include "algorithms/precision_steps.h"
#include "algorithms/step_options.h"

static const saddle_option *const options[] = {
    &saddle_option_steps, &saddle_option_nu,    &saddle_option_eta,      &saddle_option_tau,
    &saddle_option_alpha, &saddle_option_batch, &saddle_option_sampling, NULL};

static saddle_status init_tracking(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    saddle_precision_configure(parameters, SADDLE_PRECISION_TRACKING, c);
    return SADDLE_OK;
}

static saddle_status init_plain(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    saddle_precision_configure(parameters, SADDLE_PRECISION_PLAIN, c);
    return SADDLE_OK;
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    saddle_minibatch_estimate(agent, &at, agent->iteration, x0, y0);
    saddle_agent_evaluate(agent);
    saddle_precision_start(&at, x0, y0);
}

static void estimate(saddle_agent *agent)
{
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    saddle_minibatch_estimate(agent, &at, agent->iteration + 1, at.x1, at.y1);
}

static const saddle_phase phases[] = {
    {"move", saddle_precision_compute_targets, saddle_precision_needs_targets,
     saddle_precision_move, saddle_precision_after_move},
    {"estimate", .before = estimate},
    {"track", NULL, NULL, saddle_precision_track, saddle_precision_after_track},
    {.name = NULL}};

/* What both have in common. */
#define COMMON                                                                                 \
    .citation = "Liu, Zhang, Lu, Liu 2023, section 4", .options = options,                     \
    .size = sizeof(saddle_precision_steps), .layout = saddle_precision_layout, .start = start, \
    .phases = phases, .view = saddle_precision_view, .prox_point = saddle_precision_prox_point
#define TRAITS(sent)                                                                              \
    {                                                                                             \
        .x_set = true, .y_set = true, .regularizer = true, .stochastic = true, .potential = true, \
        .ifo = "|S|", .rounds = "1", .message = (sent), .samples = "-", .communication = "-"      \
    }

const saddle_algorithm saddle_prox_gt_sgda = {
    COMMON,
    .name = "prox-gt-sgda",
    .title = "Prox-GT-SGDA",
    .look = {"#009e73", "#2ecc9f", ""},
    .summary = "PRECISION without variance reduction: tracks mini-batch gradients",
    .traits = TRAITS("2 (dim x + dim y)"),
    .init = init_tracking,
};

const saddle_algorithm saddle_prox_dsgda = {
    COMMON,
    .name = "prox-dsgda",
    .title = "Prox-DSGDA",
    .look = {"#cc79a7", "#e8a3c8", "3 6"},
    .summary = "PRECISION with neither variance reduction nor gradient tracking: local mini-batch "
               "gradients",
    .traits = TRAITS("dim x + dim y"),
    .init = init_plain,
};
