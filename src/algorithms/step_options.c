#include "algorithms/step_options.h"

#define GROUP SADDLE_ALGORITHM_HEADING
#define STEPS(field)                                                        \
    .home = SADDLE_HOME_PLAN, .offset = offsetof(saddle_plan, steps.field), \
    .stage = SADDLE_STAGE_RUN, .effect = SADDLE_EFFECT_RESULT

/* Tuning searches two decades to either side. nu and eta damp rather than set the step size:
 * they are searched together, one decade to either side. */
static const saddle_search damping = {.name = "nu and eta", .low = -2, .high = 2};
static const saddle_search tau = {.name = "tau", .low = -4, .high = 4};
static const saddle_search alpha = {.name = "alpha", .low = -4, .high = 4};
static const saddle_search eta_x = {.name = "eta-x", .low = -4, .high = 4};
static const saddle_search eta_y = {.name = "eta-y", .low = -4, .high = 4};

const saddle_option saddle_option_steps = SADDLE_CHOICE(
    STEPS(rule), "steps", GROUP, "practical", "practical|paper|theory", "RULE",
    "Where step sizes that are not given come from. practical: values that suit the problem, "
    "described below; paper: the paper's experiments taken literally, nu = eta = 0.1, tau = alpha "
    "= 1, batches and q of ceil(sqrt(n)); theory: those with PRECISION's best guarantee, or those "
    "of the algorithm's own paper. With theory PRECISION+ has a guarantee if --c-gamma is large "
    "enough; nothing is proved for Prox-GT-SGDA and Prox-DSGDA.");

const saddle_option saddle_option_nu =
    SADDLE_STEP(STEPS(nu), "nu", GROUP, "auto", 1.0, &damping, "STEP",
                "Step from x towards its proximal point. auto: 0.1, or the smallest M_ii if that "
                "is less, which keeps every iterate feasible.");

const saddle_option saddle_option_eta =
    SADDLE_STEP(STEPS(eta), "eta", GROUP, "auto", 1.0, &damping, "STEP",
                "Step from y towards its projected point. auto: as for --nu.");

const saddle_option saddle_option_tau =
    SADDLE_STEP(STEPS(tau), "tau", GROUP, "auto", SADDLE_UNBOUNDED, &tau, "WEIGHT",
                "Weight of the proximal term in x; the gradient step is 1/tau. auto: a value that "
                "suits the problem, or 1.");

const saddle_option saddle_option_alpha =
    SADDLE_STEP(STEPS(alpha), "alpha", GROUP, "auto", SADDLE_UNBOUNDED, &alpha, "STEP",
                "Gradient step in y. auto: a value that suits the problem, or 1.");

const saddle_option saddle_option_q = SADDLE_INTEGER(
    STEPS(q), "q", GROUP, "auto", 1.0, 0x1p53, "N",
    "Iterations from one refresh to the next. auto: ceil(sqrt(n)), where n is the largest number "
    "of samples of an agent. With --steps practical PRECISION+ uses ceil(2 sqrt(R)) after a "
    "refresh of R samples. SREDA, which holds all N samples, uses ceil(ceil(sqrt(N)) / (M + 1)), "
    "where M is --maximizer-steps, or with --steps theory the rule of its paper.");

const saddle_option saddle_option_batch =
    SADDLE_INTEGER(STEPS(batch), "batch", GROUP, "auto", 1.0, 0x1p32, "N",
                   "Samples in a mini-batch at each agent. An agent with fewer samples uses all of "
                   "them. auto: ceil(sqrt(n_i)), where n_i is the agent's number of samples (that "
                   "of all samples for a centralized method). With --steps practical PRECISION "
                   "uses ceil(sqrt(n) / 4) and PRECISION+ ceil(sqrt(n) / 8), at least 2, where n "
                   "is the largest n_i; with --steps theory SREDA uses the rule of its paper.");

const saddle_option saddle_option_sampling =
    SADDLE_CHOICE(STEPS(sampling), "sampling", GROUP, "without-replacement",
                  "without-replacement|with-replacement", "HOW",
                  "How a mini-batch is drawn. A refresh is always drawn without replacement.");

const saddle_option saddle_option_eta_x =
    SADDLE_STEP(STEPS(eta_x), "eta-x", GROUP, "auto", SADDLE_UNBOUNDED, &eta_x, "STEP",
                "Gradient step in x, in methods that have one. auto: the method's fraction of the "
                "problem's 1/tau; with --steps theory the rule of its paper, if it has one.");

const saddle_option saddle_option_eta_y =
    SADDLE_STEP(STEPS(eta_y), "eta-y", GROUP, "auto", SADDLE_UNBOUNDED, &eta_y, "STEP",
                "Gradient step in y, in methods that have one. auto: the method's fraction of the "
                "problem's alpha; with --steps theory the rule of its paper, if it has one.");

const saddle_option saddle_option_epsilon = SADDLE_REAL_ABOVE(
    STEPS(epsilon), "epsilon", GROUP, "auto", 0.0, SADDLE_UNBOUNDED, "E",
    "Accuracy to aim at. It enters the refresh size of PRECISION+, the step length of SREDA and "
    "`saddle theory`. auto: it sets no limit; 0.1 for SREDA with --steps theory.");

/* Constants of Theorem 2, for PRECISION+. */
static const saddle_search c_gamma = {.name = "c-gamma", .low = -2, .high = 2};

const saddle_option saddle_option_c_gamma =
    SADDLE_STEP(STEPS(c_gamma), "c-gamma", "PRECISION+", "10", SADDLE_UNBOUNDED, &c_gamma, "C",
                "c_gamma in the refresh size of PRECISION+. That is min{c_gamma sigma^2/gamma, "
                "c_epsilon sigma^2/epsilon, n}.");

const saddle_option saddle_option_c_epsilon =
    SADDLE_REAL_ABOVE(STEPS(c_epsilon), "c-epsilon", "PRECISION+", "10", 0.0, SADDLE_UNBOUNDED, "C",
                      "c_epsilon in the refresh size; used only with --epsilon.");

const saddle_option *const saddle_step_options[] = {
    &saddle_option_steps,     &saddle_option_nu,
    &saddle_option_eta,       &saddle_option_tau,
    &saddle_option_alpha,     &saddle_option_q,
    &saddle_option_batch,     &saddle_option_sampling,
    &saddle_option_eta_x,     &saddle_option_eta_y,
    &saddle_option_epsilon,   &saddle_option_c_gamma,
    &saddle_option_c_epsilon, NULL};
