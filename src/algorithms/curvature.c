/*
 * A metric in which the units of coordinates do not matter, measured at the reference point x: the problem's own start,
 * or 0, and a y halfway between the first y and what one ascent step from it gives, which is the best response to x if
 * F is isotropic in y. (At the response itself, weights of samples can be 0, and their curvature would not be seen.)
 *
 * It is for samples whose loss is a convex function of one score, f(a'x), as in linear models. The difference of
 * gradients between x and x + delta is then g = f'' (a'delta) a, so that g g' / (g'delta) = f'' a a' is the sample's
 * Hessian, whatever delta is. Whether this is so is tested: the matrix must give the entries of the difference along a
 * second delta, all of which count alike: delta is so long in a rare feature that this one would decide for all others.
 * For other losses, the metric is 1. The test takes a few samples and the first y; only what passes it is measured with
 * many samples and at the y above.
 *
 * The diagonal D is the mean of these matrices' diagonals over an agent's samples, and the root of the mean square over
 * agents: for a coordinate that only some agents know, the plain mean would be much less than the curvature there, and
 * their steps too long. If x_k is measured in other units, D_k changes like a second derivative. The full metric is
 * made from the means of the matrices over each agent's samples, by saddle_metric_set_mean(), for the same reason. A
 * small share of the second moments of the samples' gradients at x is added, because in directions without curvature,
 * such as the sum of AUC's three thresholds, the noise of a gradient would otherwise be taken for a large slope. If the
 * matrices are means over N' of N samples, a share dim x (1/N' - 1/N) of D is added: in some directions N' samples see
 * so much less curvature than all.
 *
 * Samples with a rare feature are missing in most batches and count too much in the others. If c is the mean square of
 * the terms of an entry of D, relative to its square, about one in c samples decides it (3 for normal numbers): it and
 * the matrix's entry grow by the share (c / RARE)^2.
 *
 * delta has random signs and entries of sizes 1 / sqrt(mean square of the samples' gradients), so that units do not
 * matter here either. With such signs, dim x |H delta|^2 / |delta|^2 has as its mean the sum of squares of all entries
 * of H, which is at least the square of its largest singular value.
 */
#include "algorithms/curvature.h"

#include "algorithms/sample_probe.h"
#include "core/dense.h"
#include "core/memory_limits.h"
#include "core/rng.h"
#include "core/vector.h"
#include "core/world.h"
#include "sets/set.h"

#define WHAT "the metric of steps"

/* The most samples of an agent, and the most entries of their gradients together; the most entries of the matrices of
 * all agents' samples. */
#define MOST_SAMPLES 2048
/* See above. */
#define RARE 1000.0
#define MOST_ENTRIES 1e7
#define MOST_MATRIX_ENTRIES 4e9
/* The most columns of a full metric that is chosen automatically: an iteration takes some dim x^2 operations. All
 * agents' matrices together have at most MOST_ENTRIES entries. */
#define MOST_FULL 1024
/* The share of squared slopes in the full metric, relative to curvatures. */
#define SLOPES 0.1
/* Along delta, slopes are to change by this share; by so many attempts, with so many samples of each agent. */
#define CHANGE 1e-3
#define ATTEMPTS 4
#define ATTEMPT_SAMPLES 8
/* The largest mean share of an entry of a difference along the second delta that may be left unexplained. */
#define UNEXPLAINED 0.1
/* A difference along delta of less than this share of the sum of its terms' sizes is rounding. */
#define ROUNDING 1e-9

typedef struct probe {
    saddle_sample_probe sample;
    const saddle_instance *instance;
    const double *x;     /* the reference point */
    const double *delta; /* NULL: gradients at x instead of differences */
    double *moved;       /* x + delta */
    double *other;       /* x + delta with other signs */
    double *g0;          /* x_dim + y_dim: the gradient at x */
    double *g1;          /* x_dim + y_dim: that at x + delta, then the difference */
    double *g2;          /* x_dim + y_dim: the difference between x and `other` */
    double ratio;        /* of curvatures to squared slopes along delta, in the mean */
    double *matrices; /* of all agents, one after the other; NULL: only the diagonal is measured */
    double *squares;  /* x_dim: mean squares of the terms of an agent's diagonal */
} probe;

/* Returns the number of an agent's samples that are measured. */
static size_t samples_of(const saddle_problem *problem, size_t agent)
{
    double entries = (double)(problem->x_dim + problem->y_dim);
    size_t most = (size_t)fmin(MOST_SAMPLES, fmax(ATTEMPT_SAMPLES, MOST_ENTRIES / entries));
    return saddle_smaller(most, problem->samples[agent]);
}

