/*
 * Maximization of the area under the ROC curve (Ying, Wen, Lyu 2016; with deep scores: Liu, Yuan,
 * Ying, Yang 2020).
 *
 *   f = (1-r) (h - c1)^2 [b = 1] + r (h - c2)^2 [b = -1]
 *       + 2 (1 + y) (r h [b = -1] - (1-r) h [b = 1]) - r (1-r) y^2
 *
 * h is the score of a row, linear or by a network; x = (model, c1, c2), y is a scalar. If and only
 * if r is the share of positives in the mean that is F, eliminating c1, c2 and y leaves
 *
 *   Q = r (1-r) (E[(1 - h(a) + h(a'))^2 | b = 1, b' = -1] - 1),
 *
 * the square loss over pairs of a positive and a negative sample. (With another r, the bias of the
 * score can lower F without ranking anything.) So r is the mean of the agents' shares of positives,
 * weighted as the agents are in F, over the agents that are present: problem->shared. Agents compute
 * it by averaging with their neighbours, not by pooling data.
 *
 * Best response, Y an interval:  y* = projection of  E[r h [b = -1] - (1-r) h [b = 1]] / (r (1-r)).
 */
#include "problems/problems.h"

#include "core/vector.h"
#include "graph/search.h"
#include "models/ranking.h"
#include "problems/device_problem.h"
#include "problems/row_blocks.h"
#include "problems/scored.h"

typedef struct choices {
    saddle_model_choice model; /* first: its options fill it in at offset 0 */
    double positive_share;     /* NaN: computed by the agents */
} choices;

static const saddle_option *const options[] = {
    &saddle_score_option, &saddle_activation_option,
    &(const saddle_option)SADDLE_REAL_ABOVE(
        SADDLE_OWN(choices, positive_share, INSTANCE), "positive-share", "Problem auc", "auto", 0.0,
        1.0, "R",
        "Fraction of positive samples, r in the objective. auto: the agents compute it by "
        "averaging over the network, weighted as in the objective, and again whenever an agent "
        "leaves or joins."),
    NULL};

/* The default tau as a multiple of the trace of F's Hessian in x at the start. No direction has
 * more curvature than the trace, so a step of 1 / tau is stable. */
#define TAU_SHARE 0.5

enum { BLOCK = SADDLE_MODEL_BLOCK };

typedef struct instance {
    saddle_problem problem;       /* first: shares the address of the instance */
    saddle_dataset *const *shard; /* borrowed */
    saddle_model *model;
    double share;        /* r of all agents */
    bool given;          /* r was given */
    double square;       /* mean of |grad h|^2 at the start */
    double row_norm2[2]; /* largest |a|^2 + 1 of negatives and of positives */
    bool linear;
    double *agent_share; /* every agent's share of positives */
} instance;

/* Derivatives of f for the rows of a block. */
typedef struct slopes {
    double h[BLOCK]; /* the scores; afterwards df/dh */
    double c[BLOCK]; /* df/dc1 or df/dc2, whichever is not zero */
    double y[BLOCK]; /* df/dy without the common -2 r (1-r) y */
} slopes;

static bool is_positive(const saddle_rows_block *block, size_t k)
{
    return block->data->label[saddle_block_row(block, k)] > 0.0;
}

/* Returns the factor of h in the coupling with y: r for a negative, -(1-r) for a positive. */
static double coupling(double r, bool positive)
{
    return positive ? -(1.0 - r) : r;
}

/* Replaces the scores in s->h by slopes, and fills in the others, all multiplied by `scale`. */
static void find_slopes(const saddle_problem *problem, const saddle_rows_block *block,
                        const double *x, double y, double scale, slopes *s)
{
    const instance *self = problem->self;
    double r = *problem->shared;
    const double *center = x + self->model->parameters; /* c1, c2 */
    for (size_t k = 0; k < block->count; k++) {
        bool positive = is_positive(block, k);
        double side = coupling(r, positive);
        double pull = 2.0 * fabs(side) * (s->h[k] - center[positive ? 0 : 1]);
        s->y[k] = scale * 2.0 * side * s->h[k];
        s->c[k] = -scale * pull;
        s->h[k] = scale * (pull + 2.0 * (1.0 + y) * side);
    }
}

/* Adds the slopes in c1, c2 and y. */
static void add_scalars(const instance *self, const saddle_rows_block *block, const slopes *s,
                        const saddle_part *part)
{
    double center[2] = {0.0, 0.0};
    double y = 0.0;
    for (size_t k = 0; k < block->count; k++) {
        center[is_positive(block, k) ? 0 : 1] += s->c[k];
        y += s->y[k];
    }
    if (part->gx != NULL)
        saddle_axpy(2, 1.0, center, part->gx + self->model->parameters);
    if (part->gy != NULL)
        *part->gy += y;
}

