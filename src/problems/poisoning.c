/*
 * Poisoned training data: an adversary shifts the features of all samples of some agents, by a
 * vector of bounded length, so that the best logistic model is as bad as it can make it.
 *
 *   min over |x| <= R, max over y of the mean of
 *   f_ij(x, y) = -log(1 + exp(z_ij)) - (W/2) |y|^2,
 *   z_ij = -b_ij (w'(a_ij + x [agent i is poisoned]) + v),   y = (w, v)
 *
 * The model y minimizes its regularized loss (it maximizes f); the adversary x maximizes what is
 * left of it. The bias v carries the ridge as well, which makes f strongly concave in y with mu = W.
 * In x it is concave, not convex: a point where both are at rest need not be the adversary's best.
 *
 * With c = b / (1 + exp(-z)) the gradients are mean(c) w in x at poisoned agents (0 elsewhere), and
 * (mean(c (a + x)), mean(c)) - W y in y: one pass over the batch and one over x and y.
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
#include "core/text.h"
#include "core/vector.h"
#include "data/rows.h"
#include "problems/bounds.h"
#include "problems/longest_row.h"

#define GROUP "Problem poisoning"

typedef struct choices {
    const char *poisoned;
    double perturbation;
    double ridge;
} choices;

static const saddle_option poisoned_option = SADDLE_TEXT(
    SADDLE_OWN(choices, poisoned, INSTANCE), "poisoned", GROUP, "1", "AGENTS",
    "The agents whose samples the adversary shifts: K, the first K of them; or agents:I,J,..., "
    "counted from 0.");

static const saddle_option radius_option = SADDLE_REAL_ABOVE(
    SADDLE_OWN(choices, perturbation, INSTANCE), "perturbation", GROUP, "1", 0.0, SADDLE_UNBOUNDED,
    "R", "The longest shift: X is l2-ball:R unless --x-set says otherwise.");

static const saddle_option ridge_option = SADDLE_REAL_ABOVE(
    SADDLE_OWN(choices, ridge, INSTANCE), "ridge", GROUP, "0.01", 0.0, SADDLE_UNBOUNDED, "W",
    "Weight of -(W/2) |y|^2, which makes the model unique.");

static const saddle_option *const options[] = {&poisoned_option, &radius_option, &ridge_option,
                                               NULL};

/* Rows handled between two calls of the vector exponential. */
#define BLOCK 256

typedef struct instance {
    saddle_problem problem;       /* first: the two addresses are one */
    saddle_dataset *const *shard; /* borrowed */
    bool *poisoned;               /* per agent */
    char *x_set;                  /* text of the ball */
    double ridge;
    double radius;
    double row_norm; /* largest |a| */
} instance;

static const instance *self_of(const saddle_problem *problem)
{
    return problem->self;
}

/* What the model adds to w'a at an agent: v, and w'x where it is poisoned. */
static double offset(const instance *self, size_t agent, const double *x, const double *y)
{
    size_t d = self->problem.x_dim;
    return y[d] + (self->poisoned[agent] ? saddle_dot(d, y, x) : 0.0);
}

/* out += scale (x [poisoned], 1) */
static void add_shift(const instance *self, size_t agent, double scale, const double *x,
                      double *out)
{
    size_t d = self->problem.x_dim;
    if (self->poisoned[agent])
        saddle_axpy(d, scale, x, out);
    out[d] += scale;
}

/* gx = scale w where the agent is poisoned, otherwise 0 */
static void set_attack(const instance *self, size_t agent, double scale, const double *y,
                       double *gx)
{
    size_t d = self->problem.x_dim;
    memset(gx, 0, d * sizeof *gx);
    if (self->poisoned[agent])
        saddle_axpy(d, scale, y, gx);
}

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const instance *self = self_of(problem);
    const saddle_dataset *data = self->shard[agent];
    double *z = scratch;
    double *slope = scratch + BLOCK;
    double constant = offset(self, agent, x, y);
    double share = 1.0 / (double)batch->count;
    double total = 0.0;
    for (size_t k = 0; k < problem->y_dim; k++)
        gy[k] = -self->ridge * y[k];
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        size_t count = batch->count - begin < BLOCK ? batch->count - begin : BLOCK;
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            z[k] = -data->label[row] * (saddle_row_dot(data, row, y) + constant);
        }
        saddle_logistic(count, z, NULL, slope);
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            double along = share * data->label[row] * slope[k];
            saddle_row_add(data, row, along, gy);
            total += along;
        }
    }
    add_shift(self, agent, total, x, gy);
    set_attack(self, agent, total, y, gx);
}

