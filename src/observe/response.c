#include "observe/response.h"

#include "core/vector.h"

size_t saddle_maximize_scratch(size_t dimension)
{
    return 5 * dimension;
}

typedef struct ascent {
    const saddle_set *set;
    saddle_ascent_gradient *gradient;
    void *context;
    double tolerance;
    size_t n;
    double *point; /* the extrapolated point */
    double *slope; /* gradient there */
    double *next;  /* projection of point + step slope */
    double *trial; /* gradient at next */
    double *scratch;
} ascent;

/* Computes `next`; returns |next - point|^2. */
static double ascend(const ascent *a, double step)
{
    memcpy(a->next, a->point, a->n * sizeof *a->next);
    saddle_axpy(a->n, step, a->slope, a->next);
    saddle_set_project(a->set, a->next, a->scratch);
    return saddle_distance2(a->n, a->next, a->point);
}

/* Returns whether the gradient changes no faster than 1/step allows, up to a factor. For a concave
 * function this implies the usual sufficient-increase condition. */
static bool is_allowed(const ascent *a, double step, double moved, double factor)
{
    a->gradient(a->context, a->next, a->trial);
    return saddle_distance2(a->n, a->trial, a->slope) * step * step <= moved * factor;
}

/*
 * Doubles the step while that is allowed. The step comes from an earlier call with another function; if
 * it is far too short, the first move would be so short that it looks like convergence.
 */
static double lengthen(const ascent *a, double step)
{
    double longer = step;
    for (int tries = 0; tries < 64; tries++) {
        longer *= 2.0;
        double moved = ascend(a, longer);
        if (!(moved > 0.0))
            continue;
        if (!is_allowed(a, longer, moved, 1.0))
            break;
        step = longer;
    }
    return step;
}

/* Moves with the step, halved until it is allowed. A move within the tolerance ends the search anyway,
 * and there the comparison would see only rounding errors. */
static double move(const ascent *a, double step)
{
    for (int tries = 0; tries < 128; tries++) {
        double moved = ascend(a, step);
        if (!(sqrt(moved) > a->tolerance * (1.0 + sqrt(saddle_norm2(a->n, a->next)))) ||
            is_allowed(a, step, moved, 1.0 + 1e-9))
            break;
        step *= 0.5;
    }
    return step;
}

double saddle_maximize(const saddle_set *set, saddle_ascent_gradient *gradient, void *context,
                       double tolerance, double *step, double *y, double *scratch)
{
    size_t n = saddle_set_dimension(set);
    const ascent a = {.set = set,
                      .gradient = gradient,
                      .context = context,
                      .tolerance = tolerance,
                      .n = n,
                      .point = scratch,
                      .slope = scratch + n,
                      .next = scratch + 2 * n,
                      .trial = scratch + 3 * n,
                      .scratch = scratch + 4 * n};
    double momentum = 1.0;
    double length = INFINITY;
    saddle_set_project(set, y, a.scratch);
    memcpy(a.point, y, n * sizeof *y);
    gradient(context, a.point, a.slope);
    *step = lengthen(&a, *step);
    for (int k = 0; k < SADDLE_MAXIMIZE_STEPS; k++) {
        gradient(context, a.point, a.slope);
        *step = move(&a, *step);
        length = sqrt(saddle_distance2(n, a.next, a.point)) / (1.0 + sqrt(saddle_norm2(n, a.next)));
        if (!(length > tolerance)) {
            memcpy(y, a.next, n * sizeof *y);
            return length;
        }
        /* Restart when the extrapolation points against the step taken. */
        double along = 0.0;
        for (size_t c = 0; c < n; c++)
            along += (a.point[c] - a.next[c]) * (a.next[c] - y[c]);
        if (along > 0.0)
            momentum = 1.0;
        double larger = 0.5 * (1.0 + sqrt(1.0 + 4.0 * momentum * momentum));
        double weight = (momentum - 1.0) / larger;
        momentum = larger;
        for (size_t c = 0; c < n; c++)
            a.point[c] = a.next[c] + weight * (a.next[c] - y[c]);
        memcpy(y, a.next, n * sizeof *y);
        *step *= 1.1;
    }
    return length;
}
