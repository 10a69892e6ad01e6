/*
 * The built-in sets and regularizers. Each file defines a struct that begins with saddle_set or
 * saddle_regularizer and one or more classes that use it; set.c and regularizer.c list the classes.
 */
#pragma once

#include <saddle/set.h>

extern const saddle_set_class saddle_set_none;
extern const saddle_set_class saddle_set_bounded; /* box:LO:HI */
extern const saddle_set_class saddle_set_nonneg;
extern const saddle_set_class saddle_set_simplex;
extern const saddle_set_class saddle_set_l2_ball;
extern const saddle_set_class saddle_set_l1_ball;
extern const saddle_set_class saddle_set_linf_ball;
extern const saddle_set_class saddle_set_blocks;

/* Returns the class of a set. */
static inline const saddle_set_class *saddle_set_kind(const saddle_set *set)
{
    return (const saddle_set_class *)set->term.kind;
}

/* A block of entries of the vector and the set it must lie in. */
typedef struct saddle_set_block {
    size_t offset;   /* the first entry of the block; its length is the set's dimension */
    saddle_set *set; /* owned by the set of blocks */
} saddle_set_block;

/* Returns the blocks of a set of class saddle_set_blocks. Borrowed. */
const saddle_set_block *saddle_set_block_list(const saddle_set *set, size_t *count);

extern const saddle_regularizer_class saddle_regularizer_zero;
extern const saddle_regularizer_class saddle_regularizer_l1;
extern const saddle_regularizer_class saddle_regularizer_elastic_net;
extern const saddle_regularizer_class saddle_regularizer_group_l2;

/* Returns the class of a regularizer. */
static inline const saddle_regularizer_class *
saddle_regularizer_kind(const saddle_regularizer *regularizer)
{
    return (const saddle_regularizer_class *)regularizer->term.kind;
}

/* Returns W of group-l2:W:SIZE and stores SIZE; 0 for other regularizers. */
double saddle_group_weight(const saddle_regularizer *regularizer, size_t *size);

/* Returns whether saddle_prox_apply_metric() works: X is a product of intervals and h a sum over coordinates, or X is
 * an l2 ball and h = 0. */
bool saddle_prox_has_metric(const saddle_prox *prox);
/* Replaces v by argmin over u in X of sum_k metric[k] (u_k - v_k)^2 / 2 + step h(u), with metric[k] > 0. `scratch` has
 * saddle_prox_scratch() doubles. */
void saddle_prox_apply_metric(const saddle_prox *prox, double step, const double *metric, double *v,
                              double *scratch);

/* Replaces v by the point of an l2 ball that is nearest in a metric. Defined in ball.c. */
void saddle_ball_project_metric(const saddle_set *set, const double *metric, double *v);
