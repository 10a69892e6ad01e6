/* Step sizes: what the user gives, else the paper's practice or its theory. */
#include "instance/experiment.h"

#include <math.h>
#include <string.h>

/* The paper's nu (it also writes gamma) and eta. */
#define PAPER_STEP 0.1

static double given_or(const saddle_settings *settings, const char *name, double other)
{
    return saddle_settings_auto(settings, name) ? other : saddle_settings_real(settings, name);
}

saddle_status saddle_experiment_steps(saddle_experiment *e, const saddle_settings *given,
                                      saddle_steps *out, saddle_error *error)
{
    const saddle_settings *settings = given != NULL ? given : e->settings;
    size_t most = saddle_experiment_most_samples(e);
    out->q = saddle_settings_integer(settings, "q");
    if (out->q == 0)
        out->q = (uint64_t)ceil(sqrt((double)most));
    out->batch = saddle_settings_integer(settings, "batch");

    double safe = fmin(PAPER_STEP, saddle_mixing_min_self_weight(e->mixing));
    saddle_steps rule = {.nu = safe,
                         .eta = safe,
                         .tau = e->problem->tau > 0.0 ? e->problem->tau : 1.0,
                         .alpha = e->problem->alpha > 0.0 ? e->problem->alpha : 1.0};
    if (strcmp(saddle_settings_text(settings, "steps"), "theory") == 0) {
        saddle_theory theory;
        double tau = given_or(settings, "tau", rule.tau);
        saddle_status status = saddle_experiment_theory(e, tau, 1.0, 1.0, 1.0, &theory, error);
        if (status != SADDLE_OK)
            return status;
        rule.nu = theory.nu;
        rule.eta = theory.eta;
        rule.tau = theory.tau;
        rule.alpha = theory.alpha;
    }
    out->nu = given_or(settings, "nu", rule.nu);
    out->eta = given_or(settings, "eta", rule.eta);
    out->tau = given_or(settings, "tau", rule.tau);
    out->alpha = given_or(settings, "alpha", rule.alpha);
    return SADDLE_OK;
}
