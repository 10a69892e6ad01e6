/*
 * Step sizes: those that the plan gives; the others by the rule practical, paper or theory. The steps of
 * the theory have a guarantee, which docs/theory.md proves; the numbers of inequalities are those used
 * there. For comparison, Theorems 1 and 2 of Liu, Zhang, Lu, Liu 2023 are evaluated as printed.
 *
 * Guarantees of PRECISION and PRECISION+: nine sums over t < T of expectations bound each other linearly,
 * s <= K s + b, K >= 0. If I - K has a nonnegative inverse, s is at most (I - K)^-1 b, which also bounds
 * the sum of the metric.
 *
 * Appendix of the paper: c1 = (1 - lambda^2) / (1 + lambda^2), beta = min(tau/12, 1/3), alpha = 1/(4L), and
 *   mean metric over T iterations <= (p_0 - Q*) / (min{C1, C2, C3, nu L^2/2} (T + 1)).
 */
#include "core/float_mode.h"
#include "core/sizes.h"
#include "graph/link_rule.h"
#include "instance/instance.h"

/* nu (which the paper also calls gamma) and eta in the paper's experiments. */
#define PAPER_STEP 0.1
/* c_gamma and c_epsilon, for which the paper gives no values. */
#define DEFAULT_C 10.0

/* ---- guarantees ------------------------------------------------------------------------------ */

/* The unknowns: sums over t < T, with the names of docs/theory.md. */
enum { U, G, X, Y, S, V, R, M, A, SUMS };
/* The sources that bound them: the right-hand sides. */
enum { VALUE = SUMS, Y_GAP, TRACKERS, REFRESH, LEVEL, WIDTH };

/* Fills in I - K and b for m agents. Returns false if nu is too large for (1). A c_gamma of INFINITY
 * means that every refresh is full. */
static bool fill(const saddle_theory *t, double m, double c_gamma, double a[SUMS][WIDTH],
                 double *of_D)
{
    double L = t->lipschitz;
    double L2 = L * L;
    double mu = t->strong_concavity;
    double nu = t->nu;
    double eta = t->eta;
    double alpha = t->alpha;
    double q = (double)t->q;
    double batch = (double)t->batch;
    double gap = 1.0 - t->lambda;
    double beta = t->tau / 4.0;
    double theta = eta * alpha * mu;
    double root = sqrt(batch);
    double spread = (1.0 + 1.0 / root) * (1.0 + 1.0 / root);
    double reach = 2.0 * (1.0 + t->lambda) * (1.0 + t->lambda);
    double of_W = nu * t->tau / (2.0 * m);
    *of_D = nu * (t->tau - beta - nu * (L + L2 / mu)) / (2.0 * m);
    if (!(*of_D > 0.0))
        return false;
    for (int r = 0; r < SUMS; r++)
        for (int c = 0; c < WIDTH; c++)
            a[r][c] = r == c ? 1.0 : 0.0;
    /* (1), with (2) */
    a[U][X] = -(nu * t->tau / (2.0 * m) + nu * L2 / (beta * m));
    a[U][Y] = -nu * L2 / (beta * m);
    a[U][G] = -nu * L2 / beta;
    a[U][S] = -nu / (2.0 * beta * m);
    a[U][A] = -nu / (beta * m * m);
    a[U][VALUE] = 1.0;
    /* (3) */
    a[G][R] = -3.0 * eta / (alpha * mu * m * theta);
    a[G][U] = -6.0 * L2 * nu * nu / (mu * mu * theta * theta * m * *of_D);
    a[G][Y_GAP] = 2.0 / theta;
    /* (4) */
    a[R][X] = -2.0 * alpha * alpha * L2;
    a[R][Y] = -2.0 - 2.0 * alpha * alpha * L2;
    a[R][S] = -2.0 * alpha * alpha;
    a[R][A] = -2.0 * alpha * alpha / m;
    /* (5) */
    a[V][R] = -3.0;
    a[V][G] = -6.0 * m;
    a[V][Y] = -3.0;
    /* (6) */
    a[X][U] = -nu * nu / (gap * gap * of_W);
    a[Y][V] = -eta * eta / (gap * gap);
    /* (7) */
    a[M][X] = a[M][Y] = -reach;
    a[M][U] = -2.0 * nu * nu / of_W;
    a[M][V] = -2.0 * eta * eta;
    /* (8) */
    a[A][M] = -L2 * (q - 1.0) / batch;
    a[A][U] = -m / (c_gamma * *of_D);
    a[A][REFRESH] = q;
    a[A][LEVEL] = m;
    /* (9) */
    a[S][M] = -L2 * spread / (gap * gap);
    a[S][U] = -(2.0 + root) * m / (c_gamma * q * gap * gap * *of_D);
    a[S][TRACKERS] = 1.0 / gap;
    a[S][REFRESH] = (1.0 + root) / (gap * gap);
    a[S][LEVEL] = (2.0 + root) * m / (q * gap * gap);
    return true;
}

