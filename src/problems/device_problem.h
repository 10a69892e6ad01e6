/* What an engine that computes on a graphics card knows of a problem: losses of a linear model, as in robust.h. */
#pragma once

#include <saddle/problem.h>

/*
 *   f_ij(x, y) = w y_j l_ij(x) - (s/2n) |n y - 1|^2 + g(x),   l_ij(x) = l(a_ij' x + v),
 *   g(x)       = lambda2 sum_k c x_k^2 / (1 + c x_k^2)
 *
 * and the mean over an agent's samples is multiplied by its weight.
 */
typedef struct saddle_device_problem {
    saddle_dataset *const *shard;                                /* each agent's rows */
    double (*row_norm2)(const saddle_dataset *data, size_t row); /* |a_ij|^2 */
    const double *agent_weight;                                  /* NULL: all are 1 */
    bool intercept;        /* x ends with v; otherwise v = 0 */
    double huber;          /* l is Huber's loss; infinite: the square loss; 0: log(1 + exp(-b t)) */
    double loss_weight;    /* w */
    double regularizer;    /* lambda2 */
    double bend;           /* c */
    double penalty_slope;  /* s */
    double penalty_length; /* n */
    bool auc;              /* instead of all this, auc.c with a linear score: */
    double share;          /* r */
    double ridge;          /* 2 r (1-r) */
    bool answers;          /* instead, the problem has card_gradients() */
    const char *refused;   /* the option for which there is no code */
} saddle_device_problem;

/* Describes a problem; returns whether it has device code or card_gradients(). For code that there is not, out->refused
 * is an option. */
bool saddle_describe_device(const saddle_problem *problem, saddle_device_problem *out);
