/*
 * Running sums: how conserved fields are mixed when messages are lost in one direction, unknown to their senders.
 *
 * With z the sums that agent i holds, each with a weight phi that starts at 1, s the sum of all z that it ever pushed
 * and r_ij the last s_j that arrived, a round is
 *
 *   push:     s' = s + z, unless phi <= hold;  z = z - (1 - M_ii) (s' - s as rounded);  publish s'
 *   collect:  z = z + sum over j that arrived of M_ij (s_j' - r_ij);  r_ij = s_j'
 *   settle:   z = z + what the algorithm added to its sums
 *
 * and the same for phi, to which nothing is added. The algorithm sees z / phi in the place of its sums. Whatever did
 * not arrive is contained in the next message that does. At any time, to rounding,
 *
 *   z + (1 - M_ii) s - sum_j M_ij r_ij = the estimate that the sum tracks (1 for phi).
 *
 * An agent with a small phi holds back: phi shrinks by M_ii in every round in which nothing arrives, while what
 * the algorithm adds does not, so that z / phi would explode. A large threshold lets less noise of mini-batches
 * through; a small one lets sums travel faster where neighbours are few. So it is 0.9 where lambda, the second largest
 * modulus of an eigenvalue of M, is at most 0.9, and 1/2 otherwise.
 */
#ifndef SADDLE_ENGINES_RUNNING_SUMS_H
#define SADDLE_ENGINES_RUNNING_SUMS_H

#include <saddle/algorithm.h>

/* A field of kind SADDLE_FIELD_SUM. */
typedef struct saddle_running_field {
    size_t offset; /* in the span */
    size_t length;
    size_t at;    /* among the running sums */
    size_t group; /* of fields that are sent in the same rounds and share a phi */
} saddle_running_field;

/* Where the running sums of an agent are: its fields one after another, then phi of each group. */
typedef struct saddle_running_sums {
    size_t fields; /* 0: there are none */
    saddle_running_field field[SADDLE_MOST_FIELDS];
    size_t groups;
    unsigned first_round[SADDLE_MOST_FIELDS]; /* of a group */
    unsigned last_round[SADDLE_MOST_FIELDS];
    size_t phi;    /* where the first phi is */
    size_t width;  /* doubles, with all phi */
    size_t stride; /* the same in whole cache lines */
    size_t behind; /* where they are in a row of published state: behind the span */
    double hold;   /* an agent whose phi is not above this pushes nothing */
} saddle_running_sums;

/* Find the sums of a layout, for a network of this lambda; NaN: unknown. */
void saddle_running_sums_plan(saddle_running_sums *sums, const saddle_layout *layout,
                              double lambda);

/* Make z from the sums of a fresh row, with phi = 1 and nothing pushed, and push for a round. */
void saddle_running_sums_start(const saddle_running_sums *sums, double self_weight, unsigned round,
                               double *row, double *z);
/* Collect: `row` are the rows that neighbours sent, NULL where nothing arrived, `received` the r_ij, a stride apart.
 * mixed = z / phi, laid out like the span. */
void saddle_running_sums_collect(const saddle_running_sums *sums, unsigned round, size_t count,
                                 const double *const *row, const double *weight, double *received,
                                 double *z, double *mixed);
/* Settle after a round, put z / phi into the sums of the next row, and push for the round after it. */
void saddle_running_sums_settle(const saddle_running_sums *sums, const saddle_agent *agent,
                                unsigned round, unsigned next_round, double *z);
/* The largest difference between the two sides of the invariant above, for a field and for its phi. */
double saddle_running_sums_defect(const saddle_running_sums *sums, const saddle_agent *agent,
                                  const saddle_field *field, size_t count, const double *weight,
                                  double self_weight, const double *received, const double *z,
                                  double *phi_defect);

#endif
