/*
 * What PRECISION, PRECISION+, Prox-GT-SGDA and Prox-DSGDA share: their variables, and the steps of
 * "Algorithm 1 at Agent i" that are the same in all four. precision.c has the equations.
 *
 * The published span is  x | y | d | p | extra  (x | y without trackers), the kept state is  v | u |
 * stall counter | extra | numbers of noise.h. y and d are adjacent, so that
 * they have the same alignment if their length is a multiple of a cache line.
 */
#pragma once

#include <saddle/algorithm.h>

#include "algorithms/device_steps.h"
#include "algorithms/measured_batches.h"
#include "algorithms/noise.h"
#include "core/vector.h"

/* The bounds of a constraint whose prox or projection only clips each coordinate to them. */
typedef struct saddle_clipping {
    bool only; /* otherwise x~ (or y~) needs all coordinates at once */
    double lower;
    double upper;
} saddle_clipping;

/* When agents refresh. */
typedef enum saddle_refresh_rule {
    SADDLE_REFRESH_EVERY_Q,
    SADDLE_REFRESH_SCHEDULED, /* each at times of its own, by the size of its last refresh */
    SADDLE_REFRESH_MEASURED   /* when an agent's measured error asks for it: measured_batches.h */
} saddle_refresh_rule;

/* The first member of the parameters of every algorithm with these steps. */
typedef struct saddle_precision_steps {
    saddle_steps steps;
    saddle_refresh_rule refreshes;
    bool recursive;   /* (7) is computed from differences between refreshes */
    bool tracking;    /* p and d are published and mixed; otherwise p = v, d = u */
    double curvature; /* c of the stored form u + c y (shifted_estimate.h); 0: u itself is stored */
    saddle_clipping clip_x; /* X with h */
    saddle_clipping clip_y; /* Y */
    size_t published_extra; /* doubles at the end of the span */
    size_t kept_extra; /* doubles at the end of the kept state, before the numbers of noise.h */
} saddle_precision_steps;

/* Pointers to the variables of one agent, in its memory. */
typedef struct saddle_variables {
    size_t x_dim;
    size_t y_dim;
    const double *x, *y, *p, *d; /* now */
    double *x1, *y1, *p1, *d1;   /* next; p1 and d1 only with tracking */
    double *v, *u;               /* kept; with a curvature c, u + c y is stored in u */
    const double *extra;         /* published, now */
    double *extra1;              /* published, next */
    double *stalled;             /* kept: number of consecutive all-zero differences */
    double *kept;                /* kept_extra doubles */
    double *noise;               /* kept: the numbers of noise.h */
    double *moved;               /* work: |x+ - x|^2 + |y+ - y|^2, after the move */
    double *y_moved;             /* work: |y+ - y|^2, after the move */
    double *reach;               /* work: |x~ - x|^2, after the move */
    double *measured;            /* work: the numbers of measured_batches.h */
    double *gx, *gy;             /* work: new estimates, or their change */
    double *x_tilde, *y_tilde;   /* work: if they need all coordinates at once */
    double *hx, *hy;             /* work: estimates over the second half of a measured batch */
} saddle_variables;

/* Number of doubles of agent->work before gx: moved, y_moved, reach and the numbers of measured_batches.h, which fill a
 * cache line. */
#define SADDLE_MOVE_SUMS (3 + MEASURED_NUMBERS)

/* The algorithm's own numbers follow those of device_steps.h in saddle_variables::kept. */
enum { SADDLE_PRECISION_KEPT = SADDLE_PRECISION_SPAN + 1 };

/* Returns the parameters that the shared steps read. */
static inline const saddle_precision_steps *saddle_precision_shared(const saddle_agent *agent)
{
    return agent->parameters;
}

/* Returns the pointers to an agent's variables. It is inline, so that a function computes only those
 * that it uses. */
static inline saddle_variables saddle_precision_variables(const saddle_agent *agent)
{
    bool tracking = saddle_precision_shared(agent)->tracking;
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    size_t both = x_dim + y_dim;
    size_t span = tracking ? 2 * both : both;
    double *gx = agent->work + SADDLE_MOVE_SUMS;
    double *x_tilde = gx + saddle_whole_lines(both);
    double *hx = x_tilde + saddle_whole_lines(both);
    return (saddle_variables){.x_dim = x_dim,
                              .y_dim = y_dim,
                              .x = agent->now,
                              .y = agent->now + x_dim,
                              .d = tracking ? agent->now + both : agent->kept + x_dim,
                              .p = tracking ? agent->now + both + y_dim : agent->kept,
                              .extra = agent->now + span,
                              .x1 = agent->next,
                              .y1 = agent->next + x_dim,
                              .d1 = agent->next + both,
                              .p1 = agent->next + both + y_dim,
                              .extra1 = agent->next + span,
                              .v = agent->kept,
                              .u = agent->kept + x_dim,
                              .stalled = agent->kept + both,
                              .kept = agent->kept + both + 1,
                              .noise = agent->kept + both + 1 +
                                       saddle_precision_shared(agent)->kept_extra,
                              .moved = agent->work,
                              .y_moved = agent->work + 1,
                              .reach = agent->work + 2,
                              .measured = agent->work + 3,
                              .gx = gx,
                              .gy = gx + x_dim,
                              .x_tilde = x_tilde,
                              .y_tilde = x_tilde + x_dim,
                              .hx = hx,
                              .hy = hx + x_dim};
}

