/*
 * A classifier whose decisions are to be independent of a sensitive attribute, by penalizing their
 * Renyi correlation (Baharlouei, Nouiehed, Beirami, Razaviyayn, "Renyi Fair Inference", ICLR 2020).
 *
 *   f_ij(x, y) = -log p_b(t) + W sum_c (s y_c - y_c^2) p_c(t) - (R/2) |y|^2
 *
 * Classes c are - and + ; the model is a softmax over two linear scores with biases,
 *   x = (w_-, v_-, w_+, v_+),   t = (w_+ - w_-)'a + v_+ - v_-,   p_+ = 1 / (1 + exp(-t)) = 1 - p_-,
 * b is the label, s = 2 S - 1 = +1 or -1 the sensitive attribute, W the weight of fairness and R a
 * ridge that is 0 unless W is. Features that give S away take no part: their weights stay as they
 * are.
 *
 * Given x the maximum over y is separable: with the network means P_c of p_c and G_c of s p_c,
 *   y_c* = W G_c / (2 W P_c + R), within [-1/2, 1/2], and for R = 0 the penalty it leaves is
 *   (W/4) sum_c G_c^2 / P_c  >=  (W/4) (mean s)^2,
 * with equality exactly when E[s | decision c] is the same for both c: the penalty's excess is W/4
 * times the chi-square dependence between decision and attribute.
 *
 * Cost of a gradient: two passes over the rows of the batch, two over x.
 */
#include "problems/problems.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/batch.h"
#include "core/elementary.h"
#include "core/index_list.h"
#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"
#include "data/rows.h"
#include "problems/bounds.h"

#define GROUP "Problem fair"

typedef struct choices {
    double fairness;
    double ridge;         /* NaN: automatic */
    uint64_t sensitive;   /* from 1 */
    const char *excluded; /* NULL: automatic */
} choices;

static const saddle_option fairness = SADDLE_REAL(
    SADDLE_OWN(choices, fairness, INSTANCE), "fairness", GROUP, "8", 0.0, SADDLE_UNBOUNDED, "W",
    "Weight of the dependence between decision and sensitive attribute; 0: none.");

static const saddle_option ridge = SADDLE_REAL(
    SADDLE_OWN(choices, ridge, INSTANCE), "fairness-ridge", GROUP, "auto", 0.0, SADDLE_UNBOUNDED,
    "R", "Weight of -(R/2) |y|^2, for strong concavity in y. auto: 0, or 1e-3 when W is 0.");

static const saddle_option sensitive = SADDLE_INTEGER(
    SADDLE_OWN(choices, sensitive, INSTANCE), "sensitive", GROUP, "73", 1.0, UINT32_MAX, "FEATURE",
    "The feature, counted from 1, that holds the sensitive attribute, as 0 or 1. In a9a 73 is 1 "
    "for men.");

static const saddle_option excluded = SADDLE_TEXT(
    SADDLE_OWN(choices, excluded, INSTANCE), "exclude-features", GROUP, "auto", "LIST",
    "Features, counted from 1, that the model may not use, such as 72,73; or none. auto: the "
    "sensitive one and every feature that is its exact opposite in all rows.");

static const saddle_option *const options[] = {&fairness, &ridge, &sensitive, &excluded, NULL};

/* Rows handled between two calls of the vector exponential. */
#define BLOCK 256
/* The ridge that keeps y unique when there is no fairness term. */
#define LONE_RIDGE 1e-3
/* A bound of mu below this share of W says nothing; mu is then left to be estimated. */
#define TELLING 1e-3
/* Largest |sigma''|, at t = log(2 +- sqrt 3): 1 / (6 sqrt 3). */
#define SIGMA_BEND 0.09622504486493764

enum { NEGATIVE, POSITIVE };
/* Number of classes. */
#define CLASSES ((size_t)2)

typedef struct instance {
    saddle_problem problem;       /* first: the two addresses are one */
    saddle_dataset *const *shard; /* borrowed */
    double *all_signs;            /* s of every row of the agents here */
    double **sign;                /* where each agent's begin; NULL: elsewhere */
    bool *hidden;                 /* per feature: not for the model */
    size_t features;
    size_t column;   /* the sensitive feature, from 0 */
    double weight;   /* W */
    double ridge;    /* R */
    double steepest; /* largest |grad_x t|^2 = 2 (|a|^2 + 1) */
    int64_t *denied; /* per feature, while opposites are looked for */
    char *excluded;  /* the hidden features as a list, where it was automatic */
} instance;

