/*
 * The steps of the paper's "Algorithm 1 at Agent i" that PRECISION, PRECISION+, Prox-GT-SGDA and
 * Prox-DSGDA share.
 *
 *   Step 1  x~ = prox of (h / tau) over X at  x - p / tau                            (3)
 *           y~ = projection onto Y of  y + alpha d                                     (4)
 *   Step 2  x+ = sum_j M_ij x_j + nu (x~ - x)                                          (5)
 *           y+ = sum_j M_ij y_j + eta (y~ - y)                                         (6)
 *   Step 3  new estimates (v, u)+ of the local gradients: a refresh, or recursive differences  (7)
 *   Step 4  p+ = sum_j M_ij p_j + v+ - v,  d+ = sum_j M_ij d_j + u+ - u                (8)
 *
 * with the equation numbers of the paper.
 *
 * The published span is  x | y | d | p | extra  (x | y without trackers), the kept state is  v | u
 * | extra. y and d are adjacent, so that they have the same alignment if their length is a multiple
 * of a cache line.
 *
 * If a problem declares y_curvature = c, a recursive step changes u by -c (y+ - y), and by
 * something else only in the batch's entries. Therefore u + c y is stored instead of u: it changes
 * only in those entries, and the pass over memory need not touch it.
 */
#ifndef SADDLE_ALGORITHMS_PRECISION_STEPS_H
#define SADDLE_ALGORITHMS_PRECISION_STEPS_H

#include <saddle/algorithm.h>

/* The first member of the parameters of every algorithm with these steps. */
typedef struct saddle_precision_steps {
    saddle_steps steps;
    bool recursive;         /* estimates are updated recursively between refreshes */
    bool scheduled;         /* agents refresh at times of their own; otherwise every q iterations */
    bool tracking;          /* p and d are published and mixed; otherwise p = v, d = u */
    double curvature;       /* c; 0: u itself is stored */
    size_t published_extra; /* doubles at the end of the span */
    size_t kept_extra;      /* doubles at the end of the kept state */
} saddle_precision_steps;

/* Pointers to the variables of one agent, in its memory. */
typedef struct saddle_variables {
    size_t x_dim;
    size_t y_dim;
    const double *x, *y, *p, *d; /* now */
    double *x1, *y1, *p1, *d1;   /* next; p1 = d1 = NULL without tracking */
    double *v, *u;               /* kept; u + curvature y is stored in u */
    double curvature;            /* c, 0 for most */
    const double *extra;         /* published, now */
    double *extra1;              /* published, next */
    double *kept;                /* kept_extra doubles */
    double *gx, *gy;             /* work: new estimates, or their change */
    double *moved;               /* work: |x+ - x|^2 + |y+ - y|^2, after the move */
    double *y_moved;             /* work: |y+ - y|^2, after the move */
    double *reach;               /* work: |x~ - x|^2, after the move */
    double *x_tilde, *y_tilde;   /* work: if they need all coordinates at once */
    double *rest;                /* scratch for the sets */
} saddle_variables;

/* How an algorithm with these steps computes and tracks estimates. */
typedef enum saddle_precision_kind {
    SADDLE_PRECISION_PLAIN,    /* no trackers; each estimate is computed from a new mini-batch */
    SADDLE_PRECISION_TRACKING, /* the same with trackers */
    SADDLE_PRECISION_RECURSIVE /* trackers, and recursive estimates between refreshes */
} saddle_precision_kind;

/* Indices into saddle_variables::kept if saddle_precision_steps::scheduled: the number whose network mean the
 * published extra tracks, the iteration of the agent's last refresh, and the number of
 * iterations until its next one. The algorithm's own numbers follow. */
enum {
    SADDLE_PRECISION_FOLLOWED,
    SADDLE_PRECISION_REFRESHED,
    SADDLE_PRECISION_SPAN,
    SADDLE_PRECISION_KEPT
};

/* Completes the parameters of an algorithm with these steps. */
void saddle_precision_configure(saddle_precision_steps *shared, saddle_precision_kind kind,
                                const saddle_configuration *configuration);
/* Sets the mini-batch size to ceil(sqrt(n) / parts), n the largest local size, if none is given
 * and the step rule is `practical`. Small batches need fewer samples than the paper's sqrt(n) at
 * about as many rounds: docs/reproduction.md. */
void saddle_precision_small_batches(saddle_configuration *configuration, double parts);
/* Sets the pointers to an agent's variables. */
void saddle_precision_variables(const saddle_agent *agent, saddle_variables *out);

/* For saddle_algorithm's layout, view and prox_point. */
void saddle_precision_layout(const void *parameters, const saddle_problem *problem,
                             saddle_layout *out);
void saddle_precision_view(const saddle_agent *agent, saddle_view *out);
void saddle_precision_prox_point(const saddle_agent *agent, double tau, double *x_tilde,
                                 double *scratch);

/* Returns |S_i|, the size of a mini-batch at this agent. */
size_t saddle_precision_batch_size(const saddle_agent *agent);
/* Returns whether the iteration computes new estimates; otherwise it updates them recursively. */
bool saddle_precision_refreshes(const saddle_agent *agent);

/* Sets the next span to the start: x0, y0, and p = v, d = u from the estimates in gx, gy. */
void saddle_precision_start(saddle_variables *at, const double *x0, const double *y0);

/* Step 3, equation (7): request the gradient of F_i at (x, y) over all samples; its mean over a
 * fresh mini-batch; or the change of the estimates, (v, u)+ = (v, u) + mean over S of the
 * gradient differences. */
void saddle_full_estimate(saddle_agent *agent, saddle_variables *at, const double *x,
                          const double *y);
void saddle_minibatch_estimate(saddle_agent *agent, saddle_variables *at, uint64_t iteration,
                               const double *x, const double *y);
void saddle_recursive_estimate(saddle_agent *agent, saddle_variables *at);
/* Step 4 for one vector after mixing: tracker += new - old, old = new. Returns |new|^2. */
double saddle_track_change(size_t count, const double *new, double *old, double *tracker);

/* The phase move, equations (3) to (6). aim() computes x~ and y~ if they need all coordinates at
 * once, move() moves, and moved() sets *moved and *reach and records a value that is not finite. */
bool saddle_precision_needs_targets(const saddle_agent *agent);
void saddle_precision_compute_targets(saddle_agent *agent);
void saddle_precision_move(const saddle_agent *agent, const saddle_range *x, const saddle_range *y);
void saddle_precision_after_move(saddle_agent *agent, const double *x_sums, const double *y_sums);

/* The phase track, equation (8): adds the change of the estimates to the trackers and stores the
 * new estimates. */
void saddle_precision_track(const saddle_agent *agent, const saddle_range *x,
                            const saddle_range *y);
void saddle_precision_after_track(saddle_agent *agent, const double *x_sums, const double *y_sums);

/* The number of consecutive all-zero differences, between the estimates and the extra state. */
static inline double *saddle_stall_counter(const saddle_variables *at)
{
    return at->kept - 1;
}

/* Records a fault if recursive differences stay exactly zero although gradients change.
 * `difference` is 0 if and only if all entries of the iteration's difference are. */
void saddle_check_recursion(saddle_agent *agent, const saddle_variables *at, double difference);

#endif