/* Returns whether the response in y is computed from few samples. Entries of a longer y may belong to samples. */
static bool few_respond(const saddle_problem *problem)
{
    return problem->y_dim < SADDLE_PROBE_FEW;
}

uint64_t saddle_curvature_cost(const saddle_problem *problem, size_t agent,
                               const saddle_curvature *measured)
{
    int stage = measured == NULL ? 2 : measured->stage;
    size_t all = problem->samples[agent];
    uint64_t few = saddle_smaller(SADDLE_PROBE_FEW, all);
    uint64_t test = few + (2 * ATTEMPTS + 3) * saddle_smaller(ATTEMPT_SAMPLES, all);
    if (stage < 2)
        return stage == 0 ? 0 : test;
    return test + (few_respond(problem) ? few : all) + 2 * samples_of(problem, agent);
}

/* Computes the gradient of the k-th of `count` samples at x in g0 and, with a delta, the difference to it in g1. */
static void measure_sample(probe *p, size_t agent, size_t k, size_t count)
{
    const saddle_problem *problem = p->instance->problem;
    saddle_sample_probe_gradient(&p->sample, agent, k, count, p->x, p->g0);
    if (p->delta == NULL)
        return;
    saddle_sample_probe_gradient(&p->sample, agent, k, count, p->moved, p->g1);
    saddle_axpy(problem->x_dim + problem->y_dim, -1.0, p->g0, p->g1);
}

/* The mean squares of an agent's gradients at x. */
static void add_squares(void *context, size_t agent, double *out)
{
    probe *p = context;
    size_t x_dim = p->instance->problem->x_dim;
    size_t count = saddle_smaller(SADDLE_PROBE_FEW, p->instance->problem->samples[agent]);
    memset(out, 0, x_dim * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        measure_sample(p, agent, k, count);
        for (size_t c = 0; c < x_dim; c++)
            out[c] += p->g0[c] * p->g0[c] / (double)count;
    }
}

/* The mean sizes of slopes along delta and of their changes. */
static void add_changes(void *context, size_t agent, double *out)
{
    probe *p = context;
    size_t x_dim = p->instance->problem->x_dim;
    size_t count = saddle_smaller(ATTEMPT_SAMPLES, samples_of(p->instance->problem, agent));
    out[0] = out[1] = out[2] = 0.0;
    for (size_t k = 0; k < count; k++) {
        measure_sample(p, agent, k, count);
        double slope = saddle_dot(x_dim, p->g0, p->delta);
        out[0] += fabs(slope) / (double)count;
        out[2] += slope * slope / (double)count;
        out[1] += fabs(saddle_dot(x_dim, p->g1, p->delta)) / (double)count;
    }
}

/* The sum over entries of the share that a function of one score leaves unexplained of the difference along the second
 * delta, the number of entries that differ, the sizes of negative and of all curvatures along the first delta: means
 * over samples. */
static void add_unexplained(void *context, size_t agent, double *out)
{
    probe *p = context;
    const saddle_problem *problem = p->instance->problem;
    size_t x_dim = problem->x_dim;
    size_t count = saddle_smaller(ATTEMPT_SAMPLES, samples_of(problem, agent));
    memset(out, 0, 4 * sizeof *out);
    for (size_t k = 0; k < count; k++) {
        double along[2] = {0.0, 0.0};
        double entries[2] = {0.0, 0.0};
        measure_sample(p, agent, k, count);
        saddle_sample_probe_gradient(&p->sample, agent, k, count, p->other, p->g2);
        for (size_t c = 0; c < x_dim; c++) {
            p->g2[c] -= p->g0[c];
            along[0] += p->g1[c] * p->delta[c];
            along[1] += p->g1[c] * (p->other[c] - p->x[c]);
        }
        for (size_t c = 0; c < x_dim; c++) {
            double whole = fabs(p->g2[c]);
            if (whole == 0.0)
                continue;
            entries[0] += fmin(1.0, fabs(p->g2[c] - p->g1[c] * along[1] / along[0]) / whole);
            entries[1] += 1.0;
        }
        out[0] += entries[0] / (double)count;
        out[1] += entries[1] / (double)count;
        out[2] += fmax(0.0, -along[0]) / (double)count;
        out[3] += fabs(along[0]) / (double)count;
    }
}

/* Adds weight g g' to a lower triangle. */
static void add_square(size_t dimension, double weight, const double *g, double *triangle)
{
    for (size_t i = 0; i < dimension; triangle += ++i)
        if (g[i] != 0.0)
            saddle_axpy(i + 1, weight * g[i], g, triangle);
}

