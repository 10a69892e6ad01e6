#include "engines/link_table.h"

/* ---- asking for blocks ------------------------------------------------------------------------- */

static void add(saddle_link_table *t, saddle_link_block block)
{
    if (block.words == 0)
        return;
    if (t->blocks < SADDLE_MOST_LINK_BLOCKS)
        t->block[t->blocks++] = block;
    else
        t->allocator->failed = true;
}

void *saddle_link_table_take(saddle_link_table *t, saddle_item_of of, size_t bytes, size_t words)
{
    size_t count = of == SADDLE_OF_MESSAGE ? t->messages
                   : of == SADDLE_OF_AGENT ? t->agents
                                           : t->sources;
    void *memory = saddle_allocator_block(t->allocator, count, bytes);
    add(t, (saddle_link_block){.of = of, .memory = memory, .bytes = bytes, .words = words});
    return memory;
}

void saddle_link_table_share(saddle_link_table *t, uint64_t *memory, size_t words)
{
    add(t, (saddle_link_block){
               .of = SADDLE_OF_PROCESS, .memory = (unsigned char *)memory, .words = words});
}

void saddle_link_table_row(saddle_link_table *t, size_t offset, size_t words)
{
    add(t,
        (saddle_link_block){.of = SADDLE_OF_ROW, .bytes = offset * sizeof(double), .words = words});
}

/* ---- records of checkpoints --------------------------------------------------------------------- */

/* A record that is being written or read, and whose it is. */
typedef struct record {
    const saddle_link_table *table;
    size_t source;
    unsigned char *row;
    uint64_t *at;
    bool save;
} record;

/* Copies the words of item k of a block into the record or out of it; skips what is not kept of a ghost. */
static void copy_item(record *r, const saddle_link_block *block, size_t k)
{
    bool ghost = r->source >= r->table->agents;
    unsigned char *item =
        block->of == SADDLE_OF_ROW ? r->row + block->bytes : block->memory + k * block->bytes;
    if (r->save)
        memcpy(r->at, item, block->words * sizeof *r->at);
    else if (!ghost || block->of == SADDLE_OF_SOURCE || block->of == SADDLE_OF_ROW)
        memcpy(item, r->at, block->words * sizeof *r->at);
    r->at += block->words;
}

/* Copies a record in the order of saddle_link_table; the blocks of messages follow one another. */
static void copy_record(record r, size_t agent)
{
    const saddle_link_table *t = r.table;
    size_t degree = t->graph->start[agent + 1] - t->graph->start[agent];
    size_t first = r.source < t->agents ? t->start[r.source] : 0;
    for (size_t b = 0; b < t->blocks;) {
        size_t end = b;
        while (end < t->blocks && t->block[end].of == SADDLE_OF_MESSAGE)
            end++;
        for (size_t k = 0; k < degree; k++)
            for (size_t m = b; m < end; m++)
                copy_item(&r, &t->block[m], first + k);
        if (end == b)
            copy_item(&r, &t->block[end++], r.source);
        b = end;
    }
}

size_t saddle_link_table_words(const saddle_link_table *t, size_t agent)
{
    size_t degree = t->graph->start[agent + 1] - t->graph->start[agent];
    size_t words = 0;
    for (size_t b = 0; b < t->blocks; b++)
        words += t->block[b].words * (t->block[b].of == SADDLE_OF_MESSAGE ? degree : 1);
    return words;
}

void saddle_link_table_save(const saddle_link_table *t, size_t source, size_t agent, double *row,
                            uint64_t *words)
{
    copy_record((record){t, source, (unsigned char *)row, words, true}, agent);
}

void saddle_link_table_load(const saddle_link_table *t, size_t source, size_t agent, double *row,
                            const uint64_t *words)
{
    record r = {.table = t, .source = source, .row = (unsigned char *)row};
    /* Casts const away: a record with `save` unset is only read. */
    memcpy(&r.at, &words, sizeof r.at);
    copy_record(r, agent);
}
