/*
 * GDA: gradient descent ascent with two step sizes (Lin, Jin, Jordan, "On Gradient Descent Ascent
 * for Nonconvex-Concave Minimax Problems", ICML 2020, Algorithm 1). Centralized.
 *
 *   x_{t+1} = prox of (eta_x h) over X at  x_t - eta_x grad_x F(x_t, y_t)
 *   y_{t+1} = projection onto Y of         y_t + eta_y grad_y F(x_t, y_t)
 *
 * Its Theorem 4.4 requires eta_x = 1 / (16 (kappa + 1)^2 L) and eta_y = 1 / L, kappa = L / mu;
 * these are the steps with `--steps theory`. On real data this eta_x is 1e-6 to 1e-10. auto is 0.3
 * / tau and 0.3 alpha, three times the steps of PRECISION, because gradients are exact and there is
 * no network. The paper leaves x unconstrained; a constraint and h enter through the proximal step.
 * Cost of an iteration: N IFO calls, no communication.
 *
 * SGDA: stochastic gradient descent ascent with two step sizes (Lin, Jin, Jordan, ICML 2020,
 * Algorithm 2). Centralized.
 *
 *   (gx, gy) = mean over a fresh mini-batch S of grad f at (x_t, y_t)
 *   x_{t+1}  = prox of (eta_x h) over X at  x_t - eta_x gx
 *   y_{t+1}  = projection onto Y of         y_t + eta_y gy
 *
 * Its Theorem 4.5 requires the same steps as GDA and |S| = max{1, 26 kappa sigma^2 eps^-2}, where
 * sigma^2 is unknown. Here |S| is an option, by default ceil(sqrt(N)) as for the other methods.
 * auto for the steps is 0.1 / tau and 0.1 alpha, for a lower noise floor. Cost of an iteration: |S|
 * IFO calls, no communication.
 */
#include "algorithms/algorithms.h"

#include "algorithms/descent_ascent.h"
#include "algorithms/step_options.h"

/* Practical steps, as multiples of 1 / tau and alpha. */
#define FULL_SHARE 0.3
#define BATCH_SHARE 0.1

static const saddle_automatic full_automatic[] = {
    SADDLE_AUTOMATIC(saddle_option_eta_x, "0.3/tau; with --steps theory 1 / (16 (kappa + 1)^2 L)"),
    SADDLE_AUTOMATIC(saddle_option_eta_y, "0.3 alpha; with --steps theory 1 / L"),
    {.option = NULL}};
static const saddle_automatic batch_automatic[] = {
    SADDLE_AUTOMATIC(saddle_option_eta_x, "0.1/tau; with --steps theory 1 / (16 (kappa + 1)^2 L)"),
    SADDLE_AUTOMATIC(saddle_option_eta_y, "0.1 alpha; with --steps theory 1 / L"),
    {.option = NULL}};

typedef struct parameters {
    saddle_two_steps steps;
    bool full; /* all samples in every iteration */
} parameters;

static const saddle_option *const full_options[] = {&saddle_option_steps, &saddle_option_eta_x,
                                                    &saddle_option_eta_y, NULL};
static const saddle_option *const batch_options[] = {&saddle_option_steps,    &saddle_option_eta_x,
                                                     &saddle_option_eta_y,    &saddle_option_batch,
                                                     &saddle_option_sampling, NULL};

static void choose_steps(parameters *p, saddle_configuration *c, bool full)
{
    double L = c->instance->constants.lipschitz;
    double kappa = L / c->instance->constants.strong_concavity;
    double share = full ? FULL_SHARE : BATCH_SHARE;
    saddle_step_pair practical = {share / c->steps.tau, share * c->steps.alpha};
    saddle_step_pair theory = {1.0 / (16.0 * (kappa + 1.0) * (kappa + 1.0) * L), 1.0 / L};
    saddle_two_steps_configure(&p->steps, c, practical, theory);
    p->full = full;
}

static saddle_status init_full(void *out, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    choose_steps(out, c, true);
    return SADDLE_OK;
}

static saddle_status init_batches(void *out, saddle_configuration *c, saddle_error *error)
{
    (void)error;
    choose_steps(out, c, false);
    return SADDLE_OK;
}

static void layout(const void *p, const saddle_problem *problem, saddle_layout *out)
{
    (void)p;
    saddle_plain_fields(problem, out);
    out->work = problem->x_dim + problem->y_dim;
}

static void estimate(saddle_agent *agent)
{
    const parameters *p = agent->parameters;
    uint64_t size = p->full ? agent->problem->samples[agent->id] : p->steps.batch;
    saddle_batch batch =
        saddle_agent_draw(agent, agent->iteration + 1, size, p->steps.replacement && !p->full);
    saddle_agent_request(agent, batch, agent->now, agent->work);
}

static void move(saddle_agent *agent)
{
    saddle_two_steps_move(agent, 1.0, agent->now, agent->work, agent->next, agent->scratch);
    saddle_plain_check(agent);
}

static const saddle_phase phases[] = {
    {"estimate", .before = estimate}, {"move", .before = move}, {.name = NULL}};

/* What both have in common. */
#define COMMON                                                                               \
    .citation = "Lin, Jin, Jordan, ICML 2020", .size = sizeof(parameters), .layout = layout, \
    .start = saddle_plain_start, .phases = phases, .view = saddle_plain_view
/* clang-format off */
#define TRAITS(draws, calls, total)                                                             \
    {                                                                                           \
        SADDLE_PROXIMAL, .centralized = true, .stochastic = (draws),                            \
        .feasible = true,                                                                       \
        .assumes = "F strongly concave in y, with Lipschitz gradients. The paper has Y; X and " \
                   "h are additions.",                                                          \
        .ifo = (calls), .rounds = "0", .message = "0",                                          \
        .samples = (total), .communication = "-"                                                \
    }
/* clang-format on */

const saddle_algorithm saddle_gda = {
    COMMON,
    .name = "gda",
    .title = "GDA",
    .look = {"#44aa99", "#6cd0bf", "3 6"},
    .summary = "gradient descent ascent with full gradients and separate steps in x and y",
    .options = full_options,
    .automatic = full_automatic,
    .traits = TRAITS(false, "N", "O(kappa^2 N eps^-2)"),
    .init = init_full,
};

const saddle_algorithm saddle_sgda = {
    COMMON,
    .name = "sgda",
    .title = "SGDA",
    .look = {"#8a8a2c", "#c9c95e", "3 6"},
    .summary = "gradient descent ascent with mini-batches and separate steps in x and y",
    .options = batch_options,
    .automatic = batch_automatic,
    .traits = TRAITS(true, "|S|", "O(kappa^3 eps^-4)"),
    .init = init_batches,
};
