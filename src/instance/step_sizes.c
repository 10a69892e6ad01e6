/* Step sizes: those that the plan gives; the others by the rule practical, paper or theory. */
#include <math.h>

#include "core/float_mode.h"
#include "core/sizes.h"
#include "core/status.h"
#include "instance/instance.h"
#include "instance/theory_bounds.h"

/* nu (which the paper also calls gamma) and eta in the paper's experiments. */
#define PAPER_STEP 0.1

static double given_or(double given, double other)
{
    return isnan(given) ? other : given;
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
    double tau = problem->tau > 0.0 && !paper ? problem->tau : 1.0;
    double alpha = problem->alpha > 0.0 && !paper ? problem->alpha : 1.0;
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
        out->q =
            (uint64_t)ceil(sqrt((double)saddle_sizes_largest(problem->agents, problem->samples)));
    out->nu = given_or(given->nu, nu);
    out->eta = given_or(given->eta, eta);
    out->tau = given_or(given->tau, tau);
    out->alpha = given_or(given->alpha, alpha);
    return SADDLE_OK;
}
