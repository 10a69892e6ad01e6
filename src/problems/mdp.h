/*
 * A random Markov decision process with a fixed random policy, one trajectory of it, and agents
 * that observe it with different rewards.
 *
 * Drawn from the seed: normal features of each state; transitions P(s, a, .), 95% Dirichlet with
 * few likely successors and 5% uniform, so that every state is reached; the policy pi(s, .); and
 * agent i's reward R_i(s, a) = R(s, a) + D_i(s, a), where R depends on the features and D_i only on
 * the agent.
 */
#pragma once

#include <saddle/world.h>

#include "core/base.h"

/* The number of actions in every state. */
#define SADDLE_MDP_ACTIONS 3

/* Sizes of a process. */
typedef struct saddle_mdp_shape {
    size_t states;
    size_t features;
    size_t agents;   /* of all processes */
    size_t length;   /* transitions of the trajectory */
    double discount; /* gamma, below 1 */
} saddle_mdp_shape;

/* A process. Arrays are row by row. All arrays of doubles are in one block, which begins at
 * `feature`; `action` follows `state`. */
typedef struct saddle_mdp {
    saddle_mdp_shape shape;
    double *feature;    /* states x features */
    size_t *row;        /* agents: the agent's row of `reward`, if it is in this process */
    double *reward;     /* agents in this process x states x actions: R_i(s, a) */
    double *transition; /* states x actions x states: P(s, a, s') */
    double *policy;     /* states x actions: pi(s, a) */
    uint32_t *state;    /* length + 1: s_0, s_1, ... */
    uint32_t *action;   /* length: a_0, a_1, ... */
    double *visits;     /* states: the stationary distribution under the policy */
} saddle_mdp;

/* Makes a process with the rewards of the agents in this process. Free with saddle_mdp_free(). */
saddle_status saddle_mdp_create(saddle_mdp **out, const saddle_mdp_shape *shape,
                                const saddle_world *world, uint64_t seed, saddle_error *error);
/* Computes the exact value of every state under the policy, for the mean reward over agents that
 * count weight[i] times; NULL: all the same. With `visits`, also the stationary distribution.
 * Collective. */
saddle_status saddle_mdp_solve(const saddle_mdp *mdp, const saddle_world *world,
                               const double *weight, double *value, double *visits,
                               saddle_error *error);
/* Frees a process. NULL is allowed. */
void saddle_mdp_free(saddle_mdp *mdp);
