/*
 * A classifier whose decisions should be independent of a sensitive attribute: their Renyi
 * correlation is penalized (Baharlouei et al., "Renyi Fair Inference", ICLR 2020).
 *
 *   f_ij(x, y) = -log p_b(t) + W sum_c (s y_c - y_c^2) p_c(t) - (R/2) |y|^2
 *
 * The classes c are - and + ; p_+ = 1 / (1 + exp(-t)) = 1 - p_-, where t comes from a softmax over
 * two linear scores or from a network (blind_model.h); b is the label, s = 2 S - 1 = +1 or -1 the
 * attribute, W the weight of fairness and R a ridge. The model ignores features that reveal S.
 *
 * For given x the maximum over y is separable: with the network means P_c of p_c and G_c of s p_c,
 *   y_c* = W G_c / (2 W P_c + R), within [-1/2, 1/2], and for R = 0 the resulting penalty is
 *   (W/4) sum_c G_c^2 / P_c  >=  (W/4) (mean s)^2,
 * with equality exactly if E[s | decision c] is the same for both c: the excess is W/4 times the
 * chi-square dependence between decision and attribute.
 *
 * Cost of a gradient: two passes over the rows of the batch, two over x.
 */
#include "problems/problems.h"

#include "core/elementary.h"
#include "core/vector.h"
#include "problems/blind_model.h"
#include "problems/row_blocks.h"
#include "problems/scored.h"
#include "problems/sensitive.h"

#define GROUP "Problem fair"
#define OWN(field) SADDLE_OWN(choices, field, INSTANCE)

typedef struct choices {
    saddle_model_choice model; /* first: its options fill it in at offset 0 */
    double fairness;
    double ridge;          /* NaN: automatic */
    const char *sensitive; /* a feature; NULL: automatic */
    const char *excluded;  /* NULL: automatic */
} choices;

static const saddle_option sensitive = SADDLE_TEXT(
    OWN(sensitive), "sensitive", GROUP, "auto", "FEATURE",
    "Feature that holds the sensitive attribute, as 0 or 1. Give its number from 1, its name, "
    "or the name of a column with two categories. auto: feature 73, which is 1 for men, of a9a "
    "and generated data; other data need a feature.");
static const saddle_option *const options[] = {
    &saddle_score_option,
    &saddle_activation_option,
    &(const saddle_option)SADDLE_REAL(
        OWN(fairness), "fairness", GROUP, "8", 0.0, SADDLE_UNBOUNDED, "W",
        "Weight of the penalty on dependence between decisions and the sensitive attribute. The "
        "larger it is, the less they depend on it; 0 is plain logistic regression."),
    &(const saddle_option)SADDLE_REAL(OWN(ridge), "fairness-ridge", GROUP, "auto", 0.0,
                                      SADDLE_UNBOUNDED, "R",
                                      "Weight of the term -(R/2) |y|^2, which makes F strongly "
                                      "concave in y. auto: 0, or 1e-3 if --fairness is 0."),
    &sensitive,
    &(const saddle_option)SADDLE_TEXT(
        OWN(excluded), "exclude-features", GROUP, "auto", "LIST",
        "Features that the model may not use, such as 72,73. Give numbers from 1 or names, or "
        "none. auto: the sensitive feature and those that are its exact opposite in all rows."),
    NULL};

enum { BLOCK = SADDLE_ROW_BLOCK };
/* The default tau for networks as a multiple of the mean of |grad t|^2 at the start. */
#define TAU_SHARE 0.125
/* The ridge that keeps y unique if there is no fairness term. */
#define LONE_RIDGE 1e-3
/* A lower bound of mu below this fraction of W is too weak to be useful; mu is then estimated. */
#define TELLING 1e-3
/* Largest |sigma''|, at t = log(2 +- sqrt 3): 1 / (6 sqrt 3). */
#define SIGMA_BEND 0.09622504486493764

enum { NEGATIVE, POSITIVE };
/* Number of classes. */
#define CLASSES ((size_t)2)

typedef struct instance {
    saddle_problem problem;       /* first: shares the address of the instance */
    saddle_dataset *const *shard; /* borrowed */
    saddle_sensitive sensitive;
    saddle_blind_model blind;
    const saddle_model *model; /* its own, whose score is t */
    double weight;             /* W */
    double ridge;              /* R */
    double steepest;           /* largest |grad_x t|^2 = 2 (|a|^2 + 1); for linear scores */
    char *excluded; /* the hidden features as a list, if they were chosen automatically */
} instance;

