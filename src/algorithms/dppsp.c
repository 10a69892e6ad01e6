/*
 * DPPSP at agent i: decentralized proximal point method for saddle points (Liu, Mokhtari, Ozdaglar,
 * Pattathil, Shen, Zheng, "A Decentralized Proximal Point-type Method for Saddle Point Problems",
 * 2019), which is the P-EXTRA recursion (Shi, Ling, Wu, Yin 2015) with the resolvent of the local
 * saddle operator A_i = (grad_x F_i, -grad_y F_i) + (subgradients of h) + (normals of X and Y).
 *
 *   w_0 = sum_j M_ij z_{j,0},   w_t = w_{t-1} + sum_j M_ij z_{j,t} - sum_j (M~)_ij z_{j,t-1}
 *   z_{t+1} = (I + eta A_i)^{-1} w_t,        z = (x, y),  M~ = (I + M) / 2
 *
 * w_t - z_{t+1} is eta times the element of A_i that the resolvent chose. In the limit these
 * elements differ between agents, but the iterates do not, which is why a constant step has no
 * bias. M~ z needs no message: M z of the last round is stored.
 *
 * The resolvent at w is the z with G(z) = z - w + eta A_i(z) containing 0. It is found by projected
 * extragradient from z_t with a step s that is halved until s |G(z) - G(z')| <= 0.9 |z - z'| and
 * doubled if the bound leaves room for it (Khobotov 1987). With z' = prox of z - s G(z), the vector
 * e = (z - z') / s - G(z) + G(z') is an element of G + normals at z', so that z' is within |e| of
 * the resolvent if A_i is monotone. The loop returns z' when |e| is at most `--resolvent-tolerance`
 * times |z' - z_t|, or at the level of rounding. After `--resolvent-steps` trials it returns z', or
 * z if the last step was too long.
 *
 * The paper has one eta and assumes an exact resolvent. Here x and y have their own eta, which is
 * the paper's method in scaled variables: norms above are |x|^2 / eta_x + |y|^2 / eta_y. Any eta is
 * allowed for monotone A_i; if F_i is rho-weakly convex-concave, the paper requires eta < 1 / rho.
 * auto: the problem's default 1 / tau and alpha.
 *
 * Cost of an iteration: one round, one message of (x, y) per neighbour; n_i IFO calls for every
 * gradient of the inner loop: one per trial and one per extragradient step.
 */
#include "algorithms/algorithms.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/step_options.h"
#include "core/vector.h"

/* Largest allowed s |G(z) - G(z')| / |z - z'|. */
#define SHARE 0.9
/* First inner step. The operator is at least 1-strongly monotone, so a longer one would be
 * rejected. */
#define FIRST_STEP 0.5
/* Level of rounding in the inner loop, relative to |z| + |w|. */
#define ROUNDING (32.0 * DBL_EPSILON)

typedef struct parameters {
    saddle_two_steps steps;
    double tolerance;
    uint64_t most_steps;
} parameters;

static const saddle_option tolerance = SADDLE_REAL(
    SADDLE_OWN(parameters, tolerance, RUN), "resolvent-tolerance", "DPPSP", "0.1", 0.0, 1.0, "E",
    "Allowed error of an agent's proximal point. It is relative to the distance of that point from "
    "the iterate.");

static const saddle_option most_steps =
    SADDLE_INTEGER(SADDLE_OWN(parameters, most_steps, RUN), "resolvent-steps", "DPPSP", "100", 1.0,
                   1e9, "N", "Maximum number of trial steps in the search for a proximal point.");

static const saddle_option *const options[] = {&saddle_option_eta_x, &saddle_option_eta_y,
                                               &tolerance, &most_steps, NULL};

