/* The readers of the file formats, the bytes that they read, and the error with a position that they share. */
#pragma once

#include <saddle/data.h>

#include "core/base.h"

/* ---- bytes ---- */

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

/* ---- text ---- */

/* The line of a text file that is being read, and the first error. */
typedef struct saddle_parse_error {
    const char *begin; /* of the line */
    size_t line;       /* its number from 1 */
    size_t column;     /* of the error, in bytes from 1; 0: no error */
    char text[384];
} saddle_parse_error;

/* Records an error at `at` in the current line. Returns false, for callers to return. */
bool saddle_parse_fail(saddle_parse_error *parse, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails with "FILE:LINE:COLUMN: what". */
static inline saddle_status saddle_parse_refuse(const saddle_parse_error *found, const char *path,
                                                saddle_error *error)
{
    return saddle_fail_at(error, path, found->line, found->column, "%s", found->text);
}

/* Returns the text after a UTF-8 byte order mark, if there is one. */
const char *saddle_skip_mark(const saddle_input *in);
/* Returns the end of the line that starts at `at`: its newline, or `end`. */
const char *saddle_line_end(const char *at, const char *end);
/* The same, without trailing whitespace. */
const char *saddle_trim_end(const char *at, const char *line_end);
/* Returns the first character of [at, end) that is neither space nor tab, or end. */
static inline const char *saddle_skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* ---- formats ---- */

/* Returns the format of a file from the options, or else from its content and name. */
saddle_data_format saddle_choose_format(const saddle_input *in, const saddle_data_options *options);
/* Creates *out with the name `name`; on failure *out is NULL. */
typedef saddle_status saddle_reader(saddle_dataset **out, const char *name, const saddle_input *in,
                                    const saddle_data_options *options, saddle_error *error);
saddle_reader saddle_read_libsvm, saddle_read_csv, saddle_read_idx, saddle_read_numpy;
/* Observes the columns of a CSV file without settling them. */
saddle_status saddle_scan_csv(saddle_columns **out, const saddle_input *in,
                              const saddle_data_options *options, saddle_error *error);

/* Loads all files of a pattern, such as part-%d.csv, as one data set. */
saddle_status saddle_load_several(saddle_dataset **out, const char *pattern,
                                  const saddle_data_options *options, saddle_error *error);

/* Finds the labels for a file of images in the same directory: images-idx3 -> labels-idx1, gzip'd or
 * not. The caller frees *out; NULL on failure. */
saddle_status saddle_idx_find_labels(const char *images, char **out, saddle_error *error);
/* Returns whether the input begins like a .npy or .npz file. */
bool saddle_looks_like_numpy(const saddle_input *in);
/* Returns whether the input begins like an IDX file. */
bool saddle_looks_like_idx(const saddle_input *in);
/* Returns whether the first line of text has separators and no INDEX:VALUE. */
bool saddle_looks_like_csv(const saddle_input *in);
