/* The built-in algorithms. A new one is one file, one line here and one in registry.c. */
#ifndef SADDLE_ALGORITHMS_H
#define SADDLE_ALGORITHMS_H

#include <saddle/algorithm.h>

extern const saddle_algorithm saddle_precision;
extern const saddle_algorithm saddle_precision_plus;
extern const saddle_algorithm saddle_prox_gt_sgda;
extern const saddle_algorithm saddle_prox_dsgda;
extern const saddle_algorithm saddle_gt_gda;
extern const saddle_algorithm saddle_dposg;
extern const saddle_algorithm saddle_dppsp;
extern const saddle_algorithm saddle_cspsg;
extern const saddle_algorithm saddle_gda;
extern const saddle_algorithm saddle_sgda;
extern const saddle_algorithm saddle_minimax_ppa;
extern const saddle_algorithm saddle_sreda;
extern const saddle_algorithm saddle_sreda_boost;

#endif