/* Adds f without the common term in y, and the statistic: the factor of 2 (1 + y), and the rest. */
static void add_values(const saddle_problem *problem, const saddle_rows_block *block,
                       const double *h, const saddle_part *part)
{
    const instance *self = problem->self;
    double r = *problem->shared;
    const double *center = part->x + self->model->parameters;
    double f = 0.0;
    double coupled = 0.0;
    for (size_t k = 0; k < block->count; k++) {
        bool positive = is_positive(block, k);
        double side = coupling(r, positive);
        double off = h[k] - center[positive ? 0 : 1];
        f += fabs(side) * off * off;
        coupled += side * h[k];
    }
    if (part->value != NULL)
        *part->value += part->scale * (f + 2.0 * (1.0 + *part->y) * coupled);
    if (part->statistic != NULL) {
        part->statistic[0] += part->scale * coupled;
        part->statistic[1] += part->scale * f;
    }
}

/* Adds the gradient, and the squares if requested; s->h holds the scores. */
static void add_slopes(const saddle_problem *problem, const saddle_rows_block *block,
                       const saddle_part *part, slopes *s, double *scratch)
{
    const instance *self = problem->self;
    const saddle_model *model = self->model;
    bool squares = part->square != NULL && part->gx != NULL;
    double square[BLOCK];
    double sum = 0.0;
    find_slopes(problem, block, part->x, *part->y, part->scale, s);
    if (part->gx != NULL)
        /* cppcheck-suppress legacyUninitvar; backward() writes it */
        model->backward(model, block, part->x, s->h, part->gx, squares ? square : NULL, scratch);
    add_scalars(self, block, s, part);
    for (size_t k = 0; squares && k < block->count; k++)
        sum += square[k] + s->c[k] * s->c[k] + s->y[k] * s->y[k];
    if (squares)
        *part->square += sum / part->scale;
}

/* Adds the difference of the gradients at two points. */
static void add_difference(const saddle_problem *problem, const saddle_rows_block *block,
                           const saddle_part *part, double *scratch)
{
    const instance *self = problem->self;
    const saddle_model *model = self->model;
    slopes s1;
    slopes s0;
    model->forward2(model, block, part->x, part->x0, s1.h, s0.h, scratch);
    find_slopes(problem, block, part->x, *part->y, part->scale, &s1);
    find_slopes(problem, block, part->x0, *part->y0, part->scale, &s0);
    for (size_t k = 0; k < block->count; k++) {
        s1.c[k] -= s0.c[k];
        s1.y[k] -= s0.y[k];
    }
    add_scalars(self, block, &s1, part);
    model->backward2(model, block, part->x, part->x0, s1.h, s0.h, part->gx, scratch);
}

static void add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    const instance *self = problem->self;
    slopes s;
    for (size_t begin = 0; begin < part->batch.count; begin += BLOCK) {
        saddle_rows_block block = saddle_block_at(self->shard[agent], part, begin, BLOCK);
        if (part->x0 != NULL) {
            add_difference(problem, &block, part, scratch);
            continue;
        }
        self->model->forward(self->model, &block, part->x, s.h, scratch);
        if (part->value != NULL || part->statistic != NULL)
            add_values(problem, &block, s.h, part);
        if (part->gx != NULL || part->gy != NULL)
            add_slopes(problem, &block, part, &s, scratch);
    }
}

static double concavity(const saddle_problem *problem)
{
    return 2.0 * *problem->shared * (1.0 - *problem->shared);
}

/* Adds the common term -r (1-r) y^2. */
static void add_common(const saddle_problem *problem, const saddle_part *part)
{
    saddle_add_ridge(problem, concavity(problem), part);
}

static bool response_solve(const saddle_problem *problem, const double *x, const double *statistic,
                           const saddle_set *y_set, double *y, double *scratch)
{
    (void)x;
    *y = 2.0 * *statistic / concavity(problem);
    saddle_set_project(y_set, y, scratch);
    return true;
}

static double response_value(const saddle_problem *problem, const double *x,
                             const double *statistic, const double *y, double *scratch)
{
    (void)x;
    (void)scratch;
    return statistic[1] + 2.0 * (1.0 + *y) * statistic[0] - 0.5 * concavity(problem) * *y * *y;
}

