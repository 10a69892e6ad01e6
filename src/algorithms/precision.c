/*
 * PRECISION at agent i (Liu, Zhang, Lu, Liu, "PRECISION: Decentralized Constrained Min-Max Learning
 * with Low Communication and Sample Complexities", MobiHoc 2023, Algorithm 1).
 *
 *   Step 1  x~ = argmin over X of  <p_t, x - x_t> + tau/2 |x - x_t|^2 + h(x)           (3)
 *           y~ = projection onto Y of  y_t + alpha d_t                                 (4)
 *   Step 2  x_{t+1} = sum_j M_ij x_{j,t} + nu  (x~ - x_t)                              (5)
 *           y_{t+1} = sum_j M_ij y_{j,t} + eta (y~ - y_t)                              (6)
 *   Step 3  if (t+1) mod q = 0:  (v, u)_{t+1} = grad F_i at (x, y)_{t+1}                (7)
 *           otherwise:           (v, u)_{t+1} = (v, u)_t + mean over a fresh mini-batch S of
 *                                grad f_ij at (x, y)_{t+1} - grad f_ij at (x, y)_t
 *   Step 4  p_{t+1} = sum_j M_ij p_{j,t} + v_{t+1} - v_t                               (8)
 *           d_{t+1} = sum_j M_ij d_{j,t} + u_{t+1} - u_t
 *
 * with the equation numbers of the paper.
 *
 * Start: v_0 = p_0 = grad_x F_i(x_0, y_0), u_0 = d_0 = grad_y F_i(x_0, y_0).
 * Cost of an iteration: one round, one message of (x, y, p, d) per neighbour; n_i IFO calls for a
 * refresh, otherwise 2 |S|.
 */
#include "algorithms/algorithms.h"

#include "algorithms/precision_steps.h"
#include "algorithms/step_options.h"

/* A mini-batch has ceil(sqrt(n) / BATCH_PARTS) samples. */
#define BATCH_PARTS 4.0

static const saddle_option *const options[] = {
    &saddle_option_steps, &saddle_option_nu,       &saddle_option_eta,
    &saddle_option_tau,   &saddle_option_alpha,    &saddle_option_q,
    &saddle_option_batch, &saddle_option_sampling, NULL};

static saddle_status init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    saddle_precision_small_batches(c, BATCH_PARTS);
    saddle_precision_configure(parameters, SADDLE_PRECISION_RECURSIVE, c);
    return SADDLE_OK;
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    saddle_full_estimate(agent, &at, x0, y0);
    saddle_agent_evaluate(agent);
    saddle_precision_start(&at, x0, y0);
}

/* Step 3, equation (7). */
static void estimate(saddle_agent *agent)
{
    saddle_variables at;
    saddle_precision_variables(agent, &at);
    if (saddle_precision_refreshes(agent))
        saddle_full_estimate(agent, &at, at.x1, at.y1);
    else
        saddle_recursive_estimate(agent, &at);
}

/* Equations (3) to (6), (7), (8). */
static const saddle_phase phases[] = {
    {"move", saddle_precision_compute_targets, saddle_precision_needs_targets,
     saddle_precision_move, saddle_precision_after_move},
    {"estimate", .before = estimate},
    {"track", NULL, NULL, saddle_precision_track, saddle_precision_after_track},
    {.name = NULL}};

const saddle_algorithm saddle_precision = {
    .name = "precision",
    .title = "PRECISION",
    .look = {"#0072b2", "#4ea8de", ""},
    .summary = "proximal steps with gradient tracking and recursive variance reduction",
    .citation = "Liu, Zhang, Lu, Liu 2023, Algorithm 1",
    .options = options,
    .size = sizeof(saddle_precision_steps),
    .traits = {.x_set = true,
               .y_set = true,
               .regularizer = true,
               .stochastic = true,
               .potential = true,
               .ifo = "2 |S|; n_i at a refresh",
               .rounds = "1",
               .message = "2 (dim x + dim y)",
               .samples = "O(m sqrt(n) eps^-2)",
               .communication = "O(eps^-2)"},
    .init = init,
    .layout = saddle_precision_layout,
    .start = start,
    .phases = phases,
    .view = saddle_precision_view,
    .prox_point = saddle_precision_prox_point,
};
