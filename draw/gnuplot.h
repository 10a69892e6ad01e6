/*
 * The program gnuplot, fed with a script and its data.
 *
 * It is started without a shell, reads no start-up file, is told no path and writes its picture to
 * its standard output: nothing that a user names can become a command.
 */
#ifndef SADDLE_DRAW_GNUPLOT_H
#define SADDLE_DRAW_GNUPLOT_H

#include <stdio.h>

#include <saddle/lab.h>

/* Kinds of output. */
typedef enum gnuplot_kind { GNUPLOT_SVG, GNUPLOT_PNG, GNUPLOT_PDF, GNUPLOT_TEXT } gnuplot_kind;

/* The kind of picture that a path's ending asks for; false: none. */
bool gnuplot_kind_of(const char *path, gnuplot_kind *out);

/* A script being written. */
typedef struct gnuplot {
    FILE *script; /* write here */
} gnuplot;

/* Begin a script. */
saddle_status gnuplot_open(gnuplot *g, saddle_error *error);
/* Write a text as gnuplot reads one, quotes included; at most `most` characters of it. */
void gnuplot_text(gnuplot *g, const char *text, size_t most);
/* Choose a terminal of width x height pixels. */
void gnuplot_terminal(gnuplot *g, gnuplot_kind kind, int width, int height);
/* Run the script and write the picture to a file, whole or not at all. The script is freed in any
 * case, also by the next one. */
saddle_status gnuplot_save(gnuplot *g, const char *path, saddle_error *error);
/* Run the script and copy the picture, one of characters, to a stream. */
saddle_status gnuplot_print(gnuplot *g, FILE *stream, saddle_error *error);
/* Give a script up. Safe on a zeroed struct. */
void gnuplot_discard(gnuplot *g);

#endif
