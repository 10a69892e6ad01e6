/*
 * The two baselines of section 4 of Liu, Zhang, Lu, Liu 2023, at agent i: PRECISION without
 * variance reduction, with the equation numbers of the paper,
 *
 *   Steps 1 and 2  x~, y~, x_{t+1}, y_{t+1} as in PRECISION                            (3) to (6)
 *   Step 3         (v, u)_{t+1} = mean over a fresh mini-batch S of grad f_ij at (x, y)_{t+1}
 *
 * Prox-GT-SGDA tracks these estimates,
 *
 *   Step 4         p_{t+1} = sum_j M_ij p_{j,t} + v_{t+1} - v_t                        (8)
 *                  d_{t+1} = sum_j M_ij d_{j,t} + u_{t+1} - u_t
 *
 * and Prox-DSGDA uses them directly: p = v and d = u.
 *
 * Cost of an iteration: one round, one message of (x, y, p, d) or (x, y) per neighbour, |S| IFO
 * calls.
 */
#include "algorithms/algorithms.h"

#include "algorithms/pass.h"
#include "algorithms/precision_steps.h"
#include "algorithms/step_options.h"
#include "core/vector.h"

static const saddle_option *const options[] = {SADDLE_PRECISION_OPTIONS, &saddle_option_batch,
                                               &saddle_option_sampling, NULL};

static saddle_status init_tracking(void *parameters, saddle_configuration *c, saddle_error *error)
{
    return saddle_precision_configure(parameters, true, c, error);
}

static saddle_status init_plain(void *parameters, saddle_configuration *c, saddle_error *error)
{
    return saddle_precision_configure(parameters, false, c, error);
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    saddle_batch batch = saddle_precision_draw(agent, agent->iteration);
    agent->request = saddle_precision_gradient(agent, batch, x0, y0);
    saddle_precision_start(agent, x0, y0);
}

/* Step 3. */
static void estimate(saddle_agent *agent)
{
    const saddle_variables at = saddle_precision_variables(agent);
    saddle_batch batch = saddle_precision_draw(agent, agent->iteration + 1);
    agent->request = saddle_precision_gradient(agent, batch, at.x1, at.y1);
}

/* Mini-batches are independent: half of what they change is the variance of one. Without trackers, agents at rest move
 * apart and are mixed again, which is no oscillation: where they are is not followed. */
static void compare_batches(saddle_agent *agent)
{
    const saddle_variables at = saddle_precision_variables(agent);
    saddle_noise_point point = saddle_precision_point(agent);
    if (!saddle_precision_shared(agent)->tracking)
        point.x = NULL;
    saddle_noise_sample(at.noise,
                        0.5 * (point.x_step * saddle_distance2(at.x_dim, at.gx, at.v) +
                               point.y_step * saddle_distance2(at.y_dim, at.gy, at.u)),
                        1.0, &point);
}

/* Returns whether it has anything to do. */
static bool compares(const saddle_agent *agent)
{
    return (agent->iteration + 1) % SADDLE_NOISE_EVERY == 0;
}

/* Equation (8) for some coordinates: p1 = sum_j M_ij p_j + v1 - v and d1 = sum_j M_ij d_j + u1 - u,
 * where (v1, u1) = (gx, gy); stores (v1, u1). */
static void track(const saddle_agent *agent, const saddle_range *x, const saddle_range *y)
{
    const saddle_variables at = saddle_precision_variables(agent);
    saddle_pass_track(agent, &(saddle_track){.range = *x,
                                             .offset = (size_t)(at.p - agent->now),
                                             .update = at.gx,
                                             .estimate = at.v,
                                             .tracker = at.p1});
    saddle_pass_track(agent, &(saddle_track){.range = *y,
                                             .offset = (size_t)(at.d - agent->now),
                                             .update = at.gy,
                                             .estimate = at.u,
                                             .tracker = at.d1});
}

/* Sets e = e1 and adds up |e1|^2 of each block. */
static void replace(const saddle_range *range, const double *e1, double *e)
{
    double *sums = range->sums;
    for (size_t begin = range->first, end; begin < range->last; begin = end) {
        end = saddle_block_end(begin, range);
        memcpy(e + begin, e1 + begin, (end - begin) * sizeof *e);
        sums[1] += saddle_norm2(end - begin, e + begin);
        sums += SADDLE_BLOCK_SUMS;
    }
}

/* p1 = v1 and d1 = u1, for some coordinates. */
static void store(const saddle_agent *agent, const saddle_range *x, const saddle_range *y)
{
    const saddle_variables at = saddle_precision_variables(agent);
    replace(x, at.gx, at.v);
    replace(y, at.gy, at.u);
}

static void after_track(saddle_agent *agent, const double *x_sums, const double *y_sums)
{
    saddle_precision_check_estimates(agent, x_sums[1], y_sums[1]);
}

/* clang-format off */
#define MOVE                                                                           \
    {                                                                                  \
        .name = "move", .before = saddle_precision_compute_targets,                    \
        .has_before = saddle_precision_needs_targets, .blocks = saddle_precision_move, \
        .after = saddle_precision_after_move                                           \
    }
/* clang-format on */

static const saddle_phase tracking_phases[] = {
    MOVE,                                     /* (3) to (6) */
    {.name = "estimate", .before = estimate}, /* step 3 */
    {.name = "track",                         /* (8) */
     .before = compare_batches,
     .has_before = compares,
     .blocks = track,
     .after = after_track},
    {.name = NULL}};

static const saddle_phase plain_phases[] = {MOVE,
                                            {.name = "estimate", .before = estimate},
                                            {.name = "store",
                                             .before = compare_batches,
                                             .has_before = compares,
                                             .blocks = store,
                                             .after = after_track},
                                            {.name = NULL}};

/* What both have in common. */
#define COMMON                                                                                 \
    .citation = "Liu, Zhang, Lu, Liu 2023, section 4", .options = options,                     \
    .size = sizeof(saddle_precision_steps), .layout = saddle_precision_layout, .start = start, \
    .view = saddle_precision_view, .prox_point = saddle_precision_prox_point,                  \
    .device = saddle_precision_device
/* clang-format off */
#define TRAITS(sent)                                                                      \
    {                                                                                     \
        SADDLE_PROXIMAL, .stochastic = true, .potential = true, .fresh_batches = true,    \
        .assumes = "nothing is proved; M with lambda < 1 and the same steps at all "      \
                   "agents. X, Y and h are those of the PRECISION paper.",                \
        .ifo = "|S|",                                                                     \
        .rounds = "1", .message = (sent), .samples = "-", .communication = "-"            \
    }
/* clang-format on */

const saddle_algorithm saddle_prox_gt_sgda = {
    COMMON,
    .name = "prox-gt-sgda",
    .title = "Prox-GT-SGDA",
    .look = {"#009e73", "#2ecc9f", ""},
    .summary = "PRECISION without variance reduction: tracks mini-batch gradients",
    .traits = TRAITS("2 (dim x + dim y)"),
    .phases = tracking_phases,
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
    .phases = plain_phases,
    .init = init_plain,
};
