/* Text files about networks: edge lists, mixing matrices, and lines that name rounds, agents and edges. */
#pragma once

#include "files/line_reader.h"
#include "graph/edges.h"

/* ---- fields of a line; `form` says in messages what a line looks like ------------------------------- */

/* Reads every line of a file by `read_line`; `wanted` says in messages what the path should have been. */
typedef saddle_status saddle_read_line(saddle_line_reader *in, void *context, saddle_error *error);
saddle_status saddle_read_lines(const char *path, const char *wanted, saddle_read_line *read_line,
                                void *context, saddle_error *error);
#define SADDLE_WANTED_TEXT_FILE "the path of a text file"

/* Reads the number of a round, which must not be below `last`. */
saddle_status saddle_read_round(saddle_line_reader *in, uint64_t last, const char *form,
                                uint64_t *out, saddle_error *error);
/* Reads the number of an agent below `agents`. */
saddle_status saddle_read_agent(saddle_line_reader *in, size_t agents, const char *form,
                                size_t *out, saddle_error *error);
/* Reads the numbers of two agents; *position receives that of the second in the graph's list of the first.
 * Fails if they are not linked. */
saddle_status saddle_read_link(saddle_line_reader *in, const saddle_graph *graph, const char *form,
                               size_t agent[2], size_t *position, saddle_error *error);
/* Fails if there is another field. */
saddle_status saddle_read_end(saddle_line_reader *in, const char *form, saddle_error *error);

/* ---- files ------------------------------------------------------------------------------------------- */

/*
 * Reads an edge list: `i j` per line, agents from 0. Blank lines, comments from '#' on, and CRLF are
 * accepted. Fails, with file, line, column and value, for loops, double edges, agents >= *agents, and
 * anything that is not two whole numbers. If *agents is 0, it becomes 1 + the largest agent. O(edges log
 * edges).
 */
void saddle_edges_read(saddle_edges *edges, const char *path, size_t *agents);

/*
 * Reads the weights of a dense matrix with one row per line and entries separated by spaces or commas.
 * weight[k] receives the entry at the graph's neighbour k, diagonal[i] the one at (i, i). Entries off
 * the graph must be zero and those on it positive, each to within `tolerance`.
 */
saddle_status saddle_matrix_read(const saddle_graph *graph, const char *path, double tolerance,
                                 double *weight, double *diagonal, saddle_error *error);
