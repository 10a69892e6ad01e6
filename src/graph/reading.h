/* Edge lists and mixing matrices as text files. */
#ifndef SADDLE_GRAPH_READING_H
#define SADDLE_GRAPH_READING_H

#include "graph/edges.h"

/*
 * Read an edge list: `i j` per line, agents from 0; blank lines, what follows a '#', and CRLF are
 * passed over. Loops, double edges, agents >= *agents and whatever is not two whole numbers are
 * refused by file, line, column and value. With *agents == 0 it becomes 1 + the largest agent.
 * O(edges log edges).
 */
saddle_status saddle_edges_read(saddle_edges *edges, const char *path, size_t *agents,
                                saddle_error *error);

/*
 * Read the weights of a dense matrix with one row per line, entries parted by blanks or a comma.
 * weight[k] receives the entry at the graph's neighbour k, diagonal[i] that at (i, i). Entries off
 * the graph must be zero, those on it positive, each to `tolerance`.
 */
saddle_status saddle_matrix_read(const saddle_graph *graph, const char *path, double tolerance,
                                 double *weight, double *diagonal, saddle_error *error);

#endif
