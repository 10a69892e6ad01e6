/*
 * The steps of `--steps theory`, whose guarantee is proved in docs/theory.md, and for comparison
 * Theorems 1 and 2 of Liu, Zhang, Lu, Liu 2023 as printed.
 *
 * With c1 = (1 - lambda^2) / (1 + lambda^2), beta = min(tau/12, 1/3) and alpha = 1/(4L) the paper
 * prints
 *   eta <= min{ 1/8, c1 m mu / (375 alpha L^2), 15 L^2 / (beta mu alpha^2 c1),
 *               3 c1^2 m / (10 (1 + c1) mu alpha) }
 *   nu  <= min{ c1 m beta / (40 L^2), 2 c1 m beta / (5 tau), 2 c1 beta mu^2 m / (375 L^4),
 *               5 tau / (3 m c1), tau / (6 m (1 + 1/c1)), 3 mu eta alpha tau / (17 L^2),
 *               tau / (3 (L + L^2/mu)) }
 *   mean metric over T iterations <= (p_0 - Q*) / (min{C1, C2, C3, nu L^2/2} (T + 1)).
 * C1, C2 and C3 are defined in its appendix.
 */
#include "instance/theory_bounds.h"

#include <math.h>

#include "core/sizes.h"
#include "core/status.h"
#include "graph/link_rule.h"
#include "instance/guarantee.h"
#include "instance/instance.h"

static double least(const double *value, size_t count)
{
    double result = value[0];
    for (size_t k = 1; k < count; k++)
        result = fmin(result, value[k]);
    return result;
}

static double eta_bound(const saddle_theory *t, double m)
{
    const saddle_printed_theorems *p = &t->printed;
    double L2 = t->lipschitz * t->lipschitz;
    double mu = t->strong_concavity;
    const double bound[] = {1.0 / 8.0, p->c1 * m * mu / (375.0 * p->alpha * L2),
                            15.0 * L2 / (p->beta * mu * p->alpha * p->alpha * p->c1),
                            3.0 * p->c1 * p->c1 * m / (10.0 * (1.0 + p->c1) * mu * p->alpha)};
    return least(bound, sizeof bound / sizeof *bound);
}

static double nu_bound(const saddle_theory *t, double m, double eta)
{
    const saddle_printed_theorems *p = &t->printed;
    double L = t->lipschitz;
    double mu = t->strong_concavity;
    const double bound[] = {p->c1 * m * p->beta / (40.0 * L * L),
                            2.0 * p->c1 * m * p->beta / (5.0 * t->tau),
                            2.0 * p->c1 * p->beta * mu * mu * m / (375.0 * L * L * L * L),
                            5.0 * t->tau / (3.0 * m * p->c1),
                            t->tau / (6.0 * m * (1.0 + 1.0 / p->c1)),
                            3.0 * mu * eta * p->alpha * t->tau / (17.0 * L * L),
                            t->tau / (3.0 * (L + L * L / mu))};
    return least(bound, sizeof bound / sizeof *bound);
}

/* Computes C1 .. C4 and C2' at (nu, eta). */
static void coefficients(saddle_theory *t, double m, double nu, double eta, double c_gamma)
{
    saddle_printed_theorems *p = &t->printed;
    double L2 = t->lipschitz * t->lipschitz;
    double mu = t->strong_concavity;
    double tau = t->tau;
    double step = eta * p->alpha;
    double L_J = t->lipschitz + L2 / mu;
    double noise = 75.0 * step / (16.0 * mu) * (2.0 / m) + nu / (2.0 * p->beta) * (2.0 / m);
    double weight = 4.0 * nu * L2 / (p->beta * mu * step);
    double drift = nu / p->beta * (L2 / m) + weight * (75.0 * step / (16.0 * mu)) * (2.0 * L2 / m);
    double consensus = 1.0 - 8.0 * L2 * noise - (1.0 + p->c1) * t->lambda * t->lambda - drift;
    double of_response = 17.0 * L2 / (mu * mu) * nu * nu / (2.0 * mu * m * step);
    double rest = nu * tau / m - 2.0 * nu * nu * L2 * noise - (1.0 + 1.0 / p->c1) * nu * nu -
                  nu * nu * L_J / (2.0 * m) - nu * p->beta / m - nu * tau * p->beta / (2.0 * m);
    p->C1 = consensus - nu * tau / (2.0 * p->beta * m);
    p->C2 = rest - of_response;
    p->C2_carried = rest - weight * of_response;
    p->C2_plus = p->C2 - noise / c_gamma;
    p->C3 = consensus;
    p->C4 = weight * (3.0 * eta / 4.0) - (1.0 + 1.0 / p->c1) * eta * eta - 2.0 * step * L2 * noise;
    p->rate = fmin(fmin(p->C1, p->C2), fmin(p->C3, nu * L2 / 2.0));
    p->c_gamma_bound = (75.0 * step / (8.0 * mu) / m + nu / p->beta / m) * nu * tau / 12.0;
}

