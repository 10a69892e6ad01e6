/* What the files of the observer share. */
#pragma once

#include "observe/observer.h"
#include "observe/search_metric.h"

/* The sizes of the iterates that are remembered. */
#define SADDLE_WATCHED_SIZES 3

struct saddle_observer {
    saddle_observer_inputs in;
    const saddle_problem *problem; /* the instance's */
    saddle_members members;        /* of the last row */
    double *x_mean;                /* x_dim doubles; the block of all vectors begins here */
    double *y_mean;                /* y_dim doubles, follows x_mean */
    double *both;                  /* x_dim + y_dim, or the size of the longest sum */
    double *slope;                 /* x_dim: the network's grad_x at (xbar, ybar) */
    double *statistic;             /* follows slope; the mean of the values follows it */
    double *x_tilde;               /* prox point of the network gradient */
    double *y_star;                /* kept between calls as the generic solver's starting point */
    double *per_agent;             /* two numbers per agent, to find one of them */
    double *returned_nan;     /* per agent: which of the problem's functions did, for this row */
    saddle_gap_search search; /* of gap.c */
    double *scratch;
    const double *x_at; /* where the problem is evaluated */
    saddle_gap gap;     /* of the last row that has one */
    double ascent_step;
    double tracked_size;                /* the largest size seen of all sums and their estimates */
    double watched;                     /* the iteration in which `sizes` last changed */
    double sizes[SADDLE_WATCHED_SIZES]; /* of the iterates, the latest first */
    const saddle_field *field;          /* the sum being checked */
    double defect_allowed;              /* for an agent's own sums */
    const double *response_y;           /* where the generic solver needs the gradient */
    size_t chosen[2];                   /* the agents whose x and y are copied */
};

/* ---- observer.c: the problem at o->x_at ---- */

/* Whether the problem's closed forms apply: not if an agent is missing, because they may assume all agents. */
bool saddle_observer_has_closed_forms(const saddle_observer *o);
/* Computes the statistic for the best response. Collective. */
void saddle_observer_statistic(saddle_observer *o);
/* Computes y* into o->y_star, from the statistic where the problem has a closed form, otherwise until a step is at most
 * `tolerance` long, relative to y. Collective. */
saddle_status saddle_observer_best_response(saddle_observer *o, double tolerance,
                                            saddle_error *error);
/* Returns F at y, from the statistic where the problem has a closed form. Collective. */
double saddle_observer_value(saddle_observer *o, const double *y);
/* Computes the gradient of F at y into o->both. Collective. */
void saddle_observer_gradient(saddle_observer *o, const double *y);

/* Notes whether a gradient in x of some of an agent's samples, near (x_at, y*), has a NaN. */
void saddle_observer_note_gradient(const saddle_observer *o, size_t agent, const double *gradient);

/* Lets the engine measure something where the state is; returns false if it cannot. */
static inline bool saddle_observer_measure(saddle_observer *o, saddle_measurement what, double *out)
{
    saddle_engine *engine = o->in.engine;
    return engine->kind->measure != NULL && engine->kind->measure(engine, &what, out);
}

/* Computes the mean of a term over the agents. Collective. */
static inline void saddle_observer_average(saddle_observer *o, size_t size, saddle_agent_term *term,
                                           double *out)
{
    o->in.engine->kind->mean(o->in.engine, size, term, o, out);
}
