/*
 * A classifier that minimizes the loss of the worst of several groups of rows: distributionally
 * robust optimization over groups (Sagawa, Koh, Hashimoto, Liang, ICLR 2020). With one group for
 * each agent it is agnostic federated learning (Mohri, Sivek, Suresh, ICML 2019).
 *
 *   min over x, max over y in the simplex of  sum_g y_g l_g(x) - (mu/2) |y - 1/G|^2,
 *
 * where l_g is the mean logistic loss of the N_g rows of group g, over all agents, for a linear or
 * network score h. Agent i averages over its own n_i rows, so a row of group g has the weight m n_i
 * / N_g:
 *
 *   f_ij(x, y) = (m n_i / N_g) y_g log(1 + exp(-b h(x; a))) - (mu/2) |y - 1/G|^2
 *
 * With these weights (1/m) sum_i (1/n_i) sum_j f_ij equals the objective however groups and rows
 * are distributed over agents. The agents count the N_g together before the first iteration, and
 * again when one leaves or joins: m and N_g are those of the agents that are present. A group of
 * which none of them has a row has the loss 0.
 *
 * Best response, Y any convex set:  y* = projection of  1/G + l(x) / mu.
 */
#include "problems/problems.h"

#include "core/elementary.h"
#include "core/vector.h"
#include "problems/groups.h"
#include "problems/row_blocks.h"
#include "problems/scored.h"

#define GROUP "Problem group-dro"
#define OWN(field) SADDLE_OWN(choices, field, INSTANCE)

typedef struct choices {
    saddle_model_choice model; /* first: its options fill it in at offset 0 */
    const char *groups;        /* NULL: automatic */
    const char *values;        /* NULL: found in the agents' data */
    double ridge;
} choices;

const saddle_option saddle_groups_option = SADDLE_TEXT(
    OWN(groups), "groups", GROUP, "auto", "COLUMNS",
    "Which rows form a group.\n"
    "auto: agents for a9a and generated data; other data need one of the next two.\n"
    "agents: the rows of each agent.\n"
    "COLUMN[,COLUMN...]: rows with the same values in these columns, such as sex,label or "
    "73,label. A column is a name, the number of a feature from 1, or label.");
const saddle_option saddle_group_values_option = SADDLE_TEXT(
    OWN(values), "group-values", GROUP, "auto", "LIST",
    "The groups, in the order of the entries of y. Separate groups by commas and the values of "
    "a group by colons, as in 0:-1,0:1,1:-1,1:1 or female,male. A category may also be given "
    "by its number, from 0 in ascending order. auto: the groups that occur in the agents' "
    "rows, in ascending order.");
static const saddle_option *const options[] = {
    &saddle_score_option,
    &saddle_activation_option,
    &saddle_groups_option,
    &saddle_group_values_option,
    &(const saddle_option)SADDLE_REAL_ABOVE(
        OWN(ridge), "group-ridge", GROUP, "0.1", 0.0, SADDLE_UNBOUNDED, "MU",
        "Weight of the term -(MU/2) |y - 1/G|^2, where G is the number of groups. The smaller it "
        "is, the closer the objective is to the worst group's loss, and the harder it is to "
        "optimize."),
    NULL};

/* The default tau as a multiple of the mean of |grad h|^2 at the start: half the trace of F's
 * Hessian in x, because the curvature of a logistic loss is at most 1/4. */
#define TAU_SHARE 0.125
/* The largest default alpha. Larger steps of 1/mu would make y jump between vertices of the
 * simplex. */
#define MOST_ALPHA 3.0

enum { BLOCK = SADDLE_MODEL_BLOCK };

typedef struct instance {
    saddle_problem problem;       /* first: shares the address of the instance */
    saddle_dataset *const *shard; /* borrowed */
    saddle_model *model;
    saddle_groups groups;
    double ridge; /* mu */
    bool linear;
    char *values; /* the groups' values as a list, if they were found in the data */
} instance;

/* The numbers in problem->shared, of the agents that count. */
enum {
    AGENTS,     /* m */
    STEEP,      /* largest (m n_i / N_g) r, r^2 = |a|^2 + 1 */
    STEEPER,    /* largest (m n_i / N_g) r^2 */
    GROUP_ROWS, /* N_g of each group */
};

