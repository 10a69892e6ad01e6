/* Options that several algorithms share. How an algorithm chooses a value that is not given is said in its
 * file: saddle_algorithm::automatic. */
#include "algorithms/step_options.h"

#include "algorithms/family.h"

#define GROUP SADDLE_ALGORITHM_HEADING
#define STEPS(field)                                                        \
    .home = SADDLE_HOME_PLAN, .offset = offsetof(saddle_plan, steps.field), \
    .stage = SADDLE_STAGE_RUN, .effect = SADDLE_EFFECT_RESULT
#define REFRESHES(field) STEPS(field), .used_with = {&saddle_option_estimator, "sarah", false}
#define UNLESS_MEASURED(field) \
    STEPS(field), .used_with = {&saddle_option_estimator, "plus|kalman", true}
#define OF_EPSILON(field) STEPS(field), .used_with = {&saddle_option_epsilon, "auto", true}

/* Tuning searches two decades to either side. nu and eta damp rather than set the step size:
 * they are searched together, one decade to either side. */
static const saddle_search damping = {.name = "nu and eta", .low = -2, .high = 2};
static const saddle_search tau = {.name = "tau", .low = -4, .high = 4};
static const saddle_search alpha = {.name = "alpha", .low = -4, .high = 4};
static const saddle_search eta_x = {.name = "eta-x", .low = -4, .high = 4};
static const saddle_search eta_y = {.name = "eta-y", .low = -4, .high = 4};

const saddle_option saddle_option_steps = SADDLE_CHOICE(
    STEPS(rule), "steps", GROUP, "practical", "practical|paper|theory", "RULE",
    "Rule for step sizes, batches and q that are not given.\n"
    "practical: values that work well on the problem; see auto of each option.\n"
    "paper: those of the PRECISION paper's experiments: nu = eta = 0.1, tau = alpha "
    "= 1, batch = ceil(sqrt(n_i)) at an agent with n_i samples, q = ceil(sqrt(n)), where n is the "
    "largest n_i; for DGDA-VR, DM-HSGD, DREAM and VRLM those of their authors' programs, for "
    "OADSVI those of its theorem; DAMA, D-AdaST and K-GT-Minimax refuse it.\n"
    "theory: those that theorems prescribe. PRECISION, PRECISION+, Prox-GT-SGDA and Prox-DSGDA use "
    "the step sizes of PRECISION's convergence theorem. It covers PRECISION, and PRECISION+ if "
    "--c-gamma is large enough; for the other two there is no theorem. Centralized algorithms and "
    "OADSVI use "
    "the rules of their own papers if the problem's L and mu are known.");

const saddle_option saddle_option_nu =
    SADDLE_STEP(STEPS(nu), "nu", GROUP, "auto", 1.0, &damping, "STEP",
                "Fraction of the way to its proximal point that x moves per iteration. auto: the "
                "smaller of 0.1 and the smallest diagonal entry of the mixing matrix; this keeps "
                "every iterate in X; with --steps theory the theorem's value.");

const saddle_option saddle_option_eta =
    SADDLE_STEP(STEPS(eta), "eta", GROUP, "auto", 1.0, &damping, "STEP",
                "Fraction of the way to its projected ascent point that y moves per iteration. "
                "auto: by the same rule as for --nu; this keeps every iterate in Y; with --steps "
                "theory the theorem's value.");

const saddle_option saddle_option_tau =
    SADDLE_STEP(STEPS(tau), "tau", GROUP, "auto", SADDLE_UNBOUNDED, &tau, "WEIGHT",
                "Weight of the proximal term in x: a larger tau means shorter steps. The proximal "
                "point of x_t minimizes <p, x> + (tau/2) |x - x_t|^2 + h(x) over X, where p is the "
                "agent's gradient or tracker. Without h this is a gradient step of length 1/tau, "
                "projected onto X. auto: the problem's own value; without one L + L^2/mu, where L "
                "and mu are those "
                "of the problem or estimates, or 1 if there are none. It is raised if nu/tau is "
                "longer than 2/c, where c is the largest curvature of a mini-batch, measured "
                "before the run.");

const saddle_option saddle_option_alpha = SADDLE_STEP(
    STEPS(alpha), "alpha", GROUP, "auto", SADDLE_UNBOUNDED, &alpha, "STEP",
    "Gradient step in y, followed by the projection onto Y. auto: the problem's own "
    "value; without one 1/L, or 1 if L is unknown; with --steps theory the theorem's value.");