/* The model as one linear score: t = u'a + bias. */
typedef struct score {
    double *u; /* features entries, 0 where hidden */
    double bias;
} score;

static const instance *self_of(const saddle_problem *problem)
{
    return problem->self;
}

static score make_score(const instance *self, const double *x, double *u)
{
    size_t d = self->features;
    const double *other = x + d + 1;
    for (size_t k = 0; k < d; k++)
        u[k] = self->hidden[k] ? 0.0 : other[k] - x[k];
    return (score){.u = u, .bias = other[d] - x[d]};
}

static double score_of(const score *model, const saddle_dataset *data, size_t row)
{
    return saddle_row_dot(data, row, model->u) + model->bias;
}

/* Slope in t of one sample's function, given p = p_+(t). */
static double slope_in_t(const instance *self, double label, double s, const double *y, double p)
{
    double lift = (s - y[POSITIVE]) * y[POSITIVE] - (s - y[NEGATIVE]) * y[NEGATIVE];
    return p - (label > 0.0 ? 1.0 : 0.0) + self->weight * lift * p * (1.0 - p);
}

/* |a|^2 over the features that the model sees. */
static double visible_norm2(const instance *self, const saddle_dataset *data, size_t row)
{
    double sum = 0.0;
    if (data->dense != NULL) {
        const double *a = data->dense + row * data->features;
        for (size_t k = 0; k < data->features; k++)
            sum += self->hidden[k] ? 0.0 : a[k] * a[k];
        return sum;
    }
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        sum += self->hidden[data->column[k]] ? 0.0 : data->value[k] * data->value[k];
    return sum;
}

/* gx from the mean along u, which it holds in its second half: the two classes' are opposite. */
static void mirror_gradient(const instance *self, double *gx)
{
    size_t d = self->features;
    double *along = gx + d + 1;
    for (size_t k = 0; k < d; k++)
        if (self->hidden[k])
            along[k] = 0.0;
    for (size_t k = 0; k <= d; k++)
        gx[k] = -along[k];
}

/*
 * The mean gradient over a batch but for the ridge. Returns the mean of the squared norms of the
 * samples' gradients if `squares` is set.
 */
static double sample_gradient(const instance *self, size_t agent, const saddle_batch *batch,
                              const double *x, const double *y, double *gx, double *gy,
                              double *scratch, bool squares)
{
    const saddle_dataset *data = self->shard[agent];
    const double *sign = self->sign[agent];
    size_t d = self->features;
    double *t = scratch;
    double *p = scratch + BLOCK;
    double *along = gx + d + 1;
    score model = make_score(self, x, scratch + 2 * (size_t)BLOCK);
    double share = 1.0 / (double)batch->count;
    double square = 0.0;
    memset(gx, 0, self->problem.x_dim * sizeof *gx);
    memset(gy, 0, CLASSES * sizeof *gy);
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        size_t count = batch->count - begin < BLOCK ? batch->count - begin : BLOCK;
        for (size_t k = 0; k < count; k++)
            t[k] = score_of(&model, data, saddle_batch_sample(batch, begin + k));
        saddle_logistic(count, t, NULL, p);
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            double slope = slope_in_t(self, data->label[row], sign[row], y, p[k]);
            double low = self->weight * (sign[row] - 2.0 * y[NEGATIVE]) * (1.0 - p[k]);
            double high = self->weight * (sign[row] - 2.0 * y[POSITIVE]) * p[k];
            saddle_row_add(data, row, share * slope, along);
            along[d] += share * slope;
            gy[NEGATIVE] += share * low;
            gy[POSITIVE] += share * high;
            if (squares)
                square += 2.0 * slope * slope * (visible_norm2(self, data, row) + 1.0) + low * low +
                          high * high;
        }
    }
    mirror_gradient(self, gx);
    return share * square;
}

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const instance *self = self_of(problem);
    sample_gradient(self, agent, batch, x, y, gx, gy, scratch, false);
    saddle_axpy(CLASSES, -self->ridge, y, gy);
}

