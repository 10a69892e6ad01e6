/*
 * The variables of PRECISION-auto, which precision_auto.c describes.
 *
 * The published span is  x | y | p | d | c, the kept state  v | u | r | numbers | numbers of measured_batches.h | d_,
 * and with several rounds of mixing  x_0 | y_0 | (x, y, p, d) of the round before.
 */
#pragma once

#include <saddle/algorithm.h>

#include "algorithms/curvature.h"
#include "algorithms/measured_batches.h"
#include "algorithms/mixing_rounds.h"
#include "algorithms/noise.h"

/* What --without switches off. */
typedef enum saddle_auto_part {
    WITHOUT_NONE,
    WITHOUT_EXTRAPOLATION,
    WITHOUT_MIXING,
    WITHOUT_BOUND
} saddle_auto_part;

typedef struct saddle_auto_parameters {
    saddle_steps steps;
    double noise; /* theta */
    double share;
    double first; /* tau of the first iteration */
    saddle_mixing_rounds mixing;
    const saddle_set *x_set;
    saddle_curvature_kind hessian;
    saddle_auto_part without;
    saddle_curvature measured;
} saddle_auto_parameters;

/* NULL-terminated. */
extern const saddle_option *const saddle_auto_options[];

/* What the network follows: the signal G, and A, C, B and the monotonicity of the rule for tau. */
enum { SIGNAL, SLOPES, X_MOVED, Y_MOVED, MONOTONE, FOLLOWED };

/* Numbers that an agent keeps. */
enum {
    TAU,
    LEAST,      /* the least signal so far, or since the last time that it had grown too much */
    LEAST_STEP, /* the step at that time */
    LARGEST,    /* the largest signal so far */
    BOUND,      /* of the step; 0: none */
    EASING,     /* by which part the bound grows in an iteration */
    NOISE,      /* the numbers of noise.h */
    OWN_KEPT = NOISE + SADDLE_NOISE_NUMBERS
};

/* Number of doubles of agent->work before gx, filled up to a cache line. */
#define NUMBERS 8

/* Pointers to the variables of one agent. */
typedef struct saddle_auto_variables {
    size_t x_dim, y_dim, samples;
    const double *x, *y, *p, *d, *c; /* now */
    const double *x0, *y0;           /* where v and u were estimated */
    double *x1, *y1, *p1, *d1, *c1;  /* next */
    double *v, *u, *r;               /* kept */
    double *kept, *measured;         /* kept: own numbers, and those of the estimates */
    double *last_d;                  /* kept: d of the last iteration */
    double *more;                    /* kept: x_0, y_0 and (x, y, p, d) of the round before */
    double *gx, *gy;                 /* work: over a batch, or its first half */
    double *hx, *hy;                 /* work: over its second half */
    double *x_tilde, *y_tilde;       /* work */
    double *wg, *wh; /* work: one after the other, vectors of x, such as R^-1 gx and R^-1 hx */
    double *number;  /* work */
    const saddle_metric *metric; /* H = R R' */
} saddle_auto_variables;

/* Returns pointers to the variables of an agent. */
static inline saddle_auto_variables saddle_auto_variables_of(const saddle_agent *agent)
{
    const saddle_auto_parameters *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    size_t both = x_dim + agent->problem->y_dim;
    double *g = agent->work + NUMBERS;
    double *last_d = agent->kept + both + FOLLOWED + OWN_KEPT + MEASURED_KEPT;
    double *more = last_d + both - x_dim;
    const double *estimated = p->mixing.count > 1 ? more : agent->now;
    return (saddle_auto_variables){.x_dim = x_dim,
                                   .y_dim = both - x_dim,
                                   .samples = agent->problem->samples[agent->id],
                                   .x = agent->now,
                                   .y = agent->now + x_dim,
                                   .p = agent->now + both,
                                   .d = agent->now + both + x_dim,
                                   .c = agent->now + 2 * both,
                                   .x0 = estimated,
                                   .y0 = estimated + x_dim,
                                   .x1 = agent->next,
                                   .y1 = agent->next + x_dim,
                                   .p1 = agent->next + both,
                                   .d1 = agent->next + both + x_dim,
                                   .c1 = agent->next + 2 * both,
                                   .v = agent->kept,
                                   .u = agent->kept + x_dim,
                                   .r = agent->kept + both,
                                   .kept = agent->kept + both + FOLLOWED,
                                   .measured = agent->kept + both + FOLLOWED + OWN_KEPT,
                                   .last_d = last_d,
                                   .more = more,
                                   .gx = g,
                                   .gy = g + x_dim,
                                   .hx = g + both,
                                   .hy = g + both + x_dim,
                                   .x_tilde = g + 2 * both,
                                   .y_tilde = g + 2 * both + x_dim,
                                   .wg = g + 3 * both,
                                   .wh = g + 3 * both + x_dim,
                                   .number = agent->work,
                                   .metric = &p->measured.metric};
}