/* Returns the number of samples whose matrices are summed, of those that are measured. */
static size_t squares_of(const saddle_problem *problem, size_t agent)
{
    double entries = (double)saddle_triangle_size(problem->x_dim) * (double)problem->agents;
    return saddle_smaller(samples_of(problem, agent),
                          (size_t)fmax(1.0, MOST_MATRIX_ENTRIES / entries));
}

/* Adds to an agent's diagonal and matrix for rare features, and to the matrix what its samples may not have seen. */
static void add_unseen(const probe *p, size_t agent, double *diagonal)
{
    const saddle_problem *problem = p->instance->problem;
    double share = 1.0 / (double)squares_of(problem, agent) - 1.0 / (double)problem->samples[agent];
    share *= (double)problem->x_dim / (double)problem->agents;
    size_t entry = agent * saddle_triangle_size(problem->x_dim);
    for (size_t i = 0; i < problem->x_dim; entry += ++i + 1) {
        double root = diagonal[i] > 0.0 ? sqrt(p->squares[i]) / diagonal[i] : 0.0;
        double rare = root * root / RARE;
        diagonal[i] *= 1.0 + rare * rare;
        if (p->matrices != NULL)
            p->matrices[entry] += (share + rare * rare / (1.0 + rare * rare)) * diagonal[i];
    }
}

/* An agent's part of D, and its mean differences in x and y. Stores its matrix. */
static void add_curvature(void *context, size_t agent, double *out)
{
    probe *p = context;
    const saddle_problem *problem = p->instance->problem;
    size_t x_dim = problem->x_dim;
    size_t both = x_dim + problem->y_dim;
    size_t count = samples_of(problem, agent);
    size_t entries = saddle_triangle_size(x_dim);
    size_t squares = squares_of(problem, agent);
    memset(out, 0, (x_dim + both) * sizeof *out);
    memset(p->squares, 0, x_dim * sizeof *p->squares);
    for (size_t k = 0; k < count; k++) {
        measure_sample(p, agent, k, count);
        saddle_axpy(both, 1.0 / (double)count, p->g1, out + x_dim);
        double along = fabs(saddle_dot(x_dim, p->g1, p->delta));
        double size = 0.0;
        for (size_t c = 0; c < x_dim; c++)
            size += fabs(p->g1[c] * p->delta[c]);
        for (size_t c = 0; c < x_dim && along > ROUNDING * size; c++) {
            double term = p->g1[c] * p->g1[c] / along;
            out[c] += term / (double)count;
            p->squares[c] += term * term / (double)count;
        }
        /* Of all samples, `squares` at equal distances. */
        if (p->matrices == NULL || (k + 1) * squares / count == k * squares / count)
            continue;
        double *matrix = p->matrices + agent * entries;
        if (along > ROUNDING * size)
            add_square(x_dim, 1.0 / along / (double)squares, p->g1, matrix);
        add_square(x_dim, SLOPES * p->ratio / (double)squares, p->g0, matrix);
    }
    add_unseen(p, agent, out);
    for (size_t c = 0; c < x_dim; c++)
        out[c] *= out[c];
}

static void choose_delta(const saddle_instance *instance, const double *squares, double *delta)
{
    saddle_rng rng;
    saddle_rng_init(&rng, instance->seed, SADDLE_RNG_ESTIMATE, 0, 1);
    for (size_t k = 0; k < instance->problem->x_dim; k++) {
        double sign = saddle_rng_below(&rng, 2) == 0 ? 1.0 : -1.0;
        delta[k] = squares[k] > 0.0 ? sign / sqrt(squares[k]) : 0.0;
    }
}

static void move_by(probe *p, const double *delta)
{
    p->delta = delta;
    for (size_t k = 0; k < p->instance->problem->x_dim; k++)
        p->moved[k] = p->x[k] + delta[k];
}

/* Scales delta until slopes along it change by about CHANGE. */
static saddle_status scale_delta(probe *p, double *delta, saddle_error *error)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        double sums[3];
        move_by(p, delta);
        SADDLE_TRY(saddle_world_sum(p->instance->world, 3, add_changes, p, sums, error));
        double change = sums[1] / sums[0];
        p->ratio = sums[2] > 0.0 ? sums[1] / sums[2] : 0.0;
        if (change > 0.1 * CHANGE && change < 10.0 * CHANGE)
            break;
        double factor = change > 0.0 ? fmin(CHANGE / change, 1e6) : 1e3;
        for (size_t k = 0; k < p->instance->problem->x_dim && isfinite(factor); k++)
            delta[k] *= factor;
    }
    move_by(p, delta);
    return SADDLE_OK;
}

