/*
 * Running sums: how conserved fields are mixed when messages are lost in one direction and their senders do
 * not know it.
 *
 * Agent i holds its sums as z and a weight phi that starts at 1. s is the sum of all z that it has ever
 * pushed, and r_ij the last s_j that arrived from agent j. A round is
 *
 *   push:     s' = s + z, unless phi <= hold;  z = z - (1 - M_ii) (s' - s as rounded);  publish s'
 *   collect:  z = z + sum over j that arrived of M_ij (s_j' - r_ij);  r_ij = s_j'
 *   add:      z = z + what the algorithm added to its sums
 *
 * and the same for phi, to which nothing is added. The algorithm sees z / phi in the place of its sums. What
 * did not arrive is contained in the next message that does. At any time, up to rounding,
 *
 *   z + (1 - M_ii) s - sum_j M_ij r_ij = the estimate that the sum tracks (1 for phi).
 *
 * An agent with a small phi pushes nothing: phi shrinks by the factor M_ii in every round in which nothing
 * arrives, but what the algorithm adds does not shrink, so z / phi would explode. A large threshold lets
 * through less noise of mini-batches; a small one lets sums travel faster if neighbours are few. So `hold`
 * is 0.9 if lambda, the second largest modulus of an eigenvalue of M, is at most 0.9, and 1/2 otherwise.
 */
#pragma once

#include <saddle/algorithm.h>

/* A field of kind SADDLE_FIELD_SUM. */
typedef struct saddle_running_field {
    size_t offset; /* in the span */
    size_t length;
    size_t at;    /* offset among the running sums */
    size_t group; /* of fields that are sent in the same rounds and share a phi */
} saddle_running_field;

/* The layout of an agent's running sums: its fields one after another, then the phi of each group. */
typedef struct saddle_running_sums {
    size_t fields; /* 0: there are none */
    saddle_running_field field[SADDLE_MOST_FIELDS];
    size_t groups;
    const saddle_field *group[SADDLE_MOST_FIELDS]; /* a field that is sent in the group's rounds */
    size_t phi;                                    /* offset of the first phi */
    size_t width;                                  /* doubles, including every phi */
    size_t stride;                                 /* `width` in whole cache lines */
    size_t behind; /* their offset in a row of published state: behind the span */
    double hold;   /* an agent whose phi is not above this pushes nothing */
} saddle_running_sums;

/* Computes the layout of the running sums of `layout`, which must outlive it, for a network with this
 * lambda; NaN: unknown. */
void saddle_running_sums_plan(saddle_running_sums *sums, const saddle_layout *layout,
                              double lambda);

/* Sets z to the sums in a fresh row, with phi = 1 and nothing pushed yet, and pushes for a round. */
void saddle_running_sums_start(const saddle_running_sums *sums, double self_weight, unsigned round,
                               double *row, double *z);
/* Collects what `count` neighbours sent, and computes mixed = z / phi, laid out like the span. `row` are
 * their rows, NULL if nothing arrived; `received` are the r_ij, a stride apart. */
void saddle_running_sums_collect(const saddle_running_sums *sums, unsigned round, size_t count,
                                 const double *const *row, const double *weight, double *received,
                                 double *z, double *mixed);
/* Adds what the algorithm added to its sums in a round, stores z / phi as the sums of the next row, and
 * pushes for the next round. */
void saddle_running_sums_publish(const saddle_running_sums *sums, const saddle_agent *agent,
                                 unsigned round, unsigned next_round, double *z);
/* Returns the largest difference between the two sides of the invariant above over the entries of a field;
 * *phi_defect receives that of its phi. */
double saddle_running_sums_defect(const saddle_running_sums *sums, const saddle_agent *agent,
                                  const saddle_field *field, size_t count, const double *weight,
                                  double self_weight, const double *received, const double *z,
                                  double *phi_defect);
