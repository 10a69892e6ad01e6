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
#include "problems/row_blocks.h"
#include "problems/unit_rows.h"

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
    bool unit;       /* the data are sparse and every stored value is 1, which need not be read */
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

static double regularizer_slope(const instance *self, double x)
{
    double base = 1.0 + self->curvature * x * x;
    return 2.0 * self->lambda2 * self->curvature * x / (base * base);
}

/* Adds what all samples share: grad g to gx and -grad V = -lambda1 n (n y - 1) to gy. */
static void add_common(const instance *self, const double *x, const double *y, double *gx,
                       double *gy)
{
    double n = (double)self->problem.y_dim;
    double scale = self->lambda1 * n;
    for (size_t k = 0; k < self->problem.x_dim; k++)
        gx[k] += regularizer_slope(self, x[k]);
    for (size_t k = 0; k < self->problem.y_dim; k++)
        gy[k] -= scale * (n * y[k] - 1.0);
}

/* Losses and their slopes of the rows from place `begin` of a batch on; returns their number. Inlined,
 * so that a batch of all rows costs neither an index nor a prefetch. */
SADDLE_INLINE size_t find_losses(const instance *self, const saddle_dataset *data,
                                 const saddle_batch *batch, size_t begin, const double *x,
                                 double *loss, double *slope)
{
    double z[BLOCK];
    size_t rest = batch->count - begin;
    size_t count = rest < BLOCK ? rest : BLOCK;
    for (size_t k = 0; k < count; k++) {
        size_t row = saddle_batch_sample(batch, begin + k);
        saddle_prefetch_rows(self->unit, data, batch, begin + k);
        z[k] = -data->label[row] * saddle_unit_row_dot(self->unit, data, row, x);
    }
    saddle_logistic(count, z, loss, slope);
    return count;
}

/*
 * The sample part of the mean gradient: overwrites gx, gy with means over the batch of
 * w y_j grad l_ij and w l_ij e_j. Returns the mean of their squared norms if `squares` is set.
 */
static double sample_gradient(const instance *self, size_t agent, const saddle_batch *batch,
                              const double *x, const double *y, double *gx, double *gy,
                              bool squares)
{
    const saddle_dataset *data = self->shard[agent];
    double scale = self->weight / (double)batch->count;
    double square = 0.0;
    double loss[BLOCK];
    double slope[BLOCK];
    memset(gx, 0, self->problem.x_dim * sizeof *gx);
    memset(gy, 0, self->problem.y_dim * sizeof *gy);
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        size_t count = find_losses(self, data, batch, begin, x, loss, slope);
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            double along = -data->label[row] * y[row] * slope[k];
            saddle_unit_row_add(self->unit, data, row, scale * along, gx);
            gy[row] += scale * loss[k];
            if (squares)
                square += along * along * saddle_row_norm2(data, row) + loss[k] * loss[k];
        }
    }
    return self->weight * scale * square;
}

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    (void)scratch;
    sample_gradient(problem->self, agent, batch, x, y, gx, gy, false);
    add_common(problem->self, x, y, gx, gy);
}

/* g and V, which all samples share, have no variance; leaving them out avoids their cancellation. */
static double gradient_variance(const saddle_problem *problem, size_t agent,
                                const saddle_batch *batch, const double *x, const double *y,
                                double *gx, double *gy, double *scratch)
{
    (void)scratch;
    double square = sample_gradient(problem->self, agent, batch, x, y, gx, gy, true);
    double variance = saddle_sample_variance(problem, batch->count, square, gx, gy);
    add_common(problem->self, x, y, gx, gy);
    return variance;
}

/* Both points' arguments of the loss side by side, for rows [begin, begin + count) of a batch. The
 * points lie entry by entry side by side in `pair`. */
static void find_margins(const instance *self, const saddle_dataset *data,
                         const saddle_batch *batch, size_t begin, size_t count, const double *x1,
                         const double *x0, const double *pair, double *z)
{
    for (size_t k = 0; k < count; k++) {
        size_t row = saddle_batch_sample(batch, begin + k);
        saddle_couple dot = {0.0, 0.0};
        saddle_prefetch_rows(self->unit, data, batch, begin + k);
        if (data->dense == NULL) {
            dot = saddle_unit_row_dot2(self->unit, data, row, pair);
        } else {
            dot[0] = saddle_row_dot(data, row, x1);
            dot[1] = saddle_row_dot(data, row, x0);
        }
        dot = -data->label[row] * dot;
        memcpy(z + 2 * k, &dot, sizeof dot);
    }
}

