/*
 * The variables of PRECISION-auto, which precision_auto.c describes: steps and tracking are there, the estimates with
 * measured errors, step (7), in measured_batches.c.
 *
 * The published span is  x | y | p | d | c, the kept state  v | u | r | numbers.
 */
#ifndef SADDLE_ALGORITHMS_PRECISION_AUTO_H
#define SADDLE_ALGORITHMS_PRECISION_AUTO_H

#include <saddle/algorithm.h>

#include "algorithms/curvature.h"

typedef struct saddle_auto_parameters {
    saddle_steps steps;
    double noise; /* theta */
    double share;
    double first; /* tau of the first iteration */
    saddle_curvature_kind hessian;
    saddle_curvature measured;
} saddle_auto_parameters;

/* What the network follows: the signal G, and A, C, B and the monotonicity of the rule for tau. */
enum { SIGNAL, SLOPES, X_MOVED, Y_MOVED, MONOTONE, FOLLOWED };

/* Numbers that an agent keeps. Variances are those of x and y. */
enum {
    TAU,
    LEAST,      /* the least signal so far, or since the last time that it had grown too much */
    LEAST_STEP, /* the step at that time */
    LARGEST,    /* the largest signal so far */
    BOUND,      /* of the step; 0: none */
    X_ERROR,
    Y_ERROR,
    X_SAMPLE,
    Y_SAMPLE,
    DIFFERENCE, /* variance of a difference over one sample, in the units of the steps, relative to the movement */
    SINCE, /* iterations since the last refresh */
    SPAN,  /* from one refresh to the next, in the mean */
    KEPT
};

/* Numbers of an iteration, in agent->work. */
enum { REACH, BATCH, REFRESHES, NUMBERS = 8 };

/* Pointers to the variables of one agent. */
typedef struct saddle_auto_variables {
    size_t x_dim, y_dim, samples;
    const double *x, *y, *p, *d, *c; /* now */
    double *x1, *y1, *p1, *d1, *c1;  /* next */
    double *v, *u, *r, *kept;        /* kept */
    double *gx, *gy;                 /* work: over a batch, or its first half */
    double *hx, *hy;                 /* work: over its second half */
    double *x_tilde, *y_tilde;       /* work */
    double *wg, *wh; /* work: one after the other, gradients in x or steps, R^-1 gx and R^-1 hx */
    double *number;  /* work */
    const saddle_metric *metric; /* H = R R' */
} saddle_auto_variables;

static inline saddle_auto_variables saddle_auto_variables_of(const saddle_agent *agent)
{
    const saddle_auto_parameters *p = agent->parameters;
    size_t x_dim = agent->problem->x_dim;
    size_t both = x_dim + agent->problem->y_dim;
    double *g = agent->work + NUMBERS;
    return (saddle_auto_variables){.x_dim = x_dim,
                                   .y_dim = both - x_dim,
                                   .samples = agent->problem->samples[agent->id],
                                   .x = agent->now,
                                   .y = agent->now + x_dim,
                                   .p = agent->now + both,
                                   .d = agent->now + both + x_dim,
                                   .c = agent->now + 2 * both,
                                   .x1 = agent->next,
                                   .y1 = agent->next + x_dim,
                                   .p1 = agent->next + both,
                                   .d1 = agent->next + both + x_dim,
                                   .c1 = agent->next + 2 * both,
                                   .v = agent->kept,
                                   .u = agent->kept + x_dim,
                                   .r = agent->kept + both,
                                   .kept = agent->kept + both + FOLLOWED,
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

/* Moves a mean over iterations towards a number; 0 means that there is none yet. */
static inline void saddle_auto_learn(double *mean, double number, double weight)
{
    *mean = *mean == 0.0 ? number : *mean + weight * (number - *mean);
}

/* Decides between a refresh and a difference, draws the batch, and requests its first half. */
void saddle_auto_begin_estimates(saddle_agent *agent);
/* Requests the second half. */
void saddle_auto_continue_estimates(saddle_agent *agent);
/* Replaces (gx, gy) by the new estimates and updates their errors. Returns A and stores the monotonicity, or returns
 * NaN if the batch cannot tell. */
double saddle_auto_finish_estimates(const saddle_agent *agent, double *monotone);
/* Returns the size of the smallest batches of an agent. */
size_t saddle_auto_least_batch(size_t samples);
/* Computes the first estimates, from all samples, in (gx, gy). */
void saddle_auto_first_estimates(saddle_agent *agent);

/* Returns what the network follows, or, while that is not positive everywhere, what this agent does. */
const double *saddle_auto_followed(const saddle_auto_variables *at);

#endif
