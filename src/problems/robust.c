#include "problems/robust.h"

#include "core/elementary.h"
#include "core/vector.h"
#include "problems/device_problem.h"
#include "problems/problems.h"
#include "problems/row_blocks.h"

enum { BLOCK = SADDLE_ROW_BLOCK };

/* ---- rows of a batch ------------------------------------------------------------------------- */

/* The rows of a batch are scattered in memory. The entry of row_start is prefetched
 * START_AHEAD rows ahead, the row itself ROW_AHEAD rows ahead. */
enum { START_AHEAD = 16, ROW_AHEAD = 8 };

/* Prefetches the rows after the k-th of a batch. It must be forced inline: gcc considers a
 * function that only prefetches to have no effect and drops the call. */
SADDLE_INLINE void prefetch_rows(const saddle_dataset *data, const saddle_batch *batch, size_t k)
{
    if (batch->index == NULL || data->dense != NULL)
        return;
    if (k + START_AHEAD < batch->count) {
        size_t row = batch->index[k + START_AHEAD];
        __builtin_prefetch(data->row_start + row);
        __builtin_prefetch(data->label + row);
    }
    if (k + ROW_AHEAD < batch->count) {
        size_t first = data->row_start[batch->index[k + ROW_AHEAD]];
        __builtin_prefetch(data->column + first);
        if (data->value != NULL) {
            __builtin_prefetch(data->value + first);
            __builtin_prefetch(data->value + first + SADDLE_LANES);
        }
    }
}

/* The same entry of two vectors. */
typedef double couple __attribute__((vector_size(2 * sizeof(double))));

/* Returns a_row' x of a sparse row for two points, whose entries are interleaved in `pair`. */
static inline couple row_dot_pair(const saddle_dataset *data, size_t row, const double *pair)
{
    couple sum = {0.0, 0.0};
    size_t end = data->row_start[row + 1];
    const double *value = data->value;
    couple both;
    if (value == NULL) {
        for (size_t k = data->row_start[row]; k < end; k++) {
            memcpy(&both, pair + 2 * (size_t)data->column[k], sizeof both);
            sum += both;
        }
        return sum;
    }
    for (size_t k = data->row_start[row]; k < end; k++) {
        memcpy(&both, pair + 2 * (size_t)data->column[k], sizeof both);
        sum += value[k] * both;
    }
    return sum;
}

/* ---- terms without data ---------------------------------------------------------------------- */

