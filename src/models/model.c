/* Making a model by name, and functions for all models. */
#include "models/model.h"

#define GROUP "Model"

const saddle_option saddle_score_option = SADDLE_TEXT(
    SADDLE_OWN(saddle_model_choice, score, INSTANCE), "score", GROUP, "linear", "MODEL",
    "Model that scores a row.\n"
    "linear: a linear function with a bias.\n"
    "mlp:H1[,H2,...]: a multilayer perceptron with hidden layers of H1, H2, ... units.");

#define OWN_OF_MLP(field)                             \
    SADDLE_OWN(saddle_model_choice, field, INSTANCE), \
        .used_with = {&saddle_score_option, "mlp", false}

const saddle_option saddle_activation_option = SADDLE_CHOICE(
    OWN_OF_MLP(activation), "activation", GROUP, "relu", "relu|tanh|elu|sigmoid", "FUNCTION",
    "Activation function of the hidden layers of an mlp. The theory assumes smooth functions, but "
    "relu is not differentiable at 0.");

saddle_status saddle_model_create(saddle_model **out, const saddle_model_choice *choice,
                                  size_t inputs, saddle_error *error)
{
    *out = NULL;
    if (strcmp(choice->score, "linear") == 0)
        return saddle_linear_create(out, inputs, error);
    if (strncmp(choice->score, "mlp:", 4) == 0)
        return saddle_mlp_create(out, inputs, choice->score + 4, choice->activation, error);
    return saddle_refuse(
        error, "--score: '%s' is not a model; give linear or mlp:H1[,H2,...], such as mlp:64",
        choice->score);
}

void saddle_model_free(saddle_model *model)
{
    saddle_free(model);
}

saddle_status saddle_model_score(const saddle_model *model, const saddle_dataset *data,
                                 const double *w, double *out, saddle_error *error)
{
    if (data->features > model->inputs)
        return saddle_refuse(
            error,
            "the data have %zu feature%s, but the model has %zu; give data with at most as many",
            data->features, SADDLE_PLURAL(data->features), model->inputs);
    SADDLE_OWNED double *scratch = saddle_alloc_doubles(model->scratch);
    SADDLE_TRY(saddle_check_memory(scratch, "the model", error));
    for (size_t first = 0; first < data->rows; first += SADDLE_MODEL_BLOCK) {
        size_t rest = data->rows - first;
        saddle_rows_block block = {.data = data,
                                   .first = first,
                                   .count = rest < SADDLE_MODEL_BLOCK ? rest : SADDLE_MODEL_BLOCK};
        model->forward(model, &block, w, out + first, scratch);
    }
    return SADDLE_OK;
}
