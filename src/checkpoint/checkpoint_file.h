/*
 * The file of a checkpoint: how it is written, and read back with every byte checked.
 *
 *   head: magic, format, bytes of the file, bytes of the texts, numbers
 *   texts, each ended by a NUL: version, settings, names of outcomes, each
 *   behind a + if larger values are better, otherwise a -
 *   body: observer's memory, rows of the trace, outcomes, means of
 *   the best solution, one record per agent, what links remember of each agent
 *   SHA-256 of all that
 *
 * Numbers are little-endian, 8 bytes each. A record is the agent's number, its IFO calls, its clock, its
 * published span, what it keeps, and its best solution. The sizes in the head add up to the size of the file, which is
 * checked before memory is taken for anything.
 */
#ifndef SADDLE_CHECKPOINT_CHECKPOINT_FILE_H
#define SADDLE_CHECKPOINT_CHECKPOINT_FILE_H

#include <saddle/run.h>

#include "core/sha256.h"
#include "files/file.h"

/* Words of an agent's record before its vectors: number, IFO calls and clock. */
#define SADDLE_RECORD_WORDS 3

/* The numbers of a head; they lie in the file as they lie here. */
typedef struct saddle_checkpoint_numbers {
    uint64_t iteration;
    double seconds;      /* spent iterating */
    uint64_t last_check; /* iteration of the last self-check */
    uint64_t trace_ifo;  /* IFO calls between two additional trace points; 0: there are none */
    uint64_t data;       /* fingerprint of the agents' data */
    uint64_t agents;
    uint64_t x_dim;
    uint64_t y_dim;
    uint64_t published; /* doubles of an agent */
    uint64_t kept;      /* doubles of an agent */
    uint64_t memory;    /* doubles of the observer */
    uint64_t rows;      /* of the trace */
    uint64_t row_words; /* of 8 bytes each */
    uint64_t outcomes;  /* per row */
    uint64_t
        solution; /* doubles of the best solution so far, per agent and for their means; 0: none is kept */
    uint64_t links; /* words of what links remember, of all agents */
    uint64_t settings;
} saddle_checkpoint_numbers;

/* A setting of the run. */
typedef struct saddle_checkpoint_setting {
    const char *name;
    const char *effective; /* its value, without "auto" where there is one */
    const char *given;     /* as the user gave it; NULL: not given */
} saddle_checkpoint_setting;

/* What is read of a checkpoint before its body. The texts are borrowed: of a checkpoint that was
 * read, from its own `head`. */
typedef struct saddle_checkpoint {
    char *path;
    const char *version;
    saddle_checkpoint_numbers number;
    saddle_checkpoint_setting *setting;   /* number.settings of them */
    const saddle_outcome_column *outcome; /* number.outcomes of them */
    /* Of one that was read. */
    FILE *stream;        /* NULL where another process has the file */
    unsigned char *head; /* with the texts */
    saddle_outcome_column *column;
    size_t head_bytes;
    uint64_t bytes; /* of the file */
} saddle_checkpoint;

/* Bytes of an agent's record. */
size_t saddle_checkpoint_record(const saddle_checkpoint_numbers *number);

/* ---- writing ------------------------------------------------------------------------------- */

/* A checkpoint being written. */
typedef struct saddle_checkpoint_stream {
    saddle_output output;
    saddle_sha256 sum; /* of all bytes so far */
} saddle_checkpoint_stream;

/* Begin with the head; path, stream, head and column of `checkpoint` are not used. The body follows in
 * pieces, as the numbers of the head say. */
saddle_status saddle_checkpoint_begin(saddle_checkpoint_stream *writer, const char *path,
                                      const saddle_checkpoint *checkpoint, saddle_error *error);
/* A piece of the body; a failure shows at the end. */
void saddle_checkpoint_put(saddle_checkpoint_stream *writer, const void *block, size_t bytes);
/* Add the sum and move the file into place. Frees the writer in any case. */
saddle_status saddle_checkpoint_end(saddle_checkpoint_stream *writer, saddle_error *error);

/* ---- reading ------------------------------------------------------------------------------- */

/* Open a checkpoint, check it from its first byte to its last, and stop at its body. */
saddle_status saddle_checkpoint_open(saddle_checkpoint **out, const char *path,
                                     saddle_error *error);
/* The next piece of the body. */
saddle_status saddle_checkpoint_get(saddle_checkpoint *checkpoint, void *block, size_t bytes,
                                    saddle_error *error);
/* The same checkpoint from its head alone, which another process has read. The head is copied. */
saddle_status saddle_checkpoint_decode(saddle_checkpoint **out, const char *path,
                                       const unsigned char *block, size_t bytes,
                                       saddle_error *error);
/* Close. NULL is allowed. */
void saddle_checkpoint_close(saddle_checkpoint *checkpoint);

#endif
