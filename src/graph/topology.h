/* How topologies are registered. */
#ifndef SADDLE_GRAPH_TOPOLOGY_H
#define SADDLE_GRAPH_TOPOLOGY_H

#include "core/text.h"
#include "graph/edges.h"

/* What a topology is asked to build. */
typedef struct saddle_topology_request {
    const char *text;            /* the whole text, for messages */
    const char *tail;            /* what follows the first colon, or NULL */
    const saddle_fields *fields; /* the text cut at its colons */
    size_t agents;               /* as asked for; 0 until the topology decides */
    size_t rows;                 /* set by a topology that has rows and columns; 0: it has none */
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

#endif
