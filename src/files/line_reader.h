/*
 * Reads a text file, pipe or device line by line, with positions for error messages.
 *
 * CRLF counts as a line end, and a UTF-8 byte order mark is skipped. Memory grows with what has been read,
 * and lines above 16 MiB are refused, so that a device cannot fill the memory.
 */
#pragma once

#include "core/base.h"

typedef struct saddle_line_reader {
    const char *path;   /* borrowed */
    const char *wanted; /* ends error messages, such as "the path of a trace"; borrowed */
    FILE *stream;
    saddle_status status; /* why there is no next line; SADDLE_OK at the end of the file */
    char *line;           /* the current line without its end */
    size_t capacity;
    size_t number; /* of the line, from 1 */
    size_t bytes;  /* of the file, up to the end of the line */
    bool ended;    /* whether a newline ended the line; the last one may lack it */
    char *rest;    /* where the next field begins */
    bool comma;    /* whether a comma announced another field */
} saddle_line_reader;

/* Opens a file. The struct can be closed whether that succeeds or not. */
saddle_status saddle_line_reader_open(saddle_line_reader *in, const char *path, const char *wanted,
                                      saddle_error *error);
/* Moves to the next line; false at the end of the file, or with a status other than SADDLE_OK. */
bool saddle_line_reader_next(saddle_line_reader *in, saddle_error *error);
/* Moves to the next line that has more than whitespace and a comment; the comment, from '#' on, is cut off. */
bool saddle_line_reader_next_filled(saddle_line_reader *in, saddle_error *error);
/* Returns the next field of the line, NUL-terminated, without whitespace around it; NULL when there is
 * none. `separators` may contain space, tab and comma; after a comma there is always another field. */
char *saddle_line_reader_field(saddle_line_reader *in, const char *separators);
/* Closes the file. Safe on a zeroed struct. */
void saddle_line_reader_close(saddle_line_reader *in);

/* Fails with "FILE:LINE:COLUMN: what", for `at` in the current line. */
#define saddle_line_reader_refuse(in, at, error, ...) \
    saddle_fail_at((error), (in)->path, (in)->number, (size_t)((at) - (in)->line) + 1, __VA_ARGS__)
