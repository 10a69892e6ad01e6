/* What the files of the observer share. */
#ifndef SADDLE_OBSERVE_OBSERVER_PARTS_H
#define SADDLE_OBSERVE_OBSERVER_PARTS_H

#include "observe/observer.h"

struct saddle_observer {
    saddle_observer_inputs in;
    const saddle_problem *problem; /* the instance's */
    saddle_members members;        /* of the last row */
    double *x_mean;                /* x_dim doubles; the block of all vectors begins here */
    double *y_mean;                /* y_dim doubles, follows x_mean */
    double *both;                  /* x_dim + y_dim, or the size of the longest sum */
    double *slope;                 /* x_dim: the network's grad_x at (xbar, ybar) */
    double *statistic;             /* follows slope */
    double *x_tilde;               /* prox point of the network gradient */
    double *y_star;                /* kept between calls as the generic solver's starting point */
    double *per_agent;             /* one number per agent, for messages that name an agent */
    double *returned_nan; /* per agent: which of the problem's functions did, for this row */
    double *scratch;
    double ascent_step;
    double tracked_size;       /* the largest size seen of all sums and their estimates */
    const saddle_field *field; /* the sum being checked */
    double defect_allowed;     /* for an agent's own sums */
    const double *response_y;  /* where the generic solver needs the gradient */
};

/* Computes the mean of a term over the agents. Collective. */
static inline void saddle_observer_average(saddle_observer *o, size_t size, saddle_agent_term *term,
                                           double *out)
{
    o->in.engine->kind->mean(o->in.engine, size, term, o, out);
}

#endif
