/*
 * The colours and dashes of curves: an algorithm's own (saddle_algorithm::look), the same in every picture
 * and on every page; for an algorithm that is not built in, those of one that is unlikely to be in the picture; for curves that
 * do not stand for algorithms, those of the list from its beginning.
 */
#ifndef SADDLE_DRAW_PALETTE_H
#define SADDLE_DRAW_PALETTE_H

#include <saddle/lab.h>

/* The number of looks, one for each built-in algorithm in the order of saddle_algorithm_list(). */
size_t palette_count(void);
/* A look by its index. */
const saddle_look *palette_look(size_t index);
/* The index of an algorithm's look; for an unknown one that of the curve at `place`; NULL: the curve stands for none. */
size_t palette_index(const char *algorithm, size_t place);
/* Where several curves belong to one algorithm with different settings, they share its colour, each paler
 * than the one before and with its own dashes. `repeat`: the number of such curves before this one. */
const char *palette_dashes(const saddle_look *look, size_t repeat);
/* The percentage of the colour that is left; the rest is background. */
int palette_strength(size_t repeat);

#endif
