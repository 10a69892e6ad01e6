/*
 * Maximization of the area under the ROC curve (Ying, Wen, Lyu 2016; with deep scores: Liu, Yuan,
 * Ying, Yang 2020).
 *
 *   f = (1-r) (h - c1)^2 [b = 1] + r (h - c2)^2 [b = -1]
 *       + 2 (1 + y) (r h [b = -1] - (1-r) h [b = 1]) - r (1-r) y^2
 *
 * h is the score of a row, linear or of a network; x = (model, c1, c2), y a scalar. With r the share of
 * positives among what F averages over, eliminating c1, c2 and y leaves
 *
 *   Q = r (1-r) (E[(1 - h(a) + h(a'))^2 | b = 1, b' = -1] - 1),
 *
 * the square loss over pairs of a positive and a negative. F gives every agent the same weight, so r is
 * the mean over agents of their shares of positives (with equal local sizes: the share among all
 * samples). Agents find it by passing sums to neighbours, not by pooling data.
 *
 * Best response, Y an interval:  y* = projection of  E[r h [b = -1] - (1-r) h [b = 1]] / (r (1-r)).
 */
#include "problems/problems.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"
#include "data/rows.h"
#include "graph/consensus.h"
#include "models/model.h"
#include "models/ranking.h"

#define GROUP "Problem auc"

typedef struct choices {
    saddle_model_choice model; /* first: where its options expect it */
    double positive_share;     /* NaN: found by the agents */
} choices;

static const saddle_option positive_share = SADDLE_REAL_ABOVE(
    SADDLE_OWN(choices, positive_share, INSTANCE), "positive-share", GROUP, "auto", 0.0, 1.0, "R",
    "Share r of positives in the objective. auto: the agents find it by averaging "
    "in the network.");

static const saddle_option *const options[] = {&saddle_score_option, &saddle_activation_option,
                                               &positive_share, NULL};

/* The default tau as a share of the trace of F's Hessian in x at the start. 1 / tau is then within what
 * undamped gradient descent bears: no direction has more than the trace. */
#define TAU_SHARE 0.5

enum { BLOCK = SADDLE_MODEL_BLOCK };

typedef struct instance {
    saddle_problem problem;       /* first: the two addresses are one */
    saddle_dataset *const *shard; /* borrowed */
    saddle_model *model;
    double share;        /* r */
    double row_norm2[2]; /* largest |a|^2 + 1 of negatives and of positives */
    bool linear;
    double *agent_share; /* of positives at every agent; until the agents have joined */
    double *look;        /* a model, a gradient and scratch; until then */
} instance;

/* Slopes of the f of a block's rows. */
typedef struct slopes {
    double h[BLOCK]; /* the scores; afterwards df/dh */
    double c[BLOCK]; /* df/dc1 or df/dc2, whichever is not zero */
    double y[BLOCK]; /* df/dy without the common -2 r (1-r) y */
} slopes;

static const instance *self_of(const saddle_problem *problem)
{
    return problem->self;
}

static bool is_positive(const saddle_rows_block *block, size_t k)
{
    return block->data->label[saddle_block_row(block, k)] > 0.0;
}

static saddle_rows_block block_at(const instance *self, size_t agent, const saddle_batch *batch,
                                  size_t begin)
{
    size_t rest = batch->count - begin;
    return (saddle_rows_block){.data = self->shard[agent],
                               .index = batch->index != NULL ? batch->index + begin : NULL,
                               .first = begin,
                               .count = rest < BLOCK ? rest : BLOCK};
}

/* What multiplies h in the coupling: r for a negative, -(1-r) for a positive. */
static double coupling(const instance *self, bool positive)
{
    return positive ? -(1.0 - self->share) : self->share;
}

/* From scores in s->h to slopes, scaled by `scale`. */
static void find_slopes(const instance *self, const saddle_rows_block *block, const double *x,
                        double y, double scale, slopes *s)
{
    const double *center = x + self->model->parameters; /* c1, c2 */
    for (size_t k = 0; k < block->count; k++) {
        bool positive = is_positive(block, k);
        double side = coupling(self, positive);
        double pull = 2.0 * fabs(side) * (s->h[k] - center[positive ? 0 : 1]);
        s->y[k] = scale * 2.0 * side * s->h[k];
        s->c[k] = -scale * pull;
        s->h[k] = scale * (pull + 2.0 * (1.0 + y) * side);
    }
}

