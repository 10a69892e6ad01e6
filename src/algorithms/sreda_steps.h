/*
 * The outer iteration of SREDA and SREDA-Boost, centralized, from (x_k, y_k) and the estimates
 * (v, u) of the gradients there:
 *
 *   k mod q == 0:  (v, u) = mean over S1 samples of grad f(x_k, y_k)      (exact if S1 = N)
 *   x_{k+1} = x_k - eta_k v,   eta_k = eta_x min{1, 2 eps / |v|}; eta_k = eta_x for SREDA-Boost and
 *                              without --epsilon
 *   maximizer: with (x, y)_{-1} = (x_k, y_k), y_0 = y_k, for t = 0, 1, ..., s
 *     draw S2 samples;  (v, u) += mean over them of grad f(x_{k+1}, y_t) - grad f(x, y)_{t-1}
 *     y_{t+1} = projection onto Y of  y_t + eta_y u
 *   y_{k+1} = y_s with the estimates made there; s uniform in {1, ..., m}, or m
 *
 * The results of steps after s would not be used, so they are skipped: an iteration costs
 * 2 S2 (s + 1) IFO calls, and S1 more if it refreshes.
 *
 * Before k = 0, SREDA moves y_0 near the maximizer by projected SARAH: epochs of one full gradient
 * u = grad_y F(x_0, y) followed by m recursive ascent steps, until the gradient mapping
 * |y - projection of (y + eta_y u)| / eta_y is at most zeta or the maximal number of epochs is
 * reached. An epoch costs N + 2 S2 m IFO calls, and the final test N; its gradient also serves as
 * the refresh at k = 0.
 */
#pragma once

#include "algorithms/descent_ascent.h"

/* The rules of a paper, evaluated at L and kappa; not positive if these are unknown. */
typedef struct saddle_sreda_rules {
    double eta_x;
    double eta_y;
    double steps;     /* m */
    bool normalized;  /* the length of a step in x is at most 2 eps eta_x */
    uint64_t initial; /* default maximum of epochs of the initial solve */
} saddle_sreda_rules;

/* Their options, NULL-terminated. SREDA-Boost has no --epsilon, and no initial maximization unless
 * --initial-epochs is given. */
extern const saddle_option *const saddle_sreda_options[];
extern const saddle_option *const saddle_sreda_boost_options[];
extern const saddle_option saddle_option_initial_epochs;
/* The automatic q and batch of saddle_sreda_configure(). */
#define SADDLE_SREDA_PERIOD_RULES                                                              \
    SADDLE_AUTOMATIC(                                                                          \
        saddle_option_q,                                                                       \
        "ceil(ceil(sqrt(N)) / (M + 1)), where M is --maximizer-steps and N the number of all " \
        "samples; with --steps theory ceil(sqrt(N) / kappa), where kappa = L / mu"),           \
        SADDLE_AUTOMATIC(                                                                      \
            saddle_option_batch,                                                               \
            "ceil(sqrt(N)); with --steps theory ceil(3687/76 kappa q), where kappa = L / mu")

typedef struct saddle_sreda_parameters {
    saddle_two_steps steps; /* as for the other methods that step along gradients */
    double epsilon;
    bool normalized;
    int output; /* RANDOM: s is drawn; LAST: s = m */
    uint64_t q;
    uint64_t m;
    uint64_t refresh; /* S1 */
    uint64_t initial; /* maximum of epochs of the initial solve */
    double accuracy;  /* zeta */
} saddle_sreda_parameters;

/* Completes the parameters by a paper's rules. */
void saddle_sreda_configure(saddle_sreda_parameters *parameters,
                            saddle_configuration *configuration, const saddle_sreda_rules *paper);

/* For saddle_algorithm's functions. */
uint64_t saddle_sreda_most_ifo(const void *parameters, const saddle_problem *problem);
void saddle_sreda_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out);
extern const saddle_phase saddle_sreda_phases[];
void saddle_sreda_view(const saddle_agent *agent, saddle_view *out);
