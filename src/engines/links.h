/*
 * The layer between agents and the transport of their messages: it decides which rows of the last round an
 * agent reads, and how much is sent.
 *
 * A neighbour in the same process is read in place. A neighbour in another process is a ghost: a row that
 * an exchange fills in before a round reads it. What is sent in a round follows from the algorithm's table
 * of fields. link_state.h has the memory of links that lose or delay messages, replicas.h that of compressed
 * messages; other links have none.
 */
#pragma once

#include <saddle/algorithm.h>

#include "engines/clipper.h"
#include "engines/link_state.h"
#include "engines/replicas.h"

/* Agents are identified by their index in world->here, ghosts by their index in `ghost`, and sources are
 * the agents followed by the ghosts. */
typedef struct saddle_links {
    size_t *start; /* start[i]: the first of agent i's neighbours in the lists below */
    const double **neighbour[2]; /* per parity: the rows of all agents' neighbours */
    bool *remote;                /* per agent: whether a neighbour of it is a ghost */
    size_t ghosts;
    size_t *ghost;            /* their numbers as agents, ordered by home, then by number */
    double *halo;             /* their rows, `stride` apart */
    size_t *source;           /* per neighbour of all agents: its source; NULL: not needed */
    bool changing;            /* whether `state` is used */
    saddle_link_state state;  /* of links that are not reliable */
    bool compressed;          /* whether `replicas` are used */
    saddle_replicas replicas; /* of agents whose messages are compressed */
    saddle_link_table table;  /* the memory of both */
    saddle_clipper clipper;   /* its rule is NULL if nothing is clipped */
    uint64_t messages_per_round;
    uint64_t bytes_per_iteration;
} saddle_links;

/* Determines how links behave; returns the doubles of a row of published state. */
size_t saddle_links_measure(saddle_links *links, const saddle_instance *instance,
                            const saddle_layout *layout);
/* Allocates the memory of measured links and connects the agents of this process, whose rows are `spans`.
 * Returns false if memory is short. */
bool saddle_links_open(saddle_links *links, const saddle_instance *instance,
                       const double *const spans[2], size_t stride, saddle_allocator *allocator);
/* Returns the most bytes that saddle_links_open() allocates. */
double saddle_links_bytes(const saddle_links *measured, const saddle_instance *instance,
                          size_t stride);
/* Lists the blocks of a row that are sent in a round; returns their number. */
size_t saddle_links_blocks(const saddle_links *links, unsigned round,
                           saddle_row_block block[SADDLE_MOST_BLOCKS_SENT]);
/* Returns the doubles that count as sent in a message of a round. */
size_t saddle_links_length(const saddle_links *links, unsigned round);
/* Returns the 64-bit words of an agent's record in a checkpoint, which has what links remember of it; 0:
 * nothing. */
size_t saddle_links_words(const saddle_instance *instance, const saddle_layout *layout,
                          size_t agent);

/* Returns the rows that agent i has received from its neighbours, in the order of their numbers. */
static inline const double *const *saddle_links_received(const saddle_links *links, unsigned parity,
                                                         size_t i)
{
    return links->neighbour[parity] + links->start[i];
}
