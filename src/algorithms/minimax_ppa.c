/*
 * Minimax-PPA: inexact accelerated proximal points (Lin, Jin, Jordan, "Near-Optimal Algorithms for
 * Minimax Optimization", COLT 2020). Centralized, full gradients, three loops inside an iteration:
 *
 *   PPA    x_{k+1} ~ argmin over X of max over Y of  g_k = F(x, y) + L |x - x_k|^2
 *   APPA   g_k is 3L-smooth and L-strongly convex in x: from xe_0 = x_k,
 *            x_t ~ argmin max of  g_k(x, y) + 3L |x - xe_{t-1}|^2
 *            xe_t = x_t + a (x_t - x_{t-1}),   a = (2 sqrt(3) - 1) / (2 sqrt(3) + 1)
 *   AG2    that is l = 9L-smooth, 6L-strongly convex in x (kx = 3/2), ky = l / mu: from ye_0 = y,
 *            x ~ argmin over X at ye_{t-1}
 *            y_t = projection onto Y of  ye_{t-1} + grad_y F(x, ye_{t-1}) / (2 kx l)
 *            ye_t = y_t + b (y_t - y_{t-1}),   b = (4 sqrt(kx ky) - 1) / (4 sqrt(kx ky) + 1)
 *   AGD    accelerated gradient descent in x with step 1 / l,
 *            c = (sqrt(kx) - 1) / (sqrt(kx) + 1)
 *
 * The paper has no h; it enters through the proximal step of AGD, the only place where x moves.
 *
 * The paper has one L. Here x and y have their own, L and L_y, which is the paper's method in the
 * scaled variables sqrt(L) x and sqrt(L_y) y, for which L is 1: l is 9L in x and 9L_y in y. --steps
 * theory sets both to the problem's L, a bound over all samples and all of X and Y that is 10 to
 * 10,000 times the curvature along the way; auto is L = 2 tau and L_y = 1 / (5 alpha).
 *
 * The paper's stopping rules bound norms of gradient mappings by powers of the final accuracy and
 * of 1 / (10 kappa), which are far below the rounding error of a double. Here they are relative:
 * with R_k the norm of the gradient mapping of F at (x_k, y_k), in scaled variables, and
 * r = --ppa-accuracy,
 *   APPA ends when 6 sqrt(L) |x_t - xe_{t-1}|, the remaining x-gradient of g_k, is at most r R_k,
 *   AG2  when 18 kx sqrt(L_y) |y_t - ye_{t-1}| is at most r^2 R_k,
 *   AGD  when 9 sqrt(L) |x - xe| is at most r^3 R_k,
 * or when a step is lost in rounding, or after --appa-steps, --ag2-steps, --agd-steps. Each loop
 * starts from the last result of the loop around it. A mapping is measured at the extrapolated
 * point, where the gradient is already known; as in the paper, the image of that point is returned.
 *
 * Cost of an iteration: N IFO calls for R_k and for each step of AGD and AG2; no communication.
 */
#include "algorithms/algorithms.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/step_options.h"
#include "core/sizes.h"
#include "core/vector.h"

#define GROUP "Minimax-PPA"
/* L_y / mu if mu is unknown. */
#define ASSUMED_CONDITION 10.0
/* Default L and L_y, as multiples of tau and 1 / alpha. */
#define X_SHARE 2.0
#define Y_SHARE 0.2
/* l / L, and kx */
#define SMOOTHNESS 9.0
#define X_CONDITION 1.5
/* Steps shorter than this, relative to 1 + |iterate|, count as rounding. */
#define ROUNDING 1e-15

static const saddle_search lipschitz_search = {.name = "ppa-lipschitz", .low = -4, .high = 4};
static const saddle_search y_lipschitz_search = {.name = "ppa-lipschitz-y", .low = -4, .high = 4};
static const saddle_search concavity_search = {.name = "ppa-mu", .low = -2, .high = 2};

typedef struct parameters {
    double L;
    double L_y;
    double mu;
    double accuracy; /* r */
    uint64_t appa_steps, ag2_steps, agd_steps;
    double x_step, y_step;                        /* 1 / l in x and 1 / (2 kx l) in y */
    double appa_momentum, x_momentum, y_momentum; /* a, c, b */
} parameters;

