#include "engines/placement.h"

#include <string.h>

#include "core/memory.h"
#include "core/status.h"

#ifdef SADDLE_METIS
#include <metis.h>
#endif

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

#ifdef SADDLE_METIS
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

/* Converts the graph to METIS's types; the three arrays are in one block, *start first. */
static idx_t *metis_graph(const saddle_graph *graph, idx_t **neighbour, idx_t **found)
{
    idx_t *start = saddle_alloc(2 * graph->agents + 1 + 2 * graph->edges, sizeof *start);
    if (start == NULL)
        return NULL;
    *neighbour = start + graph->agents + 1;
    *found = *neighbour + 2 * graph->edges;
    for (size_t i = 0; i <= graph->agents; i++)
        start[i] = (idx_t)graph->start[i];
    for (size_t k = 0; k < 2 * graph->edges; k++)
        (*neighbour)[k] = (idx_t)graph->neighbour[k];
    return start;
}

typedef int partitioner(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *,
                        real_t *, real_t *, idx_t *, idx_t *, idx_t *);

/* Minimizes crossing edges by one of METIS's methods; false when it finds no balanced placement. */
static bool place_by(partitioner *partition, const saddle_graph *graph, size_t ranks, size_t *home)
{
    idx_t *neighbour;
    idx_t *found;
    if (graph->agents > IDX_MAX / 2 || graph->edges > IDX_MAX / 2)
        return false;
    idx_t *start = metis_graph(graph, &neighbour, &found);
    if (start == NULL)
        return false;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    idx_t vertices = (idx_t)graph->agents;
    idx_t constraints = 1;
    idx_t processes = (idx_t)ranks;
    idx_t cut;
    int outcome = partition(&vertices, &constraints, start, neighbour, NULL, NULL, NULL, &processes,
                            NULL, NULL, options, &cut, found);
    for (size_t i = 0; outcome == METIS_OK && i < graph->agents; i++)
        home[i] = (size_t)found[i];
    saddle_free(start);
    return outcome == METIS_OK && balanced(graph->agents, ranks, home);
}

/* Keeps the better of the present placement and those that METIS finds. */
static bool improve(const saddle_graph *graph, size_t ranks, size_t *home)
{
    partitioner *const method[] = {METIS_PartGraphKway, METIS_PartGraphRecursive};
    size_t *other = saddle_alloc(graph->agents, sizeof *other);
    for (size_t k = 0; other != NULL && k < sizeof method / sizeof *method; k++)
        if (place_by(method[k], graph, ranks, other) &&
            saddle_crossing_edges(graph, other) < saddle_crossing_edges(graph, home))
            memcpy(home, other, graph->agents * sizeof *home);
    saddle_free(other);
    return other != NULL;
}
#endif

saddle_status saddle_place_agents(const saddle_graph *graph, size_t ranks, size_t *home,
                                  saddle_error *error)
{
    place_ranges(graph->agents, ranks, home);
#ifdef SADDLE_METIS
    if (ranks > 1 && ranks < graph->agents && !improve(graph, ranks, home))
        return saddle_no_memory(error, "the placement of the agents");
#else
    (void)error;
#endif
    return SADDLE_OK;
}
