/**
 * @file graph.h
 * @brief Which agents communicate: topologies, mixing matrices and their spectra.
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

#ifdef __cplusplus
extern "C" {
#endif

/** One row of the lists of topologies and mixing rules. */
typedef struct saddle_network_info {
    const char *synopsis; /**< How it is written, such as "grid:RxC". */
    const char *summary;  /**< What it is, in one line. */
} saddle_network_info;

/**
 * What a graph is known to be by construction. Its spectrum may have a closed form, and drawings place
 * the agents accordingly.
 */
typedef enum saddle_graph_shape {
    SADDLE_SHAPE_IRREGULAR = 0, /**< Random, or given by its edges. */
    SADDLE_SHAPE_PATH,          /**< A line. */
    SADDLE_SHAPE_STAR,          /**< Agent 0 linked with all others. */
    SADDLE_SHAPE_COMPLETE,      /**< Every pair linked. */
    SADDLE_SHAPE_GRID,          /**< Rows and columns. */
    SADDLE_SHAPE_TORUS,         /**< A grid whose rows and columns close into circles. */
    SADDLE_SHAPE_HYPERCUBE,     /**< Agents whose numbers differ in one bit are linked. */
    SADDLE_SHAPE_CIRCULANT, /**< i is linked with i + s for every s of a fixed set of offsets. */
    SADDLE_SHAPE_NEAR_RING  /**< A circulant graph with some links rewired. */
} saddle_graph_shape;

/** A connected undirected graph in compressed form. Fields are for reading only. */
typedef struct saddle_graph {
    char *text;               /**< The topology's text. */
    saddle_graph_shape shape; /**< What it is known to be. */
    size_t rows;              /**< Of a grid or torus; 1 otherwise. */
    size_t columns;           /**< Of a grid or torus; `agents` otherwise. */
    size_t agents;            /**< Number of vertices. */
    size_t edges;             /**< Number of undirected edges. */
    size_t *start; /**< start[i] .. start[i + 1] bounds agent i's neighbours; agents + 1 entries. */
    size_t *neighbour; /**< Neighbours, ascending per agent; 2 * edges entries. */
} saddle_graph;

/**
 * Make a graph from its text.
 *
 * Random topologies draw from `seed` alone: the same bits on every machine. `er` is redrawn until
 * connected, up to a bounded number of tries. A disconnected graph is refused and its components
 * are named.
 *
 * @param[out] out     the graph; NULL on failure. Free with saddle_graph_free().
 * @param      text    see the file comment.
 * @param      agents  number of agents; 0 lets `grid`, `torus` and `file` decide.
 * @param      seed    for the random topologies.
 */
SADDLE_API saddle_status saddle_graph_create(saddle_graph **out, const char *text, size_t agents,
                                             uint64_t seed, saddle_error *error);
/**
 * Make a graph from edges in memory. Agents out of range, loops, edges that are given twice and a
 * disconnected graph are refused and named.
 * @param[out] out     the graph, whose text is "edges"; NULL on failure. Free with saddle_graph_free().
 * @param      agents  number of agents, at least 1.
 * @param      count   number of edges.
 * @param      edge    2 * count agents: edge e links edge[2 e] and edge[2 e + 1]. Copied. NULL if there are none.
 */
SADDLE_API saddle_status saddle_graph_from_edges(saddle_graph **out, size_t agents, size_t count,
                                                 const size_t *edge, saddle_error *error);
/** Free a graph. NULL is allowed. */
SADDLE_API void saddle_graph_free(saddle_graph *graph);
/**
 * Longest shortest path. Exact, by breadth-first searches from as few agents as bounds allow:
 * O(edges) for the structured topologies, O(agents * edges) at worst.
 */
SADDLE_API saddle_status saddle_graph_diameter(const saddle_graph *graph, size_t *diameter,
                                               saddle_error *error);
/** Write the edge list, one `i j` line per edge with i < j, such as file:PATH reads. Atomic. */
SADDLE_API saddle_status saddle_graph_save(const saddle_graph *graph, const char *path,
                                           saddle_error *error);
