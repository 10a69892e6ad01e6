/*
 * Self-check of recursive estimates. A problem may compute differences of gradients by its own code. If these are
 * exactly zero although the iterate moves, that is right where the losses are linear, such as a logistic loss far from
 * its solution, and wrong if the gradients at the two points differ.
 */
#include "algorithms/precision_steps.h"
#include "core/vector.h"

/* After this many consecutive all-zero differences of a moving iterate, the differences are compared with gradients.
 * A single one can happen by chance: a mini-batch may not touch the coordinates that moved. */
#define STALL_LIMIT 16

/* Returns whether the gradients at the two points of the last difference differ by more than rounding. They are not
 * counted as IFO calls, because they do not contribute to the result. The library computes differences from gradients
 * itself unless the problem has add_samples(). */
static bool gradients_differ(const saddle_agent *agent)
{
    const saddle_variables at = saddle_precision_variables(agent);
    const saddle_problem *problem = agent->problem;
    const saddle_batch *batch = &agent->request.batch;
    if (problem->add_samples == NULL)
        return false;
    saddle_problem_gradient(problem, agent->id, batch, at.x, at.y, at.x_tilde, at.y_tilde,
                            agent->scratch);
    saddle_problem_gradient(problem, agent->id, batch, at.x1, at.y1, at.gx, at.gy, agent->scratch);
    for (size_t k = 0; k < at.x_dim + at.y_dim; k++) {
        double before = at.x_tilde[k]; /* x_tilde | y_tilde, gx | gy */
        double after = at.gx[k];
        if (fabs(after - before) > 1e-12 * (fabs(after) + fabs(before)))
            return true;
    }
    return false;
}

void saddle_check_recursion(saddle_agent *agent, double difference)
{
    const saddle_variables at = saddle_precision_variables(agent);
    double *stalled = at.stalled;
    if (difference != 0.0) {
        *stalled = 0.0;
        return;
    }
    double size = saddle_norm2(at.x_dim, at.x) + saddle_norm2(at.y_dim, at.y);
    if (!(*at.moved > 1e-20 * size) || !(*at.moved > 1e-200))
        return;
    *stalled += 1.0;
    if (*stalled < STALL_LIMIT)
        return;
    *stalled = 0.0;
    if (agent->fault.kind == SADDLE_FAULT_NONE && gradients_differ(agent))
        agent->fault = (saddle_fault){.kind = SADDLE_FAULT_STALLED,
                                      .variable = "(v, u)",
                                      .agent = agent->id,
                                      .iteration = agent->iteration + 1};
}