/* Published: z. Kept: w | M~ z of the last round | s | the iteration of the start, where t is 0. */
static void layout(const void *parameters_, const saddle_problem *problem, saddle_layout *out)
{
    (void)parameters_;
    size_t both = problem->x_dim + problem->y_dim;
    out->rounds = 1;
    saddle_plain_fields(problem, out);
    out->kept = 2 * both + 2;
    out->scratch = 3 * both;
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    double *step = agent->kept + 2 * (agent->problem->x_dim + agent->problem->y_dim);
    saddle_plain_start(agent, x0, y0);
    step[0] = FIRST_STEP;
    step[1] = (double)agent->iteration;
}

/* ---- the resolvent --------------------------------------------------------------------------- */

/* Returns (|x|^2 / eta_x + |y|^2 / eta_y)^{1/2}, given the two squares. */
static double length(const parameters *p, double x2, double y2)
{
    return sqrt(x2 / p->steps.eta_x + y2 / p->steps.eta_y);
}

static double size(const saddle_agent *agent, const double *z)
{
    size_t x_dim = agent->problem->x_dim;
    return length(agent->parameters, saddle_norm2(x_dim, z),
                  saddle_norm2(agent->problem->y_dim, z + x_dim));
}

static double distance(const saddle_agent *agent, const double *a, const double *b)
{
    size_t x_dim = agent->problem->x_dim;
    return length(agent->parameters, saddle_distance2(x_dim, a, b),
                  saddle_distance2(agent->problem->y_dim, a + x_dim, b + x_dim));
}

/* g = z - w + step g */
SADDLE_KERNEL static void complete(size_t count, double step, const double *restrict z,
                                   const double *restrict w, double *restrict g)
{
    for (size_t k = 0; k < count; k++)
        g[k] = z[k] - w[k] + step * g[k];
}

/* Computes the smooth terms of G at z: z - w + (eta_x grad_x F_i, -eta_y grad_y F_i). */
static void evaluate(saddle_agent *agent, const double *z, const double *w, double *g,
                     double *scratch)
{
    const parameters *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    saddle_request all = {.kind = SADDLE_REQUEST_GRADIENT,
                          .batch = {.count = agent->problem->samples[agent->id]},
                          .x = z,
                          .y = z + x_dim,
                          .gx = g,
                          .gy = g + x_dim};
    saddle_agent_evaluate_now(agent, &all, scratch);
    complete(x_dim, p->steps.eta_x, z, w, g);
    complete(agent->problem->y_dim, -p->steps.eta_y, z + x_dim, w + x_dim, g + x_dim);
}

/* out = prox of (s eta_x h) over X, projection onto Y, at z - s g. out may be z. */
static void move(const saddle_agent *agent, double s, const double *z, const double *g, double *out,
                 double *scratch)
{
    const parameters *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    size_t both = x_dim + agent->problem->y_dim;
    if (out != z)
        memcpy(out, z, both * sizeof *out);
    saddle_axpy(both, -s, g, out);
    saddle_prox_apply(agent->x_prox, s * p->steps.eta_x, out, scratch);
    saddle_set_project(agent->y_set, out + x_dim, scratch);
}

/* Returns |e|^2, e = (z - trial) / s - g + g_trial, summed in fixed lanes. */
SADDLE_KERNEL static double residual2(size_t count, double s, const double *restrict z,
                                      const double *restrict trial, const double *restrict g,
                                      const double *restrict g_trial)
{
    double lane[SADDLE_LANES] = {0.0};
    SADDLE_FOR_LANES(count, {
        double e = (z[k] - trial[k]) / s - g[k] + g_trial[k];
        lane[l] += e * e;
    });
    return saddle_add_lanes(lane);
}

/* Returns whether the trial is close enough to the resolvent. */
static bool good(const saddle_agent *agent, double s, const double *z, const double *trial,
                 const double *g, const double *g_trial, double floor)
{
    const parameters *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    double error = length(
        p, residual2(x_dim, s, z, trial, g, g_trial),
        residual2(agent->problem->y_dim, s, z + x_dim, trial + x_dim, g + x_dim, g_trial + x_dim));
    return error <= p->tolerance * distance(agent, trial, agent->now) + floor;
}