/* Stores whether the losses of samples are convex functions of one score. */
static saddle_status test_one_score(probe *p, bool *out, saddle_error *error)
{
    const saddle_instance *instance = p->instance;
    double sums[4];
    saddle_rng rng;
    saddle_rng_init(&rng, instance->seed, SADDLE_RNG_ESTIMATE, 0, 2);
    /* Of two entries, one has the other sign, so that in few dimensions, too, the second delta is not parallel. */
    bool first = true;
    bool same = false;
    for (size_t k = 0; k < instance->problem->x_dim; k++) {
        p->other[k] = p->x[k];
        if (p->delta[k] == 0.0)
            continue;
        same = first ? saddle_rng_below(&rng, 2) == 0 : !same;
        first = !first;
        p->other[k] += same ? p->delta[k] : -p->delta[k];
    }
    SADDLE_TRY(saddle_world_sum(instance->world, 4, add_unexplained, p, sums, error));
    *out = sums[1] > 0.0 && sums[0] <= UNEXPLAINED * sums[1] && sums[2] <= UNEXPLAINED * sums[3];
    return SADDLE_OK;
}

/* Estimates the sizes of second derivatives in the metric from the differences along delta. Returns false if they are
 * of no use. */
static bool estimate_sizes(const probe *p, double *sums, saddle_curvature *out)
{
    const saddle_problem *problem = p->instance->problem;
    size_t x_dim = problem->x_dim;
    double agents = (double)problem->agents;
    double free = 0.0;
    for (size_t k = 0; k < x_dim; k++)
        free += p->delta[k] != 0.0 ? 1.0 : 0.0;
    double length2 = saddle_metric_distance2(&out->metric, p->moved, p->x, p->g0);
    saddle_metric_whiten(&out->metric, sums + x_dim, p->g0);
    double hx2 = saddle_norm2(x_dim, p->g0);
    double hy2 = saddle_norm2(problem->y_dim, sums + 2 * x_dim);
    out->xx = sqrt(free * hx2 / length2) / agents;
    out->xy = sqrt(free * hy2 / length2) / agents;
    return isfinite(out->xx) && isfinite(out->xy) && out->xx + out->xy > 0.0;
}

static saddle_status measure(probe *p, double alpha, double *sums, double *delta,
                             saddle_curvature *out, saddle_error *error)
{
    const saddle_instance *instance = p->instance;
    const saddle_problem *problem = instance->problem;
    size_t x_dim = problem->x_dim;
    out->stage = 1;
    SADDLE_TRY(saddle_world_sum(instance->world, x_dim, add_squares, p, sums, error));
    choose_delta(instance, sums, delta);
    if (!(saddle_norm2(x_dim, delta) > 0.0))
        return SADDLE_OK;
    bool one_score = false;
    SADDLE_TRY(scale_delta(p, delta, error));
    SADDLE_TRY(test_one_score(p, &one_score, error));
    if (!one_score)
        return SADDLE_OK;
    out->stage = 2;
    SADDLE_TRY(saddle_sample_probe_respond(&p->sample, p->x, alpha, few_respond(problem), error));
    /* before y spreads it to all agents */
    SADDLE_TRY(saddle_sample_probe_refuse_nan(&p->sample, WHAT, error));
    SADDLE_TRY(saddle_world_sum(instance->world, 2 * x_dim + problem->y_dim, add_curvature, p, sums,
                                error));
    for (size_t k = 0; k < x_dim; k++)
        sums[k] = sqrt(sums[k] / (double)problem->agents);
    if (!saddle_metric_set_diagonal(&out->metric, sums))
        return SADDLE_OK;
    if (p->matrices != NULL)
        SADDLE_TRY(saddle_metric_set_mean(&out->metric, instance->world, p->matrices, error));
    out->uniform = !estimate_sizes(p, sums, out);
    return SADDLE_OK;
}

/* Stores the reference point and the first y. Returns false if they are too far from 0: gradients there say nothing,
 * and the run itself says why it cannot begin. */
static bool find_reference(probe *p, double *x)
{
    const saddle_instance *instance = p->instance;
    const saddle_problem *problem = instance->problem;
    if (problem->start != NULL)
        problem->start(problem, instance->seed, x, p->g0);
    saddle_set_project(instance->x_set, x, p->sample.scratch);
    memcpy(p->sample.y, instance->y0, problem->y_dim * sizeof *p->sample.y);
    return isfinite(saddle_norm2(problem->x_dim, x) + saddle_norm2(problem->y_dim, instance->y0));
}