/* Solves by Gaussian elimination. Since no entry off the diagonal is positive, the inverse of I
 * - K exists and is nonnegative exactly if every pivot is positive. */
static bool solve(double a[SUMS][WIDTH])
{
    for (int k = 0; k < SUMS; k++) {
        if (!(a[k][k] > 0.0))
            return false;
        for (int r = 0; r < SUMS; r++) {
            double factor = r == k ? 0.0 : a[r][k] / a[k][k];
            for (int c = k; c < WIDTH && factor != 0.0; c++)
                a[r][c] -= factor * a[k][c];
        }
    }
    for (int r = 0; r < SUMS; r++)
        for (int c = SUMS; c < WIDTH; c++)
            a[r][c] /= a[r][r];
    return true;
}

/* Returns the factor of a source in the bound of the sum of the metric, D + X + Y + G. */
static double metric_of(double a[SUMS][WIDTH], double of_D, int source)
{
    return a[U][source] / of_D + a[X][source] + a[Y][source] + a[G][source];
}

/* Returns the factors of a guarantee; total and iterations are NaN. */
static saddle_guarantee guarantee_at(const saddle_theory *t, double m, double c_gamma)
{
    double a[SUMS][WIDTH];
    double of_D;
    bool holds = fill(t, m, c_gamma, a, &of_D) && solve(a);
    return (saddle_guarantee){.holds = holds,
                              .value = holds ? metric_of(a, of_D, VALUE) : INFINITY,
                              .y_gap = holds ? metric_of(a, of_D, Y_GAP) : INFINITY,
                              .trackers = holds ? metric_of(a, of_D, TRACKERS) : INFINITY,
                              .refresh = holds ? metric_of(a, of_D, REFRESH) : INFINITY,
                              .level = holds ? metric_of(a, of_D, LEVEL) : INFINITY,
                              .total = NAN,
                              .iterations = NAN};
}

/* Searches the best pair around the present one: both steps multiplied and divided by `ratio` up
 * to `steps` times. */
static void search_around(saddle_theory *t, double m, double most, double ratio, int steps)
{
    saddle_theory best = *t;
    saddle_theory there = *t;
    double low = 1.0;
    for (int k = 0; k < steps; k++)
        low /= ratio;
    double least = guarantee_at(t, m, INFINITY).value;
    there.nu = t->nu * low;
    for (int i = 0; i <= 2 * steps && there.nu <= most; i++, there.nu *= ratio) {
        there.eta = t->eta * low;
        for (int j = 0; j <= 2 * steps && there.eta <= most; j++, there.eta *= ratio) {
            double value = guarantee_at(&there, m, INFINITY).value;
            if (value < least) {
                least = value;
                best = there;
            }
        }
    }
    *t = best;
}

/* Sets nu and eta to the pair, each at most `most`, whose guarantee has the smallest factor of
 * Q(xbar_0) - Q*. */
static void choose_best_steps(saddle_theory *t, double m, double most)
{
    t->nu = t->eta = most * 1e-30;
    static const struct {
        double ratio;
        int steps;
    } search[] = {{10.0, 30}, {1.5, 6}, {1.15, 6}, {1.05, 6}, {1.02, 6}};
    for (size_t k = 0; k < sizeof search / sizeof *search; k++)
        search_around(t, m, most, search[k].ratio, search[k].steps);
}

/* Returns the smallest c_gamma, up to rounding, for which the steps have a guarantee; INFINITY
 * if there is none. */
static double least_c_gamma(const saddle_theory *t, double m)
{
    if (!guarantee_at(t, m, INFINITY).holds)
        return INFINITY;
    /* Bisection, because a larger c_gamma never hurts. */
    double low = 1e-300;
    double high = 1e300;
    while (high > 1.001 * low) {
        double middle = sqrt(low) * sqrt(high);
        if (guarantee_at(t, m, middle).holds)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- the theorems as printed ----------------------------------------------------------------- */

static double least(const double *value, size_t count)
{
    double result = value[0];
    for (size_t k = 1; k < count; k++)
        result = fmin(result, value[k]);
    return result;
}

/* Theorem 1's bound on eta. */
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

/* Theorem 1's bound on nu. */
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

/* ---- the theory of an instance --------------------------------------------------------------- */

/* Returns ceil(sqrt(n)) for the largest number n of samples of an agent. */
static uint64_t root_of_samples(const saddle_problem *problem)
{
    return (uint64_t)ceil(sqrt((double)saddle_sizes_largest(problem->agents, problem->samples)));
}

/* Returns the size of the smallest mini-batch, which is ceil(sqrt(n_i)) at an agent. */
static uint64_t smallest_batch(const saddle_problem *problem)
{
    size_t least = problem->samples[0];
    for (size_t i = 1; i < problem->agents; i++)
        least = problem->samples[i] < least ? problem->samples[i] : least;
    return (uint64_t)ceil(sqrt((double)least));
}

/* Refuses an instance that the theory does not cover. */
static saddle_status check_coverage(const saddle_instance *instance, saddle_error *error)
{
    const saddle_constants *constants = &instance->constants;
    const char *name = saddle_shown_name(instance->problem->name);
    const char *X_text = saddle_set_text(instance->x_set);
    const char *Y_text = saddle_set_text(instance->y_set);
    if (!(constants->lipschitz > 0.0) || !(constants->strong_concavity > 0.0))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "the theory needs L and mu, but for %s over X = %s, Y = %s they are "
                           "unknown and could not be estimated; is F strongly concave in y?",
                           name, X_text, Y_text);
    if (isinf(constants->lipschitz))
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the theory needs a finite L, but that of %s over X = %s, Y = %s "
                           "overflows; scale the data, or choose smaller sets",
                           name, X_text, Y_text);
    if (instance->links != NULL && instance->links->kind != SADDLE_LINKS_RELIABLE)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "the theory, and so --steps theory, covers only reliable links (got "
                           "%.200s); leave --links out",
                           instance->plan->network.links);
    if (instance->churn != NULL)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "the theory, and so --steps theory, does not cover agents that leave or "
                           "join; leave --churn out");
    if (instance->compression != NULL)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "the theory, and so --steps theory, does not cover compressed messages "
                           "(got %.200s); leave --compress out",
                           instance->plan->network.compress);
    if (!(instance->spectrum.lambda < 1.0))
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the theory needs lambda, but the spectrum of this network's mixing "
                           "matrix could not be computed; use a topology with a larger gap");
    return SADDLE_OK;
}

