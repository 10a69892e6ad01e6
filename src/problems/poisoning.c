/*
 * Poisoned training data: an adversary shifts the features of all samples of some agents by a
 * vector of bounded length, to make the best logistic model as bad as possible.
 *
 *   min over |x| <= R, max over y of the mean of
 *   f_ij(x, y) = -log(1 + exp(z_ij)) - (W/2) |y|^2,
 *   z_ij = -b_ij (w'(a_ij + x [agent i is poisoned]) + v),   y = (w, v)
 *
 * The model y minimizes its regularized loss (it maximizes f); the adversary x maximizes the loss
 * that remains. The ridge includes the bias v, which makes f strongly concave in y with mu = W. In
 * x it is concave, not convex: a stationary point need not be the adversary's best.
 *
 * With c = b / (1 + exp(-z)) the gradients are mean(c) w in x at poisoned agents (0 elsewhere), and
 * (mean(c (a + x)), mean(c)) - W y in y: one pass over the batch and one over x and y.
 */
#include "problems/problems.h"

#include "core/elementary.h"
#include "core/vector.h"
#include "problems/row_blocks.h"
#include "problems/scored.h"

#define GROUP "Problem poisoning"
#define OWN(field) SADDLE_OWN(choices, field, INSTANCE)

typedef struct choices {
    const char *poisoned;
    double perturbation;
    double ridge;
} choices;

static const saddle_option *const options[] = {
    &(const saddle_option)SADDLE_TEXT(OWN(poisoned), "poisoned", GROUP, "1", "AGENTS",
                                      "Agents whose samples the adversary shifts. Give K for the "
                                      "first K agents, or agents:I,J,... with numbers from 0."),
    &(const saddle_option)SADDLE_REAL_ABOVE(OWN(perturbation), "perturbation", GROUP, "1", 0.0,
                                            SADDLE_UNBOUNDED, "R",
                                            "Largest Euclidean norm of the adversary's shift x. X "
                                            "is l2-ball:R unless --x-set is given."),
    &(const saddle_option)SADDLE_REAL_ABOVE(
        OWN(ridge), "ridge", GROUP, "0.01", 0.0, SADDLE_UNBOUNDED, "W",
        "Weight of the ridge term -(W/2) |y|^2, which makes the best model y unique."),
    NULL};

enum { BLOCK = SADDLE_ROW_BLOCK };

typedef struct instance {
    saddle_problem problem;       /* first: shares the address of the instance */
    saddle_dataset *const *shard; /* borrowed */
    bool *poisoned;               /* per agent */
    char *x_set;                  /* text of the ball */
    double ridge;
    double radius;
    double row_norm; /* largest |a| */
} instance;

/* Returns the score of an agent's rows: w'a + v, plus w'x if they are poisoned. */
static saddle_linear_score make_score(const instance *self, bool poisoned, const double *x,
                                      const double *y)
{
    size_t d = self->problem.x_dim;
    return (saddle_linear_score){.w = y, .bias = y[d] + (poisoned ? saddle_dot(d, y, x) : 0.0)};
}

/* gy += total (x [poisoned], 1), gx += total w if the agent is poisoned: the part of the
 * gradient that is the same for all rows except for the factor c, whose sum is `total`. */
static void add_shift(const instance *self, size_t agent, double total, const double *x,
                      const double *y, const saddle_part *part)
{
    size_t d = self->problem.x_dim;
    if (part->gy != NULL && self->poisoned[agent])
        saddle_axpy(d, total, x, part->gy);
    if (part->gy != NULL)
        part->gy[d] += total;
    if (part->gx != NULL && self->poisoned[agent])
        saddle_axpy(d, total, y, part->gx);
}

/* |(w [poisoned], a + x [poisoned], 1)|^2 of a row */
static double row_square(const instance *self, size_t agent, size_t row, const saddle_part *part)
{
    const saddle_dataset *data = self->shard[agent];
    size_t d = self->problem.x_dim;
    double square = saddle_row_norm2(data, row) + 1.0;
    if (self->poisoned[agent])
        square += 2.0 * saddle_row_dot(data, row, part->x) + saddle_norm2(d, part->x) +
                  saddle_norm2(d, part->y);
    return square;
}

