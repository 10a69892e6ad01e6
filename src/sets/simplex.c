/*
 * simplex[:S]: x_k >= 0 with sum S.
 *
 * The projection is p_k = max(v_k - theta, 0), where theta is such that the sum is S. Since
 * max v - S <= theta < max v, entries are taken relative to the largest, d_k = v_k - max v, and
 * only those with d_k > -S can be positive: all numbers involved have magnitude at most S, so no
 * precision is lost however large v is. Theta is found by Newton's method on the convex,
 * decreasing, piecewise linear f(theta) = sum_k max(d_k - theta, 0) - S, started on the left: each
 * pass drops the entries that can no longer be positive (Michelot, JOTA 50, 1986; related methods
 * are in Condat, Math. Program. 158, 2016). The result is exact at the first pass that drops none.
 *
 * Cost: the product of f and the number of entries falls by a factor of at least 4 per pass (as in
 * any Newton method on a maximum of linear functions), from at most n S * n down to the level of
 * rounding, eps S. So there are at most log2(n) + 26 passes, on fewer and fewer entries.
 */
#include "core/vector.h"
#include "sets/kernel.h"
#include "sets/set.h"
#include "sets/term.h"

/* Exceeds this bound for any count; whatever remains after that many passes is rounding. */
#define MAX_PASSES 96

typedef struct simplex_set {
    saddle_set base;
    double total; /* S */
} simplex_set;

static saddle_status init(void *self, saddle_error *error)
{
    simplex_set *set = self;
    const saddle_term *term = &set->base.term;
    set->total = 1.0;
    if (strchr(term->text, ':') == NULL)
        return SADDLE_OK;
    return saddle_term_numbers(term, SADDLE_POSITIVE, (double *[]){&set->total}, error);
}

/* Returns whether v is in the simplex up to rounding. */
static bool is_inside(size_t count, double total, const double *v)
{
    for (size_t k = 0; k < count; k++)
        if (!(v[k] >= 0.0))
            return false;
    return fabs(saddle_sum(count, v) - total) <= total * saddle_rounding(count);
}

/* Keeps only the entries above a bound, in order, and returns their number. Drops NaN. */
static size_t keep_above(size_t count, double *d, double bound)
{
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        double value = d[k];
        d[kept] = value;
        kept += value > bound;
    }
    return kept;
}

/* Returns theta for the candidates d, which are reordered. count >= 1, and the largest d is 0. */
static double find_threshold(size_t count, double total, double *d)
{
    double theta = 0.0;
    for (int pass = 0; pass < MAX_PASSES; pass++) {
        theta = (saddle_sum(count, d) - total) / (double)count;
        size_t kept = keep_above(count, d, theta);
        if (kept == count)
            break;
        count = kept;
    }
    /* The sum of many d has a larger rounding error than the sum of the p, which is near
     * `total`. One more Newton step from there makes the sum of the p exact up to rounding. */
    for (size_t k = 0; k < count; k++)
        d[k] -= theta;
    count = keep_above(count, d, 0.0);
    return theta + (saddle_sum(count, d) - total) / (double)count;
}

void saddle_project_simplex(size_t count, double total, double *v, double *scratch)
{
    if (is_inside(count, total, v))
        return;
    double top = -INFINITY;
    for (size_t k = 0; k < count; k++)
        top = v[k] > top ? v[k] : top;
    /* Scaling by a power of two that brings the total near 1 is exact, and no sum can overflow
     * or underflow. */
    int exponent;
    frexp(total, &exponent);
    exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
    double down = ldexp(1.0, -exponent);
    double up = ldexp(1.0, exponent);
    for (size_t k = 0; k < count; k++)
        scratch[k] = (v[k] - top) * down;
    /* No entry is kept if the largest is infinite or all are NaN. */
    size_t kept = keep_above(count, scratch, -total * down);
    double theta = kept == 0 ? 0.0 : find_threshold(kept, total * down, scratch);
    for (size_t k = 0; k < count; k++) {
        double p = (v[k] - top) * down - theta;
        v[k] = p <= 0.0 ? 0.0 : p * up;
    }
}

static void project(const saddle_set *set, double *v, double *scratch)
{
    saddle_project_simplex(set->term.dimension, ((const simplex_set *)set)->total, v, scratch);
}

static size_t scratch_size(const saddle_set *set)
{
    return set->term.dimension;
}

static void range(const saddle_set *set, double *lower, double *upper)
{
    double total = ((const simplex_set *)set)->total;
    *lower = set->term.dimension == 1 ? total : 0.0;
    *upper = total;
}

static double norm_bound(const saddle_set *set)
{
    return ((const simplex_set *)set)->total;
}

const saddle_set_class saddle_set_simplex = {
    .term = {.name = "simplex",
             .synopsis = "simplex[:S]",
             .summary = "x_k >= 0 for every entry, and their sum is S (default 1)",
             .size = sizeof(simplex_set),
             .init = init},
    .project = project,
    .range = range,
    .norm_bound = norm_bound,
    .scratch = scratch_size,
    .l1_rule = SADDLE_PROX_CONSTANT,
};