/* Returns the weight of an agent's rows of a group, which is 0 if none of the agents that count has
 * such rows. */
static double weight_of(const saddle_problem *problem, size_t agent, size_t group)
{
    double rows = problem->shared[GROUP_ROWS + group];
    return rows > 0.0 ? problem->shared[AGENTS] * (double)problem->samples[agent] / rows : 0.0;
}

/* Results for the rows of a block. */
typedef struct terms {
    size_t group[BLOCK];
    double h[BLOCK];     /* scores; afterwards -b h */
    double loss[BLOCK];  /* weighted, and multiplied by the part's scale */
    double slope[BLOCK]; /* d loss / d h */
} terms;

/* Computes weighted losses and slopes from the scores in t->h. */
static void find_terms(const saddle_problem *problem, size_t agent, const saddle_rows_block *block,
                       double scale, terms *t)
{
    const instance *self = problem->self;
    saddle_block_margins(block, 1, t->h);
    saddle_logistic(block->count, t->h, t->loss, t->slope);
    for (size_t k = 0; k < block->count; k++) {
        size_t row = saddle_block_row(block, k);
        t->group[k] = saddle_group_of(&self->groups, agent, row);
        double weight = scale * weight_of(problem, agent, t->group[k]);
        t->loss[k] *= weight;
        t->slope[k] *= -weight * block->data->label[row];
    }
}

/* Adds the gradient in x, and the squares if requested; t->slope is overwritten. */
static void add_slopes(const instance *self, const saddle_rows_block *block,
                       const saddle_part *part, terms *t, double *scratch)
{
    const saddle_model *model = self->model;
    bool squares = part->square != NULL;
    double square[BLOCK];
    double sum = 0.0;
    for (size_t k = 0; k < block->count; k++)
        t->slope[k] *= part->y[t->group[k]];
    /* cppcheck-suppress legacyUninitvar; backward() writes it */
    model->backward(model, block, part->x, t->slope, part->gx, squares ? square : NULL, scratch);
    for (size_t k = 0; squares && k < block->count; k++)
        sum += square[k] + t->loss[k] * t->loss[k];
    if (squares)
        *part->square += sum / part->scale;
}

/* Adds a block at a point. */
static void add_point(const saddle_problem *problem, size_t agent, const saddle_rows_block *block,
                      const saddle_part *part, double *scratch)
{
    const instance *self = problem->self;
    terms t;
    self->model->forward(self->model, block, part->x, t.h, scratch);
    find_terms(problem, agent, block, part->scale, &t);
    for (size_t k = 0; k < block->count; k++) {
        if (part->gy != NULL)
            part->gy[t.group[k]] += t.loss[k];
        if (part->statistic != NULL)
            part->statistic[t.group[k]] += t.loss[k];
        if (part->value != NULL)
            *part->value += part->y[t.group[k]] * t.loss[k];
    }
    if (part->gx != NULL)
        add_slopes(self, block, part, &t, scratch);
}

/* Adds the difference of the gradients at two points. */
static void add_difference(const saddle_problem *problem, size_t agent,
                           const saddle_rows_block *block, const saddle_part *part, double *scratch)
{
    const instance *self = problem->self;
    const saddle_model *model = self->model;
    terms t1;
    terms t0;
    model->forward2(model, block, part->x, part->x0, t1.h, t0.h, scratch);
    find_terms(problem, agent, block, part->scale, &t1);
    find_terms(problem, agent, block, part->scale, &t0);
    for (size_t k = 0; k < block->count; k++) {
        part->gy[t1.group[k]] += t1.loss[k] - t0.loss[k];
        t1.slope[k] *= part->y[t1.group[k]];
        t0.slope[k] *= part->y0[t0.group[k]];
    }
    model->backward2(model, block, part->x, part->x0, t1.slope, t0.slope, part->gx, scratch);
}

static void add_samples(const saddle_problem *problem, size_t agent, const saddle_part *part,
                        double *scratch)
{
    const instance *self = problem->self;
    for (size_t begin = 0; begin < part->batch.count; begin += BLOCK) {
        saddle_rows_block block = saddle_block_at(self->shard[agent], part, begin, BLOCK);
        if (part->x0 != NULL)
            add_difference(problem, agent, &block, part, scratch);
        else
            add_point(problem, agent, &block, part, scratch);
    }
}

