/* Files as bytes in memory, gzip'd or not. */
#ifndef SADDLE_DATA_INPUT_H
#define SADDLE_DATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <zlib.h>

#include <saddle/status.h>

/*
 * A regular file mapped into memory, so that a file larger than memory can be read and threads
 * share it. A file that another program shortens meanwhile ends the process, as with any mapping.
 */
typedef struct saddle_input {
    const char *path;  /* borrowed */
    const char *bytes; /* size of them; not followed by a NUL */
    size_t size;       /* at least 1 */
} saddle_input;

/* Map a file; SADDLE_BAD_INPUT when it is missing, empty, unreadable or not a regular file. */
saddle_status saddle_input_open(saddle_input *in, const char *path, saddle_error *error);
/* Unmap. Safe on a zeroed struct. */
void saddle_input_close(saddle_input *in);
/* Whether the bytes start as a gzip file does. */
bool saddle_input_is_gzip(const saddle_input *in);

/* The bytes of an input from the front, unpacked on the way when they are gzip'd. */
typedef struct saddle_stream {
    const saddle_input *in; /* borrowed */
    size_t place;           /* of a plain file */
    z_stream inflate;       /* of a gzip'd one */
    bool packed;
    bool ended;
} saddle_stream;

/* Start at the front. */
saddle_status saddle_stream_open(saddle_stream *stream, const saddle_input *in,
                                 saddle_error *error);
/* Up to `wanted` bytes; `*got` is less only at the end. `buffer` NULL: skip them. */
saddle_status saddle_stream_read(saddle_stream *stream, void *buffer, size_t wanted, size_t *got,
                                 saddle_error *error);
/* Release. Safe on a zeroed struct. */
void saddle_stream_close(saddle_stream *stream);

#endif
