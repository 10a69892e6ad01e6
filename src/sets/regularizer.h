/*
 * The built-in regularizers. Each file defines a struct that begins with saddle_regularizer and one
 * or more classes that use it; regularizer.c lists the classes.
 */
#ifndef SADDLE_SETS_REGULARIZER_H
#define SADDLE_SETS_REGULARIZER_H

#include <saddle/set.h>

extern const saddle_regularizer_class saddle_regularizer_zero;
extern const saddle_regularizer_class saddle_regularizer_l1;
extern const saddle_regularizer_class saddle_regularizer_elastic_net;
extern const saddle_regularizer_class saddle_regularizer_group_l2;

static inline const saddle_regularizer_class *
saddle_regularizer_kind(const saddle_regularizer *regularizer)
{
    return (const saddle_regularizer_class *)regularizer->term.kind;
}

#endif