saddle_status saddle_theory_bounds(const saddle_instance *instance, double tau, double c_gamma,
                                   saddle_theory *out, saddle_error *error)
{
    const saddle_constants *constants = &instance->constants;
    SADDLE_TRY(check_coverage(instance, error));
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
    t.q = root_of_samples(instance->problem);
    t.batch = smallest_batch(instance->problem);
    evaluate_printed(&t, m, c_gamma);
    /* Larger steps could leave X and Y. */
    choose_best_steps(&t, m, saddle_mixing_min_self_weight(instance->mixing));
    t.precision = guarantee_at(&t, m, INFINITY);
    t.precision.level = 0.0;
    t.least_c_gamma = least_c_gamma(&t, m);
    t.precision_plus = guarantee_at(&t, m, c_gamma);
    if (!t.precision.holds)
        return saddle_fail(error, SADDLE_NUMERIC,
                           "the theory has no steps above 1e-60 for L = %g, mu = %g, tau = %g, "
                           "lambda = %g",
                           t.lipschitz, t.strong_concavity, tau, t.lambda);
    *out = t;
    return SADDLE_OK;
}

/* ---- step sizes ------------------------------------------------------------------------------ */

static double given_or(double given, double other)
{
    return isnan(given) ? other : given;
}

/* Returns a problem's own tau; otherwise L + L^2 / mu, which covers the curvature of Q. 1 if L is unknown. */
static double tau_of(const saddle_instance *instance)
{
    double L = instance->constants.lipschitz;
    double mu = instance->constants.strong_concavity;
    if (instance->problem->tau > 0.0)
        return instance->problem->tau;
    double tau = mu > 0.0 ? L + L * L / mu : L;
    return tau > 0.0 && isfinite(tau) ? tau : 1.0;
}

/* Returns a problem's own alpha; otherwise 1 / L. 1 if L is unknown. */
static double alpha_of(const saddle_instance *instance)
{
    double L = instance->constants.lipschitz;
    if (instance->problem->alpha > 0.0)
        return instance->problem->alpha;
    return L > 0.0 && isfinite(L) ? 1.0 / L : 1.0;
}

saddle_status saddle_instance_steps(const saddle_instance *instance, const saddle_plan *plan,
                                    saddle_steps *out, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, instance, plan, out);
    const saddle_problem *problem = instance->problem;
    const saddle_steps *given = &plan->steps;
    double safe = fmin(PAPER_STEP, saddle_instance_least_self_weight(instance));
    double nu = safe;
    double eta = safe;
    bool paper = given->rule == SADDLE_STEPS_PAPER;
    double tau = paper ? 1.0 : tau_of(instance);
    double alpha = paper ? 1.0 : alpha_of(instance);
    *out = *given;
    if (given->rule == SADDLE_STEPS_THEORY) {
        saddle_theory theory;
        tau = given_or(given->tau, tau);
        SADDLE_TRY(saddle_theory_bounds(instance, tau, 1.0, &theory, error));
        nu = theory.nu;
        eta = theory.eta;
        alpha = theory.alpha;
    }
    if (given->q == 0)
        out->q = root_of_samples(problem);
    out->nu = given_or(given->nu, nu);
    out->eta = given_or(given->eta, eta);
    out->tau = given_or(given->tau, tau);
    out->alpha = given_or(given->alpha, alpha);
    out->c_gamma = given_or(given->c_gamma, DEFAULT_C);
    out->c_epsilon = given_or(given->c_epsilon, DEFAULT_C);
    return SADDLE_OK;
}