/* Returns df/dt for one sample, given p = p_+(t). */
static double slope_in_t(const instance *self, double label, double s, const double *y, double p)
{
    double lift = (s - y[POSITIVE]) * y[POSITIVE] - (s - y[NEGATIVE]) * y[NEGATIVE];
    return p - (label > 0.0 ? 1.0 : 0.0) + self->weight * lift * p * (1.0 - p);
}

/* Adds a block to the value and to the statistic: the losses, and p_c and s p_c of the classes. */
static void add_values(const instance *self, const saddle_part *part, const saddle_rows_block *rows,
                       const double *loss, const double *p, const double *sign)
{
    double share[CLASSES] = {0.0, 0.0};
    double tilt[CLASSES] = {0.0, 0.0};
    for (size_t k = 0; k < rows->count; k++) {
        double s = sign[saddle_block_row(rows, k)];
        share[NEGATIVE] += 1.0 - p[k];
        share[POSITIVE] += p[k];
        tilt[NEGATIVE] += s * (1.0 - p[k]);
        tilt[POSITIVE] += s * p[k];
    }
    double value = part->value != NULL ? saddle_sum(rows->count, loss) : 0.0;
    for (size_t c = 0; c < CLASSES; c++) {
        if (part->value != NULL)
            value += self->weight * part->y[c] * (tilt[c] - part->y[c] * share[c]);
        if (part->statistic != NULL) {
            part->statistic[c] += part->scale * share[c];
            part->statistic[CLASSES + c] += part->scale * tilt[c];
        }
    }
    if (part->value != NULL)
        *part->value += part->scale * value;
}

/* The memory of one call. */
typedef struct workspace {
    double *along; /* the gradient in u */
    double *u1;    /* parameters */
    double *u0;    /* parameters at the other point */
    double *model; /* scratch */
} workspace;

static workspace workspace_of(const instance *self, double *scratch)
{
    size_t count = self->model->parameters;
    return (workspace){.along = scratch,
                       .u1 = scratch + count,
                       .u0 = scratch + 2 * count,
                       .model = scratch + 3 * count};
}

/* Derivatives of f for the rows of a block: in t, and in y for a given weight instead of W. */
typedef struct slopes {
    double t[BLOCK];
    double low[BLOCK];
    double high[BLOCK];
    double sum[CLASSES]; /* sums of low and of high */
} slopes;

static void find_slopes(const instance *self, const saddle_rows_block *rows, const double *sign,
                        const double *y, const double *p, double weight, slopes *out)
{
    out->sum[NEGATIVE] = out->sum[POSITIVE] = 0.0;
    for (size_t k = 0; k < rows->count; k++) {
        size_t row = saddle_block_row(rows, k);
        double s = sign[row];
        out->t[k] = slope_in_t(self, rows->data->label[row], s, y, p[k]);
        out->low[k] = weight * (s - 2.0 * y[NEGATIVE]) * (1.0 - p[k]);
        out->high[k] = weight * (s - 2.0 * y[POSITIVE]) * p[k];
        out->sum[NEGATIVE] += out->low[k];
        out->sum[POSITIVE] += out->high[k];
    }
}

/* Adds a block's gradient in u to space->along, and its rows' |grad|^2 to *squares unless NULL. */
static void pull_slopes(const instance *self, saddle_rows_block rows, double scale, const slopes *s,
                        const workspace *space, double *squares)
{
    double c[BLOCK];
    double norm2[BLOCK];
    double square[BLOCK];
    double sum = 0.0;
    rows.norm2 = norm2;
    for (size_t k = 0; k < rows.count; k++) {
        c[k] = scale * s->t[k];
        norm2[k] = squares == NULL ? 0.0
                                   : saddle_visible_norm2(&self->sensitive, rows.data,
                                                          saddle_block_row(&rows, k));
    }
    self->model->backward(self->model, &rows, space->u1, c, space->along,
                          squares != NULL ? square : NULL, space->model);
    for (size_t k = 0; squares != NULL && k < rows.count; k++)
        sum += (self->blind.linear ? 2.0 * s->t[k] * s->t[k] * (norm2[k] + 1.0)
                                   : square[k] / (scale * scale)) +
               s->low[k] * s->low[k] + s->high[k] * s->high[k];
    if (squares != NULL)
        *squares += scale * sum;
}