static double regularizer(const saddle_robust *self, const double *x)
{
    double sum = 0.0;
    for (size_t k = 0; k < self->problem.x_dim; k++) {
        double square = self->curvature * x[k] * x[k];
        /* For a huge x the quotient would be inf/inf; its limit is 1. */
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
SADDLE_KERNEL static void add_regularizer(const saddle_robust *self, double scale,
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

/* Adds g(x) - V(y). */
void saddle_robust_add_common(const saddle_problem *problem, const saddle_part *part)
{
    const saddle_robust *self = problem->self;
    if (part->gx != NULL)
        add_regularizer(self, part->scale, part->x, part->x0, part->gx);
    if (part->gy != NULL)
        saddle_penalty_add_slope(problem, part->scale, part->y, part->y0, part->gy);
    if (part->value != NULL)
        *part->value +=
            part->scale * (regularizer(self, part->x) - saddle_penalty(problem, part->y));
}

/* A block of rows of a batch, from index `begin` on, with their losses and slopes. */
typedef struct block {
    size_t begin;
    size_t count;
    double loss[BLOCK];
    double slope[BLOCK];
} block;

/* Computes Huber's loss of a residual, and its slope. */
SADDLE_INLINE void huber(double delta, double residual, double *loss, double *slope)
{
    double size = fabs(residual);
    bool near = !(size > delta);
    *loss = near ? 0.5 * residual * residual : delta * (size - 0.5 * delta);
    *slope = near ? residual : copysign(delta, residual);
}

/* Computes losses and their slopes in z. The argument of a row's loss is z = -b t for the
 * logistic loss and z = t - b for the others, so dz/dt is -b or 1. */
SADDLE_INLINE void find_slopes(const saddle_robust *self, bool logistic, size_t count,
                               const double *z, double *loss, double *slope)
{
    if (logistic) {
        saddle_logistic(count, z, loss, slope);
        return;
    }
    double delta = self->loss == SADDLE_ROBUST_HUBER ? self->delta : (double)INFINITY;
    for (size_t k = 0; k < count; k++)
        huber(delta, z[k], &loss[k], &slope[k]);
}

/* Returns z for a score t and a label. */
SADDLE_INLINE double argument(bool logistic, double label, double t)
{
    return logistic ? -label * t : t - label;
}

/* Returns dz/dt. */
SADDLE_INLINE double inner_slope(bool logistic, double label)
{
    return logistic ? -label : 1.0;
}

/* Returns the intercept v, or 0. */
SADDLE_INLINE double intercept(const saddle_robust *self, bool logistic, const double *x)
{
    return !logistic && self->intercept ? x[self->problem.x_dim - 1] : 0.0;
}

/* The functions of a block are inlined, so that a range of samples needs neither index nor
 * prefetch, and the logistic loss does not pay for the others. */

SADDLE_INLINE void find_losses(const saddle_robust *self, bool logistic, const saddle_dataset *data,
                               const saddle_batch *batch, const double *x, block *b)
{
    double z[BLOCK];
    double v = intercept(self, logistic, x);
    size_t rest = batch->count - b->begin;
    b->count = rest < BLOCK ? rest : BLOCK;
    for (size_t k = 0; k < b->count; k++) {
        size_t row = saddle_batch_sample(batch, b->begin + k);
        prefetch_rows(data, batch, b->begin + k);
        double t = saddle_row_dot(data, row, x);
        z[k] = argument(logistic, data->label[row], logistic ? t : t + v);
    }
    find_slopes(self, logistic, b->count, z, b->loss, b->slope);
}

/* gx += along times the row, with an entry 1 for the intercept */
SADDLE_INLINE void add_row(const saddle_robust *self, bool logistic, const saddle_dataset *data,
                           size_t row, double along, double *gx)
{
    saddle_row_add(data, row, along, gx);
    if (!logistic && self->intercept)
        gx[self->problem.x_dim - 1] += along;
}

/* gx += scale sum of y_j grad l_ij, and out[j] += scale l_ij; out may be NULL. Returns, if
 * `squares` is set, the sum of the samples' y_j^2 |grad l_ij|^2 + l_ij^2. */
SADDLE_INLINE double add_slopes(const saddle_robust *self, bool logistic,
                                const saddle_dataset *data, const saddle_batch *batch,
                                const block *b, double scale, const double *y, double *gx,
                                double *out, bool squares)
{
    double one = !logistic && self->intercept ? 1.0 : 0.0;
    double square = 0.0;
    for (size_t k = 0; k < b->count; k++) {
        size_t row = saddle_batch_sample(batch, b->begin + k);
        double along = inner_slope(logistic, data->label[row]) * y[row] * b->slope[k];
        add_row(self, logistic, data, row, scale * along, gx);
        if (out != NULL)
            out[row] += scale * b->loss[k];
        if (squares)
            square += along * along * (saddle_row_norm2(data, row) + one) + b->loss[k] * b->loss[k];
    }
    return square;
}

/* out[j] += scale l_ij; out may be NULL */
SADDLE_INLINE void add_losses(const saddle_batch *batch, const block *b, double scale, double *out)
{
    for (size_t k = 0; out != NULL && k < b->count; k++)
        out[saddle_batch_sample(batch, b->begin + k)] += scale * b->loss[k];
}

/* Adds the terms w y_j grad l_ij to gx, w l_ij e_j to gy and to the statistic, and w y_j l_ij to
 * the value. */
SADDLE_INLINE void add_batch(const saddle_robust *self, bool logistic, const saddle_dataset *data,
                             double weight, const saddle_part *part, const saddle_batch *batch)
{
    double scale = weight * part->scale;
    double value = 0.0;
    double square = 0.0;
    block b;
    for (b.begin = 0; b.begin < batch->count; b.begin += BLOCK) {
        find_losses(self, logistic, data, batch, part->x, &b);
        if (part->gx != NULL)
            square += add_slopes(self, logistic, data, batch, &b, scale, part->y, part->gx,
                                 part->gy, part->square != NULL);
        else
            add_losses(batch, &b, scale, part->gy);
        add_losses(batch, &b, scale, part->statistic);
        for (size_t k = 0; part->value != NULL && k < b.count; k++)
            value += part->y[saddle_batch_sample(batch, b.begin + k)] * b.loss[k];
    }
    if (part->square != NULL)
        *part->square += weight * scale * square;
    if (part->value != NULL)
        *part->value += scale * value;
}

SADDLE_INLINE void add_point(const saddle_robust *self, bool logistic, const saddle_dataset *data,
                             double weight, const saddle_part *part)
{
    saddle_batch range = {.first = part->batch.first, .count = part->batch.count};
    if (part->batch.index == NULL)
        add_batch(self, logistic, data, weight, part, &range);
    else
        add_batch(self, logistic, data, weight, part, &part->batch);
}

/* Computes the arguments of the loss at both points, interleaved, for rows [begin, begin +
 * count) of a batch. The entries of the two points are interleaved in `pair`. */
SADDLE_INLINE void find_arguments(const saddle_robust *self, bool logistic,
                                  const saddle_dataset *data, const saddle_part *part, size_t begin,
                                  size_t count, const double *pair, double *z)
{
    double v1 = intercept(self, logistic, part->x);
    double v0 = intercept(self, logistic, part->x0);
    for (size_t k = 0; k < count; k++) {
        size_t row = saddle_batch_sample(&part->batch, begin + k);
        couple dot = {0.0, 0.0};
        prefetch_rows(data, &part->batch, begin + k);
        if (data->dense == NULL) {
            dot = row_dot_pair(data, row, pair);
        } else {
            dot[0] = saddle_row_dot(data, row, part->x);
            dot[1] = saddle_row_dot(data, row, part->x0);
        }
        z[2 * k] = argument(logistic, data->label[row], logistic ? dot[0] : dot[0] + v1);
        z[2 * k + 1] = argument(logistic, data->label[row], logistic ? dot[1] : dot[1] + v0);
    }
}

/* gx += along[k] times the rows of a batch from index `begin` on */
SADDLE_INLINE void add_block(const saddle_robust *self, bool logistic, const saddle_dataset *data,
                             const saddle_batch *batch, size_t begin, size_t count,
                             const double *along, double *gx)
{
    for (size_t k = 0; k < count; k++)
        add_row(self, logistic, data, saddle_batch_sample(batch, begin + k), along[k], gx);
}

/* add_point() minus the same at (x0, y0): one call of the vector exponential serves both points. */
SADDLE_INLINE void add_difference(const saddle_robust *self, bool logistic,
                                  const saddle_dataset *data, double weight,
                                  const saddle_part *part, double *pair)
{
    const saddle_batch *batch = &part->batch;
    double z[2 * BLOCK];
    double loss[2 * BLOCK];
    double slope[2 * BLOCK];
    double scale = weight * part->scale;
    const double *y = part->y;
    const double *y0 = part->y0;
    double *gy = part->gy;
    for (size_t k = 0; k < self->problem.x_dim; k++) {
        pair[2 * k] = part->x[k];
        pair[2 * k + 1] = part->x0[k];
    }
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        size_t count = batch->count - begin < BLOCK ? batch->count - begin : BLOCK;
        find_arguments(self, logistic, data, part, begin, count, pair, z);
        find_slopes(self, logistic, 2 * count, z, loss, slope);
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            double inner = scale * inner_slope(logistic, data->label[row]);
            slope[k] = inner * (y[row] * slope[2 * k] - y0[row] * slope[2 * k + 1]);
            gy[row] += scale * (loss[2 * k] - loss[2 * k + 1]);
        }
        if (part->along != NULL)
            memcpy(part->along + begin, slope, count * sizeof *slope);
        else
            add_block(self, logistic, data, batch, begin, count, slope, part->gx);
    }
}

void saddle_robust_add_rows(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                            const double *along, double *gx)
{
    const saddle_robust *self = problem->self;
    if (self->loss == SADDLE_ROBUST_LOGISTIC)
        add_block(self, true, self->shard[agent], batch, 0, batch->count, along, gx);
    else
        add_block(self, false, self->shard[agent], batch, 0, batch->count, along, gx);
}

/* saddle_robust_add_samples(), with entry j of y, gy and the statistic being that of the agent's sample j. */
static void add_part(const saddle_problem *problem, size_t agent, const saddle_part *part,
                     double *scratch)
{
    const saddle_robust *self = problem->self;
    const saddle_dataset *data = self->shard[agent];
    bool logistic = self->loss == SADDLE_ROBUST_LOGISTIC;
    double weight = saddle_sample_weight(problem, agent);
    if (part->x0 != NULL && logistic)
        add_difference(self, true, data, weight, part, scratch);
    else if (part->x0 != NULL)
        add_difference(self, false, data, weight, part, scratch);
    else if (logistic)
        add_point(self, true, data, weight, part);
    else
        add_point(self, false, data, weight, part);
}

void saddle_robust_add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                               double *scratch)
{
    const saddle_robust *self = problem->self;
    if (self->first == NULL) {
        add_part(problem, agent, part, scratch);
        return;
    }
    size_t first = self->first[agent];
    saddle_part own = *part;
    /* They are there where they are read. */
    if (part->x0 != NULL || part->gx != NULL || part->value != NULL)
        own.y = part->y + first;
    if (part->x0 != NULL)
        own.y0 = part->y0 + first;
    if (part->x0 != NULL || part->gy != NULL)
        own.gy = part->gy + first;
    own.statistic = part->statistic != NULL ? part->statistic + first : NULL;
    add_part(problem, agent, &own, scratch);
}

