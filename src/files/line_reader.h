/*
 * A text file, pipe or device line by line, with positions for refusals.
 *
 * CRLF counts as a line end and a UTF-8 byte order mark is passed over. Memory grows with what has
 * been read, and a line of more than 16 MiB is refused: a device cannot fill the memory with one.
 */
#ifndef SADDLE_FILES_LINE_READER_H
#define SADDLE_FILES_LINE_READER_H

#include <stdbool.h>
#include <stdio.h>

#include "core/status.h"

typedef struct saddle_line_reader {
    const char *path;   /* borrowed */
    const char *wanted; /* what a refusal asks for, such as "the path of a trace"; borrowed */
    FILE *stream;
    saddle_status status; /* why there is no next line; SADDLE_OK at the end of the file */
    char *line;           /* the current line without its end */
    size_t capacity;
    size_t number; /* of the line, from 1 */
    size_t bytes;  /* of the file, up to the end of the line */
    bool ended;    /* whether a newline ended the line; the last one of a file may lack it */
    char *rest;    /* where the next field is looked for */
    bool comma;    /* whether a comma has promised one */
} saddle_line_reader;

/* Open a file; the struct can be closed whether that succeeds or not. */
saddle_status saddle_line_reader_open(saddle_line_reader *in, const char *path, const char *wanted,
                                      saddle_error *error);
/* Go to the next line; false at the end of the file, or with a status that is not SADDLE_OK. */
bool saddle_line_reader_next(saddle_line_reader *in, saddle_error *error);
/* The same for the next line that holds more than blanks and a comment, which begins with a '#' and is cut off. */
bool saddle_line_reader_next_filled(saddle_line_reader *in, saddle_error *error);
/* The next field of the line, without blanks around it and ended by a NUL of its own; NULL: there is
 * none. Fields end at the `separators`, any of blank, tab and comma; a comma promises another one. */
char *saddle_line_reader_field(saddle_line_reader *in, const char *separators);
/* Close. Safe on a zeroed struct. */
void saddle_line_reader_close(saddle_line_reader *in);

/* Refuse what is at `at` in the current line: "FILE:LINE:COLUMN: what". */
#define saddle_line_reader_refuse(in, at, error, ...) \
    saddle_fail_at((error), (in)->path, (in)->number, (size_t)((at) - (in)->line) + 1, __VA_ARGS__)

#endif
