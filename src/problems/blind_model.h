/*
 * A model for two classes that ignores some features: either a softmax over two linear scores with
 * biases, x = (w_-, v_-, w_+, v_+), of which only the difference t matters, or a network with score
 * t and parameters x. The weights of hidden features never change.
 */
#pragma once

#include "core/base.h"
#include "models/model.h"

typedef struct saddle_blind_model {
    saddle_model *model; /* computes t from its parameters u, which depend on x; owned */
    const bool *hidden;  /* per feature; borrowed */
    bool linear;         /* u is the difference of the two classes' parameters */
    size_t block;        /* largest number of rows in a block */
    size_t x_dim;
} saddle_blind_model;

/* Creates the model for rows of `features` columns. */
saddle_status saddle_blind_create(saddle_blind_model *out, const saddle_model_choice *choice,
                                  size_t features, saddle_error *error);
/* Computes u (model->parameters numbers) from x. */
void saddle_blind_parameters(const saddle_blind_model *blind, const double *x, double *u);
/* Computes the score t of every row, out[row]. */
saddle_status saddle_blind_scores(const saddle_blind_model *blind, const saddle_dataset *data,
                                  const double *x, double *out, saddle_error *error);
/* Like saddle_problem::linear. */
bool saddle_blind_linear(const saddle_blind_model *blind, const double *x, double *out);
/* Adds the gradient in x to gx, given the gradient in u as `along`, which is overwritten. */
void saddle_blind_add(const saddle_blind_model *blind, double *along, double *gx);