/* -(mu/2) |y - 1/G|^2 */
static double dual_term(const instance *self, const double *y)
{
    size_t count = self->groups.count;
    double sum = 0.0;
    for (size_t g = 0; g < count; g++)
        sum += (y[g] - 1.0 / (double)count) * (y[g] - 1.0 / (double)count);
    return -0.5 * self->ridge * sum;
}

static void add_common(const saddle_problem *problem, const saddle_part *part)
{
    const instance *self = problem->self;
    double weight = part->scale * self->ridge;
    for (size_t g = 0; part->gy != NULL && g < problem->y_dim; g++) {
        double center = part->y0 != NULL ? part->y0[g] : 1.0 / (double)problem->y_dim;
        part->gy[g] -= weight * (part->y[g] - center);
    }
    if (part->value != NULL)
        *part->value += part->scale * dual_term(self, part->y);
}

/* The mean of the agents' statistics is the vector of the groups' losses. */
static bool response_solve(const saddle_problem *problem, const double *x, const double *statistic,
                           const saddle_set *y_set, double *y, double *scratch)
{
    (void)x;
    const instance *self = problem->self;
    for (size_t g = 0; g < problem->y_dim; g++)
        y[g] = 1.0 / (double)problem->y_dim + statistic[g] / self->ridge;
    saddle_set_project(y_set, y, scratch);
    return true;
}

static double response_value(const saddle_problem *problem, const double *x,
                             const double *statistic, const double *y, double *scratch)
{
    (void)x;
    (void)scratch;
    return saddle_dot(problem->y_dim, y, statistic) + dual_term(problem->self, y);
}

/*
 * mu is exact. For linear scores, with c = m n_i / N_g, r^2 = |a|^2 + 1 and |y_g| <= Y on the set,
 * the blocks of the Hessian of f_ij have norms
 *   |H_xx| <= c Y r^2 / 4,   |H_xy| <= c r,   |H_yy| = mu.
 */
