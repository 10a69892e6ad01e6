/* Warnings about runs with the theory's steps that their guarantee does not cover. */
#include "algorithms/algorithms.h"
#include "algorithms/sampling.h"
#include "instance/instance.h"
#include "instance/unused_options.h"
#include "run/run.h"

/* Warns if given values are not those for which the theory's steps have a guarantee. */
static void warn_of_own_values(const saddle_run_state *r)
{
    const saddle_problem *problem = r->info.instance->problem;
    const saddle_steps *steps = &r->info.steps;
    const saddle_plan proved = {.steps = {.rule = SADDLE_STEPS_THEORY,
                                          .nu = (double)NAN,
                                          .eta = (double)NAN,
                                          .tau = steps->tau,
                                          .alpha = (double)NAN}};
    saddle_steps best;
    saddle_error error;
    if (saddle_instance_steps(r->info.network, &proved, &best, &error) != SADDLE_OK)
        return;
    bool batch = false;
    for (size_t i = 0; i < problem->agents; i++)
        batch = batch || saddle_batch_size(problem->samples[i], steps->batch) !=
                             saddle_batch_size(problem->samples[i], 0);
    char names[64] = "";
    if (batch)
        saddle_append(names, sizeof names, ", --batch");
    if (steps->q != best.q)
        saddle_append(names, sizeof names, ", --q");
    if (steps->alpha != best.alpha)
        saddle_append(names, sizeof names, ", --alpha");
    if (*names != '\0')
        saddle_run_warn(r, "--steps: the theory's guarantee does not cover this run; leave out%s",
                        names + 1);
}

void saddle_run_warn_of_no_guarantee(const saddle_run_state *r)
{
    const saddle_algorithm *a = r->info.algorithm;
    const saddle_steps *steps = &r->info.steps;
    saddle_theory theory;
    saddle_error error;
    if (steps->rule != SADDLE_STEPS_THEORY || !saddle_option_in(a->options, &saddle_option_nu))
        return;
    if (a == &saddle_precision || a == &saddle_precision_plus)
        warn_of_own_values(r);
    if (a == &saddle_precision)
        return;
    if (a != &saddle_precision_plus)
        saddle_run_warn(r, "--steps: nothing is proved about %.100s; these are PRECISION's steps",
                        a->title != NULL ? a->title : a->name);
    else if (saddle_theory_bounds(r->info.network, steps->tau, steps->c_gamma, &theory, &error) ==
                 SADDLE_OK &&
             !theory.precision_plus.holds)
        saddle_run_warn(r,
                        "--steps: PRECISION+ has no guarantee with a --c-gamma of %g; these steps "
                        "need one above %.3g",
                        steps->c_gamma, theory.least_c_gamma);
}
