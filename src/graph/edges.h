/*
 * Edge lists, from which graphs are built.
 *
 * An edge list owns its memory; one with only `error` set is empty. The first failure stays in `status`, and
 * edges that are added after it are ignored. Sizes are bounded so that no product of them overflows, and so that
 * a mistyped zero is refused instead of exhausting the memory.
 */
#pragma once

#include <saddle/graph.h>

#include "core/base.h"

#define SADDLE_MAX_AGENTS ((size_t)100000000)
#define SADDLE_MAX_EDGES ((size_t)100000000)

typedef struct saddle_edge {
    uint32_t a;
    uint32_t b;
} saddle_edge;

typedef struct saddle_edges {
    saddle_edge *edge;
    size_t count;
    size_t capacity;
    saddle_status status;
    saddle_error *error; /* receives the message of the first failure; NULL: not wanted */
} saddle_edges;

/* Reserves capacity for `count` edges in all; fails above SADDLE_MAX_EDGES. Returns whether nothing has failed. */
bool saddle_edges_reserve(saddle_edges *edges, size_t count);
/* Appends an edge. Amortized O(1). */
void saddle_edges_add(saddle_edges *edges, size_t a, size_t b);
/* Frees the list's memory and leaves it empty. */
void saddle_edges_free(saddle_edges *edges);

/*
 * Finds the connected components by union-find, in nearly O(agents + edges). root[i] receives the
 * smallest agent of i's component. Returns the number of components.
 */
size_t saddle_edges_components(const saddle_edges *edges, size_t agents, uint32_t *root);

/* Writes components, as saddle_edges_components() finds them: "2 components: {0,1} {2,3}". Of many, only the first few
 * are named. */
enum { SADDLE_COMPONENTS_TEXT = 768 };
void saddle_components_describe(const uint32_t *root, size_t agents, size_t components,
                                char out[SADDLE_COMPONENTS_TEXT]);

/*
 * Converts a simple edge list into a graph, in O(agents + edges), and frees the list. Fails if the list has
 * failed, and for a disconnected one, whose components the message names. `text` is copied.
 */
saddle_status saddle_edges_compress(saddle_edges *edges, const char *text, size_t agents,
                                    saddle_graph **out);

/* Returns the position of agent j among the graph's neighbours of agent i; SIZE_MAX when they are not linked. */
size_t saddle_graph_position(const saddle_graph *graph, size_t i, size_t j);

/* A set of undirected edges: open addressing with linear probing, O(1) per operation. */
typedef struct saddle_edge_set {
    uint64_t *slot; /* 0: free; otherwise the edge's key */
    size_t mask;    /* slots - 1, slots a power of two */
} saddle_edge_set;

/* Creates an empty set for up to `count` edges at a time; false when memory is short. */
bool saddle_edge_set_create(saddle_edge_set *set, size_t count);
/* Frees the set's memory. Safe on a zeroed struct. */
void saddle_edge_set_free(saddle_edge_set *set);
/* Removes all edges. */
void saddle_edge_set_clear(saddle_edge_set *set);
/* Returns whether an edge is in the set. */
bool saddle_edge_set_has(const saddle_edge_set *set, size_t a, size_t b);
/* Adds an edge; false when it is already in the set. */
bool saddle_edge_set_add(saddle_edge_set *set, size_t a, size_t b);
/* Removes an edge, which must be in the set. */
void saddle_edge_set_remove(saddle_edge_set *set, size_t a, size_t b);
SADDLE_RELEASES(saddle_graph, saddle_graph_free)
SADDLE_RELEASES(saddle_mixing, saddle_mixing_free)
