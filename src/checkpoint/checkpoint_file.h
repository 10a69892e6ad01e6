/*
 * The file format of a checkpoint; every byte is checked on reading.
 *
 *   head: magic, format, bytes of the file, bytes of the texts, numbers
 *   texts, each NUL-terminated: version, settings, names of outcomes, each
 *         preceded by + if larger values are better, otherwise by -
 *   body: observer's memory, rows of the trace, outcomes, means of the best
 *         solution, one record per agent, the links' state of each agent
 *   SHA-256 of all that
 *
 * Numbers are little-endian, 8 bytes each. A record is the agent's number, its IFO calls, its clock, its
 * published state, its private state, and its best solution. The sizes in the head add up to the size of
 * the file, which is checked before anything is allocated.
 */
#pragma once

#include <saddle/run.h>

#include "core/sha256.h"
#include "files/file.h"
#include "instance/same_run.h"

/* The 64-bit words of an agent's record before its vectors: number, IFO calls and clock. */
#define SADDLE_RECORD_WORDS 3

/* The numbers of a head, in the order in which the file has them. */
typedef struct saddle_checkpoint_numbers {
    uint64_t iteration;
    double seconds;      /* spent iterating */
    uint64_t last_check; /* iteration of the last self-check */
    uint64_t trace_ifo;  /* IFO calls between two additional trace points; 0: none */
    uint64_t data;       /* saddle_run_info::fingerprint */
    uint64_t agents;
    uint64_t x_dim;
    uint64_t y_dim;
    uint64_t published; /* doubles of an agent */
    uint64_t kept;      /* doubles of an agent */
    uint64_t memory;    /* doubles of the observer */
    uint64_t rows;      /* of the trace */
    uint64_t row_words; /* of 8 bytes each */
    uint64_t outcomes;  /* per row */
    uint64_t solution;  /* doubles of the best solution per agent and of its mean; 0: not kept */
    uint64_t links;     /* 64-bit words of the links' state, of all agents */
    uint64_t settings;
} saddle_checkpoint_numbers;

/* A checkpoint without its body. The strings are borrowed; those of a checkpoint that was read point
 * into its `head`. */
typedef struct saddle_checkpoint {
    char *path;
    const char *version;
    saddle_checkpoint_numbers number;
    saddle_recorded settings; /* number.settings of them; when read, without their text */
    const saddle_outcome_column *outcome; /* number.outcomes of them */
    /* Only of a checkpoint that was read: */
    FILE *stream;        /* NULL if another process has the file */
    unsigned char *head; /* including the texts */
    saddle_outcome_column *column;
    size_t head_bytes;
    uint64_t bytes; /* of the file */
} saddle_checkpoint;

/* Returns the bytes of an agent's record. */
size_t saddle_checkpoint_record(const saddle_checkpoint_numbers *number);

/* ---- writing ------------------------------------------------------------------------------- */

/* A checkpoint being written. */
typedef struct saddle_checkpoint_stream {
    saddle_output output;
    saddle_sha256 sum; /* of all bytes so far */
} saddle_checkpoint_stream;

/* Begins with the head; path, stream, head and column of `checkpoint` are ignored. The body follows in
 * pieces, as announced by the numbers of the head. */
saddle_status saddle_checkpoint_begin(saddle_checkpoint_stream *writer, const char *path,
                                      const saddle_checkpoint *checkpoint, saddle_error *error);
/* Writes a piece of the body. Failures are reported at the end. */
void saddle_checkpoint_put(saddle_checkpoint_stream *writer, const void *block, size_t bytes);
/* Appends the hash and gives the file its name. Frees the writer in any case. */
saddle_status saddle_checkpoint_end(saddle_checkpoint_stream *writer, saddle_error *error);

/* ---- reading ------------------------------------------------------------------------------- */

/* Opens a checkpoint, checks it completely, and stops before its body. */
saddle_status saddle_checkpoint_open(saddle_checkpoint **out, const char *path,
                                     saddle_error *error);
/* Reads the next piece of the body. */
saddle_status saddle_checkpoint_get(saddle_checkpoint *checkpoint, void *block, size_t bytes,
                                    saddle_error *error);
/* Builds a checkpoint from a head that another process has read. The head is copied. */
saddle_status saddle_checkpoint_decode(saddle_checkpoint **out, const char *path,
                                       const unsigned char *block, size_t bytes,
                                       saddle_error *error);
/* Closes a checkpoint. NULL is allowed. */
void saddle_checkpoint_close(saddle_checkpoint *checkpoint);
SADDLE_RELEASES(saddle_checkpoint, saddle_checkpoint_close)
