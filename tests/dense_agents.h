/*
 * What tests share that implement decentralized methods a second time: dense matrices in place of messages, and
 * gradients one sample at a time. Vectors are those of all agents, agent after agent; z = (x, y), and operators are
 * (grad_x, -grad_y). What is returned is freed with free().
 */
#pragma once

#include "instances.h"

enum { DENSE_MOST_SAMPLES = 256 };

typedef struct dense_agents {
    test_rig *rig;
    saddle_plan *plan; /* with every auto of the algorithm replaced */
    const saddle_problem *problem;
    size_t m, x_dim, y_dim, both;
    double step[2]; /* of x and y */
    uint64_t *ifo;  /* per agent */
    double *scratch;
} dense_agents;

void dense_open(dense_agents *out, test_rig *rig);
void dense_close(dense_agents *s);
/* Sets up an algorithm on a convex instance on a ring, where agents and samples differ, with further settings. */
void dense_open_on_ring(test_rig *out, const char *algorithm, const char *const *first,
                        const char *const *more);

/* Returns the start of all agents. */
double *dense_start(const dense_agents *s);
/* Returns a copy of the vectors of all agents; v NULL: zeros. */
double *dense_rows(const dense_agents *s, const double *v);
/* Returns the step of entry k of these. */
double dense_step(const dense_agents *s, size_t k);

/* Return M, m x m; a matrix to the power r; and (matrix) (v). */
double *dense_mixing(const saddle_mixing *mixing);
double *dense_power(size_t m, const double *base, uint64_t r);
double *dense_mixed(const dense_agents *s, const double *matrix, const double *v);

/* v = prox over X of (factor eta_x h) and projection onto Y of v, for one agent. */
void dense_project(const dense_agents *s, double factor, double *v);
/* Computes the operator of agent i at z over some samples, and counts them; index NULL: the first ones. */
void dense_operate(dense_agents *s, size_t i, const uint32_t *index, size_t count, const double *z,
                   double *out);
/* Draws samples of agent i; returns their number, at most n_i. */
size_t dense_draw(const dense_agents *s, saddle_purpose purpose, size_t i, uint64_t iteration,
                  size_t count, bool replacement, uint32_t *index);

/* Asserts that x and y of a state are `expected`, y with the given sign. */
void assert_dense_same(const dense_agents *s, double tolerance, const char *what, uint64_t t,
                       const double *x, const double *y, const double *expected, double y_sign);
void assert_dense_feasible(const dense_agents *s, const test_state *found);
/* Asserts what the engine counts: the IFO calls made here, these rounds, a message over every link in each, and this
 * many doubles over each link in all. */
void assert_dense_costs(const dense_agents *s, const test_state *found, uint64_t rounds,
                        uint64_t doubles);
/* Returns the largest entry of z - prox(z - (1/m) sum_i A_i(z)) over X and Y at any agent's z. */
double dense_optimality_gap(test_rig *rig);
