/*
 * The longest stable step in x, 2 / c, where c is the largest curvature that a gradient over b samples of an agent has:
 * that of the mean over its samples, or that of one sample over b, because a mini-batch may contain this sample. A step
 * s multiplies the error in a direction of curvature c by 1 - s c, which is at most 1 in size if s c <= 2.
 *
 * It is measured at the start x, from samples at equal distances, and at a y halfway between the first y and what one
 * ascent step from it gives: where y are weights, those of samples with large losses grow. The curvature of a sample is
 * that along its gradient, which is the largest if its loss is a function of one score, as in linear models. That of
 * the mean is the one along the mean of the samples' differences, as in a step of the power method.
 */
#include "algorithms/longest_step.h"

#include "algorithms/sample_probe.h"
#include "algorithms/sampling.h"
#include "core/vector.h"
#include "sets/set.h"

#define WHAT "the longest step"

/* The most samples of an agent that are measured. */
#define MOST_SAMPLES 4096
/* The part of themselves by which gradients are to change. */
#define CHANGE 1e-3

typedef struct probe {
    saddle_sample_probe sample;
    const saddle_instance *instance;
    double factor; /* of a displacement, relative to a sample's gradient */
    double *moved; /* x_dim: a displaced x */
    double *g0;    /* x_dim + y_dim: a gradient at the reference point */
    double *g1;    /* x_dim + y_dim: one at a displaced point, then the difference */
    double *sum0;  /* x_dim: the sum of gradients in x at the reference point */
    double *sum1;  /* x_dim: the sum of differences along the samples' gradients */
} probe;

static size_t samples_of(const saddle_problem *problem, size_t agent)
{
    return problem->samples[agent] < MOST_SAMPLES ? problem->samples[agent] : MOST_SAMPLES;
}

/* Moves from the start along a direction, and to the next point of X, where gradients are defined. Returns the
 * distance. */
static double move_by(probe *p, double factor, const double *direction)
{
    size_t x_dim = p->instance->problem->x_dim;
    memcpy(p->moved, p->instance->x0, x_dim * sizeof *p->moved);
    saddle_axpy(x_dim, factor, direction, p->moved);
    saddle_set_project(p->instance->x_set, p->moved, p->sample.scratch);
    return sqrt(saddle_distance2(x_dim, p->moved, p->instance->x0));
}

/* Returns |difference| / distance; 0 if it is not finite: the run itself says what is wrong there. */
static double quotient(size_t count, const double *difference, double distance)
{
    double ratio = sqrt(saddle_norm2(count, difference)) / distance;
    return isfinite(ratio) ? ratio : 0.0;
}

/* Returns the curvature of a sample along its gradient. Adds to the sums. */
static double sample_curvature(probe *p, size_t agent, size_t k, size_t count)
{
    size_t x_dim = p->instance->problem->x_dim;
    saddle_sample_probe_slope(&p->sample, agent, k, count, p->instance->x0, p->g0);
    double distance = move_by(p, p->factor, p->g0);
    saddle_sample_probe_slope(&p->sample, agent, k, count, p->moved, p->g1);
    saddle_axpy(x_dim, -1.0, p->g0, p->g1);
    saddle_axpy(x_dim, 1.0, p->g0, p->sum0);
    saddle_axpy(x_dim, 1.0, p->g1, p->sum1);
    return quotient(x_dim, p->g1, distance);
}

/* Returns the curvature of the mean of an agent's samples along sum1. Overwrites sum0. */
static double mean_curvature(probe *p, size_t agent, size_t count)
{
    size_t x_dim = p->instance->problem->x_dim;
    /* This moves as far as the mean of the samples' displacements. */
    double ratio = sqrt(saddle_norm2(x_dim, p->sum0) / saddle_norm2(x_dim, p->sum1));
    double distance =
        isfinite(ratio) ? move_by(p, p->factor * ratio / (double)count, p->sum1) : 0.0;
    for (size_t k = 0; k < count && distance > 0.0; k++) {
        saddle_sample_probe_slope(&p->sample, agent, k, count, p->moved, p->g1);
        saddle_axpy(x_dim, -1.0, p->g1, p->sum0);
    }
    return distance > 0.0 ? quotient(x_dim, p->sum0, distance) / (double)count : 0.0;
}

/* Returns the largest curvature of an agent's gradients over `batch` samples. */
static double agent_curvature(probe *p, size_t agent, uint64_t batch)
{
    const saddle_problem *problem = p->instance->problem;
    size_t count = samples_of(problem, agent);
    double size = (double)saddle_batch_size(problem->samples[agent], batch);
    double largest = 0.0;
    memset(p->sum0, 0, problem->x_dim * sizeof *p->sum0);
    memset(p->sum1, 0, problem->x_dim * sizeof *p->sum1);
    for (size_t k = 0; k < count; k++)
        largest = fmax(largest, sample_curvature(p, agent, k, count) / size);
    return fmax(largest, mean_curvature(p, agent, count));
}

saddle_status saddle_longest_step(const saddle_configuration *c, uint64_t batch, double *out,
                                  saddle_error *error)
{
    const saddle_instance *instance = c->instance;
    const saddle_problem *problem = instance->problem;
    const saddle_world *world = instance->world;
    size_t x_dim = problem->x_dim;
    size_t both = x_dim + problem->y_dim;
    size_t scratch = saddle_larger(
        saddle_problem_scratch(problem),
        saddle_larger(saddle_set_scratch(instance->x_set), saddle_set_scratch(instance->y_set)));
    double *memory = saddle_alloc_doubles(2 * x_dim + 3 * both + scratch);
    saddle_status status = saddle_check_memory(memory, WHAT, error);
    status = saddle_world_agree(world, status, error);
    probe p = {.sample = {.instance = instance, .first_nan = -INFINITY},
               .instance = instance,
               .factor = CHANGE / c->steps.tau};
    double largest = 0.0;
    if (status == SADDLE_OK) {
        p.g0 = memory;
        p.g1 = p.g0 + both;
        p.sum0 = p.g1 + both;
        p.sum1 = p.sum0 + x_dim;
        p.moved = p.sum1 + x_dim;
        p.sample.g = p.g0;
        p.sample.y = p.moved + x_dim;
        p.sample.scratch = p.sample.y + problem->y_dim;
        status = saddle_sample_probe_respond(&p.sample, instance->x0, c->steps.alpha, false, error);
        /* before y spreads it to all agents */
        SADDLE_THEN(status, saddle_sample_probe_refuse_nan(&p.sample, WHAT, error));
    }
    /* Gradients very far from 0 say nothing; the run itself says why it cannot begin there. */
    bool near = status == SADDLE_OK && isfinite(saddle_norm2(x_dim, instance->x0)) &&
                isfinite(saddle_norm2(problem->y_dim, p.sample.y));
    for (size_t k = 0; k < world->local && near; k++)
        largest = fmax(largest, agent_curvature(&p, world->here[k], batch));
    saddle_free(memory);
    SADDLE_THEN(status, saddle_sample_probe_refuse_nan(&p.sample, WHAT, error));
    if (status == SADDLE_OK)
        world->largest(world, 1, &largest);
    *out = 2.0 / largest;
    return status;
}
