/* Sums over a spanning tree. O(agents + edges). */
#include "graph/consensus.h"

#include <string.h>

#include "core/memory.h"
#include "core/status.h"

/* A breadth-first tree: agents in the order of the search, with parent and depth. */
typedef struct tree {
    size_t *order;
    size_t *parent;
    size_t *depth;
} tree;

/* Builds the tree from agent 0, which is its own parent. The graph is connected, so it contains all agents. */
static void grow(const saddle_graph *graph, tree *t)
{
    size_t met = 1;
    t->order[0] = 0;
    for (size_t i = 0; i < graph->agents; i++)
        t->parent[i] = i == 0 ? 0 : graph->agents; /* not in the tree yet */
    for (size_t k = 0; k < met; k++) {
        size_t agent = t->order[k];
        for (size_t e = graph->start[agent]; e < graph->start[agent + 1]; e++) {
            size_t other = graph->neighbour[e];
            if (t->parent[other] != graph->agents)
                continue;
            t->parent[other] = agent;
            t->depth[other] = t->depth[agent] + 1;
            t->order[met++] = other;
        }
    }
}

saddle_status saddle_consensus_mean(const saddle_graph *graph, const double *value, double *mean,
                                    size_t *rounds, saddle_error *error)
{
    size_t agents = graph->agents;
    size_t *numbers = saddle_alloc(3 * agents, sizeof *numbers);
    double *sum = saddle_alloc_doubles(agents);
    if (numbers == NULL || sum == NULL) {
        saddle_free(sum);
        saddle_free(numbers);
        return saddle_no_memory(error, "the agents' average");
    }
    tree t = {.order = numbers, .parent = numbers + agents, .depth = numbers + 2 * agents};
    grow(graph, &t);
    memcpy(sum, value, agents * sizeof *sum);
    for (size_t k = agents - 1; k > 0; k--)
        sum[t.parent[t.order[k]]] += sum[t.order[k]];
    *mean = sum[0] / (double)agents;
    if (rounds != NULL)
        *rounds = 2 * t.depth[t.order[agents - 1]];
    saddle_free(sum);
    saddle_free(numbers);
    return SADDLE_OK;
}