/* Add the slopes in c1, c2 and y. */
static void add_scalars(const instance *self, const saddle_rows_block *block, const slopes *s,
                        double sign, double *gx, double *gy)
{
    double *center = gx + self->model->parameters;
    for (size_t k = 0; k < block->count; k++) {
        center[is_positive(block, k) ? 0 : 1] += sign * s->c[k];
        *gy += sign * s->y[k];
    }
}

/* gx, gy = means over the batch without the common term of y. Returns, if `squares` is set, the mean
 * of the squared norms. */
static double sample_gradient(const instance *self, size_t agent, const saddle_batch *batch,
                              const double *x, const double *y, double *gx, double *gy,
                              double *scratch, bool squares)
{
    const saddle_model *model = self->model;
    double count = (double)batch->count;
    double sum = 0.0;
    slopes s;
    double square[BLOCK];
    memset(gx, 0, self->problem.x_dim * sizeof *gx);
    *gy = 0.0;
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        saddle_rows_block block = block_at(self, agent, batch, begin);
        model->forward(model, &block, x, s.h, scratch);
        find_slopes(self, &block, x, *y, 1.0 / count, &s);
        /* cppcheck-suppress legacyUninitvar; it is written to */
        model->backward(model, &block, x, s.h, gx, squares ? square : NULL, scratch);
        add_scalars(self, &block, &s, 1.0, gx, gy);
        for (size_t k = 0; squares && k < block.count; k++)
            sum += square[k] + s.c[k] * s.c[k] + s.y[k] * s.y[k];
    }
    return sum * count;
}

static double concavity(const instance *self)
{
    return 2.0 * self->share * (1.0 - self->share);
}

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const instance *self = self_of(problem);
    sample_gradient(self, agent, batch, x, y, gx, gy, scratch, false);
    *gy -= concavity(self) * *y;
}

/* The common term of y has no variance. */
static double gradient_variance(const saddle_problem *problem, size_t agent,
                                const saddle_batch *batch, const double *x, const double *y,
                                double *gx, double *gy, double *scratch)
{
    const instance *self = self_of(problem);
    double square = sample_gradient(self, agent, batch, x, y, gx, gy, scratch, true);
    double mean = saddle_norm2(problem->x_dim, gx) + *gy * *gy;
    *gy -= concavity(self) * *y;
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
    const saddle_model *model = self->model;
    double scale = 1.0 / (double)batch->count;
    slopes s1;
    slopes s0;
    memset(dx, 0, problem->x_dim * sizeof *dx);
    *dy = -concavity(self) * (*y1 - *y0);
    for (size_t begin = 0; begin < batch->count; begin += BLOCK) {
        saddle_rows_block block = block_at(self, agent, batch, begin);
        model->forward2(model, &block, x1, x0, s1.h, s0.h, scratch);
        find_slopes(self, &block, x1, *y1, scale, &s1);
        find_slopes(self, &block, x0, *y0, scale, &s0);
        add_scalars(self, &block, &s1, 1.0, dx, dy);
        add_scalars(self, &block, &s0, -1.0, dx, dy);
        model->backward2(model, &block, x1, x0, s1.h, s0.h, dx, scratch);
    }
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    const instance *self = self_of(problem);
    const double *center = x + self->model->parameters;
    saddle_batch all = {.index = NULL, .count = problem->samples[agent]};
    double h[BLOCK];
    double sum = 0.0;
    for (size_t begin = 0; begin < all.count; begin += BLOCK) {
        saddle_rows_block block = block_at(self, agent, &all, begin);
        self->model->forward(self->model, &block, x, h, scratch);
        for (size_t k = 0; k < block.count; k++) {
            bool positive = is_positive(&block, k);
            double side = coupling(self, positive);
            double off = h[k] - center[positive ? 0 : 1];
            sum += fabs(side) * off * off + 2.0 * (1.0 + *y) * side * h[k];
        }
    }
    return sum / (double)all.count - 0.5 * concavity(self) * *y * *y;
}

/* E_i[r h [b = -1] - (1-r) h [b = 1]] */
static void response_statistic(const saddle_problem *problem, size_t agent, const double *x,
                               double *statistic, double *scratch)
{
    const instance *self = self_of(problem);
    saddle_batch all = {.index = NULL, .count = problem->samples[agent]};
    double h[BLOCK];
    double sum = 0.0;
    for (size_t begin = 0; begin < all.count; begin += BLOCK) {
        saddle_rows_block block = block_at(self, agent, &all, begin);
        self->model->forward(self->model, &block, x, h, scratch);
        for (size_t k = 0; k < block.count; k++)
            sum += coupling(self, is_positive(&block, k)) * h[k];
    }
    *statistic = sum / (double)all.count;
}

