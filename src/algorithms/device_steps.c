/* Describes the algorithms with PRECISION's steps, and the sets, to engines that compute on a graphics card. */
#include "algorithms/device_steps.h"

#include "algorithms/precision_steps.h"
#include "core/base.h"
#include "sets/kernel.h"
#include "sets/set.h"

/* Describes a set of `count` entries; returns whether there is code for it. */
static bool describe_set(const saddle_set *set, size_t count, saddle_device_set *out)
{
    const saddle_set_class *kind = saddle_set_kind(set);
    int exponent;
    *out = (saddle_device_set){.rounding = saddle_rounding(count), .divisor = 1.0};
    out->clips = saddle_set_uniform_bounds(set, &out->lower, &out->upper);
    if (out->clips)
        return true;
    out->shape = kind == &saddle_set_simplex   ? SADDLE_DEVICE_SIMPLEX
                 : kind == &saddle_set_l1_ball ? SADDLE_DEVICE_L1_BALL
                                               : SADDLE_DEVICE_L2_BALL;
    out->size = saddle_set_norm_bound(set);
    frexp(out->size, &exponent);
    exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
    out->down = ldexp(1.0, -exponent);
    out->up = ldexp(1.0, exponent);
    return out->shape != SADDLE_DEVICE_L2_BALL || kind == &saddle_set_l2_ball;
}

/* Adds h to the description of X; returns whether there is code for it. */
static bool describe_regularizer(const saddle_regularizer *h, double tau, saddle_device_set *out)
{
    const saddle_regularizer_class *kind = saddle_regularizer_kind(h);
    if (saddle_regularizer_is_zero(h))
        return true;
    if (kind->weights == NULL)
        return false;
    const saddle_weights weights = kind->weights(h);
    out->clips = false;
    out->threshold = out->shape == SADDLE_DEVICE_SIMPLEX ? 0.0 : weights.l1 * (1.0 / tau);
    out->divisor = 1.0 + weights.l2 * (1.0 / tau);
    return true;
}

bool saddle_precision_device(const void *parameters, const saddle_instance *instance,
                             saddle_device_steps *out, const char **option)
{
    const saddle_precision_steps *shared = parameters;
    const saddle_steps *steps = &shared->steps;
    const saddle_problem *problem = instance->problem;
    const saddle_prox *prox = instance->x_prox;
    *out = (saddle_device_steps){.tau = steps->tau,
                                 .alpha = steps->alpha,
                                 .nu = steps->nu,
                                 .eta = steps->eta,
                                 .curvature = shared->curvature,
                                 .q = shared->recursive ? steps->q : UINT64_MAX,
                                 .batch = steps->batch,
                                 .replacement = steps->sampling == SADDLE_WITH_REPLACEMENT,
                                 .recursive = shared->recursive,
                                 .tracking = shared->tracking};
    *option = !describe_set(saddle_prox_set(prox), problem->x_dim, &out->x) ? "--x-set"
              : !describe_regularizer(saddle_prox_regularizer(prox), steps->tau, &out->x)
                  ? "--regularizer"
              : !describe_set(instance->y_set, problem->y_dim, &out->y) ? "--y-set"
                                                                        : NULL;
    return *option == NULL;
}
