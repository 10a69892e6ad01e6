/*
 * The file of --churn: agents that leave, return and join, and edges that are cut and healed.
 *
 *     # round  what      whom
 *     500      leave     3
 *     1000     return    3
 *     1000     cut       0 1
 *     1500     heal      0 1
 *     2000     join      7
 *
 * Rounds are counted over all iterations, from 0, and must be in order. An agent that joins is absent until
 * then. An event takes effect at the beginning of the first iteration that begins in its round or later.
 */
#pragma once

#include <saddle/graph.h>

#include "core/base.h"

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

/* Reads a file of events of a graph's agents and edges. *out is NULL on failure; free it with
 * saddle_churn_free(). */
saddle_status saddle_churn_read(saddle_churn **out, const char *path, const saddle_graph *graph,
                                saddle_error *error);
/* Frees a list of events. NULL is allowed. */
void saddle_churn_free(saddle_churn *churn);

/* Numbers the edges of a graph: number[k] receives the number of the edge at position k of its list of
 * neighbours, in which every edge has two positions. */
void saddle_number_edges(const saddle_graph *graph, size_t *number);

/* ---- who is present ----------------------------------------------------------------------------- */

/* Which agents are present, which edges are cut, and the components that this leaves. */
typedef struct saddle_presence {
    const saddle_churn *churn; /* NULL: all are present, and nothing below is used */
    const saddle_graph *graph;
    const size_t *edge;    /* per position in the graph: the number of the edge */
    size_t first;          /* the first event of the last call of saddle_presence_advance() */
    size_t next;           /* one past its last event */
    unsigned char *gone;   /* per agent */
    unsigned char *back;   /* per agent: whether it came back by an event of the last call */
    unsigned char *cut;    /* per edge */
    unsigned char *healed; /* per edge: whether it was healed by an event of the last call */
    size_t *component;     /* per agent: the number of its component, from 1; 0: gone */
    /* Per agent: in the largest component; of equal ones, in that of the smallest agent. */
    unsigned char *counted;
    size_t *queue; /* agents of a component */
    size_t present;
    size_t members; /* agents that are counted */
    size_t components;
    size_t largest; /* the number of the component that is counted */
} saddle_presence;

/* Allocates the memory and sets the state before round 0; complete only if allocator->failed is not set. */
void saddle_presence_take(saddle_presence *presence, const saddle_churn *churn,
                          const saddle_graph *graph, const size_t *edge,
                          saddle_allocator *allocator);
/* Applies the events up to a round; returns whether there were any since the last call. */
bool saddle_presence_advance(saddle_presence *presence, uint64_t round);

/* Returns whether messages can pass over the edge of agent i at a position of the graph: both ends are present
 * and it is not cut. */
static inline bool saddle_presence_linked(const saddle_presence *p, size_t i, size_t position)
{
    return p->churn == NULL ||
           (!p->gone[i] && !p->gone[p->graph->neighbour[position]] && !p->cut[p->edge[position]]);
}
