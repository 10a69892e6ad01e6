/* Files as bytes in memory, decompressed if gzip'd. */
#ifndef SADDLE_DATA_INPUT_H
#define SADDLE_DATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/status.h>

/*
 * A regular file mapped into memory, so that it can be larger than memory and threads can share it. If
 * another program truncates the file meanwhile, the process is killed, as with any mapping. A gzip'd
 * file is decompressed into allocated memory.
 */
typedef struct saddle_input {
    const char *path;  /* borrowed */
    const char *bytes; /* `size` bytes, not NUL-terminated */
    size_t size;       /* at least 1 */
    char *unpacked;    /* the bytes of a gzip'd file; NULL otherwise */
} saddle_input;

/* Maps or decompresses a file; SADDLE_BAD_INPUT when it is missing, empty, damaged or not a regular file. */
saddle_status saddle_input_open(saddle_input *in, const char *path, saddle_error *error);
/* Unmaps or frees. Safe on a zeroed struct. */
void saddle_input_close(saddle_input *in);
/* Returns whether the bytes begin with a text. */
bool saddle_input_begins(const saddle_input *in, const char *text);

#endif
