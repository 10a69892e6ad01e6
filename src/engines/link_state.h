/*
 * State of links that do not deliver every message in every round, and what they do before and after a
 * round of an agent.
 *
 * All randomness is a function of the seed, the edge and the round, so it is the same for any number of
 * threads and processes. Rounds are counted over all iterations.
 */
#pragma once

#include <saddle/algorithm.h>

#include "engines/link_table.h"
#include "engines/membership.h"
#include "engines/running_sums.h"
#include "graph/link_rule.h"

/* A block of a row of published state. */
typedef struct saddle_row_block {
    size_t offset;
    size_t length;
} saddle_row_block;

/* What a transport has delivered of a message in a round. */
typedef struct saddle_delivery {
    uint64_t
        sent; /* 1 + the round in which it was sent, not after this one; 0: nothing new has arrived */
    bool silent; /* its sender has been silent for too long */
} saddle_delivery;

/* Agents are identified by their index in world->here, messages to them by their index from `start` on. */
struct saddle_link_state {
    const saddle_instance *instance;
    const saddle_link_rule *rule;
    const saddle_layout *layout;
    saddle_inexact inexact;
    size_t agents;          /* of this process */
    size_t row;             /* doubles of a row of published state */
    const size_t *start;    /* per agent: its first message; borrowed */
    const double **read;    /* per message: the row that the agent reads in this round */
    const double **arrived; /* per message: the row that arrived in this round; NULL: none */
    double *weight;         /* per message: of this round */
    size_t kinds;           /* of messages: rounds of an iteration may send different fields */
    saddle_row_block kind[2 * SADDLE_MOST_FIELDS + 1]; /* per kind: what is sent of the span */
    uint64_t *used;       /* per message and kind: 1 + the round of the newest one used; 0: none */
    uint64_t *sent_round; /* per message: 1 + the round in which the row that arrived was sent */
    uint64_t *failing;    /* per message: whether it is in a burst of losses; NULL: no bursts */
    uint64_t number;      /* of the current round */
    uint64_t iteration;   /* that it belongs to */
    /* Per message: set before each round by an engine whose messages are really lost or late; the rows are then those
     * that arrived last. NULL: the rule says which messages arrive. */
    const saddle_delivery *delivered;
    uint64_t *skipped;    /* per agent: iterations that it did not take part in; NULL: none */
    unsigned char *skips; /* per agent: whether it takes no part in this one; NULL: all take part */
    uint64_t messages_sent; /* so far, if not every edge is used in every round */
    uint64_t bytes_sent;    /* by them */
    /* Gossip. */
    size_t *pair;    /* the two ends of every edge of the network */
    size_t *order;   /* numbers of edges */
    size_t *partner; /* per agent of the network: its partner, or itself without one */
    /* Running sums. */
    saddle_running_sums sums; /* no fields: sums are mixed like iterates */
    double *self_weight;      /* per agent; `weight` has those of its neighbours */
    double *held;             /* per agent: z and phi, a stride apart */
    double *received;         /* per message: r_ij, a stride apart */
    double *mixed;            /* per agent: see saddle_agent::mixed */
    size_t mixed_stride;      /* doubles between two agents' */
    saddle_membership members;
    /* Late messages: rows of published state of past rounds. */
    size_t window;        /* number of rounds kept; 0: none */
    size_t sources;       /* agents of this process, then ghosts */
    const size_t *source; /* per message: its sender; borrowed */
    const double *halo;   /* the rows of ghosts; borrowed */
    size_t halo_stride;   /* doubles between two of them */
    bool begun;           /* whether the halo has the rows of the last round */
    double *past;         /* per source, window + 1 rows; round t is in row t mod (window + 1) */
    /* --inexact stale. */
    double *stale; /* per message: the last row that arrived */
};

