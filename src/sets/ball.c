/* Balls of radius R around 0: l1-ball:R and l2-ball:R. */
#include <math.h>

#include "sets/kernel.h"
#include "sets/set.h"
#include "sets/term.h"

typedef struct ball {
    saddle_set base;
    double radius;
} ball;

static saddle_status init(void *self, saddle_error *error)
{
    ball *set = self;
    return saddle_term_numbers(&set->base.term, SADDLE_POSITIVE, (double *[]){&set->radius}, error);
}

static void range(const saddle_set *set, double *lower, double *upper)
{
    *upper = ((const ball *)set)->radius;
    *lower = -*upper;
}

static double norm_bound(const saddle_set *set)
{
    return ((const ball *)set)->radius;
}

/* Outside the ball, projects the magnitudes onto the simplex of sum R and restores the signs
 * (Duchi, Shalev-Shwartz, Singer, Chandra, ICML 2008). */
static void project_l1(const saddle_set *set, double *v, double *scratch)
{
    double radius = ((const ball *)set)->radius;
    size_t count = set->term.dimension;
    if (saddle_norm1(count, v) <= radius * (1.0 + saddle_rounding(count)))
        return;
    for (size_t k = 0; k < count; k++)
        scratch[k] = fabs(v[k]);
    saddle_project_simplex(count, radius, scratch, scratch + count);
    for (size_t k = 0; k < count; k++)
        v[k] = v[k] < 0.0 ? 0.0 - scratch[k] : scratch[k];
}

static size_t scratch_l1(const saddle_set *set)
{
    return 2 * set->term.dimension;
}

/* Scales v by min(1, R / |v|). */
/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is the table's */
static void project_l2(const saddle_set *set, double *v, double *scratch)
{
    double radius = ((const ball *)set)->radius;
    size_t count = set->term.dimension;
    (void)scratch;
    double scale;
    double root = saddle_scaled_norm(count, v, &scale);
    if (scale * root <= radius * (1.0 + saddle_rounding(count)))
        return;
    /* Divide before multiplying: R / |v| may underflow, but v / |v| does not. */
    for (size_t k = 0; k < count; k++)
        v[k] = v[k] / scale / root * radius;
}

const saddle_set_class saddle_set_l1_ball = {
    .term = {.name = "l1-ball",
             .synopsis = "l1-ball:R",
             .summary = "sum_k |x_k| <= R",
             .size = sizeof(ball),
             .init = init},
    .project = project_l1,
    .range = range,
    .norm_bound = norm_bound,
    .scratch = scratch_l1,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT,
};

const saddle_set_class saddle_set_l2_ball = {
    .term = {.name = "l2-ball",
             .synopsis = "l2-ball:R",
             .summary = "Euclidean norm at most R",
             .size = sizeof(ball),
             .init = init},
    .project = project_l2,
    .range = range,
    .norm_bound = norm_bound,
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT,
    .group_rule = SADDLE_PROX_SHRINK_PROJECT,
};
