/*
 * l1-ball:R: sum of |x_k| at most R. Outside it, the projection is that of the magnitudes onto the
 * simplex of sum R, with the signs put back (Duchi, Shalev-Shwartz, Singer, Chandra, ICML 2008).
 */
#include <math.h>

#include "sets/ball.h"
#include "sets/kernel.h"

static size_t scratch_size(const saddle_set *set)
{
    return 2 * set->dimension;
}

static void project(const saddle_set *set, double *v, double *scratch)
{
    double radius = ((const saddle_ball *)set)->radius;
    size_t count = set->dimension;
    if (saddle_norm1(count, v) <= radius * (1.0 + saddle_rounding(count)))
        return;
    for (size_t k = 0; k < count; k++)
        scratch[k] = fabs(v[k]);
    saddle_project_simplex(count, radius, scratch, scratch + count);
    for (size_t k = 0; k < count; k++)
        v[k] = v[k] < 0.0 ? 0.0 - scratch[k] : scratch[k];
}

const saddle_set_class saddle_set_l1_ball = {
    .name = "l1-ball",
    .synopsis = "l1-ball:R",
    .summary = "sum of |x_k| at most R; at most O(n log n)",
    .size = sizeof(saddle_ball),
    .parse = saddle_ball_parse,
    .project = project,
    .range = saddle_ball_range,
    .norm_bound = saddle_ball_norm_bound,
    .scratch = scratch_size,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT,
};
