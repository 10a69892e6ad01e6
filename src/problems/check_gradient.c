/*
 * Checking a problem's gradients by finite differences, and its batch functions against each other.
 *
 * Derivatives along a direction e come from the fourth-order central difference
 *   (8 (F(z + h e) - F(z - h e)) - (F(z + 2h e) - F(z - 2h e))) / (12 h),
 * whose error is of order h^4: with the h below, truncation and rounding errors are both near 1e-12
 * relative to the function's value. F is evaluated up to 2h outside X and Y if a point lies on
 * their boundary.
 *
 * If F has a kink between z - 2h e and z + 2h e, as networks of ReLUs have, the quotient is wrong
 * although the gradient may be right. Therefore h is shortened where they disagree: a stencil that
 * no longer reaches the kink agrees with a right gradient, but never with a wrong one.
 *
 * Cost per agent and point: at most 4 (2 * 50 + 4) values, times 5 if h is shortened, and n_i + 6
 * gradients.
 */
#include <saddle/problem.h>

#include "core/float_mode.h"
#include "core/rng.h"
#include "core/vector.h"

/* The largest number of coordinates checked per variable; those of longer variables are sampled. */
#define COORDINATES 50
/* The number of random directions through all coordinates, which also check the coordinates not
 * sampled. */
#define DIRECTIONS 2
/* The size of the batch on which differences and variances are checked. */
#define BATCH 16
/* The step h, relative to the size of what it is added to. */
#define STEP 0x1p-11
/* An error above this may come from a kink: h is divided by SHORTER, at most SHORTENED times. */
#define SUSPECT 1e-7
#define SHORTER 8.0
#define SHORTENED 4
/* An error above KINK that shorter steps reduce by KINK_RATIO counts as a kink. Where only
 * second derivatives jump, errors are smaller and decrease with h. */
#define KINK 1e-5
#define KINK_RATIO 100.0

/* One of the two variables at the point under test. */
typedef struct variable {
    size_t dim;
    const saddle_set *set;
    double *at;        /* the point; perturbed and restored by the differences */
    double *other;     /* a second point, for differences */
    double *slope;     /* the full gradient at the point */
    double *mean;      /* other ways to the gradient */
    double *sample;    /* one sample's gradient */
    double *direction; /* unit vector */
    double *before;    /* the point, while it is perturbed */
} variable;

typedef struct check {
    const saddle_problem *problem;
    variable x;
    variable y;
    double *scratch;
    uint32_t *chosen; /* coordinates or samples */
    uint64_t *mark;
    size_t agent;
    double worst; /* of all errors so far */
    saddle_gradient_check *out;
} check;

/* Raises *error to `found`. NaN counts as an infinite error, so that no other error can hide it. */
static void record(check *c, double *error, double found)
{
    if (isnan(found))
        found = INFINITY;
    if (found > *error)
        *error = found;
    if (found > c->worst) {
        c->worst = found;
        c->out->agent = c->agent;
    }
}

/* Returns the largest magnitude, as a scale; NaN entries are ignored because they show in what
 * is divided by it. */
static double largest(size_t count, const double *v)
{
    double most = 0.0;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, fabs(v[k]));
    return most;
}

/* Returns off / scale, and 0 for 0 / 0. */
static double relative(double off, double scale)
{
    return off == 0.0 ? 0.0 : off / scale;
}

/* Returns the largest |found - right|, relative to the largest entry of the gradient or of
 * `right`; NaN if any of them is NaN. */
static double mismatch(const variable *v, const double *found, const double *right)
{
    double most = 0.0;
    for (size_t k = 0; k < v->dim; k++) {
        double off = fabs(found[k] - right[k]);
        if (isnan(off))
            return (double)NAN;
        most = fmax(most, off);
    }
    return relative(most, fmax(largest(v->dim, v->slope), largest(v->dim, right)));
}

