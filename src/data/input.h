/* Files as bytes in memory, gzip'd or not. */
#ifndef SADDLE_DATA_INPUT_H
#define SADDLE_DATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/status.h>

/*
 * A regular file mapped into memory, so that a file larger than memory can be read and threads
 * share it. A file that another program shortens meanwhile ends the process, as with any mapping.
 * A gzip'd file is unpacked into memory of its own.
 */
typedef struct saddle_input {
    const char *path;  /* borrowed */
    const char *bytes; /* size of them; not followed by a NUL */
    size_t size;       /* at least 1 */
    char *unpacked;    /* the same bytes if they are not the file's own; NULL otherwise */
} saddle_input;

/* Map or unpack a file; SADDLE_BAD_INPUT when it is missing, empty, damaged or not a regular file. */
saddle_status saddle_input_open(saddle_input *in, const char *path, saddle_error *error);
/* Unmap or free. Safe on a zeroed struct. */
void saddle_input_close(saddle_input *in);
/* Whether the bytes begin with a text. */
bool saddle_input_begins(const saddle_input *in, const char *text);

#endif
