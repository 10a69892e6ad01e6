#include "problems/scored.h"

#include "core/memory.h"
#include "core/status.h"
#include "core/vector.h"
#include "problems/problems.h"
#include "problems/row_blocks.h"

/* What a term of the mean is made from. */
typedef struct start {
    const saddle_model *model;
    const saddle_problem_inputs *inputs;
    double *w;       /* parameters */
    double *g;       /* a gradient that is not looked at */
    double *scratch; /* of the model */
} start;

/* An agent's part of the mean. */
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
    /* A model that is only used has no start to look at: what its file claims takes no memory here. */
    if (inputs->scoring)
        return SADDLE_OK;
    start s = {.model = model,
               .inputs = inputs,
               .w = saddle_alloc_doubles(2 * model->parameters + model->scratch)};
    saddle_status status = s.w != NULL ? SADDLE_OK : saddle_no_memory(error, "the problem");
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

/* Later layers work on whole vectors: one for a parameter. */
double saddle_model_cost(const saddle_model *model, const saddle_problem_inputs *inputs)
{
    size_t later = model->parameters - model->inputs * model->first_units;
    return saddle_row_cost(inputs, model->first_units) + (double)later;
}
