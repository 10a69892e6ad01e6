/*
 * Runs the program gnuplot with a script and its data.
 *
 * It is started without a shell, reads no start-up file, gets no path and writes its picture to
 * standard output, so nothing that a user names can become a command.
 */
#pragma once

#include <saddle/lab.h>

#include "core/base.h"

/* Kinds of pictures. gnuplot does not write DOT, for graphviz. */
typedef enum gnuplot_kind { GNUPLOT_SVG, GNUPLOT_PNG, GNUPLOT_PDF, GNUPLOT_DOT } gnuplot_kind;

/* Finds the kind of picture for the ending of a path, one up to `last`; refuses others. `what` names the option, and
 * `out` may be NULL. */
saddle_status gnuplot_kind_of(const char *what, const char *path, gnuplot_kind last,
                              gnuplot_kind *out, saddle_error *error);

/* Begins a script, a stream to write to. */
saddle_status gnuplot_open(FILE **script, saddle_error *error);
/* Writes a text for gnuplot, in quotes; at most `most` characters of it. */
void gnuplot_text(FILE *script, const char *text, size_t most);
/* Chooses a terminal of width x height pixels. */
void gnuplot_terminal(FILE *script, gnuplot_kind kind, int width, int height);
/* Runs the script and writes the picture to a file, atomically. The script is closed in any case,
 * as in gnuplot_print(). */
saddle_status gnuplot_save(FILE *script, const char *path, saddle_error *error);
/* Runs the script and copies the picture, which consists of characters, to a stream. */
saddle_status gnuplot_print(FILE *script, FILE *stream, saddle_error *error);
