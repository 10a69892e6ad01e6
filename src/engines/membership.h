/*
 * Who takes part, as each agent knows it, and how agents begin anew when that changes.
 *
 * A map has a byte for every agent and every edge: 2 * incarnation, and 1 more where the agent is gone or the edge is
 * down. Maps merge by the larger byte, so that the order in which they arrive, and how often, does not matter. An
 * agent's map is part of its row of published state and travels with every message: behind what else is there, a hash
 * of the map, the iteration in which the agent starts anew, and the map. Messages are used only between agents with
 * equal maps.
 *
 * An agent changes its map at the beginning of an iteration: what its neighbours' maps say; a neighbour that is gone or
 * an edge that is cut; a neighbour that it has used nothing of for too long, whose edge it calls down. It then begins
 * anew:
 *
 *   weights   M_ij of edges that are up between agents that are present; what the others had goes to M_ii
 *   mixing    for some iterations it only averages the iterates
 *   start     by saddle_algorithm::start() from the point that it has come to, with sums that begin at 0
 *   settling  for some iterations it only averages the sums, so that its first step is one of the whole network
 *
 * Agents need not do this in the same rounds: of an agent that has not started nothing is taken, and what it was sent
 * meanwhile is contained in the next message. They agree on the iteration of the start where messages are quick enough.
 */
#ifndef SADDLE_ENGINES_MEMBERSHIP_H
#define SADDLE_ENGINES_MEMBERSHIP_H

#include <saddle/algorithm.h>

#include "graph/churn.h"

/* What an agent does in an iteration. */
typedef enum saddle_stage_of_agent {
    SADDLE_AGENT_ACTIVE,  /* what its algorithm says */
    SADDLE_AGENT_GONE,    /* nothing */
    SADDLE_AGENT_JOINING, /* takes over the mean of its neighbours' iterates */
    SADDLE_AGENT_MIXING,
    SADDLE_AGENT_SETTLING
} saddle_stage_of_agent;

typedef struct saddle_membership {
    size_t entries; /* of a map: agents, then edges; 0: there are no maps */
    size_t at;      /* where they are in a row: hash, iteration of the start, map */
    size_t words;   /* doubles of that */
    size_t x;       /* where the iterates are in the span */
    size_t y;
    uint64_t mixing;                   /* iterations */
    uint64_t settling;                 /* iterations */
    const saddle_algorithm *algorithm; /* borrowed */
    size_t *edge;                      /* per position in the graph: the number of the edge */
    saddle_presence presence;
    unsigned char *stage; /* per agent here */
    uint64_t *sent;       /* per message: 1 + the round in which what has arrived was sent */
    unsigned char *dead;  /* per message: 1: its direction was found dead; 2: and reported */
    int64_t *messages; /* per agent here: messages to it, less those of all edges in all rounds */
    int64_t *bytes;    /* likewise */
} saddle_membership;

/* ---- maps -------------------------------------------------------------------------------------- */

/* Never 0. */
uint64_t saddle_map_hash(size_t entries, const unsigned char *map);
/* map[k] = the larger of map[k] and other[k]; returns whether that changed the map. */
bool saddle_map_merge(size_t entries, unsigned char *map, const unsigned char *other);

static inline bool saddle_map_is_off(unsigned char entry)
{
    return entry % 2 == 1;
}
/* Call an entry gone or down; returns whether that changed it. */
static inline bool saddle_map_take_off(unsigned char *entry)
{
    bool change = !saddle_map_is_off(*entry);
    *entry = (unsigned char)(*entry + change);
    return change;
}
/* Give an entry a new incarnation, which is present or up. The last one stays off. */
static inline void saddle_map_renew(unsigned char *entry)
{
    unsigned next = (*entry | 1U) + 1U;
    *entry = (unsigned char)(next <= 254U ? next : 255U);
}

/* ---- in a row ---------------------------------------------------------------------------------- */

static inline uint64_t saddle_row_hash(const saddle_membership *m, const double *row)
{
    uint64_t hash;
    memcpy(&hash, row + m->at, sizeof hash);
    return hash;
}
static inline const unsigned char *saddle_row_map(const saddle_membership *m, const double *row)
{
    return (const unsigned char *)(row + m->at + 2);
}
/* The iteration in which the agent starts anew, or has done so. */
static inline uint64_t saddle_row_start(const saddle_membership *m, const double *row)
{
    return (uint64_t)row[m->at + 1];
}

#endif