static void add_point(const instance *self, size_t agent, const saddle_part *part)
{
    const saddle_dataset *data = self->shard[agent];
    saddle_linear_score model = make_score(self, self->poisoned[agent], part->x, part->y);
    double scale = part->scale;
    double *gy = part->gy;
    double total = 0.0;
    double square = 0.0;
    double z[BLOCK];
    double loss[BLOCK];
    double slope[BLOCK];
    for (size_t begin = 0; begin < part->batch.count; begin += BLOCK) {
        saddle_rows_block rows = saddle_block_at(data, part, begin, BLOCK);
        saddle_block_scores(&rows, model, z);
        saddle_block_margins(&rows, 1, z);
        saddle_logistic(rows.count, z, part->value != NULL ? loss : NULL, slope);
        for (size_t k = 0; k < rows.count; k++) {
            size_t row = saddle_block_row(&rows, k);
            double along = scale * data->label[row] * slope[k];
            if (gy != NULL)
                saddle_row_add(data, row, along, gy);
            total += along;
            if (part->square != NULL)
                square += slope[k] * slope[k] * row_square(self, agent, row, part);
        }
        if (part->value != NULL)
            *part->value -= scale * saddle_sum(rows.count, loss);
    }
    add_shift(self, agent, total, part->x, part->y, part);
    if (part->square != NULL)
        *part->square += scale * square;
}

static void add_difference(const instance *self, size_t agent, const saddle_part *part)
{
    const saddle_dataset *data = self->shard[agent];
    saddle_linear_score model1 = make_score(self, self->poisoned[agent], part->x, part->y);
    saddle_linear_score model0 = make_score(self, self->poisoned[agent], part->x0, part->y0);
    double scale = part->scale;
    double total1 = 0.0;
    double total0 = 0.0;
    double z[2 * BLOCK];
    double slope[2 * BLOCK];
    for (size_t begin = 0; begin < part->batch.count; begin += BLOCK) {
        saddle_rows_block rows = saddle_block_at(data, part, begin, BLOCK);
        saddle_block_scores2(&rows, model1, model0, z);
        saddle_block_margins(&rows, 2, z);
        saddle_logistic(2 * rows.count, z, NULL, slope);
        for (size_t k = 0; k < rows.count; k++) {
            size_t row = saddle_block_row(&rows, k);
            double along1 = scale * data->label[row] * slope[2 * k];
            double along0 = scale * data->label[row] * slope[2 * k + 1];
            saddle_row_add(data, row, along1 - along0, part->gy);
            total1 += along1;
            total0 += along0;
        }
    }
    add_shift(self, agent, total1, part->x, part->y, part);
    add_shift(self, agent, -total0, part->x0, part->y0, part);
}

static void add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    (void)scratch;
    if (part->x0 != NULL)
        add_difference(problem->self, agent, part);
    else
        add_point(problem->self, agent, part);
}

static void add_common(const saddle_problem *problem, const saddle_part *part)
{
    saddle_add_ridge(problem, ((const instance *)problem->self)->ridge, part);
}

/*
 * mu = W. The Hessian of f_ij at a poisoned agent is  -s' k k' + c J - W I_y  with
 * k = (w, a + x, 1), s' <= 1/4, |c| <= 1 and J the symmetric matrix that pairs x with w, of norm 1.
 * With |y| <= M and |(a + x, 1)| <= r over the sets, L = (M^2 + r^2) / 4 + 1 + W.
 * Q >= -log 2, the value at y = 0.
 */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    const instance *self = problem->self;
    double shift = self->row_norm + saddle_set_norm_bound(x_set);
    double model = saddle_set_norm_bound(y_set);
    out->strong_concavity = self->ridge;
    if (isfinite(shift) && isfinite(model))
        out->lipschitz = (model * model + shift * shift + 1.0) / 4.0 + 1.0 + self->ridge;
    return saddle_bound_primal(out, -saddle_log(2.0), y_set, 0.0, 0.0, error);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

/* Counts over the rows themselves, and over the rows as the adversary shifts them. */
enum { CLEAN, POISONED, KINDS };

static void count_kind(const saddle_dataset *data, saddle_linear_score model, saddle_tally *count)
{
    for (size_t row = 0; row < data->rows; row++)
        saddle_tally_add(
            count, saddle_tally_row(data->label[row], saddle_linear_score_of(model, data, row)));
}

/* All held-out rows are poisoned, like those of a poisoned agent. */
static void count_rows(const saddle_problem *problem, const saddle_dataset *held_out, size_t agent,
                       const double *x, const double *y, double *sums, double *scratch)
{
    (void)scratch;
    const instance *self = problem->self;
    const saddle_dataset *data = held_out != NULL ? held_out : self->shard[agent];
    saddle_tally counts[KINDS] = {{.rows = 0.0}};
    count_kind(data, make_score(self, false, x, y), &counts[CLEAN]);
    if (held_out != NULL || self->poisoned[agent])
        count_kind(data, make_score(self, true, x, y), &counts[POISONED]);
    memcpy(sums, counts, sizeof counts);
}