/* F is linear in the losses, so their means over agents are enough. */
double saddle_robust_value(const saddle_problem *problem, const double *x, const double *statistic,
                           const double *y, double *scratch)
{
    (void)scratch;
    const saddle_robust *self = problem->self;
    return saddle_dot(problem->y_dim, y, statistic) - saddle_penalty(problem, y) +
           regularizer(self, x);
}

/* Returns the largest |l'| over X; infinite if it is not bounded. */
static double steepest(const saddle_robust *self, const saddle_set *x_set)
{
    if (self->loss == SADDLE_ROBUST_LOGISTIC)
        return 1.0;
    double residual = self->row_norm * saddle_set_norm_bound(x_set) + self->most_label;
    return self->loss == SADDLE_ROBUST_HUBER ? fmin(self->delta, residual) : residual;
}

/*
 * mu = lambda1 n^2. L bounds the norm of the Hessian of f_ij by that of the 2x2 matrix of the norms
 * of its blocks: with r = max |a_ij|, |y| <= Y, |l'| <= S and |l''| <= C on the sets,
 *   |H_xx| <= w Y C r^2 + 2 lambda2 c,   |H_xy| <= w S r,   |H_yy| = lambda1 n^2.
 */
saddle_status saddle_robust_constants(const saddle_problem *problem, const saddle_set *x_set,
                                      const saddle_set *y_set, saddle_constants *out,
                                      saddle_error *error)
{
    const saddle_robust *self = problem->self;
    double weight = 0.0;
    for (size_t i = 0; i < problem->agents; i++)
        weight = fmax(weight, saddle_sample_weight(problem, i));
    double bend = self->loss == SADDLE_ROBUST_LOGISTIC ? 4.0 : 1.0; /* 1 / C */
    double slope = steepest(self, x_set);
    double lower;
    double upper;
    saddle_set_range(y_set, &lower, &upper);
    double most = fmax(fabs(lower), fabs(upper));
    out->strong_concavity = saddle_penalty_curvature(problem);
    if (isfinite(most) && isfinite(slope)) {
        double xx = weight * most * self->row_norm * self->row_norm / bend +
                    2.0 * self->lambda2 * self->curvature;
        out->lipschitz =
            saddle_block_norm(xx, weight * slope * self->row_norm, out->strong_concavity);
    }
    /* At y = 1/n V is 0, and the other terms are not negative. */
    return saddle_bound_primal(out, 0.0, y_set, 1.0 / (double)problem->y_dim, 1e-12, error);
}

