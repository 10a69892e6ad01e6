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
 * with the equation numbers of the paper. In the code x stands for x_t and x1 for x_{t+1}.
 *
 * Start: v_0 = p_0 = grad_x F_i(x_0, y_0), u_0 = d_0 = grad_y F_i(x_0, y_0).
 * Cost of an iteration: one round, one message of (x, y, p, d) per neighbour; n_i IFO calls for a
 * refresh, otherwise 2 |S|.
 */
#include "algorithms/algorithms.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/pass.h"
#include "algorithms/precision_steps.h"
#include "algorithms/shifted_estimate.h"
#include "algorithms/step_options.h"
#include "core/vector.h"

/* The paper sets |S| = q = ceil(sqrt(n)). By default |S| is ceil(sqrt(n) / BATCH_DIVISOR) here:
 * small batches need fewer samples at about as many rounds (docs/reproduction.md). */
#define BATCH_DIVISOR 4.0

static const saddle_automatic automatic[] = {SADDLE_PRECISION_BATCH_RULE("4"), {.option = NULL}};

static const saddle_option *const options[] = {SADDLE_PRECISION_OPTIONS, &saddle_option_q,
                                               &saddle_option_batch, &saddle_option_sampling, NULL};

static saddle_status init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    return saddle_precision_configure_recursive(parameters, BATCH_DIVISOR, c, error);
}

/* Returns the batch of all n_i samples. */
static saddle_batch all_samples(const saddle_agent *agent)
{
    return (saddle_batch){.index = NULL, .count = agent->problem->samples[agent->id]};
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    agent->request = saddle_precision_gradient(agent, all_samples(agent), x0, y0);
    saddle_precision_start(agent, x0, y0);
}

/* ---- steps 1 and 2 --------------------------------------------------------------------------- */

/* out = a - b / tau */
SADDLE_KERNEL static void gradient_point(size_t count, double tau, const double *restrict a,
                                         const double *restrict b, double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = a[k] - b[k] / tau;
}

/* out = a + alpha b */
SADDLE_KERNEL static void ascent_point(size_t count, double alpha, const double *restrict a,
                                       const double *restrict b, double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = a[k] + alpha * b[k];
}

void saddle_precision_prox_point(const saddle_agent *agent, double tau, double *x_tilde,
                                 double *scratch)
{
    const saddle_variables at = saddle_precision_variables(agent);
    if (tau == saddle_precision_shared(agent)->steps.tau) {
        gradient_point(at.x_dim, tau, at.x, at.p, x_tilde);
    } else {
        /* Multiplying by 1 / tau, not dividing by tau, keeps the bits of recorded traces. */
        memcpy(x_tilde, at.x, at.x_dim * sizeof *x_tilde);
        saddle_axpy(at.x_dim, -1.0 / tau, at.p, x_tilde);
    }
    saddle_prox_apply(agent->x_prox, 1.0 / tau, x_tilde, scratch);
}

bool saddle_precision_needs_targets(const saddle_agent *agent)
{
    const saddle_precision_steps *shared = saddle_precision_shared(agent);
    return !shared->clip_x.only || !shared->clip_y.only;
}

/* Step 1 if it needs all coordinates at once: x~ is the prox of (h / tau) over X at x - p / tau, which
 * is (3), and y~ the projection (4). */
void saddle_precision_compute_targets(saddle_agent *agent)
{
    const saddle_precision_steps *shared = saddle_precision_shared(agent);
    const saddle_variables at = saddle_precision_variables(agent);
    if (!shared->clip_x.only)
        saddle_precision_prox_point(agent, shared->steps.tau, at.x_tilde, agent->scratch);
    if (!shared->clip_y.only) {
        ascent_point(at.y_dim, shared->steps.alpha, at.y, at.d, at.y_tilde);
        saddle_set_project(agent->y_set, at.y_tilde, agent->scratch);
    }
}

/* Steps 1 and 2 for some coordinates. Without targets the pass computes x~ and y~, which it does not
 * store. If u is linear in y except in the batch's entries, it also computes d1 outside of these. */
