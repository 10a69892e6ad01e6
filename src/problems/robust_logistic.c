/*
 * Robust logistic regression: the paper's experiment (Liu, Zhang, Lu, Liu 2023, section 4).
 *
 *   f_ij(x, y) = w y_j l_ij(x) - V(y) + g(x)
 *   l_ij(x)    = log(1 + exp(-b_ij a_ij' x))
 *   V(y)       = (lambda1 / 2) |n y - 1|^2
 *   g(x)       = lambda2 sum_k c x_k^2 / (1 + c x_k^2)        (the paper's alpha is c here)
 *
 * y has one entry per sample slot j = 0 .. n - 1, shared by all agents; n is the largest local
 * size, and an agent with fewer samples has nothing in the slots it lacks.
 *
 *   weights `box`      the paper's form: w = 1, Y = [0, 10]^n
 *   weights `simplex`  the usual distributionally robust form: w = n, Y the probability simplex
 *
 * V is isotropic, so the best response over any convex Y is a projection:
 *   y*(x) = projection onto Y of  1/n + mean_i (w l_ij(x) / n_i) / (lambda1 n^2).
 */
#include "problems/problems.h"

#include <math.h>
#include <string.h>

#include "core/elementary.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/vector.h"
#include "problems/batch_rows.h"
#include "problems/row_blocks.h"

#define GROUP "Problem robust-logistic"
#define OWN(field) SADDLE_OWN(choices, field, INSTANCE)

typedef struct choices {
    double lambda1; /* NaN: automatic */
    double lambda2;
    double curvature;
    int weights; /* BOX or SIMPLEX */
} choices;

/* The choices of --weights. */
enum { BOX, SIMPLEX };

static const saddle_option *const options[] = {
    &(const saddle_option)SADDLE_REAL_ABOVE(
        OWN(lambda1), "lambda1", GROUP, "auto", 0.0, SADDLE_UNBOUNDED, "W",
        "Weight of V(y) = (lambda1/2) |n y - 1|^2. auto: 1/n^2."),
    &(const saddle_option)SADDLE_REAL(OWN(lambda2), "lambda2", GROUP, "1e-3", 0.0, SADDLE_UNBOUNDED,
                                      "W", "Weight of the nonconvex regularizer g(x)."),
    &(const saddle_option)SADDLE_REAL_ABOVE(
        OWN(curvature), "g-curvature", GROUP, "10", 0.0, SADDLE_UNBOUNDED, "C",
        "C in g(x) = lambda2 sum_k C x_k^2 / (1 + C x_k^2); the paper calls it alpha."),
    &(const saddle_option)SADDLE_CHOICE(
        OWN(weights), "weights", GROUP, "box", "box|simplex", "FORM",
        "'box': losses weighted by y_j, Y = [0,10]^n, as in the paper; 'simplex': losses weighted "
        "by n y_j, Y the probability simplex, the usual distributionally robust form."),
    NULL};

typedef struct instance {
    saddle_problem problem;       /* first: the two addresses are one */
    saddle_dataset *const *shard; /* borrowed */
    double lambda1;
    double lambda2;
    double curvature;
    double weight;   /* w */
    double row_norm; /* largest |a_ij| */
    bool simplex;    /* the losses are weighted by n y_j */
} instance;

/* Least proximal weight, for a regularizer that is weak or absent. */
#define TAU_LEAST 1e-3

enum { BLOCK = SADDLE_ROW_BLOCK };

static double regularizer(const instance *self, const double *x)
{
    double sum = 0.0;
    for (size_t k = 0; k < self->problem.x_dim; k++) {
        double square = self->curvature * x[k] * x[k];
        /* For a huge x the quotient inf/inf would be NaN; its limit is 1. */
        sum += isinf(square) ? 1.0 : square / (1.0 + square);
    }
    return self->lambda2 * sum;
}

SADDLE_INLINE double regularizer_slope(double lambda2, double curvature, double x)
{
    double base = 1.0 + curvature * x * x;
    return 2.0 * lambda2 * curvature * x / (base * base);
}

