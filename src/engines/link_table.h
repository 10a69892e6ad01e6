/*
 * The memory of links that remember something, as a table of blocks: whose items a block has, and how
 * much of an item a checkpoint contains. Who needs a block asks for it once; measuring, allocating and
 * freeing are up to the allocator, saving and restoring to the table.
 *
 * The record of an agent in a checkpoint is the same for any placement of the agents: words of 8 bytes, in
 * the order in which the blocks were asked for, except that items of messages are grouped by message.
 */
#pragma once

#include <saddle/graph.h>

#include "core/base.h"

/* What a block has one item of. */
typedef enum saddle_item_of {
    SADDLE_OF_PROCESS,
    SADDLE_OF_MESSAGE, /* to an agent of this process, in a round that uses every edge */
    SADDLE_OF_AGENT,   /* of this process */
    SADDLE_OF_SOURCE,  /* agents of this process, then ghosts */
    SADDLE_OF_ROW      /* of published state; its memory is not the table's */
} saddle_item_of;

/* What a checkpoint contains of a block. */
typedef struct saddle_link_block {
    saddle_item_of of;
    unsigned char *memory; /* NULL for rows, and while sizes are only counted */
    size_t bytes;          /* of an item; for rows: the offset of the words */
    size_t words;          /* of an item, from its first byte on */
} saddle_link_block;

enum { SADDLE_MOST_LINK_BLOCKS = 16 };
typedef struct saddle_link_table {
    saddle_allocator *allocator; /* only while blocks are asked for */
    const saddle_graph *graph;
    const size_t *start; /* per agent of this process: its first message; borrowed */
    size_t agents;       /* of this process */
    size_t messages;
    size_t sources;
    size_t blocks;
    saddle_link_block block[SADDLE_MOST_LINK_BLOCKS];
} saddle_link_table;

/* Returns a block of items of `bytes` each, of which a checkpoint contains the first `words`; NULL while
 * sizes are only counted, or if memory is short. */
void *saddle_link_table_take(saddle_link_table *table, saddle_item_of of, size_t bytes,
                             size_t words);
/* Adds `words` at `memory` that belong to the process as a whole to the record of every agent. */
void saddle_link_table_share(saddle_link_table *table, uint64_t *memory, size_t words);
/* Adds the words of an agent's row of published state from `offset` on to its record. */
void saddle_link_table_row(saddle_link_table *table, size_t offset, size_t words);

/* Returns the words of an agent's record. */
size_t saddle_link_table_words(const saddle_link_table *table, size_t agent);
/* Writes the record of a source, whose row of published state is `row`. */
void saddle_link_table_save(const saddle_link_table *table, size_t source, size_t agent,
                            double *row, uint64_t *record);
/* Restores a source, which is agent number `agent`, from its record. For a ghost, only its row and its
 * items of sources are. */
void saddle_link_table_load(const saddle_link_table *table, size_t source, size_t agent,
                            double *row, const uint64_t *record);
