/*
 * Colours and dashes of curves. A built-in algorithm has its own (saddle_algorithm::look), the same
 * in every picture and on every page. Another algorithm gets those of a built-in one that is
 * unlikely to be in the picture. Curves that do not stand for algorithms get those of the list from
 * its beginning.
 */
#pragma once

#include <saddle/lab.h>

/* The number of looks, one for each built-in algorithm in the order of saddle_algorithm_list(). */
size_t palette_count(void);
/* A look by its index. */
const saddle_look *palette_look(size_t index);
/* The index of an algorithm's look. An algorithm that is not built in gets one by the curve's
 * `index`, and so does a curve that stands for none (NULL). */
size_t palette_index(const char *algorithm, size_t index);
/* Several curves of one algorithm with different settings share its colour, each paler than the
 * one before and with its own dashes. `repeat` is the number of such curves before this one. */
const char *palette_dashes(const saddle_look *look, size_t repeat);
/* The percentage of the colour; the rest is background. */
int palette_strength(size_t repeat);
