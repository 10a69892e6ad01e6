#include "observe/response.h"

#include <math.h>
#include <string.h>

#include "core/vector.h"

size_t saddle_maximize_scratch(size_t dimension)
{
    return 5 * dimension;
}

/* next = projection of point + step slope */
static void ascend(size_t n, const saddle_set *set, double step, const double *point,
                   const double *slope, double *next, double *scratch)
{
    memcpy(next, point, n * sizeof *next);
    saddle_axpy(n, step, slope, next);
    saddle_set_project(set, next, scratch);
}

/*
 * Double the step for as long as the gradient, slope at point, changes no faster than 1/step
 * allows. The step comes from an earlier call on another function; one that is far too short would
 * make the first move so short that it looks like convergence.
 */
static void lengthen(size_t n, const saddle_set *set, saddle_ascent_gradient *gradient,
                     void *context, const double *point, const double *slope, double *step,
                     double *next, double *trial, double *scratch)
{
    double longer = *step;
    for (int tries = 0; tries < 64; tries++) {
        longer *= 2.0;
        ascend(n, set, longer, point, slope, next, scratch);
        double moved = saddle_distance2(n, next, point);
        if (!(moved > 0.0))
            continue;
        gradient(context, next, trial);
        if (!(saddle_distance2(n, trial, slope) * longer * longer <= moved))
            return;
        *step = longer;
    }
}

double saddle_maximize(size_t dimension, const saddle_set *set, saddle_ascent_gradient *gradient,
                       void *context, double tolerance, size_t most, double *step, double *y,
                       double *scratch)
{
    size_t n = dimension;
    double *point = scratch; /* extrapolated */
    double *slope = point + n;
    double *next = slope + n;
    double *trial = next + n; /* gradient at next */
    double *rest = trial + n;
    double momentum = 1.0;
    double length = INFINITY;
    saddle_set_project(set, y, rest);
    memcpy(point, y, n * sizeof *point);
    gradient(context, point, slope);
    lengthen(n, set, gradient, context, point, slope, step, next, trial, rest);
    for (size_t k = 0; k < most; k++) {
        gradient(context, point, slope);
        /* Shorten the step until the gradient changes no faster than 1/step allows; for a concave
         * function this implies the usual sufficient-increase condition. A move within the
         * tolerance ends the search anyway; there the comparison would see only rounding. */
        for (int tries = 0; tries < 128; tries++) {
            ascend(n, set, *step, point, slope, next, rest);
            double moved = saddle_distance2(n, next, point);
            if (!(sqrt(moved) > tolerance * (1.0 + sqrt(saddle_norm2(n, next)))))
                break;
            gradient(context, next, trial);
            if (saddle_distance2(n, trial, slope) * *step * *step <= moved * (1.0 + 1e-9))
                break;
            *step *= 0.5;
        }
        length = sqrt(saddle_distance2(n, next, point)) / (1.0 + sqrt(saddle_norm2(n, next)));
        if (!(length > tolerance)) {
            memcpy(y, next, n * sizeof *y);
            return length;
        }
        /* Restart when the extrapolation points against the step taken. */
        double along = 0.0;
        for (size_t c = 0; c < n; c++)
            along += (point[c] - next[c]) * (next[c] - y[c]);
        if (along > 0.0)
            momentum = 1.0;
        double larger = 0.5 * (1.0 + sqrt(1.0 + 4.0 * momentum * momentum));
        double weight = (momentum - 1.0) / larger;
        momentum = larger;
        for (size_t c = 0; c < n; c++)
            point[c] = next[c] + weight * (next[c] - y[c]);
        memcpy(y, next, n * sizeof *y);
        *step *= 1.1;
    }
    return length;
}
