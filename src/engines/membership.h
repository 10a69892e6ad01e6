/*
 * Which agents are present, as each agent knows it, and how agents start over when that changes.
 *
 * An agent's map has a byte for every agent and every edge of the network: twice the entry's incarnation,
 * plus 1 if the agent is gone or the edge is down. Two maps are merged by taking the larger byte of each
 * entry, so it does not matter in which order maps arrive, or how often. The map is at the end of the
 * agent's row of published state and goes with every message: a hash of the map, the iteration in which
 * the agent starts over, and the map. An agent uses only messages whose map equals its own.
 *
 * An agent changes its map at the beginning of an iteration, for one of three reasons: a neighbour's map
 * differs, a neighbour is gone or an edge is cut, or it has used no message of a neighbour for too long
 * and calls that edge down; on networks that really lose messages, it calls the edge up again when it hears the
 * neighbour (silence.c). It then starts over:
 *
 *   weights          M_ij for edges that are up between agents that are present; M_ii gets the rest
 *   mixing iterates  for some iterations it only averages the iterates
 *   start            saddle_algorithm::start() from the point that it has reached, with sums that begin at 0
 *   mixing sums      for some iterations it only averages the sums, so that its first step is one of the
 *                    complete network
 *
 * Agents need not do this in the same rounds: nothing is used of an agent that has not started, and what it
 * should have received in the meantime is contained in the next message. They agree on the iteration of
 * the start if messages are fast enough. tests/model/membership.pml has this rule for spin.
 */
#pragma once

#include <saddle/algorithm.h>

#include "engines/link_table.h"
#include "graph/churn.h"

/* What an agent does in an iteration. */
typedef enum saddle_stage_of_agent {
    SADDLE_AGENT_ACTIVE,  /* what its algorithm says */
    SADDLE_AGENT_GONE,    /* nothing */
    SADDLE_AGENT_JOINING, /* takes over the mean of its neighbours' iterates */
    SADDLE_AGENT_MIXING_ITERATES,
    SADDLE_AGENT_MIXING_SUMS
} saddle_stage_of_agent;

/* Why an agent has called an edge down. */
typedef enum saddle_dead {
    SADDLE_DEAD = 1,      /* nothing has arrived for too many rounds, */
    SADDLE_DEAD_REPORTED, /* which was reported */
    SADDLE_SILENT         /* its other end is silent, and may be heard again */
} saddle_dead;

typedef struct saddle_membership {
    size_t entries; /* of a map: agents, then edges; 0: there are no maps */
    size_t at;      /* offset in a row of hash, iteration of the start, and map */
    size_t words;   /* doubles of these three */
    size_t x;       /* offset of the iterate x in the span */
    size_t y;
    uint64_t iterate_mixing;           /* iterations in which iterates are only averaged */
    uint64_t sum_mixing;               /* iterations in which sums are only averaged */
    const saddle_algorithm *algorithm; /* borrowed */
    size_t *edge;                      /* per position in the graph: the number of the edge */
    saddle_presence presence;
    uint64_t *stage;         /* per agent here: a saddle_stage_of_agent */
    uint64_t *dead;          /* per message: a saddle_dead */
    unsigned char returns;   /* how often processes of this agent have come back */
    int64_t *extra_messages; /* per agent here: messages to it, minus one per edge and round */
    int64_t *
        extra_bytes; /* per agent here: bytes to it, minus those of one message per edge and round */
} saddle_membership;

/* ---- maps -------------------------------------------------------------------------------------- */

/* Returns a hash of a map, which is never 0. */
uint64_t saddle_map_hash(size_t entries, const unsigned char *map);
/* Sets map[k] to the larger of map[k] and other[k]; returns whether that changed the map. */
bool saddle_map_merge(size_t entries, unsigned char *map, const unsigned char *other);

/* Returns whether an entry says that its agent is gone or its edge down. */
static inline bool saddle_map_is_off(unsigned char entry)
{
    return entry % 2 == 1;
}
/* Marks an entry as gone or down; returns whether that changed it. */
static inline bool saddle_map_take_off(unsigned char *entry)
{
    bool change = !saddle_map_is_off(*entry);
    *entry = (unsigned char)(*entry + change);
    return change;
}
/* Gives an entry its next incarnation, which is present or up. After the last incarnation it stays off. */
static inline void saddle_map_renew(unsigned char *entry)
{
    unsigned next = (*entry | 1U) + 1U;
    *entry = (unsigned char)(next <= 254U ? next : 255U);
}

/* ---- maps in rows ------------------------------------------------------------------------------ */

/* Returns the hash in a row. */
static inline uint64_t saddle_row_hash(const saddle_membership *m, const double *row)
{
    uint64_t hash;
    memcpy(&hash, row + m->at, sizeof hash);
    return hash;
}
/* Returns the map in a row. */
static inline const unsigned char *saddle_row_map(const saddle_membership *m, const double *row)
{
    return (const unsigned char *)(row + m->at + 2);
}
/* Returns the iteration in which the agent of a row starts over, or has done so. */
static inline uint64_t saddle_row_start(const saddle_membership *m, const double *row)
{
    return (uint64_t)row[m->at + 1];
}

/* ---- agents with maps --------------------------------------------------------------------------- */

typedef struct saddle_link_state saddle_link_state;

/* Computes the sizes of maps, which begin at offset `at` of a row. */
void saddle_membership_measure(saddle_membership *members, const saddle_instance *instance,
                               const saddle_layout *layout, size_t at);
/* Asks for the memory of maps; it is complete only if table->allocator->failed is not set. */
void saddle_membership_take(saddle_membership *members, const saddle_instance *instance,
                            saddle_link_table *table);
/* Creates the first map of agent i. */
void saddle_membership_start(saddle_link_state *state, saddle_agent *agent, size_t i);
/* Completes the row of agent i of a process that follows an earlier one: nobody uses it before it has come back. */
void saddle_membership_return(saddle_link_state *state, saddle_agent *agent, size_t i);
/* Computes the weights of agent i's neighbours from now on, from the map in a row. */
void saddle_membership_weigh(saddle_link_state *state, saddle_agent *agent, size_t i,
                             const double *row);
/* Calls edges of agent i down whose other end is silent, and up again where it is heard; returns whether that changed
 * the map. `back`: the agent has just come back. silence.c */
bool saddle_membership_watch(const saddle_link_state *state, const saddle_agent *agent, size_t i,
                             unsigned char *map, bool back);
/* Implements saddle_link_state_collect() for agents with maps; `kind` is that of the round's messages. */
void saddle_membership_collect(saddle_link_state *state, saddle_agent *agent, size_t i,
                               const double *const *rows, unsigned round, size_t kind);
/* Implements saddle_link_state_publish() for agents with maps. */
void saddle_membership_publish(saddle_link_state *state, saddle_agent *agent, size_t i,
                               unsigned round, unsigned next_round);