const saddle_option saddle_option_ppa_lipschitz =
    SADDLE_STEP(SADDLE_OWN(parameters, L, RUN), "ppa-lipschitz", GROUP, "auto", SADDLE_UNBOUNDED,
                &lipschitz_search, "L",
                "Lipschitz constant L of the gradient in x that the algorithm assumes. It "
                "determines the steps and proximal weights in x. auto: 2 tau, with tau as in "
                "PRECISION; with --steps theory the problem's L.");

const saddle_option saddle_option_ppa_lipschitz_y = SADDLE_STEP(
    SADDLE_OWN(parameters, L_y, RUN), "ppa-lipschitz-y", GROUP, "auto", SADDLE_UNBOUNDED,
    &y_lipschitz_search, "L",
    "Lipschitz constant of the gradient in y that the algorithm assumes. It determines the steps "
    "in y. auto: 1 / (5 alpha), with alpha as in PRECISION; with --steps theory the problem's L.");

static const saddle_option concavity_option =
    SADDLE_STEP(SADDLE_OWN(parameters, mu, RUN), "ppa-mu", GROUP, "auto", SADDLE_UNBOUNDED,
                &concavity_search, "MU",
                "Strong concavity in y that the algorithm assumes. It determines the momentum in "
                "y. auto: the problem's mu; if that is not known, a tenth of --ppa-lipschitz-y.");

static const saddle_option accuracy_option = SADDLE_REAL_ABOVE(
    SADDLE_OWN(parameters, accuracy, RUN), "ppa-accuracy", GROUP, "0.3", 0.0, 0.5, "R",
    "How accurately an iteration solves its subproblem. With g the norm of the gradient mapping at "
    "the start of the iteration, the loop over proximal points ends at R g, the ascent in y for "
    "each of them at R^2 g, and the descent in x for each ascent step at R^3 g.");

static const saddle_option appa_option =
    SADDLE_INTEGER(SADDLE_OWN(parameters, appa_steps, RUN), "appa-steps", GROUP, "30", 1.0, 0x1p32,
                   "N", "Maximum number of accelerated proximal points per iteration.");

static const saddle_option ag2_option =
    SADDLE_INTEGER(SADDLE_OWN(parameters, ag2_steps, RUN), "ag2-steps", GROUP, "500", 1.0, 0x1p32,
                   "N", "Maximum number of accelerated ascent steps in y per proximal point.");

static const saddle_option agd_option =
    SADDLE_INTEGER(SADDLE_OWN(parameters, agd_steps, RUN), "agd-steps", GROUP, "50", 1.0, 0x1p32,
                   "N", "Maximum number of accelerated descent steps in x per ascent step.");

static const saddle_option *const options[] = {&saddle_option_steps,
                                               &saddle_option_ppa_lipschitz,
                                               &saddle_option_ppa_lipschitz_y,
                                               &concavity_option,
                                               &accuracy_option,
                                               &appa_option,
                                               &ag2_option,
                                               &agd_option,
                                               NULL};

/* The variables of an iteration. */
typedef struct work {
    saddle_agent *agent;
    const parameters *p;
    size_t x_dim, y_dim;
    const double *center;        /* x_k */
    double *anchor;              /* xe of APPA */
    double *x, *y;               /* the iterates, in the next span */
    double *x_before, *y_before; /* the previous iterates of APPA and of AG2 */
    double *x_ahead, *y_ahead;   /* extrapolated points of AGD and of AG2 */
    double *x_image;             /* the AGD step from x_ahead */
    double *gx, *gy;
    double *rest;    /* scratch for the problem and the sets */
    double residual; /* R_k */
} work;

/* ---- parameters ---------------------------------------------------------------------------- */

/* (sqrt(condition) - 1) / (sqrt(condition) + 1) */
static double momentum(double condition)
{
    double root = sqrt(condition);
    return (root - 1.0) / (root + 1.0);
}

