/* The interface of topologies. */
#ifndef SADDLE_GRAPH_TOPOLOGY_H
#define SADDLE_GRAPH_TOPOLOGY_H

#include "core/text.h"
#include "graph/edges.h"

/* What a topology is to build. */
typedef struct saddle_topology_request {
    const char *text;            /* the complete text, for messages */
    const char *tail;            /* what follows the first colon, or NULL */
    const saddle_fields *fields; /* the text split at its colons */
    size_t agents;               /* the wanted number; 0 until the topology determines it */
    size_t rows;                 /* set by a topology with rows and columns; otherwise 0 */
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

/* Reads field `index` of the text as a whole number or as a probability; fails if it is not one. */
saddle_status saddle_topology_integer(const saddle_topology_request *request, size_t index,
                                      const char *what, size_t *out, saddle_error *error);
saddle_status saddle_topology_probability(const saddle_topology_request *request, size_t index,
                                          double *out, saddle_error *error);

#endif
