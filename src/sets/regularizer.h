/*
 * The built-in regularizers. One file per regularizer: it defines a struct that begins with
 * saddle_regularizer and one saddle_regularizer_class; regularizer.c has the list of them.
 */
#ifndef SADDLE_SETS_REGULARIZER_H
#define SADDLE_SETS_REGULARIZER_H

#include <saddle/set.h>

extern const saddle_regularizer_class saddle_regularizer_zero;
extern const saddle_regularizer_class saddle_regularizer_l1;
extern const saddle_regularizer_class saddle_regularizer_elastic_net;
extern const saddle_regularizer_class saddle_regularizer_group_l2;

#endif
