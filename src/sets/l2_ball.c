/* l2-ball:R: Euclidean norm at most R. Projection scales v by min(1, R / |v|): O(n). */
#include "sets/ball.h"
#include "sets/kernel.h"

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is the table's */
static void project(const saddle_set *set, double *v, double *scratch)
{
    double radius = ((const saddle_ball *)set)->radius;
    size_t count = set->dimension;
    (void)scratch;
    double scale;
    double root = saddle_scaled_norm(count, v, &scale);
    if (scale * root <= radius * (1.0 + saddle_rounding(count)))
        return;
    /* Divide before multiplying: R / |v| may be too small for a double, v / |v| never is. */
    for (size_t k = 0; k < count; k++)
        v[k] = v[k] / scale / root * radius;
}

const saddle_set_class saddle_set_l2_ball = {
    .name = "l2-ball",
    .synopsis = "l2-ball:R",
    .summary = "Euclidean norm at most R; O(n)",
    .size = sizeof(saddle_ball),
    .parse = saddle_ball_parse,
    .project = project,
    .range = saddle_ball_range,
    .norm_bound = saddle_ball_norm_bound,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT,
    .group_rule = SADDLE_PROX_SHRINK_PROJECT,
};
