/**
 * @file graph.h
 * @brief The network: topologies, mixing matrices and their spectra.
 *
 * A topology is named by a short text:
 *
 *     er:P | ring | path | star | complete | grid:RxC | torus:RxC | hypercube | exponential
 *     regular:K | small-world:K:P | file:PATH
 *
 * and a mixing rule by
 *
 *     laplacian | metropolis | lazy-metropolis | max-degree | best-constant | file:PATH
 *
 * Graphs are undirected, simple and connected; agents are numbered from 0.
 */
#ifndef SADDLE_GRAPH_H
#define SADDLE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saddle/status.h>

/** An entry of the list of topologies or of mixing rules. */
typedef struct saddle_network_info {
    const char *synopsis; /**< How it is written, such as "grid:RxC". */
    const char *summary;  /**< What it is, in one line. */
} saddle_network_info;

/**
 * The shape that a graph has by construction. It may give the spectrum in closed form, and it
 * decides where drawings place the agents.
 */
typedef enum saddle_graph_shape {
    SADDLE_SHAPE_IRREGULAR = 0, /**< Random, or given by its edges. */
    SADDLE_SHAPE_PATH,          /**< A line. */
    SADDLE_SHAPE_STAR,          /**< Agent 0 linked with all others. */
    SADDLE_SHAPE_COMPLETE,      /**< Every pair linked. */
    SADDLE_SHAPE_GRID,          /**< Rows and columns. */
    SADDLE_SHAPE_TORUS,         /**< A grid whose rows and columns close into circles. */
    SADDLE_SHAPE_HYPERCUBE,     /**< Agents whose numbers differ in one bit are linked. */
    SADDLE_SHAPE_CIRCULANT, /**< i is linked with i + s mod m for every s of a set of offsets. */
    SADDLE_SHAPE_NEAR_RING  /**< A circulant graph with some links rewired. */
} saddle_graph_shape;

/** A connected undirected graph with compressed adjacency lists. Read only. */
typedef struct saddle_graph {
    char *text;               /**< The topology's text. */
    saddle_graph_shape shape; /**< The shape known by construction. */
    size_t rows;              /**< Rows of a grid or torus; otherwise 1. */
    size_t columns;           /**< Columns of a grid or torus; otherwise `agents`. */
    size_t agents;            /**< Number of vertices. */
    size_t edges;             /**< Number of undirected edges. */
    size_t *start; /**< start[i] .. start[i + 1] bounds agent i's neighbours; agents + 1 entries. */
    size_t *neighbour; /**< Neighbours, ascending per agent; 2 * edges entries. */
} saddle_graph;

/**
 * Makes a graph from its text.
 *
 * Random topologies depend only on `seed` and are the same on every machine. `er` is redrawn until
 * it is connected, up to a fixed number of tries. A disconnected graph is refused, and the message
 * names its components.
 *
 * @param[out] out     the graph; NULL on failure. Free with saddle_graph_free().
 * @param      text    see the file comment.
 * @param      agents  number of agents; 0: as `grid`, `torus` or `file` says.
 * @param      seed    for the random topologies.
 */
SADDLE_API saddle_status saddle_graph_create(saddle_graph **out, const char *text, size_t agents,
                                             uint64_t seed, saddle_error *error);
/**
 * Makes a graph from edges in memory. Refuses agents out of range, loops, repeated edges and a
 * disconnected graph, and names them.
 * @param[out] out     the graph, whose text is "edges"; NULL on failure. Free with
 *                     saddle_graph_free().
 * @param      agents  number of agents, at least 1.
 * @param      count   number of edges.
 * @param      edge    2 * count agents: edge e links edge[2 e] and edge[2 e + 1]. Copied. May be
 *                     NULL if `count` is 0.
 */
SADDLE_API saddle_status saddle_graph_from_edges(saddle_graph **out, size_t agents, size_t count,
                                                 const size_t *edge, saddle_error *error);
/** Frees a graph. NULL is allowed. */
SADDLE_API void saddle_graph_free(saddle_graph *graph);
/**
 * Computes the diameter exactly. Bounds save most of the breadth-first searches: it takes O(edges)
 * for the structured topologies and O(agents * edges) at worst.
 */
SADDLE_API saddle_status saddle_graph_diameter(const saddle_graph *graph, size_t *diameter,
                                               saddle_error *error);
