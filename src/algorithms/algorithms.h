/* The built-in algorithms, in the order in which they are listed. A new one needs one file and
 * one line here. */
#pragma once

#include <saddle/algorithm.h>

#define SADDLE_ALGORITHMS(X) \
    X(saddle_precision)      \
    X(saddle_precision_plus) \
    X(saddle_precision_auto) \
    X(saddle_prox_gt_sgda)   \
    X(saddle_prox_dsgda)     \
    X(saddle_gt_gda)         \
    X(saddle_dposg)          \
    X(saddle_dppsp)          \
    X(saddle_cspsg)          \
    X(saddle_dgda_vr)        \
    X(saddle_dm_hsgd)        \
    X(saddle_dama)           \
    X(saddle_dream)          \
    X(saddle_vrlm)           \
    X(saddle_k_gt_minimax)   \
    X(saddle_d_adast)        \
    X(saddle_oadsvi)         \
    X(saddle_gda)            \
    X(saddle_sgda)           \
    X(saddle_minimax_ppa)    \
    X(saddle_sreda)          \
    X(saddle_sreda_boost)

#define SADDLE_ALGORITHM_DECLARE(algorithm) extern const saddle_algorithm algorithm;
SADDLE_ALGORITHMS(SADDLE_ALGORITHM_DECLARE)
#undef SADDLE_ALGORITHM_DECLARE

/* Own options that change the length of steps, or that a warning at the end of a run names. */
extern const saddle_option saddle_option_noise, saddle_option_share, saddle_option_hessian,
    saddle_option_ppa_lipschitz, saddle_option_ppa_lipschitz_y;

/* Traits of algorithms with a prox of h over X in x and a projection onto Y in y. */
#define SADDLE_PROXIMAL .x_set = true, .y_set = true, .regularizer = true

/* Returns an algorithm's rule for an option, which for a choice is the value; "": it has none. */
const char *saddle_automatic_rule(const saddle_algorithm *algorithm, const saddle_option *option);