const saddle_option saddle_option_q = SADDLE_INTEGER(
    REFRESHES(q), "q", GROUP, "auto", 1.0, 0x1p53, "N",
    "Iterations from one refresh to the next.\n"
    "auto: ceil(sqrt(n)), where n is the largest number n_i of samples of an agent.");

const saddle_option saddle_option_batch =
    SADDLE_INTEGER(UNLESS_MEASURED(batch), "batch", GROUP, "auto", 1.0, 0x1p32, "N",
                   "Samples per mini-batch at each agent. An agent with fewer samples uses all.\n"
                   "auto: ceil(sqrt(n_i)) at an agent with n_i samples; for a centralized "
                   "algorithm ceil(sqrt(N)), where N is the number of all samples.");

const saddle_option saddle_option_sampling =
    SADDLE_CHOICE(UNLESS_MEASURED(sampling), "sampling", GROUP, "without-replacement",
                  "without-replacement|with-replacement", "HOW",
                  "How mini-batches are drawn. Refreshes are always drawn without replacement.");

const saddle_option saddle_option_eta_x =
    SADDLE_STEP(STEPS(eta_x), "eta-x", GROUP, "auto", SADDLE_UNBOUNDED, &eta_x, "STEP",
                "Gradient step in x, for algorithms without --nu. In rules for auto, nu and tau "
                "are as in PRECISION, L and mu are constants of the problem, and kappa = L / mu.");

const saddle_option saddle_option_eta_y =
    SADDLE_STEP(STEPS(eta_y), "eta-y", GROUP, "auto", SADDLE_UNBOUNDED, &eta_y, "STEP",
                "Gradient step in y, for algorithms without --eta. In rules for auto, eta and "
                "alpha are as in PRECISION; --eta-x explains the others.");

const saddle_option saddle_option_epsilon = SADDLE_REAL_ABOVE(
    STEPS(epsilon), "epsilon", GROUP, "auto", 0.0, SADDLE_UNBOUNDED, "E",
    "Accuracy to aim at; it matters to PRECISION+, SREDA and `saddle theory`.\n"
    "PRECISION+: a refresh needs no more than c_epsilon sigma^2/epsilon samples.\n"
    "SREDA: a step in x is at most 2 epsilon eta_x long.\n"
    "`saddle theory`: the mean metric is to be at most epsilon^2.\n"
    "auto: no such limit; 0.1 for `saddle theory`.");

/* Constants of Theorem 2, for PRECISION+. */
static const saddle_search c_gamma = {.name = "c-gamma", .low = -2, .high = 2};

const saddle_option saddle_option_c_gamma = SADDLE_STEP(
    STEPS(c_gamma), "c-gamma", "PRECISION+", "auto", SADDLE_UNBOUNDED, &c_gamma, "C",
    "Factor of sigma^2/gamma in the PRECISION paper's refresh size of PRECISION+, which this "
    "option and the "
    "others of its formula "
    "choose. A refresh at agent i uses "
    "min{c_gamma sigma^2/gamma, c_epsilon sigma^2/epsilon, n_i} samples: sigma^2 is the variance "
    "of one sample's gradient, and gamma the mean over the last q iterations of the squared "
    "distance of the proximal points from xbar, summed over agents. auto: 10, where the formula is "
    "used.");

const saddle_option saddle_option_c_epsilon = SADDLE_REAL_ABOVE(
    OF_EPSILON(c_epsilon), "c-epsilon", "PRECISION+", "auto", 0.0, SADDLE_UNBOUNDED, "C",
    "Factor of sigma^2/epsilon in the PRECISION paper's refresh size of PRECISION+; --c-gamma "
    "shows the "
    "formula. auto: 10.");

const saddle_option *const saddle_step_options[] = {
    &saddle_option_steps,     &saddle_option_nu,
    &saddle_option_eta,       &saddle_option_tau,
    &saddle_option_alpha,     &saddle_option_q,
    &saddle_option_batch,     &saddle_option_sampling,
    &saddle_option_eta_x,     &saddle_option_eta_y,
    &saddle_option_epsilon,   &saddle_option_c_gamma,
    &saddle_option_c_epsilon, NULL};
