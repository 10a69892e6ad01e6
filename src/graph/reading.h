/* Edge lists and mixing matrices as text files. */
#ifndef SADDLE_GRAPH_READING_H
#define SADDLE_GRAPH_READING_H

#include "graph/edges.h"

/*
 * Reads an edge list: `i j` per line, agents from 0. Blank lines, comments from '#' on, and CRLF are
 * accepted. Fails, with file, line, column and value, for loops, double edges, agents >= *agents, and
 * anything that is not two whole numbers. If *agents is 0, it becomes 1 + the largest agent. O(edges log
 * edges).
 */
saddle_status saddle_edges_read(saddle_edges *edges, const char *path, size_t *agents,
                                saddle_error *error);

/*
 * Reads the weights of a dense matrix with one row per line and entries separated by spaces or commas.
 * weight[k] receives the entry at the graph's neighbour k, diagonal[i] the one at (i, i). Entries off
 * the graph must be zero and those on it positive, each to within `tolerance`.
 */
saddle_status saddle_matrix_read(const saddle_graph *graph, const char *path, double tolerance,
                                 double *weight, double *diagonal, saddle_error *error);

#endif
