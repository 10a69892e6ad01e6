/*
 * Agents that leave, return and join, and edges that are cut and healed: what --churn says.
 *
 *     # round  what      whom
 *     500      leave     3
 *     1000     return    3
 *     1000     cut       0 1
 *     1500     heal      0 1
 *     2000     join      7
 *
 * Rounds are counted over all iterations from 0 and are in order. An agent that joins is absent until then. An event
 * takes effect at the beginning of the first iteration that begins in its round or later.
 */
#ifndef SADDLE_GRAPH_CHURN_H
#define SADDLE_GRAPH_CHURN_H

#include <saddle/graph.h>

#include "core/memory.h"

typedef enum saddle_churn_kind {
    SADDLE_CHURN_LEAVE,
    SADDLE_CHURN_RETURN,
    SADDLE_CHURN_JOIN,
    SADDLE_CHURN_CUT,
    SADDLE_CHURN_HEAL
} saddle_churn_kind;

typedef struct saddle_churn_event {
    uint64_t round;
    saddle_churn_kind kind;
    size_t which; /* an agent, or the number of an edge */
} saddle_churn_event;

typedef struct saddle_churn {
    size_t count;
    saddle_churn_event *event;
} saddle_churn;

/* Read a file about a graph. NULL on failure; free with saddle_churn_free(). */
saddle_status saddle_churn_read(saddle_churn **out, const char *path, const saddle_graph *graph,
                                saddle_error *error);
/* NULL is allowed. */
void saddle_churn_free(saddle_churn *churn);

/* Number the edges of a graph: number[k] is that of the edge at position k of its list of neighbours, which has two for
 * each. */
void saddle_number_edges(const saddle_graph *graph, size_t *number);

/* ---- presence.c: who is there ------------------------------------------------------------------ */

/* Which agents are present and which edges are cut, and in which components they lie. */
typedef struct saddle_presence {
    const saddle_churn *churn; /* NULL: all are present, and nothing below is used */
    const saddle_graph *graph;
    const size_t *edge;    /* per position in the graph: the number of the edge */
    size_t first;          /* of the events that the last call brought about */
    size_t next;           /* one behind them */
    unsigned char *gone;   /* per agent */
    unsigned char *back;   /* per agent: present since the last call, by an event */
    unsigned char *cut;    /* per edge */
    unsigned char *healed; /* per edge: by an event of the last call */
    unsigned char *
        counted; /* per agent: in the largest component; of equal ones, in that of the smallest agent */
    size_t *queue; /* agents of a component */
    size_t present;
    size_t members; /* agents that are counted */
    size_t components;
} saddle_presence;

/* Take memory; complete only without allocator->failed. */
void saddle_presence_take(saddle_presence *presence, const saddle_churn *churn,
                          const saddle_graph *graph, const size_t *edge,
                          saddle_allocator *allocator);
/* Bring about the events up to a round. */
void saddle_presence_advance(saddle_presence *presence, uint64_t round);

/* Whether messages can pass between two present agents, whose edge is at a position of the graph. */
static inline bool saddle_presence_linked(const saddle_presence *p, size_t i, size_t position)
{
    return p->churn == NULL ||
           (!p->gone[i] && !p->gone[p->graph->neighbour[position]] && !p->cut[p->edge[position]]);
}

#endif
