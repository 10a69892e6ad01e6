/*
 * What an agent keeps on its disk, so that a process that comes after its own can take its place: a directory with
 *
 *     setup.saddle  the records of all agents in every exchange of set-up, and the incarnations of its processes; it
 *                   only grows, and an end that is not whole is dropped when it is opened
 *     state.saddle  the newest state, which appears completely or not at all
 *
 * Both begin with a head: 8 bytes that name the file, 16 of Saddle's version, 16 of the run's fingerprint, 8 of the
 * agent's number. Blocks follow: 8 bytes of kind, 8 of length, 16 of a checksum, and that many bytes. Numbers are
 * little-endian.
 */
#pragma once

#include "peers/message.h"

/* Where a run begins. */
typedef enum saddle_store_begin {
    SADDLE_STORE_NEW,    /* at its beginning; the directory must have no run */
    SADDLE_STORE_OLD,    /* where the directory's run was */
    SADDLE_STORE_EITHER, /* there, if the directory has a run */
} saddle_store_begin;

/* Borrowed during the call that takes them. */
typedef struct saddle_store_options {
    const char *directory;
    saddle_store_begin begin;
    unsigned char fingerprint[SADDLE_RUN_FINGERPRINT];
    size_t self;
} saddle_store_options;

typedef struct saddle_store saddle_store;

/* Bytes to be written. */
typedef struct saddle_store_piece {
    const void *bytes;
    size_t size;
} saddle_store_piece;

/* Opens a directory, which is created, and locks it. Free with saddle_store_close(), which accepts NULL. */
saddle_status saddle_store_open(saddle_store **out, const saddle_store_options *options,
                                saddle_error *error);
void saddle_store_close(saddle_store *store);

/* Returns the number of a process that has no directory: seconds since 1970. */
uint32_t saddle_store_clock(void);
/* Returns the number of this process: larger than those of all before it, and on the disk. */
uint32_t saddle_store_incarnation(const saddle_store *store);
/* Returns the bytes at the end of setup.saddle that were not whole, and were dropped. */
size_t saddle_store_dropped(const saddle_store *store);
/* Returns whether a process before this one has done an exchange. */
bool saddle_store_returns(const saddle_store *store);
/* Reads the next exchange that a process before this one has done; borrowed until the next call. NULL: there is none,
 * or memory is short. */
const unsigned char *saddle_store_next(saddle_store *store, size_t *bytes);
/* Adds an exchange. */
saddle_status saddle_store_add(saddle_store *store, const saddle_store_piece *piece, size_t count,
                               saddle_error *error);
/* Returns the state that a process before this one has saved; borrowed. NULL: none. */
const unsigned char *saddle_store_state(const saddle_store *store, size_t *bytes);
/* Replaces the state. On failure the one before is left. */
saddle_status saddle_store_save(saddle_store *store, const saddle_store_piece *piece, size_t count,
                                saddle_error *error);