/* The options of the step sizes of these algorithms. */
#define SADDLE_PRECISION_OPTIONS                                                     \
    &saddle_option_steps, &saddle_option_nu, &saddle_option_eta, &saddle_option_tau, \
        &saddle_option_alpha

/* Completes the parameters of an algorithm with or without trackers. */
saddle_status saddle_precision_configure(saddle_precision_steps *shared, bool tracking,
                                         saddle_configuration *configuration, saddle_error *error);
/* The automatic batch of the next function. */
#define SADDLE_PRECISION_BATCH_RULE(divisor)                                              \
    SADDLE_AUTOMATIC(saddle_option_batch, "ceil(sqrt(n) / " divisor "), but at least 2, " \
                                          "with --steps practical, where n is the largest n_i")
/* The same with trackers and recursive estimates, by mini-batches of ceil(sqrt(n) / divisor)
 * samples, where n is the largest local size, if no size is given and the step rule is `practical`. */
saddle_status saddle_precision_configure_recursive(saddle_precision_steps *shared, double divisor,
                                                   saddle_configuration *configuration,
                                                   saddle_error *error);

/* For saddle_algorithm's layout, view and prox_point. */
void saddle_precision_layout(const void *parameters, const saddle_problem *problem,
                             saddle_layout *out);
void saddle_precision_view(const saddle_agent *agent, saddle_view *out);
void saddle_precision_prox_point(const saddle_agent *agent, double tau, double *x_tilde,
                                 double *scratch);

/* For saddle_algorithm's device, if refreshes are in every q-th iteration or there are none. */
bool saddle_precision_device(const void *parameters, const saddle_instance *instance,
                             struct saddle_device_steps *out, const char **option);

/* Evaluates agent->request, the estimates at (x0, y0), and sets the first state from it: x0, y0,
 * p = v and d = u. */
void saddle_precision_start(saddle_agent *agent, const double *x0, const double *y0);

/* Returns |S_i|, the size of a mini-batch at this agent. */
size_t saddle_precision_batch_size(const saddle_agent *agent);
/* Returns a request for the mean gradient over a batch at (x, y), into gx and gy. */
saddle_request saddle_precision_gradient(const saddle_agent *agent, saddle_batch batch,
                                         const double *x, const double *y);
/* Draws the mini-batch S for the estimates of an iteration. */
saddle_batch saddle_precision_draw(saddle_agent *agent, uint64_t iteration);

/* Steps 1 and 2, equations (3) to (6), in precision.c: the functions of the phase "move". */
bool saddle_precision_needs_targets(const saddle_agent *agent);
void saddle_precision_compute_targets(saddle_agent *agent);
void saddle_precision_move(const saddle_agent *agent, const saddle_range *x, const saddle_range *y);
void saddle_precision_after_move(saddle_agent *agent, const double *x_sums, const double *y_sums);

/* Steps 3 and 4 of PRECISION, equations (7) and (8), in precision.c. */
bool saddle_precision_refreshes(const saddle_agent *agent);
saddle_request saddle_precision_difference(saddle_agent *agent);
/* Returns where noise.h is to see the agent after an iteration. */
saddle_noise_point saddle_precision_point(const saddle_agent *agent);
/* Takes in the change of the estimates at a refresh, and in the iteration before it: noise.h. */
void saddle_precision_compare_estimates(saddle_agent *agent);
void saddle_precision_track(const saddle_agent *agent, const saddle_range *x,
                            const saddle_range *y);
void saddle_precision_after_track(saddle_agent *agent, const double *x_sums, const double *y_sums);

/* Records new estimates that are not finite as the agent's fault, given the squares of their norms. */
void saddle_precision_check_estimates(saddle_agent *agent, double v_norm2, double u_norm2);
/* Records a fault if recursive differences stay exactly zero although gradients change.
 * `difference` is 0 if and only if all entries of the iteration's difference are. */
void saddle_check_recursion(saddle_agent *agent, double difference);
