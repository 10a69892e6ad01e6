/* Draws networks: pictures by gnuplot, DOT for graphviz, and SVG for a page. */
#pragma once

#include <saddle/lab.h>

#include "core/base.h"

/* Draws into a file, whose ending decides the format. */
saddle_status network_draw(const saddle_graph *graph, const char *path, saddle_error *error);

/* A drawing for a page. */
typedef struct network_svg {
    const saddle_graph *graph;
    const double *
        distance; /* of each agent from consensus, which colours it; NULL: all have the same colour */
    double low, high;  /* of the colours */
    const char *edges; /* the id of the edges */
    bool repeated;     /* whether a drawing before this one has these edges */
} network_svg;
/* Write an <svg> element. The page's style has the colours of edges and of agents without a distance. */
saddle_status network_write_svg(const network_svg *n, FILE *stream, saddle_error *error);

/* Creates the network of a run again from its trace. Refused if the file of edges has changed or
 * is gone, or if an old trace has too little information. */
saddle_status network_of_trace(saddle_graph **out, const saddle_trace *trace, saddle_error *error);
