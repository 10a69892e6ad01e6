/* Finding a kind of problem by its name, or loading it from a shared object; making problems. */
#pragma once

#include "files/plugin.h"

/* A zeroed struct has no kind and needs no release. */
typedef struct saddle_problem_choice {
    const saddle_problem_class *kind;
    saddle_plugin_object *plugin; /* NULL: built in */
    saddle_problem_class loaded;  /* what `kind` points to for a plug-in */
} saddle_problem_choice;

/* Finds or loads the problem that a text names. Release it after all problems made from it. */
saddle_status saddle_problem_choose(saddle_problem_choice *out, const char *text,
                                    saddle_error *error);
void saddle_problem_release(saddle_problem_choice *choice);

/* Fills in the struct of a plug-in's options from the text; texts in it live as long as the
 * choice. */
saddle_status saddle_problem_read_options(const saddle_problem_choice *choice, void *options,
                                          saddle_error *error);
/* Frees a problem made by saddle_problem_make(), or another one allocated by saddle_alloc().
 * NULL is allowed. */
void saddle_problem_free(saddle_problem *problem);
/* Makes a problem: a zeroed instance that begins with a copy of the class's `common`, completed
 * by init(). Free with saddle_problem_free(). */
saddle_status saddle_problem_make(const saddle_problem_choice *choice, saddle_problem **out,
                                  const saddle_problem_inputs *inputs, saddle_error *error);

/* Computes how much agents count in the objective, with mean 1 over those that do: all the same, or
 * in proportion to their samples. Agents that do not count have the weight 0; counted may be NULL:
 * all do. */
void saddle_weigh_agents(size_t agents, const size_t *samples, bool by_size,
                         const unsigned char *counted, double *weight);

/* The following make a problem of another one, which is borrowed for its lifetime. Free with saddle_problem_free(). */

/* Multiplies the terms of agent i by weight[i], which is above 0 and borrowed. The numbers in
 * `shared` are those of the other problem until saddle_weighted_share(). */
saddle_status saddle_weighted_create(saddle_problem **out, const saddle_problem *of,
                                     const double *weight, saddle_error *error);
/* Returns the bytes that such a problem takes. */
double saddle_weighted_bytes(const saddle_problem *of);
/* Computes `shared` of such a problem, for agents that count weight[i] times; see
 * saddle_problem::share. Collective. */
saddle_status saddle_weighted_share(saddle_problem *problem, const double *weight,
                                    saddle_error *error);
/* Pools the samples of all agents at one agent, for the centralized algorithms: the objective F = (1/m)
 * sum_i F_i, the dimensions and the best response are the same. */
saddle_status saddle_pooled_create(saddle_problem **out, const saddle_problem *of,
                                   saddle_error *error);