static saddle_status outcomes(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const instance *self = problem->self;
    size_t d = problem->x_dim;
    saddle_tally counts[KINDS];
    double *sums;
    *count = 0;
    if (rows->held_out != NULL && rows->held_out->features != d)
        return SADDLE_OK;
    SADDLE_TRY(saddle_outcome_sums(&sums, KINDS * (sizeof *counts / sizeof *sums), count_rows,
                                   problem, rows, x, y, error));
    memcpy(counts, sums, sizeof counts);
    saddle_free(sums);
    out[0] = (saddle_outcome){"clean_loss", saddle_tally_loss(&counts[CLEAN]), SADDLE_SMALLER};
    out[1] =
        (saddle_outcome){"clean_accuracy", saddle_tally_accuracy(&counts[CLEAN]), SADDLE_LARGER};
    out[2] =
        (saddle_outcome){"poisoned_loss", saddle_tally_loss(&counts[POISONED]), SADDLE_SMALLER};
    out[3] = (saddle_outcome){"poisoned_accuracy", saddle_tally_accuracy(&counts[POISONED]),
                              SADDLE_LARGER};
    out[4] = (saddle_outcome){"perturbation_norm", sqrt(saddle_norm2(d, x)), SADDLE_SMALLER};
    out[5] = (saddle_outcome){"perturbation_bound", self->radius, SADDLE_SMALLER};
    *count = 6;
    return SADDLE_OK;
}

/* Scores the rows without the adversary's shift. */
static saddle_status scores(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error)
{
    return saddle_score_rows(data, problem->x_dim, make_score(problem->self, false, x, y), out,
                             error);
}

/* y is (w, v). */
static bool linear(const saddle_problem *problem, const double *x, const double *y, double *out)
{
    (void)x;
    memcpy(out, y, problem->y_dim * sizeof *out);
    return true;
}

/* ---- the instance ---------------------------------------------------------------------------- */

static void release(saddle_problem *problem)
{
    instance *self = problem->self;
    saddle_free(self->poisoned);
    saddle_free(self->x_set);
}

static saddle_status read_poisoned(instance *self, const char *text, saddle_error *error)
{
    static const char prefix[] = "agents:";
    size_t agents = self->problem.agents;
    uint64_t count = 0;
    bool good;
    if (strncmp(text, prefix, sizeof prefix - 1) == 0) {
        good = saddle_mark_list(text + sizeof prefix - 1, 0, agents, self->poisoned);
    } else {
        good = saddle_parse_integer(text, &count) && count <= agents;
        for (size_t i = 0; good && i < count; i++)
            self->poisoned[i] = true;
    }
    if (!good)
        return saddle_refuse(error,
                             "--poisoned: '%s' is not valid; give the number of agents, 0 to %zu, "
                             "or agents:I,J,... with different numbers from 0 to %zu",
                             text, agents, agents - 1);
    return SADDLE_OK;
}

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    instance *self = made;
    const choices *chosen = inputs->options;
    char radius[SADDLE_REAL_SIZE];
    self->shard = inputs->shard;
    self->ridge = chosen->ridge;
    self->radius = chosen->perturbation;
    self->poisoned = saddle_alloc(inputs->agents, sizeof *self->poisoned);
    self->x_set = saddle_format("l2-ball:%s", saddle_print_real(self->radius, 17, radius));
    self->problem.x_dim = inputs->features;
    self->problem.y_dim = inputs->features + 1;
    self->problem.x_set = self->x_set;
    if (self->poisoned == NULL || self->x_set == NULL)
        return saddle_no_memory(error, "the problem");
    return read_poisoned(self, chosen->poisoned, error);
}

static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    (void)error;
    instance *self = problem->self;
    self->row_norm = sqrt(saddle_largest_norm2(inputs, NULL));
    /* With eta = 0.1 this is an ascent step of 2 / L_y, where L_y = (r^2 + 1) / 4 + W bounds the
     * curvature of one sample; that of the mean is far smaller. The adversary's step, chosen by
     * trials on a9a, matters less because its gradient is bounded by |w|. */
    problem->sample_cost = saddle_row_cost(inputs, 1);
    problem->tau = 0.1;
    problem->alpha = 80.0 / (self->row_norm * self->row_norm + 1.0 + 4.0 * self->ridge);
    return SADDLE_OK;
}

const saddle_problem_class saddle_poisoning = {
    .name = "poisoning",
    .summary = "logistic regression against an adversary that shifts the features of some agents",
    .needs_data = true,
    .scaling = SADDLE_ROWS_CENTRED,
    .local_data = true,
    .options = options,
    .options_size = sizeof(choices),
    .size = sizeof(instance),
    .init = init,
    .join = join,
    .common = {.add_samples = add_samples,
               .add_common = add_common,
               .constants = constants,
               .outcomes = outcomes,
               .scores = scores,
               .linear = linear,
               .release = release},
};
