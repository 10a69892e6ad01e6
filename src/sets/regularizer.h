/*
 * The built-in regularizers. A file defines a struct that begins with saddle_regularizer and the classes that
 * it is the struct of; regularizer.c has the list of them.
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
