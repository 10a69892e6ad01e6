#include "engines/links.h"

#include "algorithms/layout.h"
#include "core/memory.h"

/* Find the ghosts. place[j] becomes the position of agent j among the agents here, or, for a ghost,
 * that behind them; `place` has room for all agents, `count` for all ranks and one more. */
static bool find_ghosts(saddle_links *e, const saddle_instance *instance, size_t stride,
                        size_t *place, size_t *count)
{
    const saddle_world *world = instance->world;
    const saddle_graph *graph = instance->graph;
    size_t agents = world->local;
    for (size_t i = 0; i < agents; i++)
        for (size_t k = graph->start[world->here[i]]; k < graph->start[world->here[i] + 1]; k++)
            if (!saddle_world_has(world, graph->neighbour[k])) {
                place[graph->neighbour[k]] = 1;
                e->remote[i] = true;
            }
    for (size_t j = 0; j < world->agents; j++)
        count[world->home[j] + 1] += place[j];
    for (size_t r = 0; r < world->ranks; r++)
        count[r + 1] += count[r];
    e->ghosts = count[world->ranks];
    e->ghost = saddle_alloc(e->ghosts, sizeof *e->ghost);
    e->halo = saddle_alloc(e->ghosts, stride * sizeof(double));
    if (e->ghost == NULL || e->halo == NULL)
        return false;
    for (size_t j = 0; j < world->agents; j++)
        if (place[j] == 1) {
            size_t row = count[world->home[j]]++;
            e->ghost[row] = j;
            place[j] = agents + row;
        }
    for (size_t i = 0; i < agents; i++)
        place[world->here[i]] = i;
    return true;
}

/* Point every agent at its neighbours' spans. */
static bool wire_neighbours(saddle_links *e, const saddle_instance *instance,
                            const double *const spans[2], size_t stride, const size_t *place)
{
    const saddle_world *world = instance->world;
    const saddle_graph *graph = instance->graph;
    size_t agents = world->local;
    for (size_t i = 0; i < agents; i++) {
        size_t degree = graph->start[world->here[i] + 1] - graph->start[world->here[i]];
        e->start[i + 1] = e->start[i] + degree;
    }
    for (int parity = 0; parity < 2; parity++) {
        const double **list = saddle_alloc(e->start[agents], sizeof *list);
        e->neighbour[parity] = list;
        if (list == NULL)
            return false;
        for (size_t i = 0; i < agents; i++)
            for (size_t k = e->start[i]; k < e->start[i + 1]; k++) {
                size_t at = place[graph->neighbour[graph->start[world->here[i]] + k - e->start[i]]];
                list[k] =
                    at < agents ? spans[parity] + at * stride : e->halo + (at - agents) * stride;
            }
    }
    return true;
}

static bool wire(saddle_links *links, const saddle_instance *instance, const double *const spans[2],
                 size_t stride)
{
    const saddle_world *world = instance->world;
    size_t *place = saddle_alloc(world->agents, sizeof *place);
    size_t *count = saddle_alloc(world->ranks + 1, sizeof *count);
    bool good = place != NULL && count != NULL &&
                find_ghosts(links, instance, stride, place, count) &&
                wire_neighbours(links, instance, spans, stride, place);
    saddle_free(place);
    saddle_free(count);
    return good;
}

bool saddle_links_open(saddle_links *links, const saddle_instance *instance,
                       const saddle_layout *layout, const double *const spans[2], size_t stride)
{
    links->start = saddle_alloc(instance->world->local + 1, sizeof *links->start);
    links->remote = saddle_alloc(instance->world->local, sizeof *links->remote);
    if (links->start == NULL || links->remote == NULL || !wire(links, instance, spans, stride))
        return false;
    links->messages_per_round = 2 * (uint64_t)instance->graph->edges;
    for (unsigned round = 0; round < layout->rounds; round++) {
        size_t offset;
        size_t length;
        saddle_layout_message(layout, round, &offset, &length);
        links->bytes_per_iteration += links->messages_per_round * length * sizeof(double);
    }
    return true;
}

void saddle_links_clear(saddle_links *links)
{
    saddle_free(links->start);
    saddle_free(links->remote);
    saddle_free(links->ghost);
    saddle_free(links->halo);
    for (int parity = 0; parity < 2; parity++)
        saddle_free(links->neighbour[parity]);
}