/*
 * Returns the largest eigenvalue of the Hessian of f for a linear score. With s^2 = |a|^2 + 1, and
 * with k = 2 (1-r), t = r for a positive and k = 2 r, t = 1 - r for a negative, the Hessian in the
 * directions of (a, 1), of c and of y is
 *
 *   [ k s^2   -k s   -k s ]
 *   [ -k s     k      0   ]
 *   [ -k s     0     -k t ]
 *
 * Its largest eigenvalue e solves  e = k s^2 + (k s)^2/(e - k) + (k s)^2/(e + k t).
 * e grows with s, lies in [k (s^2 + 1), k (s^2 + 1) + k s], and for s >= 1 no eigenvalue has a
 * larger magnitude. The right side decreases with e, so e is found by bisection.
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

/* mu, and for linear scores L, are exact. At y = -1 F is a sum of squares minus r (1-r), which
 * bounds Q. */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    (void)x_set;
    const instance *self = problem->self;
    double r = *problem->shared;
    out->strong_concavity = concavity(problem);
    if (self->linear)
        out->lipschitz = fmax(top_curvature(2.0 * r, 1.0 - r, self->row_norm2[0]),
                              top_curvature(2.0 * (1.0 - r), r, self->row_norm2[1]));
    return saddle_bound_primal(out, -r * (1.0 - r), y_set, -1.0, 0.0, error);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

/* The score is h minus the midpoint of c1 and c2, which separates positives from negatives,
 * because a common shift of h, c1 and c2 does not change F. */
static saddle_status scores(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error)
{
    (void)y;
    const saddle_model *model = ((const instance *)problem->self)->model;
    const double *center = x + model->parameters;
    double middle = 0.5 * (center[0] + center[1]);
    SADDLE_TRY(saddle_model_score(model, data, x, out, error));
    for (size_t row = 0; row < data->rows; row++)
        out[row] -= middle;
    return SADDLE_OK;
}

static bool linear(const saddle_problem *problem, const double *x, const double *y, double *out)
{
    (void)y;
    const instance *self = problem->self;
    const double *center = x + self->model->parameters;
    if (!self->linear)
        return false;
    memcpy(out, x, self->model->parameters * sizeof *out);
    out[self->model->inputs] -= 0.5 * (center[0] + center[1]);
    return true;
}

/* For outcomes the score is h itself, because a common shift changes neither of them. */
static saddle_status score_rows(const saddle_problem *problem, const saddle_dataset *data,
                                const double *x, const double *y, double *out, saddle_error *error)
{
    (void)y;
    return saddle_model_score(((const instance *)problem->self)->model, data, x, out, error);
}

enum { AUC, PAIR_LOSS, MEASURES };

static saddle_status measure(size_t rows, double *score, const double *label, double *out,
                             saddle_error *error)
{
    out[PAIR_LOSS] = saddle_ranking_pair_loss(rows, score, label);
    return saddle_ranking_auc(rows, score, label, &out[AUC], error);
}

/* Counting pairs in the right order needs all scores in one process. */
static saddle_status outcomes(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const instance *self = problem->self;
    double found[MEASURES] = {NAN, NAN};
    *count = 0;
    SADDLE_TRY(saddle_measure_scores(score_rows, measure, self->shard, problem, rows, x, y,
                                     MEASURES, found, error));
    out[0] = (saddle_outcome){"auc", found[AUC], SADDLE_LARGER};
    out[1] = (saddle_outcome){"pair_loss", found[PAIR_LOSS], SADDLE_SMALLER};
    *count = MEASURES;
    return SADDLE_OK;
}

static void start(const saddle_problem *problem, uint64_t seed, double *x, double *y)
{
    const instance *self = problem->self;
    memset(x, 0, problem->x_dim * sizeof *x);
    self->model->initialize(self->model, seed, x);
    *y = 0.0;
}

static bool device(const saddle_problem *problem, saddle_device_problem *out)
{
    const instance *self = problem->self;
    *out = (saddle_device_problem){.shard = self->shard,
                                   .row_norm2 = saddle_row_norm2,
                                   .intercept = true,
                                   .loss_weight = 1.0,
                                   .auc = true,
                                   .share = *problem->shared,
                                   .ridge = concavity(problem),
                                   .refused = "--score"};
    return self->linear;
}

/* ---- the instance ---------------------------------------------------------------------------- */

static void release(saddle_problem *problem)
{
    instance *self = problem->self;
    saddle_model_free(self->model);
    saddle_free(self->agent_share);
}