/* gx += scale (grad g(x) - grad g(x0)); x0 may be NULL */
SADDLE_KERNEL static void add_regularizer(const instance *self, double scale,
                                          const double *restrict x, const double *restrict x0,
                                          double *restrict gx)
{
    double a = self->lambda2;
    double c = self->curvature;
    size_t count = self->problem.x_dim;
    if (x0 == NULL)
        for (size_t k = 0; k < count; k++)
            gx[k] += scale * regularizer_slope(a, c, x[k]);
    else
        for (size_t k = 0; k < count; k++)
            gx[k] += scale * (regularizer_slope(a, c, x[k]) - regularizer_slope(a, c, x0[k]));
}

/* gy -= scale grad V = scale lambda1 n (n y - 1) */
SADDLE_KERNEL static void add_dual_slope(const instance *self, double scale,
                                         const double *restrict y, double *restrict gy)
{
    size_t count = self->problem.y_dim;
    double n = (double)count;
    double slope = scale * self->lambda1 * n;
    for (size_t k = 0; k < count; k++)
        gy[k] -= slope * (n * y[k] - 1.0);
}

/* V(y) */
static double dual_term(const instance *self, const double *y)
{
    double n = (double)self->problem.y_dim;
    double sum = 0.0;
    for (size_t k = 0; k < self->problem.y_dim; k++)
        sum += (n * y[k] - 1.0) * (n * y[k] - 1.0);
    return 0.5 * self->lambda1 * sum;
}

/* g(x) - V(y); the linear part of differences in y is the library's. */
static void add_common(const saddle_problem *problem, const saddle_part *part)
{
    const instance *self = problem->self;
    if (part->gx != NULL)
        add_regularizer(self, part->scale, part->x, part->x0, part->gx);
    if (part->gy != NULL)
        add_dual_slope(self, part->scale, part->y, part->gy);
    if (part->value != NULL)
        *part->value += part->scale * (regularizer(self, part->x) - dual_term(self, part->y));
}

/* Rows of a batch, from place `begin` on, with what was found for them. */
typedef struct block {
    size_t begin;
    size_t count;
    double loss[BLOCK];
    double slope[BLOCK];
} block;

/* The functions of a block are inlined, so that a range of samples costs neither an index nor a prefetch. */

SADDLE_INLINE void find_losses(const saddle_dataset *data, const saddle_batch *batch,
                               const double *x, block *b)
{
    double z[BLOCK];
    size_t rest = batch->count - b->begin;
    b->count = rest < BLOCK ? rest : BLOCK;
    for (size_t k = 0; k < b->count; k++) {
        size_t row = saddle_batch_sample(batch, b->begin + k);
        saddle_prefetch_rows(data, batch, b->begin + k);
        z[k] = -data->label[row] * saddle_row_dot(data, row, x);
    }
    saddle_logistic(b->count, z, b->loss, b->slope);
}

/* gx += scale sum of y_j grad l_ij, and out[j] += scale l_ij; out may be NULL. Returns, if `squares` is set,
 * the sum of the samples' y_j^2 |grad l_ij|^2 + l_ij^2. */
SADDLE_INLINE double add_slopes(const saddle_dataset *data, const saddle_batch *batch,
                                const block *b, double scale, const double *y, double *gx,
                                double *out, bool squares)
{
    double square = 0.0;
    for (size_t k = 0; k < b->count; k++) {
        size_t row = saddle_batch_sample(batch, b->begin + k);
        double along = -data->label[row] * y[row] * b->slope[k];
        saddle_row_add(data, row, scale * along, gx);
        if (out != NULL)
            out[row] += scale * b->loss[k];
        if (squares)
            square += along * along * saddle_row_norm2(data, row) + b->loss[k] * b->loss[k];
    }
    return square;
}

/* out[j] += scale l_ij; out may be NULL */
SADDLE_INLINE void add_losses(const saddle_batch *batch, const block *b, double scale, double *out)
{
    for (size_t k = 0; out != NULL && k < b->count; k++)
        out[saddle_batch_sample(batch, b->begin + k)] += scale * b->loss[k];
}