static saddle_status init(void *out, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    parameters *p = out;
    const saddle_constants *constants = &c->instance->constants;
    bool theory = saddle_wants_theory(c);
    if (isnan(p->L))
        p->L = theory ? constants->lipschitz : X_SHARE * c->steps.tau;
    if (isnan(p->L_y))
        p->L_y = theory ? constants->lipschitz : Y_SHARE / c->steps.alpha;
    if (isnan(p->mu))
        p->mu = constants->strong_concavity > 0.0 ? constants->strong_concavity
                                                  : p->L_y / ASSUMED_CONDITION;
    p->x_step = 1.0 / (SMOOTHNESS * p->L);
    p->y_step = 1.0 / (2.0 * X_CONDITION * SMOOTHNESS * p->L_y);
    p->appa_momentum = momentum(4.0 * 3.0);
    p->x_momentum = momentum(X_CONDITION);
    /* For mu above 16 kx l, the momentum is 0. */
    p->y_momentum = momentum(fmax(1.0, 16.0 * X_CONDITION * SMOOTHNESS * p->L_y / p->mu));
    return SADDLE_OK;
}

/* Beyond the limit: R_k, a descent, an ascent and a last descent, of one step each. */
static uint64_t most_ifo(const void *p, const saddle_problem *problem)
{
    (void)p;
    return 4 * saddle_sizes_sum(problem->agents, problem->samples);
}

static void layout(const void *p, const saddle_problem *problem, saddle_layout *out)
{
    (void)p;
    out->rounds = 0;
    saddle_plain_fields(problem, out);
    out->scratch = 5 * problem->x_dim + 3 * problem->y_dim;
}

/* ---- the loops ----------------------------------------------------------------------------- */

/* gx, gy = grad F(x, y) */
static void differentiate(const work *w, const double *x, const double *y)
{
    saddle_agent *agent = w->agent;
    saddle_request all = {.kind = SADDLE_REQUEST_GRADIENT,
                          .batch = {.count = agent->problem->samples[agent->id]},
                          .x = x,
                          .y = y,
                          .gx = w->gx,
                          .gy = w->gy};
    saddle_agent_evaluate_now(agent, &all, w->rest);
}

/* Returns whether a loop continues after a step of this length; false for NaN. */
static bool goes_on(const work *w, size_t count, const double *at, double moved, double tolerance)
{
    return !saddle_out_of_calls(w->agent) && moved > tolerance &&
           moved > ROUNDING * (1.0 + sqrt(saddle_norm2(count, at)));
}

/* ahead = now + weight (now - before), before = now */
static void extrapolate(size_t count, double weight, const double *now, double *before,
                        double *ahead)
{
    for (size_t k = 0; k < count; k++) {
        ahead[k] = now[k] + weight * (now[k] - before[k]);
        before[k] = now[k];
    }
}

/* Finds x ~ argmin over X of  F(., y) + h + L |. - center|^2 + 3L |. - anchor|^2,  starting from
 * x. */
static void descend_in_x(const work *w, const double *y)
{
    const parameters *p = w->p;
    double tolerance =
        p->accuracy * p->accuracy * p->accuracy * w->residual * sqrt(p->L) * p->x_step;
    memcpy(w->x_ahead, w->x, w->x_dim * sizeof *w->x_ahead);
    for (uint64_t t = 0; t < p->agd_steps; t++) {
        differentiate(w, w->x_ahead, y);
        for (size_t k = 0; k < w->x_dim; k++)
            w->gx[k] += 2.0 * p->L * (w->x_ahead[k] - w->center[k]) +
                        6.0 * p->L * (w->x_ahead[k] - w->anchor[k]);
        saddle_agent_descend(w->agent, p->x_step, w->x_ahead, w->gx, w->x_image, w->rest);
        double moved = sqrt(saddle_distance2(w->x_dim, w->x_image, w->x_ahead));
        extrapolate(w->x_dim, p->x_momentum, w->x_image, w->x, w->x_ahead);
        if (!goes_on(w, w->x_dim, w->x, moved, tolerance))
            return;
    }
}

/* Finds (x, y) ~ the saddle point of  F + h + L |x - center|^2 + 3L |x - anchor|^2,  starting
 * from (x, y). */