/* Computes each agent's share of positives and the largest norms of rows in this process. */
static void scan_rows(instance *self)
{
    const saddle_world *world = self->problem.world;
    for (size_t k = 0; k < world->local; k++) {
        const saddle_dataset *data = self->shard[world->here[k]];
        size_t positives = 0;
        for (size_t row = 0; row < data->rows; row++) {
            size_t positive = data->label[row] > 0.0 ? 1 : 0;
            double *most = &self->row_norm2[positive];
            positives += positive;
            *most = fmax(*most, saddle_row_norm2(data, row) + 1.0);
        }
        self->agent_share[world->here[k]] = (double)positives / (double)data->rows;
    }
}

/* Sets r, and the default steps that follow from it. mu times the mean of |grad h|^2 at the start is
 * about the curvature of F in x there; for linear scores it is mu (|a|^2 + 1) everywhere. */
static void set_share(saddle_problem *problem, double r)
{
    const instance *self = problem->self;
    *problem->shared = r;
    problem->tau = TAU_SHARE * (concavity(problem) * self->square);
    problem->alpha = 1.0 / concavity(problem);
}

/* Returns the weighted mean of the agents' shares of positives. */
static double mean_share(const instance *self, const double *weight)
{
    double sum = 0.0;
    double total = 0.0;
    for (size_t i = 0; i < self->problem.agents; i++) {
        sum += weight[i] * self->agent_share[i];
        total += weight[i];
    }
    return sum / total;
}

/* Agents with samples of one class only have no pairs to rank; their r is that of all agents. */
static saddle_status share(saddle_problem *problem, const double *weight, saddle_error *error)
{
    (void)error;
    const instance *self = problem->self;
    double r = self->given ? self->share : mean_share(self, weight);
    set_share(problem, r > 0.0 && r < 1.0 ? r : self->share);
    return SADDLE_OK;
}

/* Computes the mean of the agents' shares of positives by averaging in the network. */
static saddle_status find_share(instance *self, const saddle_problem_inputs *inputs,
                                saddle_error *error)
{
    choices *chosen = inputs->options;
    self->given = !isnan(chosen->positive_share);
    if (!self->given && inputs->weight != NULL)
        chosen->positive_share = mean_share(self, inputs->weight);
    else if (!self->given)
        SADDLE_TRY(saddle_consensus_mean(inputs->mixing->graph, self->agent_share,
                                         &chosen->positive_share, NULL, error));
    set_share(&self->problem, chosen->positive_share);
    if (!(self->share > 0.0 && self->share < 1.0))
        return saddle_refuse(
            error,
            "--positive: the share of positives is %g, but auc needs samples of both classes",
            self->share);
    return SADDLE_OK;
}

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    instance *self = made;
    const choices *chosen = inputs->options;
    SADDLE_TRY(saddle_model_create(&self->model, &chosen->model, inputs->features, error));
    const saddle_model *model = self->model;
    self->shard = inputs->shard;
    self->linear = strcmp(chosen->model.score, "linear") == 0;
    self->agent_share = saddle_alloc_doubles(inputs->agents);
    self->problem.shared = &self->share;
    self->problem.shared_size = 1;
    self->problem.x_dim = model->parameters + 2;
    self->problem.scratch = model->scratch;
    SADDLE_TRY(saddle_check_memory(self->agent_share, "the problem", error));
    scan_rows(self);
    return SADDLE_OK;
}

/* Computes r, norms of rows and the default steps from all agents' data. */
static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    instance *self = problem->self;
    saddle_world_fill(problem->world, 1, self->agent_share);
    problem->world->largest(problem->world, 2, self->row_norm2);
    SADDLE_TRY(saddle_start_square(self->model, inputs, &self->square, error));
    SADDLE_TRY(find_share(self, inputs, error));
    problem->sample_cost = saddle_model_cost(self->model, inputs);
    return SADDLE_OK;
}

const saddle_problem_class saddle_auc = {
    .name = "auc",
    .summary = "linear or neural-network score that maximizes the area under the ROC curve",
    .needs_data = true,
    .scaling = SADDLE_ROWS_CENTRED,
    .local_data = true,
    .options = options,
    .options_size = sizeof(choices),
    .size = sizeof(instance),
    .init = init,
    .join = join,
    .common = {.y_dim = 1,
               .share = share,
               .add_samples = add_samples,
               .add_common = add_common,
               .response_solve = response_solve,
               .response_size = 2,
               .response_value = response_value,
               .constants = constants,
               .outcomes = outcomes,
               /* Scores and labels, and both again sorted by score. */
               .outcome_bytes = 4 * sizeof(double),
               .scores = scores,
               .linear = linear,
               .start = start,
               .device = device,
               .release = release},
};
