/*
 * Compressed messages: what agents remember of each other, and how they mix it.
 *
 * Every agent and its neighbours hold the same replica z^ of each field z that it publishes. At first it is x0 for x,
 * y0 for y and 0 for other fields. Before each round in which a field is sent
 *
 *   c = C(z_i - z^_i),   z^_i = z^_i + c   at agent i, which sends c, and at all its neighbours
 *
 * and fields are mixed by
 *
 *   z_i + sum_j w_ij (z^_j - z^_i)
 *
 * whose sum over agents is that of all z_i, whatever C does. It may leave X and Y. Where the algorithm does not project
 * what it mixes and there are constraints, iterates are mixed by
 *
 *   (1 - sum_j w_ij) z_i + sum_j w_ij z^_j      with replicas projected on X and Y
 *
 * which is in X and Y, and has the same fixed points; replicas that lag behind hold it back a little.
 *
 * The weights are w_ij = gamma_ij M_ij and gamma_ij = gamma 2^-max(level_i, level_j). An agent raises its level, which
 * travels with its messages, when z - z^ has become larger than z was at the start: C then loses more than mixing at
 * that rate allows.
 *
 * A row of published state is the span, the replica, which is laid out like it, and the packed message.
 */
#ifndef SADDLE_ENGINES_REPLICAS_H
#define SADDLE_ENGINES_REPLICAS_H

#include <saddle/algorithm.h>

#include "core/memory.h"
#include "graph/compression.h"

/* By what an agent sees that its replica falls behind. Words of 8 bytes: checkpoints keep it. */
typedef struct saddle_replica_watch {
    double distance[SADDLE_MOST_FIELDS]; /* |z - z^|^2 of each field, averaged over rounds */
    double limit[SADDLE_MOST_FIELDS];    /* beyond which it must not grow */
    uint64_t settled;                    /* the round from which on that is so */
    uint64_t level;
} saddle_replica_watch;

/* Agents are meant by their position in world->here. */
typedef struct saddle_replicas {
    const saddle_instance *instance;
    const saddle_compression *rule; /* NULL: messages are not compressed */
    const saddle_layout *layout;
    double rate;                               /* gamma before any level */
    bool convex;                               /* iterates are mixed by the second formula */
    const double *begin[SADDLE_MOST_FIELDS];   /* replica of a field at first; NULL: 0 */
    const saddle_set *set[SADDLE_MOST_FIELDS]; /* that it is projected on; NULL: none */
    size_t behind;               /* where the replica is in a row, and the doubles of it */
    size_t message;              /* where the packed message is in a row */
    const size_t *start;         /* of each agent's neighbours; borrowed */
    const double **read;         /* per agent: replicas of its neighbours, and its own */
    double *weight;              /* of them */
    double *mixed;               /* per agent: see saddle_agent::mixed */
    saddle_replica_watch *watch; /* per agent */
    bool resumed;                /* replicas of ghosts include the message that comes next */
} saddle_replicas;

/* Whether messages are compressed. */
static inline bool saddle_replicas_needed(const saddle_instance *instance)
{
    return instance->compression != NULL;
}
/* Returns the mixing rate of an algorithm's messages, before agents lower it. */
double saddle_replicas_rate(const saddle_compression *rule, const saddle_layout *layout);
/* Find the sizes; returns the doubles of a row of published state, of which the last `extra` are left free. */
size_t saddle_replicas_measure(saddle_replicas *replicas, const saddle_instance *instance,
                               const saddle_layout *layout, size_t extra);
/* Take memory for agents that have `messages` neighbours together; complete only without allocator->failed. */
void saddle_replicas_take(saddle_replicas *replicas, size_t messages, saddle_allocator *allocator);
/* Free what it holds. */
void saddle_replicas_clear(saddle_replicas *replicas);
/* Find which fields are x and y, from any agent that has a state. */
void saddle_replicas_describe(saddle_replicas *replicas, const saddle_algorithm *algorithm,
                              const saddle_agent *agent);
/* Doubles of a packed message of a round. */
size_t saddle_replicas_sent(const saddle_replicas *replicas, unsigned round);

/* Make a row's replica that of the start. */
void saddle_replicas_begin(const saddle_replicas *replicas, double *row);
/* Pack the first message of agent i into agent->next, which the algorithm has started; agent->now is begun. */
void saddle_replicas_start(saddle_replicas *replicas, saddle_agent *agent, size_t i);
/* Point agent i, whose neighbours' rows are `rows`, at what it reads in a round, with its weights. */
void saddle_replicas_collect(saddle_replicas *replicas, saddle_agent *agent, size_t i,
                             const double *const *rows, unsigned round);
/* After the last phase of a round: pack what is sent in the next, and take back what collect() changed. */
void saddle_replicas_publish(saddle_replicas *replicas, saddle_agent *agent, size_t i,
                             unsigned round);
/* Add the message that arrived in a row of `sender` for a round to its replica there. */
void saddle_replicas_receive(const saddle_replicas *replicas, size_t sender, double *row,
                             uint64_t iteration, unsigned round, double *scratch);

/* Words of an agent's record in a checkpoint; write it or read it into its row. The watch is NULL for a ghost. */
size_t saddle_replicas_words(const saddle_layout *layout);
void saddle_replicas_save(const saddle_replicas *replicas, size_t i, const double *row,
                          uint64_t *words);
void saddle_replicas_load(const saddle_replicas *replicas, saddle_replica_watch *watch, double *row,
                          const uint64_t *words);

#endif