static int response_solve(const saddle_problem *problem, const double *x, const double *statistic,
                          const saddle_set *y_set, double *y, double *scratch)
{
    (void)x;
    *y = 2.0 * *statistic / concavity(self_of(problem));
    saddle_set_project(y_set, y, scratch);
    return 0;
}

/*
 * Largest eigenvalue of the Hessian of f for a linear score. In the directions of (a, 1), of c and of y
 * it is, with k = 2 (1-r) and t = r for a positive, k = 2 r and t = 1 - r for a negative, s^2 = |a|^2 + 1,
 *
 *   [ k s^2   -k s   -k s ]
 *   [ -k s     k      0   ]     whose top eigenvalue solves  e = k s^2 + (k s)^2/(e - k) + (k s)^2/(e + k t).
 *   [ -k s     0     -k t ]
 *
 * It grows with s, lies in [k (s^2 + 1), k (s^2 + 1) + k s], and for s >= 1 no eigenvalue is larger in
 * size. The right side falls with e: bisection.
 */
static double top_curvature(double k, double t, double s2)
{
    double low = k * (s2 + 1.0);
    double high = low + k * sqrt(s2);
    for (int step = 0; step < 60; step++) {
        double e = 0.5 * (low + high);
        double right = k * s2 + k * k * s2 / (e - k) + k * k * s2 / (e + k * t);
        if (right > e)
            low = e;
        else
            high = e;
    }
    return high;
}

/* mu, and for linear scores L, are exact. At y = -1, if Y holds it, squares and -r (1-r) are left. */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    (void)x_set;
    (void)error;
    const instance *self = self_of(problem);
    double r = self->share;
    double least;
    double most;
    out->strong_concavity = concavity(self);
    if (self->linear)
        out->lipschitz = fmax(top_curvature(2.0 * r, 1.0 - r, self->row_norm2[0]),
                              top_curvature(2.0 * (1.0 - r), r, self->row_norm2[1]));
    saddle_set_range(y_set, &least, &most);
    if (least <= -1.0 && most >= -1.0) {
        out->primal_bound = -r * (1.0 - r);
        out->has_primal_bound = 1;
    }
    return SADDLE_OK;
}

/* ---- what a solution is worth ---------------------------------------------------------------- */

/* Mean and variance of the scores of one class; NaN when it is empty. */
static void moments(size_t count, const double *score, const double *label, bool positive,
                    double *mean, double *variance)
{
    double members = 0.0;
    double sum = 0.0;
    double square = 0.0;
    for (size_t k = 0; k < count; k++)
        if ((label[k] > 0.0) == positive) {
            members += 1.0;
            sum += score[k];
        }
    *mean = sum / members;
    for (size_t k = 0; k < count; k++)
        if ((label[k] > 0.0) == positive)
            square += (score[k] - *mean) * (score[k] - *mean);
    *variance = square / members;
}

/* Mean of (1 - h(a) + h(a'))^2 over pairs of a positive a and a negative a'. */
static double pair_loss(size_t count, const double *score, const double *label)
{
    double mean[2];
    double variance[2];
    moments(count, score, label, false, &mean[0], &variance[0]);
    moments(count, score, label, true, &mean[1], &variance[1]);
    double margin = 1.0 - mean[1] + mean[0];
    return margin * margin + variance[0] + variance[1];
}

/* h less the middle between c1 and c2, where positives and negatives part: F does not see a common
 * shift of h, c1 and c2. */
static saddle_status scores(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error)
{
    (void)y;
    const saddle_model *model = self_of(problem)->model;
    const double *center = x + model->parameters;
    double middle = 0.5 * (center[0] + center[1]);
    saddle_status status = saddle_model_score(model, data, x, out, error);
    for (size_t row = 0; status == SADDLE_OK && row < data->rows; row++)
        out[row] -= middle;
    return status;
}

/* Score all agents' rows and bring the scores, then the labels, in the order of agents, to process 0,
 * which has room for both in `all`; nothing else leaves a process. A failure in one, `status` among
 * them, is one in all. */
