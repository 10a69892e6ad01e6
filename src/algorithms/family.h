/*
 * The steps of PRECISION's "Algorithm 1 at Agent i" that its relatives share.
 *
 *   Step 1  x~ = prox of (h / tau) over X at  x - p / tau                            (3)
 *           y~ = projection onto Y of  y + alpha d                                     (4)
 *   Step 2  x+ = sum_j M_ij x_j + nu (x~ - x)                                          (5)
 *           y+ = sum_j M_ij y_j + eta (y~ - y)                                         (6)
 *   Step 3  new estimates (v, u)+ of the local gradients: a refresh, or recursive differences  (7)
 *   Step 4  p+ = sum_j M_ij p_j + v+ - v,  d+ = sum_j M_ij d_j + u+ - u                (8)
 *
 * with the numbers of the paper's equations.
 *
 * The published span is  x | y | d | p | extra  (x | y without trackers), the kept state
 * v | u | extra: y and d, of which one is long where there are many samples, lie alike in cache lines
 * when their length is a whole number of them.
 *
 * Where a problem declares y_curvature = c, a recursive step changes u by -c (y+ - y), and besides that in
 * the batch's own entries alone. So u + c y is kept in the place of u: it changes in those entries only, and
 * the pass over memory need not touch it.
 */
#ifndef SADDLE_ALGORITHMS_FAMILY_H
#define SADDLE_ALGORITHMS_FAMILY_H

#include <saddle/algorithm.h>

/* The first member of every parameters struct of the family: what the shared steps read. */
typedef struct saddle_family {
    saddle_steps steps;
    bool recursive; /* estimates continue recursively between refreshes */
    bool
        scheduled; /* each agent keeps the time of its next refresh; otherwise every q iterations */
    bool tracking; /* p and d are published and mixed; otherwise p = v, d = u */
    double curvature;       /* c; 0: u itself is kept */
    size_t published_extra; /* doubles of the span after d */
    size_t kept_extra;      /* doubles of the kept state after u */
} saddle_family;

/* Where things are at one agent; pointers into its memory. */
typedef struct saddle_parts {
    size_t x_dim;
    size_t y_dim;
    const double *x, *y, *p, *d; /* now */
    double *x1, *y1, *p1, *d1;   /* next; p1 = d1 = NULL without tracking */
    double *v, *u;               /* kept; u + curvature y in the place of u */
    double curvature;            /* c, 0 for most */
    const double *extra;         /* published, now */
    double *extra1;              /* published, next */
    double *kept;                /* kept_extra doubles */
    double *gx, *gy;             /* work: new estimates, or their change */
    double *moved;               /* work: |x+ - x|^2 + |y+ - y|^2, after the move */
    double *y_moved;             /* work: |y+ - y|^2, likewise */
    double *reach;               /* work: |x~ - x|^2, likewise */
    double *x_tilde, *y_tilde;   /* work: where they need all coordinates at once */
    double *rest;                /* scratch for the sets */
} saddle_parts;

/* What the members of the family differ in. */
typedef enum saddle_family_kind {
    SADDLE_FAMILY_PLAIN,    /* no trackers, each estimate from a mini-batch alone */
    SADDLE_FAMILY_TRACKING, /* the same with trackers */
    SADDLE_FAMILY_RECURSIVE /* trackers, and estimates that continue recursively between refreshes */
} saddle_family_kind;

/* saddle_parts::kept where saddle_family::scheduled: the number whose network mean the published extra follows, the
 * iterate of the agent's last refresh, and how many iterations later its next one is. An algorithm's own follow. */
enum { SADDLE_FAMILY_FOLLOWED, SADDLE_FAMILY_REFRESHED, SADDLE_FAMILY_SPAN, SADDLE_FAMILY_KEPT };

/* Complete the parameters of an algorithm of the family. */
void saddle_family_configure(saddle_family *family, saddle_family_kind kind,
                             const saddle_configuration *configuration);
/* The size of a mini-batch that is not given, by the rule `practical`: a part of sqrt(n), n the largest local size. Small
 * ones cost fewer samples at about as many rounds as the sqrt(n) of the paper; docs/reproduction.md has the figures. */
void saddle_family_small_batches(saddle_configuration *configuration, double parts);
/* Find an agent's parts. */
void saddle_family_parts(const saddle_agent *agent, saddle_parts *out);

/* For saddle_algorithm's layout, view and prox_point. */
void saddle_family_layout(const void *parameters, const saddle_problem *problem,
                          saddle_layout *out);
void saddle_family_view(const saddle_agent *agent, saddle_view *out);
void saddle_family_prox_point(const saddle_agent *agent, double tau, double *x_tilde,
                              double *scratch);

/* |S_i|: the size of a mini-batch at this agent. */
size_t saddle_family_batch_size(const saddle_agent *agent);
/* Whether the iteration makes new estimates from scratch; otherwise they continue recursively. */
bool saddle_family_refreshes(const saddle_agent *agent);

/* Put the start into the next span: x0, y0, and p = v, d = u from the estimates in gx, gy. */
void saddle_family_start(saddle_parts *parts, const double *x0, const double *y0);

/* Step 3, equation (7): ask for the gradient of F_i at (x, y), all samples; for its mean over a fresh mini-batch; or for
 * the change of the estimates, (v, u)+ = (v, u) + mean over S of the gradient differences. */
void saddle_full_estimate(saddle_agent *agent, saddle_parts *parts, const double *x,
                          const double *y);
void saddle_minibatch_estimate(saddle_agent *agent, saddle_parts *parts, uint64_t iteration,
                               const double *x, const double *y);
void saddle_recursive_estimate(saddle_agent *agent, saddle_parts *parts);
/* One vector of step 4 after mixing: tracker += new - old, old = new. Returns |new|^2. */
double saddle_track_change(size_t count, const double *new, double *old, double *tracker);

/* The phase move, equations (3) to (6): x~ and y~ where they need all coordinates at once; the move; its *moved and *reach.
 * A value that is not finite is recorded. */
bool saddle_family_aims(const saddle_agent *agent);
void saddle_family_aim(saddle_agent *agent);
void saddle_family_move(const saddle_agent *agent, const saddle_range *x, const saddle_range *y);
void saddle_family_moved(saddle_agent *agent, const double *x_sums, const double *y_sums);

/* The phase track, equation (8): move the trackers by the change of the estimates, and keep the new ones. Records a stall
 * when recursive differences stay exactly zero while the iterate moves. */
void saddle_family_track(const saddle_agent *agent, const saddle_range *x, const saddle_range *y);
void saddle_family_tracked(saddle_agent *agent, const double *x_sums, const double *y_sums);

#endif