/** Writes the edge list that file:PATH reads: one line `i j` per edge, i < j. The file appears
 * complete or not at all. */
SADDLE_API saddle_status saddle_graph_save(const saddle_graph *graph, const char *path,
                                           saddle_error *error);
/** Returns whether a topology's text determines the number of agents, as those of grid, torus
 * and file do. */
SADDLE_API bool saddle_topology_sets_agents(const char *text);
/** Returns all topologies; `*count` receives their number. */
SADDLE_API const saddle_network_info *const *saddle_topology_list(size_t *count);

/** A mixing matrix M: symmetric doubly stochastic weights on a graph. Read only. */
typedef struct saddle_mixing {
    char *text;                /**< The rule's text. */
    const saddle_graph *graph; /**< Borrowed. */
    double *weight;            /**< M_ij for j = graph->neighbour[k], at index k. */
    double *self_weight;       /**< M_ii. */
} saddle_mixing;

/** The extreme eigenvalues of a mixing matrix. */
typedef struct saddle_spectrum {
    double lambda2;     /**< Second largest eigenvalue of M (0 with one agent). */
    double lambda_m;    /**< Smallest eigenvalue of M (0 with one agent). */
    double lambda;      /**< max(|lambda2|, |lambda_m|). */
    double gap;         /**< 1 - lambda. */
    const char *method; /**< "closed form", "LAPACK" or "ARPACK". */
} saddle_spectrum;

/**
 * Makes the mixing matrix of a rule, and checks it as saddle_mixing_check() does.
 * @param[out] out    NULL on failure. Free with saddle_mixing_free().
 * @param      graph  borrowed; must outlive the result.
 * @param      text   see the file comment.
 */
SADDLE_API saddle_status saddle_mixing_create(saddle_mixing **out, const saddle_graph *graph,
                                              const char *text, saddle_error *error);
/**
 * Makes a mixing matrix from a dense matrix in memory, which must pass the checks of
 * saddle_mixing_check(). As with a file, M_ij and M_ji are averaged and rounded to 40 bits, and the
 * diagonal gets the rest, so that rows sum to 1 exactly.
 * @param[out] out     its text is "matrix"; NULL on failure. Free with saddle_mixing_free().
 * @param      graph   borrowed; must outlive the result.
 * @param      matrix  agents * agents numbers, row by row. Copied.
 */
SADDLE_API saddle_status saddle_mixing_from_matrix(saddle_mixing **out, const saddle_graph *graph,
                                                   const double *matrix, saddle_error *error);
/**
 * Makes a mixing matrix from one weight per edge. The diagonal gets the rest of each row, which
 * must be positive.
 * @param[out] out     its text is "weights"; NULL on failure. Free with saddle_mixing_free().
 * @param      count   number of edges; must equal that of the graph.
 * @param      edge    2 * count agents as for saddle_graph_from_edges(), in any order.
 * @param      weight  the weight of every edge, in the order of `edge`.
 */
SADDLE_API saddle_status saddle_mixing_from_edges(saddle_mixing **out, const saddle_graph *graph,
                                                  size_t count, const size_t *edge,
                                                  const double *weight, saddle_error *error);
/** Frees a mixing matrix, but not its graph. NULL is allowed. */
SADDLE_API void saddle_mixing_free(saddle_mixing *mixing);
/**
 * Checks that M is symmetric, doubly stochastic, and positive exactly on the edges and the
 * diagonal, all to within 1e-12. Otherwise returns SADDLE_CHECK_FAILED with the row and the value.
 */
SADDLE_API saddle_status saddle_mixing_check(const saddle_mixing *mixing, saddle_error *error);
/** Returns min_i M_ii: the largest step with which every iterate is guaranteed to stay feasible. */
SADDLE_API double saddle_mixing_min_self_weight(const saddle_mixing *mixing);
/** Computes the extreme eigenvalues of M: in closed form if there is one, otherwise by LAPACK up
 * to 2000 agents and by ARPACK beyond. */
SADDLE_API saddle_status saddle_mixing_spectrum(const saddle_mixing *mixing, saddle_spectrum *out,
                                                saddle_error *error);
/** Returns all mixing rules; `*count` receives their number. */
SADDLE_API const saddle_network_info *const *saddle_mixing_list(size_t *count);

#endif
