/* Drawings of networks: files by gnuplot, DOT for graphviz, and SVG for a page. */
#ifndef SADDLE_DRAW_NETWORK_DRAWING_H
#define SADDLE_DRAW_NETWORK_DRAWING_H

#include <stdio.h>

#include <saddle/lab.h>

/* Refuse a path that does not end in .svg, .png, .pdf or .dot; `what` names the option. */
saddle_status network_check_path(const char *what, const char *path, saddle_error *error);
/* Draw into a file of the kind that its name ends in. `distance`, one number per agent, colours them by
 * how far they are from consensus; NULL: all alike. */
saddle_status network_draw(const saddle_graph *graph, const double *distance, const char *path,
                           saddle_error *error);
/* Write an <svg> element for a page: classes edge and agent, colours the page's. */
saddle_status network_write_svg(const saddle_graph *graph, FILE *stream, saddle_error *error);

/* The network of a run, made again from what its trace says. A file of edges may have changed or gone
 * since, and an old trace may say too little: then it is refused. */
saddle_status network_of_trace(saddle_graph **out, const saddle_trace *trace, saddle_error *error);
/* Whether two runs with the same seed had the same network. */
bool network_is_same(const saddle_trace *a, const saddle_trace *b);

#endif
