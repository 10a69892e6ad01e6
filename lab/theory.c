/* How many iterations Theorems 1 and 2 guarantee: their bounds, and the potential at the start. */
#include <math.h>

#include <saddle/lab.h>

#include "core/float_mode.h"
#include "core/status.h"
#include "instance/plan.h"
#include "instance/theory_bounds.h"

/* Theorem 1's potential at the starting point, with the theory's steps: a run of no iterations, which
 * writes nothing. */
static saddle_status first_potential(const saddle_instance *instance, const saddle_theory *t,
                                     double *out, saddle_error *error)
{
    saddle_plan plan;
    saddle_result *result = NULL;
    saddle_plan_defaults(&plan, sizeof plan);
    plan.steps.nu = t->nu;
    plan.steps.eta = t->eta;
    plan.steps.tau = t->tau;
    plan.steps.alpha = t->alpha;
    plan.limits.iterations = 0;
    plan.engine.threads = instance->plan->engine.threads;
    saddle_status status = saddle_run(instance, &plan, NULL, &result, error);
    if (status == SADDLE_OK)
        *out = result->row_count > 0 ? result->rows[0].potential : (double)NAN;
    saddle_result_free(result);
    return status;
}

static saddle_status check_positive(const char *name, double value, saddle_error *error)
{
    return value > 0.0 && isfinite(value)
               ? SADDLE_OK
               : saddle_fail(error, SADDLE_BAD_INPUT, "%s: %g is not a finite number above 0", name,
                             value);
}

saddle_status saddle_theory_evaluate(const saddle_instance *instance, double tau, double epsilon,
                                     double c_epsilon, double c_gamma, saddle_theory *out,
                                     saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, instance, out);
    SADDLE_TRY(check_positive("tau", tau, error));
    SADDLE_TRY(check_positive("epsilon", epsilon, error));
    SADDLE_TRY(check_positive("c-epsilon", c_epsilon, error));
    SADDLE_TRY(check_positive("c-gamma", c_gamma, error));
    const saddle_constants *constants = &instance->constants;
    saddle_status status = saddle_theory_bounds(instance, tau, c_gamma, out, error);
    out->epsilon = epsilon;
    if (status != SADDLE_OK || !constants->has_primal_bound || constants->estimated)
        return status;
    double potential = NAN;
    SADDLE_TRY(first_potential(instance, out, &potential, error));
    double target = epsilon * epsilon;
    double floor_level = out->error_factor * epsilon / c_epsilon;
    out->gap = potential - constants->primal_bound;
    if (out->rate > 0.0)
        out->iterations = fmax(0.0, ceil(out->gap / (out->rate * target) - 1.0));
    if (out->rate_plus > 0.0 && floor_level < target)
        out->iterations_plus =
            fmax(0.0, ceil(out->gap / (out->rate_plus * (target - floor_level)) - 1.0));
    return SADDLE_OK;
}