static void ascend_in_y(const work *w)
{
    const parameters *p = w->p;
    double tolerance = p->accuracy * p->accuracy * w->residual * sqrt(p->L_y) * p->y_step;
    memcpy(w->y_ahead, w->y, w->y_dim * sizeof *w->y_ahead);
    memcpy(w->y_before, w->y, w->y_dim * sizeof *w->y_before);
    for (uint64_t t = 0; t < p->ag2_steps; t++) {
        descend_in_x(w, w->y_ahead);
        differentiate(w, w->x, w->y_ahead);
        saddle_agent_ascend(w->agent, p->y_step, w->y_ahead, w->gy, w->y, w->rest);
        double moved = sqrt(saddle_distance2(w->y_dim, w->y, w->y_ahead));
        if (!goes_on(w, w->y_dim, w->y, moved, tolerance))
            break;
        extrapolate(w->y_dim, p->y_momentum, w->y, w->y_before, w->y_ahead);
    }
    descend_in_x(w, w->y);
}

/* Finds (x, y) ~ the saddle point of  F + h + L |x - center|^2,  starting from (x, y). */
static void solve_subproblem(const work *w)
{
    const parameters *p = w->p;
    double tolerance = p->accuracy * w->residual / (6.0 * sqrt(p->L));
    memcpy(w->anchor, w->center, w->x_dim * sizeof *w->anchor);
    memcpy(w->x_before, w->center, w->x_dim * sizeof *w->x_before);
    for (uint64_t t = 0; t < p->appa_steps; t++) {
        ascend_in_y(w);
        double moved = sqrt(saddle_distance2(w->x_dim, w->x, w->anchor));
        if (!goes_on(w, w->x_dim, w->x, moved, tolerance))
            return;
        extrapolate(w->x_dim, p->appa_momentum, w->x, w->x_before, w->anchor);
    }
}

/* Returns R_k: the norm of the gradient mapping of F at (x, y) in scaled variables, with steps 1
 * / L and 1 / L_y. */
static double measure(const work *w, const double *x, const double *y)
{
    const parameters *p = w->p;
    differentiate(w, x, y);
    saddle_agent_descend(w->agent, 1.0 / p->L, x, w->gx, w->x_image, w->rest);
    saddle_agent_ascend(w->agent, 1.0 / p->L_y, y, w->gy, w->y_ahead, w->rest);
    return sqrt(p->L * saddle_distance2(w->x_dim, w->x_image, x) +
                p->L_y * saddle_distance2(w->y_dim, w->y_ahead, y));
}

static void iterate(saddle_agent *agent)
{
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    double *scratch = agent->scratch;
    work w = {
        .agent = agent,
        .p = agent->parameters,
        .x_dim = x_dim,
        .y_dim = y_dim,
        .center = agent->now,
        .x = agent->next,
        .y = agent->next + x_dim,
        .anchor = scratch,
        .x_before = scratch + x_dim,
        .x_ahead = scratch + 2 * x_dim,
        .x_image = scratch + 3 * x_dim,
        .gx = scratch + 4 * x_dim,
        .gy = scratch + 5 * x_dim,
        .y_before = scratch + 5 * x_dim + y_dim,
        .y_ahead = scratch + 5 * x_dim + 2 * y_dim,
        .rest = scratch + 5 * x_dim + 3 * y_dim,
    };
    memcpy(agent->next, agent->now, (x_dim + y_dim) * sizeof *agent->next);
    w.residual = measure(&w, agent->now, agent->now + x_dim);
    solve_subproblem(&w);
    saddle_plain_check(agent);
}

static const saddle_phase phases[] = {{"iterate", .before = iterate}, {.name = NULL}};

const saddle_algorithm saddle_minimax_ppa = {
    .name = "minimax-ppa",
    .title = "Minimax-PPA",
    .look = {"#4b3fb0", "#a296f2", "3 6"},
    .summary =
        "proximal point method whose subproblems are solved by nested accelerated gradient methods",
    .citation = "Lin, Jin, Jordan, COLT 2020",
    .options = options,
    .size = sizeof(parameters),
    .traits = {SADDLE_PROXIMAL, .centralized = true, .feasible = true,
               .assumes = "F strongly concave in y, with Lipschitz gradients. The paper has X and "
                          "Y; h is an addition.",
               .ifo = "N x inner steps", .rounds = "0", .message = "0",
               .samples = "O(sqrt(kappa) N eps^-2 log^2(1/eps))", .communication = "-"},
    .respects_limit = true,
    .init = init,
    .most_ifo = most_ifo,
    .layout = layout,
    .start = saddle_plain_start,
    .phases = phases,
    .view = saddle_plain_view,
};
