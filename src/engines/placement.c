#include "engines/placement.h"
#include "core/base.h"

/* Methods that are tried. */
#define METHODS 2

size_t saddle_crossing_edges(const saddle_graph *graph, const size_t *home)
{
    size_t crossing = 0;
    for (size_t i = 0; i < graph->agents; i++)
        for (size_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            crossing += home[i] != home[graph->neighbour[k]];
    return crossing / 2;
}

/* Assigns contiguous ranges: in many topologies, agents with adjacent numbers are neighbours. */
static void place_ranges(size_t agents, size_t ranks, size_t *home)
{
    for (size_t r = 0; r < ranks; r++)
        for (size_t i = agents * r / ranks; i < agents * (r + 1) / ranks; i++)
            home[i] = r;
}

/* Returns whether every process has agents and none has many more than its share, because the slowest
 * process determines the speed. */
static bool balanced(size_t agents, size_t ranks, const size_t *home)
{
    size_t *agents_of = saddle_alloc(ranks, sizeof *agents_of);
    size_t share = (agents + ranks - 1) / ranks;
    bool fair = agents_of != NULL;
    for (size_t i = 0; fair && i < agents; i++)
        agents_of[home[i]]++;
    for (size_t r = 0; fair && r < ranks; r++)
        fair = agents_of[r] > 0 && agents_of[r] <= share + share / 16;
    saddle_free(agents_of);
    return fair;
}

/* Keeps the better of the present placement and those that the methods find. */
static bool improve(const saddle_graph *graph, size_t ranks, saddle_partitioner *partition,
                    size_t *home)
{
    size_t *other = saddle_alloc(graph->agents, sizeof *other);
    for (unsigned k = 0; other != NULL && k < METHODS; k++)
        if (partition(k, graph->agents, graph->start, graph->neighbour, ranks, other) &&
            balanced(graph->agents, ranks, other) &&
            saddle_crossing_edges(graph, other) < saddle_crossing_edges(graph, home))
            memcpy(home, other, graph->agents * sizeof *home);
    saddle_free(other);
    return other != NULL;
}

saddle_status saddle_place_agents(const saddle_graph *graph, size_t ranks,
                                  saddle_partitioner *partition, size_t *home, saddle_error *error)
{
    place_ranges(graph->agents, ranks, home);
    if (partition != NULL && ranks > 1 && ranks < graph->agents &&
        !improve(graph, ranks, partition, home))
        return saddle_no_memory(error, "the placement of the agents");
    return SADDLE_OK;
}