/* Evaluates the theorems as printed. */
static void evaluate_printed(saddle_theory *t, double m, double c_gamma)
{
    double lambda2 = t->lambda * t->lambda;
    t->printed.c1 = (1.0 - lambda2) / (1.0 + lambda2);
    t->printed.beta = fmin(t->tau / 12.0, 1.0 / 3.0);
    t->printed.alpha = 1.0 / (4.0 * t->lipschitz);
    t->printed.eta_bound = eta_bound(t, m);
    double eta = 0.5 * t->printed.eta_bound;
    t->printed.nu_bound = nu_bound(t, m, eta);
    /* At the bounds themselves coefficients may be 0, so take half of them. */
    coefficients(t, m, 0.5 * t->printed.nu_bound, eta, c_gamma);
}

/* Finds the steps with the best guarantee, and evaluates it. */
static void evaluate_proved(saddle_theory *t, double m, double most, double c_gamma)
{
    saddle_guarantee_inputs in = {.lipschitz = t->lipschitz,
                                  .strong_concavity = t->strong_concavity,
                                  .lambda = t->lambda,
                                  .agents = m,
                                  .tau = t->tau,
                                  .alpha = t->alpha,
                                  .q = (double)t->q,
                                  .batch = (double)t->q,
                                  .c_gamma = INFINITY};
    saddle_guarantee_best_steps(&in, most);
    t->nu = in.nu;
    t->eta = in.eta;
    t->precision = saddle_guarantee_at(&in);
    t->precision.level = 0.0;
    t->least_c_gamma = saddle_guarantee_least_c_gamma(&in);
    in.c_gamma = c_gamma;
    t->precision_plus = saddle_guarantee_at(&in);
}

saddle_status saddle_theory_bounds(const saddle_instance *instance, double tau, double c_gamma,
                                   saddle_theory *out, saddle_error *error)
{
    const saddle_constants *constants = &instance->constants;
    if (!(constants->lipschitz > 0.0) || !(constants->strong_concavity > 0.0))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "the theory needs L and mu, but for %s over X = %s, Y = %s they are "
                           "unknown and could not be estimated; is F strongly concave in y?",
                           saddle_shown_name(instance->problem->name),
                           saddle_set_text(instance->x_set), saddle_set_text(instance->y_set));
    if (isinf(constants->lipschitz))
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the theory needs a finite L, but that of %s over X = %s, Y = %s "
                           "overflows; scale the data, or choose smaller sets",
                           saddle_shown_name(instance->problem->name),
                           saddle_set_text(instance->x_set), saddle_set_text(instance->y_set));
    if (instance->links != NULL && instance->links->kind != SADDLE_LINKS_RELIABLE)
        return saddle_fail(
            error, SADDLE_UNSUPPORTED,
            "the theory, and so steps theory, covers only reliable links (got %.200s); leave "
            "links out",
            instance->plan->network.links);
    if (instance->churn != NULL)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "the theory, and so steps theory, does not cover agents that leave or "
                           "join; leave churn out");
    if (instance->compression != NULL)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "the theory, and so steps theory, does not cover compressed messages "
                           "(got %.200s); leave compress out",
                           instance->plan->network.compress);
    if (!(instance->spectrum.lambda < 1.0))
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the theory needs lambda, but the spectrum of this network's mixing "
                           "matrix could not be computed; use a topology with a larger gap");
    double m = (double)instance->problem->agents;
    saddle_theory t = {.lipschitz = constants->lipschitz,
                       .strong_concavity = constants->strong_concavity,
                       .estimated = constants->estimated,
                       .lambda = instance->spectrum.lambda,
                       .tau = tau,
                       .epsilon = NAN,
                       .value_gap = NAN,
                       .start_metric = NAN};
    t.alpha = 1.0 / t.lipschitz;
    t.q = (uint64_t)ceil(
        sqrt((double)saddle_sizes_largest(instance->problem->agents, instance->problem->samples)));
    evaluate_printed(&t, m, c_gamma);
    /* Larger steps could leave X and Y. */
    evaluate_proved(&t, m, saddle_mixing_min_self_weight(instance->mixing), c_gamma);
    if (!t.precision.holds)
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the theory has no steps above 1e-60 for L = %g, mu = %g, tau = %g, "
                           "lambda = %g",
                           t.lipschitz, t.strong_concavity, tau, t.lambda);
    *out = t;
    return SADDLE_OK;
}
