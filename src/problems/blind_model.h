/*
 * A model for two classes that does not see some features: a softmax over two linear scores with biases, of which
 * only the difference t counts, x = (w_-, v_-, w_+, v_+), or a network with score t and parameters x. The
 * weights of hidden features stay as they are.
 */
#ifndef SADDLE_PROBLEMS_BLIND_MODEL_H
#define SADDLE_PROBLEMS_BLIND_MODEL_H

#include <stdbool.h>

#include "models/model.h"

typedef struct saddle_blind_model {
    saddle_model *model; /* gives t from its parameters u, which x determines; owned */
    const bool *hidden;  /* per feature; borrowed */
    bool linear;         /* u is the difference of the two classes' parameters */
    size_t block;        /* the most rows of a block */
    size_t x_dim;
} saddle_blind_model;

saddle_status saddle_blind_create(saddle_blind_model *out, const saddle_model_choice *choice,
                                  size_t features, saddle_error *error);
/* u (model->parameters) from x. */
void saddle_blind_parameters(const saddle_blind_model *blind, const double *x, double *u);
/* gx += the gradient in x, given the one in u as `along`, which is overwritten. */
void saddle_blind_add(const saddle_blind_model *blind, double *along, double *gx);

#endif
