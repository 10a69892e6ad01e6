/* Files that appear whole or not at all. */
#ifndef SADDLE_CORE_FILE_H
#define SADDLE_CORE_FILE_H

#include <stdio.h>

#include <saddle/status.h>

/* A file being written beside its final place. */
typedef struct saddle_output {
    FILE *stream;    /* write here */
    char *name;      /* as the caller gave it, for messages */
    char *path;      /* where it will be: what a link points to */
    char *temporary; /* where it is until commit */
} saddle_output;

/* Start writing; SADDLE_BAD_INPUT when the place cannot be written to. */
saddle_status saddle_output_open(saddle_output *out, const char *path, saddle_error *error);
/* Flush, sync, rename into place and sync the directory; on failure the temporary file is removed. */
saddle_status saddle_output_commit(saddle_output *out, saddle_error *error);
/* Remove the temporary file, if there is one still. Safe after commit and on a zeroed struct. */
void saddle_output_discard(saddle_output *out);

#endif