static void difference(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                       const double *x1, const double *y1, const double *x0, const double *y0,
                       double *dx, double *dy, double *scratch)
{
    const instance *self = self_of(problem);
    const saddle_dataset *data = self->shard[agent];
    /* Both points' arguments side by side: one call of the vector exponential serves the two. */
    double *z = scratch;
    double *slope = scratch + 2 * (size_t)BLOCK;
    double constant1 = offset(self, agent, x1, y1);
    double constant0 = offset(self, agent, x0, y0);
    double share = 1.0 / (double)batch->count;
    double total1 = 0.0;
    double total0 = 0.0;
    for (size_t k = 0; k < problem->y_dim; k++)
        dy[k] = -self->ridge * (y1[k] - y0[k]);
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        size_t count = batch->count - begin < BLOCK ? batch->count - begin : BLOCK;
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            double dot1;
            double dot0;
            saddle_row_dot2(data, row, y1, y0, &dot1, &dot0);
            z[2 * k] = -data->label[row] * (dot1 + constant1);
            z[2 * k + 1] = -data->label[row] * (dot0 + constant0);
        }
        saddle_logistic(2 * count, z, NULL, slope);
        for (size_t k = 0; k < count; k++) {
            size_t row = saddle_batch_sample(batch, begin + k);
            double along1 = share * data->label[row] * slope[2 * k];
            double along0 = share * data->label[row] * slope[2 * k + 1];
            saddle_row_add(data, row, along1 - along0, dy);
            total1 += along1;
            total0 += along0;
        }
    }
    add_shift(self, agent, total1, x1, dy);
    add_shift(self, agent, -total0, x0, dy);
    set_attack(self, agent, total1, y1, dx);
    if (self->poisoned[agent])
        saddle_axpy(problem->x_dim, -total0, y0, dx);
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    (void)scratch;
    const instance *self = self_of(problem);
    const saddle_dataset *data = self->shard[agent];
    double constant = offset(self, agent, x, y);
    double loss = 0.0;
    for (size_t row = 0; row < data->rows; row++)
        loss += saddle_softplus(-data->label[row] * (saddle_row_dot(data, row, y) + constant));
    return -loss / (double)data->rows - 0.5 * self->ridge * saddle_norm2(problem->y_dim, y);
}

/*
 * mu = W. The Hessian of f_ij at a poisoned agent is  -s' k k' + c J - W I_y  with k = (w, a + x, 1),
 * s' <= 1/4, |c| <= 1 and J the symmetric matrix that pairs x with w, of norm 1. With |y| <= M and
 * |(a + x, 1)| <= r over the sets, L = (M^2 + r^2) / 4 + 1 + W. Q >= -log 2: the value at y = 0.
 */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    const instance *self = self_of(problem);
    double shift = self->row_norm + saddle_set_norm_bound(x_set);
    double model = saddle_set_norm_bound(y_set);
    out->strong_concavity = self->ridge;
    if (isfinite(shift) && isfinite(model))
        out->lipschitz = (model * model + shift * shift + 1.0) / 4.0 + 1.0 + self->ridge;
    double *origin = saddle_alloc_doubles(problem->y_dim + saddle_set_scratch(y_set));
    if (origin == NULL) {
        saddle_no_memory(error, "a bound of the objective");
        return SADDLE_NO_MEMORY;
    }
    if (saddle_set_distance(y_set, origin, origin + problem->y_dim) <= 0.0) {
        out->primal_bound = -saddle_log(2.0);
        out->has_primal_bound = 1;
    }
    saddle_free(origin);
    return SADDLE_OK;
}

/* ---- what it is worth ------------------------------------------------------------------------ */

/* Rows, those that the model gets right and the sum of their losses, of clean and of poisoned rows:
 * sums over agents. */
enum { CLEAN, POISONED, KINDS };
typedef struct tally {
    double rows[KINDS];
    double correct[KINDS];
    double loss[KINDS];
} tally;
enum { TALLY = sizeof(tally) / sizeof(double) };

/* A model and the adversary's shift, to be tried on agents' rows. */
typedef struct trial {
    const instance *self;
    const double *x;
    const double *y;
} trial;

/* Count rows whose scores are w'a + constant; a score of 0 says -1. */
static void count_rows(const saddle_dataset *data, const double *y, double constant, int kind,
                       tally *counts)
{
    for (size_t row = 0; row < data->rows; row++) {
        double score = saddle_row_dot(data, row, y) + constant;
        counts->rows[kind] += 1.0;
        counts->correct[kind] += (score > 0.0) == (data->label[row] > 0.0) ? 1.0 : 0.0;
        counts->loss[kind] += saddle_softplus(-data->label[row] * score);
    }
}

/* Count rows as they are, and shifted if the adversary has them. */
static void count_both(const trial *t, const saddle_dataset *data, bool poisoned, tally *counts)
{
    size_t d = t->self->problem.x_dim;
    *counts = (tally){.rows = {0.0}};
    count_rows(data, t->y, t->y[d], CLEAN, counts);
    if (poisoned)
        count_rows(data, t->y, t->y[d] + saddle_dot(d, t->y, t->x), POISONED, counts);
}

static void agent_tally(void *context, size_t agent, double *out)
{
    const trial *t = context;
    tally counts;
    count_both(t, t->self->shard[agent], t->self->poisoned[agent], &counts);
    memcpy(out, &counts, sizeof counts);
}

