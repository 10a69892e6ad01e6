/*
 * OADSVI at agent i: the optimal algorithm for decentralized strongly monotone variational inequalities, with full
 * gradients (Kovalev, Beznosikov, Sadiev, Persiianov, Richtarik, Gasnikov, "Optimal Algorithms for Decentralized
 * Stochastic Variational Inequalities", NeurIPS 2022, arXiv 2202.02771, Algorithm 1). A reference for strongly
 * convex-concave problems. With z = (x, y), F = (v, -u) the gradient of F_i, and P the prox of (eta_x h) over X and the
 * projection onto Y:
 *
 *   e+ = e - (theta / eta) (n - sum_j M_ij n_j)
 *   delta = F(z) + a (F(z) - F(last z)) - (e+ + a (e+ - e));   z+ = P(z - eta delta);   n+ = z+ - beta eta (F(z+) - e+)
 *
 * kappa = L / mu; chi = (1 - lambda_m) / (1 - lambda), with lambda_m the smallest eigenvalue of M;
 * r = 3 sqrt(chi);  eta = 1 / (r L);  beta = r / kappa;  theta = min(1 / (2 beta), 1/9) / (1 - lambda_m);
 * a = 1 - min(1 / (1 + r kappa), 1 / (2 chi)). The paper has one eta; here x and y have one each, which is the method
 * in other units of x and y, and its theta and beta are eta theta and beta / eta here. Start: n = z, e = 0, and the
 * first F is also the last one. The sum of e over agents stays 0.
 *
 * --steps paper and theory need L and mu. Otherwise eta_x = 1 / (r tau), or less if that is not stable, and eta_y =
 * alpha / r; where L and mu are not known, kappa is 100. The theorem covers losses that are strongly convex in x and
 * strongly concave in y; with the paper's steps, a loss that is not convex in x at the start is refused. The paper has
 * h, and sets through it. Without a tracker, lost messages cannot be made up for;
 * such links are refused.
 *
 * Cost of an iteration: one round, one message of dim x + dim y doubles per neighbour; n_i IFO calls.
 */
#include "algorithms/algorithms.h"

#include "algorithms/family.h"
#include "algorithms/longest_step.h"
#include "algorithms/step_options.h"
#include "core/rng.h"
#include "core/vector.h"

#define UNKNOWN_KAPPA 100.0
/* Steps of the power method that look for a negative curvature, how far they go, relative to the start, and a curvature
 * that may be rounding, relative to L. */
#define POWER_STEPS 30
#define CHANGE 1e-3
#define ROUNDING 1e-6

typedef struct parameters {
    saddle_family family; /* its steps */
    double theta, beta, a;
} parameters;

static const saddle_option *const options[] = {&saddle_option_steps, &saddle_option_eta_x,
                                               &saddle_option_eta_y, NULL};
static const saddle_automatic automatic[] = {
    SADDLE_AUTOMATIC(
        saddle_option_eta_x,
        "1/(r tau), or less if that is not stable, where r = 3 sqrt((1 - lambda_m) / (1 "
        "- lambda)) for the smallest and second largest eigenvalue of the mixing "
        "matrix; with --steps paper or theory 1/(r L)"),
    SADDLE_AUTOMATIC(saddle_option_eta_y, "alpha/r; with --steps paper or theory 1/(r L)"),
    {.option = NULL}};

/* F along a direction in x from the start. */
typedef struct probe {
    const saddle_instance *instance;
    const double *x; /* a point of X; NULL: the start */
    double *gy;      /* work */
    double *scratch;
} probe;

static void add_gradient(void *context, size_t agent, double *out)
{
    const probe *p = context;
    const saddle_instance *e = p->instance;
    saddle_batch all = {.count = e->problem->samples[agent]};
    saddle_problem_gradient(e->problem, agent, &all, p->x != NULL ? p->x : e->x0, e->y0, out, p->gy,
                            p->scratch);
}

/* Stores the lowest curvature of F in x that steps of the power method with L I - H find from the start, at which a
 * convex F has none below 0. Collective. */