/* Adds a block to the gradient, given p of its rows and s of all rows; in u, to space->along. */
static void add_slopes(const instance *self, const saddle_part *part, const saddle_rows_block *rows,
                       const double *p, const double *sign, const workspace *space)
{
    slopes s = {.sum = {0.0}};
    find_slopes(self, rows, sign, part->y, p, self->weight, &s);
    if (part->gx != NULL)
        pull_slopes(self, *rows, part->scale, &s, space, part->square);
    if (part->gy != NULL)
        saddle_axpy(CLASSES, part->scale, s.sum, part->gy);
}

static void add_point(const instance *self, size_t agent, const saddle_part *part,
                      const workspace *space)
{
    const saddle_dataset *data = self->shard[agent];
    double z[BLOCK]; /* score of the wrong class minus that of the right one */
    double loss[BLOCK];
    double p[BLOCK];
    const double *sign = self->sensitive.sign[agent];
    saddle_blind_parameters(&self->blind, part->x, space->u1);
    for (size_t begin = 0; begin < part->batch.count; begin += self->blind.block) {
        saddle_rows_block rows = saddle_block_at(data, part, begin, self->blind.block);
        self->model->forward(self->model, &rows, space->u1, z, space->model);
        saddle_block_margins(&rows, 1, z);
        saddle_logistic(rows.count, z, part->value != NULL ? loss : NULL, p);
        for (size_t k = 0; k < rows.count; k++)
            p[k] = data->label[saddle_block_row(&rows, k)] > 0.0 ? 1.0 - p[k] : p[k];
        if (part->value != NULL || part->statistic != NULL)
            add_values(self, part, &rows, loss, p, sign);
        if (part->gx != NULL || part->gy != NULL)
            add_slopes(self, part, &rows, p, sign, space);
    }
}

/* Adds a block to the difference, given the slopes at both points; those in t are overwritten. */
static void add_change(const instance *self, const saddle_part *part, const saddle_rows_block *rows,
                       slopes *s1, slopes *s0, const workspace *space)
{
    double share = part->scale;
    for (size_t k = 0; k < rows->count; k++) {
        part->gy[NEGATIVE] += share * self->weight * (s1->low[k] - s0->low[k]);
        part->gy[POSITIVE] += share * self->weight * (s1->high[k] - s0->high[k]);
        /* The gradient of a linear score is the same at both points. */
        s1->t[k] = share * (self->blind.linear ? s1->t[k] - s0->t[k] : s1->t[k]);
        s0->t[k] = self->blind.linear ? 0.0 : share * s0->t[k];
    }
    self->model->backward2(self->model, rows, space->u1, space->u0, s1->t, s0->t, space->along,
                           space->model);
}

static void add_difference(const instance *self, size_t agent, const saddle_part *part,
                           const workspace *space)
{
    const double *sign = self->sensitive.sign[agent];
    double t[2][BLOCK];
    double p[2][BLOCK];
    slopes s1;
    slopes s0;
    saddle_blind_parameters(&self->blind, part->x, space->u1);
    saddle_blind_parameters(&self->blind, part->x0, space->u0);
    for (size_t begin = 0; begin < part->batch.count; begin += self->blind.block) {
        saddle_rows_block rows =
            saddle_block_at(self->shard[agent], part, begin, self->blind.block);
        self->model->forward2(self->model, &rows, space->u1, space->u0, t[0], t[1], space->model);
        for (size_t k = 0; k < 2; k++)
            saddle_logistic(rows.count, t[k], NULL, p[k]);
        find_slopes(self, &rows, sign, part->y, p[0], 1.0, &s1);
        find_slopes(self, &rows, sign, part->y0, p[1], 1.0, &s0);
        add_change(self, part, &rows, &s1, &s0, space);
    }
}

static void add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    const instance *self = problem->self;
    workspace space = workspace_of(self, scratch);
    memset(space.along, 0, self->model->parameters * sizeof *space.along);
    if (part->x0 != NULL)
        add_difference(self, agent, part, &space);
    else
        add_point(self, agent, part, &space);
    if (part->gx != NULL)
        saddle_blind_add(&self->blind, space.along, part->gx);
}

static void add_common(const saddle_problem *problem, const saddle_part *part)
{
    saddle_add_ridge(problem, ((const instance *)problem->self)->ridge, part);
}

/* The two coordinates have different curvatures, so clipping is right only on boxes; on other
 * sets the unconstrained maximizer is used if it is feasible. */