static saddle_status gather_scores(const instance *self, const double *x, size_t total, double *all,
                                   saddle_status status, saddle_error *error)
{
    const saddle_problem *problem = &self->problem;
    const saddle_world *world = problem->world;
    size_t most = 0;
    for (size_t k = 0; k < world->local; k++)
        most = problem->samples[world->here[k]] > most ? problem->samples[world->here[k]] : most;
    double *own = world->rank > 0 ? saddle_alloc_doubles(2 * most) : all;
    if (own == NULL)
        status = saddle_no_memory(error, "the scores");
    bool ready = saddle_world_agree(world, status, error) == SADDLE_OK;
    size_t done = 0;
    for (size_t i = 0; own != NULL && ready && i < problem->agents; i++) {
        size_t bytes = problem->samples[i] * sizeof *own;
        size_t home = world->home[i];
        double *score = world->rank > 0 ? own : own + done;
        double *label = world->rank > 0 ? own + most : own + total + done;
        if (home == world->rank) {
            SADDLE_THEN(status, saddle_model_score(self->model, self->shard[i], x, score, error));
            memcpy(label, self->shard[i]->label, bytes);
        }
        if (home == world->rank || world->rank == 0) {
            world->carry(world, home, 0, bytes, score);
            world->carry(world, home, 0, bytes, label);
        }
        done += problem->samples[i];
    }
    if (world->rank > 0)
        saddle_free(own);
    return ready ? saddle_world_agree(world, status, error) : status;
}

/* The outcomes over scored rows. */
static saddle_status judge(size_t rows, const double *score, const double *label, double out[2],
                           saddle_error *error)
{
    out[1] = pair_loss(rows, score, label);
    return saddle_ranking_auc(rows, score, label, &out[0], error);
}

/* Which pairs are in order shows only where all scores are at one place. */
static saddle_status outcomes(const saddle_problem *problem, const saddle_dataset *held_out,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    (void)y;
    const instance *self = self_of(problem);
    const saddle_world *world = problem->world;
    double worth[2] = {0.0, 0.0};
    saddle_status status = SADDLE_OK;
    *count = 0;
    size_t rows = held_out != NULL ? held_out->rows : 0;
    for (size_t i = 0; held_out == NULL && i < problem->agents; i++)
        rows += problem->samples[i];
    bool here = held_out != NULL || world->rank == 0;
    double *score = here ? saddle_alloc_doubles(2 * rows) : NULL;
    if (here && score == NULL)
        status = saddle_no_memory(error, "the scores");
    if (held_out != NULL) {
        SADDLE_THEN(status, saddle_model_score(self->model, held_out, x, score, error));
        SADDLE_THEN(status, judge(rows, score, held_out->label, worth, error));
    } else {
        status = gather_scores(self, x, rows, score, status, error);
        SADDLE_THEN_IF(status, score != NULL, judge(rows, score, score + rows, worth, error));
        status = saddle_world_agree(world, status, error);
        if (status == SADDLE_OK)
            world->share(world, 0, sizeof worth, worth);
    }
    saddle_free(score);
    if (status != SADDLE_OK)
        return status;
    out[0] = (saddle_outcome){"auc", worth[0]};
    out[1] = (saddle_outcome){"pair_loss", worth[1]};
    *count = 2;
    return SADDLE_OK;
}

static void start(const saddle_problem *problem, uint64_t seed, double *x, double *y)
{
    const saddle_model *model = self_of(problem)->model;
    memset(x, 0, problem->x_dim * sizeof *x);
    model->initialize(model, seed, x);
    *y = 0.0;
}

/* ---- making one ------------------------------------------------------------------------------ */

static void destroy(saddle_problem *problem)
{
    instance *self = problem->self;
    saddle_model_free(self->model);
    saddle_free(self->agent_share);
    saddle_free(self->look);
    saddle_free(self);
}

/* The agents' mean share of positives, by averaging in the network. Collective. */
static saddle_status find_share(instance *self, const saddle_problem_inputs *inputs,
                                saddle_error *error)
{
    const saddle_world *world = inputs->world;
    choices *chosen = inputs->options;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = inputs->shard[world->here[k]];
        size_t positives = 0;
        for (size_t row = 0; row < data->rows; row++)
            positives += data->label[row] > 0.0 ? 1 : 0;
        self->agent_share[world->here[k]] = (double)positives / (double)data->rows;
    }
    saddle_world_fill(world, 1, self->agent_share);
    saddle_status status = SADDLE_OK;
    if (isnan(chosen->positive_share))
        status = saddle_consensus_mean(inputs->mixing->graph, self->agent_share,
                                       &chosen->positive_share, NULL, error);
    self->share = chosen->positive_share;
    if (status == SADDLE_OK && !(self->share > 0.0 && self->share < 1.0))
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "positive: the share of positives is %g; auc needs samples of both "
                             "classes",
                             self->share);
    return status;
}

