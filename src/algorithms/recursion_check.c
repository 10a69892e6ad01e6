/*
 * Self-check of recursive estimates. A problem may compute differences of gradients by its own code. If these are
 * exactly zero although the iterate moves, that is right where the losses are linear, such as a logistic loss far from
 * its solution, and wrong if the gradients at the two points differ.
 */
#include <string.h>

#include "algorithms/family.h"
#include "core/vector.h"

/* After this many consecutive all-zero differences of a moving iterate, the differences are compared with gradients.
 * A single one can happen by chance: a mini-batch may not touch the coordinates that moved. */
#define STALL_LIMIT 16

/* Returns |gradient|^2 over the batch of the last difference at a point. Overwrites gx and gy. */
static double batch_slope(saddle_agent *agent, const saddle_parts *parts, const double *x,
                          const double *y)
{
    saddle_problem_gradient(agent->problem, agent->id, &agent->request.batch, x, y, parts->gx,
                            parts->gy, agent->scratch);
    return saddle_norm2(parts->x_dim, parts->gx) + saddle_norm2(parts->y_dim, parts->gy);
}

/* Returns whether the gradients at the two points of the last difference differ. The library computes differences from
 * gradients itself unless the problem has add_samples(). */
static bool gradients_differ(saddle_agent *agent, const saddle_parts *parts)
{
    if (agent->problem->add_samples == NULL)
        return false;
    double before = batch_slope(agent, parts, parts->x, parts->y);
    double after = batch_slope(agent, parts, parts->x1, parts->y1);
    memset(parts->gy, 0, parts->y_dim * sizeof *parts->gy); /* as track_batch() leaves it */
    return before != after;
}

void saddle_check_recursion(saddle_agent *agent, const saddle_parts *parts, double difference)
{
    double *stalled = saddle_stall_counter(parts);
    if (difference != 0.0) {
        *stalled = 0.0;
        return;
    }
    double size = saddle_norm2(parts->x_dim, parts->x) + saddle_norm2(parts->y_dim, parts->y);
    if (!(*parts->moved > 1e-20 * size) || !(*parts->moved > 1e-200))
        return;
    *stalled += 1.0;
    if (*stalled < STALL_LIMIT)
        return;
    *stalled = 0.0;
    if (agent->fault.kind == SADDLE_FAULT_NONE && gradients_differ(agent, parts))
        agent->fault = (saddle_fault){.kind = SADDLE_FAULT_STALLED,
                                      .variable = "(v, u)",
                                      .agent = agent->id,
                                      .iteration = agent->iteration + 1};
}