static bool response_solve(const saddle_problem *problem, const double *x, const double *statistic,
                           const saddle_set *y_set, double *y, double *scratch)
{
    (void)x;
    const instance *self = problem->self;
    for (size_t c = 0; c < CLASSES; c++) {
        double bend = 2.0 * self->weight * statistic[c] + self->ridge;
        y[c] = bend > 0.0 ? self->weight * statistic[CLASSES + c] / bend : 0.0;
    }
    double lower;
    double upper;
    if (!saddle_set_uniform_bounds(y_set, &lower, &upper))
        return saddle_set_distance(y_set, y, scratch) <= 0.0;
    saddle_set_project(y_set, y, scratch);
    return true;
}

/* ---- constants ------------------------------------------------------------------------------- */

/*
 * With |t| <= T over X, every p_c is at least e = 1 / (1 + exp(T)), so that mu = 2 W e + R. For
 * good linear models T is so large that this bound is useless (TELLING); for networks T is unknown.
 *
 * With g = |grad_x t|, |y_c| <= Y and |s| = 1, the blocks of the Hessian of f_ij have norms
 *   |H_xx| <= g^2 (1/4 + W P max|sigma''|),  P = largest (s y_+ - y_+^2) - (s y_- - y_-^2)
 *   |H_xy| <= g W sqrt(2) (1 + 2 Y) / 4,      |H_yy| <= 2 W + R,
 * and P <= (Y + 1/2)^2 because s y - y^2 lies between -Y - Y^2 and 1/4.
 */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    const instance *self = problem->self;
    double farthest =
        self->blind.linear ? sqrt(self->steepest) * saddle_set_norm_bound(x_set) : (double)INFINITY;
    double least = isfinite(farthest) ? saddle_exp(-saddle_softplus(farthest)) : 0.0;
    double concavity = 2.0 * self->weight * least + self->ridge;
    if (concavity >= TELLING * self->weight)
        out->strong_concavity = concavity;
    double lower;
    double upper;
    saddle_set_range(y_set, &lower, &upper);
    double most = fmax(fabs(lower), fabs(upper));
    if (self->blind.linear && isfinite(most)) {
        double lift = (most + 0.5) * (most + 0.5);
        out->lipschitz =
            saddle_block_norm(self->steepest * (0.25 + self->weight * lift * SIGMA_BEND),
                              sqrt(2.0 * self->steepest) * self->weight * (1.0 + 2.0 * most) / 4.0,
                              2.0 * self->weight + self->ridge);
    }
    /* At y = 0 only the losses remain, which are not negative. */
    return saddle_bound_primal(out, 0.0, y_set, 0.0, 0.0, error);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

/* Sums over rows. */
typedef struct tally {
    saddle_tally all;
    saddle_decisions decisions;
} tally;

static void count_rows(const saddle_problem *problem, const saddle_dataset *held_out, size_t agent,
                       const double *x, const double *y, double *sums, double *scratch)
{
    (void)y;
    const instance *self = problem->self;
    const saddle_dataset *data = held_out != NULL ? held_out : self->shard[agent];
    workspace space = workspace_of(self, scratch);
    saddle_part all = {.batch = {.count = data->rows}};
    tally counts = {.all = {.rows = 0.0}};
    double t[BLOCK];
    saddle_blind_parameters(&self->blind, x, space.u1);
    for (size_t begin = 0; begin < data->rows; begin += self->blind.block) {
        saddle_rows_block rows = saddle_block_at(data, &all, begin, self->blind.block);
        self->model->forward(self->model, &rows, space.u1, t, space.model);
        for (size_t k = 0; k < rows.count; k++) {
            saddle_tally_add(&counts.all, saddle_tally_row(data->label[begin + k], t[k]));
            saddle_count_decision(&self->sensitive, data, begin + k, t[k] > 0.0, &counts.decisions);
        }
    }
    memcpy(sums, &counts, sizeof counts);
}

static saddle_status outcomes(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const instance *self = problem->self;
    tally counts;
    double *sums;
    *count = 0;
    if (rows->held_out != NULL && rows->held_out->features != self->model->inputs)
        return SADDLE_OK;
    SADDLE_TRY(saddle_outcome_sums(&sums, sizeof counts / sizeof *sums, count_rows, problem, rows,
                                   x, y, error));
    memcpy(&counts, sums, sizeof counts);
    saddle_free(sums);
    out[0] = (saddle_outcome){"loss", saddle_tally_loss(&counts.all), SADDLE_SMALLER};
    out[1] = (saddle_outcome){"accuracy", saddle_tally_accuracy(&counts.all), SADDLE_LARGER};
    out[2] = (saddle_outcome){"demographic_parity_gap", saddle_parity_gap(&counts.decisions),
                              SADDLE_SMALLER};
    out[3] =
        (saddle_outcome){"equalized_odds_gap", saddle_odds_gap(&counts.decisions), SADDLE_SMALLER};
    *count = 4;
    return SADDLE_OK;
}