/* The ridge is the same for all samples: the variance does not see it. */
static double gradient_variance(const saddle_problem *problem, size_t agent,
                                const saddle_batch *batch, const double *x, const double *y,
                                double *gx, double *gy, double *scratch)
{
    const instance *self = self_of(problem);
    double square = sample_gradient(self, agent, batch, x, y, gx, gy, scratch, true);
    double mean = saddle_norm2(problem->x_dim, gx) + saddle_norm2(CLASSES, gy);
    saddle_axpy(CLASSES, -self->ridge, y, gy);
    if (batch->count < 2)
        return 0.0;
    double count = (double)batch->count;
    double variance = (square - mean) * (count / (count - 1.0));
    return variance < 0.0 ? 0.0 : variance;
}

static void difference(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                       const double *x1, const double *y1, const double *x0, const double *y0,
                       double *dx, double *dy, double *scratch)
{
    const instance *self = self_of(problem);
    const saddle_dataset *data = self->shard[agent];
    size_t d = self->features;
    /* Both points' scores side by side: one call of the vector exponential serves the two. */
    double *t = scratch;
    double *p = scratch + 2 * (size_t)BLOCK;
    double *along = dx + d + 1;
    score model1 = make_score(self, x1, scratch + 4 * (size_t)BLOCK);
    score model0 = make_score(self, x0, model1.u + d);
    double share = 1.0 / (double)batch->count;
    memset(dx, 0, problem->x_dim * sizeof *dx);
    for (size_t c = 0; c < CLASSES; c++)
        dy[c] = -self->ridge * (y1[c] - y0[c]);
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        size_t count = batch->count - begin < BLOCK ? batch->count - begin : BLOCK;
        for (size_t k = 0; k < count; k++) {
            saddle_row_dot2(data, saddle_batch_sample(batch, begin + k), model1.u, model0.u,
                            &t[2 * k], &t[2 * k + 1]);
            t[2 * k] += model1.bias;
            t[2 * k + 1] += model0.bias;
        }
        saddle_logistic(2 * count, t, NULL, p);
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            double label = data->label[row];
            double s = self->sign[agent][row];
            double p1 = p[2 * k];
            double p0 = p[2 * k + 1];
            double slope = slope_in_t(self, label, s, y1, p1) - slope_in_t(self, label, s, y0, p0);
            saddle_row_add(data, row, share * slope, along);
            along[d] += share * slope;
            dy[NEGATIVE] +=
                share * self->weight *
                ((s - 2.0 * y1[NEGATIVE]) * (1.0 - p1) - (s - 2.0 * y0[NEGATIVE]) * (1.0 - p0));
            dy[POSITIVE] += share * self->weight *
                            ((s - 2.0 * y1[POSITIVE]) * p1 - (s - 2.0 * y0[POSITIVE]) * p0);
        }
    }
    mirror_gradient(self, dx);
}

/* ---- values and the best response ------------------------------------------------------------ */

/* Means over an agent's rows. */
typedef struct means {
    double loss;           /* of -log p_b */
    double share[CLASSES]; /* of p_c */
    double tilt[CLASSES];  /* of s p_c */
} means;

static means agent_means(const instance *self, size_t agent, const double *x, double *scratch)
{
    const saddle_dataset *data = self->shard[agent];
    double *z = scratch; /* score of the wrong class over that of the right one */
    double *loss = scratch + BLOCK;
    double *wrong = scratch + 2 * (size_t)BLOCK;
    score model = make_score(self, x, scratch + 3 * (size_t)BLOCK);
    means out = {.loss = 0.0};
    for (size_t begin = 0; begin < data->rows; begin += BLOCK) {
        size_t count = data->rows - begin < BLOCK ? data->rows - begin : BLOCK;
        for (size_t k = 0; k < count; k++)
            z[k] = -data->label[begin + k] * score_of(&model, data, begin + k);
        saddle_logistic(count, z, loss, wrong);
        for (size_t k = 0; k < count; k++) {
            double s = self->sign[agent][begin + k];
            double p = data->label[begin + k] > 0.0 ? 1.0 - wrong[k] : wrong[k];
            out.loss += loss[k];
            out.share[NEGATIVE] += 1.0 - p;
            out.share[POSITIVE] += p;
            out.tilt[NEGATIVE] += s * (1.0 - p);
            out.tilt[POSITIVE] += s * p;
        }
    }
    double rows = (double)data->rows;
    out.loss /= rows;
    for (size_t c = 0; c < CLASSES; c++) {
        out.share[c] /= rows;
        out.tilt[c] /= rows;
    }
    return out;
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    const instance *self = self_of(problem);
    means m = agent_means(self, agent, x, scratch);
    double sum = m.loss;
    for (size_t c = 0; c < CLASSES; c++)
        sum +=
            self->weight * y[c] * (m.tilt[c] - y[c] * m.share[c]) - 0.5 * self->ridge * y[c] * y[c];
    return sum;
}