static void difference(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                       const double *x1, const double *y1, const double *x0, const double *y0,
                       double *dx, double *dy, double *scratch)
{
    const instance *self = problem->self;
    const saddle_dataset *data = self->shard[agent];
    /* One call of the vector exponential serves both points. */
    double z[2 * BLOCK];
    double loss[2 * BLOCK];
    double slope[2 * BLOCK];
    double *pair = scratch;
    double scale = self->weight / (double)batch->count;
    for (size_t k = 0; k < problem->x_dim; k++) {
        dx[k] = regularizer_slope(self, x1[k]) - regularizer_slope(self, x0[k]);
        pair[2 * k] = x1[k];
        pair[2 * k + 1] = x0[k];
    }
    for (size_t k = 0; k < batch->count; k++)
        dy[saddle_batch_sample(batch, k)] = 0.0;
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        size_t count = batch->count - begin < BLOCK ? batch->count - begin : BLOCK;
        find_margins(self, data, batch, begin, count, x1, x0, pair, z);
        saddle_logistic(2 * count, z, loss, slope);
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            double along = y1[row] * slope[2 * k] - y0[row] * slope[2 * k + 1];
            saddle_unit_row_add(self->unit, data, row, -scale * data->label[row] * along, dx);
            dy[row] += scale * (loss[2 * k] - loss[2 * k + 1]);
        }
    }
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

/*
 * statistic[j] = w l_ij(x) / n_i, 0 in slots that the agent lacks. If gx is not NULL, also
 * gx += sum_j w y_j grad l_ij / n_i.
 */
static void survey_samples(const instance *self, size_t agent, const double *x, const double *y,
                           double *gx, double *statistic)
{
    const saddle_dataset *data = self->shard[agent];
    saddle_batch all = {.index = NULL, .count = data->rows};
    double scale = self->weight / (double)data->rows;
    double slope[BLOCK];
    for (size_t begin = 0; begin < data->rows; begin += BLOCK) {
        double *loss = statistic + begin;
        size_t count = find_losses(self, data, &all, begin, x, loss, slope);
        for (size_t k = 0; gx != NULL && k < count; k++)
            saddle_unit_row_add(self->unit, data, begin + k,
                                scale * (-data->label[begin + k] * y[begin + k] * slope[k]), gx);
        for (size_t k = 0; k < count; k++)
            loss[k] *= scale;
    }
    for (size_t k = data->rows; k < self->problem.y_dim; k++)
        statistic[k] = 0.0;
}

static void response_statistic(const saddle_problem *problem, size_t agent, const double *x,
                               double *statistic, double *scratch)
{
    (void)scratch;
    survey_samples(problem->self, agent, x, NULL, NULL, statistic);
}

static void survey(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                   double *gx, double *statistic, double *scratch)
{
    (void)scratch;
    const instance *self = problem->self;
    for (size_t k = 0; k < problem->x_dim; k++)
        gx[k] = regularizer_slope(self, x[k]);
    survey_samples(self, agent, x, y, gx, statistic);
}

/* F is linear in the losses, so their means over agents are enough. */
static double response_value(const saddle_problem *problem, const double *x,
                             const double *statistic, const double *y, double *scratch)
{
    (void)scratch;
    const instance *self = problem->self;
    return saddle_dot(problem->y_dim, y, statistic) - dual_term(self, y) + regularizer(self, x);
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    (void)scratch;
    const instance *self = problem->self;
    const saddle_dataset *data = self->shard[agent];
    saddle_batch all = {.index = NULL, .count = data->rows};
    double loss[BLOCK];
    double slope[BLOCK];
    double sum = 0.0;
    for (size_t begin = 0; begin < data->rows; begin += BLOCK) {
        size_t count = find_losses(self, data, &all, begin, x, loss, slope);
        for (size_t k = 0; k < count; k++)
            sum += y[begin + k] * loss[k];
    }
    return self->weight * sum / (double)data->rows - dual_term(self, y) + regularizer(self, x);
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
    self->unit = true;
    for (size_t k = 0; self->unit && k < inputs->world->local; k++)
        self->unit = saddle_has_unit_values(inputs->shard[inputs->world->here[k]]);
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
               .gradient = gradient,
               .value = value,
               .difference = difference,
               .gradient_variance = gradient_variance,
               .response_solve = response_solve,
               .response_statistic = response_statistic,
               .survey = survey,
               .response_value = response_value,
               .constants = constants,
               .scores = scores},
};