/* Returns F at the point moved by `step` along v->direction. */
static double moved_value(const check *c, const variable *v, double step)
{
    for (size_t k = 0; k < v->dim; k++)
        v->at[k] = v->before[k] + step * v->direction[k];
    double result = saddle_problem_value(c->problem, c->agent, c->x.at, c->y.at, c->scratch);
    memcpy(v->at, v->before, v->dim * sizeof *v->at);
    return result;
}

/* Returns the error of the gradient along v->direction against the difference quotient with step
 * h. */
static double direction_error(const check *c, const variable *v, double h)
{
    double near = moved_value(c, v, h) - moved_value(c, v, -h);
    double far = moved_value(c, v, 2.0 * h) - moved_value(c, v, -2.0 * h);
    double quotient = (8.0 * near - far) / (12.0 * h);
    double expected = saddle_dot(v->dim, v->slope, v->direction);
    double scale = fmax(largest(v->dim, v->slope), fabs(quotient));
    return relative(fabs(expected - quotient), scale);
}

/* Compares the gradient with difference quotients along v->direction. */
static void check_direction(check *c, variable *v, double h, double *error)
{
    memcpy(v->before, v->at, v->dim * sizeof *v->at);
    double first = direction_error(c, v, h);
    double least = first;
    for (int k = 0; k < SHORTENED && !(least <= SUSPECT); k++) {
        h /= SHORTER;
        /* Keep NaN, whichever of the two has it. */
        double found = direction_error(c, v, h);
        least = found < least || isnan(found) ? found : least;
    }
    c->out->kinks = c->out->kinks || (first > KINK && KINK_RATIO * least < first);
    record(c, error, least);
}

static void check_slopes(check *c, variable *v, saddle_rng *rng, double *error)
{
    size_t count = v->dim < COORDINATES ? v->dim : COORDINATES;
    saddle_rng_choose(rng, v->dim, count, c->chosen, c->mark);
    memset(v->direction, 0, v->dim * sizeof *v->direction);
    for (size_t k = 0; k < count; k++) {
        uint32_t coordinate = c->chosen[k];
        v->direction[coordinate] = 1.0;
        check_direction(c, v, STEP * fmax(1.0, fabs(v->at[coordinate])), error);
        v->direction[coordinate] = 0.0;
    }
    for (size_t k = 0; k < DIRECTIONS; k++) {
        for (size_t i = 0; i < v->dim; i++)
            v->direction[i] = saddle_rng_normal(rng);
        saddle_scale(v->dim, 1.0 / sqrt(saddle_norm2(v->dim, v->direction)), v->direction);
        check_direction(c, v, STEP, error);
    }
}

/* x.sample, y.sample = one sample's gradient */
static void find_sample(check *c, size_t sample)
{
    uint32_t index = (uint32_t)sample;
    saddle_batch one = {.index = &index, .count = 1};
    saddle_problem_gradient(c->problem, c->agent, &one, c->x.at, c->y.at, c->x.sample, c->y.sample,
                            c->scratch);
}

/* x.mean, y.mean += the mean gradient, computed one sample at a time */
static void add_all_samples(check *c)
{
    const saddle_problem *problem = c->problem;
    size_t samples = problem->samples[c->agent];
    double share = 1.0 / (double)samples;
    saddle_part part = {.x = c->x.at, .y = c->y.at, .gx = c->x.mean, .gy = c->y.mean};
    memset(c->x.mean, 0, c->x.dim * sizeof(double));
    memset(c->y.mean, 0, c->y.dim * sizeof(double));
    for (size_t j = 0; j < samples; j++) {
        part.batch = (saddle_batch){.first = j, .count = 1};
        part.scale = share;
        if (problem->add_samples != NULL) {
            problem->add_samples(problem, c->agent, &part, c->scratch);
            continue;
        }
        find_sample(c, j);
        saddle_axpy(c->x.dim, share, c->x.sample, c->x.mean);
        saddle_axpy(c->y.dim, share, c->y.sample, c->y.mean);
    }
    part.scale = 1.0;
    if (problem->add_samples != NULL && problem->add_common != NULL)
        problem->add_common(problem, &part);
}

