/* Noise on the gradients of rows: which runs may have it, and what it guarantees. */
#include "algorithms/sampling.h"
#include "core/gaussian_privacy.h"
#include "engines/link_state.h"
#include "run/run.h"

/* Returns why the accounting would not hold for a run; NULL if it does. */
static const char *why_not(const saddle_run_state *r)
{
    const saddle_instance *e = r->info.instance;
    const saddle_problem *p = e->problem;
    if (!r->info.algorithm->traits.fresh_batches)
        return "the algorithm must use every batch of rows once, for one gradient: use prox-dsgda "
               "or prox-gt-sgda";
    if (r->info.steps.sampling == SADDLE_WITH_REPLACEMENT)
        return "a row must not be twice in a batch: leave --sampling out";
    if (p->y_curvature > 0.0 || p->groups > 0)
        return "y must not have an entry for each row, as that of this problem has";
    if (p->gradients != NULL)
        return "the problem must give the gradients of single rows, not of all agents at once";
    if (e->plan->problem.scale == SADDLE_SCALE_STANDARD)
        return "scaled rows depend on all rows, so that one changes all gradients: give --scale "
               "none";
    if (saddle_link_state_has_maps(e))
        return "agents that begin anew use batches a second time: take reliable --links, without "
               "--churn";
    if (!saddle_run_is_between_owners(r) && e->world->ranks > 1)
        return "processes exchange exact sums over rows at every trace point: use threads to see "
               "what noise costs";
    if (r->given.limits.iterations > SADDLE_UNLIMITED_ITERATIONS / 64)
        return "the number of iterations must be known: give --iterations";
    return NULL;
}

saddle_status saddle_run_check_privacy(const saddle_run_state *r, saddle_error *error)
{
    const saddle_plan *plan = &r->given;
    if ((plan->privacy.row_noise > 0.0) != (plan->privacy.row_clip > 0.0))
        return saddle_refuse(error, "--%s: give both --row-clip and --row-noise, or neither",
                             plan->privacy.row_noise > 0.0 ? "row-noise" : "row-clip");
    const char *reason = plan->privacy.row_noise > 0.0 ? why_not(r) : NULL;
    return reason == NULL ? SADDLE_OK
                          : saddle_fail(error, SADDLE_UNSUPPORTED, "--row-noise: %s", reason);
}

void saddle_run_warn_of_privacy(const saddle_run_state *r)
{
    const saddle_plan *plan = &r->given;
    const saddle_instance *e = r->info.instance;
    double worst = 0.0;
    size_t rows = 0;
    for (size_t i = 0; plan->privacy.row_noise > 0.0 && i < e->problem->agents; i++) {
        size_t n = e->problem->samples[i];
        if (n == rows)
            continue;
        double share = (double)saddle_batch_size(n, r->info.steps.batch) / (double)n;
        double epsilon =
            saddle_gaussian_epsilon(plan->privacy.row_noise, share,
                                    (double)plan->limits.iterations + 1.0, plan->privacy.row_delta);
        worst = fmax(worst, epsilon);
        rows = n;
    }
    if (plan->privacy.row_noise > 0.0)
        saddle_run_warn(r,
                        "--row-noise: what agents send in the iterations has epsilon %.3g at delta "
                        "%g for each row; numbers of set-up are sent without noise%s",
                        worst, plan->privacy.row_delta,
                        saddle_run_is_between_owners(r)
                            ? ""
                            : ", and the noise of a simulation comes from --seed, so that this "
                              "run only shows what it costs");
}