static void response_statistic(const saddle_problem *problem, size_t agent, const double *x,
                               double *statistic, double *scratch)
{
    means m = agent_means(self_of(problem), agent, x, scratch);
    memcpy(statistic, m.share, sizeof m.share);
    memcpy(statistic + CLASSES, m.tilt, sizeof m.tilt);
}

/* The two coordinates bend differently, so that clipping is right over boxes only; elsewhere the
 * maximizer over the plane will do if it is feasible. */
static int response_solve(const saddle_problem *problem, const double *x, const double *statistic,
                          const saddle_set *y_set, double *y, double *scratch)
{
    (void)x;
    const instance *self = self_of(problem);
    for (size_t c = 0; c < CLASSES; c++) {
        double bend = 2.0 * self->weight * statistic[c] + self->ridge;
        y[c] = bend > 0.0 ? self->weight * statistic[CLASSES + c] / bend : 0.0;
    }
    double lower;
    double upper;
    if (!saddle_set_uniform_bounds(y_set, &lower, &upper))
        return saddle_set_distance(y_set, y, scratch) <= 0.0 ? 0 : 1;
    saddle_set_project(y_set, y, scratch);
    return 0;
}

/* ---- constants ------------------------------------------------------------------------------- */

/*
 * With |t| <= T over X, every p_c is at least e = 1 / (1 + exp(T)), so that mu = 2 W e + R. Over
 * linear models of any use T is so large that this says nothing; see TELLING.
 *
 * With g = |grad_x t|, |y_c| <= Y and |s| = 1, the blocks of the Hessian of f_ij have norms
 *   |H_xx| <= g^2 (1/4 + W P max|sigma''|),  P = largest (s y_+ - y_+^2) - (s y_- - y_-^2)
 *   |H_xy| <= g W sqrt(2) (1 + 2 Y) / 4,      |H_yy| <= 2 W + R,
 * and P <= (Y + 1/2)^2 because s y - y^2 lies between -Y - Y^2 and 1/4.
 */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    (void)error;
    const instance *self = self_of(problem);
    double farthest = sqrt(self->steepest) * saddle_set_norm_bound(x_set);
    double least = isfinite(farthest) ? saddle_exp(-saddle_softplus(farthest)) : 0.0;
    double concavity = 2.0 * self->weight * least + self->ridge;
    if (concavity >= TELLING * self->weight)
        out->strong_concavity = concavity;
    double lower;
    double upper;
    saddle_set_range(y_set, &lower, &upper);
    double most = fmax(fabs(lower), fabs(upper));
    if (isfinite(most)) {
        double lift = (most + 0.5) * (most + 0.5);
        out->lipschitz =
            saddle_block_norm(self->steepest * (0.25 + self->weight * lift * SIGMA_BEND),
                              sqrt(2.0 * self->steepest) * self->weight * (1.0 + 2.0 * most) / 4.0,
                              2.0 * self->weight + self->ridge);
    }
    /* At y = 0, if Y holds it, the losses alone are left. */
    double origin[CLASSES] = {0.0};
    double scratch[4 * CLASSES];
    if (saddle_set_scratch(y_set) <= sizeof scratch / sizeof *scratch &&
        saddle_set_distance(y_set, origin, scratch) <= 0.0) {
        out->primal_bound = 0.0;
        out->has_primal_bound = 1;
    }
    return SADDLE_OK;
}

/* ---- what it is worth ------------------------------------------------------------------------ */

