/*
 * The layer between agents and what carries their messages: which spans of the last round an agent reads,
 * and how much is sent.
 *
 * A neighbour in the same process is read in place; one in another process is a ghost, a row that an exchange fills in
 * before a round reads it. What is sent in a round follows from the algorithm's table of fields. What links that lose
 * or delay messages remember is in link_state.h, what compressed messages need in replicas.h; others remember nothing.
 */
#ifndef SADDLE_ENGINES_LINKS_H
#define SADDLE_ENGINES_LINKS_H

#include <saddle/algorithm.h>

#include "engines/link_state.h"
#include "engines/replicas.h"

/* Agents are meant by their position in world->here, ghosts by theirs in `ghost`. */
typedef struct saddle_links {
    size_t *start; /* start[i]: the first of agent i's neighbours in the lists below */
    const double **neighbour[2]; /* per parity, all agents' neighbours one after another */
    bool *remote;                /* per agent: whether a neighbour of it is a ghost */
    size_t ghosts;
    size_t *ghost;            /* their numbers, ordered by home, then by number */
    double *halo;             /* their spans, `stride` apart */
    bool changing;            /* whether the links have a state: they are not reliable */
    saddle_link_state state;  /* of links that have one */
    bool compressed;          /* whether messages are */
    saddle_replicas replicas; /* of agents whose messages are compressed */
    size_t *
        source; /* per neighbour of all agents: its position among agents here, then ghosts; NULL: not wanted */
    uint64_t messages_per_round;
    uint64_t bytes_per_iteration;
} saddle_links;

/* Find how links behave; returns the doubles between two agents' spans, of which the last `extra` are left free. */
size_t saddle_links_measure(saddle_links *links, const saddle_instance *instance,
                            const saddle_layout *layout, size_t extra);
/* Wire the agents of this process after saddle_links_measure(). False when memory is short; saddle_links_clear() is to
 * be called in any case. */
bool saddle_links_open(saddle_links *links, const saddle_instance *instance,
                       const saddle_layout *layout, const double *const spans[2], size_t stride);
/* Bytes that this takes at most. */
double saddle_links_bytes(const saddle_links *measured, const saddle_instance *instance,
                          size_t stride);
/* The parts of a row of published state that are sent in a round; `block` has room for SADDLE_MOST_BLOCKS_SENT. */
size_t saddle_links_blocks(const saddle_links *links, const saddle_layout *layout, unsigned round,
                           saddle_row_block *block);
/* Doubles of all of them. */
size_t saddle_links_length(const saddle_links *links, const saddle_layout *layout, unsigned round);
/* Whether links remember anything. */
static inline bool saddle_links_remember(const saddle_instance *instance)
{
    return saddle_link_state_needed(instance) || saddle_replicas_needed(instance);
}
/* Words of what links remember of an agent in a checkpoint; 0: nothing. */
size_t saddle_links_words(const saddle_instance *instance, const saddle_layout *layout,
                          size_t agent);
/* Free what it holds. */
void saddle_links_clear(saddle_links *links);

/* The spans that agent i has received from its neighbours, in the order of their numbers. */
static inline const double *const *saddle_links_received(const saddle_links *links, unsigned parity,
                                                         size_t i)
{
    return links->neighbour[parity] + links->start[i];
}

#endif
