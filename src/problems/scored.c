#include "problems/scored.h"

#include "core/elementary.h"
#include "core/vector.h"
#include "problems/problems.h"
#include "problems/row_blocks.h"

/* The context of square_term(). */
typedef struct start {
    const saddle_model *model;
    const saddle_problem_inputs *inputs;
    double *w;       /* parameters */
    double *g;       /* a gradient that is not used */
    double *scratch; /* of the model */
} start;

/* Computes an agent's contribution to the mean. */
static void square_term(void *context, size_t agent, double *out)
{
    const start *s = context;
    const saddle_model *model = s->model;
    double h[SADDLE_MODEL_BLOCK];
    double one[SADDLE_MODEL_BLOCK];
    double square[SADDLE_MODEL_BLOCK];
    for (size_t k = 0; k < SADDLE_MODEL_BLOCK; k++)
        one[k] = 1.0;
    saddle_part all = {.batch = {.count = s->inputs->samples[agent]}};
    saddle_rows_block block = saddle_block_at(s->inputs->shard[agent], &all, 0, SADDLE_MODEL_BLOCK);
    model->forward(model, &block, s->w, h, s->scratch);
    model->backward(model, &block, s->w, one, s->g, square, s->scratch);
    *out = saddle_sum(block.count, square) / (double)(block.count * s->inputs->agents);
}

saddle_status saddle_start_square(const saddle_model *model, const saddle_problem_inputs *inputs,
                                  double *out, saddle_error *error)
{
    *out = 0.0;
    /* Scoring needs no start. This also keeps a damaged model file from making us allocate the
     * size it claims. */
    if (inputs->scoring)
        return SADDLE_OK;
    start s = {.model = model,
               .inputs = inputs,
               .w = saddle_alloc_doubles(2 * model->parameters + model->scratch)};
    saddle_status status = saddle_check_memory(s.w, "the problem", error);
    status = saddle_world_agree(inputs->world, status, error);
    if (s.w != NULL && status == SADDLE_OK) {
        s.g = s.w + model->parameters;
        s.scratch = s.g + model->parameters;
        model->initialize(model, inputs->seed, s.w);
        status = saddle_world_sum(inputs->world, 1, square_term, &s, out, error);
    }
    saddle_free(s.w);
    return status;
}

/* Later layers are dense: one multiplication per parameter. */
double saddle_model_cost(const saddle_model *model, const saddle_problem_inputs *inputs)
{
    size_t later = model->parameters - model->inputs * model->first_units;
    return saddle_row_cost(inputs, model->first_units) + (double)later;
}

saddle_tally saddle_tally_row(double label, double score)
{
    return (saddle_tally){.rows = 1.0,
                          .correct = (score > 0.0) == (label > 0.0) ? 1.0 : 0.0,
                          .loss = saddle_softplus(-label * score)};
}

void saddle_tally_add(saddle_tally *sum, saddle_tally more)
{
    sum->rows += more.rows;
    sum->correct += more.correct;
    sum->loss += more.loss;
}

double saddle_tally_accuracy(const saddle_tally *tally)
{
    return tally->rows > 0.0 ? tally->correct / tally->rows : (double)NAN;
}

double saddle_tally_loss(const saddle_tally *tally)
{
    return tally->rows > 0.0 ? tally->loss / tally->rows : (double)NAN;
}

/* What scores are computed from and where they are collected. */
typedef struct collection {
    saddle_row_scorer *scorer;
    saddle_dataset *const *shard;
    const saddle_problem *problem;
    const saddle_outcome_rows *which;
    const double *x, *y;
    size_t rows; /* between a score and its label */
} collection;

/* Returns the number of an agent's scores that this process holds: process 0 receives those of
 * all agents that count. */
static size_t rows_of(const collection *c, size_t agent)
{
    const saddle_world *world = c->problem->world;
    bool here = world->rank == 0 || saddle_world_has(world, agent);
    return here && saddle_outcome_counts(c->which, agent) ? c->problem->samples[agent] : 0;
}

static saddle_status score_rows(const collection *c, const saddle_dataset *data, double *score,
                                saddle_error *error)
{
    memcpy(score + c->rows, data->label, data->rows * sizeof *score);
    return c->scorer(c->problem, data, c->x, c->y, score, error);
}

/* Scores the rows of the agents in this process, in their order. */
static saddle_status score_agents(const collection *c, double *score, saddle_error *error)
{
    for (size_t i = 0; i < c->problem->agents; i++) {
        if (saddle_world_has(c->problem->world, i) && rows_of(c, i) > 0)
            SADDLE_TRY(score_rows(c, c->shard[i], score, error));
        score += rows_of(c, i);
    }
    return SADDLE_OK;
}

static void carry_scores(const collection *c, double *score)
{
    const saddle_problem *problem = c->problem;
    const saddle_world *world = problem->world;
    for (size_t i = 0; i < problem->agents; i++)
        if (rows_of(c, i) > 0) {
            size_t bytes = problem->samples[i] * sizeof *score;
            world->transfer(world, world->home[i], 0, bytes, score);
            world->transfer(world, world->home[i], 0, bytes, score + c->rows);
            score += problem->samples[i];
        }
}

saddle_status saddle_measure_scores(saddle_row_scorer *scorer, saddle_score_measure *measure,
                                    saddle_dataset *const *shard, const saddle_problem *problem,
                                    const saddle_outcome_rows *rows, const double *x,
                                    const double *y, size_t count, double *out, saddle_error *error)
{
    const saddle_world *world = problem->world;
    const saddle_dataset *held_out = rows->held_out;
    collection c = {
        .scorer = scorer, .shard = shard, .problem = problem, .which = rows, .x = x, .y = y};
    c.rows = held_out != NULL ? held_out->rows : 0;
    for (size_t i = 0; held_out == NULL && i < problem->agents; i++)
        c.rows += rows_of(&c, i);
    SADDLE_OWNED double *score = saddle_alloc_doubles(2 * c.rows);
    saddle_status status = score == NULL      ? saddle_no_memory(error, "the scores")
                           : held_out != NULL ? score_rows(&c, held_out, score, error)
                                              : score_agents(&c, score, error);
    if (held_out == NULL)
        status = saddle_world_agree(world, status, error);
    if (score != NULL && status == SADDLE_OK) {
        if (held_out == NULL)
            carry_scores(&c, score);
        if (held_out != NULL || world->rank == 0)
            status = measure(c.rows, score, score + c.rows, out, error);
        if (held_out == NULL)
            world->share(world, 0, count * sizeof *out, out);
    }
    return status;
}