static double entry(const saddle_dataset *data, size_t row, size_t column)
{
    if (data->dense != NULL)
        return data->dense[row * data->features + column];
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        if (data->column[k] == column)
            return data->value[k];
    return 0.0;
}

/* Counts over rows; groups are told apart by attribute (0 or 1) and label (0: -1, 1: +1). */
typedef struct tally {
    double loss;
    double correct;
    double rows;
    double group[2][2];    /* rows of the group */
    double positive[2][2]; /* those predicted positive */
    double strange;        /* rows whose attribute was neither 0 nor 1 */
} tally;
enum { TALLY = sizeof(tally) / sizeof(double) };

/* A model to be tried on agents' rows. */
typedef struct trial {
    const instance *self;
    score model;
} trial;

static void count_rows(const instance *self, const score *model, const saddle_dataset *data,
                       tally *counts)
{
    for (size_t row = 0; row < data->rows; row++) {
        double t = score_of(model, data, row);
        double attribute = entry(data, row, self->column);
        size_t a = attribute == 1.0 ? 1 : 0;
        size_t b = data->label[row] > 0.0 ? 1 : 0;
        bool positive = t > 0.0;
        counts->loss += saddle_softplus(-data->label[row] * t);
        counts->rows += 1.0;
        counts->correct += positive == (b == 1) ? 1.0 : 0.0;
        counts->group[a][b] += 1.0;
        counts->positive[a][b] += positive ? 1.0 : 0.0;
        counts->strange += attribute != 0.0 && attribute != 1.0 ? 1.0 : 0.0;
    }
}

static void agent_tally(void *context, size_t agent, double *out)
{
    const trial *t = context;
    tally counts = {.loss = 0.0};
    count_rows(t->self, &t->model, t->self->shard[agent], &counts);
    memcpy(out, &counts, sizeof counts);
}

/* |P(positive | S = 1) - P(positive | S = 0)|; 0/0 of an empty group makes it NaN. */
static double parity_gap(const tally *counts)
{
    double rate[2];
    for (size_t a = 0; a < 2; a++)
        rate[a] = (counts->positive[a][0] + counts->positive[a][1]) /
                  (counts->group[a][0] + counts->group[a][1]);
    return counts->strange > 0.0 ? NAN : fabs(rate[1] - rate[0]);
}

/* The larger over labels b of |P(positive | S = 1, b) - P(positive | S = 0, b)|. */
static double odds_gap(const tally *counts)
{
    double gap[2];
    for (size_t b = 0; b < 2; b++)
        gap[b] = fabs(counts->positive[1][b] / counts->group[1][b] -
                      counts->positive[0][b] / counts->group[0][b]);
    if (counts->strange > 0.0 || isnan(gap[0]) || isnan(gap[1]))
        return NAN;
    return fmax(gap[0], gap[1]);
}

static saddle_status outcomes(const saddle_problem *problem, const saddle_dataset *held_out,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    (void)y;
    const instance *self = self_of(problem);
    *count = 0;
    if (held_out != NULL && held_out->features != self->features)
        return SADDLE_OK;
    tally counts = {.loss = 0.0};
    double sum[TALLY];
    double *u = saddle_alloc_doubles(self->features);
    saddle_status status = u != NULL ? SADDLE_OK : saddle_no_memory(error, "the outcomes");
    if (held_out == NULL)
        status = saddle_world_agree(problem->world, status, error);
    if (u != NULL && status == SADDLE_OK) {
        trial t = {.self = self, .model = make_score(self, x, u)};
        if (held_out != NULL)
            count_rows(self, &t.model, held_out, &counts);
        else
            status = saddle_world_sum(problem->world, TALLY, agent_tally, &t, sum, error);
    }
    saddle_free(u);
    if (status != SADDLE_OK)
        return status;
    if (held_out == NULL)
        memcpy(&counts, sum, sizeof counts);
    out[0] = (saddle_outcome){"loss", counts.loss / counts.rows};
    out[1] = (saddle_outcome){"accuracy", counts.correct / counts.rows};
    out[2] = (saddle_outcome){"demographic_parity_gap", parity_gap(&counts)};
    out[3] = (saddle_outcome){"equalized_odds_gap", odds_gap(&counts)};
    *count = 4;
    return SADDLE_OK;
}

