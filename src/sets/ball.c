/* Balls of radius R around 0: l1-ball:R and l2-ball:R. */
#include "sets/kernel.h"
#include "sets/set.h"
#include "sets/term.h"

/* More than the projection in a metric ever needs. */
#define NEWTON_STEPS 100

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

/* Computes the sums of (u_k / scale)^2 and of (u_k / scale)^2 (metric[0] + t) / (metric[k] + t) for
 * u_k = v_k / (1 + t / metric[k]). Without the factor metric[0] + t the second may underflow. */
static void add_squares(size_t count, const double *metric, const double *v, double t, double scale,
                        double *square, double *slope)
{
    *square = *slope = 0.0;
    for (size_t k = 0; k < count; k++) {
        double u = v[k] / scale / (1.0 + t / metric[k]);
        *square += u * u;
        *slope += u * u * ((metric[0] + t) / (metric[k] + t));
    }
}

/* Returns the largest |u_k|, ignoring NaN. */
static double largest_moved(size_t count, const double *metric, const double *v, double t)
{
    double largest = 0.0;
    for (size_t k = 0; k < count; k++)
        largest = fmax(largest, fabs(v[k] / (1.0 + t / metric[k])));
    return largest;
}

/*
 * The nearest point is u_k = v_k / (1 + t / metric[k]) with the t >= 0 for which |u| = R. 1 / |u| is concave in t, so
 * that Newton's method for 1 / |u| = 1 / R converges from 0 without overshooting.
 */
void saddle_ball_project_metric(const saddle_set *set, const double *metric, double *v)
{
    double radius = ((const ball *)set)->radius;
    size_t count = set->term.dimension;
    double t = 0.0;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double square;
        double slope;
        double scale = 1.0;
        add_squares(count, metric, v, t, scale, &square, &slope);
        /* Squares have overflowed or underflowed: see saddle_scaled_norm(). */
        if (square < 0x1p-900 || square > DBL_MAX) {
            scale = largest_moved(count, metric, v, t);
            add_squares(count, metric, v, t, scale, &square, &slope);
        }
        double excess = sqrt(square) * scale / radius - 1.0;
        double next = t + excess * (square / slope) * (metric[0] + t);
        if (!(excess > saddle_rounding(count)) || !isfinite(next))
            break;
        t = next;
    }
    for (size_t k = 0; k < count && t > 0.0; k++)
        v[k] /= 1.0 + t / metric[k];
    double unused;
    project_l2(set, v, &unused);
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