static saddle_status constants(const saddle_problem *problem, const saddle_set *x_set,
                               const saddle_set *y_set, saddle_constants *out, saddle_error *error)
{
    (void)x_set;
    const instance *self = problem->self;
    double lower;
    double upper;
    saddle_set_range(y_set, &lower, &upper);
    double most = fmax(fabs(lower), fabs(upper));
    out->strong_concavity = self->ridge;
    if (self->linear && isfinite(most))
        out->lipschitz = saddle_block_norm(most * problem->shared[STEEPER] / 4.0,
                                           problem->shared[STEEP], self->ridge);
    /* At y = 1/G only the losses remain, which are not negative. */
    return saddle_bound_primal(out, 0.0, y_set, 1.0 / (double)problem->y_dim, 1e-12, error);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

/* Counts the rows of each group, and all rows, including those of no group. */
static void count_rows(const saddle_problem *problem, const saddle_dataset *held_out, size_t agent,
                       const double *x, const double *y, double *sums, double *scratch)
{
    (void)y;
    const instance *self = problem->self;
    const saddle_dataset *data = held_out != NULL ? held_out : self->shard[agent];
    size_t groups = self->groups.count;
    saddle_tally *counts = (saddle_tally *)(void *)sums;
    double h[BLOCK];
    memset(counts, 0, (groups + 1) * sizeof *counts);
    saddle_part all = {.batch = {.count = data->rows}};
    for (size_t begin = 0; begin < data->rows; begin += BLOCK) {
        saddle_rows_block block = saddle_block_at(data, &all, begin, BLOCK);
        self->model->forward(self->model, &block, x, h, scratch);
        for (size_t k = 0; k < block.count; k++) {
            size_t row = begin + k;
            size_t group = held_out != NULL ? saddle_groups_find(&self->groups, data, row)
                                            : saddle_group_of(&self->groups, agent, row);
            saddle_tally one = saddle_tally_row(data->label[row], h[k]);
            if (group < groups)
                saddle_tally_add(&counts[group], one);
            saddle_tally_add(&counts[groups], one);
        }
    }
}

/* With more groups than names there is no outcome per group, only those of the worst group. */
static const char *const group_accuracy[] = {
    "group_1_accuracy", "group_2_accuracy",  "group_3_accuracy",  "group_4_accuracy",
    "group_5_accuracy", "group_6_accuracy",  "group_7_accuracy",  "group_8_accuracy",
    "group_9_accuracy", "group_10_accuracy", "group_11_accuracy", "group_12_accuracy"};
enum { NAMED = sizeof group_accuracy / sizeof *group_accuracy, OVERALL = 4 };
_Static_assert(NAMED + OVERALL <= SADDLE_MOST_OUTCOMES, "too many outcomes");

/* Finds the worst values over the groups that have rows; NaN if no group has rows or one of the
 * losses is NaN. */
static void find_worst(size_t groups, const saddle_tally *counts, double *accuracy, double *loss)
{
    *accuracy = NAN;
    *loss = NAN;
    for (size_t g = 0; g < groups; g++) {
        if (counts[g].rows == 0.0)
            continue;
        double right = saddle_tally_accuracy(&counts[g]);
        double mean = saddle_tally_loss(&counts[g]);
        *accuracy = !(right >= *accuracy) ? right : *accuracy;
        *loss = !(mean <= *loss) ? mean : *loss;
    }
}

static saddle_status outcomes(const saddle_problem *problem, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const instance *self = problem->self;
    size_t groups = self->groups.count;
    SADDLE_OWNED double *sums = NULL;
    *count = 0;
    if (rows->held_out != NULL && rows->held_out->features != self->model->inputs)
        return SADDLE_OK;
    SADDLE_TRY(saddle_outcome_sums(&sums, (groups + 1) * (sizeof(saddle_tally) / sizeof *sums),
                                   count_rows, problem, rows, x, y, error));
    const saddle_tally *counts = (const saddle_tally *)(const void *)sums;
    double accuracy;
    double loss;
    find_worst(groups, counts, &accuracy, &loss);
    out[0] = (saddle_outcome){"worst_group_accuracy", accuracy, SADDLE_LARGER};
    out[1] = (saddle_outcome){"accuracy", saddle_tally_accuracy(&counts[groups]), SADDLE_LARGER};
    out[2] = (saddle_outcome){"worst_group_loss", loss, SADDLE_SMALLER};
    out[3] = (saddle_outcome){"loss", saddle_tally_loss(&counts[groups]), SADDLE_SMALLER};
    *count = OVERALL;
    for (size_t g = 0; groups <= NAMED && g < groups; g++)
        out[(*count)++] =
            (saddle_outcome){group_accuracy[g], saddle_tally_accuracy(&counts[g]), SADDLE_LARGER};
    return SADDLE_OK;
}

/* The score is h, the logarithm of the odds of +1. */
static saddle_status scores(const saddle_problem *problem, const saddle_dataset *data,
                            const double *x, const double *y, double *out, saddle_error *error)
{
    (void)y;
    return saddle_model_score(((const instance *)problem->self)->model, data, x, out, error);
}

static bool linear(const saddle_problem *problem, const double *x, const double *y, double *out)
{
    (void)y;
    const instance *self = problem->self;
    if (self->linear)
        memcpy(out, x, self->model->parameters * sizeof *out);
    return self->linear;
}

static void start(const saddle_problem *problem, uint64_t seed, double *x, double *y)
{
    const instance *self = problem->self;
    self->model->initialize(self->model, seed, x);
    for (size_t g = 0; g < problem->y_dim; g++)
        y[g] = 1.0 / (double)problem->y_dim;
}

/* ---- the instance ---------------------------------------------------------------------------- */

static void release(saddle_problem *problem)
{
    instance *self = problem->self;
    saddle_model_free(self->model);
    saddle_groups_free(&self->groups);
    saddle_free(self->values);
    saddle_free(problem->shared);
}

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    instance *self = made;
    choices *chosen = inputs->options;
    SADDLE_TRY(saddle_model_create(&self->model, &chosen->model, inputs->features, error));
    self->shard = inputs->shard;
    self->linear = strcmp(chosen->model.score, "linear") == 0;
    self->ridge = chosen->ridge;
    self->problem.x_dim = self->model->parameters;
    self->problem.scratch = self->model->scratch;
    return saddle_groups_read(&self->groups, inputs, &chosen->groups, chosen->values, error);
}

/* Computes the largest weight times r and times r^2 over the rows of the agents whose weight is not
 * 0; NULL: of all. Collective. */