void saddle_precision_move(const saddle_agent *agent, const saddle_range *x, const saddle_range *y)
{
    const saddle_precision_steps *shared = saddle_precision_shared(agent);
    const saddle_variables at = saddle_precision_variables(agent);
    double c = shared->curvature;
    /* Whether there will be a refresh is known before the move, unless batches are measured. */
    bool tracked = c > 0.0 && (shared->refreshes == SADDLE_REFRESH_MEASURED ||
                               !saddle_precision_refreshes(agent));

    /* x~ = x - p / tau, clipped (3);   x1 = sum_j M_ij x_j + nu (x~ - x) (5) */
    saddle_pass_move(agent, &(saddle_pass){.range = *x,
                                           .offset = (size_t)(at.x - agent->now),
                                           .g = at.p,
                                           .descend = true,
                                           .rate = shared->steps.tau,
                                           .lower = shared->clip_x.lower,
                                           .upper = shared->clip_x.upper,
                                           .target = shared->clip_x.only ? NULL : at.x_tilde,
                                           .step = shared->steps.nu,
                                           .next = at.x1});
    /* y~ = y + alpha d, clipped (4);   y1 = sum_j M_ij y_j + eta (y~ - y) (6)
     * and, if `tracked`, d1 = sum_j M_ij d_j - c (y1 - y): precision_steps.h */
    saddle_pass_move(agent, &(saddle_pass){.range = *y,
                                           .offset = (size_t)(at.y - agent->now),
                                           .g = at.d,
                                           .descend = false,
                                           .rate = shared->steps.alpha,
                                           .lower = shared->clip_y.lower,
                                           .upper = shared->clip_y.upper,
                                           .target = shared->clip_y.only ? NULL : at.y_tilde,
                                           .step = shared->steps.eta,
                                           .next = at.y1,
                                           .direction = tracked ? (size_t)(at.d - agent->now) : 0,
                                           .curvature = c,
                                           .tracker = tracked ? at.d1 : NULL});
}

void saddle_precision_after_move(saddle_agent *agent, const double *x_sums, const double *y_sums)
{
    const saddle_variables at = saddle_precision_variables(agent);
    *at.moved = x_sums[0] + y_sums[0];
    *at.reach = x_sums[1];
    *at.y_moved = y_sums[0];
    const saddle_precision_steps *shared = saddle_precision_shared(agent);
    const saddle_steps *s = &shared->steps;
    if (shared->refreshes != SADDLE_REFRESH_MEASURED)
        saddle_noise_move(at.noise, s->nu * s->tau * x_sums[1] + s->eta / s->alpha * y_sums[1]);
    if (!isfinite(*at.moved)) {
        saddle_agent_check_finite(agent, "x", at.x_dim, at.x1);
        saddle_agent_check_finite(agent, "y", at.y_dim, at.y1);
    }
}

/* ---- step 3 ---------------------------------------------------------------------------------- */

/* Returns whether (7) computes the estimates of an iteration after t anew. */
static bool is_refresh(const saddle_agent *agent, uint64_t iteration)
{
    const saddle_precision_steps *shared = saddle_precision_shared(agent);
    const saddle_variables at = saddle_precision_variables(agent);
    if (shared->refreshes == SADDLE_REFRESH_EVERY_Q)
        return iteration % shared->steps.q == 0;
    uint64_t since = iteration - (uint64_t)at.kept[SADDLE_PRECISION_REFRESHED];
    return since % (uint64_t)at.kept[SADDLE_PRECISION_SPAN] == 0;
}

/* Returns this of iteration t + 1; of measured batches, after they are drawn. */
bool saddle_precision_refreshes(const saddle_agent *agent)
{
    if (saddle_precision_shared(agent)->refreshes == SADDLE_REFRESH_MEASURED)
        return saddle_precision_variables(agent).measured[REFRESHES] > 0.0;
    return is_refresh(agent, agent->iteration + 1);
}

/* Returns a request for the change of the estimates between refreshes, the second line of (7). */
saddle_request saddle_precision_difference(saddle_agent *agent)
{
    const saddle_variables at = saddle_precision_variables(agent);
    bool linear = saddle_precision_shared(agent)->curvature > 0.0;
    return (saddle_request){.kind = linear ? SADDLE_REQUEST_BATCH_DIFFERENCE
                                           : SADDLE_REQUEST_DIFFERENCE,
                            .batch = saddle_precision_draw(agent, agent->iteration + 1),
                            .x = at.x1,
                            .y = at.y1,
                            .x0 = at.x,
                            .y0 = at.y,
                            .gx = at.gx,
                            .gy = at.gy};
}

static void estimate(saddle_agent *agent)
{
    const saddle_variables at = saddle_precision_variables(agent);
    if (saddle_precision_refreshes(agent))
        agent->request = saddle_precision_gradient(agent, all_samples(agent), at.x1, at.y1);
    else
        agent->request = saddle_precision_difference(agent);
}

