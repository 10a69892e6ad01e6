/* Files to be read, files that appear whole or not at all, and files that grow line by line. */
#ifndef SADDLE_FILES_FILE_H
#define SADDLE_FILES_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <saddle/status.h>

/* Open a file, or the pipe or device that is there, to be read once from its beginning. A pipe that nobody
 * writes to is refused, not waited for. `wanted`, such as "the path of a trace", ends the refusal of
 * what cannot be read, SADDLE_BAD_INPUT. */
saddle_status saddle_reading_open(FILE **out, const char *path, const char *wanted,
                                  saddle_error *error);
/* The same for a regular file and nothing else; *bytes receives its size. */
saddle_status saddle_reading_open_regular(FILE **out, const char *path, const char *wanted,
                                          size_t *bytes, saddle_error *error);

/*
 * A file that appears complete or not at all, whatever ends the process. A link is followed: what it points
 * to is replaced, and keeps its permissions; a link to nothing, a device and a file that may not be written
 * to are refused, as is one that a run is writing. The directory must be writable.
 */
typedef struct saddle_output {
    FILE *stream;    /* write here */
    char *name;      /* as the caller gave it, for messages */
    char *path;      /* where it will be: what a link points to */
    char *temporary; /* its random name until then; NULL: it has none yet */
} saddle_output;

/* Start writing; SADDLE_BAD_INPUT when the place cannot be written to. */
saddle_status saddle_output_open(saddle_output *out, const char *path, saddle_error *error);
/* Flush, sync, rename into place and sync the directory; on failure nothing is left but the old file. */
saddle_status saddle_output_commit(saddle_output *out, saddle_error *error);
/* Forget what was written. Safe after commit and on a zeroed struct. */
void saddle_output_discard(saddle_output *out);

/* Write a file that appears whole or not at all. */
saddle_status saddle_output_save(const char *path, void (*write)(FILE *f, const void *context),
                                 const void *context, saddle_error *error);

/* fsync(), however often a signal interrupts it; false: errno says why not. */
bool saddle_sync_file(int descriptor);
/* Make the name of a file or a directory last through a power cut, by syncing the directory that it is in,
 * as far as that can be synced. False: errno says why not. */
bool saddle_sync_directory_of(const char *path);

/* A path without its directories. */
const char *saddle_file_name(const char *path);
/* The directory that a path is in, "." if it names none; to be freed with saddle_free(). NULL: errno is ENOMEM. */
char *saddle_directory_of(const char *path);
/* Why a link cannot be followed, such as that it points to nothing; NULL: it can, or it is no link. */
const char *saddle_dead_link(const char *path);
/* Make a directory, which may exist already. `what`, such as "output", begins the refusal. */
saddle_status saddle_make_directory(const char *what, const char *path, saddle_error *error);

/* Hold an open file or directory, as long as it is open, for the run that writes to it. SADDLE_BAD_INPUT:
 * another run, which the message names, holds it. */
saddle_status saddle_hold(int descriptor, const char *path, const char *option,
                          saddle_error *error);

/* Refuse a file that another run holds, and so would lose. "" as the option: the message begins with the path. */
saddle_status saddle_check_held(const char *path, const char *option, saddle_error *error);

/* Hold a directory until saddle_let_go(), to which NULL may be given; *out is to be let go on failure, too. */
saddle_status saddle_hold_directory(DIR **out, const char *path, const char *option,
                                    saddle_error *error);
void saddle_let_go(DIR *held);

/* A file that grows line by line and can be read at any moment. */
typedef struct saddle_lines {
    FILE *stream; /* write here */
    char *path;   /* as the caller gave it */
    off_t whole;  /* bytes up to the last line that was written */
    bool broken;  /* a line could not be written, and was reported */
} saddle_lines;

/* Start a file, or the device or pipe that is there. `option`, such as "trace", begins the refusal,
 * SADDLE_BAD_INPUT, of a place that cannot be written to, a pipe that nobody reads, and a file that another
 * run is writing, whose contents stay. */
saddle_status saddle_lines_open(saddle_lines *out, const char *path, const char *option,
                                saddle_error *error);
/* The same, but what is in the file stays; saddle_lines_cut() is to follow. */
saddle_status saddle_lines_continue(saddle_lines *out, const char *path, const char *option,
                                    saddle_error *error);
/* Keep that many bytes of a file, and go on after them. */
saddle_status saddle_lines_cut(saddle_lines *lines, size_t bytes, const char *what,
                               saddle_error *error);
/* Send the lines that were written to the stream. SADDLE_IO when they cannot be, or when the file
 * has been removed: said once; lines after that go nowhere, and those before it stay whole. `what`
 * is for the message, such as "the trace". */
saddle_status saddle_lines_flush(saddle_lines *lines, const char *what, saddle_error *error);
/* Sync, close and free: from here on a power cut takes no line. Safe on a zeroed struct. */
saddle_status saddle_lines_close(saddle_lines *lines, const char *what, saddle_error *error);

#endif