/* The score is t, the logarithm of the odds of +1. */
static saddle_status scores(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error)
{
    (void)y;
    const instance *self = self_of(problem);
    saddle_status status = saddle_rows_check(data, self->features, error);
    if (status != SADDLE_OK)
        return status;
    double *u = saddle_alloc_doubles(self->features);
    if (u == NULL)
        return saddle_no_memory(error, "the model");
    score model = make_score(self, x, u);
    for (size_t row = 0; row < data->rows; row++)
        out[row] = score_of(&model, data, row);
    saddle_free(u);
    return SADDLE_OK;
}

/* ---- making one ------------------------------------------------------------------------------ */

/* The features hidden from the model as a list, "none" for none; NULL when memory is short. Its cost
 * is quadratic in their number, which is that of the values of one attribute. */
static char *hidden_list(const instance *self)
{
    char *list = saddle_strdup("none");
    for (size_t column = 0; list != NULL && column < self->features; column++)
        if (self->hidden[column]) {
            bool first = strcmp(list, "none") == 0;
            char *longer =
                saddle_format("%s%s%zu", first ? "" : list, first ? "" : ",", column + 1);
            saddle_free(list);
            list = longer;
        }
    return list;
}

static void destroy(saddle_problem *problem)
{
    instance *self = problem->self;
    saddle_free(self->all_signs);
    saddle_free(self->sign);
    saddle_free(self->hidden);
    saddle_free(self->excluded);
    saddle_free(self->denied);
    saddle_free(self);
}

/* s = 2 S - 1 of every row that is here. */
static saddle_status read_attribute(instance *self, saddle_error *error)
{
    const saddle_world *world = self->problem.world;
    double *next = self->all_signs;
    for (size_t k = 0; k < world->local; k++) {
        size_t i = world->here[k];
        const saddle_dataset *data = self->shard[i];
        self->sign[i] = next;
        for (size_t row = 0; row < data->rows; row++) {
            double attribute = entry(data, row, self->column);
            if (attribute != 0.0 && attribute != 1.0)
                return saddle_fail(error, SADDLE_BAD_INPUT,
                                   "sensitive: feature %zu is %g in a row of agent %zu; a "
                                   "sensitive attribute must be 0 or 1",
                                   self->column + 1, attribute, i);
            *next++ = 2.0 * attribute - 1.0;
        }
    }
    return SADDLE_OK;
}

/* Whether a feature is 1 - S in every row that is here. */
static bool is_opposite(const instance *self, size_t column)
{
    const saddle_world *world = self->problem.world;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = self->shard[world->here[k]];
        const double *sign = self->sign[world->here[k]];
        for (size_t row = 0; row < data->rows; row++)
            if (1.0 - 2.0 * entry(data, row, column) != sign[row])
                return false;
    }
    return true;
}

/* Hide what is 1 - S in every row: one bit per feature for the network to agree on. Collective. */
static void hide_opposites(instance *self)
{
    const saddle_world *world = self->problem.world;
    for (size_t column = 0; column < self->features; column++)
        self->denied[column] = is_opposite(self, column) ? 0 : 1;
    world->add_words(world, self->features, self->denied);
    for (size_t column = 0; column < self->features; column++)
        self->hidden[column] = self->hidden[column] || self->denied[column] == 0;
}

/* Hide the features of a list; NULL: the sensitive one, and later its opposites. */
static saddle_status hide_features(instance *self, const char *text, saddle_error *error)
{
    if (text == NULL)
        self->hidden[self->column] = true;
    else if (strcmp(text, "none") != 0 && !saddle_mark_list(text, 1, self->features, self->hidden))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "exclude-features: '%s' is not a list of features; give auto, none, or "
                           "different features from 1 to %zu separated by commas",
                           text, self->features);
    return SADDLE_OK;
}

static bool allocate(instance *self)
{
    const saddle_world *world = self->problem.world;
    size_t rows = 0;
    for (size_t k = 0; k < world->local; k++)
        rows += self->shard[world->here[k]]->rows;
    self->sign = saddle_alloc(self->problem.agents, sizeof *self->sign);
    self->all_signs = saddle_alloc_doubles(rows);
    self->hidden = saddle_alloc(self->features, sizeof *self->hidden);
    self->denied = saddle_alloc(self->features, sizeof *self->denied);
    return self->sign != NULL && self->all_signs != NULL && self->hidden != NULL &&
           self->denied != NULL;
}