/** Whether a topology's text alone says how many agents there are, as grid, torus and file do. */
SADDLE_API bool saddle_topology_sets_agents(const char *text);
/** All topologies; `*count` receives their number. */
SADDLE_API const saddle_network_info *const *saddle_topology_list(size_t *count);

/** Symmetric doubly stochastic weights on a graph. Fields are for reading only. */
typedef struct saddle_mixing {
    char *text;                /**< The rule's text. */
    const saddle_graph *graph; /**< Borrowed. */
    double *weight;            /**< M_ij for j = graph->neighbour[k], at index k. */
    double *self_weight;       /**< M_ii. */
} saddle_mixing;

/** The eigenvalues that matter. */
typedef struct saddle_spectrum {
    double lambda2;     /**< Second largest eigenvalue of M (0 with one agent). */
    double lambda_m;    /**< Smallest eigenvalue of M (0 with one agent). */
    double lambda;      /**< max(|lambda2|, |lambda_m|). */
    double gap;         /**< 1 - lambda. */
    const char *method; /**< "closed form", "LAPACK" or "ARPACK". */
} saddle_spectrum;

/**
 * Make the mixing matrix by a rule and check that it is symmetric, doubly stochastic, and positive exactly
 * on the edges and the diagonal.
 * @param[out] out    NULL on failure. Free with saddle_mixing_free().
 * @param      graph  borrowed; must outlive the result.
 * @param      text   see the file comment.
 */
SADDLE_API saddle_status saddle_mixing_create(saddle_mixing **out, const saddle_graph *graph,
                                              const char *text, saddle_error *error);
/**
 * Make a mixing matrix from a dense one in memory, which must be symmetric, doubly stochastic and positive
 * exactly on the edges and the diagonal, each to 1e-12. As with a file, its halves are averaged and
 * rounded to 40 bits, and the diagonal gets the rest, so that rows sum to 1 exactly.
 * @param[out] out     its text is "matrix"; NULL on failure. Free with saddle_mixing_free().
 * @param      graph   borrowed; must outlive the result.
 * @param      matrix  agents * agents numbers, row by row. Copied.
 */
SADDLE_API saddle_status saddle_mixing_from_matrix(saddle_mixing **out, const saddle_graph *graph,
                                                   const double *matrix, saddle_error *error);
/**
 * The same from one weight per edge; the diagonal gets the rest of each row, which must be positive.
 * @param[out] out     its text is "weights"; NULL on failure. Free with saddle_mixing_free().
 * @param      count   number of edges, which must be the graph's.
 * @param      edge    2 * count agents as for saddle_graph_from_edges(), in any order.
 * @param      weight  of every edge, in the order of `edge`.
 */
SADDLE_API saddle_status saddle_mixing_from_edges(saddle_mixing **out, const saddle_graph *graph,
                                                  size_t count, const size_t *edge,
                                                  const double *weight, saddle_error *error);
/** Free a mixing matrix; the graph stays. NULL is allowed. */
SADDLE_API void saddle_mixing_free(saddle_mixing *mixing);
/**
 * Check that M is symmetric, doubly stochastic and positive exactly on edges and diagonal, each to
 * 1e-12; SADDLE_CHECK_FAILED names the row and the value otherwise.
 */
SADDLE_API saddle_status saddle_mixing_check(const saddle_mixing *mixing, saddle_error *error);
/** min_i M_ii: the largest step for which every iterate is sure to stay feasible. */
SADDLE_API double saddle_mixing_min_self_weight(const saddle_mixing *mixing);
/** Eigenvalues of M: closed form where there is one, LAPACK up to 2000 agents, ARPACK beyond. */
SADDLE_API saddle_status saddle_mixing_spectrum(const saddle_mixing *mixing, saddle_spectrum *out,
                                                saddle_error *error);
/** All mixing rules; `*count` receives their number. */
SADDLE_API const saddle_network_info *const *saddle_mixing_list(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