/* The score is t, the logarithm of the odds of +1. */
static saddle_status scores(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error)
{
    (void)y;
    return saddle_blind_scores(&((const instance *)problem->self)->blind, data, x, out, error);
}

static bool linear(const saddle_problem *problem, const double *x, const double *y, double *out)
{
    (void)y;
    return saddle_blind_linear(&((const instance *)problem->self)->blind, x, out);
}

/* ---- the instance ---------------------------------------------------------------------------- */

static void release(saddle_problem *problem)
{
    instance *self = problem->self;
    saddle_model_free(self->blind.model);
    saddle_sensitive_free(&self->sensitive);
    saddle_free(self->excluded);
}

/* For networks only. */
static void start(const saddle_problem *problem, uint64_t seed, double *x, double *y)
{
    const instance *self = problem->self;
    self->model->initialize(self->model, seed, x);
    memset(y, 0, problem->y_dim * sizeof *y);
}

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    instance *self = made;
    choices *chosen = inputs->options;
    if (isnan(chosen->ridge))
        chosen->ridge = chosen->fairness > 0.0 ? 0.0 : LONE_RIDGE;
    SADDLE_TRY(saddle_blind_create(&self->blind, &chosen->model, inputs->features, error));
    self->model = self->blind.model;
    self->shard = inputs->shard;
    self->weight = chosen->fairness;
    self->ridge = chosen->ridge;
    self->problem.x_dim = self->blind.x_dim;
    self->problem.scratch = 3 * self->model->parameters + self->model->scratch;
    self->problem.x_set = self->blind.linear ? "l2-ball:10" : NULL;
    self->problem.start = self->blind.linear ? NULL : start;
    SADDLE_TRY(saddle_sensitive_read(&self->sensitive, inputs, &chosen->sensitive, chosen->excluded,
                                     error));
    self->blind.hidden = self->sensitive.hidden;
    if (!(self->weight + self->ridge > 0.0))
        return saddle_refuse(error, "--fairness-ridge: if it and --fairness are both 0, nothing is "
                                    "concave in y; give a positive ridge or auto");
    return SADDLE_OK;
}

/* Finds the features that reveal the attribute and the default tau, from all agents' data. */
static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    instance *self = problem->self;
    choices *chosen = inputs->options;
    bool automatic = chosen->excluded == NULL;
    if (automatic)
        saddle_sensitive_hide_opposites(&self->sensitive);
    self->steepest = 2.0 * (saddle_largest_norm2(inputs, &self->sensitive) + 1.0);
    double square = 0.0;
    if (!self->blind.linear)
        SADDLE_TRY(saddle_start_square(self->model, inputs, &square, error));
    /* With nu = 0.1 this is a gradient step of 2 / L, where L = steepest / 4 bounds the curvature of
     * a sample's cross entropy; the mean has far less. On a9a, half this tau converges for W up to
     * 32. */
    problem->tau = self->blind.linear ? self->steepest / 80.0 : TAU_SHARE * square;
    problem->sample_cost =
        self->blind.linear ? saddle_row_cost(inputs, 1) : saddle_model_cost(self->model, inputs);
    problem->alpha = 1.0 / (2.0 * self->weight + self->ridge);
    if (!automatic)
        return SADDLE_OK;
    self->excluded = saddle_sensitive_list(&self->sensitive);
    chosen->excluded = self->excluded;
    return self->excluded != NULL ? SADDLE_OK : saddle_no_memory(error, "the problem");
}

const saddle_problem_class saddle_fair = {
    .name = "fair",
    .summary = "classifier whose decisions depend little on a sensitive attribute",
    .needs_data = true,
    .scaling = SADDLE_ROWS_CENTRED,
    .attributes = &sensitive,
    .local_data = true,
    .options = options,
    .options_size = sizeof(choices),
    .size = sizeof(instance),
    .init = init,
    .join = join,
    .common = {.y_dim = CLASSES,
               /* Contains every best response, since |G_c| <= P_c. */
               .y_set = "box:-0.5:0.5",
               .add_samples = add_samples,
               .add_common = add_common,
               .response_solve = response_solve,
               .response_size = 2 * CLASSES,
               .constants = constants,
               .outcomes = outcomes,
               .scores = scores,
               .linear = linear,
               .release = release},
};
