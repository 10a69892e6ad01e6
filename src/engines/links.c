#include "engines/links.h"

#include "algorithms/layout.h"
#include "core/vector.h"

/* Marks the ghosts among all agents by 1; returns their number. */
static size_t mark_ghosts(const saddle_instance *instance, size_t *mark)
{
    const saddle_world *world = instance->world;
    const saddle_graph *graph = instance->graph;
    size_t ghosts = 0;
    for (size_t i = 0; world->ranks > 1 && i < world->local; i++)
        for (size_t k = graph->start[world->here[i]]; k < graph->start[world->here[i] + 1]; k++) {
            size_t j = graph->neighbour[k];
            if (saddle_world_has(world, j) || mark[j] == 1)
                continue;
            mark[j] = 1;
            ghosts++;
        }
    return ghosts;
}

/* Asks for the memory of what links remember. */
static void take_memory(saddle_links *e, const saddle_instance *instance, size_t messages,
                        saddle_allocator *allocator)
{
    size_t agents = instance->world->local;
    e->table = (saddle_link_table){.allocator = allocator,
                                   .graph = instance->graph,
                                   .start = e->start,
                                   .agents = agents,
                                   .messages = messages,
                                   .sources = agents + e->ghosts};
    if (e->changing)
        saddle_link_state_take(&e->state, &e->table);
    if (e->compressed)
        saddle_replicas_take(&e->replicas, &e->table);
}

/* Asks for all memory of links with a known number of ghosts. */
static void take_lists(saddle_links *e, const saddle_instance *instance, size_t stride,
                       saddle_allocator *allocator)
{
    const saddle_world *world = instance->world;
    const size_t *start = instance->graph->start;
    size_t neighbours = 0;
    for (size_t i = 0; i < world->local; i++)
        neighbours += start[world->here[i] + 1] - start[world->here[i]];
    e->start = saddle_allocator_block(allocator, world->local + 1, sizeof *e->start);
    e->remote = saddle_allocator_block(allocator, world->local, sizeof *e->remote);
    e->ghost = saddle_allocator_block(allocator, e->ghosts, sizeof *e->ghost);
    e->halo = saddle_allocator_block(allocator, e->ghosts, stride * sizeof(double));
    for (int parity = 0; parity < 2; parity++)
        e->neighbour[parity] =
            saddle_allocator_block(allocator, neighbours, sizeof *e->neighbour[parity]);
    if (e->changing)
        e->source = saddle_allocator_block(allocator, neighbours, sizeof *e->source);
    if (e->clipper.rule != NULL)
        saddle_clipper_take(&e->clipper, neighbours, allocator);
    take_memory(e, instance, neighbours, allocator);
}

size_t saddle_links_measure(saddle_links *links, const saddle_instance *instance,
                            const saddle_layout *layout)
{
    links->changing = saddle_link_state_needed(instance);
    links->compressed = saddle_replicas_needed(instance);
    links->clipper = (saddle_clipper){.rule = instance->clipping, .layout = layout};
    size_t row = saddle_link_state_measure(&links->state, instance, layout);
    return links->compressed ? saddle_replicas_measure(&links->replicas, instance, layout) : row;
}

/* Lists the ghosts, which are marked in `place`. place[j] becomes the source of agent j, if it is one;
 * `count` is zeroed and has capacity for all ranks and one more. */
static void list_ghosts(saddle_links *e, const saddle_world *world, size_t *place, size_t *count)
{
    for (size_t j = 0; j < world->agents; j++)
        count[world->home[j] + 1] += place[j];
    for (size_t r = 0; r < world->ranks; r++)
        count[r + 1] += count[r];
    for (size_t j = 0; j < world->agents; j++)
        if (place[j] == 1) {
            size_t row = count[world->home[j]]++;
            e->ghost[row] = j;
            place[j] = world->local + row;
        }
    for (size_t i = 0; i < world->local; i++)
        place[world->here[i]] = i;
}

