/*
 * Theorems 1 and 2 of Liu, Zhang, Lu, Liu 2023, evaluated.
 *
 * With c1 = (1 - lambda^2) / (1 + lambda^2), beta = min(tau/12, 1/3) and alpha = 1/(4L):
 *   eta <= min{ 1/8, c1 m mu / (375 alpha L^2), 15 L^2 / (beta mu alpha^2 c1),
 *               3 c1^2 m / (10 (1 + c1) mu alpha) }
 *   nu  <= min{ c1 m beta / (40 L^2), 2 c1 m beta / (5 tau), 2 c1 beta mu^2 m / (375 L^4),
 *               5 tau / (3 m c1), tau / (6 m (1 + 1/c1)), 3 mu eta alpha tau / (17 L^2),
 *               tau / (3 (L + L^2/mu)) }
 *   mean metric over T iterations <= (p_0 - Q*) / (min{C1, C2, C3, nu L^2/2} (T + 1)).
 * The C are those of the appendix. At the bounds themselves the appendix shows only C >= 0, which
 * would make the guarantee empty; the steps used here are half the bounds.
 */
#include "instance/theory_bounds.h"

#include <math.h>

#include "core/sizes.h"
#include "core/status.h"
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
    double L2 = t->lipschitz * t->lipschitz;
    const double bound[] = {
        1.0 / 8.0, t->c1 * m * t->strong_concavity / (375.0 * t->alpha * L2),
        15.0 * L2 / (t->beta * t->strong_concavity * t->alpha * t->alpha * t->c1),
        3.0 * t->c1 * t->c1 * m / (10.0 * (1.0 + t->c1) * t->strong_concavity * t->alpha)};
    return least(bound, sizeof bound / sizeof *bound);
}

static double nu_bound(const saddle_theory *t, double m)
{
    double L = t->lipschitz;
    double mu = t->strong_concavity;
    const double bound[] = {t->c1 * m * t->beta / (40.0 * L * L),
                            2.0 * t->c1 * m * t->beta / (5.0 * t->tau),
                            2.0 * t->c1 * t->beta * mu * mu * m / (375.0 * L * L * L * L),
                            5.0 * t->tau / (3.0 * m * t->c1),
                            t->tau / (6.0 * m * (1.0 + 1.0 / t->c1)),
                            3.0 * mu * t->eta * t->alpha * t->tau / (17.0 * L * L),
                            t->tau / (3.0 * (L + L * L / mu))};
    return least(bound, sizeof bound / sizeof *bound);
}

/* C1 .. C4 and C2' at (nu, eta). */
static void coefficients(saddle_theory *t, double m, double c_gamma)
{
    double L = t->lipschitz;
    double L2 = L * L;
    double mu = t->strong_concavity;
    double step = t->eta * t->alpha;
    double L_y = L / mu;
    double L_J = L + L2 / mu;
    double lambda2 = t->lambda * t->lambda;
    double noise = 75.0 * step / (16.0 * mu) * (2.0 / m) + t->nu / (2.0 * t->beta) * (2.0 / m);
    double drift = t->nu / t->beta * (L2 / m) + 4.0 * t->nu * L2 / (t->beta * mu * step) *
                                                    (75.0 * step / (16.0 * mu)) * (2.0 * L2 / m);
    double consensus = 1.0 - 8.0 * L2 * noise - (1.0 + t->c1) * lambda2 - drift;
    t->C1 = consensus - t->nu * t->tau / (2.0 * t->beta * m);
    t->C2 = -2.0 * t->nu * t->nu * L2 * noise - (1.0 + 1.0 / t->c1) * t->nu * t->nu -
            17.0 * L_y * L_y * t->nu * t->nu / (2.0 * mu * m * step) + t->nu * t->tau / m -
            t->nu * t->nu * L_J / (2.0 * m) - t->nu * t->beta / m -
            t->nu * t->tau * t->beta / (2.0 * m);
    t->C2_plus = t->C2 - noise / c_gamma;
    t->C3 = consensus;
    t->C4 = 4.0 * t->nu * L2 / (t->beta * mu * step) * (3.0 * t->eta / 4.0) -
            (1.0 + 1.0 / t->c1) * t->eta * t->eta - 2.0 * step * L2 * noise;
    double floor_rate = fmin(fmin(t->C1, t->C3), t->nu * L2 / 2.0);
    t->rate = fmin(floor_rate, t->C2);
    t->rate_plus = fmin(floor_rate, t->C2_plus);
    t->error_factor = noise;
    t->c_gamma_bound = (75.0 * step / (8.0 * mu) / m + t->nu / t->beta / m) * t->nu * t->tau / 12.0;
}

saddle_status saddle_theory_bounds(const saddle_instance *instance, double tau, double c_gamma,
                                   saddle_theory *out, saddle_error *error)
{
    const saddle_constants *constants = &instance->constants;
    if (!(constants->lipschitz > 0.0) || !(constants->strong_concavity > 0.0))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "the theory needs L and mu, and for %s over X = %s, Y = %s they are "
                           "neither known nor could be estimated; is F strongly concave in y?",
                           saddle_shown_name(instance->problem->name),
                           saddle_set_text(instance->x_set), saddle_set_text(instance->y_set));
    if (isinf(constants->lipschitz))
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the theory needs a finite L, but that of %s over X = %s, Y = %s "
                           "overflows; scale the data, or choose smaller sets",
                           saddle_shown_name(instance->problem->name),
                           saddle_set_text(instance->x_set), saddle_set_text(instance->y_set));
    if (!(instance->spectrum.lambda < 1.0))
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the theory needs lambda, and the spectrum of this network's mixing "
                           "matrix could not be computed; use a topology with a larger gap");
    double m = (double)instance->problem->agents;
    saddle_theory t = {.lipschitz = constants->lipschitz,
                       .strong_concavity = constants->strong_concavity,
                       .estimated = constants->estimated,
                       .lambda = instance->spectrum.lambda,
                       .tau = tau,
                       .epsilon = NAN,
                       .gap = NAN,
                       .iterations = NAN,
                       .iterations_plus = NAN};
    t.c1 = (1.0 - t.lambda * t.lambda) / (1.0 + t.lambda * t.lambda);
    t.beta = fmin(tau / 12.0, 1.0 / 3.0);
    t.alpha = 1.0 / (4.0 * t.lipschitz);
    t.q = (uint64_t)ceil(
        sqrt((double)saddle_sizes_largest(instance->problem->agents, instance->problem->samples)));
    t.eta_bound = eta_bound(&t, m);
    t.eta = 0.5 * t.eta_bound;
    t.nu_bound = nu_bound(&t, m);
    t.nu = 0.5 * t.nu_bound;
    if (!(t.eta > 0.0) || !(t.nu > 0.0))
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the theory's steps underflow: eta = %g, nu = %g with L = %g, mu = %g",
                           t.eta, t.nu, t.lipschitz, t.strong_concavity);
    coefficients(&t, m, c_gamma);
    *out = t;
    return SADDLE_OK;
}
