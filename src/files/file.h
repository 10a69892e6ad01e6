/* Reading files, writing files that appear completely or not at all, and files that grow line by line. */
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include "core/base.h"

/* Opens a file, pipe or device to be read once from its beginning. Fails with SADDLE_BAD_INPUT, instead
 * of waiting, for a pipe that no process writes to. `wanted`, such as "the path of a trace", ends the
 * error message. */
saddle_status saddle_reading_open(FILE **out, const char *path, const char *wanted,
                                  saddle_error *error);
/* The same for regular files only; *bytes receives the size. */
saddle_status saddle_reading_open_regular(FILE **out, const char *path, const char *wanted,
                                          size_t *bytes, saddle_error *error);

/* How many times its size in the file compressed data may expand, if that is more than 16 MB. Deflate can expand
 * 1032 times: a small file could take all memory. */
#define SADDLE_MOST_EXPANSION 32
static inline bool saddle_expands_too_far(uint64_t packed, uint64_t unpacked)
{
    return unpacked > (uint64_t)1 << 24 && unpacked / SADDLE_MOST_EXPANSION > packed;
}

/*
 * A file that appears completely or not at all, however the process ends. A link is followed: its target
 * is replaced and keeps its permissions. Dangling links, devices, read-only files and files that a run
 * is writing are refused. The directory must be writable.
 */
typedef struct saddle_output {
    FILE *stream;    /* to write to */
    char *name;      /* as the caller gave it, for messages */
    char *path;      /* the target: the file that a link points to */
    char *temporary; /* its random name until commit; NULL: none yet */
} saddle_output;

/* Starts writing; SADDLE_BAD_INPUT when the path cannot be written to. */
saddle_status saddle_output_open(saddle_output *out, const char *path, saddle_error *error);
/* Flushes, syncs, renames the file and syncs the directory. On failure only the old file is left. */
saddle_status saddle_output_commit(saddle_output *out, saddle_error *error);
/* Flushes and syncs the file, which still has a random name, and closes it; commit it next, or discard
 * it. */
saddle_status saddle_output_finish(saddle_output *out, saddle_error *error);
/* Commits several files: none gets its name before all are on the disk. Discards all after a failure. */
saddle_status saddle_outputs_commit(saddle_output *out, size_t count, saddle_error *error);
/* Discards what was written. Safe after commit and on a zeroed struct. */
void saddle_output_discard(saddle_output *out);

/* Writes a file that appears completely or not at all. */
saddle_status saddle_output_save(const char *path, void (*write)(FILE *f, const void *context),
                                 const void *context, saddle_error *error);

/* fsync(), repeated when a signal interrupts it; false with errno on failure. */
bool saddle_sync_file(int descriptor);
/* Makes the name of a file or directory survive a power failure, by syncing the directory that it is in,
 * if that directory can be synced. False with errno on failure. */
bool saddle_sync_directory_of(const char *path);

/* Returns the last component of a path. */
const char *saddle_file_name(const char *path);
/* Returns whether a path has an ending, such as ".csv". */
bool saddle_has_ending(const char *path, const char *ending);
/* Returns the directory of a path, "." if it has none; free with saddle_free(). NULL with errno ENOMEM. */
char *saddle_directory_of(const char *path);
/* Returns the descriptor that a path such as /dev/stdout or /dev/fd/3 names, if it is a regular file; else 0. */
int saddle_named_stream(const char *path);
/* Returns why a file must not be written: it is a link that cannot be followed, or the file of a descriptor, as
 * above, or of standard output or standard error, which would be replaced or mixed up; else NULL. */
const char *saddle_unwritable(const char *path);
/* Creates a directory, which may already exist. `what`, such as "--output", begins the error message. */
saddle_status saddle_make_directory(const char *what, const char *path, saddle_error *error);

/* Locks an open file or directory, for as long as it is open, for the run that writes to it.
 * SADDLE_BAD_INPUT when another run, which the message names, has locked it. */
saddle_status saddle_lock_file(int descriptor, const char *path, const char *option,
                               saddle_error *error);

/* Fails if another run is writing a file, which replacing it would destroy. If `option` is "", the
 * message begins with the path. */
saddle_status saddle_check_unlocked(const char *path, const char *option, saddle_error *error);

/* Locks a directory until saddle_unlock_directory(), which accepts NULL. Call that also after a failure. */
saddle_status saddle_lock_directory(DIR **out, const char *path, const char *option,
                                    saddle_error *error);
void saddle_unlock_directory(DIR *directory);

/* A file that grows line by line and can be read at any time. */
typedef struct saddle_lines {
    FILE *stream; /* to write to */
    char *path;   /* as the caller gave it */
    off_t whole;  /* bytes up to the end of the last line written */
    bool broken;  /* a line could not be written, which was reported */
    bool shared;  /* with other output of the process: lines are appended to its descriptor */
} saddle_lines;

/* Starts a file, or opens an existing device or pipe, or appends to a descriptor of the process if the path
 * names it, such as /dev/stdout. Fails with SADDLE_BAD_INPUT if the path cannot be
 * written to, is a pipe without a reader, or is a file that another run is writing (its contents are
 * kept). `option`, such as "--trace", begins the message. `keep`: keeps the contents of the file; call
 * saddle_lines_cut() next. */
saddle_status saddle_lines_open(saddle_lines *out, const char *path, const char *option, bool keep,
                                saddle_error *error);
/* Keeps the first `bytes` of a file and continues after them. */
saddle_status saddle_lines_cut(saddle_lines *lines, size_t bytes, const char *what,
                               saddle_error *error);
/* Writes out the lines sent to the stream. Returns SADDLE_IO, once, when they cannot be written or the
 * file has been removed; later lines are dropped, and the lines before stay complete. `what`, such as
 * "the trace", is for the message. */
saddle_status saddle_lines_flush(saddle_lines *lines, const char *what, saddle_error *error);
/* Syncs, closes and frees: all lines then survive a power failure. Safe on a zeroed struct. */
saddle_status saddle_lines_close(saddle_lines *lines, const char *what, saddle_error *error);
