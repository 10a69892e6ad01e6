/* Draws networks: pictures by gnuplot, DOT for graphviz, and SVG for a page. */
#ifndef SADDLE_DRAW_NETWORK_DRAWING_H
#define SADDLE_DRAW_NETWORK_DRAWING_H

#include <stdio.h>

#include <saddle/lab.h>

/* Refuses a path that does not end in .svg, .png, .pdf or .dot; `what` names the option. */
saddle_status network_check_path(const char *what, const char *path, saddle_error *error);
/* Draws into a file, whose ending decides the format. `distance`, one number per agent, colours
 * agents by their distance from consensus; NULL: all have the same colour. */
saddle_status network_draw(const saddle_graph *graph, const double *distance, const char *path,
                           saddle_error *error);
/* Writes an <svg> element for a page, with classes edges and agents; the page chooses the
 * colours. */
saddle_status network_write_svg(const saddle_graph *graph, FILE *stream, saddle_error *error);

/* Creates the network of a run again from its trace. Refused if the file of edges has changed or
 * is gone, or if an old trace has too little information. */
saddle_status network_of_trace(saddle_graph **out, const saddle_trace *trace, saddle_error *error);
/* Whether two runs with the same seed had the same network. */
bool network_is_same(const saddle_trace *a, const saddle_trace *b);

#endif