/* Sizes of the rows. Collective. */
static void survey(instance *self)
{
    const saddle_world *world = self->problem.world;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = self->shard[world->here[k]];
        for (size_t row = 0; row < data->rows; row++) {
            double *most = &self->row_norm2[data->label[row] > 0.0 ? 1 : 0];
            *most = fmax(*most, saddle_row_norm2(data, row) + 1.0);
        }
    }
    world->largest(world, 2, self->row_norm2);
}

/* A model at its start, to be looked at on agents' rows. */
typedef struct start_look {
    const instance *self;
    double *w; /* the model; then a gradient, then scratch */
} start_look;

/* An agent's part of the mean of |grad h|^2 over a block of every agent. */
static void curvature_term(void *context, size_t agent, double *out)
{
    const start_look *look = context;
    const saddle_model *model = look->self->model;
    const saddle_problem *problem = &look->self->problem;
    double *g = look->w + model->parameters;
    double *scratch = g + model->parameters;
    double h[BLOCK];
    double one[BLOCK];
    double square[BLOCK];
    for (size_t k = 0; k < BLOCK; k++)
        one[k] = 1.0;
    saddle_batch all = {.index = NULL, .count = problem->samples[agent]};
    saddle_rows_block block = block_at(look->self, agent, &all, 0);
    model->forward(model, &block, look->w, h, scratch);
    model->backward(model, &block, look->w, one, g, square, scratch);
    *out = saddle_sum(block.count, square) / (double)(block.count * problem->agents);
}

/*
 * The mean of |grad h|^2 at the start over a block of every agent, times mu: about the curvature of F
 * in x there. For linear scores it is mu (|a|^2 + 1) anywhere. Collective.
 */
static saddle_status typical_curvature(const instance *self, uint64_t seed, double *out,
                                       saddle_error *error)
{
    start_look look = {.self = self, .w = self->look};
    double mean = NAN;
    self->model->initialize(self->model, seed, look.w);
    saddle_status status =
        saddle_world_sum(self->problem.world, 1, curvature_term, &look, &mean, error);
    *out = concavity(self) * mean;
    return status;
}

static void describe(instance *self, const saddle_problem_inputs *inputs)
{
    self->problem = (saddle_problem){
        .name = "auc",
        .self = self,
        .x_dim = self->model->parameters + 2,
        .y_dim = 1,
        .agents = inputs->agents,
        .samples = inputs->samples,
        .world = inputs->world,
        .scratch = self->model->scratch,
        .gradient = gradient,
        .value = value,
        .difference = difference,
        .gradient_variance = gradient_variance,
        .response_solve = response_solve,
        .response_size = 1,
        .response_statistic = response_statistic,
        .constants = constants,
        .outcomes = outcomes,
        .scores = scores,
        .start = start,
        .destroy = destroy,
    };
}

/* What all agents find out together. */
static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    instance *self = problem->self;
    double curvature = 0.0;
    saddle_status status = find_share(self, inputs, error);
    if (status != SADDLE_OK)
        return status;
    survey(self);
    if (!inputs->scoring)
        status = typical_curvature(self, inputs->seed, &curvature, error);
    problem->tau = TAU_SHARE * curvature;
    problem->alpha = 1.0 / concavity(self);
    saddle_free(self->agent_share);
    saddle_free(self->look);
    self->agent_share = NULL;
    self->look = NULL;
    return status;
}

static saddle_status create(saddle_problem **out, const saddle_problem_inputs *inputs,
                            saddle_error *error)
{
    const choices *chosen = inputs->options;
    *out = NULL;
    instance *self = saddle_alloc(1, sizeof *self);
    if (self == NULL)
        return saddle_no_memory(error, "the problem");
    saddle_status status =
        saddle_model_create(&self->model, &chosen->model, inputs->features, error);
    if (status != SADDLE_OK) {
        saddle_free(self);
        return status;
    }
    self->shard = inputs->shard;
    self->linear = strcmp(chosen->model.score, "linear") == 0;
    self->agent_share = saddle_alloc_doubles(inputs->agents);
    self->look = saddle_alloc_doubles(2 * self->model->parameters + self->model->scratch);
    describe(self, inputs);
    if (self->agent_share == NULL || self->look == NULL) {
        destroy(&self->problem);
        return saddle_no_memory(error, "the problem");
    }
    *out = &self->problem;
    return SADDLE_OK;
}

const saddle_problem_class saddle_auc = {
    .name = "auc",
    .summary = "area under the ROC curve, with a linear or a network score",
    .needs_data = 1,
    .options = options,
    .option_bytes = sizeof(choices),
    .create = create,
    .join = join,
};