static saddle_status find_lowest_curvature(const saddle_instance *e, double L, double *lowest,
                                           saddle_error *error)
{
    size_t x_dim = e->problem->x_dim;
    double m = (double)e->problem->agents;
    size_t work = saddle_larger(saddle_problem_scratch(e->problem), saddle_set_scratch(e->x_set));
    double *memory = saddle_alloc_doubles(4 * x_dim + e->problem->y_dim + work);
    saddle_status status = saddle_check_memory(memory, "the curvature in x", error);
    status = saddle_world_agree(e->world, status, error);
    double *g0 = memory;
    double *g1 = g0 + x_dim;
    double *x = g1 + x_dim;
    double *direction = x + x_dim;
    probe p = {
        .instance = e, .gy = direction + x_dim, .scratch = direction + x_dim + e->problem->y_dim};
    SADDLE_THEN(status, saddle_world_sum(e->world, x_dim, add_gradient, &p, g0, error));
    saddle_rng rng;
    saddle_rng_init(&rng, e->plan->start.seed, SADDLE_RNG_PILOT, 0, 0);
    for (size_t k = 0; k < x_dim && status == SADDLE_OK; k++)
        direction[k] = saddle_rng_normal(&rng);
    p.x = x;
    *lowest = INFINITY;
    for (int step = 0; step < POWER_STEPS && status == SADDLE_OK; step++) {
        double length = CHANGE * fmax(1.0, sqrt(saddle_norm2(x_dim, e->x0)));
        double size = sqrt(saddle_norm2(x_dim, direction));
        memcpy(x, e->x0, x_dim * sizeof *x);
        saddle_axpy(x_dim, length / size, direction, x);
        saddle_set_project(e->x_set, x, p.scratch);
        status = saddle_world_sum(e->world, x_dim, add_gradient, &p, g1, error);
        for (size_t k = 0; k < x_dim && status == SADDLE_OK; k++) {
            g1[k] = (g1[k] - g0[k]) / m;
            direction[k] = x[k] - e->x0[k];
        }
        double moved = saddle_norm2(x_dim, direction);
        if (status != SADDLE_OK || !(moved > 0.0))
            break;
        *lowest = fmin(*lowest, saddle_dot(x_dim, g1, direction) / moved);
        saddle_scale(x_dim, L, direction);
        saddle_axpy(x_dim, -1.0, g1, direction);
    }
    saddle_free(memory);
    return status;
}

/* Refuses a loss that the paper's theorem is not about. */
static saddle_status check_convexity(const saddle_configuration *c, saddle_error *error)
{
    double L = c->instance->constants.lipschitz;
    double lowest;
    SADDLE_TRY(find_lowest_curvature(c->instance, L, &lowest, error));
    return lowest >= -ROUNDING * L
               ? SADDLE_OK
               : saddle_fail(error, SADDLE_UNSUPPORTED,
                             "--steps: the theorem of oadsvi is about losses that are convex in x, "
                             "and this one has a curvature of %.3g at the start; use practical, or "
                             "another algorithm, such as precision-auto",
                             lowest);
}

static saddle_status init(void *parameters_, saddle_configuration *c, saddle_error *error)
{
    parameters *p = parameters_;
    const saddle_instance *instance = c->instance;
    double L = instance->constants.lipschitz;
    double kappa = L / instance->constants.strong_concavity;
    /* The last bits of eigenvalues depend on the machine; results must not. */
    double gap = (double)(float)(1.0 - instance->spectrum.lambda2);
    double width = 1.0 - (double)(float)instance->spectrum.lambda_m;
    double longest = INFINITY;
    if (!(gap > 0.0) || !(width > 0.0))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "oadsvi needs the eigenvalues of the mixing matrix, which could not be "
                           "computed; use a smaller network or another algorithm");
    bool known = kappa > 0.0 && isfinite(kappa);
    bool practical = c->given->rule == SADDLE_STEPS_PRACTICAL;
    if (!practical && !known)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "--steps: oadsvi needs L and mu, which this problem does not know; use "
                           "practical");
    if (!practical)
        SADDLE_TRY(check_convexity(c, error));
    double chi = width / gap;
    double r = 3.0 * sqrt(chi);
    saddle_step_pair steps = {1.0 / (r * L), 1.0 / (r * L)};
    if (practical) {
        if (isnan(c->given->eta_x))
            SADDLE_TRY(saddle_longest_step(c, SADDLE_ALL_SAMPLES, &longest, error));
        steps = (saddle_step_pair){fmin(1.0 / c->steps.tau, longest / 2.0) / r, c->steps.alpha / r};
    }
    kappa = known ? fmax(1.0, kappa) : UNKNOWN_KAPPA;
    saddle_two_steps_configure(&p->family.steps, c, steps, steps);
    p->family.strategy = SADDLE_OPERATOR;
    p->family.mixing.count = 1;
    p->beta = r / kappa;
    p->theta = fmin(0.5 / p->beta, 1.0 / 9.0) / width;
    p->a = 1.0 - fmin(1.0 / (1.0 + r * kappa), 0.5 / chi);
    return SADDLE_OK;
}