static void find_steepest(const saddle_problem *problem, const double *weight)
{
    const instance *self = problem->self;
    const saddle_world *world = problem->world;
    double *steep = problem->shared + STEEP;
    steep[0] = steep[1] = 0.0;
    for (size_t k = 0; k < world->local; k++) {
        size_t i = world->here[k];
        bool counts = weight == NULL || weight[i] > 0.0;
        for (size_t row = 0; counts && row < self->shard[i]->rows; row++) {
            double factor = weight_of(problem, i, saddle_group_of(&self->groups, i, row));
            double norm2 = saddle_row_norm2(self->shard[i], row) + 1.0;
            steep[0] = fmax(steep[0], factor * sqrt(norm2));
            steep[1] = fmax(steep[1], factor * norm2);
        }
    }
    world->largest(world, 2, steep);
}

/* Weights other than 0 are all the same to it: it counts rows itself. */
static saddle_status share(saddle_problem *problem, const double *weight, saddle_error *error)
{
    const instance *self = problem->self;
    double *shared = problem->shared;
    int64_t *rows = saddle_alloc(self->groups.count, sizeof *rows);
    saddle_status status = saddle_check_memory(rows, "the groups", error);
    SADDLE_TRY(saddle_world_agree(problem->world, status, error));
    saddle_groups_count(&self->groups, weight, rows);
    shared[AGENTS] = 0.0;
    for (size_t i = 0; i < problem->agents; i++)
        shared[AGENTS] += weight[i] > 0.0 ? 1.0 : 0.0;
    for (size_t g = 0; g < self->groups.count; g++)
        shared[GROUP_ROWS + g] = (double)rows[g];
    saddle_free(rows);
    find_steepest(problem, weight);
    return SADDLE_OK;
}

/* Records the groups that were found in the data, so that a saved model can be used. */
static saddle_status record_values(instance *self, choices *chosen, saddle_error *error)
{
    if (self->groups.by_agent || self->groups.given)
        return SADDLE_OK;
    self->values = saddle_groups_list(&self->groups);
    chosen->values = self->values;
    return self->values != NULL ? SADDLE_OK : saddle_no_memory(error, "the groups");
}

/* Completes the groups, their weights and the default steps from all agents' data. */
static saddle_status join(saddle_problem *problem, const saddle_problem_inputs *inputs,
                          saddle_error *error)
{
    instance *self = problem->self;
    double square = 0.0;
    SADDLE_TRY(saddle_groups_join(&self->groups, error));
    problem->shared_size = GROUP_ROWS + self->groups.count;
    problem->shared = saddle_alloc_doubles(problem->shared_size);
    saddle_status status = saddle_check_memory(problem->shared, "the groups", error);
    SADDLE_TRY(saddle_world_agree(problem->world, status, error));
    problem->shared[AGENTS] = (double)problem->agents;
    for (size_t g = 0; g < self->groups.count; g++)
        problem->shared[GROUP_ROWS + g] = (double)self->groups.size[g];
    SADDLE_TRY(saddle_start_square(self->model, inputs, &square, error));
    if (!inputs->scoring)
        find_steepest(problem, NULL);
    problem->sample_cost = saddle_model_cost(self->model, inputs);
    problem->y_dim = self->groups.count;
    problem->response_size = self->groups.count;
    problem->tau = square * TAU_SHARE;
    problem->alpha = fmin(1.0 / self->ridge, MOST_ALPHA);
    return record_values(self, inputs->options, error);
}

const saddle_problem_class saddle_group_dro = {
    .name = "group-dro",
    .summary =
        "classifier that is good for the worst of several groups of rows, or for the worst agent",
    .needs_data = true,
    .scaling = SADDLE_ROWS_CENTRED,
    .attributes = &saddle_groups_option,
    .local_data = true,
    .options = options,
    .options_size = sizeof(choices),
    .size = sizeof(instance),
    .init = init,
    .join = join,
    .common = {.y_set = "simplex",
               .counts_rows = true,
               .share = share,
               .add_samples = add_samples,
               .add_common = add_common,
               .response_solve = response_solve,
               .response_value = response_value,
               .constants = constants,
               .outcomes = outcomes,
               .scores = scores,
               .linear = linear,
               .start = start,
               .release = release},
};