/* Collective. */
static void measure_rows(instance *self)
{
    const saddle_world *world = self->problem.world;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = self->shard[world->here[k]];
        for (size_t row = 0; row < data->rows; row++)
            self->steepest = fmax(self->steepest, 2.0 * (visible_norm2(self, data, row) + 1.0));
    }
    world->largest(world, 1, &self->steepest);
}

static void describe(instance *self, const saddle_problem_inputs *inputs)
{
    size_t features = inputs->features;
    self->shard = inputs->shard;
    self->features = features;
    self->problem = (saddle_problem){
        .name = "fair",
        .self = self,
        .x_dim = CLASSES * (features + 1),
        .y_dim = CLASSES,
        .agents = inputs->agents,
        .samples = inputs->samples,
        .world = inputs->world,
        .scratch = 4 * (size_t)BLOCK + 2 * features,
        .x_set = "l2-ball:10",
        /* Holds every best response, since |G_c| <= P_c. */
        .y_set = "box:-0.5:0.5",
        .gradient = gradient,
        .value = value,
        .difference = difference,
        .gradient_variance = gradient_variance,
        .response_solve = response_solve,
        .response_size = 2 * CLASSES,
        .response_statistic = response_statistic,
        .constants = constants,
        .outcomes = outcomes,
        .scores = scores,
        .destroy = destroy,
    };
}

/* Everything that a process finds out alone, and that an option or the data may make fail. */
static saddle_status fill(instance *self, choices *chosen, saddle_error *error)
{
    if (chosen->sensitive > self->features)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "sensitive: there is no feature %llu, the data have %zu; say which "
                           "one holds the sensitive attribute",
                           (unsigned long long)chosen->sensitive, self->features);
    if (isnan(chosen->ridge))
        chosen->ridge = chosen->fairness > 0.0 ? 0.0 : LONE_RIDGE;
    self->column = (size_t)chosen->sensitive - 1;
    self->weight = chosen->fairness;
    self->ridge = chosen->ridge;
    if (!(self->weight + self->ridge > 0.0))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "fairness-ridge: 0 leaves nothing that is concave in y when fairness is "
                           "0; give a positive one or auto");
    if (!allocate(self))
        return saddle_no_memory(error, "the problem");
    saddle_status status = read_attribute(self, error);
    return status == SADDLE_OK ? hide_features(self, chosen->excluded, error) : status;
}

static saddle_status create(saddle_problem **out, const saddle_problem_inputs *inputs,
                            saddle_error *error)
{
    *out = NULL;
    instance *self = saddle_alloc(1, sizeof *self);
    if (self == NULL)
        return saddle_no_memory(error, "the problem");
    describe(self, inputs);
    saddle_status status = fill(self, inputs->options, error);
    if (status != SADDLE_OK) {
        destroy(&self->problem);
        return status;
    }
    *out = &self->problem;
    return SADDLE_OK;
}

/* What agents find out together: which features show the attribute, and the longest row. */
static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    instance *self = problem->self;
    choices *chosen = inputs->options;
    bool automatic = chosen->excluded == NULL;
    if (automatic)
        hide_opposites(self);
    measure_rows(self);
    /* With nu = 0.1 a gradient step of 2 / L, L = steepest / 4 that of the cross entropy: a sample's
     * curvature is far above the mean's. Trying on a9a, half of it still converges for W up to 32. */
    problem->tau = self->steepest / 80.0;
    problem->alpha = 1.0 / (2.0 * self->weight + self->ridge);
    if (!automatic)
        return SADDLE_OK;
    self->excluded = hidden_list(self);
    chosen->excluded = self->excluded;
    return self->excluded != NULL ? SADDLE_OK : saddle_no_memory(error, "the problem");
}

const saddle_problem_class saddle_fair = {
    .name = "fair",
    .summary = "a classifier whose decisions do not depend on a sensitive attribute",
    .needs_data = 1,
    .options = options,
    .option_bytes = sizeof(choices),
    .create = create,
    .join = join,
};
