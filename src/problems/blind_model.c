#include "problems/blind_model.h"

#include "core/vector.h"
#include "problems/row_blocks.h"

/* Sets the parameters that multiply hidden features to 0. */
static void hide(const saddle_blind_model *blind, double *u)
{
    size_t units = blind->model->first_units;
    for (size_t k = 0; k < blind->model->inputs; k++)
        if (blind->hidden[k])
            memset(u + k * units, 0, units * sizeof *u);
}

saddle_status saddle_blind_create(saddle_blind_model *out, const saddle_model_choice *choice,
                                  size_t features, saddle_error *error)
{
    SADDLE_TRY(saddle_model_create(&out->model, choice, features, error));
    out->linear = strcmp(choice->score, "linear") == 0;
    out->block = out->linear ? SADDLE_ROW_BLOCK : SADDLE_MODEL_BLOCK;
    out->x_dim = (out->linear ? 2 : 1) * out->model->parameters;
    return SADDLE_OK;
}

void saddle_blind_parameters(const saddle_blind_model *blind, const double *x, double *u)
{
    size_t count = blind->model->parameters;
    if (blind->linear)
        for (size_t k = 0; k < count; k++)
            u[k] = x[count + k] - x[k];
    else
        memcpy(u, x, count * sizeof *u);
    hide(blind, u);
}

saddle_status saddle_blind_scores(const saddle_blind_model *blind, const saddle_dataset *data,
                                  const double *x, double *out, saddle_error *error)
{
    SADDLE_TRY(saddle_rows_check(data, blind->model->inputs, error));
    SADDLE_OWNED double *u = saddle_alloc_doubles(blind->model->parameters);
    SADDLE_TRY(saddle_check_memory(u, "the model", error));
    saddle_blind_parameters(blind, x, u);
    return saddle_model_score(blind->model, data, u, out, error);
}

bool saddle_blind_linear(const saddle_blind_model *blind, const double *x, double *out)
{
    if (blind->linear)
        saddle_blind_parameters(blind, x, out);
    return blind->linear;
}

/* For linear scores, the gradients in the two classes' parameters are opposite. */
void saddle_blind_add(const saddle_blind_model *blind, double *along, double *gx)
{
    size_t count = blind->model->parameters;
    hide(blind, along);
    if (blind->linear)
        saddle_axpy(count, -1.0, along, gx);
    saddle_axpy(count, 1.0, along, blind->linear ? gx + count : gx);
}
