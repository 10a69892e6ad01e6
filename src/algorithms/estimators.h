/*
 * Estimates (v, u) of an agent's gradient from mini-batches. S is a fresh mini-batch, w the last point, w+ the new one,
 * and R a refresh, the mean gradient over --refresh-size samples:
 *
 *   (v, u)+ = g_S(w+) + (1 - beta) ((v, u) - g_S(w)),   or g_R(w+)
 *
 *   estimator  beta      refreshes                     IFO calls     source
 *   sgd        1         none                          |S|
 *   storm      (0, 1]    none                          2 |S|         Cutkosky, Orabona, NeurIPS 2019
 *   sarah      0         every q-th                    2 |S| or R    Nguyen, Liu, Scheinberg, Takac, ICML 2017
 *   page       0         with probability rho          2 |S| or R    Li, Bao, Zhang, Richtarik, ICML 2021
 *   grace      (0, 1]    with probability rho          2 |S| or R    Cai, Alghunaim, Sayed, arXiv 2512.13920
 *
 * x and y have their own beta. The coin of page and grace depends only on the seed and the iteration, so that all
 * agents toss the same one without a message.
 */
#pragma once

#include <saddle/algorithm.h>

/* In the order of --estimator; automatic: that of the method's preset. */
typedef enum saddle_estimator_kind {
    SADDLE_ESTIMATE_AUTO,
    SADDLE_ESTIMATE_STORM,
    SADDLE_ESTIMATE_SARAH,
    SADDLE_ESTIMATE_PAGE,
    SADDLE_ESTIMATE_GRACE,
    SADDLE_ESTIMATE_SGD
} saddle_estimator_kind;

typedef struct saddle_estimator {
    int kind; /* a saddle_estimator_kind */
    double
        beta_x; /* NaN: automatic, until configured; so are the other numbers if they are NaN or 0 */
    double beta_y;
    double probability; /* rho */
    uint64_t q;
    uint64_t batch;   /* |S|; 0: ceil(sqrt(n_i)) */
    uint64_t refresh; /* R; 0: n_i */
    uint64_t first;   /* size of the first batch; 0: n_i */
    bool replacement; /* mini-batches with replacement */
} saddle_estimator;

/* Sets what is automatic, and the numbers that the kind does not use: first to those of `rule`, then to the general
 * rules. */
void saddle_estimator_configure(saddle_estimator *estimator, const saddle_estimator *rule,
                                const saddle_configuration *configuration);

/* Returns whether estimate number `next` is a refresh, and differences came before it, so that its change shows their
 * errors (noise.h). */
bool saddle_estimator_compares(const saddle_estimator *estimator, const saddle_agent *agent,
                               uint64_t next);

/* Evaluates the first estimates at `point`, x followed by y, into `estimate`. */
void saddle_estimator_start(const saddle_estimator *estimator, saddle_agent *agent,
                            const double *point, double *estimate);
/* The three steps to estimate number `next`, in most algorithms that of iteration t + 1. Each but the last ends with a
 * request. `g` and `h` are in agent->work, and g receives the new estimate. */
void saddle_estimator_begin(const saddle_estimator *estimator, saddle_agent *agent, uint64_t next,
                            const double *old_point, const double *new_point, double *g);
void saddle_estimator_continue(const saddle_estimator *estimator, saddle_agent *agent,
                               uint64_t next, const double *old_point, double *h);
void saddle_estimator_finish(const saddle_estimator *estimator, const saddle_agent *agent,
                             uint64_t next, const double *estimate, const double *h, double *g);
