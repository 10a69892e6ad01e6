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
 *   plus       0         as measured                   2 |S| or R    measured_batches.c
 *   kalman     measured  as measured                   2 |S| or R    measured_batches.c
 *
 * plus and kalman choose S and R themselves. Their signal is an agent's own movement in the units of the steps, a mean
 * over about five estimates, so that nothing more is sent.
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
    SADDLE_ESTIMATE_SGD,
    SADDLE_ESTIMATE_PLUS,
    SADDLE_ESTIMATE_KALMAN
} saddle_estimator_kind;

typedef struct saddle_estimator {
    int kind; /* a saddle_estimator_kind */
    double
        beta_x; /* NaN: automatic, until configured; so are the other numbers if they are NaN or 0 */
    double beta_y;
    double probability; /* rho */
    uint64_t q;
    uint64_t batch;        /* |S|; 0: ceil(sqrt(n_i)) */
    uint64_t refresh;      /* R; 0: n_i */
    uint64_t first;        /* size of the first batch; 0: n_i */
    bool replacement;      /* mini-batches with replacement */
    double x_step, y_step; /* of the method, for the units of plus and kalman */
} saddle_estimator;

/* Return the doubles that an estimator keeps, 0 at the start, and the vectors of (x, y) in agent->work that it needs
 * after h. */
size_t saddle_estimator_kept(const saddle_estimator *estimator);
size_t saddle_estimator_vectors(const saddle_estimator *estimator);

/* Sets what is automatic, and the numbers that the kind does not use: first to those of `rule`, then to the general
 * rules. */
void saddle_estimator_configure(saddle_estimator *estimator, const saddle_estimator *rule,
                                const saddle_configuration *configuration);

/* Returns whether estimates between refreshes are those before plus differences, whose errors add up. */
bool saddle_estimator_is_recursive(const saddle_estimator *estimator);
/* Returns whether changes of estimates show their errors (noise.h). plus and kalman measure errors themselves, and
 * those of grace depend on when it was refreshed. */
bool saddle_estimator_has_noise(const saddle_estimator *estimator);
/* Returns whether estimate number `next` is a refresh, and differences came before it, so that its change shows their
 * errors (noise.h). */
bool saddle_estimator_compares(const saddle_estimator *estimator, const saddle_agent *agent,
                               uint64_t next);

/* Where an estimate is made. */
typedef struct saddle_estimation {
    const double *point;     /* w, x followed by y, as all vectors here */
    const double *new_point; /* w+ */
    double *estimate;        /* (v, u) */
    double *kept;            /* saddle_estimator_kept() doubles */
    double *g;               /* work: receives the new estimate */
    double *h;               /* work, followed by saddle_estimator_vectors() */
    uint64_t next;           /* the number of the new estimate, in most algorithms t + 1 */
    double *noise;           /* what plus and kalman follow (noise.h); NULL: nothing */
} saddle_estimation;

/* Evaluates the first estimates at w into (v, u), and sets what is kept. */
void saddle_estimator_start(const saddle_estimator *estimator, saddle_agent *agent,
                            const saddle_estimation *at);
/* The three steps to a new estimate. Each but the last ends with a request. */
void saddle_estimator_begin(const saddle_estimator *estimator, saddle_agent *agent,
                            const saddle_estimation *at);
void saddle_estimator_continue(const saddle_estimator *estimator, saddle_agent *agent,
                               const saddle_estimation *at);
void saddle_estimator_finish(const saddle_estimator *estimator, const saddle_agent *agent,
                             const saddle_estimation *at);