/* Returns whether links need a state: reliable ones do not, unless there is churn. */
static inline bool saddle_link_state_needed(const saddle_instance *instance)
{
    return instance->links != NULL &&
           (instance->links->kind != SADDLE_LINKS_RELIABLE || instance->churn != NULL);
}
/* Returns whether running sums carry the agents' sums, if any, and agents have maps of who is present. */
static inline bool saddle_link_state_has_maps(const saddle_instance *instance)
{
    return instance->links != NULL &&
           (instance->churn != NULL || (saddle_link_rule_one_sided(instance->links) &&
                                        instance->plan->network.inexact == SADDLE_INEXACT_NO));
}
/* Computes the sizes of the state; returns the doubles of a row of published state. */
size_t saddle_link_state_measure(saddle_link_state *state, const saddle_instance *instance,
                                 const saddle_layout *layout);
/* Asks for the state's blocks; they are complete only if table->allocator->failed is not set. */
void saddle_link_state_take(saddle_link_state *state, saddle_link_table *table);

enum { SADDLE_MOST_BLOCKS_SENT = 2 * SADDLE_MOST_FIELDS + 1 };
/* Lists the blocks of a row that are sent in a round; returns their number. */
size_t saddle_link_state_blocks(const saddle_link_state *state, unsigned round,
                                saddle_row_block block[SADDLE_MOST_BLOCKS_SENT]);
/* Returns the doubles that count as sent: all of them, except that a map counts as its hash. */
size_t saddle_link_state_length(const saddle_link_state *state, unsigned round);

/* Returns whether some edges are unused in some rounds, so that messages must be counted as they are sent. */
static inline bool saddle_link_state_counts(const saddle_link_state *state)
{
    saddle_link_kind kind = state->rule->kind;
    return kind == SADDLE_LINKS_GOSSIP || kind == SADDLE_LINKS_SEQUENCE ||
           kind == SADDLE_LINKS_SCHEDULE;
}

/* Completes the row of agent i at the start of a run. */
void saddle_link_state_start(saddle_link_state *state, saddle_agent *agent, size_t i);
/* Does what concerns all agents before a round; called by one thread. */
void saddle_link_state_begin(saddle_link_state *state, uint64_t iteration, unsigned round);
/* Selects what agent i, whose neighbours' rows are `rows`, reads in a round, and the weights of that round. */
void saddle_link_state_collect(saddle_link_state *state, saddle_agent *agent, size_t i,
                               const double *const *rows, unsigned round);
/* Returns whether the agent skips its phases in this round, because it is gone, starts over or takes no part. */
static inline bool saddle_link_state_idle(const saddle_link_state *state, size_t i)
{
    return (state->skips != NULL && state->skips[i]) ||
           (state->members.entries > 0 && state->members.stage[i] != SADDLE_AGENT_ACTIVE);
}
/* Completes what neighbours will read in the next round; called after the last phase of a round. */
void saddle_link_state_publish(saddle_link_state *state, saddle_agent *agent, size_t i,
                               unsigned round);

/* Returns the newest unused message k of a kind that has arrived at agent i from agent j, and sets its
 * sent_round; NULL when there is none. `row` is what j published for this round. */
const double *saddle_link_state_arrived(saddle_link_state *state, size_t k, size_t i, size_t j,
                                        const double *row, size_t kind);
/* Returns whether the agent at index i waits in the current round for its neighbour n. It waits for lost
 * and late messages as long as for others, because it does not know which they are. */
bool saddle_link_state_waits(const saddle_link_state *state, size_t i, size_t n);
/* Returns the most rounds since a message to an agent of this process was used, after `rounds` rounds;
 * 0: all were used in the last. */
uint64_t saddle_link_state_age(const saddle_link_state *state, uint64_t rounds);
/* Implements saddle_engine_class::defect. */
void saddle_link_state_defect(const saddle_link_state *state, const saddle_agent *agent, size_t i,
                              const saddle_field *field, double *sum, double *weight);

/* Returns whether message k to agent i from agent j is lost in a round; updates its burst. */
bool saddle_link_fails(saddle_link_state *state, size_t k, size_t i, size_t j, uint64_t round);