void saddle_precision_compare_estimates(saddle_agent *agent)
{
    const saddle_precision_steps *shared = saddle_precision_shared(agent);
    const saddle_steps *s = &shared->steps;
    const saddle_variables at = saddle_precision_variables(agent);
    bool refreshes = saddle_precision_refreshes(agent);
    if (!refreshes && !is_refresh(agent, agent->iteration + 2))
        return;
    double in_x =
        refreshes ? saddle_distance2(at.x_dim, at.gx, at.v) : saddle_norm2(at.x_dim, at.gx);
    double in_y = 0.0;
    for (size_t k = 0; k < at.y_dim; k++) {
        double change = at.gy[k] + (refreshes ? shared->curvature * at.y1[k] - at.u[k] : 0.0);
        in_y += change * change;
    }
    double change = s->nu / s->tau * in_x + s->eta * s->alpha * in_y;
    const saddle_noise_point point = saddle_precision_point(agent);
    if (refreshes)
        saddle_noise_compare(at.noise, change, &point);
    else
        at.noise[NOISE_STEP] = change;
}

/* Returns whether it has anything to do. */
static bool compares(const saddle_agent *agent)
{
    return is_refresh(agent, agent->iteration + 1) || is_refresh(agent, agent->iteration + 2);
}

/* ---- step 4 ---------------------------------------------------------------------------------- */

/* Equation (8) for some coordinates, where (gx, gy) is (v, u)_{t+1} after a refresh and otherwise
 * (v, u)_{t+1} - (v, u)_t; stores (v, u)_{t+1}. */
void saddle_precision_track(const saddle_agent *agent, const saddle_range *x, const saddle_range *y)
{
    const saddle_variables at = saddle_precision_variables(agent);
    double c = saddle_precision_shared(agent)->curvature;
    bool refreshed = saddle_precision_refreshes(agent);

    /* p1 = sum_j M_ij p_j + v1 - v */
    saddle_pass_track(agent, &(saddle_track){.range = *x,
                                             .offset = (size_t)(at.p - agent->now),
                                             .update = at.gx,
                                             .added = !refreshed,
                                             .estimate = at.v,
                                             .tracker = at.p1});
    /* d1 = sum_j M_ij d_j + u1 - u */
    if (c > 0.0 && refreshed)
        saddle_shifted_refresh(agent, c, y);
    else if (c > 0.0)
        saddle_shifted_update(agent, &agent->request.batch, y);
    else
        saddle_pass_track(agent, &(saddle_track){.range = *y,
                                                 .offset = (size_t)(at.d - agent->now),
                                                 .update = at.gy,
                                                 .added = !refreshed,
                                                 .estimate = at.u,
                                                 .tracker = at.d1});
}

void saddle_precision_after_track(saddle_agent *agent, const double *x_sums, const double *y_sums)
{
    const saddle_variables at = saddle_precision_variables(agent);
    double c = saddle_precision_shared(agent)->curvature;
    double linear = c > 0.0 ? c * *at.y_moved : 0.0;
    saddle_precision_check_estimates(agent, x_sums[1], y_sums[1]);
    if (!saddle_precision_refreshes(agent))
        saddle_check_recursion(agent, x_sums[0] + y_sums[0] + linear);
}

static const saddle_phase phases[] = {{.name = "move", /* (3) to (6) */
                                       .before = saddle_precision_compute_targets,
                                       .has_before = saddle_precision_needs_targets,
                                       .blocks = saddle_precision_move,
                                       .after = saddle_precision_after_move},
                                      {.name = "estimate", .before = estimate}, /* (7) */
                                      {.name = "track",                         /* (8) */
                                       .before = saddle_precision_compare_estimates,
                                       .has_before = compares,
                                       .blocks = saddle_precision_track,
                                       .after = saddle_precision_after_track},
                                      {.name = NULL}};

const saddle_algorithm saddle_precision = {
    .name = "precision",
    .title = "PRECISION",
    .look = {"#0072b2", "#4ea8de", ""},
    .summary = "proximal steps with gradient tracking and recursive variance reduction",
    .citation = "Liu, Zhang, Lu, Liu 2023, Algorithm 1",
    .options = options,
    .automatic = automatic,
    .size = sizeof(saddle_precision_steps),
    .traits = {SADDLE_PROXIMAL, .stochastic = true, .potential = true, .settles = true,
               .assumes = "F strongly concave in y, with Lipschitz gradients; M with lambda < 1 "
                          "and the same steps at all agents. X, Y and h are the paper's.",
               .ifo = "2 |S|; n_i at a refresh", .rounds = "1", .message = "2 (dim x + dim y)",
               .samples = "O(m sqrt(n) eps^-2)", .communication = "O(eps^-2)"},
    .init = init,
    .layout = saddle_precision_layout,
    .start = start,
    .phases = phases,
    .view = saddle_precision_view,
    .prox_point = saddle_precision_prox_point,
    .device = saddle_precision_device,
};
