#include "algorithms/shifted_estimate.h"

#include "algorithms/pass.h"
#include "core/vector.h"

/* d1[k] -= c (y1[k] - y[k]) */
SADDLE_KERNEL static void subtract_move(size_t count, double c, const double *restrict y,
                                        const double *restrict y1, double *restrict d1)
{
    for (size_t k = 0; k < count; k++)
        d1[k] -= c * (y1[k] - y[k]);
}

/* Converting w to u and back would add a rounding error to d at every refresh, and these errors
 * would add up once the iterate no longer moves. */
void saddle_shifted_refresh(const saddle_agent *agent, double c, const saddle_range *y)
{
    const saddle_variables at = saddle_precision_variables(agent);
    size_t k = y->first;
    size_t count = y->last > k ? y->last - k : 0;
    saddle_axpy(count, c, at.y1 + k, at.gy + k); /* w+ = u+ + c y+ */
    saddle_pass_track(agent, &(saddle_track){.offset = (size_t)(at.d - agent->now),
                                             .range = *y,
                                             .update = at.gy,
                                             .estimate = at.u,
                                             .tracker = at.d1});
    subtract_move(count, c, at.y + k, at.y1 + k, at.d1 + k);
}

void saddle_shifted_update(const saddle_agent *agent, const saddle_batch *batch,
                           const saddle_range *y)
{
    const saddle_variables at = saddle_precision_variables(agent);
    size_t first_block = (y->first + y->shift) / y->block;
    for (size_t k = 0; k < batch->count; k++) {
        size_t j = saddle_batch_sample(batch, k);
        if (j < y->first || j >= y->last)
            continue;
        double *sums = y->sums + ((j + y->shift) / y->block - first_block) * SADDLE_BLOCK_SUMS;
        double change = at.gy[j];
        at.gy[j] = 0.0;
        at.u[j] += change;
        at.d1[j] += change;
        sums[0] += fabs(change);
        sums[1] += at.u[j] * at.u[j];
    }
}