/* Measures with memory for 5 x_dim + 4 (x_dim + y_dim) doubles and scratch, and for the agents' matrices or NULL. */
static saddle_status measure_with(const saddle_instance *instance, double alpha, double *memory,
                                  double *matrices, saddle_curvature *out, saddle_error *error)
{
    const saddle_problem *problem = instance->problem;
    size_t x_dim = problem->x_dim;
    size_t both = x_dim + problem->y_dim;
    double *x = memory;
    double *delta = x + x_dim;
    double *y = delta + 3 * x_dim;
    double *g = y + problem->y_dim;
    double *sums = g + 2 * both;
    probe p = {.sample = {.instance = instance,
                          .y = y,
                          .g = g,
                          .scratch = sums + 2 * x_dim + both,
                          .first_nan = -INFINITY},
               .instance = instance,
               .x = x,
               .moved = delta + x_dim,
               .other = delta + 2 * x_dim,
               .g0 = g,
               .g1 = g + both,
               .g2 = sums,
               .matrices = matrices,
               .squares = sums + x_dim + both};
    if (!find_reference(&p, x))
        return SADDLE_OK;
    SADDLE_TRY(measure(&p, alpha, sums, delta, out, error));
    return saddle_sample_probe_refuse_nan(&p.sample, WHAT, error);
}

/* Returns the number of doubles for the agents' matrices; 0: only the diagonal is measured, as with an h or in a box,
 * where steps in D are better: bounds are active, and the matrix then says little. */
static size_t matrices_size(const saddle_instance *instance, saddle_curvature_kind kind)
{
    size_t x_dim = instance->problem->x_dim;
    size_t agents = instance->problem->agents;
    const saddle_set_class *set = saddle_set_kind(instance->x_set);
    bool free = set == &saddle_set_none || set == &saddle_set_l2_ball;
    if (!free || !instance->regularizer->is_zero || kind == SADDLE_CURVATURE_DIAGONAL)
        return 0;
    bool few =
        x_dim <= MOST_FULL && (double)agents * (double)saddle_triangle_size(x_dim) <= MOST_ENTRIES;
    return few || kind == SADDLE_CURVATURE_FULL ? agents * saddle_triangle_size(x_dim) : 0;
}

/* Announces what a measurement takes with this many doubles of its own and of the agents' matrices. */
static saddle_status announce(const saddle_instance *instance, size_t own, size_t matrices,
                              saddle_error *error)
{
    const saddle_problem *problem = instance->problem;
    size_t x_dim = problem->x_dim;
    size_t sums = saddle_world_sum_rows(problem->agents) * (2 * x_dim + problem->y_dim);
    double passing = saddle_block_bytes(sums, sizeof(double));
    if (matrices > 0)
        passing = fmax(passing, saddle_metric_mean_bytes(x_dim, problem->agents));
    return saddle_need_check_one(
        saddle_metric_bytes(x_dim, matrices > 0) +
            saddle_block_bytes(own + matrices, sizeof(double)) + passing,
        WHAT, matrices > 0 ? "give --hessian diagonal" : "take --algorithm precision", error);
}

saddle_status saddle_curvature_measure(const saddle_instance *instance, saddle_curvature_kind kind,
                                       double alpha, saddle_curvature *out, saddle_error *error)
{
    const saddle_problem *problem = instance->problem;
    size_t x_dim = problem->x_dim;
    size_t both = x_dim + problem->y_dim;
    size_t scratch = saddle_larger(
        saddle_problem_scratch(problem),
        saddle_larger(saddle_set_scratch(instance->x_set), saddle_set_scratch(instance->y_set)));
    bool known = kind != SADDLE_CURVATURE_NONE && saddle_prox_has_metric(instance->x_prox);
    size_t size = known ? matrices_size(instance, kind) : 0;
    memset(out, 0, sizeof *out);
    size_t own = 5 * x_dim + 4 * both + scratch;
    SADDLE_TRY(saddle_world_agree(instance->world, announce(instance, own, size, error), error));
    saddle_status status = saddle_metric_open(&out->metric, x_dim, size > 0, error);
    double *memory = saddle_alloc_doubles(own);
    double *matrices = size > 0 ? saddle_alloc_doubles(size) : NULL;
    if (status == SADDLE_OK)
        status = saddle_check_memory(
            memory != NULL && (size == 0 || matrices != NULL) ? memory : NULL, WHAT, error);
    status = saddle_world_agree(instance->world, status, error);
    out->uniform = true;
    if (status == SADDLE_OK && known && memory != NULL)
        status = measure_with(instance, alpha, memory, matrices, out, error);
    if (status == SADDLE_OK && out->uniform)
        saddle_metric_reset(&out->metric);
    saddle_free(matrices);
    saddle_free(memory);
    return status;
}