/* Computes next = resolvent at w, starting from now. scratch: 3 (x_dim + y_dim) doubles, the
 * problem's and the sets'. */
static void resolvent(saddle_agent *agent, const double *w, double *s, double *scratch)
{
    const parameters *p = agent->parameters;
    size_t both = agent->problem->x_dim + agent->problem->y_dim;
    double *z = agent->next;
    double *trial = scratch;
    double *g = trial + both;
    double *g_trial = g + both;
    double *rest = g_trial + both;
    double floor = ROUNDING * (size(agent, agent->now) + size(agent, w));
    memcpy(z, agent->now, both * sizeof *z);
    evaluate(agent, z, w, g, rest);
    for (uint64_t k = 1;; k++) {
        move(agent, *s, z, g, trial, rest);
        evaluate(agent, trial, w, g_trial, rest);
        if (good(agent, *s, z, trial, g, g_trial, floor))
            break;
        bool last = k == p->most_steps || saddle_out_of_calls(agent);
        double bend = *s * distance(agent, g, g_trial);
        double most = SHARE * distance(agent, z, trial);
        if (bend > most) {
            *s *= 0.5;
            /* The result of a step that is too long is worse than the point it started from. */
            if (last)
                return;
            continue;
        }
        /* NaN also ends the loop, so that the fault is recorded. */
        if (last || !(bend <= most))
            break;
        move(agent, *s, z, g_trial, z, rest);
        evaluate(agent, z, w, g, rest);
        if (2.0 * bend <= most)
            *s *= 2.0;
    }
    memcpy(z, trial, both * sizeof *z);
}

/* ---- the recursion --------------------------------------------------------------------------- */

/* w += mixed - half, half = (z + mixed) / 2; at the first step w = mixed. */
SADDLE_KERNEL static void recur(size_t count, bool first, const double *restrict z,
                                const double *restrict mixed, double *restrict w,
                                double *restrict half)
{
    for (size_t k = 0; k < count; k++) {
        w[k] = first ? mixed[k] : w[k] + (mixed[k] - half[k]);
        half[k] = 0.5 * (z[k] + mixed[k]);
    }
}

static void iterate(saddle_agent *agent)
{
    size_t x_dim = agent->problem->x_dim;
    size_t both = x_dim + agent->problem->y_dim;
    double *w = agent->kept;
    double *half = w + both;
    double *mixed = agent->scratch; /* used up before the resolvent overwrites it */
    saddle_agent_mix(agent, 0, both, mixed);
    recur(both, agent->iteration == (uint64_t)half[both + 1], agent->now, mixed, w, half);
    resolvent(agent, w, half + both, agent->scratch);
    saddle_plain_check(agent);
}

static const saddle_phase phases[] = {{"iterate", .before = iterate}, {.name = NULL}};

const saddle_algorithm saddle_dppsp = {
    .name = "dppsp",
    .title = "DPPSP",
    .look = {"#882255", "#d4709f", "8 5"},
    .summary = "proximal point method: each agent solves its own saddle problem, and the P-EXTRA "
               "recursion combines the solutions",
    .citation = "Liu, Mokhtari, Ozdaglar, Pattathil, Shen, Zheng 2019",
    .options = options,
    .automatic = saddle_full_steps,
    .size = sizeof(parameters),
    .traits = {SADDLE_PROXIMAL, .feasible = true,
               .assumes =
                   "F_i convex-concave, or rho-weakly so with steps below 1/rho; the same M in all "
                   "rounds. Its resolvent is exact, here --resolvent-tolerance decides.",
               .ifo = "n_i per inner gradient", .rounds = "1", .message = "dim x + dim y",
               .samples = "O(eps^-4)", .communication = "O(eps^-4)"},
    .respects_limit = true,
    .init = saddle_full_steps_init,
    .layout = layout,
    .start = start,
    .phases = phases,
    .view = saddle_plain_view,
};