/* Checks the full gradient against the mean of one-sample gradients. */
static void check_samples(check *c)
{
    add_all_samples(c);
    record(c, &c->out->batch_error, mismatch(&c->x, c->x.mean, c->x.slope));
    record(c, &c->out->batch_error, mismatch(&c->y, c->y.mean, c->y.slope));
}

/* Checks a difference against two gradients on the same batch. */
static void check_difference(check *c, const saddle_batch *batch)
{
    const saddle_problem *problem = c->problem;
    saddle_problem_gradient(problem, c->agent, batch, c->x.other, c->y.other, c->x.mean, c->y.mean,
                            c->scratch);
    saddle_problem_gradient(problem, c->agent, batch, c->x.at, c->y.at, c->x.sample, c->y.sample,
                            c->scratch);
    saddle_axpy(c->x.dim, -1.0, c->x.sample, c->x.mean);
    saddle_axpy(c->y.dim, -1.0, c->y.sample, c->y.mean);
    saddle_problem_difference(problem, c->agent, batch, c->x.other, c->y.other, c->x.at, c->y.at,
                              c->x.sample, c->y.sample, c->scratch);
    record(c, &c->out->difference_error, mismatch(&c->x, c->x.sample, c->x.mean));
    record(c, &c->out->difference_error, mismatch(&c->y, c->y.sample, c->y.mean));
}

/* Checks the variance, and the gradient that comes with it, against one-sample gradients. */
static void check_variance(check *c, const saddle_batch *batch)
{
    const saddle_problem *problem = c->problem;
    double expected = 0.0;
    double found = saddle_problem_gradient_variance(problem, c->agent, batch, c->x.at, c->y.at,
                                                    c->x.mean, c->y.mean, c->scratch);
    for (size_t k = 0; k < batch->count; k++) {
        find_sample(c, batch->index[k]);
        expected += saddle_distance2(c->x.dim, c->x.sample, c->x.mean) +
                    saddle_distance2(c->y.dim, c->y.sample, c->y.mean);
    }
    expected /= batch->count > 1 ? (double)(batch->count - 1) : 1.0;
    saddle_problem_gradient(problem, c->agent, batch, c->x.at, c->y.at, c->x.sample, c->y.sample,
                            c->scratch);
    /* A variance far below the squared norm of the gradient is dominated by its rounding error. */
    double square = saddle_norm2(c->x.dim, c->x.slope) + saddle_norm2(c->y.dim, c->y.slope);
    record(c, &c->out->variance_error,
           relative(fabs(found - expected), fmax(expected, 1e-6 * square)));
    record(c, &c->out->variance_error, mismatch(&c->x, c->x.mean, c->x.sample));
    record(c, &c->out->variance_error, mismatch(&c->y, c->y.mean, c->y.sample));
}

/* Draws two independent random points of the set. */
static void draw_points(check *c, variable *v, saddle_rng *rng)
{
    for (size_t k = 0; k < v->dim; k++) {
        v->at[k] = saddle_rng_normal(rng);
        v->other[k] = saddle_rng_normal(rng);
    }
    saddle_set_project(v->set, v->at, c->scratch);
    saddle_set_project(v->set, v->other, c->scratch);
}

static void check_point(check *c, uint64_t seed, size_t point)
{
    const saddle_problem *problem = c->problem;
    size_t samples = problem->samples[c->agent];
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_CHECK, c->agent, point);
    draw_points(c, &c->x, &rng);
    draw_points(c, &c->y, &rng);
    saddle_batch all = {.index = NULL, .count = samples};
    saddle_problem_gradient(problem, c->agent, &all, c->x.at, c->y.at, c->x.slope, c->y.slope,
                            c->scratch);
    check_slopes(c, &c->x, &rng, &c->out->x_error);
    check_slopes(c, &c->y, &rng, &c->out->y_error);
    check_samples(c);
    saddle_batch some = {.index = c->chosen, .count = samples < BATCH ? samples : BATCH};
    saddle_rng_choose(&rng, samples, some.count, c->chosen, c->mark);
    check_difference(c, &some);
    check_variance(c, &some);
}

