/*
 * Compressed messages: what agents remember of each other, and how they mix it.
 *
 * Every agent and its neighbours hold the same replica z^ of each field z that it publishes: x0 for x, y0 for
 * y and 0 for other fields at first. Before each round in which a field is sent, agent i sends c, and it
 * and all its neighbours update the replica:
 *
 *   c = C(z_i - z^_i),   z^_i = z^_i + c
 *
 * Fields are mixed by
 *
 *   z_i + sum_j w_ij (z^_j - z^_i)
 *
 * whose sum over agents is that of all z_i, whatever C does. The result may be outside X and Y. If the
 * algorithm does not project what it mixes and there are constraints, iterates are mixed by
 *
 *   (1 - sum_j w_ij) z_i + sum_j w_ij z^_j      with replicas projected on X and Y
 *
 * which is in X and Y and has the same fixed points; replicas that lag behind slow it down a little.
 *
 * If a message contains only some of the entries, replicas of sums follow a mean of z over rounds, in the
 * place of z in c:
 *
 *   mean = mean + s (z - mean),   s = min(1, 2 * the share of the entries that is sent)
 *
 * An entry of a replica is in use until it is sent again, after 1 / share rounds on average. The noise that
 * z had in one round would be mixed in so many times; that of a mean cancels. Where noise vanishes, means
 * and sums have the same limit.
 *
 * The weights are w_ij = gamma_ij M_ij with gamma_ij = gamma 2^-max(level_i, level_j). An agent raises its
 * level, which goes with its messages, when z - z^ has become larger than z was at the start: C then loses
 * more than mixing at that rate allows.
 *
 * A row of published state consists of the span, the replica, which is laid out like the span, and the
 * packed message.
 */
#pragma once

#include <saddle/algorithm.h>

#include "engines/link_table.h"
#include "graph/compression.h"

/* How an agent notices that its replica falls behind. Words of 8 bytes: checkpoints contain it. */
typedef struct saddle_replica_watch {
    double distance[SADDLE_MOST_FIELDS]; /* |z - z^|^2 of each field, averaged over rounds */
    double limit[SADDLE_MOST_FIELDS];    /* that `distance` must not exceed */
    uint64_t limited_from;               /* the round from which on the limits are fixed */
    uint64_t level;
} saddle_replica_watch;

/* Agents are identified by their index in world->here. */
typedef struct saddle_replicas {
    const saddle_instance *instance;
    const saddle_compression *rule; /* NULL: messages are not compressed */
    const saddle_layout *layout;
    double rate;                               /* gamma before any level */
    double smoothing[SADDLE_MOST_FIELDS];      /* the weight of a round in `mean`; 1: no mean */
    bool convex;                               /* iterates are mixed by the second formula */
    const double *begin[SADDLE_MOST_FIELDS];   /* the first replica of a field; NULL: 0 */
    const saddle_set *set[SADDLE_MOST_FIELDS]; /* on which a replica is projected; NULL: none */
    size_t behind;               /* offset of the replica in a row, and the doubles of it */
    size_t message;              /* offset of the packed message in a row */
    const size_t *start;         /* per agent: its first neighbour in the list of all; borrowed */
    const double **read;         /* per agent: replicas of its neighbours, then its own */
    double *weight;              /* of `read` */
    double *mixed;               /* per agent: see saddle_agent::mixed */
    double *mean;                /* per agent: of its sums over rounds; NULL: not needed */
    saddle_replica_watch *watch; /* per agent, then per ghost, whose level is all that counts */
    bool resumed;                /* replicas of ghosts include the message that comes next */
} saddle_replicas;

/* Returns whether messages are compressed. */
static inline bool saddle_replicas_needed(const saddle_instance *instance)
{
    return instance->compression != NULL;
}
/* Returns the mixing rate of an algorithm's messages, before agents lower it. */
double saddle_replicas_rate(const saddle_compression *rule, const saddle_layout *layout);
/* Computes the sizes; returns the doubles of a row of published state. */
size_t saddle_replicas_measure(saddle_replicas *replicas, const saddle_instance *instance,
                               const saddle_layout *layout);
/* Asks for the memory of replicas; it is complete only if table->allocator->failed is not set. */
void saddle_replicas_take(saddle_replicas *replicas, saddle_link_table *table);
/* Finds which fields are x and y, from any agent that has a state. */
void saddle_replicas_describe(saddle_replicas *replicas, const saddle_algorithm *algorithm,
                              const saddle_agent *agent);
/* Returns the doubles of a packed message of a round. */
size_t saddle_replicas_length(const saddle_replicas *replicas, unsigned round);

/* Sets the replica in a row to that of the start. */
void saddle_replicas_begin(const saddle_replicas *replicas, double *row);
/* Packs the first message of agent i into agent->next, which the algorithm has started; agent->now has the
 * replica of the start. */
void saddle_replicas_start(saddle_replicas *replicas, saddle_agent *agent, size_t i);
/* Completes the row of an agent or ghost whose watch and replica were restored from a checkpoint. */
void saddle_replicas_restore(const saddle_replicas *replicas, size_t source, double *row);
/* Points agent i, whose neighbours' rows are `rows`, at what it reads in a round, with its weights. */
void saddle_replicas_collect(saddle_replicas *replicas, saddle_agent *agent, size_t i,
                             const double *const *rows, unsigned round);
/* Packs what is sent in the next round, and takes back what collect() changed; called after the last phase
 * of a round. */
void saddle_replicas_publish(saddle_replicas *replicas, saddle_agent *agent, size_t i,
                             unsigned round);
/* Returns the first number of a packed message of a round that is not finite or exceeds `most`; 0 if there is none. */
double saddle_replicas_unusable(const saddle_replicas *replicas, const unsigned char *message,
                                unsigned round, double most);
/* Adds the message of a round that arrived in a row of `sender` to the replica there. */
void saddle_replicas_receive(const saddle_replicas *replicas, size_t sender, double *row,
                             uint64_t iteration, unsigned round, double *scratch);
