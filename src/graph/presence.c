/* Who is present: applies the events of a churn file, and finds the components that they leave. */
#include <string.h>

#include "graph/churn.h"

static void apply(saddle_presence *p, const saddle_churn_event *event)
{
    size_t k = event->which;
    switch (event->kind) {
    case SADDLE_CHURN_LEAVE:
        p->gone[k] = 1;
        p->back[k] = 0;
        return;
    case SADDLE_CHURN_RETURN:
    case SADDLE_CHURN_JOIN:
        p->gone[k] = 0;
        p->back[k] = 1;
        return;
    case SADDLE_CHURN_CUT:
        p->cut[k] = 1;
        p->healed[k] = 0;
        return;
    case SADDLE_CHURN_HEAL:
        p->cut[k] = 0;
        p->healed[k] = 1;
        return;
    }
}

/* Marks the agents that can be reached from an agent; returns their number. */
static size_t fill(saddle_presence *p, size_t from, unsigned char mark)
{
    size_t count = 1;
    p->queue[0] = from;
    p->counted[from] = mark;
    for (size_t at = 0; at < count; at++) {
        size_t i = p->queue[at];
        for (size_t k = p->graph->start[i]; k < p->graph->start[i + 1]; k++) {
            size_t j = p->graph->neighbour[k];
            if (p->counted[j] == mark || !saddle_presence_linked(p, i, k))
                continue;
            p->counted[j] = mark;
            p->queue[count++] = j;
        }
    }
    return count;
}

/* Finds the components of the agents that are present. */
static void find_components(saddle_presence *p)
{
    size_t agents = p->graph->agents;
    size_t largest = 0;
    memset(p->counted, 0, agents);
    p->present = p->members = p->components = 0;
    for (size_t i = 0; i < agents; i++) {
        p->present += !p->gone[i];
        if (p->gone[i] || p->counted[i])
            continue;
        size_t size = fill(p, i, 1);
        p->components++;
        if (size > p->members) {
            p->members = size;
            largest = i;
        }
    }
    memset(p->counted, 0, agents);
    if (p->members > 0)
        fill(p, largest, 1);
}

void saddle_presence_take(saddle_presence *p, const saddle_churn *churn, const saddle_graph *graph,
                          const size_t *edge, saddle_allocator *allocator)
{
    *p = (saddle_presence){.graph = graph, .edge = edge};
    if (churn == NULL)
        return;
    p->gone = saddle_allocator_block(allocator, graph->agents, 1);
    p->back = saddle_allocator_block(allocator, graph->agents, 1);
    p->counted = saddle_allocator_block(allocator, graph->agents, 1);
    p->cut = saddle_allocator_block(allocator, graph->edges, 1);
    p->healed = saddle_allocator_block(allocator, graph->edges, 1);
    p->queue = saddle_allocator_block(allocator, graph->agents, sizeof *p->queue);
    if (allocator->failed || allocator->count_only)
        return;
    p->churn = churn;
    for (size_t k = 0; k < churn->count; k++)
        if (churn->event[k].kind == SADDLE_CHURN_JOIN)
            p->gone[churn->event[k].which] = 1;
    find_components(p);
}

void saddle_presence_advance(saddle_presence *p, uint64_t round)
{
    const saddle_churn_event *event = p->churn->event;
    for (size_t k = p->first; k < p->next; k++) {
        bool edge = event[k].kind == SADDLE_CHURN_CUT || event[k].kind == SADDLE_CHURN_HEAL;
        (edge ? p->healed : p->back)[event[k].which] = 0;
    }
    p->first = p->next;
    while (p->next < p->churn->count && event[p->next].round <= round)
        apply(p, &event[p->next++]);
    if (p->first < p->next)
        find_components(p);
}
