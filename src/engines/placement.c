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

/* Neighbours in number are neighbours in many topologies. */
static void place_ranges(size_t agents, size_t ranks, size_t *home)
{
    for (size_t r = 0; r < ranks; r++)
        for (size_t i = agents * r / ranks; i < agents * (r + 1) / ranks; i++)
            home[i] = r;
}

#ifdef SADDLE_METIS
/* The process with the most agents. */
static size_t fullest(const size_t *agents_of, size_t ranks)
{
    size_t most = 0;
    for (size_t r = 1; r < ranks; r++)
        if (agents_of[r] > agents_of[most])
            most = r;
    return most;
}

/* A partition may leave a process without agents: it gets the last one of the fullest. */
static bool fill_empty(size_t agents, size_t ranks, size_t *home)
{
    size_t *agents_of = saddle_alloc(ranks, sizeof *agents_of);
    if (agents_of == NULL)
        return false;
    for (size_t i = 0; i < agents; i++)
        agents_of[home[i]]++;
    for (size_t r = 0; r < ranks; r++) {
        if (agents_of[r] > 0)
            continue;
        size_t from = fullest(agents_of, ranks);
        size_t i = agents;
        while (home[--i] != from)
            ;
        home[i] = r;
        agents_of[r]++;
        agents_of[from]--;
    }
    saddle_free(agents_of);
    return true;
}

/* The graph in METIS's types; the three arrays lie in one block, *start first. */
static idx_t *metis_graph(const saddle_graph *graph, idx_t **neighbour, idx_t **part)
{
    idx_t *start = saddle_alloc(2 * graph->agents + 1 + 2 * graph->edges, sizeof *start);
    if (start == NULL)
        return NULL;
    *neighbour = start + graph->agents + 1;
    *part = *neighbour + 2 * graph->edges;
    for (size_t i = 0; i <= graph->agents; i++)
        start[i] = (idx_t)graph->start[i];
    for (size_t k = 0; k < 2 * graph->edges; k++)
        (*neighbour)[k] = (idx_t)graph->neighbour[k];
    return start;
}

/* Few crossing edges by METIS; false when it cannot. */
static bool place_by_metis(const saddle_graph *graph, size_t ranks, size_t *home)
{
    idx_t *neighbour;
    idx_t *part;
    if (graph->agents > IDX_MAX / 2 || graph->edges > IDX_MAX / 2)
        return false;
    idx_t *start = metis_graph(graph, &neighbour, &part);
    if (start == NULL)
        return false;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    idx_t vertices = (idx_t)graph->agents;
    idx_t constraints = 1;
    idx_t parts = (idx_t)ranks;
    idx_t cut;
    int outcome = METIS_PartGraphKway(&vertices, &constraints, start, neighbour, NULL, NULL, NULL,
                                      &parts, NULL, NULL, options, &cut, part);
    for (size_t i = 0; outcome == METIS_OK && i < graph->agents; i++)
        home[i] = (size_t)part[i];
    saddle_free(start);
    return outcome == METIS_OK && fill_empty(graph->agents, ranks, home);
}
#endif

saddle_status saddle_place_agents(const saddle_graph *graph, size_t ranks, size_t *home,
                                  saddle_error *error)
{
    place_ranges(graph->agents, ranks, home);
#ifdef SADDLE_METIS
    if (ranks == 1 || ranks == graph->agents)
        return SADDLE_OK;
    size_t *better = saddle_alloc(graph->agents, sizeof *better);
    if (better == NULL)
        return saddle_no_memory(error, "the agents' places");
    if (place_by_metis(graph, ranks, better) &&
        saddle_crossing_edges(graph, better) < saddle_crossing_edges(graph, home))
        memcpy(home, better, graph->agents * sizeof *home);
    saddle_free(better);
#else
    (void)error;
#endif
    return SADDLE_OK;
}
