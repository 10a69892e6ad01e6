/*
 * What a regularizer is made of. One file per regularizer: it defines a struct that begins with
 * saddle_regularizer and one const table of functions; SADDLE_REGULARIZERS is the list.
 */
#ifndef SADDLE_SETS_REGULARIZER_H
#define SADDLE_SETS_REGULARIZER_H

#include <saddle/set.h>

/* h(x) = l1 |x|_1 + l2/2 |x|_2^2, a sum over coordinates. */
typedef struct saddle_weights {
    double l1;
    double l2;
} saddle_weights;

/* The functions of one kind of regularizer. Exactly one of weights() and shrink() is given. */
typedef struct saddle_regularizer_class {
    size_t size; /* bytes of the struct that begins with saddle_regularizer */
    /* Read regularizer->text into the struct, which is zero but for the base; set is_zero. */
    saddle_status (*parse)(saddle_regularizer *regularizer, saddle_error *error);
    /* h(v) */
    double (*value)(const saddle_regularizer *regularizer, const double *v);
    /* The weights of a separable h. */
    saddle_weights (*weights)(const saddle_regularizer *regularizer);
    /* Replace v by the prox of step h over the whole space. */
    void (*shrink)(const saddle_regularizer *regularizer, double step, double *v);
} saddle_regularizer_class;

/* The beginning of every regularizer. */
struct saddle_regularizer {
    const saddle_regularizer_class *class;
    const saddle_set_info *info; /* borrowed from the list of regularizers */
    char *text;                  /* owned */
    size_t dimension;            /* at least 1 */
    bool is_zero;                /* all weights are zero */
};

/* Every kind of regularizer: X(identifier, name, synopsis, summary). */
#define SADDLE_REGULARIZERS(X)                                                                    \
    X(zero, "none", "none", "no regularizer; costs nothing")                                      \
    X(l1, "l1", "l1:W", "W sum_k |x_k|; O(n)")                                                    \
    X(elastic_net, "elastic-net", "elastic-net:W1:W2", "W1 sum_k |x_k| + W2/2 sum_k x_k^2; O(n)") \
    X(group_l2, "group-l2", "group-l2:W:SIZE",                                                    \
      "W times the sum of the Euclidean norms of groups of SIZE consecutive entries; O(n)")

#define SADDLE_REGULARIZER_DECLARE(identifier, name, synopsis, summary) \
    extern const saddle_regularizer_class saddle_regularizer_##identifier;
SADDLE_REGULARIZERS(SADDLE_REGULARIZER_DECLARE)
#undef SADDLE_REGULARIZER_DECLARE

#endif