/* The terms w y_j grad l_ij in gx, w l_ij e_j in gy and in the statistic, w y_j l_ij in the value. */
SADDLE_INLINE void add_batch(const instance *self, const saddle_dataset *data,
                             const saddle_part *part, const saddle_batch *batch)
{
    double scale = self->weight * part->scale;
    double value = 0.0;
    double square = 0.0;
    block b;
    for (b.begin = 0; b.begin < batch->count; b.begin += BLOCK) {
        find_losses(data, batch, part->x, &b);
        if (part->gx != NULL)
            square += add_slopes(data, batch, &b, scale, part->y, part->gx, part->gy,
                                 part->square != NULL);
        else
            add_losses(batch, &b, scale, part->gy);
        add_losses(batch, &b, scale, part->statistic);
        for (size_t k = 0; part->value != NULL && k < b.count; k++)
            value += part->y[saddle_batch_sample(batch, b.begin + k)] * b.loss[k];
    }
    if (part->square != NULL)
        *part->square += self->weight * scale * square;
    if (part->value != NULL)
        *part->value += scale * value;
}

static void add_point(const instance *self, const saddle_dataset *data, const saddle_part *part)
{
    saddle_batch range = {.first = part->batch.first, .count = part->batch.count};
    if (part->batch.index == NULL)
        add_batch(self, data, part, &range);
    else
        add_batch(self, data, part, &part->batch);
}

/* Both points' arguments of the loss side by side, for rows [begin, begin + count) of a batch. The
 * points lie entry by entry side by side in `pair`. */
static void find_margins(const saddle_dataset *data, const saddle_batch *batch, size_t begin,
                         size_t count, const double *x1, const double *x0, const double *pair,
                         double *z)
{
    for (size_t k = 0; k < count; k++) {
        size_t row = saddle_batch_sample(batch, begin + k);
        saddle_couple dot = {0.0, 0.0};
        saddle_prefetch_rows(data, batch, begin + k);
        if (data->dense == NULL) {
            dot = saddle_row_dot_pair(data, row, pair);
        } else {
            dot[0] = saddle_row_dot(data, row, x1);
            dot[1] = saddle_row_dot(data, row, x0);
        }
        z[2 * k] = -data->label[row] * dot[0];
        z[2 * k + 1] = -data->label[row] * dot[1];
    }
}

/* gx += along[k] times the rows from place `begin` of a batch on */
static void add_block(const saddle_dataset *data, const saddle_batch *batch, size_t begin,
                      size_t count, const double *along, double *gx)
{
    for (size_t k = 0; k < count; k++)
        saddle_row_add(data, saddle_batch_sample(batch, begin + k), along[k], gx);
}

/* add_point() minus the same at (x0, y0): one call of the vector exponential serves both points. */
static void add_difference(const instance *self, const saddle_dataset *data,
                           const saddle_part *part, double *pair)
{
    const saddle_batch *batch = &part->batch;
    double z[2 * BLOCK];
    double loss[2 * BLOCK];
    double slope[2 * BLOCK];
    double scale = self->weight * part->scale;
    const double *y = part->y;
    const double *y0 = part->y0;
    double *gy = part->gy;
    for (size_t k = 0; k < self->problem.x_dim; k++) {
        pair[2 * k] = part->x[k];
        pair[2 * k + 1] = part->x0[k];
    }
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        size_t count = batch->count - begin < BLOCK ? batch->count - begin : BLOCK;
        find_margins(data, batch, begin, count, part->x, part->x0, pair, z);
        saddle_logistic(2 * count, z, loss, slope);
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            double change = y[row] * slope[2 * k] - y0[row] * slope[2 * k + 1];
            slope[k] = -scale * data->label[row] * change;
            gy[row] += scale * (loss[2 * k] - loss[2 * k + 1]);
        }
        if (part->along != NULL)
            memcpy(part->along + begin, slope, count * sizeof *slope);
        else
            add_block(data, batch, begin, count, slope, part->gx);
    }
}

static void add_rows(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *along, double *gx)
{
    const instance *self = problem->self;
    add_block(self->shard[agent], batch, 0, batch->count, along, gx);
}

static void add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    const instance *self = problem->self;
    if (part->x0 != NULL)
        add_difference(self, self->shard[agent], part, scratch);
    else
        add_point(self, self->shard[agent], part);
}

/* F is linear in the losses, so their means over agents are enough. */
static double response_value(const saddle_problem *problem, const double *x,
                             const double *statistic, const double *y, double *scratch)
{
    (void)scratch;
    const instance *self = problem->self;
    return saddle_dot(problem->y_dim, y, statistic) - dual_term(self, y) + regularizer(self, x);
}

