/* How topologies are registered, and what is known of the structured ones. */
#ifndef SADDLE_GRAPH_TOPOLOGY_H
#define SADDLE_GRAPH_TOPOLOGY_H

#include "core/text.h"
#include "graph/edges.h"

/* What a graph is known to be by construction, so that its spectrum has a closed form. */
typedef enum saddle_topology_family {
    SADDLE_FAMILY_OTHER,
    SADDLE_FAMILY_PATH,
    SADDLE_FAMILY_STAR,
    SADDLE_FAMILY_COMPLETE,
    SADDLE_FAMILY_GRID,
    SADDLE_FAMILY_TORUS,
    SADDLE_FAMILY_HYPERCUBE,
    SADDLE_FAMILY_CIRCULANT /* i is linked with i + s for every s of a fixed set of offsets */
} saddle_topology_family;

/* What a topology is asked to build. */
typedef struct saddle_topology_request {
    const char *text;            /* the whole text, for messages */
    const char *tail;            /* what follows the first colon, or NULL */
    const saddle_fields *fields; /* the text cut at its colons */
    size_t agents;               /* as asked for; 0 until the topology decides */
    uint64_t seed;
} saddle_topology_request;

/* Builds a simple edge list; connectivity is checked afterwards. */
typedef saddle_status (*saddle_topology_build)(saddle_edges *edges,
                                               saddle_topology_request *request,
                                               saddle_error *error);

/* The random topologies (random.c). */
saddle_status saddle_build_er(saddle_edges *edges, saddle_topology_request *request,
                              saddle_error *error);
saddle_status saddle_build_regular(saddle_edges *edges, saddle_topology_request *request,
                                   saddle_error *error);
saddle_status saddle_build_small_world(saddle_edges *edges, saddle_topology_request *request,
                                       saddle_error *error);

/* Field `index` of the text as a whole number or as a probability; refused otherwise. */
saddle_status saddle_topology_integer(const saddle_topology_request *request, size_t index,
                                      const char *what, size_t *out, saddle_error *error);
saddle_status saddle_topology_probability(const saddle_topology_request *request, size_t index,
                                          double *out, saddle_error *error);

/* The family a graph's text names; sides of a grid or torus, which are untouched otherwise. */
saddle_topology_family saddle_graph_family(const saddle_graph *graph, size_t *rows,
                                           size_t *columns);

#endif