/* Scores ignore y, which weights the samples of the run. */
saddle_status saddle_robust_scores(const saddle_problem *problem, const saddle_dataset *data,
                                   const double *x, const double *y, double *out,
                                   saddle_error *error)
{
    (void)y;
    const saddle_robust *self = problem->self;
    size_t features = problem->x_dim - (self->intercept ? 1 : 0);
    saddle_linear_score model = {.w = x, .bias = intercept(self, false, x)};
    return saddle_score_rows(data, features, model, out, error);
}

bool saddle_robust_linear(const saddle_problem *problem, const double *x, const double *y,
                          double *out)
{
    (void)y;
    const saddle_robust *self = problem->self;
    memcpy(out, x, problem->x_dim * sizeof *out);
    if (!self->intercept)
        out[problem->x_dim] = 0.0;
    return true;
}

bool saddle_robust_device(const saddle_problem *problem, saddle_device_problem *out)
{
    const saddle_robust *self = problem->self;
    double n = (double)problem->y_dim;
    double huber = self->loss == SADDLE_ROBUST_HUBER ? self->delta : (double)INFINITY;
    *out = (saddle_device_problem){.shard = self->shard,
                                   .row_norm2 = saddle_row_norm2,
                                   .intercept = self->intercept,
                                   .huber = self->loss == SADDLE_ROBUST_LOGISTIC ? 0.0 : huber,
                                   .loss_weight = self->weight,
                                   .regularizer = self->lambda2,
                                   .bend = self->curvature,
                                   .penalty_slope = self->lambda1 * n,
                                   .penalty_length = n,
                                   .refused = "--weights-per sample"};
    return self->first == NULL;
}
