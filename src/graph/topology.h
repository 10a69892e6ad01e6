/* The interface of topologies. */
#pragma once

#include "core/base.h"
#include "graph/edges.h"

/* What a topology is to build, and what it has built. */
typedef struct saddle_topology_request {
    const char *text;            /* the complete text, for messages */
    const char *tail;            /* what follows the first colon, or NULL */
    const saddle_fields *fields; /* the text split at its colons */
    size_t agents;               /* the wanted number; 0 until the topology determines it */
    saddle_graph_shape shape;    /* of the topology */
    size_t rows;                 /* set by a topology with rows and columns; otherwise 0 */
    uint64_t seed;
    saddle_edges edges; /* whose status says whether the request can be met */
} saddle_topology_request;

/* Refuses a request; the message begins with its text. */
#define saddle_topology_refuse(request, format, ...)                                 \
    ((request)->edges.status = saddle_fail((request)->edges.error, SADDLE_BAD_INPUT, \
                                           "'%s'" format, (request)->text, __VA_ARGS__))

/* Builds a simple edge list; connectivity is checked afterwards. */
typedef void saddle_topology_build(saddle_topology_request *request);
/* The random topologies (random.c). */
saddle_topology_build saddle_build_er;
saddle_topology_build saddle_build_regular;
saddle_topology_build saddle_build_small_world;

/* Reads field `index` of the text as a whole number or as a probability; if it is not one, refuses the request
 * and returns 0. */
size_t saddle_topology_integer(saddle_topology_request *request, size_t index, const char *what);
double saddle_topology_probability(saddle_topology_request *request, size_t index);