static bool response_solve(const saddle_problem *problem, const double *x, const double *statistic,
                           const saddle_set *y_set, double *y, double *scratch)
{
    (void)x;
    const instance *self = problem->self;
    double n = (double)problem->y_dim;
    double curved = self->lambda1 * n * n;
    for (size_t k = 0; k < problem->y_dim; k++)
        y[k] = 1.0 / n + statistic[k] / curved;
    saddle_set_project(y_set, y, scratch);
    return true;
}

/*
 * mu = lambda1 n^2. L bounds the norm of the Hessian of f_ij by that of the 2x2 matrix of the norms
 * of its blocks: with r = max |a_ij| and |y| <= Y on the set,
 *   |H_xx| <= w Y r^2 / 4 + 2 lambda2 c,   |H_xy| <= w r,   |H_yy| = lambda1 n^2.
 */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    (void)x_set;
    const instance *self = problem->self;
    double n = (double)problem->y_dim;
    double lower;
    double upper;
    saddle_set_range(y_set, &lower, &upper);
    double most = fmax(fabs(lower), fabs(upper));
    out->strong_concavity = self->lambda1 * n * n;
    if (isfinite(most)) {
        double xx = self->weight * most * self->row_norm * self->row_norm / 4.0 +
                    2.0 * self->lambda2 * self->curvature;
        out->lipschitz =
            saddle_block_norm(xx, self->weight * self->row_norm, out->strong_concavity);
    }
    /* At y = 1/n V vanishes and the other terms are not negative. */
    return saddle_bound_primal(out, 0.0, y_set, 1.0 / n, 1e-12, error);
}

/* y weighs the samples of the run, not those that are scored. */
static saddle_status scores(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error)
{
    (void)y;
    return saddle_score_rows(data, problem->x_dim, (saddle_linear_score){.w = x}, out, error);
}

/*
 * F is isotropic in y, so alpha = 1/mu leads to the maximizer at once. In x, with weights of order
 * 1/n (box) the curvature 2 lambda2 c of the regularizer sets the scale: five times it is safe. On
 * the simplex the losses count fully: |H_xx| + |H_xy|^2 / mu of F bounds the curvature of Q.
 */
static double suitable_tau(const instance *self)
{
    double n = (double)self->problem.y_dim;
    double square = self->row_norm * self->row_norm;
    if (self->simplex)
        return fmax(square / 4.0 + square / (self->lambda1 * n * n), TAU_LEAST);
    return fmax(10.0 * self->lambda2 * self->curvature, TAU_LEAST);
}

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    instance *self = made;
    choices *chosen = inputs->options;
    size_t most = saddle_sizes_largest(inputs->agents, inputs->samples);
    double n = (double)most;
    if (isnan(chosen->lambda1))
        chosen->lambda1 = 1.0 / (n * n);
    double concavity = chosen->lambda1 * n * n;
    if (isinf(concavity))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "lambda1: %g times n^2, with n = %zu, overflows; give a smaller one",
                           chosen->lambda1, most);
    self->shard = inputs->shard;
    self->lambda1 = chosen->lambda1;
    self->lambda2 = chosen->lambda2;
    self->curvature = chosen->curvature;
    self->simplex = chosen->weights == SIMPLEX;
    self->weight = self->simplex ? n : 1.0;
    self->problem.x_dim = inputs->features;
    self->problem.y_dim = most;
    self->problem.scratch = 2 * inputs->features;
    self->problem.y_set = self->simplex ? "simplex" : "box:0:10";
    self->problem.response_size = most;
    self->problem.y_curvature = concavity;
    self->problem.alpha = 1.0 / concavity;
    return SADDLE_OK;
}

static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    (void)error;
    instance *self = problem->self;
    self->row_norm = sqrt(saddle_largest_norm2(inputs, NULL));
    problem->sample_cost = saddle_row_cost(inputs, 1);
    problem->tau = suitable_tau(self);
    return SADDLE_OK;
}

const saddle_problem_class saddle_robust_logistic = {
    .name = "robust-logistic",
    .summary = "logistic regression with adversarial sample weights (the paper's experiment)",
    .needs_data = true,
    .local_data = true,
    .options = options,
    .options_size = sizeof(choices),
    .size = sizeof(instance),
    .init = init,
    .join = join,
    .common = {.x_set = "box:0:10",
               .add_samples = add_samples,
               .add_rows = add_rows,
               .add_common = add_common,
               .response_solve = response_solve,
               .response_value = response_value,
               .constants = constants,
               .scores = scores},
};