/* In the vectors, `estimate` is F(z) as (v, u), `point` z, `dual` the last F, `own` e, and `h` what is mixed. */

static void request(saddle_agent *agent, double *point, double *g)
{
    saddle_batch all = {.count = agent->problem->samples[agent->id]};
    saddle_agent_request(agent, all, point, g);
}

static void start(saddle_agent *agent, const double *x0, const double *y0)
{
    const saddle_vectors at = saddle_vectors_of(agent);
    saddle_family_begin(agent, x0, y0, agent->next);
    memcpy(at.point, agent->next, at.both * sizeof *at.point);
    request(agent, at.point, at.estimate);
    saddle_agent_evaluate(agent);
    memcpy(at.dual, at.estimate, at.both * sizeof *at.estimate);
    memset(at.own, 0, at.both * sizeof *at.own);
}

static double step_of(const parameters *p, const saddle_vectors *at, size_t k)
{
    return k < at->x_dim ? p->family.steps.eta_x : p->family.steps.eta_y;
}

static void move(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    saddle_agent_mix(agent, 0, at.both, at.h);
    for (size_t k = 0; k < at.both; k++) {
        double step = step_of(p, &at, k);
        double sign = k < at.x_dim ? 1.0 : -1.0;
        double change = -p->theta / step * (agent->now[k] - at.h[k]);
        at.own[k] += change;
        double delta = sign * (at.estimate[k] + p->a * (at.estimate[k] - at.dual[k])) - at.own[k] -
                       p->a * change;
        at.point[k] -= step * delta;
    }
    saddle_family_project(agent, at.point);
    request(agent, at.point, at.g);
}

static void publish(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    const saddle_vectors at = saddle_vectors_of(agent);
    memcpy(at.dual, at.estimate, at.both * sizeof *at.estimate);
    memcpy(at.estimate, at.g, at.both * sizeof *at.estimate);
    for (size_t k = 0; k < at.both; k++) {
        double sign = k < at.x_dim ? 1.0 : -1.0;
        agent->next[k] =
            at.point[k] - p->beta * step_of(p, &at, k) * (sign * at.estimate[k] - at.own[k]);
    }
    saddle_plain_check(agent);
}

static const saddle_phase phases[] = {
    {"move", .before = move}, {"publish", .before = publish}, {.name = NULL}};

const saddle_algorithm saddle_oadsvi = {
    .name = "oadsvi",
    .title = "OADSVI",
    .look = {"#117799", "#7cc4dc", "1 4"},
    .summary = "full gradients and one vector per variable, for strongly convex-concave losses",
    .citation = "Kovalev et al., NeurIPS 2022",
    .options = options,
    .automatic = automatic,
    .size = sizeof(parameters),
    .traits =
        {SADDLE_PROXIMAL, .feasible = true,
         .assumes =
             "F strongly convex in x and strongly concave in y; the same M in all rounds and the "
             "same steps at all agents. X, Y and h are the paper's, with one step for x and y.",
         .ifo = "n_i", .rounds = "1", .message = "dim x + dim y",
         .samples = "O(n kappa sqrt(chi) log(1/eps))",
         .communication = "O(kappa sqrt(chi) log(1/eps))"},
    .init = init,
    .layout = saddle_family_layout,
    .start = start,
    .phases = phases,
    .view = saddle_family_view,
};