/* Points every agent at its neighbours' rows. */
static void connect_neighbours(saddle_links *e, const saddle_instance *instance,
                               const double *const spans[2], size_t stride, const size_t *place)
{
    const saddle_world *world = instance->world;
    const saddle_graph *graph = instance->graph;
    size_t agents = world->local;
    for (size_t i = 0; i < agents; i++) {
        const size_t *neighbour = graph->neighbour + graph->start[world->here[i]];
        size_t degree = graph->start[world->here[i] + 1] - graph->start[world->here[i]];
        e->start[i + 1] = e->start[i] + degree;
        for (size_t k = 0; k < degree; k++) {
            size_t at = place[neighbour[k]];
            bool ghost = at >= agents;
            e->remote[i] = e->remote[i] || ghost;
            if (e->source != NULL)
                e->source[e->start[i] + k] = at;
            for (int parity = 0; parity < 2; parity++)
                e->neighbour[parity][e->start[i] + k] =
                    ghost ? e->halo + (at - agents) * stride : spans[parity] + at * stride;
        }
    }
}

/* Asks for what saddle_links_open() needs only until it returns: agents' positions and counts per rank. */
static size_t *take_places(const saddle_world *world, size_t **count, saddle_allocator *allocator)
{
    *count = saddle_allocator_block(allocator, world->ranks + 1, sizeof **count);
    return saddle_allocator_block(allocator, world->agents, sizeof **count);
}

double saddle_links_bytes(const saddle_links *measured, const saddle_instance *instance,
                          size_t stride)
{
    const saddle_world *world = instance->world;
    saddle_links links = *measured;
    saddle_allocator allocator = {.count_only = true};
    size_t *count;
    take_places(world, &count, &allocator);
    /* Without memory to find the ghosts there is none for the links either: saddle_links_open() will fail. */
    size_t *place = world->ranks > 1 ? saddle_alloc(world->agents, sizeof *place) : NULL;
    if (place != NULL)
        links.ghosts = mark_ghosts(instance, place);
    saddle_free(place);
    take_lists(&links, instance, stride, &allocator);
    return allocator.bytes;
}

bool saddle_links_open(saddle_links *links, const saddle_instance *instance,
                       const double *const spans[2], size_t stride, saddle_allocator *allocator)
{
    saddle_allocator temporary = {0};
    size_t *count;
    size_t *place = take_places(instance->world, &count, &temporary);
    if (!temporary.failed) {
        links->ghosts = mark_ghosts(instance, place);
        take_lists(links, instance, stride, allocator);
    }
    bool good = !temporary.failed && !allocator->failed;
    if (good) {
        list_ghosts(links, instance->world, place, count);
        connect_neighbours(links, instance, spans, stride, place);
    }
    saddle_allocator_free(&temporary);
    if (!good)
        return false;
    links->state.start = links->start;
    links->state.source = links->source;
    links->state.halo = links->halo;
    links->state.halo_stride = stride;
    links->replicas.start = links->start;
    links->messages_per_round = 2 * (uint64_t)instance->graph->edges;
    for (unsigned round = 0; round < links->state.layout->rounds; round++)
        links->bytes_per_iteration +=
            links->messages_per_round * saddle_links_length(links, round) * sizeof(double);
    return true;
}

size_t saddle_links_blocks(const saddle_links *links, unsigned round,
                           saddle_row_block block[SADDLE_MOST_BLOCKS_SENT])
{
    if (!links->compressed)
        return saddle_link_state_blocks(&links->state, round, block);
    block[0] = (saddle_row_block){.offset = links->replicas.message,
                                  .length = saddle_replicas_length(&links->replicas, round)};
    return 1;
}

size_t saddle_links_length(const saddle_links *links, unsigned round)
{
    return links->compressed ? saddle_replicas_length(&links->replicas, round)
                             : saddle_link_state_length(&links->state, round);
}

size_t saddle_links_words(const saddle_instance *instance, const saddle_layout *layout,
                          size_t agent)
{
    saddle_links links = {.start = NULL};
    saddle_allocator allocator = {.count_only = true};
    saddle_links_measure(&links, instance, layout);
    take_memory(&links, instance, 0, &allocator);
    return saddle_link_table_words(&links.table, agent);
}