/* Replaces the errors by the largest of all processes, and the agent by the lowest one that has
 * the worst of them. */
static void combine_processes(const saddle_world *world, saddle_gradient_check *out, double worst)
{
    double error[] = {out->x_error,     out->y_error, out->difference_error, out->variance_error,
                      out->batch_error, worst,        out->kinks ? 1.0 : 0.0};
    world->largest(world, sizeof error / sizeof *error, error);
    double agent = worst == error[5] ? -(double)out->agent : -INFINITY;
    world->largest(world, 1, &agent);
    *out = (saddle_gradient_check){.x_error = error[0],
                                   .y_error = error[1],
                                   .difference_error = error[2],
                                   .variance_error = error[3],
                                   .batch_error = error[4],
                                   .kinks = error[6] > 0.0,
                                   .agent = (size_t)-agent};
}

/* Gives a variable its memory, 7 dim doubles; returns what follows them. */
static double *lay_out(variable *v, size_t dim, double *memory)
{
    v->dim = dim;
    v->at = memory;
    v->other = memory + dim;
    v->slope = memory + 2 * dim;
    v->mean = memory + 3 * dim;
    v->sample = memory + 4 * dim;
    v->direction = memory + 5 * dim;
    v->before = memory + 6 * dim;
    return memory + 7 * dim;
}

saddle_status saddle_problem_check_gradient(const saddle_problem *problem, const saddle_set *x_set,
                                            const saddle_set *y_set, size_t points, uint64_t seed,
                                            saddle_gradient_check *out, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, problem, x_set, y_set, out);
    *out = (saddle_gradient_check){.agent = 0};
    if (points == 0)
        return saddle_refuse(error, "a gradient check needs at least 1 point (got 0)");
    saddle_status status = saddle_problem_check(problem, error);
    if (status != SADDLE_OK)
        return status;
    if (saddle_set_dimension(x_set) != problem->x_dim ||
        saddle_set_dimension(y_set) != problem->y_dim)
        return saddle_refuse(
            error, "the sets have dimensions %zu and %zu, but problem %s has %zu (x) and %zu (y)",
            saddle_set_dimension(x_set), saddle_set_dimension(y_set),
            saddle_shown_name(problem->name), problem->x_dim, problem->y_dim);
    check c = {
        .problem = problem, .x = {.set = x_set}, .y = {.set = y_set}, .worst = 0.0, .out = out};
    const saddle_world *world = problem->world;
    size_t both = problem->x_dim + problem->y_dim;
    size_t population = saddle_larger(problem->x_dim, problem->y_dim);
    for (size_t i = 0; i < problem->agents; i++)
        population = saddle_larger(population, problem->samples[i]);
    size_t scratch =
        saddle_larger(saddle_problem_scratch(problem),
                      saddle_larger(saddle_set_scratch(x_set), saddle_set_scratch(y_set)));
    c.chosen = saddle_alloc(saddle_larger(COORDINATES, BATCH), sizeof *c.chosen);
    c.mark = saddle_alloc(saddle_rng_mark_words(population), sizeof *c.mark);
    double *memory = both <= SIZE_MAX / 8 ? saddle_alloc_doubles(7 * both + scratch) : NULL;
    if (c.chosen == NULL || c.mark == NULL || memory == NULL) {
        status = saddle_no_memory(error, "the gradient check");
    } else {
        c.scratch = lay_out(&c.y, problem->y_dim, lay_out(&c.x, problem->x_dim, memory));
        for (c.agent = 0; c.agent < problem->agents; c.agent++)
            for (size_t point = 0; point < points; point++)
                if (world == NULL || saddle_world_has(world, c.agent))
                    check_point(&c, seed, point);
    }
    if (world != NULL)
        combine_processes(world, out, c.worst);
    saddle_free(memory);
    saddle_free(c.mark);
    saddle_free(c.chosen);
    return status;
}