/* A sum over rows as a mean; NaN over none. */
static double mean_of(const double sum[KINDS], const tally *counts, int kind)
{
    return counts->rows[kind] > 0.0 ? sum[kind] / counts->rows[kind] : (double)NAN;
}

/* Held-out rows are poisoned one and all, as if they came to a poisoned agent. */
static saddle_status outcomes(const saddle_problem *problem, const saddle_dataset *held_out,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const instance *self = self_of(problem);
    size_t d = problem->x_dim;
    trial t = {.self = self, .x = x, .y = y};
    tally counts = {.rows = {0.0}};
    double sum[TALLY];
    *count = 0;
    if (held_out != NULL && held_out->features != d)
        return SADDLE_OK;
    if (held_out != NULL) {
        count_both(&t, held_out, true, &counts);
    } else {
        saddle_status status = saddle_world_sum(problem->world, TALLY, agent_tally, &t, sum, error);
        if (status != SADDLE_OK)
            return status;
        memcpy(&counts, sum, sizeof counts);
    }
    out[0] = (saddle_outcome){"clean_loss", mean_of(counts.loss, &counts, CLEAN)};
    out[1] = (saddle_outcome){"clean_accuracy", mean_of(counts.correct, &counts, CLEAN)};
    out[2] = (saddle_outcome){"poisoned_loss", mean_of(counts.loss, &counts, POISONED)};
    out[3] = (saddle_outcome){"poisoned_accuracy", mean_of(counts.correct, &counts, POISONED)};
    out[4] = (saddle_outcome){"perturbation_norm", sqrt(saddle_norm2(d, x))};
    out[5] = (saddle_outcome){"perturbation_bound", self->radius};
    *count = 6;
    return SADDLE_OK;
}

/* The model's scores of rows as they are: nobody shifts them. */
static saddle_status scores(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error)
{
    (void)x;
    size_t d = problem->x_dim;
    saddle_status status = saddle_rows_check(data, d, error);
    for (size_t row = 0; status == SADDLE_OK && row < data->rows; row++)
        out[row] = saddle_row_dot(data, row, y) + y[d];
    return status;
}

/* ---- making one ------------------------------------------------------------------------------ */

static void destroy(saddle_problem *problem)
{
    instance *self = problem->self;
    saddle_free(self->poisoned);
    saddle_free(self->x_set);
    saddle_free(self);
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
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "poisoned: '%s' is not right; give how many agents, 0 to %zu, or "
                           "agents:I,J,... with different numbers from 0 to %zu",
                           text, agents, agents - 1);
    return SADDLE_OK;
}

/* Everything that a process finds out alone. */
static saddle_status fill(instance *self, const saddle_problem_inputs *inputs, saddle_error *error)
{
    const choices *chosen = inputs->options;
    size_t features = inputs->features;
    char radius[SADDLE_REAL_SIZE];
    self->shard = inputs->shard;
    self->ridge = chosen->ridge;
    self->radius = chosen->perturbation;
    self->poisoned = saddle_alloc(inputs->agents, sizeof *self->poisoned);
    self->x_set = saddle_format("l2-ball:%s", saddle_print_real(self->radius, 17, radius));
    self->problem = (saddle_problem){
        .name = "poisoning",
        .self = self,
        .x_dim = features,
        .y_dim = features + 1,
        .agents = inputs->agents,
        .samples = inputs->samples,
        .world = inputs->world,
        .scratch = 4 * (size_t)BLOCK,
        .x_set = self->x_set,
        .gradient = gradient,
        .value = value,
        .difference = difference,
        .constants = constants,
        .outcomes = outcomes,
        .scores = scores,
        .destroy = destroy,
    };
    if (self->poisoned == NULL || self->x_set == NULL)
        return saddle_no_memory(error, "the problem");
    return read_poisoned(self, chosen->poisoned, error);
}

static saddle_status create(saddle_problem **out, const saddle_problem_inputs *inputs,
                            saddle_error *error)
{
    *out = NULL;
    instance *self = saddle_alloc(1, sizeof *self);
    if (self == NULL)
        return saddle_no_memory(error, "the problem");
    saddle_status status = fill(self, inputs, error);
    if (status != SADDLE_OK) {
        destroy(&self->problem);
        return status;
    }
    *out = &self->problem;
    return SADDLE_OK;
}

static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    (void)error;
    instance *self = problem->self;
    self->row_norm = saddle_longest_row(inputs);
    /* With eta = 0.1 an ascent step of 2 / L_y, L_y = (r^2 + 1) / 4 + W that of a sample: the mean's
     * is far below. The adversary's step matters less, its gradient being bounded by |w|; found by
     * trying on a9a. */
    problem->tau = 0.1;
    problem->alpha = 80.0 / (self->row_norm * self->row_norm + 1.0 + 4.0 * self->ridge);
    return SADDLE_OK;
}

const saddle_problem_class saddle_poisoning = {
    .name = "poisoning",
    .summary = "a logistic model against an adversary who shifts some agents' data",
    .needs_data = 1,
    .options = options,
    .option_bytes = sizeof(choices),
    .create = create,
    .join = join,
};
